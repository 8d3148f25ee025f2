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

PLACE = ("rev-parse", "--show-toplevel", "--git-common-dir")
# ``-v`` opens each entry with a letter and a space, ``?`` for what is not tracked, ``S`` or a small letter for what git
# was told not to compare: one look through the folders tells all.
LISTING = ("ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard")

USUAL_KEY = "OPENROUTER_API_KEY"
"""Where a key for models usually is: git needs none, nor do the filters and helpers that it starts (design 2.6)."""

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
    """Where the repository of the current folder is, and its files where there is one."""

    __slots__ = ("listing", "place")

    def __init__(self, place: Spawned, listing: Spawned | None) -> None:
        self.place = place
        self.listing = listing


def ask_ahead() -> Ahead | None:
    """Let git begin with what a run in the current folder needs; None without git, which is told when it is needed."""
    variables = variables_for_git(os.environ)
    try:
        place = Spawned(git_command(".", PLACE), variables)
        code, out, _ = place.ended()
        root, _ = place_of(code, out)
        return Ahead(place, Spawned(git_command(root, LISTING), variables) if root else None)
    except OSError:
        return None


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
