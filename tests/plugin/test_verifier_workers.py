"""Verifiers under pytest-xdist: looked at once, told alike with any number of workers (design 4; issue 4 item 7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import Repo
from tests.support.projects import HEAD

SPY = """
import os
from pytest_reqfile.workspace import bulk

read = bulk.BulkReader.read

def told(self, path):
    with open(os.environ["SPY"], "a", errors="surrogateescape") as spy:
        print(path, file=spy)
    return read(self, path)

bulk.BulkReader.read = told
"""
RULE = '[[verifiers]]\nid = "{0}"\nrule = "database"\nseverity = "error"\nwhen_changed = ["*.txt"]\n'
FORBID = RULE + '[verifiers.require.forbid]\nregex = "{0}"\n'


@pytest.fixture
def rulez(project: Repo) -> Repo:
    """Verifiers of every outcome over files of odd names, one with a command and one with both."""
    project.write(".ai-rulez/config.toml", HEAD)
    project.write(".ai-rulez/rules/database.md", "# Database\n")
    specs = [FORBID.format(word) for word in ("alpha", "beta", "gamma")]
    specs.append(RULE.format("runs") + '[verifiers.require.command]\nargv = ["sh", "-c", "echo run >> runs"]\n')
    both = '[[verifiers.require.all]]\n[verifiers.require.all.forbid]\nregex = "beta"\n[[verifiers.require.all]]\n'
    specs.append(RULE.format("both") + both + '[verifiers.require.all.command]\nargv = ["true"]\n')
    specs.append(RULE.format("lost") + '[verifiers.require.file_exists]\npath = "{path}/../../../x"\n')
    project.write(".ai-rulez/verifiers/t.toml", "".join(specs))
    (project.root / "odd \udcff\n.txt").write_text("beta\n")
    project.write("plain.txt", "alpha\nalpha\n")
    project.write("plugins/spy.py", SPY)
    return project


def outcomes(repo: Repo, *mode: str) -> list[dict[str, Any]]:
    """What the JSON report of a run says, apart from times; in the order of names."""
    done = repo.pytest("--reqfile-allow-exec", "--reqfile-json", "report.json", ".ai-rulez", *mode)
    assert done.code == 1, done.out + done.err
    found = json.loads((repo.root / "report.json").read_text())["items"]
    return sorted(({k: v for k, v in o.items() if k != "seconds"} for o in found), key=lambda o: str(o["owner"]))


def test_the_same_results(rulez: Repo) -> None:
    """With two workers and without any; a command runs once, in one of them."""
    alone = outcomes(rulez, "-p", "no:xdist")
    assert [o["owner"] for o in alone] == ["alpha", "beta", "both", "gamma", "lost", "runs"]
    assert (rulez.root / "runs").read_text() == "run\n"
    assert outcomes(rulez, "-n", "2") == alone
    assert (rulez.root / "runs").read_text() == "run\n" * 2


def test_files_are_read_once(rulez: Repo) -> None:
    """Of verifiers that run no command, by one worker for all of them."""
    spy = rulez.root / "spy.log"
    rulez.variables |= {"SPY": str(spy), "PYTHONPATH": str(rulez.root / "plugins")}
    rulez.pytest("-p", "spy", "-n", "2", ".ai-rulez", "-k", "alpha or beta or gamma")
    assert sorted(spy.read_text(errors="surrogateescape").splitlines()).count("plain.txt") == 1
