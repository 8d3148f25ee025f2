"""Candidates of a model, checked without one (seed 000 "Suggesting verifiers"; spec/verifiers.md 7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reqfile.syntax.hidden import is_hidden
from pytest_reqfile.verifiers.layout import layout_of
from pytest_reqfile.verifiers.proposals import Proposals, is_usable, read_proposals
from pytest_reqfile.verifiers.replay import replay_all
from pytest_reqfile.verifiers.replies import UnusableReplyError
from pytest_reqfile.verifiers.suggestions import Suggestion, check_proposals
from pytest_reqfile.verifiers.values import Target
from tests.support.repo import Repo
from tests.support.suggestions import proposal, reply
from tests.support.verifiers import Workbench, head, predicate

STORE = Target(kind="rule", id="store")


def read(*proposals: dict[str, object]) -> Proposals:
    return read_proposals(reply(*proposals))


def check(bench: Workbench, *proposals: dict[str, object]) -> tuple[Suggestion, ...]:
    return check_proposals(read(*proposals).proposals, bench.open(), bench.project(), STORE)


def only(bench: Workbench, **fields: object) -> Suggestion:
    (found,) = check(bench, proposal(**fields))
    return found


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """The case's repository: one file is clean, the other has two HACK comments."""
    found = Workbench(tmp_path)
    found.write("src/a.go", "package a\n")
    found.write("src/old.go", "// HACK one\nvar x int\n// HACK two\n")
    found.write("README", "demo\n")
    return found


@pytest.mark.case("verifiers:A17.1")
def test_a_usable_candidate(bench: Workbench) -> None:
    """Its examples hold, its findings of today are counted, and its TOML loads."""
    found = only(bench)
    assert (found.rejected, found.examples, found.hits, found.hit_files) == ("", "verified", 2, ("src/old.go",))
    assert found.rationale == "The rule forbids them."
    assert found.toml.startswith('[[verifiers]]\nid = "no-hack"\nrule = "store"\nseverity = "warning"\n')
    assert "[verifiers.require.forbid]\n" in found.toml
    bench.spec(found.toml)
    declared = bench.declarations()
    assert (declared.invalid, [spec.id for spec in declared.specs]) == ((), ["no-hack"])
    assert [example.expect for example in declared.specs[0].examples] == ["pass", "fail"]


@pytest.mark.case("verifiers:A17.3")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"regex": "("}, "forbid: invalid regex: missing )"),
        ({"regex": r"(a)\1"}, "forbid: invalid regex: invalid escape sequence: \\1"),
        ({"when_changed": []}, "this predicate checks the changed files, so the verifier needs when_changed"),
        ({"when_changed": ["{a,b}" * 20]}, "invalid glob"),
        ({"predicate": "command"}, 'unknown predicate "command"'),
        ({"predicate": "llm"}, 'unknown predicate "llm"'),
        ({"predicate": "all"}, 'unknown predicate "all"'),
        ({"predicate": ""}, 'unknown predicate ""'),
        ({"predicate": "paired", "for_each": "**/*.go"}, "paired needs exactly one of"),
        ({"predicate": "glob_count", "files": "*.go"}, "glob_count needs min or max"),
        ({"severity": "fatal"}, 'invalid severity "fatal": use error, warning or info'),
        ({"where": "everywhere"}, 'forbid: invalid in "everywhere"'),
        ({"fail_content": "fine\n"}, 'its own example "violates the check" expected fail but got pass'),
        ({"pass_content": "HACK\n"}, 'its own example "satisfies the check" expected pass but got fail'),
    ],
)
def test_rejections(bench: Workbench, fields: dict[str, object], reason: str) -> None:
    """The words are those for a hand-written declaration; there is no TOML, and nothing to use."""
    found = only(bench, **fields)
    assert reason in found.rejected
    assert (found.toml, found.usable, found.verifier) == ("", False, None)
    assert found.examples == ("failed" if "its own example" in reason else "none")


@pytest.mark.case("verifiers:A17.4")
def test_ids_and_severities(bench: Workbench) -> None:
    """An id that is taken gets a number, whatever is no id becomes one, and nothing is an error yet."""
    bench.spec(head("no-hack", when="*.x") + predicate("forbid", regex="x"))
    found = check(bench, proposal(), proposal(id="No HACK!!"), proposal(id="???"), proposal(id="", severity="info"))
    assert [one.id for one in found] == ["no-hack-2", "no-hack-3", "store-check", "store-check-2"]
    assert [one.verifier.severity for one in found if one.verifier] == ["warning", "warning", "warning", "info"]


