"""The plugin's options: one table that makes the flags, their ini twins and the docs page (design 2.4).

A flag beats its ini key. Only pytest, the standard library and ``names`` are imported: this loads at every start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from pytest_reqfile.plugin.names import is_ours

UNKNOWN_REQUIREMENTS: Final = pytest.StashKey[str]()
"""On a Python test that is linked to a requirement nobody defines: the message of its error."""
LINKED_REQUIREMENTS: Final = pytest.StashKey[tuple[str, ...]]()
"""On a Python test: the ids of the requirements it is linked to."""
REPORTS: Final = ("sarif", "junit", "json", "html")

ArgumentKind = Literal["switch", "value", "optional", "list", "path"]


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
        name="changed",
        flag="--reqfile-changed",
        kind="optional",
        metavar="BASE",
        help="only what changed since BASE and HEAD parted (default: the nearest config's base, then origin/HEAD); "
        "in the ini file, BASE or `true`",
    ),
    Option(
        name="staged",
        flag="--reqfile-staged",
        kind="switch",
        help="only what is staged for the next commit",
    ),
    Option(
        name="fast",
        flag="--reqfile-fast",
        kind="switch",
        help="only decision checks and commands declared `fast: true`; the others are left for a full run",
    ),
    Option(
        name="advisory_errors",
        flag="--reqfile-advisory-errors",
        kind="value",
        metavar="EFFECT",
        choices=("fail", "report"),
        help="what an advisory decision check that could not run does: fail the run (default in edition 0.1), or only "
        "be reported (default in 0.4)",
    ),
    Option(
        name="log",
        flag="--reqfile-log",
        kind="path",
        metavar="PATH",
        help="append a JSON line for each command check and finding of the run",
    ),
    Option(
        name="log_tag",
        flag="--reqfile-log-tag",
        kind="list",
        metavar="K=V",
        help="a tag on every line of the log; repeatable",
    ),
    Option(
        name="allow_exec",
        flag="--reqfile-allow-exec",
        kind="switch",
        help="run the commands of verifiers (for trusted revisions only)",
    ),
    Option(
        name="allow_llm",
        flag="--reqfile-allow-llm",
        kind="switch",
        help="ask a model about the llm checklists of verifiers; sends it the changed lines",
    ),
    Option(
        name="max_cost",
        flag="--reqfile-max-cost",
        kind="value",
        metavar="USD",
        help="refuse calls to a model that could cost more than is left of it (default: 0.50; 0: no cap)",
    ),
    Option(
        name="gate_llm",
        flag="--reqfile-gate-llm",
        kind="switch",
        help="let calibrated llm verifiers of severity error fail the run",
    ),
    Option(
        name="estimate",
        flag="--reqfile-estimate",
        kind="switch",
        help="say what llm verifiers would send to a model and cost; send nothing",
    ),
    Option(
        name="fail_on",
        flag="--reqfile-fail-on",
        kind="value",
        metavar="SEVERITY",
        choices=("error", "warning", "info", "none"),
        help="lowest severity of a verifier that fails the run (default: error)",
    ),
    Option(
        name="strict",
        flag="--reqfile-strict",
        kind="switch",
        help="verifiers of severity warning fail the run too",
    ),
    Option(
        name="profile",
        flag="--reqfile-profile",
        kind="value",
        metavar="NAME",
        help="the profile of .ai-rulez whose rules count as active",
    ),
    Option(
        name="role",
        flag="--reqfile-role",
        kind="value",
        metavar="NAME",
        help="the role of .ai-rulez whose rules count as active",
    ),
    Option(
        name="generator",
        flag="--reqfile-generator",
        kind="value",
        metavar="COMMAND",
        help="what regenerates outputs for generated_in_sync: ai-rulez, or a command; needs --reqfile-allow-exec",
    ),
    Option(
        name="oracle_sink",
        flag="--reqfile-oracle-sink",
        kind="path",
        metavar="DIR",
        help="where the missions named on the command line leave their claims and evidence",
    ),
    Option(
        name="lock_no_cache",
        flag="--reqfile-lock-no-cache",
        kind="switch",
        help="compare locks by reading every file, though nothing says that it has changed",
    ),
    Option(
        name="edition",
        flag="--reqfile-edition",
        kind="value",
        metavar="EDITION",
        choices=("0.1", "0.4"),
        help="which published behaviour of reqfile applies where two contradict (default: $REQFILE_EDITION, else 0.1)",
    ),
    Option(
        name="sarif",
        flag="--reqfile-sarif",
        kind="path",
        metavar="PATH",
        help="write a SARIF 2.1.0 report for code scanning",
    ),
    Option(
        name="junit",
        flag="--reqfile-junit",
        kind="path",
        metavar="PATH",
        help="write a JUnit XML report of the requirements alone",
    ),
    Option(
        name="json",
        flag="--reqfile-json",
        kind="path",
        metavar="PATH",
        help="write everything the run knows as JSON",
    ),
    Option(
        name="html",
        flag="--reqfile-html",
        kind="path",
        metavar="PATH",
        help="write one self-contained HTML page",
    ),
)
_RUN_NOTHING: Final = ("collectonly", "setuponly", "setupplan", "showfixtures", "show_fixtures_per_test")
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
    "optional": "string",
    "list": "args",
    "path": "string",
}


def _add_flag(group: pytest.OptionGroup, option: Option) -> None:
    if option.kind == "switch":
        group.addoption(option.flag, dest=option.dest, action="store_true", default=None, help=option.help)
        return
    action = "append" if option.kind == "list" else "store"
    optional: dict[str, Any] = {"nargs": "?", "const": ""} if option.kind == "optional" else {}
    group.addoption(
        option.flag,
        dest=option.dest,
        action=action,
        default=None,
        metavar=option.metavar,
        choices=option.choices,
        help=option.help,
        **optional,
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


def path(config: pytest.Config, name: str) -> Path | None:
    """The absolute path of a path option: a flag's is relative to the current folder, an ini key's to rootdir."""
    option = _BY_NAME[name]
    flag = config.getoption(option.dest)
    if flag:
        return Path(config.invocation_params.dir, flag)
    found = config.getini(option.ini) if option.in_ini else None
    return Path(config.rootpath, found) if found else None


def report_paths(config: pytest.Config) -> Iterator[tuple[str, Path]]:
    """Each report that was asked for, with its absolute path."""
    for name in REPORTS:
        found = path(config, name)
        if found is not None:
            yield name, found


def runs_nothing(config: pytest.Config) -> bool:
    """Whether items are collected and none is run to its end; two of the options belong to plugins that may be off."""
    return any(config.getoption(name, False) for name in _RUN_NOTHING)


def writes_reports(config: pytest.Config) -> bool:
    """Whether this process writes reports at the end: no worker of xdist does, nor a run that runs nothing."""
    if hasattr(config, "workerinput") or runs_nothing(config) or is_on(config, "off"):
        return False
    return any(report_paths(config)) or any(path(config, name) is not None for name in ("log", "oracle_sink"))


def check_report_paths(config: pytest.Config) -> None:
    """Raise pytest.UsageError where two reports would be written to one file, or one over what it reports on.

    ``pytest --reqfile-json Reqfile.yaml`` is a flag whose value was forgotten.
    """
    ours = tuple(_written(config))
    if not ours:
        return
    from pytest_reqfile.workspace.paths import canonical

    writers: dict[Path, str] = {}
    xml = config.getoption("xmlpath", None)  # pytest's own
    if xml:
        xml_path = config.invocation_params.dir / xml
        writers[canonical(xml_path.parent) / xml_path.name] = "--junitxml"
    for flag, found in ours:
        place = canonical(found.parent) / found.name
        if place in writers:
            raise pytest.UsageError(f"{flag} and {writers[place]} both name {found}")
        if is_ours(found):
            raise pytest.UsageError(f"{flag}: {found} is a file that reqfile reads, expected a file to write")
        writers[place] = flag


def _written(config: pytest.Config) -> Iterator[tuple[str, Path]]:
    """Each file that we write at the end of a run."""
    yield from ((f"--reqfile-{name}", found) for name, found in report_paths(config))
    log = path(config, "log")
    if log is not None:
        yield "--reqfile-log", log


def given_as(config: pytest.Config, name: str) -> str:
    """How the user gave an option: the flag, or the ini key."""
    option = _BY_NAME[name]
    return option.flag if config.getoption(option.dest) else option.ini


def names_a_mission(config: pytest.Config, path: Path) -> bool:
    """Whether a JSON file was named on the command line: only then may it be a mission."""
    return path.suffix == ".json" and any(argument.partition("::")[0].endswith(path.name) for argument in config.args)


def is_narrowed(config: pytest.Config) -> bool:
    """Whether an option that narrows the run, or says how it is judged, was given."""
    if is_on(config, "off"):
        return False
    return optional_value(config, "changed") is not None or any(
        _given(config, name)
        for name in (
            "only",
            "staged",
            "edition",
            "log_tag",
            "fail_on",
            "profile",
            "role",
            "generator",
            "oracle_sink",
            "max_cost",
        )
    )


def optional_value(config: pytest.Config, name: str) -> str | None:
    """The value of an option that may stand alone: empty then, None where it was not given at all."""
    flag: str | None = config.getoption(_BY_NAME[name].dest)
    if flag is not None:
        return flag
    found: str = config.getini(_BY_NAME[name].ini) or ""
    return "" if found.lower() == "true" else found or None


def _given(config: pytest.Config, name: str) -> Any:
    option = _BY_NAME[name]
    flag = config.getoption(option.dest)
    return flag if flag is not None or not option.in_ini else config.getini(option.ini)
