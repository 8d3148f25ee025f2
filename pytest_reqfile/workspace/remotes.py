"""Other repositories, reached through git and within a time limit; the only git calls that use the network."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.environment import Environment, for_git
from pytest_reqfile.workspace.git_ahead import HARDENED
from pytest_reqfile.workspace.processes import run_command
from pytest_reqfile.workspace.tree_listing import TooLargeError

LISTING_SECONDS: Final = 30.0
FETCH_SECONDS: Final = 300.0
_LISTING_LIMIT: Final = 64 * 1024 * 1024
# Nobody is there to answer: no helper may ask, and nothing that git starts on its own may outlive the call.
# Of a repository that lacks objects nothing is fetched from where its configuration says.
_UNATTENDED: Final = {"GCM_INTERACTIVE": "never", "GIT_NO_LAZY_FETCH": "1", "SSH_ASKPASS_REQUIRE": "never"}
_ASKS: Final = ("SSH_ASKPASS",)
"""What desktops set, and git would open a window with."""
_NO_HOUSEKEEPING: Final = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
_ONE_FILE: Final = ("-c", "fetch.unpackLimit=1")
"""What comes is kept as the one file it is, whose size can be limited."""
_FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
_REDIRECTED: Final = re.compile(r"returned error: 30[12378]\b")
_NO_REDIRECT: Final = " (credentials do not follow a redirect: give the source the URL that it leads to)"
_BLOCK: Final = 512
_MOST: Final = 2**50
_TAG_LINE: Final = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\trefs/tags/(.+)", re.DOTALL)
_PEELED: Final = "^{}"
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+@")


def tag_ids(listing: str) -> dict[str, tuple[str, str]]:
    """Tag → the object it names and what that leads to, of what ``Remotes.tags`` returns; other lines say nothing.

    The two differ for an annotated tag, for which git lists both.
    """
    objects: dict[str, str] = {}
    peeled: dict[str, str] = {}
    for line in listing.split("\n"):
        if found := _TAG_LINE.fullmatch(line):
            name = found[2].removesuffix(_PEELED)
            (objects if name == found[2] else peeled)[name] = found[1]
    return {name: (identity, peeled.get(name, identity)) for name, identity in objects.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Remotes:
    """Asks remote repositories. Limits are in seconds; a remote that does not answer in time is a ``GitError``.

    git never prompts: there is no terminal, and credentials come from helpers, agents and ``settings`` only. These are
    pairs of git's configuration, which reach git by its environment, so that no list of processes shows them.
    ``protocols`` limits what git may speak, whatever the configuration of the user turns a URL into; None leaves it to
    git.
    """

    environment: Environment
    listing_seconds: float = LISTING_SECONDS
    fetch_seconds: float = FETCH_SECONDS
    protocols: tuple[str, ...] | None = None
    settings: tuple[tuple[str, str], ...] = ()

    def tags(self, url: str, *patterns: str) -> str:
        """The listing of ``git ls-remote --tags`` for ``patterns`` (all tags without one)."""
        return self._list(url, "--tags", *patterns)

    def references(self, url: str, *patterns: str) -> str:
        """The listing of ``git ls-remote`` for ``patterns``; they match the end of names, and are globs."""
        return self._list(url, "", *patterns)

    def _list(self, url: str, what: str, *patterns: str) -> str:
        # No repository around us has a say in where the tags are read.
        options = (f"--git-dir={os.devnull}", "ls-remote", *((what,) if what else ()), "--end-of-options")
        return os.fsdecode(self._run((*options, url, *patterns), url, self.listing_seconds))

    def fetch(self, store: Path, url: str, commit: str) -> None:
        """Bring one commit and its history into the bare repository ``store``; no reference is written."""
        into = (f"--git-dir={store}", *_NO_HOUSEKEEPING, *_FETCH)
        self._run((*into, "--end-of-options", url, commit), url, self.fetch_seconds)

    def fetch_alone(self, store: Path, url: str, commit: str, limit: int) -> None:
        """Bring one commit without its history into the empty bare repository ``store``.

        Raises ``TooLargeError`` where git would write a file of more than ``limit`` bytes.
        """
        into = (f"--git-dir={store}", *_NO_HOUSEKEEPING, *_ONE_FILE, *_FETCH, "--depth=1")
        try:
            self._run((*into, "--end-of-options", url, commit), url, self.fetch_seconds, _limited(limit))
        except GitError as error:
            if any(file.stat().st_size + _BLOCK > limit for file in store.rglob("*") if file.is_file()):
                raise TooLargeError(f"more than {limit // 1024**2} MiB would have to be fetched") from error
            raise

    def shown(self, text: str) -> str:
        """``text`` without user and password of its URLs: what a remote is reached with is no one's to read."""
        return _CREDENTIALS.sub("", text)

    def _run(self, arguments: Sequence[str], url: str, seconds: float, prefix: tuple[str, ...] = ()) -> bytes:
        done = run_command(
            (*prefix, "git", *HARDENED, *arguments),
            cwd=Path.cwd(),
            env=for_git(self.environment.without(_ASKS)).updated(
                {**_UNATTENDED, **self._allowed(), **self._configured()}
            ),
            timeout=seconds,
            limit=_LISTING_LIMIT,
        )
        if done.launch_error is not None:
            raise GitError(f"could not run git: {done.launch_error}")
        if done.timed_out:
            raise GitError(f"{self.shown(url)} did not answer within {seconds:g} seconds")
        if done.dropped:
            raise GitError(f"{self.shown(url)} answers with more than {_LISTING_LIMIT // 1024**2} MiB")
        if done.exit != 0:
            said = os.fsdecode(done.stderr).strip() or f"git ended with {_ending(done.exit, done.signal)}"
            hint = _NO_REDIRECT if self.settings and _REDIRECTED.search(said) is not None else ""
            raise GitError(f"{self.shown(said)}{hint}")
        return done.stdout

    def _allowed(self) -> dict[str, str]:
        """What git may speak: never more than the user allows."""
        if self.protocols is None:
            return {}
        allowed = self.environment.get("GIT_ALLOW_PROTOCOL")
        users = None if allowed is None else allowed.split(":")
        return {"GIT_ALLOW_PROTOCOL": ":".join(one for one in self.protocols if users is None or one in users)}

    def _configured(self) -> dict[str, str]:
        """The settings, after those that the environment has already."""
        if not self.settings:
            return {}
        known = self.environment.get("GIT_CONFIG_COUNT") or "0"
        first = int(known) if known.isdecimal() else 0
        variables = {"GIT_CONFIG_COUNT": str(first + len(self.settings))}
        for number, (key, value) in enumerate(self.settings, first):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return variables


def _limited(limit: int) -> tuple[str, ...]:
    """A shell that lets the rest of the line write no larger file (POSIX counts in 512 bytes), and becomes it.

    A limit that somebody else has set lower stays.
    """
    return ("sh", "-c", 'ulimit -f "$0" 2>/dev/null; exec "$@"', str(-(-min(limit, _MOST) // _BLOCK)))


def _ending(code: int | None, signal: int | None) -> str:
    return f"signal {signal}" if code is None else f"exit code {code}"