HIDDEN = "\u202e\u200b\x9b\x1b[2J\ufe00\U000e0041"


def test_nothing_in_the_toml_is_hidden(bench: Workbench) -> None:
    """Who reviews it sees what it says: escapes, which mean the same characters when it loads."""
    found = only(
        bench,
        regex=f"HACK|{HIDDEN.replace('[', '.')}x",
        when_changed=["**/*.go", f"{HIDDEN.replace('[', '.')}.x"],
        pass_content=f"package a {HIDDEN}\n",
        fail_path="a\u202e.go",
    )
    assert found.rejected == ""
    assert all(char == "\n" or (char.isprintable() and not is_hidden(char)) for char in found.toml)
    bench.spec(found.toml)
    (spec,) = bench.declarations().specs
    passing, failing = spec.examples
    assert dict(passing.files) == {"a.go": f"package a {HIDDEN}\n"}
    assert dict(failing.files) == {"a\u202e.go": "// HACK\n"}


def test_an_id_has_an_end(bench: Workbench) -> None:
    """It names files and stands in every report."""
    assert len(only(bench, id="x" * 3000).id) == 80
    assert only(bench, id="../../x").id == "..-..-x"


@pytest.mark.parametrize("path", ["a/" * 2000 + "a.go", "a/" * 150 + "a.go", "b" * 300 + "/a.go"])
def test_an_example_that_cannot_be_written(bench: Workbench, path: str) -> None:
    """Its path is no path of a file here: the candidate is rejected."""
    assert "its own example" in only(bench, pass_path=path).rejected


def test_an_invalid_declaration_keeps_its_id(bench: Workbench) -> None:
    """A file that declares it again would be a duplicate once the first is mended."""
    bench.spec(head("no-hack", when="*.x") + predicate("forbid", regex="("))
    assert only(bench).id == "no-hack-2"


@pytest.mark.parametrize(
    "fields",
    [
        {"predicate": "regex", "regex": "^package ", "pass_content": "package a\n", "fail_content": "x\n"},
        {"predicate": "file_exists", "path": "{stem}_test.go", "pass_path": "", "fail_path": ""},
        {"predicate": "file_exists", "path": "README", "exists": True, "pass_path": "", "fail_path": ""},
        {"predicate": "file_exists", "path": "old", "exists": False, "pass_path": "", "fail_path": ""},
        {"predicate": "paired", "for_each": "src/*.go", "requires_exists": "README", "pass_path": "", "fail_path": ""},
        {"predicate": "paired", "for_each": "src/*.go", "requires_changed": "a", "pass_path": "", "fail_path": ""},
        {"predicate": "glob_count", "files": "src/*.go", "min": 0, "max": 5, "pass_path": "", "fail_path": ""},
        {"exclude": ["gen/**"], "where": "diff-added"},
        {"where": "any-file", "files": "src/**", "when_changed": [], "fail_path": "src/a.go"},
    ],
    ids=str,
)
def test_every_predicate_that_may_be_proposed(bench: Workbench, fields: dict[str, object]) -> None:
    """Its TOML declares what was meant."""
    found = only(bench, **fields)
    assert found.rejected == ""
    bench.spec(found.toml)
    assert bench.declarations().specs[0].require == (found.verifier and found.verifier.require)


@pytest.mark.parametrize("path", ["", "../a.go", "/etc/x.go", "a\0.go"])
def test_an_example_that_cannot_be_written_is_none(bench: Workbench, path: str) -> None:
    """Nor is one of more than 4,000 bytes."""
    found = only(bench, pass_path=path, fail_path=path)
    assert (found.rejected, found.examples) == ("", "none")
    assert only(bench, fail_content="HACK" + "\n" * 4000, pass_path="").examples == "none"


@pytest.mark.case("verifiers:A17.15")
@pytest.mark.parametrize(
    "pattern",
    [
        r"open\(",
        r"File::open",
        r"eval\(|json\.loads\(",
        r"\bopen\([^)]*\)",
        r"""open\(["'][^"']+["']""",
        r"=\s*open\(",
        r'os\.Getenv\("[A-Z_]+"\)',
        "^import os$",
        ".",
    ],
)
def test_a_forbidden_everyday_call(bench: Workbench, pattern: str) -> None:
    """It would hit code everywhere."""
    found = only(bench, regex=pattern, pass_path="", fail_path="")
    assert "it forbids a common standard-library call (it matches " in found.rejected
    assert found.rejected.endswith('everywhere; narrow the pattern or use in = "diff-added"')


