"""``reqfile list`` and ``reqfile explain`` (seed 004 LIST, EXPLAIN)."""

from __future__ import annotations

import argparse

from pytest_reqfile.cli.session import absolute, open_valid
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import UsageError
from pytest_reqfile.reqfile.listing import explain_text, list_json, list_text
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.paths import canonical, relative_to_root


def run_list(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print every requirement of the repository; always 0 unless something is wrong with them."""
    catalog = open_valid(Environment.current()).catalog
    if arguments.format == "json":
        terminal.write(list_json(catalog, arguments.kind))
    else:
        terminal.write(list_text(catalog, arguments.kind))
    return 0


def run_explain(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print the requirements that apply to a path, which need not exist."""
    repository = open_valid(Environment.current())
    root, path = repository.snapshot.root, absolute(arguments.path)
    relative = relative_to_root(root, path)
    if relative is None:  # an absolute path may lead through a link, as /tmp does on macOS
        relative = relative_to_root(root, canonical(path))
    if relative is None:
        raise UsageError(f"{arguments.path} is outside the repository")
    is_folder = repository.snapshot.is_folder(relative)
    terminal.write(explain_text(repository.catalog, relative, is_folder=is_folder))
    return 0
