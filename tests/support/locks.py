"""A real ``.ai-rulez`` project in a git repository that a test locks, changes and checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_reqfile.lock.changes import Report
from pytest_reqfile.lock.check import CheckOptions, Tools, check_project
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.remotes import CachedTree
from pytest_reqfile.lock.renew import LockRequest, Renewed, Resolve, cannot_fetch, renew_lock
from pytest_reqfile.lock.roles import RenderRole
from pytest_reqfile.lock.served import ServedDigests
from pytest_reqfile.lock.values import Entry, ItemPin, Lock
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.resources import GitView
from pytest_reqfile.project.values import Project, Source
from tests.support.repo import Repo

HEAD = 'version = "5.0"\nname = "demo"\n'
BASE: dict[str, str | bytes] = {
    "rules/tone.md": "# Tone\n",
    "context/about.md": "# About\n",
    "agents/helper.md": "# Helper\n",
    "commands/ship.md": "# Ship\n",
    "checks/lint.md": "# Lint\n",
    "skills/pack/SKILL.md": "---\nname: pack\n---\nPack it.\n",
    "skills/pack/assets/x.bin": b"\x01\r\n\x02",
    "domains/api/skills/pack/SKILL.md": "# API\n",
    "domains/api/rules/tone.md": "# API tone\n",
}
GO = "#!/bin/sh\nexit 0\n"


class LockProject:
    """The project at the top of ``repo``; ``config`` is what follows the two mandatory keys.

    Fakes are what a test hands in: a cache of remote trees, what a generator renders, what a server serves.
    """

    def __init__(self, repo: Repo, config: str = "") -> None:
        self.repo = repo
        self.cached: dict[str, CachedTree] = {}
        self.render: RenderRole = lambda _role: None
        self.served: ServedDigests = lambda _view: None
        self.hasher = Hasher()
        self.in_git = True
        self.config(config)

    @property
    def folder(self) -> Path:
        return self.repo.path(".ai-rulez")

    def config(self, text: str) -> None:
        self.write("config.toml", HEAD + text)

    def base(self) -> LockProject:
        """The project of cases E: one item of each kind, a skill with resources, a domain."""
        for path, content in BASE.items():
            self.write(path, content)
        self.write("skills/pack/scripts/go.sh", GO, mode=0o755)
        return self

    def write(self, path: str, content: str | bytes = "", mode: int | None = None) -> Path:
        """A file below ``.ai-rulez``."""
        return self.repo.write(f".ai-rulez/{path}", content, mode)

    def load(self) -> Project:
        place = project_at(self.repo.root, top=self.repo.root)
        assert place is not None
        return load_project(place)

    def tools(self) -> Tools:
        git = self.repo.workspace_git()
        view = GitView(git=git, listed=frozenset(git.list_files())) if self.in_git else None
        return Tools(
            hasher=self.hasher,
            view=view,
            find_cached=self.find_cached,
            render_role=self.render,
            served=self.served,
        )

    def find_cached(self, source: Source, entry: Entry) -> CachedTree | None:
        del entry
        return self.cached.get(source.name)

    def renew(self, request: LockRequest | None = None, resolve: Resolve = cannot_fetch) -> Renewed:
        """What would be written."""
        return renew_lock(self.load(), self.read(), request or LockRequest(), self.tools(), resolve)

    def lock(self, request: LockRequest | None = None, resolve: Resolve = cannot_fetch) -> Lock:
        """Write the lock, and what was written."""
        renewed = self.renew(request, resolve)
        self.save(renewed.lock)
        return renewed.lock

    def save(self, lock: Lock) -> None:
        lock_file(self.load().place).write(lock)

    def read(self) -> Lock | None:
        return lock_file(self.load().place).read()

    def check(self, options: CheckOptions | None = None) -> Report:
        """The comparison with the lock as it is on disk."""
        return check_project(self.load(), self.read(), self.tools(), options)

    def lines(self) -> list[str]:
        """The changes of a check as text."""
        return [str(change) for change in self.check().changes]

    def items(self) -> dict[str, ItemPin]:
        """The pins of a new lock by label, such as ``skill api/pack``."""
        return {item.label: item for item in self.renew().lock.items}

    def changed_by(self, act: Callable[[], object]) -> set[str]:
        """The labels of the items whose digest differs after ``act``."""
        before = self.items()
        act()
        after = self.items()
        return {label for label in before.keys() | after.keys() if _digest(before, label) != _digest(after, label)}


def _digest(items: dict[str, ItemPin], label: str) -> str | None:
    return items[label].digest if label in items else None
