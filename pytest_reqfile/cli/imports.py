"""``reqfile add`` and ``reqfile update``: requirements taken from elsewhere (spec reqfile.md 7.3, 7.4)."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_reqfile.cli.session import open_here
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FormatError, UsageError
from pytest_reqfile.reqfile.additions import addition_text, plan_addition, read_offer
from pytest_reqfile.reqfile.discovery import REQFILE_NAME, Discovery, discover
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.updates import plan_updates, updates_text
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.paths import joined, relative_to_root
from pytest_reqfile.workspace.program import current_folder
from pytest_reqfile.workspace.walk import Walk


def run_add(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Write use blocks into the Reqfile of the current folder; runs no check."""
    repository = open_here(Environment.current())
    discovery = _discover_valid(repository)
    folder = relative_to_root(repository.snapshot.root, current_folder())
    if folder is None:
        raise UsageError(f"{current_folder()} is outside the repository")
    offer = read_offer(arguments.location, folder, discovery, repository.sources)
    _refuse_unread(repository, joined(folder, REQFILE_NAME) or REQFILE_NAME, discovery)
    addition = plan_addition(offer, arguments.ids, folder, discovery)
    if addition.definitions and not arguments.dry_run:
        _write(repository, addition.path, addition.new_text)
    terminal.write(visible(addition_text(addition, dry_run=arguments.dry_run)))
    return 0


def run_update(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Move every pin to its repository's latest release; 3 when a pin could not be looked at."""
    repository = open_here(Environment.current())
    updates = plan_updates(_discover_valid(repository), repository.sources.tags)
    if not arguments.dry_run:
        for path, text in updates.texts.items():
            _write(repository, path, text)
    terminal.write(visible(updates_text(updates, dry_run=arguments.dry_run)))
    for problem in updates.problems:
        terminal.error(str(problem))
    failure: int = arguments.failure_code
    return failure if updates.problems else 0


def _discover_valid(repository: Repository) -> Discovery:
    """The repository's own Reqfiles, without loading what they take from elsewhere."""
    discovery = discover(repository.snapshot)
    if discovery.problems:
        raise FormatError(discovery.problems)
    return discovery


def _refuse_unread(repository: Repository, path: str, discovery: Discovery) -> None:
    """Something stands where the Reqfile would be, and is none: ignored by git, or no regular file."""
    is_read = any(reqfile.path == path for reqfile in discovery.reqfiles)
    if not is_read and Walk(repository.snapshot.root).kind(path) is not None:
        raise UsageError(f"{path} is ignored by git or no regular file; no requirement in it would apply")


def _write(repository: Repository, path: str, text: str) -> None:
    write_atomic(Path(repository.root, path), text.encode())
