"""A real ``.ai-rulez`` project that a test builds file by file."""

from __future__ import annotations

from pathlib import Path

from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.values import Fetched, Project

HEAD = 'version = "5.0"\nname = "demo"\n'


class ProjectFolder:
    """A folder with ``.ai-rulez/config.toml``; ``config`` is what follows the two mandatory keys."""

    def __init__(self, root: Path, config: str = "") -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.config(config)

    def config(self, text: str) -> None:
        self.write(".ai-rulez/config.toml", HEAD + text)

    def write(self, path: str, content: str | bytes = "", mode: int | None = None) -> Path:
        """Write a file, its folders included; text as UTF-8 without newline translation."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            file.chmod(mode)
        return file

    def link(self, path: str, target: str | Path) -> None:
        link = self.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)

    def load(self, *, local: bool = False, fetched: Fetched | None = None, top: Path | None = None) -> Project:
        place = project_at(self.root, top=top)
        assert place is not None
        return load_project(place, local=local, fetched=fetched)


def names(project: Project) -> list[str]:
    """``kind domain/id`` of every item, in order."""
    return [f"{item.kind} {item.name}" for item in project.items]


def texts(problems: tuple[object, ...]) -> list[str]:
    """Problems as people read them."""
    return [str(problem) for problem in problems]
