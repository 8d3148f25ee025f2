"""``[verifiers_settings]`` (seed 000 "Settings"; spec 1.8)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.verifiers.shape import Shape, Table, boolean, check_table, integer, strings
from pytest_reqfile.verifiers.values import Settings
from pytest_reqfile.verifiers.words import MIB, go_quoted
from pytest_reqfile.workspace.command_environment import is_sensitive

MAX_TIMEOUT_S: Final = 900
MAX_FILE_BYTES: Final = 64 * MIB
_SHAPE: Final[Shape] = {
    "max_timeout_s": integer,
    "max_file_bytes": integer,
    "require_examples": boolean,
    "warn_dead": boolean,
    "trust_exec_from": strings,
    "command_env": strings,
}
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_settings(node: Node, path: str, includes: Collection[str]) -> Settings:
    """The settings in the table ``node``. Raises FormatError with everything wrong; ``includes`` are declared names."""
    problems = list(check_table(node, _SHAPE, "[verifiers_settings]", path))
    if problems:
        raise FormatError(problems)
    table = Table(node)
    problems = [Problem(message=message, path=path, line=line) for line, message in _wrong(table, includes)]
    if problems:
        raise FormatError(problems)
    default = Settings()
    return Settings(
        max_timeout_s=table.number("max_timeout_s") or default.max_timeout_s,
        max_file_bytes=table.number("max_file_bytes") or default.max_file_bytes,
        require_examples=table.flag("require_examples", default.require_examples),
        warn_dead=table.flag("warn_dead", default.warn_dead),
        trust_exec_from=table.texts("trust_exec_from"),
        command_env=table.texts("command_env"),
    )


def _wrong(table: Table, includes: Collection[str]) -> Iterator[tuple[int, str]]:
    if not 0 <= (table.number("max_timeout_s") or 0) <= MAX_TIMEOUT_S:
        yield (
            table.line("max_timeout_s"),
            f"verifiers_settings.max_timeout_s must be between 1 and {MAX_TIMEOUT_S} seconds",
        )
    if not 0 <= (table.number("max_file_bytes") or 0) <= MAX_FILE_BYTES:
        yield (
            table.line("max_file_bytes"),
            f"verifiers_settings.max_file_bytes must be between 1 and {MAX_FILE_BYTES} bytes",
        )
    for name in table.texts("trust_exec_from"):
        if name not in includes:
            line = table.line("trust_exec_from")
            yield line, f"verifiers_settings.trust_exec_from entry {go_quoted(name)} is not a declared include"
    for name in table.texts("command_env"):
        where = f"verifiers_settings.command_env entry {go_quoted(name)}"
        if not _VARIABLE_NAME.fullmatch(name):
            yield table.line("command_env"), f"{where} is not an environment variable name"
        elif is_sensitive(name):
            yield table.line("command_env"), f"{where} looks like a credential or proxy setting"
