"""``.reqfile/reqfile.lock``: weakening a requirement shows in review (issue 6.4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_reqfile.lock.requirements import requirements_lock
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Entry, ItemPin, OutputPin
from tests.support.locks import LockProject
from tests.support.repo import Repo

LOCK = ".reqfile/reqfile.lock"
REQFILE = """reqfile: 1
code:
  - id: NO_PRINT
    must: Code does not print.
    why: Logs are read by machines.
    checks:
      - command:
          run: "! grep -rn print src"
          fix_hint: Use the logger.
          timeout: 10
  - id: OTHER
    must: Something else.
    why: Because.
    checks:
      - command:
          run: "true"
          fix_hint: none
"""
CONFIG = "exclude:\n  - vendor/**\n"


@pytest.fixture
def locked(repo: Repo) -> Repo:
    """A repository with requirements, a config and files of a requirement, locked."""
    repo.write("Reqfile.yaml", REQFILE)
    repo.write("app/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: OTHER, use: .. }\n")
    repo.write(".reqfile/config.yaml", CONFIG)
    repo.write(".reqfile/NO_PRINT/examples/pass-a/src/a.py", "log()\n")
    done = repo.run("lock")
    assert (done.code, done.err) == (0, "")
    return repo


def _lines(repo: Repo) -> list[str]:
    done = repo.run("lock", "--check")
    assert done.code == (2 if "does not match" in done.out else 0)
    return [line.strip() for line in done.out.splitlines()[1:]]


def test_a_repository_without_a_project(locked: Repo) -> None:
    """The form of the original under a header of its own; in sync at once, and twice the same bytes."""
    text = locked.path(LOCK).read_text()
    assert text.startswith(
        "# reqfile.lock: pins the requirements of this repository and their settings. Commit this file.\n"
        "# Refresh it with `reqfile lock`; `reqfile lock --check` fails when it is stale.\n\n"
        "version = 1\nscope = 'all'\n"
    )
    assert [line for line in text.splitlines() if line.startswith(("kind", "id", "domain", "path"))] == [
        *("kind = 'config'", "id = 'config'", "path = '.reqfile/config.yaml'"),
        *("kind = 'requirement'", "id = 'NO_PRINT'", "path = 'Reqfile.yaml'"),
        *("kind = 'requirement'", "id = 'OTHER'", "path = 'Reqfile.yaml'"),
        *("kind = 'requirement'", "id = 'OTHER'", "domain = 'app'", "path = 'app/Reqfile.yaml'"),
    ]
    check = locked.run("lock", "--check", cwd="app")
    assert (check.code, check.out) == (0, f"Lock file is up to date ({locked.root}/.reqfile)\n")
    assert locked.run("lock").code == 0
    assert locked.path(LOCK).read_text() == text


NO_PRINT = "source changed  requirement NO_PRINT (Reqfile.yaml)"


@pytest.mark.parametrize(
    ("act", "lines"),
    [
        (lambda r: r.write("Reqfile.yaml", REQFILE.replace("print src", "print srcs")), [NO_PRINT]),
        (lambda r: r.write("Reqfile.yaml", REQFILE.replace("          timeout: 10\n", "")), [NO_PRINT]),
        (lambda r: r.write("Reqfile.yaml", REQFILE.replace("does not print", "should not print")), [NO_PRINT]),
        (lambda r: r.write(".reqfile/NO_PRINT/examples/pass-a/src/a.py", "print()\n"), [NO_PRINT]),
        (lambda r: r.write(".reqfile/NO_PRINT/new", ""), [NO_PRINT]),
        (lambda r: r.symlink(".reqfile/NO_PRINT/link", "/etc/passwd"), [NO_PRINT]),
        (
            lambda r: r.write("Reqfile.yaml", REQFILE.replace("NO_PRINT", "RENAMED")),
            [NO_PRINT.replace("changed", "removed"), "source added    requirement RENAMED (Reqfile.yaml)"],
        ),
        (
            lambda r: r.write(".reqfile/config.yaml", CONFIG + "  - src/**\n"),
            ["source changed  config config (.reqfile/config.yaml)"],
        ),
        (
            lambda r: r.write("app/Reqfile.yaml", "reqfile: 1\n"),
            ["source removed  requirement app/OTHER (app/Reqfile.yaml)"],
        ),
    ],
)
def test_every_change_of_meaning_shows(locked: Repo, act: Callable[[Repo], object], lines: list[str]) -> None:
    """Command, timeout, wording, files, settings: one line, naming the file."""
    act(locked)
    assert _lines(locked) == lines


def test_layout_does_not_count(locked: Repo) -> None:
    """What is pinned is what is said: comments, order of keys and quoting are free."""
    text = REQFILE.replace("    must: Code does not print.\n", "    # why not\n").replace(
        "    checks:\n", "    must: 'Code does not print.'\n    checks:\n", 1
    )
    locked.write("Reqfile.yaml", text)
    locked.write(".reqfile/config.yaml", "# c\nexclude: [vendor/**]\n")
    locked.write("src/other.py", "print()\n")
    assert _lines(locked) == []


def test_problems_are_never_in_sync(locked: Repo) -> None:
    """A Reqfile that cannot be read is not pinned anew, and a check says why."""
    locked.write("app/Reqfile.yaml", "reqfile: 1\ncode: 3\n")
    assert any(line.startswith("lock: app/Reqfile.yaml:2: ") for line in _lines(locked))
    before = locked.path(LOCK).read_bytes()
    done = locked.run("lock")
    assert (done.code, done.err.startswith("error: app/Reqfile.yaml:2: ")) == (1, True)
    assert locked.path(LOCK).read_bytes() == before


def test_both_kinds_of_locks(repo: Repo) -> None:
    """Beside a project the second lock is asked for once; nothing new is ever in ``ai-rulez.lock``."""
    project = LockProject(repo).base()
    repo.write("Reqfile.yaml", REQFILE)
    assert repo.run("lock").code == 0
    assert not repo.path(LOCK).exists()
    assert repo.run("lock", "--requirements").out.count("pinned ") == 2
    assert b"requirement" not in (project.folder / "ai-rulez.lock").read_bytes()
    assert repo.run("lock", "--check").out.count("up to date") == 2
    repo.write("Reqfile.yaml", REQFILE.replace("timeout: 10", "timeout: 20"))
    done = repo.run("lock", "--check")
    assert (done.code, done.out.count("up to date"), done.out.count("does not match")) == (2, 1, 1)
    project.write("ai-rulez.lock", "[")
    assert repo.run("lock", "--check").code == 1
    project.write("ai-rulez.lock", "version = 1\n")
    assert repo.run("lock", "--subject").code == 1


def test_one_statement_is_signed_at_a_time(repo: Repo) -> None:
    """The project's, as ever; with ``--requirements`` that of the requirements. It was overwritten by the other."""
    LockProject(repo).base()
    repo.write("Reqfile.yaml", REQFILE)
    assert repo.run("lock", "--requirements").code == 0
    project = json.loads(repo.run("lock", "--subject", "--format", "json").out)
    requirements = json.loads(repo.run("lock", "--subject", "--requirements", "--format", "json").out)
    assert (project["outputs_pinned"], requirements["outputs_pinned"]) == (True, False)
    for arguments, expected in (((), project), (("--requirements",), requirements)):
        done = repo.run("lock", "--subject", *arguments, "--output", "s.json")
        assert (done.code, done.err) == (0, "wrote s.json\n")
        assert done.out.startswith(f"{expected['subject']}  (lock-subject/v1; tree {expected['tree']}, ")
        assert json.loads(repo.path("s.json").read_text()) == expected


