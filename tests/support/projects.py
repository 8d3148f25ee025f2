"""Real ``.ai-rulez`` projects: built file by file, or a small one as tests of both fronts need it."""

from __future__ import annotations

from pathlib import Path

from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.values import Fetched, Project
from tests.support.repo import Repo

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


CONFIG = """version = "5.0"
name = "demo"
presets = ["claude"]

[[verifiers]]
name = "readme"
type = "file_exists"
path = "README.md"

[[verifiers]]
name = "no-todo"
type = "forbid"
glob = "*.py"
pattern = "TODO"
severity = "warning"
"""
RULE = "---\npriority: high\n---\n# Database\n\n## Migrations\n\nEvery migration has a down.\n"
VERIFIERS = """[[verifiers]]
id = "migrations-have-down"
rule = "database"
anchor = "## Migrations"
severity = "error"
message = "Every migration needs a '-- down' section."
fix = "Add a '-- down' section."
when_changed = ["db/**/*.sql"]

[verifiers.require.regex]
regex = "(?m)^-- down"

[[verifiers.examples]]
name = "with down passes"
files = { "db/1.sql" = "-- down\\n" }
changed = ["db/1.sql"]
expect = "pass"

[[verifiers.examples]]
name = "without down fails"
files = { "db/1.sql" = "-- up\\n" }
changed = ["db/1.sql"]
expect = "fail"

[[verifiers]]
id = "tool-answers"
rule = "database"
severity = "error"

[verifiers.require.command]
argv = ["false"]

[[verifiers]]
id = "unlinked"
rule = "nowhere"

[verifiers.require.file_exists]
path = "README.md"
"""


def write_project(repo: Repo) -> None:
    """Write the project: a missing README, a TODO, one migration without and one with a down section."""
    repo.write(".ai-rulez/config.toml", CONFIG)
    repo.write(".ai-rulez/rules/database.md", RULE)
    repo.write(".ai-rulez/verifiers/db.toml", VERIFIERS)
    repo.write("a.py", "x = 1  # TODO\n")
    repo.write("db/1.sql", "-- up\n")
    repo.write("db/2.sql", "-- up\n-- down\n")
