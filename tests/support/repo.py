"""A real git repository that a test builds step by step."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.snapshot import Snapshot
from tests.support.neighbours import without_neighbours

RUN_SECONDS = 60.0
_PERSON = {"NAME": "Test", "EMAIL": "test@example.invalid"}
_START_SECOND = 1_767_322_000
_ROLES = ("AUTHOR", "COMMITTER")
_LEFT_OUT = (
    "OPENROUTER_API_KEY",
    "PYTHONDONTWRITEBYTECODE",  # every process would compile the package anew
    *("CI", "BUILD_NUMBER", "GITHUB_ACTIONS"),  # pytest shows long lines whole there
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a process ended: exit code (negative: signal), stdout and stderr as text."""

    code: int
    out: str
    err: str


def git_environment(home: Path) -> dict[str, str]:
    """The variables of every process a test starts: no configuration of this machine, a fixed author, no keys."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "REQFILE", "PYTEST_", "AI_RULEZ_"))
    }
    for name in _LEFT_OUT:
        inherited.pop(name, None)
    people = {f"GIT_{role}_{key}": value for role in _ROLES for key, value in _PERSON.items()}
    return {
        **inherited,
        **people,
        **_dates(_START_SECOND),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),  # git reads its default ignore file from there
        "REQFILE_CACHE": str(home / "reqfile-cache"),
        "PYTEST_ADDOPTS": without_neighbours(),
    }


def _dates(second: int) -> dict[str, str]:
    return {f"GIT_{role}_DATE": f"{second} +0000" for role in _ROLES}


def make_template(folder: Path) -> Path:
    """The ``.git`` folder of a repository with the one commit "start"; a copy takes a tenth of the time git takes."""
    env = git_environment(folder)
    for args in (
        ("init", "-q", "-b", "main", "--template="),
        ("config", "maintenance.auto", "false"),  # a process after each of thousands of commits
        ("commit", "-q", "--allow-empty", "-m", "start"),
    ):
        subprocess.run(("git", *args), cwd=folder, env=env, check=True)
    return folder / ".git"


class Repo:
    """A repository on branch ``main`` whose only commit is "start"; each method does the one git or file operation.

    ``root`` is canonical; ``home`` is a private folder outside of it (home, cache). Paths are repository paths.
    """

    def __init__(self, root: Path, home: Path, template: Path) -> None:
        self.root = root.resolve()
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        shutil.copytree(template, self.root / ".git")
        self.variables = git_environment(home)
        self._second = _START_SECOND

    @property
    def environment(self) -> Environment:
        """The variables of this repository's processes, for calls inside the test process."""
        return Environment(variables=self.variables)

    def workspace_git(self) -> Git:
        return Git(self.root, self.environment)

    def snapshot(self) -> Snapshot:
        """A fresh look at the repository."""
        return Snapshot(self.workspace_git())

    def path(self, path: str) -> Path:
        return self.root / path

    def write(self, path: str, content: str | bytes = "", mode: int | None = None) -> Path:
        """Write a file, its folders included; text is written as UTF-8 without newline translation."""
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        if mode is not None:
            file.chmod(mode)
        return file

    def delete(self, path: str) -> None:
        """Remove a file or a folder from disk; the index keeps it until the next commit."""
        file = self.path(path)
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        else:
            file.unlink()

    def symlink(self, path: str, target: str) -> Path:
        link = self.path(path)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
        return link

    def git(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        """The stdout of ``git ARGS`` at the root, without the final newline; fails the test if git fails."""
        done = self.execute("git", *args, env=env)
        assert done.code == 0, f"git {' '.join(args)}: {done.err}"
        return done.out.removesuffix("\n")

    def commit(self, message: str = "c") -> str:
        """Commit everything (an empty commit if there is nothing) and return its object id."""
        self.git("add", "-A")
        self._second += 60  # equal commits on two branches would be one and the same object
        self.git("commit", "-q", "--allow-empty", "-m", message, env=_dates(self._second))
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        """Create a branch here and switch to it."""
        self.git("switch", "-q", "-c", name)

    def run(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        cwd: str | Path = "",
        timeout: float = RUN_SECONDS,
        stdin: str | None = None,
    ) -> Completed:
        """``reqfile ARGV`` as a real process, in ``cwd`` below the root."""
        # -P: ``-m`` would put the repository under test in front of the module path.
        return self.execute(
            sys.executable, "-P", "-m", "pytest_reqfile", *argv, env=env, cwd=cwd, timeout=timeout, stdin=stdin
        )

    def pytest(
        self, *argv: str, env: Mapping[str, str] | None = None, cwd: str | Path = "", timeout: float = RUN_SECONDS
    ) -> Completed:
        """``pytest ARGV`` as a real process with the plugin installed, without a cache folder."""
        command = (sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *argv)
        return self.execute(*command, env=env, cwd=cwd, timeout=timeout)

    def execute(
        self,
        *command: str,
        env: Mapping[str, str] | None = None,
        cwd: str | Path = "",
        timeout: float = RUN_SECONDS,
        stdin: str | None = None,
    ) -> Completed:
        """Any command with this repository's variables and ``env`` on top; stdin is empty unless given."""
        done = subprocess.run(
            command,
            cwd=self.root / cwd,
            env={**self.variables, **(env or {})},
            input=(stdin or "").encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Completed(code=done.returncode, out=_text(done.stdout), err=_text(done.stderr))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