def test_subject_and_diff(locked: Repo) -> None:
    """The other modes work on it as on the original."""
    assert locked.run("lock", "--subject").out.startswith("sha256:")
    assert locked.run("lock", "--diff").out == "reqfile.lock matches the sources and outputs\n"
    locked.delete(LOCK)
    done = locked.run("lock", "--diff")
    assert (done.code, len(done.out.splitlines())) == (0, 5)
    check = locked.run("lock", "--check")
    assert (check.code, check.err) == (
        1,
        f"error: no reqfile.lock in {locked.root}/.reqfile: nothing to check; run `reqfile lock` to create it\n",
    )


def test_what_is_no_requirement(locked: Repo) -> None:
    """Entries and outputs in this lock would be compared with nothing."""
    file = requirements_lock(locked.root)
    lock = file.read()
    assert lock is not None
    entry = Entry(name="a", source="https://h/r", commit="c", digest="sha256:1")
    rule = ItemPin(kind="rule", id="r", digest="sha256:1")
    more = replace(
        lock, includes=(entry,), outputs=(OutputPin(path="A.md", digest="sha256:1"),), items=(*lock.items, rule)
    )
    file.write(replace(more, tree=tree_of(more)))
    assert _lines(locked) == [
        "lock: include a is no requirement; it was added by hand",
        "lock: output A.md is no requirement; it was added by hand",
        "source removed  rule r",
    ]
    assert locked.run("lock").code == 0
    assert file.read() == lock


def test_requirements_need_a_repository(repo: Repo, tmp_path: pytest.TempPathFactory) -> None:
    """Said, and exit 1."""
    done = repo.run("lock", "--requirements", cwd=str(tmp_path))
    assert (done.code, done.err) == (1, "error: --requirements: not inside a git repository\n")
