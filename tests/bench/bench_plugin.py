"""What the plugin costs: idle, per item, and for listing; run apart, with ``python -m tests.bench.bench_plugin``.

Every figure is a ratio of two things measured alternately in the same minutes, since machines change speed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.support.neighbours import without_neighbours

ROUNDS = 7
REQUIREMENT = """  - id: R{n}
    must: Be good.
    why: Because.
    checks:
      - command: {{ run: "true", fix_hint: h, files: "*.none" }}
"""


def run(arguments: Sequence[str], folder: Path) -> float:
    """Seconds that pytest takes with these arguments."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    start = time.perf_counter()
    # A user's Python keeps compiled modules; a machine that forbids it would measure the compiler.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTEST_ADDOPTS"] = without_neighbours()
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    if done.returncode not in {0, 5}:
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return time.perf_counter() - start


def alternately(*tasks: Callable[[], float], rounds: int = ROUNDS) -> list[float]:
    """The median of each task, all of them run in turn so that a slow minute hits them alike."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds):
        for found, task in zip(times, tasks, strict=True):
            found.append(task())
    return [statistics.median(found) for found in times]


def repository(folder: Path) -> Path:
    """An empty git repository."""
    folder.mkdir(exist_ok=True)
    subprocess.run(("git", "init", "-q", str(folder)), check=True)
    return folder


def idle(work: Path) -> None:
    """A run without anything of ours, with the plugin and without."""
    folder = repository(work / "idle")
    (folder / "test_a.py").write_text("def test_a(): pass\n" * 1)
    with_plugin, without = alternately(lambda: run((), folder), lambda: run(("-p", "no:reqfile"), folder), rounds=15)
    print(
        f"idle: {with_plugin * 1e3:.0f} ms with, {without * 1e3:.0f} ms without, "
        f"ratio {with_plugin / without:.3f} (target 1.05)"
    )


def per_item(work: Path, count: int) -> None:
    """What one more item costs, beside one more trivial Python test function."""
    many, one = requirements(work, count), requirements(work, 1)
    functions, function = python_tests(work, count), python_tests(work, 1)
    rounds = 7 if count <= 1000 else 3
    times = alternately(*(partial(run, (), folder) for folder in (many, one, functions, function)), rounds=rounds)
    ours, trivial = (times[0] - times[1]) / (count - 1), (times[2] - times[3]) / (count - 1)
    print(
        f"{count} items: {ours * 1e6:.0f} µs each, a Python function {trivial * 1e6:.0f} µs, "
        f"ratio {ours / trivial:.2f} (target 1.00); the first item costs {(times[1] - times[3]) * 1e3:.0f} ms more"
    )


def requirements(work: Path, count: int) -> Path:
    """A repository with that many requirements, whose commands have nothing to check."""
    folder = repository(work / f"requirements{count}")
    blocks = "".join(REQUIREMENT.format(n=n) for n in range(count))
    (folder / "Reqfile.yaml").write_text(f"reqfile: 1\ncode:\n{blocks}")
    return folder


def python_tests(work: Path, count: int) -> Path:
    """A repository with that many trivial test functions."""
    folder = repository(work / f"functions{count}")
    (folder / "test_many.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(count)))
    return folder


def listing(work: Path) -> None:
    """Listing 20,000 files beside git's own listing."""
    from pytest_reqfile.reqfile.repository import open_repository
    from pytest_reqfile.workspace.environment import Environment

    folder = repository(work / "files")
    for n in range(20_000):
        (folder / f"d{n % 200}").mkdir(exist_ok=True)
        (folder / f"d{n % 200}" / f"f{n}.txt").write_text("x")
    subprocess.run(("git", "add", "-A"), cwd=folder, check=True)

    def ours() -> float:
        start = time.perf_counter()
        repository = open_repository(folder, Environment.current())
        assert len(repository.catalog.discovery.candidates) == 20_000
        return time.perf_counter() - start

    def theirs() -> float:
        start = time.perf_counter()
        subprocess.run(
            ("git", "ls-files", "-z", "-co", "--exclude-standard"), cwd=folder, capture_output=True, check=True
        )
        return time.perf_counter() - start

    mine, plain = alternately(ours, theirs)
    print(
        f"20,000 files: {mine * 1e3:.0f} ms listed and searched for Reqfiles, "
        f"git ls-files {plain * 1e3:.0f} ms, ratio {mine / plain:.2f}"
    )


def main() -> None:
    """Print every figure."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        idle(work)
        listing(work)
        per_item(work, 1_000)
        per_item(work, 10_000)


if __name__ == "__main__":
    main()
