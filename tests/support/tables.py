"""The parts of the documentation that are made from the code.

Each stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pytest_reqfile.cli.parser import build_parser
from pytest_reqfile.plugin.options import OPTIONS, Option

_GENERATED: Final = re.compile(
    r"(?<=^<!-- generated: )(\w+)( -->\n\n)(.*?)(?=\n<!-- end -->$)", re.DOTALL | re.MULTILINE
)


def option_table() -> str:
    """Every option of the plugin with its ini key."""
    rows = (f"| `{_usage(option)}` | {_ini(option)} | {_cell(option.help)} |" for option in OPTIONS)
    return "\n".join(("| Flag | ini key | Meaning |", "| --- | --- | --- |", *rows)) + "\n"


def _usage(option: Option) -> str:
    value = "\\|".join(option.choices or ()) or option.metavar or ""
    if option.kind == "optional":
        return f"{option.flag}[={value}]"
    return f"{option.flag} {value}".rstrip()


def _ini(option: Option) -> str:
    return f"`{option.ini}`" if option.in_ini else "–"


def command_tables() -> str:
    """Every command of the command line with its arguments and flags."""
    return "\n".join(_command_table(name, parser) for name, parser in all_commands(build_parser()))


def all_commands(
    parser: argparse.ArgumentParser, name: str = "reqfile"
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be run, with its parser."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name, parser
    for group in groups:
        for word, below in group.choices.items():
            yield from all_commands(below, f"{name} {word}")


def _command_table(name: str, parser: argparse.ArgumentParser) -> str:
    rows = (
        f"| `{_argument(action)}` | {_cell(action.help or '')} |"
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction) and "--edition" not in action.option_strings
    )
    return "\n".join((f"`{name}`", "", "| Argument | Meaning |", "| --- | --- |", *rows)) + "\n"


def _argument(action: argparse.Action) -> str:
    value = "\\|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest)
    if not action.option_strings:
        return value
    flags = ", ".join(action.option_strings)
    return flags if action.nargs == 0 else f"{flags}[={value}]" if action.nargs == "?" else f"{flags} {value}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("%%", "%").replace("<", "&lt;")


TABLES: Final[Mapping[str, Callable[[], str]]] = {"options": option_table, "commands": command_tables}


def generated_parts(page: str) -> Iterator[tuple[str, str]]:
    """The name and the present text of each part of a page that is made from the code."""
    for match in _GENERATED.finditer(page):
        yield match[1], match[3]


def refresh(page: str) -> str:
    """The page with all its generated parts made anew."""
    return _GENERATED.sub(lambda match: f"{match[1]}{match[2]}{TABLES[match[1]]()}", page)
