"""`reqfile check --fast --changed` beside `git status` and an empty Python, in turns (issue 3.5).

Run apart from the tests: ``python -m pytest tests/bench/bench_changed.py -s``. The speed of a machine changes from
minute to minute, so the three are run in turns and their medians compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import pytest

from pytest_reqfile.workspace.program import our_program
from tests.support import git_environment
from tests.support.blocks import block, reqfile_text, run

FILES = 20_000
REQUIREMENTS = 300
FOLDERS = 30
CHANGED = 5
TURNS = 15
ALLOWED = 2.0


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """As users have it: compiled files are kept, which the environment of a test run may forbid."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in git_environment(home).items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(home / "pyc")}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, variables: Mapping[str, str]) -> Path:
    """20,000 files in 1,000 folders, 300 requirements in 30 Reqfiles, and five files edited on a branch."""
    root = tmp_path_factory.mktemp("repository")
    for number in range(FILES - FOLDERS - 1):
        file = root / f"pkg{number % 40}" / f"mod{number // 40 % 25}" / f"f{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"x = {number}\n" * 5)
    for folder in range(FOLDERS):
        first = folder * REQUIREMENTS // FOLDERS
        blocks = (_requirement(first + number, folder) for number in range(REQUIREMENTS // FOLDERS))
        place = root if folder == 0 else root / f"pkg{folder}"
        (place / "Reqfile.yaml").write_text(reqfile_text(*blocks))
    (root / ".reqfile").mkdir()
    (root / ".reqfile" / "config.yaml").write_text("base: main\n")
    for command in ("init -q -b main", "add -A", "commit -q -m start", "switch -q -c topic", "status --porcelain"):
        subprocess.run(("git", *command.split()), cwd=root, env=variables, check=True, stdout=subprocess.DEVNULL)
    for number in range(CHANGED):
        with (root / f"pkg{number}" / "mod0" / f"f{number}.py").open("a") as file_:
            file_.write("y = 0\n")
    return root


def _requirement(number: int, folder: int) -> dict[str, object]:
    """One in five is on the fast path; those of the root look at what no edit of this bench touches."""
    files = "docs/**/*.py" if folder == 0 else f"mod{number % 25 + 1}/**/*.py"
    check = run('! grep -n FIXME "$@"', files=files, pass_files=True, fast=number % 5 == 0)
    return block(
        f"RULE_{number}",
        check,
        must="Every module of this part of the tree keeps this rule.",
        why="It was agreed in review, and broken twice since.",
    )


def test_a_run_after_an_edit(repository: Path, variables: Mapping[str, str]) -> None:
    """At most twice the time of ``git status`` and the interpreter's start together."""
    commands = {
        "reqfile": (our_program(), "check", "--fast", "--changed"),
        "git status": ("git", "status", "--porcelain"),
        "python": (sys.executable, "-c", "pass"),
    }
    for command in commands.values():
        _seconds(command, repository, variables)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(TURNS):
        for name, command in commands.items():
            times[name].append(_seconds(command, repository, variables))
    ours, git, python = (median(times[name]) for name in commands)
    ratio = ours / (git + python)
    print(f"\nreqfile {ours * 1000:.0f} ms, git status {git * 1000:.0f} ms, python {python * 1000:.0f} ms: {ratio:.2f}")
    assert ratio <= ALLOWED


def _seconds(command: tuple[str, ...], folder: Path, variables: Mapping[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=False)
    took = time.perf_counter() - began
    assert done.returncode == 0, (command, done.stdout, done.stderr, os.fspath(folder))
    return took
