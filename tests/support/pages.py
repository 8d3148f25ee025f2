"""Documentation pages as scripts: files to write, commands to run, and what they print.

A comment in front of a fenced block says what the block is; readers of the rendered page do not see it::

    <!-- file: app/Reqfile.yaml -->   the block is the content of that file
    <!-- run -->                      each line `$ COMMAND` is run, the lines below it are what it prints
    <!-- setup: git add -A -->        (no block) a command whose output does not matter

``python -m tests.support.pages docs/tutorial.md …`` runs pages, writes what their commands print into them, and makes
the tables anew that come from the code (``tables.py``).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Final, Literal

from tests.support.repo import Repo, git_environment, make_template
from tests.support.tables import refresh

ROOT: Final = Path(__file__).parents[2]
Mark = Literal["file", "run", "setup"]
ELISION: Final = "…"
"""A line of its own in an expected output: any lines, or none."""
_STEP: Final = re.compile(
    r"^<!-- (?P<mark>file|run|setup)(?:: (?P<argument>.*?))? -->\n(?:(?P<fence>```+)\w*\n(?P<text>.*?)^(?P=fence)$)?",
    re.DOTALL | re.MULTILINE,
)
_VARYING: Final = (
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms)\b"), "0s"),
    (re.compile(r" +0s"), " 0s"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "0" * 40),
    (re.compile(r"\b(?:reqfile|pytest-reqfile) \d+\.\d+\.\d+\S*"), "reqfile 0"),
    (re.compile(r"=+( .*? in 0s )=+"), r"==\1=="),
    (re.compile(r"sh: (?:line )?\d+: (\S+): (?:command )?not found"), r"sh: \1: not found"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One marked place of a page; ``start`` and ``end`` enclose the block's text in the page."""

    mark: Mark
    argument: str
    text: str
    start: int
    end: int


def steps(page: str) -> Iterator[Step]:
    """The marked places of a page's text, in order."""
    for match in _STEP.finditer(page):
        mark: Mark = "file" if match["mark"] == "file" else "run" if match["mark"] == "run" else "setup"
        argument, text = match["argument"] or "", match["text"]
        assert (text is None) == (mark == "setup"), f"a block is missing or not wanted at: {match.group(0)[:60]}"
        yield Step(mark=mark, argument=argument, text=text or "", start=match.start("text"), end=match.end("text"))


def page_environment() -> dict[str, str]:
    """What commands of a page see besides a repository's own variables: an activated environment, 80 columns.

    ``$PROJECT``, for setup only, is this project's folder.
    """
    scripts = str(Path(sys.executable).parent)
    path = git_environment(Path()).get("PATH", "")
    fixed = {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**fixed, "PATH": f"{scripts}:{path}", "PROJECT": str(ROOT)}


class PageRun:
    """Carries out the steps of a page in one repository; each command knows the exit code before it as ``$?``."""

    def __init__(self, repo: Repo, environment: Mapping[str, str]) -> None:
        self._repo = repo
        self._environment = environment
        self._code = 0

    def carry_out(self, step: Step) -> str:
        """The block's text as it should read: for commands with what they print now."""
        if step.mark == "file":
            self._repo.write(step.argument, step.text)
            return step.text
        if step.mark == "setup":
            output = self._execute(step.argument)
            assert self._code == 0, output
            return ""
        return "".join(f"$ {command}\n{self._execute(command)}" for command in commands(step.text))

    def _execute(self, command: str) -> str:
        done = subprocess.run(
            ("sh", "-c", f"(exit {self._code})\n{command}"),
            cwd=self._repo.root,
            env={**self._repo.variables, **self._environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        self._code = done.returncode
        lines = done.stdout.decode().replace(str(self._repo.root), "/home/you/shop").splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines).strip("\n") + "\n" * bool(lines)


def commands(text: str) -> tuple[str, ...]:
    """The commands of a block; a line that ends with a backslash goes on."""
    found: list[str] = []
    for line in text.splitlines():
        if found and found[-1].endswith("\\"):
            found[-1] += f"\n{line}"
        elif line.startswith("$ "):
            found.append(line[2:])
    return tuple(found)


def difference(expected: str, actual: str) -> str:
    """How ``actual`` differs from what a page shows, times and versions aside; empty where it does not."""
    pieces = _constant(expected).split(f"\n{ELISION}\n")
    pattern = r"\n(?:.*\n)*".join(map(re.escape, pieces))
    if re.fullmatch(pattern, _constant(actual)) is not None:
        return ""
    shown, printed = _constant(expected).splitlines(), _constant(actual).splitlines()
    return "\n".join(unified_diff(shown, printed, "shown", "printed", lineterm=""))


def _constant(text: str) -> str:
    for pattern, stand_in in _VARYING:
        text = pattern.sub(stand_in, text)
    return text


def rewrite(path: Path) -> None:
    """Run a page and put what its commands print into it; what is true, times aside, stays as it is."""
    page = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        root = Path(folder, "shop")
        root.mkdir()
        template = Path(folder, "template")
        template.mkdir()
        run = PageRun(Repo(root, home, make_template(template)), page_environment())
        texts = [(step, run.carry_out(step)) for step in steps(page)]
    for step, text in reversed(texts):
        if step.mark == "run" and difference(step.text, text):
            page = page[: step.start] + text + page[step.end :]
    path.write_text(refresh(page))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
