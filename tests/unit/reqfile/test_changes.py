"""reqfile/changes.py where the command line cannot reach: staged runs, the wire, what is asked (spec/reqfile.md 5)."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.changes import ChangeSet, change_set, staged_set
from pytest_reqfile.reqfile.plan import Candidates, Selection, plan_checks
from pytest_reqfile.reqfile.repository import open_repository
from pytest_reqfile.reqfile.values import Edition
from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run, seen

EDITIONS: tuple[Edition, ...] = ("0.1", "0.4")
SEEN = block("SEEN", seen())


def staged(repo: Repo, edition: Edition) -> Candidates:
    """What SEEN looks at in a staged run."""
    repository = open_repository(repo.root, repo.environment)
    changes = staged_set(repository, Selection(), edition)
    return next(changes.candidates(r) for r in repository.catalog.requirements if r.id == "SEEN")


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_staged_run_looks_at_the_index(repo: Repo, edition: Edition) -> None:
    """Staged edits, additions and deletions; neither untracked files nor edits that are not staged."""
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    for name in ("edited.txt", "gone.txt", "later.txt"):
        repo.write(name, name)
    repo.commit()
    repo.write("edited.txt", "x")
    repo.write("added.txt", "x")
    repo.delete("gone.txt")
    repo.git("add", "-A")
    repo.write("later.txt", "x")
    repo.write("untracked.txt", "x")
    assert staged(repo, edition) == Candidates(existing=("added.txt", "edited.txt"), deleted=("gone.txt",))


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_staged_run_before_the_first_commit(repo: Repo, edition: Edition) -> None:
    """Everything that is staged is new, requirements included, so the whole scope is looked at."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    repo.write("a.txt", "x")
    repo.git("add", "a.txt", "Reqfile.yaml")
    repo.write("b.txt", "x")
    assert staged(repo, edition).existing == ("Reqfile.yaml", "a.txt", "b.txt")


def test_every_problem_of_every_base_is_told(repo: Repo) -> None:
    """Each once, whatever the number of folders."""
    for folder in ("a", "b", "c"):
        repo.write(f"{folder}/Reqfile.yaml", reqfile_text(block(f"R_{folder.upper()}", seen())))
    repo.write("a/.reqfile/config.yaml", "base: nowhere\n")
    repo.write("b/.reqfile/config.yaml", "base: nowhere\n")
    repository = open_repository(repo.root, repo.environment)
    with pytest.raises(FormatError) as caught:
        change_set(repository, Selection(), None, "0.1")
    places = [(problem.path, problem.line) for problem in caught.value.problems]
    assert places == [("a/.reqfile/config.yaml", 1), (None, None)]
    assert caught.value.messages[1].startswith("--changed needs a base for c: ")


def test_requirements_that_were_not_asked_about_are_a_bug(repo: Repo) -> None:
    """Never silently nothing."""
    repo.write("Reqfile.yaml", reqfile_text(SEEN, block("OTHER", run("true"))))
    repository = open_repository(repo.root, repo.environment)
    changes = change_set(repository, Selection(only=frozenset({"OTHER"})), "HEAD", "0.1")
    first = repository.catalog.requirements[0]
    with pytest.raises(KeyError):
        changes.candidates(first)
    with pytest.raises(KeyError):
        changes.touches_examples(first)


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_touches_the_examples_of_a_requirement(repo: Repo, edition: Edition) -> None:
    """Its block, its files, its examples, a config; in edition 0.4 no comment, and in neither a neighbour's files."""
    text = reqfile_text(SEEN, block("OTHER", seen()))
    base = {
        "Reqfile.yaml": text,
        ".reqfile/config.yaml": "exclude: []\n",
        ".reqfile/SEEN/words.lst": "one\n",
        ".reqfile/SEEN/examples/ok-one/a.txt": "x",
        ".reqfile/OTHER/words.lst": "one\n",
        "a.txt": "x",
    }
    for path, content in base.items():
        repo.write(path, content)
    repo.commit()
    both, none = {"SEEN", "OTHER"}, set[str]()
    edits: tuple[tuple[str, str | None, set[str]], ...] = (
        ("a.txt", "changed", none),
        (".reqfile/OTHER/words.lst", "two\n", {"OTHER"}),
        (".reqfile/SEEN/words.lst", "two\n", {"SEEN"}),
        (".reqfile/SEEN/examples/ok-one/a.txt", "changed", {"SEEN"}),
        (".reqfile/SEEN/examples/ok-two/a.txt", "new", {"SEEN"}),
        (".reqfile/SEEN/examples/ok-one/a.txt", None, {"SEEN"}),
        (".reqfile/config.yaml", "exclude: [b.txt]\n", both),
        ("Reqfile.yaml", "# a comment\n" + text, both if edition == "0.1" else none),
        ("Reqfile.yaml", text.replace("*.txt", "*.text", 1), both if edition == "0.1" else {"SEEN"}),
    )
    for path, edit, touched in edits:
        repo.git("reset", "-q", "--hard")
        repo.git("clean", "-fdq")
        repo.delete(path) if edit is None else repo.write(path, edit)
        repository = open_repository(repo.root, repo.environment)
        changes = change_set(repository, Selection(), "HEAD", edition)
        found = {r.id for r in repository.catalog.requirements if changes.touches_examples(r)}
        assert found == touched, path


def test_the_wire_holds_builtin_types_and_any_name(repo: Repo) -> None:
    """Names that are not UTF-8 and those with newlines included."""
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    for name in ("byte\udcff.txt", "new\nline.txt", "ü.txt"):
        repo.write(name, "x")
    repository = open_repository(repo.root, repo.environment)
    changes = change_set(repository, Selection(), "HEAD", "0.1")
    wire = changes.to_wire()
    assert set(map(type, _leaves(wire))) <= {str, int, bytes}
    assert ChangeSet.from_wire(wire) == changes
    planned = plan_checks(repository.catalog, ChangeSet.from_wire(wire).narrow(Selection()))
    assert set(planned[0].files) == {"byte\udcff.txt", "new\nline.txt", "ü.txt"}


def test_another_version_of_the_wire_is_refused() -> None:
    """Workers and controller are one installation, or something is wrong."""
    with pytest.raises(ValueError, match="expected a change set of wire version 2, found 1"):
        ChangeSet.from_wire({"v": 1, "lists": [], "places": {}})


def test_equal_lists_are_held_once(repo: Repo) -> None:
    """Hundreds of requirements of one folder share what they look at."""
    repo.write("Reqfile.yaml", reqfile_text(*(block(f"R_{n}", seen()) for n in range(50))))
    repository = open_repository(repo.root, repo.environment)
    changes = change_set(repository, Selection(), "HEAD", "0.1")
    assert (len(changes.places), len(changes.lists)) == (50, 1)


def _leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for item in value.items() for part in item for leaf in _leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]
