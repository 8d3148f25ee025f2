"""Which files of a repository are targets, configs and Reqfiles (seed 004 EXCLUDE, CASCADE; spec 1.5, 2.2 to 2.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol, TypeVar

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.reqfile.parsing import DirectParser, Parser
from pytest_reqfile.reqfile.settings import CONFIG_NAME, Config, Settings
from pytest_reqfile.reqfile.values import Reqfile
from pytest_reqfile.workspace.paths import folder_of, name_of
from pytest_reqfile.workspace.snapshot import Incomplete, Searchable

REQFILE_NAME: Final = "Reqfile.yaml"
_REQFILE_NEAR_MISSES: Final = frozenset({"reqfile.yaml", "reqfile.yml"})
_CONFIG_NEAR_MISSES: Final = frozenset({"config.yaml", "config.yml"})
_Parsed = TypeVar("_Parsed")


class Tree(Protocol):
    """What discovery needs of a repository: the working tree's snapshot, a commit, or an extracted source."""

    @property
    def listed(self) -> tuple[str, ...]:
        """Repository paths of all files, in byte order."""

    def is_regular(self, path: str) -> bool:
        """Whether the path is a regular file, not a symlink or folder."""

    def read_text(self, path: str) -> str:
        """The file's text. Raises FileError when it cannot be read or is not UTF-8."""


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """The Reqfiles and settings found in a tree, and every problem met: of configs, then of Reqfiles in path order.

    ``unseen`` are folders that could not be looked into; they are among the problems.
    """

    tree: Tree
    settings: Settings
    reqfiles: tuple[Reqfile, ...]
    problems: tuple[Problem, ...]
    unseen: tuple[Problem, ...] = ()

    def is_target(self, path: str) -> bool:
        """Whether requirements may apply to ``path``: a regular file, outside .reqfile/, not excluded."""
        return self.could_be_target(path) and self.tree.is_regular(path)

    def could_be_target(self, path: str) -> bool:
        """Whether ``path`` would be a target if it were a regular file; it may be gone."""
        return not in_reqfile_folder(path) and self.settings.excluder(path) is None

    def is_asset(self, path: str) -> bool:
        """Whether ``path`` is a file of a ``.reqfile`` folder, such as decision.yaml or an example's (spec 2.3)."""
        return in_reqfile_folder(path) and self.tree.is_regular(path) and self.settings.excluder(path) is None

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """Listed paths that are targets if they are regular files, in byte order; asks nothing of the disk."""
        return tuple(filter(self.could_be_target, self.tree.listed))


def discover(tree: Tree, parser: Parser | None = None) -> Discovery:
    """Read every config and Reqfile of ``tree``. A bad file is a problem and never hides the others."""
    parser = parser or DirectParser()
    problems: list[Problem] = []
    settings = _read_settings(tree, parser, problems)
    reqfiles: list[Reqfile] = []
    unseen = _unseen(tree, settings)
    problems.extend(unseen)
    for path in filter(is_reqfile_like, _with_ending(tree, _REQFILE_NEAR_MISSES)):
        if settings.excluder(path) is not None or not _is_regular(tree, path, problems):
            continue
        if name_of(path) != REQFILE_NAME:
            problems.extend(_near_miss(tree, path))
        elif (reqfile := attempt(path, parser.reqfile, tree, problems)) is not None:
            reqfiles.append(reqfile)
    return Discovery(tree=tree, settings=settings, reqfiles=tuple(reqfiles), problems=tuple(problems), unseen=unseen)


def in_reqfile_folder(path: str) -> bool:
    """Whether a component of ``path`` is exactly ``.reqfile``: assets and settings, never targets."""
    return path.startswith(".reqfile/") or "/.reqfile/" in path


def is_declaration(path: str) -> bool:
    """Whether a change of ``path`` can change what is required: a Reqfile, or anything in a ``.reqfile`` folder."""
    return name_of(path) == REQFILE_NAME or in_reqfile_folder(path)


def is_reqfile_like(path: str) -> bool:
    """Whether the path is named Reqfile.yaml, or nearly so, outside of ``.reqfile/`` (spec 1.5)."""
    return name_of(path).lower() in _REQFILE_NEAR_MISSES and not in_reqfile_folder(path)


def is_config_like(path: str) -> bool:
    """Whether the path is a ``.reqfile/config.yaml``, or nearly so (spec 1.2)."""
    return name_of(path).lower() in _CONFIG_NEAR_MISSES and name_of(folder_of(path)) == ".reqfile"


def _unseen(tree: Tree, settings: Settings) -> tuple[Problem, ...]:
    """Folders that git could only warn about: what they hold would be missed in silence (seed 004 NO_FALSE_GREEN)."""
    found = tree.unreadable() if isinstance(tree, Incomplete) else ()
    way_out = "make it readable, or leave it out with .gitignore or an `exclude` glob"
    return tuple(
        Problem(path=folder, message=f"cannot read: {reason}; {way_out}")
        for folder, reason in sorted(found)
        if settings.excluder(f"{folder}/{REQFILE_NAME}") is None
    )


def _is_regular(tree: Tree, path: str, problems: list[Problem]) -> bool:
    """Whether the path is a regular file; where that cannot be known is a problem."""
    try:
        return tree.is_regular(path)
    except FileError as error:
        problems.append(located(error, path))
        return False


def _with_ending(tree: Tree, endings: Iterable[str]) -> tuple[str, ...]:
    """Few of many: a repository has tens of thousands of paths."""
    if isinstance(tree, Searchable):
        return tree.with_ending(endings)
    wanted = tuple(endings)
    return tuple(path for path in tree.listed if path.lower().endswith(wanted))


def attempt(path: str, parse: Callable[[str, str], _Parsed], tree: Tree, problems: list[Problem]) -> _Parsed | None:
    """Read and parse one file; its problems are collected and None is returned when it has any."""
    try:
        return parse(tree.read_text(path), path)
    except FormatError as error:
        problems.extend(error.problems)
    except FileError as error:
        problems.append(located(error, path))
    return None


def located(error: FileError, path: str) -> Problem:
    """The problem of a file that cannot be read: the path opens the line, as everywhere."""
    return Problem(path=path, message=str(error).removeprefix(f"{path}: "))


def _near_miss(tree: Tree, path: str) -> Iterable[Problem]:
    try:
        text = tree.read_text(path)
    except FileError as error:
        return (located(error, path),)
    from pytest_reqfile.reqfile.format import declares_requirements

    if not declares_requirements(text, path):
        return ()
    return (Problem(path=path, line=1, message=f"a requirements file must be named exactly {REQFILE_NAME}"),)


def _read_settings(tree: Tree, parser: Parser, problems: list[Problem]) -> Settings:
    """Configs shallowest folder first, so that an excluded one is never read (spec 2.3)."""
    paths = tuple(filter(is_config_like, _with_ending(tree, _CONFIG_NEAR_MISSES)))
    exact = [path for path in paths if name_of(path) == name_of(CONFIG_NAME)]
    settings = Settings()
    for path in sorted(exact, key=lambda path: path.count("/")):
        if settings.excluder(path) is not None or not _is_regular(tree, path, problems):
            continue
        config: Config | None = attempt(path, parser.config, tree, problems)
        if config is not None:
            settings = Settings(configs=(*settings.configs, config))
    for path in sorted(set(paths) - set(exact)):
        if settings.excluder(path) is None and _is_regular(tree, path, problems):
            message = f"a config file must be named exactly {CONFIG_NAME}"
            problems.append(Problem(path=path, line=1, message=message))
    return settings
