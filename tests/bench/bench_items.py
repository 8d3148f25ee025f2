"""What a verifier's item costs inside pytest once everything is decided (issue 4 item 7; performance.md P8).

Run apart: ``python -m tests.bench.bench_items``. Flat and rule-linked verifiers and items that do nothing run
in one pytest, a hundred of each in turn. Processor time is measured, not time on the wall, and the cheapest hundred
counts: a loaded machine makes others dearer, and none cheaper. The first items, which decide everything, are left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.neighbours import without_neighbours

ITEMS = 2_000
BATCH = 100
TARGET = 20.0
CONFTEST = """
import dataclasses, json, os, time
import pytest

BATCH = {batch}
spent = {{"empty": [], "flat": [], "spec": []}}
judged = {{"empty": [], "flat": [], "spec": []}}

class Empty(pytest.Item):
    def runtest(self): pass
    def reportinfo(self): return self.path, 0, self.name

class File(pytest.File):
    def collect(self):
        for number in range({items}):
            yield Empty.from_parent(self, name=f"e{{number}}")

def pytest_collect_file(file_path, parent):
    return File.from_parent(parent, path=file_path) if file_path.suffix == ".empty" else None

def kind(item):
    return "empty" if isinstance(item, Empty) else "spec" if "verifiers" in item.nodeid else "flat"

def pytest_collection_modifyitems(items):
    kinds = [[item for item in items if kind(item) == each] for each in spent]
    items[:] = [item for at in range(0, len(kinds[0]), BATCH) for each in kinds for item in each[at:at + BATCH]]

@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    for item in session.items:
        if isinstance(item, Empty):  # what the clock itself costs
            item.setup = timed(lambda: None, judged["empty"])
        else:
            item.plan = dataclasses.replace(item.plan, evaluate=timed(item.plan.evaluate, judged[kind(item)]))

def timed(evaluate, times):
    def run():
        began = time.thread_time_ns()
        outcome = evaluate()
        times.append(time.thread_time_ns() - began)
        return outcome
    return run

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    began = time.thread_time_ns()
    result = yield
    spent[kind(item)].append(time.thread_time_ns() - began)
    return result

def cheapest(times):
    times = times[BATCH:]
    return min(sum(times[at:at + BATCH]) for at in range(0, len(times), BATCH)) / BATCH / 1000

def pytest_unconfigure():
    found = {{name: cheapest(times) for name, times in spent.items()}}
    clock = cheapest(judged["empty"])
    found |= {{f"{{name}} decided": cheapest(times) - clock for name, times in judged.items()}}
    with open(os.environ["BENCH"], "w") as file:
        json.dump(found, file)
"""
CONFIG = 'version = "5.0"\nname = "bench"\n'
FLAT = '[[verifiers]]\nname = "flat{0}"\ntype = "forbid"\nglob = "*.txt"\npattern = "word{0}"\n'
SPEC = (
    '[[verifiers]]\nid = "spec{0}"\nrule = "style"\nwhen_changed = ["*.txt"]\n'
    '[verifiers.require.forbid]\nregex = "word{0}"\n'
)


def project(folder: Path) -> None:
    """A repository with that many verifiers of both forms over one file, and as many items that do nothing."""
    subprocess.run(("git", "init", "-q", str(folder)), check=True)
    for below in ("verifiers", "rules"):
        (folder / ".ai-rulez" / below).mkdir(parents=True)
    (folder / ".ai-rulez/rules/style.md").write_text("# Style\n")
    (folder / ".ai-rulez/config.toml").write_text(CONFIG + "".join(map(FLAT.format, range(ITEMS))))
    (folder / ".ai-rulez/verifiers/t.toml").write_text("".join(map(SPEC.format, range(ITEMS))))
    (folder / "a.txt").write_text("nothing\n")
    (folder / "all.empty").write_text("")
    (folder / "conftest.py").write_text(CONFTEST.format(items=ITEMS, batch=BATCH))


def measure(folder: Path) -> dict[str, float]:
    """Microseconds of processor time: whole items by kind, and what of them decided the verifier."""
    file = folder / "figures.json"
    env = os.environ | {"PYTEST_ADDOPTS": without_neighbours(), "BENCH": str(file)}
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    found: dict[str, float] = json.loads(file.read_text())
    return found


def main() -> None:
    """Print every figure."""
    with tempfile.TemporaryDirectory() as folder:
        project(Path(folder))
        found = measure(Path(folder))
    print(f"an item that does nothing: {found['empty']:.1f} µs in pytest")
    for kind in ("flat", "spec"):
        decided, whole = found[f"{kind} decided"], found[kind] - found["empty"]
        print(
            f"{kind} verifier: {decided:.1f} µs to look up what is decided (target {TARGET:.0f}), "
            f"{whole:.1f} µs more than an item that does nothing, its outcome on the report included"
        )


if __name__ == "__main__":
    main()
