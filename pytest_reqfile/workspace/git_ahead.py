"""What git is asked before anything else is imported, and how it is asked (design 4 "Git"; issue 3.5).

Imports nothing, as ``spawned`` does not: git lists the files while Python imports.
"""

from __future__ import annotations

import os

from pytest_reqfile.workspace.spawned import Spawned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HARDENED = (
    # A repository's configuration must neither start a program (fsmonitor) nor change how paths are written.
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    "--no-optional-locks",
    "--no-pager",
)

# What is asked both ahead and later, in the same words: one call answers both.
PLACE = ("rev-parse", "--show-toplevel", "--git-common-dir")
# ``-v`` opens each entry with a letter and a space, ``?`` for what is not tracked, ``S`` or a small letter for what git
# was told not to compare: one look through the folders tells all.
LISTING = ("ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard")
IS_INSIDE = ("rev-parse", "--is-inside-work-tree")
# Nothing in a user's configuration may change what counts as an added line.
RENAMES = (
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "color.diff=false"),
    *("diff", "--relative", "-M", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", "--submodule=short", "--raw"),
)
PATCH = (*RENAMES, "-p", "-U0")
END_OF_OPTIONS = "--end-of-options"
_FEW_PROCESSORS = 2

USUAL_KEY = "OPENROUTER_API_KEY"
"""Where a key for models usually is: git needs none, nor do the filters and helpers that it starts (design 2.6)."""

OFFLINE = {"GIT_ALLOW_PROTOCOL": "none"}
"""For git calls that never use the network: in a partial clone git would fetch what is missing, without a word."""

GIT_KEPT = frozenset(
    {
        # Where git and its configuration come from: chosen by the user or CI, true for every repository.
        "GIT_EXEC_PATH",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        # ``GIT_CONFIG_COUNT`` (with KEY_n, VALUE_n) is how containers set ``safe.directory``; what ``git -c`` gives
        # a hook travels in GIT_CONFIG_PARAMETERS instead, which belongs to that one git call and is dropped.
        "GIT_CONFIG_COUNT",
        # How far up a repository is looked for, and whether across mounts.
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        # How remotes are reached.
        "GIT_ASKPASS",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
        "GIT_SSL_NO_VERIFY",
        "GIT_SSL_VERSION",
        "GIT_HTTP_PROXY_AUTHMETHOD",
        "GIT_PROXY_SSL_CAINFO",
        "GIT_ALLOW_PROTOCOL",
    }
)
"""``GIT_*`` variables our own git calls keep; pre-commit's list and the ones that name configuration.

All others name a repository, an index, objects, pathspec rules or output of the hook we may run in, and would make git
answer about something else than the folder it is asked about (spec/reqfile.md 9).
"""


class Ahead:
    """git calls that have begun, each found by its whole command line and given away once."""

    __slots__ = ("_begun", "_variables")

    def __init__(self, offline: bool = False) -> None:
        self._begun: dict[tuple[str, ...], Spawned] = {}
        self._variables = {**variables_for_git(os.environ), **(OFFLINE if offline else {})}

    def begin(self, folder: str, arguments: Sequence[str]) -> Spawned:
        """Let git begin in ``folder``. Raises OSError where there is none."""
        argv = git_command(folder, arguments)
        self._begun[argv] = begun = Spawned(argv, self._variables)
        return begun

    def take(self, argv: tuple[str, ...]) -> Spawned | None:
        """The call of this command line; None where it has not begun, or was taken."""
        return self._begun.pop(argv, None)

    def holds(self, argv: tuple[str, ...]) -> bool:
        """Whether the call of this command line has begun and was not taken."""
        return argv in self._begun


def begin_listing() -> Ahead:
    """git asked where the repository of the current folder is, and for its files.

    Nothing has begun where there is no git: that is told when it is needed.
    """
    ahead = Ahead()
    try:
        top = _begin_place(ahead)
        if top:
            ahead.begin(top, LISTING)
    except OSError:
        return ahead
    return ahead


def begin_since(revision: str, marks: Sequence[str]) -> Ahead:
    """git asked what changed since HEAD left ``revision``, in the nearest folder that holds one of ``marks``.

    Never by the network (seed 000 "Changed-only runs").
    """
    ahead = Ahead(offline=True)
    try:
        top = _begin_place(ahead)
        folder = _nearest(marks, top) if top else None
        if folder is not None:
            _begin_changes(ahead, folder, revision)
    except OSError:
        return ahead
    return ahead


def _begin_place(ahead: Ahead) -> str:
    code, out, _ = ahead.begin(os.getcwd(), PLACE).ended()
    return place_of(code, out)[0]


def _nearest(marks: Sequence[str], top: str) -> str | None:
    folder = os.path.realpath(os.getcwd())
    while not any(os.path.isfile(os.path.join(folder, mark)) for mark in marks):
        if folder in (top, os.path.dirname(folder)):
            return None
        folder = os.path.dirname(folder)
    return folder


def _begin_changes(ahead: Ahead, folder: str, revision: str) -> None:
    ahead.begin(folder, LISTING)
    ahead.begin(folder, IS_INSIDE)
    code, out, _ = ahead.begin(folder, resolving(revision)).ended()
    if code == 0:
        code, out, _ = ahead.begin(folder, merging(os.fsdecode(out).strip())).ended()
    if code == 0:
        ahead.begin(folder, (*thread_options(), *PATCH, os.fsdecode(out).partition("\n")[0], "--"))


def resolving(revision: str) -> tuple[str, ...]:
    """The question which commit ``revision`` names; whatever it says, it is never read as an option."""
    return ("rev-parse", "--verify", "--quiet", END_OF_OPTIONS, f"{revision}^{{commit}}")


def merging(commit: str) -> tuple[str, ...]:
    """The question where HEAD left ``commit``."""
    return ("merge-base", END_OF_OPTIONS, commit, "HEAD")


def thread_options() -> tuple[str, ...]:
    """Options of git for looking at many files: up to twenty threads of it would leave us no turn on two processors."""
    few = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) <= _FEW_PROCESSORS
    return ("-c", "core.preloadIndex=false") if few else ()


def place_of(code: int, out: bytes) -> tuple[str, str]:
    """The canonical top folder and the shared git folder in the answer to PLACE, empty where there is no repository."""
    root, _, git_folder = os.fsdecode(out.removesuffix(b"\n")).rpartition("\n")
    return (os.path.realpath(root), git_folder) if code == 0 and root else ("", "")


def git_command(folder: str | os.PathLike[str], arguments: Sequence[str]) -> tuple[str, ...]:
    """The command line of git in ``folder``, hardened against what surrounds it."""
    return ("git", "-C", os.fspath(folder), *HARDENED, *arguments)


def variables_for_git(variables: Mapping[str, str]) -> dict[str, str]:
    """``environment.for_git`` of plain variables."""
    kept = {name: value for name, value in variables.items() if _is_for_git(name)}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def _is_for_git(name: str) -> bool:
    if name.startswith("GIT_"):
        return name in GIT_KEPT or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))
    return name != USUAL_KEY
