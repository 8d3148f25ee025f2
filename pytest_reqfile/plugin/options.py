"""The plugin's options: one table that makes the flags, their ini twins and the docs page (design 2.4).

A flag beats its ini key. Only pytest and the standard library are imported: this module loads at every pytest start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import pytest

UNKNOWN_REQUIREMENTS: Final = pytest.StashKey[str]()
"""On a Python test that is linked to a requirement nobody defines: the message of its error."""

ArgumentKind = Literal["switch", "value", "list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One row: ``--reqfile-NAME`` (``--reqfile`` and ``--no-reqfile`` are spelled out) and the ini key beside it."""

    name: str
    flag: str
    kind: ArgumentKind
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    in_ini: bool = True

    @property
    def ini(self) -> str:
        """The ini key: the flag without dashes in front, with underscores."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def dest(self) -> str:
        """Where argparse keeps the flag's value."""
        return f"reqfile_option_{self.name}"


OPTIONS: Final = (
    Option(
        name="whole",
        flag="--reqfile",
        kind="switch",
        help="collect the requirements of the whole git repository, whatever testpaths says",
    ),
    Option(
        name="off",
        flag="--no-reqfile",
        kind="switch",
        help="collect no requirements at all; beats `reqfile = true`",
        in_ini=False,
    ),
    Option(
        name="only",
        flag="--reqfile-only",
        kind="list",
        metavar="ID,…",
        help="only the listed requirements; the others are deselected; repeatable",
    ),
    Option(
        name="fast",
        flag="--reqfile-fast",
        kind="switch",
        help="only decision checks and commands declared `fast: true`; the others are left for a full run",
    ),
    Option(
        name="edition",
        flag="--reqfile-edition",
        kind="value",
        metavar="EDITION",
        choices=("0.1", "0.4"),
        help="which published behaviour of reqfile applies where two contradict (default: $REQFILE_EDITION, else 0.1)",
    ),
)
_BY_NAME: Final = {option.name: option for option in OPTIONS}


def add_options(parser: pytest.Parser) -> None:
    """Declare every flag and ini key of the table."""
    group = parser.getgroup("reqfile", "what the repository requires (pytest-reqfile)")
    for option in OPTIONS:
        _add_flag(group, option)
        if option.in_ini:
            parser.addini(option.ini, option.help, type=_INI_TYPES[option.kind], default=None)


_INI_TYPES: Final[dict[ArgumentKind, Literal["bool", "string", "args"]]] = {
    "switch": "bool",
    "value": "string",
    "list": "args",
}


def _add_flag(group: pytest.OptionGroup, option: Option) -> None:
    if option.kind == "switch":
        group.addoption(option.flag, dest=option.dest, action="store_true", default=None, help=option.help)
        return
    action = "append" if option.kind == "list" else "store"
    group.addoption(
        option.flag,
        dest=option.dest,
        action=action,
        default=None,
        metavar=option.metavar,
        choices=option.choices,
        help=option.help,
    )


def is_on(config: pytest.Config, name: str) -> bool:
    """Whether a switch is set, by flag or ini key; everything but ``off`` is off under ``--no-reqfile``."""
    if name != "off" and is_on(config, "off"):
        return False
    return bool(_given(config, name))


def values(config: pytest.Config, name: str) -> tuple[str, ...]:
    """The values of a list option: those of the flag, else those of the ini key."""
    return tuple(_given(config, name) or ())


def value(config: pytest.Config, name: str) -> str | None:
    """The value of an option. Raises pytest.UsageError for an ini value that is none of its choices."""
    found: str | None = _given(config, name) or None
    option = _BY_NAME[name]
    if found is not None and option.choices is not None and found not in option.choices:
        expected = ", ".join(option.choices)
        raise pytest.UsageError(f"{option.ini}: expected one of {expected}, found {found!r}")
    return found


def _given(config: pytest.Config, name: str) -> Any:
    option = _BY_NAME[name]
    flag = config.getoption(option.dest)
    return flag if flag is not None or not option.in_ini else config.getini(option.ini)
