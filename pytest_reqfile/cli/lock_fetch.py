"""``reqfile lock --fetch``: the content that locks pin, for machines that start with an empty cache."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Final

from pytest_reqfile.cli.lock_around import Surroundings
from pytest_reqfile.cli.lock_targets import find_targets
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.lock.bringing import Brought, bring_pinned
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Answers, Fetcher
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.project.load import load_config
from pytest_reqfile.project.values import Place
from pytest_reqfile.syntax.printable import visible

_CODES: Final = {"failed": 1, "differs": 2, "here": 0, "fetched": 0}
_COMMIT_SHOWN: Final = 12


def run_fetch(arguments: argparse.Namespace, terminal: Terminal, around: Surroundings) -> int:
    """Bring it, and return 0, 2 where something is not what the lock pins, or 1 where it could not be fetched.

    Raises ReqfileError for a configuration or a lock that cannot be read.
    """
    answers: Answers = {}
    found = [one for place in find_targets(arguments, around).places for one in _bring(place, around, answers)]
    _show(found, terminal)
    codes = {_CODES[one.state] for one in found}
    return next((code for code in (1, 2) if code in codes), 0)


def _bring(place: Place, around: Surroundings, answers: Answers) -> tuple[Brought, ...]:
    config, lock = load_config(place).config, lock_file(place).read()
    return tuple(bring_pinned(config, lock, Fetcher(around.environment, place.root, answers=answers), Hasher()))


def _show(found: Iterable[Brought], terminal: Terminal) -> None:
    for one in found:
        if one.state == "fetched":
            terminal.write(visible(f"fetched {one.label} {one.detail[:_COMMIT_SHOWN]}\n"))
        elif one.state == "here":
            terminal.write(visible(f"{one.label} is here\n"))
        else:
            terminal.error(visible(f"{one.label}: {one.detail}"))
    if not found:
        terminal.write("no remote sources\n")
