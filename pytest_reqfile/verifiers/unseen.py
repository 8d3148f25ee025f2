"""Folders that could not be looked into: what a glob would have found there is not known (seed 000 "Globs")."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_reqfile.syntax.globs import Glob, expand_braces
from pytest_reqfile.verifiers.selection import Selection
from pytest_reqfile.verifiers.words import first_list


def incomplete(folders: tuple[str, ...]) -> str:
    """What is said of a verifier that would have looked into ``folders``."""
    return f"cannot read directory {first_list(folders)}: the result would be incomplete"


def unseen_by(selection: Selection, folders: Iterable[str]) -> tuple[str, ...]:
    """Those of ``folders`` that the selection would have looked into; an exclude that covers one silences it."""
    return tuple(
        folder
        for folder in folders
        if any(may_match_below(glob, folder) for glob in selection.include)
        and not any(glob.matches(f"{folder}/x") for glob in selection.exclude)
    )


def may_match_below(glob: Glob, folder: str) -> bool:
    """Whether a file somewhere below ``folder`` could match ``glob``."""
    text = glob.text.strip().removeprefix("./").removeprefix("/")
    return any(_may_match(pattern, folder) for pattern in expand_braces(f"{text}**" if text.endswith("/") else text))


def _may_match(pattern: str, folder: str) -> bool:
    *folders, _ = pattern.split("/")
    if not folders:
        return True
    names = folder.split("/")
    for expected, name in zip(folders, names, strict=False):
        if "**" in expected:
            return True
        parts = re.split(r"([*?])", expected)
        regex = "".join({"*": ".*", "?": "."}.get(part) or re.escape(part) for part in parts)
        if not re.fullmatch(regex, name, re.DOTALL):
            return False
    return len(names) <= len(folders) or "**" in pattern.rpartition("/")[2]
