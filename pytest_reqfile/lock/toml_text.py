"""The TOML of a lock file, byte for byte as go-toml writes the original's structs (spec/lock.md 1.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from pytest_reqfile.lock.values import Approval, Deny, Entry, ItemPin, Lock, OutputPin, Scan, ordered

AI_RULEZ_HEADER: Final = (
    "# ai-rulez.lock: pins remote includes, installed skills and authored content. Commit this file.\n"
    "# Refresh it with `ai-rulez lock`; `ai-rulez generate --locked` fails when it is stale.\n"
)
Record = Entry | ItemPin | OutputPin | Approval | Deny | Scan
Value = str | bool | int | tuple[str, ...]

_ENTRY: Final = (
    *("name", "source", "path?", "ref?", "tag?", "tag_object?"),
    *("released?", "released_from?", "commit", "digest", "view?"),
)
_TABLES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    # table: attribute of the lock, keys in order; `?` leaves an empty value out
    "include": ("includes", _ENTRY),
    "skill": ("skills", _ENTRY),
    "source": ("sources", _ENTRY),
    "served": ("served", _ENTRY),
    "item": ("items", ("kind", "id", "domain?", "path?", "digest", "owner?", "version?")),
    "output": ("outputs", ("role?", "path?", "digest", "requested?")),
    "approval": (
        "approvals",
        (
            *("kind", "id", "domain?", "digest", "reviewer", "assurance", "approved_at"),
            *("expires?", "note?", "accepted_findings?", "ref?", "attestation?"),
        ),
    ),
    "deny": ("denied", ("digest", "reason?")),
    "scan": ("scans", ("scanner", "version?", "tree", "findings", "max_severity?", "result")),
}
_TOP: Final = ("version", "ai_rulez_version?", "profile?", "scope?", "outputs_pinned?", "tree?")
_SHORT: Final = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TAB: Final = "\t"
_DELETE: Final = "\x7f"
_FIRST_PRINTABLE: Final = " "


def lock_text(lock: Lock, header: str = AI_RULEZ_HEADER) -> str:
    """The file that holds ``lock``: everything sorted, in the lowest version that can express it."""
    lock = ordered(lock)
    parts = [f"{header}\n", *_lines(lock, _TOP)]
    for table, (attribute, keys) in _TABLES.items():
        for record in getattr(lock, attribute):
            parts += (f"\n[[{table}]]\n", *_lines(record, keys))
    return "".join(parts)


def _lines(record: Lock | Record, keys: tuple[str, ...]) -> Iterator[str]:
    known = {field.name for field in fields(record)}
    for key in keys:
        name = key.removesuffix("?")
        assert name in known, name
        value: Value = getattr(record, name)
        if value or key == name:
            yield f"{name} = {_value(value)}\n"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_string, value))}]"
    return toml_string(value)


def toml_string(text: str) -> str:
    """A literal string where TOML allows one, else a basic one; a tab stands as it is in the former."""
    if not any(_needs_escape(char) for char in text):
        return f"'{text}'"
    return '"' + "".join(_SHORT.get(char) or _escaped(char) for char in text) + '"'


def _needs_escape(char: str) -> bool:
    return char == "'" or (_is_control(char) and char != _TAB)


def _is_control(char: str) -> bool:
    return char < _FIRST_PRINTABLE or char == _DELETE


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04X}" if _is_control(char) else char