@pytest.mark.case("verifiers:A17.15")
def test_in_any_file_too(bench: Workbench) -> None:
    """Where it looks does not matter, what it forbids does."""
    found = only(bench, regex=r"json\.load", where="any-file", files="**", pass_path="", fail_path="")
    assert "standard-library" in found.rejected


@pytest.mark.case("verifiers:A17.15")
@pytest.mark.parametrize(
    ("files", "fields", "reason"),
    [
        (3, {}, ""),
        (10, {}, ""),
        (11, {}, "it fails on 11 existing files (more than 10), so it is too broad"),
        (20, {"where": "diff-added"}, ""),
        (0, {"regex": r"open\(", "where": "diff-added"}, ""),
        (20, {"predicate": "regex", "regex": "^package"}, ""),
    ],
)
def test_how_many_files_may_fail(bench: Workbench, files: int, fields: dict[str, object], reason: str) -> None:
    """Ten for a ``forbid`` over existing lines; others are not bound."""
    (bench.root / "src/old.go").unlink()
    for number in range(files):
        bench.write(f"src/f{number}.go", "// HACK\n" * 7)
    found = only(bench, **{"pass_path": "", "fail_path": ""} | fields)
    assert reason in found.rejected
    assert bool(reason) == bool(found.rejected)


@pytest.mark.case("verifiers:A17.7")
@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("I would propose nothing.", "invalid JSON"),
        ('{"proposals": [], "skipped_reason": ""} {}', "expected the end of the file"),
        ({"proposals": [], "skipped_reason": "", "more": 1}, "unknown field `more` in the reply"),
        ({"proposals": []}, "the reply has no field `skipped_reason`"),
        ({"proposals": {}, "skipped_reason": ""}, "`proposals` in the reply must be of type list"),
        ({"proposals": [], "skipped_reason": 1}, "`skipped_reason` in the reply must be of type string"),
        ({"proposals": [1], "skipped_reason": ""}, "proposals[0] must be one JSON object"),
        ({"proposals": [{"id": "x"}], "skipped_reason": ""}, "proposals[0] has no field `predicate`"),
        ({"proposals": [proposal(extra=1)], "skipped_reason": ""}, "unknown field `extra` in proposals[0]"),
        ({"proposals": [proposal(min="1")], "skipped_reason": ""}, "`min` in proposals[0] must be of type integer"),
        ({"proposals": [proposal(exists=None)], "skipped_reason": ""}, "`exists` in proposals[0] is null"),
        ({"proposals": [proposal(files=[1])], "skipped_reason": ""}, "`files` in proposals[0] must be of type string"),
        ({"proposals": [proposal(exclude=[1])], "skipped_reason": ""}, "an item of `exclude` in proposals[0] must be"),
        ([], "the reply must be one JSON object"),
    ],
)
def test_unusable_replies(document: object, reason: str) -> None:
    """Anything missing, additional or of another type."""
    text = document if isinstance(document, str) else json.dumps(document)
    assert not is_usable(text)
    with pytest.raises(UnusableReplyError) as caught:
        read_proposals(text)
    assert reason in str(caught.value)


def test_prose_is_put_on_one_line(bench: Workbench) -> None:
    """And shortened; nothing of it moves a cursor."""
    found = only(bench, description="a\n b\x1b[31m " + "x" * 300, fix="f" * 400)
    assert found.verifier is not None
    assert found.verifier.description == "a b\\x1b[31m " + "x" * 188 + "..."
    assert found.verifier.fix == "f" * 300 + "..."


def test_layout() -> None:
    """The first two levels of folders, the commonest endings, neither our own folder nor what looks like a key."""
    paths = ["src/deep/er/a.go", "src/b.go", "docs/x.md", ".ai-rulez/rules/a.md", "Makefile", "sk-abcdefghijklmnop/x.c"]
    found = layout_of(paths, ".ai-rulez")
    assert found.folders == ("docs", "src", "src/deep")
    assert found.extensions == (".go", ".c", ".md")
    many = layout_of([f"d{number:03}/x.e{number}" for number in range(100)], ".ai-rulez")
    assert (len(many.folders), len(many.extensions)) == (60, 12)


