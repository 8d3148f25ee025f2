"""Which files' verifiers are items, and under which names: nothing that is declared is lost (design 2.1, 2.6)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.projects import HEAD

Run = Callable[..., pytest.RunResult]
SPEC = '[[verifiers]]\nid = "x"\nrule = "database"\nseverity = "error"\n[verifiers.require.file_exists]\npath = "no"\n'
FLAT = '[[verifiers]]\nname = "readme"\ntype = "file_exists"\npath = "README.md"\n'
X = ".ai-rulez/verifiers/db.toml::x"


@pytest.fixture
def rulez(project: Repo) -> Repo:
    """A project with one failing spec and one flat verifier that holds."""
    project.write(".ai-rulez/config.toml", HEAD + FLAT)
    project.write(".ai-rulez/rules/database.md", "# Database\n")
    project.write(".ai-rulez/verifiers/db.toml", SPEC)
    project.write("README.md", "# Demo\n")
    return project


def replace_by_link(root: Path, path: str, target: str) -> None:
    """Move ``path`` to ``target`` and leave a link in its place."""
    (root / path).rename(root / target)
    (root / path).symlink_to(root / target)


@pytest.mark.parametrize("arguments", [(), ("--reqfile", "src"), (X,)], ids=str)
@pytest.mark.parametrize("linked", [".ai-rulez", ".ai-rulez/verifiers"])
def test_linked_folders(rulez: Repo, run: Run, linked: str, arguments: tuple[str, ...]) -> None:
    """A linked configuration folder, or folder of verifiers, has the items that it has without the link."""
    replace_by_link(rulez.root, linked, "elsewhere")
    rulez.write("src/test_a.py", "def test_a(): pass\n")
    run(*arguments, "-rA").stdout.fnmatch_lines([f"FAILED {X} - no does not exist"])


@pytest.mark.parametrize("arguments", [(), ("--reqfile",), (X.partition("::")[0],)], ids=str)
def test_a_linked_verifier_file(rulez: Repo, run: Run, arguments: tuple[str, ...]) -> None:
    """A verifier file that is a link is refused, not passed over."""
    replace_by_link(rulez.root, ".ai-rulez/verifiers/db.toml", "db.toml")
    result = run(*arguments, "-rA")
    result.stdout.fnmatch_lines(["*not a regular file (symlinks are not followed)"])
    result.assert_outcomes(errors=1, passed=0 if ".ai-rulez/verifiers/db.toml" in arguments else 1)


@pytest.mark.parametrize("arguments", [(), ("--reqfile",)], ids=str)
def test_what_is_no_file(rulez: Repo, run: Run, arguments: tuple[str, ...]) -> None:
    """Where a verifier file leads nowhere, or is a pipe, pytest's walk passes it over: config.toml tells of it."""
    rulez.symlink(".ai-rulez/verifiers/gone.toml", "nowhere.toml")
    os.mkfifo(rulez.root / ".ai-rulez/verifiers/pipe.toml")
    result = run(*arguments, "-rA")
    result.assert_outcomes(errors=1, failed=1, passed=1)
    for name in ("gone", "pipe"):
        result.stdout.fnmatch_lines([f"*verifiers/{name}.toml:1: AR9H2: not a regular file*"])


@pytest.mark.parametrize("arguments", [(), ("--reqfile",), (X.partition("::")[0],)], ids=str)
def test_verifiers_without_a_project(rulez: Repo, run: Run, arguments: tuple[str, ...]) -> None:
    """Verifier files beside no configuration, or beside one that is not the project's, are errors of their own."""
    (rulez.root / ".ai-rulez/config.toml").rename(rulez.root / "config.toml")
    result = run(*arguments, "-rA")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*db.toml:1: not looked at: expected config.toml in the configuration folder*"])
    rulez.write(".config/ai-rulez/config.toml", HEAD + FLAT)
    run(*arguments).stdout.fnmatch_lines(["*db.toml:1: not looked at*"])


def test_a_verifier_named_load(rulez: Repo, run: Run) -> None:
    """`load` is the item of the file: a verifier of that name never hides it, or takes its id."""
    nameless = SPEC.replace('id = "x"\n', "")
    rulez.write(".ai-rulez/verifiers/db.toml", SPEC.replace('"x"', '"load"') + nameless)
    result = run("-rA", ".ai-rulez/verifiers/db.toml")
    result.stdout.fnmatch_lines(["ERROR*db.toml::load - *invalid id*", "FAILED*db.toml::load-2 - no does not exist"])


def test_odd_names_of_examples(rulez: Repo, run: Run) -> None:
    """Names of examples become names of items: no separators or escapes, none twice, never empty."""
    names = ("../a b", "\\u001b[31m", "", "a-b", "é")
    example = '[[verifiers.examples]]\nname = "{}"\nexpect = "fail"\n'
    rulez.write(".ai-rulez/verifiers/db.toml", SPEC + "".join(map(example.format, names)))
    lines = run("--co", "-q", ".ai-rulez/verifiers/db.toml").stdout.lines
    expected = ["a-b", "31m", "example", "a-b-2", "example-2"]
    assert [line for line in lines if line.startswith(X)] == [X, *(f"{X}/examples/{name}" for name in expected)]


def test_missing_examples_run_nothing(rulez: Repo, run: Run) -> None:
    """AR9H6 is an item of its own that does not evaluate the verifier again: its command runs once, or not at all."""
    rulez.write(".ai-rulez/config.toml", f"{HEAD}[verifiers_settings]\nrequire_examples = true\n")
    command = 'command]\nargv = ["sh", "-c", "echo run >> runs"]\n'
    rulez.write(".ai-rulez/verifiers/db.toml", SPEC.replace('file_exists]\npath = "no"\n', command))
    result = run("--reqfile-allow-exec", "-rA")
    assert (rulez.root / "runs").read_text() == "run\n"
    result.stdout.fnmatch_lines(["verifiers: 1 passed, 1 failed*", f"PASSED {X}"])
    run("--reqfile-allow-exec", "--reqfile-fast", "-rs").stdout.fnmatch_lines(["SKIPPED*left for a full run"])
    assert (rulez.root / "runs").read_text() == "run\n"
