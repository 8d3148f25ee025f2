"""A project with verifiers that a test builds file by file and evaluates in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.values import Project
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import RunOptions, VerifierRun, open_run
from pytest_reqfile.verifiers.values import Declarations
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import Cancellation

CONFIG = 'version = "5.0"\nname = "demo"\n'
RULE = "# Store\n\n## Schema changes\n\nEach change needs an undo part.\n"


class Workbench:
    """Fixture P of the cases: a project with the rules ``store`` and ``http``; ``root`` may lie in a git repository."""

    def __init__(self, root: Path, environment: Environment | None = None) -> None:
        self.root = root.resolve()
        self.environment = environment or Environment.current()
        self.config()
        for rule in ("store", "http"):
            self.write(f".ai-rulez/rules/{rule}.md", RULE)

    def write(self, path: str, content: str | bytes = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        return file

    def write_all(self, files: Mapping[str, str | bytes]) -> None:
        for path, content in files.items():
            self.write(path, content)

    def config(self, text: str = "") -> None:
        """Write config.toml: version and name, then ``text``."""
        self.write(".ai-rulez/config.toml", f"{CONFIG}{text}\n")

    def spec(self, text: str, name: str = "t.toml") -> None:
        """Write a verifier file."""
        self.write(f".ai-rulez/verifiers/{name}", text)

    def project(self, *, local: bool = True) -> Project:
        place = project_at(self.root)
        assert place is not None
        return load_project(place, local=local)

    def open(self, options: RunOptions | None = None, cancellation: Cancellation | None = None) -> VerifierRun:
        return open_run(self.project(), self.environment, options, cancellation=cancellation)

    def declarations(self) -> Declarations:
        return self.open().declarations

    def results(self, options: RunOptions | None = None) -> tuple[Result, ...]:
        """Everything that is declared, evaluated together."""
        run = self.open(options)
        chosen = run.select()
        run.prepare(chosen)
        return tuple(run.evaluate(chosen))

    def result(self, options: RunOptions | None = None) -> Result:
        """The result of the only declaration."""
        (only,) = self.results(options)
        return only


def flat(name: str, kind: str, /, **fields: object) -> str:
    """One flat entry of config.toml."""
    lines = ["[[verifiers]]", f'name = "{name}"', f'type = "{kind}"']
    lines += [f"{key} = {toml(value)}" for key, value in fields.items()]
    return "\n".join(lines) + "\n"


def toml(value: object) -> str:
    """``value`` as TOML writes it; strings as basic strings with everything special escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = "".join(char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}" for char in value)
        return f'"{escaped}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml(str(key))} = {toml(inner)}" for key, inner in value.items()) + " }"
    return str(value)


def head(identifier: str = "x", *, when: object = None, **fields: object) -> str:
    """The opening of a spec entry that enforces the rule ``store``."""
    lines = ["[[verifiers]]", f'id = "{identifier}"', 'rule = "store"']
    if when is not None:
        lines.append(f"when_changed = {toml([when] if isinstance(when, str) else when)}")
    lines += [f"{key} = {toml(value)}" for key, value in fields.items()]
    return "\n".join(lines) + "\n"


def predicate(path: str, /, **fields: object) -> str:
    """One predicate table, such as ``[verifiers.require.regex]``."""
    return f"[verifiers.require.{path}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in fields.items())


def member(combinator: str, kind: str, /, **fields: object) -> str:
    """One member of ``all`` or ``any``."""
    return f"[[verifiers.require.{combinator}]]\n" + predicate(f"{combinator}.{kind}", **fields)


def example(name: str, expect: str, files: Mapping[str, str], changed: tuple[str, ...] | None = None) -> str:
    """One self-test; every file of it counts as changed unless ``changed`` names others."""
    fields = {"name": name, "files": files, "changed": tuple(files) if changed is None else changed, "expect": expect}
    return "[[verifiers.examples]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in fields.items())
