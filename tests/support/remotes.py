"""A project whose includes, skills and skill sources come from real git repositories beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.lock.renew import LockRequest
from pytest_reqfile.lock.resolving import GateFor, Resolver, no_gate
from pytest_reqfile.lock.values import Entry, Lock
from pytest_reqfile.project.tables import read_source
from pytest_reqfile.project.values import Declared, Source, SourceTable
from pytest_reqfile.syntax.fields import Problems
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.workspace.environment import Environment
from tests.support.locks import LockProject
from tests.support.repo import Completed, Repo

ALLOWED = {"AI_RULEZ_ALLOW_FILE_URLS": "1"}
CONTENT = {".ai-rulez/rules/style.md": "# Style\n", "skills/deploy/SKILL.md": "# Deploy\n", "README.md": "x\n"}


def source_of(table: SourceTable = "includes", /, **keys: object) -> Source:
    """An entry of a table as config.toml has it; ``name`` is ``shared`` unless given."""
    return source_from(table, {"name": "shared", "source": "https://h.invalid/r", **keys})


def source_from(table: SourceTable, keys: Mapping[str, object]) -> Source:
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    problems = Problems("config.toml")
    found = read_source(table, Declared(node=read_toml(text, "config.toml"), path="config.toml"), problems)
    problems.raise_if_any()
    assert found is not None
    return found


class Remote:
    """A repository that others take from; each method does one thing a maintainer, or an attacker, does."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo

    @property
    def url(self) -> str:
        return f"file://{self.repo.root}"

    def publish(self, content: Mapping[str, str | bytes], tag: str | None = None, *, annotated: bool = False) -> str:
        """Commit the files, and tag the commit; its id."""
        for path, text in content.items():
            self.repo.write(path, text)
        commit = self.repo.commit()
        if tag is not None:
            self.tag(tag, annotated=annotated)
        return commit

    def tag(self, tag: str, commit: str = "HEAD", *, annotated: bool = False) -> None:
        """Set the tag, wherever it was before."""
        self.repo.git("tag", "-f", *(("-a", "-m", tag) if annotated else ()), tag, commit)

    def delete_tag(self, tag: str) -> None:
        self.repo.git("tag", "-d", tag)

    def vanish(self) -> None:
        self.repo.root.rename(self.repo.root.with_name(f"{self.repo.root.name}-gone"))

    def return_(self) -> None:
        self.repo.root.with_name(f"{self.repo.root.name}-gone").rename(self.repo.root)


class Taker:
    """A project that takes from remotes: its lock is written with real git."""

    def __init__(self, make_repo: Callable[[str], Repo]) -> None:
        self.make_repo = make_repo
        self.repo = make_repo("taker")
        self.repo.variables |= ALLOWED
        self.project = LockProject(self.repo)
        self.project.write("rules/own.md", "# Own\n")

    def remote(self, name: str = "remote") -> Remote:
        return Remote(self.make_repo(name))

    def takes(self, remote: Remote, table: SourceTable = "includes", /, **keys: object) -> None:
        """The configuration has this one source."""
        self.takes_all(self.entry(remote, table, **keys))

    def takes_all(self, *entries: str) -> None:
        """The configuration has these sources, and whatever else is among them."""
        self.project.config("".join(entries))

    @staticmethod
    def entry(remote: Remote, table: SourceTable = "includes", /, **keys: object) -> str:
        key = "url" if table == "skill_sources" else "source"
        lines = {"name": "shared", key: remote.url, **keys}
        return f"[[{table}]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())

    @property
    def environment(self) -> Environment:
        return self.repo.environment

    @property
    def cache(self) -> Path:
        return Path(self.repo.variables["REQFILE_CACHE"], "sources")

    def fetcher(self, *, offline: bool = False) -> Fetcher:
        return Fetcher(self.environment, self.repo.root, offline=offline)

    def resolver(self, *, offline: bool = False, gate: GateFor = no_gate) -> Resolver:
        return Resolver(self.fetcher(offline=offline), Hasher(), gate)

    def lock(self, request: LockRequest | None = None, *, offline: bool = False) -> Lock:
        """Write the lock, inside this process."""
        return self.project.lock(request, self.resolver(offline=offline))

    def include(self) -> Entry:
        """The pin of the include ``shared``."""
        lock = self.project.read()
        assert lock is not None
        entry = lock.entry("include", "shared")
        assert entry is not None
        return entry

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Completed:
        """``reqfile lock ARGUMENTS`` as a process."""
        return self.repo.run("lock", *arguments, env=env)

    def written(self) -> bytes:
        return (self.project.folder / "ai-rulez.lock").read_bytes()
