"""A project whose include asks for a range of versions of a real repository on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.values import Entry, Lock
from pytest_reqfile.project.places import project_at
from tests.support.repo import Completed, Repo

HEAD = 'version = "5.0"\nname = "demo"\n'
ALLOWED = {"AI_RULEZ_ALLOW_FILE_URLS": "1"}


class Remote:
    """A repository that publishes versions of rules."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo

    @property
    def url(self) -> str:
        return f"file://{self.repo.root}"

    def publish(self, tag: str, *, annotated: bool = False, **files: str) -> str:
        """A commit with a rule that names the tag, and the tag; ``files`` are more rules. The commit's id."""
        self.repo.write("rules/version.md", f"# {tag}\n")
        for name, text in files.items():
            self.repo.write(f"rules/{name}.md", text)
        commit = self.repo.commit(tag)
        self.repo.git("tag", *(("-a", "-m", tag) if annotated else ()), tag)
        return commit

    def move(self, tag: str, **files: str) -> str:
        """Another commit under the same tag."""
        self.repo.write("rules/version.md", f"# {tag}, again\n")
        for name, text in files.items():
            self.repo.write(f"rules/{name}.md", text)
        commit = self.repo.commit(f"{tag} again")
        self.repo.git("tag", "-f", tag)
        return commit

    def delete(self, tag: str) -> None:
        self.repo.git("tag", "-d", tag)


class RangeProject:
    """The project in ``repo``; ``include`` and friends add sources to its config.toml."""

    def __init__(self, repo: Repo, make_repo: Callable[[str], Repo]) -> None:
        self.repo = repo
        self._make_repo = make_repo
        self.remote = Remote(make_repo("remote"))
        self.write("rules/own.md", "# Own\n")
        self.config("")

    def another_remote(self, name: str) -> Remote:
        return Remote(self._make_repo(name))

    @property
    def folder(self) -> Path:
        return self.repo.path(".ai-rulez")

    def write(self, path: str, text: str | bytes) -> Path:
        return self.repo.write(f".ai-rulez/{path}", text)

    def config(self, text: str) -> RangeProject:
        self.write("config.toml", HEAD + text)
        return self

    def include(self, version: str = "^3.4", name: str = "core", more: str = "", table: str = "includes") -> str:
        """The text of a source of the remote."""
        key = "url" if table == "skill_sources" else "source"
        return f'\n[[{table}]]\nname = "{name}"\n{key} = "{self.remote.url}"\nversion = "{version}"\n{more}'

    def run(self, *argv: str, env: Mapping[str, str] | None = None) -> Completed:
        """``reqfile lock ARGV``."""
        return self.repo.run("lock", *argv, env={**ALLOWED, **(env or {})})

    def lock(self) -> None:
        """Write the lock, which must go well."""
        done = self.run()
        assert done.code == 0, done.err

    def outdated(self, *argv: str, env: Mapping[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        """The exit code and document of ``lock --outdated``."""
        done = self.run("--outdated", "--format", "json", *argv, env=env)
        return done.code, json.loads(done.out)

    def update(self, *argv: str, env: Mapping[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        """The exit code and document of ``lock update``."""
        done = self.run("update", "--format", "json", *argv, env=env)
        assert done.out, done.err
        return done.code, json.loads(done.out)

    @property
    def bytes(self) -> bytes:
        return (self.folder / "ai-rulez.lock").read_bytes()

    def read(self) -> Lock:
        place = project_at(self.repo.root, top=self.repo.root)
        assert place is not None
        lock = lock_file(place).read()
        assert lock is not None
        return lock

    def pin(self, name: str = "core") -> Entry:
        entry = self.read().entry("include", name)
        assert entry is not None
        return entry
