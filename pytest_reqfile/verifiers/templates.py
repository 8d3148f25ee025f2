"""Templates of ``paired`` and ``file_exists``, and the capture of ``for_each`` (seed 000 "Templates"; spec 2.4)."""

from __future__ import annotations

import re
from typing import Final

from pytest_reqfile.verifiers.words import go_quoted
from pytest_reqfile.workspace.paths import folder_of, name_of, normalised

VARIABLES: Final = ("path", "dir", "stem", "ext", "rel")
_VARIABLE: Final = re.compile(r"\{([a-z]+)\}")
_KNOWN: Final = ", ".join(f"{{{name}}}" for name in VARIABLES)


class TemplateError(ValueError):
    """A template that cannot be used; the text is the message for people."""


def has_template(text: str) -> bool:
    """Whether ``text`` has a variable, known or not."""
    return _VARIABLE.search(text) is not None


def check_template(text: str, field: str) -> None:
    """Raise TemplateError for an unknown variable."""
    for found in _VARIABLE.finditer(text):
        if found[1] not in VARIABLES:
            raise TemplateError(f"{field}: unknown template variable {found[0]} (use {_KNOWN})")


def expand(template: str, path: str, rel: str) -> str:
    """The project path that ``template`` stands for at the scoped file ``path``; ``rel`` is what ``{rel}`` captured.

    Variables are replaced in one pass: what a file is called is never read as a template. Raises TemplateError where
    the result leaves the project.
    """
    values = _values(path, rel)
    expanded = _VARIABLE.sub(lambda found: values[found[1]], template)
    if "\0" in expanded:
        raise TemplateError(f"template {go_quoted(template)} expands to a path with a NUL byte for {path}")
    clean = normalised(expanded)
    if not clean:
        raise TemplateError(f"template {go_quoted(template)} expands outside the project for {path}: {expanded}")
    return clean


def _values(path: str, rel: str) -> dict[str, str]:
    name = name_of(path)
    dot = name.rfind(".")
    stem, ext = (name, "") if dot < 0 else (name[:dot], name[dot:])
    return {"path": path, "dir": folder_of(path) or ".", "stem": stem, "ext": ext, "rel": rel}


def capture_rel(for_each: str, path: str) -> str | None:
    """What the ``{rel}`` of the literal path ``for_each`` stands for in ``path``; None where it does not match.

    Each captures one or more characters, ``/`` included, greedily; several are joined with ``/``.
    """
    pattern = "(.+)".join(map(re.escape, for_each.split("{rel}")))
    found = re.fullmatch(pattern, path, re.DOTALL)
    return "/".join(found.groups()) if found else None
