"""How long checking a lock takes beside ``sha256sum`` over the same files (issue 6.7).

Run apart, on a quiet machine: ``python -m tests.bench.bench_lock [--folder DIR] [--rounds N] [--files N]``. DIR keeps
the tree for the next time. 50,000 files of 500 MB, half of them resources of skills, half in a local include. Runs
alternate in one session; a process is measured from its start to its end, ours with everything it imports. Exit 1 when
a target is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONFIG = 'version = "5.0"\nname = "bench"\n[[includes]]\nname = "shared"\nsource = "shared"\n'
ENDINGS = (".md", ".py", ".json", ".bin")
PER_FOLDER = 100
MEAN_BYTES = 10_000
COLD, WARM, MEMORY_MB = 1.5, 0.3, 200.0
SETTLED_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Seconds of wall clock and of processor time of each round, and the largest memory in MB."""

    wall: tuple[float, ...]
    processor: tuple[float, ...]
    memory: float


def build(folder: Path, files: int) -> None:
    """The tree, unless it is there already."""
    if (folder / "built").exists() and (folder / "built").read_text() == str(files):
        return
    chance = random.Random(1)
    (folder / ".ai-rulez").mkdir(parents=True, exist_ok=True)
    (folder / ".ai-rulez/config.toml").write_text(CONFIG)
    for number in range(files // PER_FOLDER):
        base = folder / (".ai-rulez" if number % 2 else "shared/.ai-rulez") / f"skills/s{number}"
        (base / "assets").mkdir(parents=True, exist_ok=True)
        (base / "SKILL.md").write_text("# Skill\n")
        for file in range(PER_FOLDER):
            size = round(chance.expovariate(1 / MEAN_BYTES)) // 13
            data = chance.randbytes(16) + b"line of text\n" * size
            (base / f"assets/f{file}{ENDINGS[file % len(ENDINGS)]}").write_bytes(data)
    git = ("git", "-c", "user.name=b", "-c", "user.email=b@example.invalid")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "bench")):
        subprocess.run((*git, *arguments), cwd=folder, check=True)
    (folder / "built").write_text(str(files))


def measure(command: Sequence[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall clock and processor seconds of one run, which must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_memory(command: Sequence[str], folder: Path, environment: dict[str, str]) -> float:
    """The largest memory of a run of its own, in MB."""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
    script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run(
        (sys.executable, "-c", script, *command), cwd=folder, env=environment, check=True, capture_output=True
    )
    return int(done.stdout) / 1024


def compare(folder: Path, rounds: int) -> dict[str, Timed]:
    """Every command in turn, ``rounds`` times, after one round that does not count."""
    environment = {**os.environ, "REQFILE_CACHE": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
    ours = (sys.executable, "-P", "-m", "pytest_reqfile", "lock")
    measure(ours, folder, environment)
    time.sleep(SETTLED_SECONDS)  # what was written a moment ago is not trusted yet
    find = "find .ai-rulez shared -type f -print0 | xargs -0 sha256sum"
    commands = {
        "sha256sum": ("sh", "-c", find),
        "cold": (*ours, "--check", "--no-cache"),
        "unchanged": (*ours, "--check"),
    }
    for command in commands.values():
        measure(command, folder, environment)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(measure(command, folder, environment))
    return {
        name: Timed(
            wall=tuple(wall for wall, _ in runs),
            processor=tuple(processor for _, processor in runs),
            memory=peak_memory(commands[name], folder, environment),
        )
        for name, runs in found.items()
    }


def report(found: dict[str, Timed]) -> bool:
    """Print the table; whether every target is met."""
    base = found["sha256sum"]
    targets = {"cold": COLD, "unchanged": WARM}
    met = True
    print(f"{'':12}{'wall s':>9}{'ratio':>8}{'cpu s':>9}{'ratio':>8}{'MB':>7}   target")
    for name, timed in found.items():
        wall, processor = statistics.median(timed.wall), statistics.median(timed.processor)
        ratio = wall / statistics.median(base.wall)
        cpu_ratio = processor / statistics.median(base.processor)
        target = targets.get(name)
        print(
            f"{name:12}{wall:9.2f}{ratio:8.2f}{processor:9.2f}{cpu_ratio:8.2f}{timed.memory:7.0f}"
            + (f"   <= {target}, < {MEMORY_MB:.0f} MB" if target is not None else "")
        )
        if target is not None and (ratio > target or timed.memory > MEMORY_MB):
            met = False
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=50_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        build(folder, arguments.files)
        return 0 if report(compare(folder, arguments.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
