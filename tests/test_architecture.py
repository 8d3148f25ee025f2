"""The package keeps the rules of design 4 and 6, and the checkers of tests/support/architecture.py can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_reqfile
from tests.support.architecture import PACKAGE, Module, broad_excepts, complaints

ROOT = Path(pytest_reqfile.__file__).parent
HEAVY = "yaml tomli re2 git gitdb sarif_om attr junit_xml jsonschema"


def _module(file: Path) -> Module:
    parts = file.relative_to(ROOT).with_suffix("").parts
    name = ".".join(part for part in parts if part != "__init__")
    return Module(name=name, source=file.read_text("utf-8"))


FILES = sorted(ROOT.rglob("*.py"))
MODULES = {module.name: module for module in map(_module, FILES)}


def test_there_is_something_to_check() -> None:
    """The walk found the package."""
    assert {"", "errors", "outcome", "workspace.git"} <= MODULES.keys()


@pytest.mark.parametrize("name", MODULES, ids=lambda name: name or PACKAGE)
def test_module_keeps_the_rules(name: str) -> None:
    """Arrows down, the outside world in workspace/, printing in cli/, pytest in plugin/, sizes."""
    assert complaints(MODULES[name]) == []


def test_one_broad_except_at_most() -> None:
    """design 6.5: only the item boundary may catch everything."""
    found = [
        f"{module.name}:{line}"
        for module in MODULES.values()
        if module.part == "plugin"
        for line, _ in broad_excepts(module.tree)
    ]
    assert len(found) <= 1, found


IMPORT_EACH = """
import importlib, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
    heavy = set(sys.argv[1].split()) & set(sys.modules)
    if heavy:
        sys.exit(f"importing {name} imports {', '.join(sorted(heavy))}")
"""


def test_no_module_imports_anything_heavy() -> None:
    """design 4, idle cost: all modules together, in a fresh interpreter, import no heavy dependency."""
    names = [f"{PACKAGE}.{name}" if name else PACKAGE for name in MODULES if name != "__main__"]
    command = (sys.executable, "-P", "-c", IMPORT_EACH, HEAVY, *names)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=os.sep, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "source", "complaint"),
    [
        ("errors", "import pytest_reqfile.outcome", "imports outcome, which is above errors"),
        ("errors", "from pytest_reqfile import syntax", "imports syntax, which is above errors"),
        ("syntax.yaml", "from pytest_reqfile.workspace.git import Git", "imports workspace, which is beside syntax"),
        ("workspace.git", "from pytest_reqfile.syntax import nodes", "imports syntax, which is beside workspace"),
        ("outcome", "from pytest_reqfile.reqfile.plan import x", "imports reqfile, which is above outcome"),
        ("reqfile.a", "from pytest_reqfile.verifiers.b import c", "imports verifiers, which is beside reqfile"),
        ("project.a", "from pytest_reqfile.lock import c", "imports lock, which is beside project"),
        ("lock.a", "def f():\n    from pytest_reqfile.plugin import c", "imports plugin, which is above lock"),
        ("cli.a", "from pytest_reqfile.plugin import c", "imports plugin, which is beside cli"),
        ("lock.a", "from . import b", "imports relatively; write the absolute name"),
        ("helpers", "import pytest_reqfile.errors", "belongs to no part of design 4: helpers"),
        ("reqfile.a", "import pytest", "imports pytest, which only plugin/ may"),
        ("cli.a", "from _pytest.config import Config", "imports _pytest, which only plugin/ may"),
        ("lock.a", "import subprocess", "imports subprocess, which only workspace/ may"),
        ("lock.a", "from socket import socket", "imports socket.socket, which only workspace/ may"),
        ("cli.a", "import time", "imports time, which only workspace/ may"),
        ("lock.a", "import urllib.request", "imports urllib.request, which only workspace/ may"),
        ("lock.a", "import http.client", "imports http.client, which only workspace/ may"),
        ("lock.a", "import git", "imports git, which only workspace/ may"),
        ("lock.a", "from os import environ", "imports os.environ, which only workspace/ may"),
        ("lock.a", "import os\nos.environ['X']", "uses os.environ, which only workspace/ may"),
        ("plugin.a", "import os\nos.getenv('X')", "uses os.getenv, which only workspace/ may"),
        ("lock.a", "import os\nos.path.exists('x')", "uses os.path.exists, which only workspace/ may"),
        ("lock.a", "open('x')", "calls open(), which only workspace/ may"),
        ("lock.a", "path.read_text()", "calls path.read_text(), which only workspace/ may"),
        ("lock.a", "path.read_text(encoding='utf-8')", "calls path.read_text(), which only workspace/ may"),
        ("lock.a", "(root / 'x').write_bytes(b'')", "calls (root / 'x').write_bytes(), which only workspace/ may"),
        ("lock.a", "path.is_file()", "calls path.is_file(), which only workspace/ may"),
        ("lock.a", "datetime.now(UTC)", "calls datetime.now(), which only workspace/ may"),
        ("plugin.a", "print('x')", "prints, which only cli/ may"),
        ("workspace.a", "import sys\nsys.stdout.write('x')", "uses sys.stdout, which only cli/ may"),
        ("lock.a", "try:\n    x\nexcept Exception:\n    pass", "catches everything"),
        ("lock.a", "try:\n    x\nexcept (OSError, BaseException) as e:\n    raise E from e", "catches everything"),
        ("lock.a", "try:\n    x\nexcept:\n    pass", "catches everything"),
        ("lock.a", "def f():\n" + "    x\n" * 60, "f has 61 lines, more than 60"),
        ("lock.a", "x = 1\n" * 401, "has 401 lines, more than 400: split it by noun"),
    ],
)
def test_a_planted_violation_is_found(name: str, source: str, complaint: str) -> None:
    """Each rule fails on a module that breaks it, and on nothing else in that module."""
    found = complaints(Module(name=name, source=source))
    assert [text.split(": ", 1)[1] for text in found] == [complaint]
    assert all(text.startswith(f"{name}:") for text in found)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("cli.a", "from pytest_reqfile.reqfile import x\nprint(x)\nimport sys\nsys.stdout.write('')"),
        ("__main__", "from pytest_reqfile.cli import main"),
        ("plugin.a", "import pytest\nfrom pytest_reqfile.lock import x"),
        ("verifiers.a", "from pytest_reqfile.project.b import x\nfrom pytest_reqfile.syntax import y"),
        ("lock.a", "from pytest_reqfile.project import x\nfrom pytest_reqfile import __version__"),
        ("lock.a", "import os\nos.fsencode('x')\nos.path.normpath('x')\nfrom urllib.parse import quote"),
        ("lock.a", "snapshot.read_text(path)\ngit.resolve(rev)\ntext.replace('a', 'b')\nlock.exists"),
        (
            "workspace.a",
            "import subprocess, os, time\nopen('x')\nos.environ\ntry:\n    x\nexcept BaseException:\n    raise",
        ),
        ("lock.a", "def f():\n" + "    x\n" * 59),
    ],
)
def test_what_is_allowed_is_not_complained_about(name: str, source: str) -> None:
    """The rules leave room for what the design wants."""
    assert complaints(Module(name=name, source=source)) == []
