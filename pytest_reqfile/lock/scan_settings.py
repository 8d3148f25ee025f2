"""What the security scan is told by config.toml: ``[lint.severity]`` and ``[lint.security]`` (airulez-project.md 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.project.values import Config
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.patterns import PatternError, compile_pattern

ScanCode = Literal["AR001", "AR002", "AR003", "AR004", "AR005", "AR006", "AR007", "AR008", "AR009"]
ScanSeverity = Literal["error", "warning", "info"]
Level = Literal["error", "warning", "info", "off"]

SCAN_CODES: Final[tuple[ScanCode, ...]] = get_args(ScanCode)
DEFAULT_LEVELS: Final[Mapping[ScanCode, Level]] = {
    "AR001": "error",
    "AR002": "error",
    "AR003": "warning",
    "AR004": "warning",
    "AR005": "error",
    "AR006": "warning",
    "AR007": "warning",
    "AR008": "warning",
    "AR009": "warning",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanSettings:
    """``allowed_hosts`` is None where no list is set: then hosts are not looked at (AR008).

    ``allowed_tools`` are entries of ``allowed-tools`` that may be unrestricted; ``secret_patterns`` are RE2 patterns of
    secrets beside the known ones.
    """

    levels: Mapping[ScanCode, Level] = field(default_factory=lambda: dict(DEFAULT_LEVELS))
    allowed_hosts: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] = ()
    secret_patterns: tuple[str, ...] = ()


def scan_settings(config: Config) -> ScanSettings:
    """The settings of the scan. Raises ``FormatError`` for those that cannot be read."""
    declared = config.tables.get("lint")
    if declared is None:
        return ScanSettings()
    problems = Problems(declared.path)
    lint = loose_fields(declared.node, "[lint]", problems)
    levels = _levels(lint.optional_mapping("severity"), problems)
    security = lint.optional_mapping("security")
    settings = _with_security(levels, security, problems) if security is not None else ScanSettings(levels=levels)
    problems.raise_if_any()
    return settings


def _levels(node: Node | None, problems: Problems) -> dict[ScanCode, Level]:
    levels = dict(DEFAULT_LEVELS)
    if node is None:
        return levels
    fields = loose_fields(node, "[lint.severity]", problems)
    choices: tuple[Level, ...] = get_args(Level)
    for code in SCAN_CODES:
        message = f"unknown severity `{{x}}` of {code} (expected one of: {', '.join(choices)})"
        levels[code] = fields.choice(code, choices, levels[code], message)
    return levels


def _with_security(levels: dict[ScanCode, Level], node: Node, problems: Problems) -> ScanSettings:
    fields = loose_fields(node, "[lint.security]", problems)
    hosts = fields.optional_strings("allowed_hosts") if "allowed_hosts" in fields else None
    return ScanSettings(
        levels=levels,
        allowed_hosts=hosts,
        allowed_tools=fields.optional_strings("allowed_tools"),
        secret_patterns=_patterns(fields),
    )


def _patterns(fields: Fields) -> tuple[str, ...]:
    patterns = fields.optional_strings("secret_patterns")
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except PatternError as error:
            fields.refuse("secret_patterns", f"secret pattern `{pattern}` cannot be read: {error}")
    return patterns
