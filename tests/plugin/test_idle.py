"""Design 4, idle cost: installed but unused, the plugin loads nothing but itself."""

from __future__ import annotations

import json
import sys

from tests.support import Repo
from tests.support.requirements import command, req

LIST_MODULES = """
import atexit, json, sys
def dump():
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
atexit.register(dump)
"""


def _modules(project: Repo, *arguments: str) -> set[str]:
    project.write("conftest.py", LIST_MODULES)
    done = project.pytest("-q", *arguments)
    assert done.code == 0, done.out
    return set(json.loads(project.path("modules.json").read_text()))


def test_an_idle_run_loads_only_the_plugin(project: Repo) -> None:
    """The modules of a run that meets nothing of ours differ from one without the plugin by a handful of ours."""
    project.write("test_a.py", "def test_a(): pass\n")
    idle = _modules(project)
    without = _modules(project, "-p", "no:reqfile")
    assert idle - without == {
        "pytest_reqfile",
        "pytest_reqfile.plugin",
        "pytest_reqfile.plugin.names",
        "pytest_reqfile.plugin.options",
        "pytest_reqfile.plugin.recorder",
        "pytest_reqfile.plugin.workers",
    }
    assert _modules(project, "--no-reqfile") == idle


def test_many_items_leave_the_cycle_collector_as_it_was(project: Repo) -> None:
    """What is kept from the collector while ten thousand items run is given back at the end."""
    project.write("Reqfile.yaml", req(**{f"R{n}": [command("true", files="*.none")] for n in range(501)}))
    watch = (
        "import atexit, gc, sys, pytest\n"
        "atexit.register(lambda: open('count', 'w').write(str(gc.get_freeze_count())))\n"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider']))"
    )
    done = project.execute(sys.executable, "-P", "-c", watch)
    assert done.code == 0, done.out
    assert "501 skipped" in done.out
    assert project.path("count").read_text() == "0"
