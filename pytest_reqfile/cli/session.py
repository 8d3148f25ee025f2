"""What every subcommand starts from: the current folder, the environment and the edition."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_reqfile.cli.parser import EDITIONS
from pytest_reqfile.errors import FormatError, UsageError
from pytest_reqfile.reqfile.repository import Repository, open_repository
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.program import current_folder

if TYPE_CHECKING:
    from pytest_reqfile.reqfile.trials import Trials
    from pytest_reqfile.reqfile.values import Edition

EDITION_VARIABLE: Final = "REQFILE_EDITION"


def edition_of(arguments: argparse.Namespace, environment: Environment) -> Edition:
    """``--edition``, else $REQFILE_EDITION, else 0.1. Raises UsageError for a variable that names no edition."""
    chosen = arguments.edition or environment.get(EDITION_VARIABLE) or "0.1"
    if chosen == "0.1":
        return "0.1"
    if chosen == "0.4":
        return "0.4"
    raise UsageError(f"{EDITION_VARIABLE} must be one of {', '.join(EDITIONS)}, found {chosen!r}")


def open_here(environment: Environment, trials: Trials | None = None) -> Repository:
    """The repository of the current folder, with what ``--use`` adds for this run."""
    return open_repository(current_folder(), environment, trials=trials)


def trials_of(arguments: argparse.Namespace) -> Trials | None:
    """What ``--use`` asks to try, narrowed by ``--only``; None without ``--use``."""
    if not arguments.use:
        return None
    from pytest_reqfile.reqfile.plan import parse_only
    from pytest_reqfile.reqfile.trials import Trials

    return Trials(locations=tuple(arguments.use), cwd=str(current_folder()), only=parse_only(arguments.only))


def open_valid(environment: Environment, trials: Trials | None = None) -> Repository:
    """The repository of the current folder, with nothing wrong in what it requires.

    Raises FormatError with the problems otherwise: ``list``, ``explain`` and the like print them on stderr.
    """
    repository = open_here(environment, trials)
    if repository.catalog.first_problems:
        raise FormatError(repository.catalog.first_problems)
    return repository


def absolute(path: str) -> Path:
    """``path`` as seen from the current folder, lexically normalised."""
    return Path(current_folder(), path)