@pytest.fixture
def history(repo: Repo) -> Workbench:
    """A base and three commits, of which the first adds a HACK."""
    found = Workbench(repo.root, repo.environment)
    found.write("src/a.go", "package a\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "--amend", "-m", "base")
    found.write("src/a.go", "package a\n// HACK\n")
    repo.commit("adds a hack")
    found.write("src/b.go", "package b\n")
    repo.commit("second")
    found.write("README", "hello\n")
    repo.commit("third")
    return found


def replayed(bench: Workbench, number: int, **fields: object) -> tuple[Suggestion, tuple[str, ...]]:
    run = bench.open()
    found = check_proposals(read(proposal(**fields)).proposals, run, bench.project(), STORE)
    (one,), notes = replay_all(found, run, number)
    return one, notes


@pytest.mark.case("verifiers:A17.18")
def test_replay_over_history(history: Workbench) -> None:
    """Each commit as a run on that change would have seen it."""
    one, notes = replayed(history, 5)
    (note,) = notes
    assert note.startswith("replay: a root commit changes nothing that was there, so ")
    assert note.endswith(" base was skipped")
    assert one.replay is not None
    assert (one.replay.diffs, one.replay.flagged, one.replay.errors) == (3, 1, 0)
    (shown,) = one.replay.flagged_commits
    assert shown.endswith(" adds a hack")
    short, _ = replayed(history, 1)
    assert short.replay is not None
    assert (short.replay.diffs, short.replay.flagged) == (1, 0)
    none, _ = replayed(history, 0)
    assert none.replay is None


def test_replay_sees_the_tree_of_its_time(history: Workbench) -> None:
    """What stands in the work tree now says nothing about then."""
    history.write("src/a.go", "package a\n")
    history.write("src/uncommitted.go", "// HACK\n")
    one, _ = replayed(history, 10, where="diff-added")
    assert one.replay is not None
    assert (one.replay.diffs, one.replay.flagged) == (3, 1)


def test_replay_in_a_folder_of_the_repository(repo: Repo) -> None:
    """Only what happened in the project counts; a commit that did not touch it is no diff."""
    bench = Workbench(repo.root / "sub", repo.environment)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--amend", "-m", "base")
    bench.write("a.go", "// HACK\n")
    repo.commit("inside")
    repo.write("outside.go", "// HACK\n")
    repo.commit("outside")
    one, _ = replayed(bench, 10)
    assert one.replay is not None
    assert (one.replay.diffs, one.replay.flagged) == (1, 1)


def test_a_shallow_clone_says_where_it_ends(history: Workbench, repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    """What is not there is not taken for harmless."""
    clone = make_repo("clone")
    clone.delete(".git")
    clone.git("clone", "-q", "--depth", "2", f"file://{repo.root}", ".")
    one, notes = replayed(Workbench(clone.root, clone.environment), 10)
    assert one.replay is not None
    assert one.replay.diffs == 1
    (note,) = notes
    assert note.startswith("replay: the history of this shallow clone ends there, so ")


def test_before_the_first_commit(repo: Repo) -> None:
    """There is nothing to replay, and it is said in words."""
    repo.delete(".git")
    repo.git("init", "-q", "-b", "main")
    one, notes = replayed(Workbench(repo.root, repo.environment), 10)
    assert one.replay is None
    assert notes == ("replay skipped: the repository has no commit yet",)


def test_without_a_repository_replay_is_skipped(bench: Workbench) -> None:
    """It is said, and nothing else is lost."""
    one, notes = replayed(bench, 10)
    assert one.usable
    assert one.replay is None
    assert notes == ("replay skipped: the project is not in a git repository",)


def test_a_merge_is_one_diff(history: Workbench, repo: Repo) -> None:
    """Compared with its first parent; commits of the branch are not looked at one by one."""
    repo.branch("topic")
    history.write("src/c.go", "// HACK\n")
    repo.commit("on a branch")
    history.write("src/d.go", "package d\n")
    repo.commit("more of it")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge the topic", "topic")
    one, _ = replayed(history, 1)
    assert one.replay is not None
    assert (one.replay.diffs, one.replay.flagged) == (1, 1)
    assert one.replay.flagged_commits[0].endswith(" merge the topic")


def test_a_commit_without_change_is_no_diff(history: Workbench, repo: Repo) -> None:
    """There was nothing to review."""
    repo.commit("empty")
    one, _ = replayed(history, 1)
    assert one.replay is not None
    assert one.replay.diffs == 0
