"""The comparison, case by case: changes, covers, the cache, what a report says (cases I, K, X; spec/lock.md 5.4, 6)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.cache import AiRulezCache, include_folder, safe_name, source_folder
from pytest_reqfile.lock.changes import Change, KindLimit, Report, report_from_wire, report_to_wire, sorted_changes
from pytest_reqfile.lock.check import CheckOptions
from pytest_reqfile.lock.compare import Present, compare_content, compare_items
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.outputs import Outputs
from pytest_reqfile.lock.pins import Pins
from pytest_reqfile.lock.remote_pins import covers
from pytest_reqfile.lock.remotes import CachedTree, redacted
from pytest_reqfile.lock.renew import LockRequest, UnresolvedError
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Approval, Entry, ItemPin, Lock, OutputPin, Scan
from pytest_reqfile.project.tables import read_source
from pytest_reqfile.project.values import Declared, Source
from pytest_reqfile.syntax.fields import Problems
from pytest_reqfile.syntax.toml import read_toml
from tests.support.locks import LockProject
from tests.support.repo import Repo

STYLE = ItemPin(kind="rule", id="style", path="rules/style.md", digest="sha256:1")


@pytest.fixture
def project(repo: Repo) -> LockProject:
    return LockProject(repo)


def _generated(project: LockProject, **files: str) -> None:
    project.write(".generated-manifest.json", json.dumps({"files": list(files)}))
    for path, text in files.items():
        project.repo.write(path, text)


def _whole(lock: Lock) -> Lock:
    return replace(lock, tree=tree_of(lock))


@pytest.mark.case("lock:I1")
@pytest.mark.case("lock:I17")
@pytest.mark.case("lock:Y2")
def test_four_changes_in_order(project: LockProject) -> None:
    """Added, changed, removed sources before the changed output; verbs padded so that names align."""
    project.base()
    _generated(project, **{"CLAUDE.md": "a\n"})
    project.lock()
    project.write("rules/security.md", "x")
    project.write("domains/api/skills/pack/SKILL.md", "---\nversion: 2\n---\n")
    (project.folder / "checks/lint.md").unlink()
    project.repo.write("CLAUDE.md", "b\n")
    assert project.lines() == [
        "source removed  check lint (checks/lint.md)",
        "source added    rule security (rules/security.md)",
        'source changed  skill api/pack (domains/api/skills/pack): version "" -> "2"',
        "output changed  output CLAUDE.md",
    ]


@pytest.mark.case("lock:I3")
def test_a_digest_edited_by_hand(project: LockProject) -> None:
    """The lock is named first, and the item shows as changed."""
    lock = project.base().lock()
    edited = tuple(replace(item, digest="sha256:0") if item.kind == "check" else item for item in lock.items)
    project.save(replace(lock, items=edited))
    assert project.lines() == [
        "lock: the tree digest does not match the pins in the lock; it was edited by hand",
        "source changed  check lint (checks/lint.md)",
    ]


@pytest.mark.case("lock:I4")
@pytest.mark.case("lock:Y4")
@pytest.mark.parametrize("config", ["", "[lock]\nenforce = true\n", "[lock]\nenforce = false\n"])
def test_a_lock_without_content_pins(repo: Repo, config: str) -> None:
    """Never in sync, whatever enforce says."""
    project = LockProject(repo, config).base()
    project.save(Lock())
    report = project.check()
    assert report.no_content_pins
    assert [str(change) for change in report.changes] == [
        "lock: ai-rulez.lock (version 1) has no content pins, so authored content is not verified; "
        "run `reqfile lock` to pin it"
    ]


@pytest.mark.case("lock:I5")
def test_a_lock_of_other_settings(repo: Repo) -> None:
    """Scope, outputs and profile: one change each, though nothing else differs."""
    project = LockProject(repo, '[lock]\nscope = "skills"\n')
    project.lock()
    project.config("")
    assert project.lines() == [
        'lock: the lock was written with scope "skills", [lock] scope is "all"',
        "lock: the lock was written with outputs pinned = false, [lock] include_outputs is true",
    ]
    project.lock()
    project.config("[lock]\ninclude_outputs = false\n")
    assert project.lines() == ["lock: the lock was written with outputs pinned = true, [lock] include_outputs is false"]
    project.config("[profiles]\np = []\n")
    report = project.check(CheckOptions(profile="p"))
    assert [str(change) for change in report.changes] == [
        'lock: the lock pins outputs of profile "", this check rendered "p"'
    ]


@pytest.mark.case("lock:I8")
def test_sources_only() -> None:
    """No word about outputs and profile, but about the scope."""
    lock = _whole(Lock(items=(STYLE,), scope="skills", profile="p", outputs=(OutputPin(path="a", digest="d"),)))
    pins = Pins(items=(STYLE,), problems=())
    present = Present(pins=pins, outputs=Outputs(pins=(), listed="x"), sources_only=True, profile="q")
    assert [str(change) for change in compare_content(lock, "ai-rulez.lock", present)] == [
        'lock: the lock was written with scope "skills", [lock] scope is "all"'
    ]


@pytest.mark.case("lock:I9")
@pytest.mark.case("lock:I10")
def test_moved_and_merely_renamed_owners() -> None:
    """Another path of the same digest is a move; owner and version alone are nothing."""
    moved = replace(STYLE, path="rules/new/style.md")
    (change,) = compare_items((STYLE,), (moved,))
    assert str(change) == "source changed  rule style (rules/new/style.md): moved from rules/style.md"
    assert compare_items((STYLE,), (replace(STYLE, owner="x", version="2"),)) == []


@pytest.mark.case("lock:I12")
def test_problems_come_first() -> None:
    """Then what is wrong with the lock itself."""
    present = Present(pins=Pins(items=(), problems=("p1", "p2")), include_outputs=False)
    lock = Lock(items=(STYLE,))
    details = [change.detail for change in sorted_changes(compare_content(lock, "x", present)) if change.detail]
    assert details == ["p1", "p2", "the lock has content pins but no tree digest; run `reqfile lock` to rewrite it"]


@pytest.mark.case("lock:I16")
def test_what_may_be_edited(project: LockProject) -> None:
    """Informational keys and records are outside of the tree."""
    lock = project.base().lock()
    items = tuple(replace(item, owner="x", version="y") for item in lock.items)
    approval = Approval(
        kind="rule", id="tone", digest="d", reviewer="k", assurance="asserted", approved_at="2026-01-01"
    )
    scan = Scan(scanner="s", tree="t", findings=1, result="fail")
    project.save(replace(lock, items=items, ai_rulez_version="9", approvals=(approval,), scans=(scan,)))
    assert project.lines() == []
    moved = tuple(replace(item, path=f"x/{item.path}") for item in lock.items)
    assert tree_of(replace(lock, items=moved)) == lock.tree
    project.save(replace(lock, items=moved))
    assert [line.partition(": ")[2] for line in project.lines()] == [f"moved from x/{item.path}" for item in lock.items]


@pytest.mark.case("lock:I17")
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (Change(scope="lock", change="changed", detail="d"), "lock: d"),
        (Change(scope="remote", change="changed", kind="include", id="a", detail="d"), "remote include a: d"),
        (Change(scope="served", change="changed", id="a (view v)", detail="d"), "served a (view v): d"),
        (Change(scope="source", change="added", kind="rule", id="a"), "source added    rule a"),
        (
            Change(scope="source", change="removed", kind="skill", id="a", domain="b", path="c"),
            "source removed  skill b/a (c)",
        ),
        (Change(scope="output", change="changed", path="C.md"), "output changed  output C.md"),
        (
            Change(scope="output", change="removed", kind="role", id="r", detail="d"),
            "output removed  outputs of role r: d",
        ),
    ],
)
def test_lines_of_every_scope(change: Change, line: str) -> None:
    """The documented forms."""
    assert str(change) == line


@pytest.mark.case("lock:I18")
def test_json_of_a_report() -> None:
    """Keys in order, empty ones left out, ``changes`` never null, notes last; and back from its wire form."""
    changes = (
        Change(scope="source", change="changed", kind="rule", id="a", path="p", old="o", new="n", detail='"1" -> "2"'),
        Change(scope="output", change="changed", kind="role", id="r", files=(("b", "2"), ("a", "1"))),
    )
    report = Report(name="ai-rulez.lock", changes=changes, notes=("n",), lock_version=1, looked_at={"lock": 1})
    assert report.as_json() == (
        '{\n  "schema_version": 1,\n  "in_sync": false,\n  "lock_version": 1,\n  "changes": [\n    {\n'
        '      "scope": "source",\n      "change": "changed",\n      "kind": "rule",\n      "id": "a",\n'
        '      "path": "p",\n      "old": "o",\n      "new": "n",\n      "detail": "\\"1\\" -\\u003e \\"2\\""\n    },\n'
        '    {\n      "scope": "output",\n      "change": "changed",\n      "kind": "role",\n      "id": "r",\n'
        '      "files": {\n        "a": "1",\n        "b": "2"\n      }\n    }\n  ],\n  "notes": [\n    "n"\n  ]\n}\n'
    )
    empty = Report(name="x", lock_version=2, lock_ai_rulez_version="5.0.0", no_content_pins=True, looked_at={})
    assert empty.as_json() == (
        '{\n  "schema_version": 1,\n  "in_sync": true,\n  "no_content_pins": true,\n  "lock_version": 2,\n'
        '  "lock_ai_rulez_version": "5.0.0",\n  "changes": []\n}\n'
    )
    assert report_from_wire(json.loads(json.dumps(report_to_wire(report)))) == report


@pytest.mark.case("lock:Y50")
@pytest.mark.case("lock:Y51")
@pytest.mark.case("lock:Y52")
@pytest.mark.case("lock:Y54")
def test_changes_of_one_kind() -> None:
    """Two of content, one of each kind of entries; what is wrong with the lock concerns all."""
    changes = (
        Change(scope="source", change="added", kind="rule", id="a"),
        Change(scope="output", change="added", path="b"),
        *(Change(scope="remote", change="changed", kind=kind, id="c", detail="d") for kind in ("include", "source")),
        Change(scope="served", change="changed", kind="served", id="e", detail="d"),
    )
    report = Report(name="x", changes=changes, looked_at={})
    kinds: tuple[KindLimit, ...] = ("content", "include", "source", "served", "skill")
    assert [len(report.limited_to(kind).changes) for kind in kinds] == [2, 1, 1, 1, 0]
    broken = replace(report, changes=(Change(scope="lock", change="changed", detail="d"),))
    assert not broken.limited_to("include").in_sync


@pytest.mark.case("lock:H17")
def test_an_output_edited_by_hand_is_red(project: LockProject) -> None:
    """Ours reads the disk; the docs say so."""
    _generated(project, **{"CLAUDE.md": "a\n", "AGENTS.md": "b\n"})
    project.lock()
    project.repo.write("CLAUDE.md", "edited\n")
    project.repo.path("AGENTS.md").unlink()
    project.repo.write("new.md", "x")
    _generated_again = ["CLAUDE.md", "AGENTS.md", "new.md"]
    project.write(".generated-manifest.json", json.dumps({"files": _generated_again}))
    assert project.lines() == [
        "output removed  output AGENTS.md: it is not on disk; run `ai-rulez generate`",
        "output changed  output CLAUDE.md",
        "output added    output new.md",
    ]


def _source(**keys: str) -> Source:
    text = "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in {"name": "a", "source": "https://h/r", **keys}.items()
    )
    found = read_source("includes", Declared(node=read_toml(text, "x"), path="x"), Problems("x"))
    assert found is not None
    return found


ENTRY = Entry(name="a", source="https://h/r", commit="c", digest="d", ref="main")


@pytest.mark.case("lock:K1")
@pytest.mark.case("lock:K2")
@pytest.mark.parametrize(
    ("keys", "covered"),
    [
        ({"ref": "main"}, True),
        ({"ref": "dev"}, False),
        ({"ref": "main", "path": "skills/b"}, False),
        ({"ref": "main", "source": "https://other/r"}, False),
        ({"ref": "main", "source": "https://user:tok@h/r"}, True),
    ],
)
def test_covers(keys: dict[str, str], covered: bool) -> None:
    """Source, ref and path must be those of the configuration."""
    assert covers(ENTRY, _source(**keys)) is covered


@pytest.mark.case("lock:K4")
@pytest.mark.parametrize(
    ("locked", "source", "covered"),
    [
        ("file:///a/r", "file:///a/r", True),
        ("file:///home/x/r", "file://../r", True),
        ("file:///a/b/r/", "file:///c/r", True),
        ("file:///a/r", "git+file:///a/r", False),
        ("git+file:///a/r", "git+file:///b/r", True),
        ("file:///a/r", "file:///a/q", False),
    ],
)
def test_file_urls(locked: str, source: str, covered: bool) -> None:
    """Old locks hold paths of one machine: the last element decides."""
    assert covers(replace(ENTRY, source=locked), _source(ref="main", source=source)) is covered


@pytest.mark.case("lock:K7")
@pytest.mark.parametrize(
    ("entry", "keys", "covered"),
    [
        ({"ref": "^1.2", "tag": "v1.2.4"}, {"version": "^1.2"}, True),
        ({"ref": "^1.2", "tag": "v1.2.4"}, {"ref": "^1.2"}, True),
        ({"ref": "^1.2", "tag": "v1.2.4"}, {"version": "^2"}, False),
        ({"ref": "^1.2", "tag": "v1.2.4"}, {"version": "^1.2", "tag_prefix": "x/"}, False),
        ({"ref": "^1.2"}, {"version": "^1.2"}, False),
    ],
)
def test_ranges(entry: dict[str, str], keys: dict[str, str], covered: bool) -> None:
    """A constraint needs a recorded tag that still fits."""
    assert covers(replace(ENTRY, **entry), _source(**keys)) is covered


@pytest.mark.case("lock:X11")
@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("https://user:tok@h/r", "https://h/r"),
        ("https://tok@h/r", "https://h/r"),
        ("ssh://git@h/r", "ssh://git@h/r"),
        ("ssh://git:pw@h/r", "ssh://h/r"),
        ("git@h:o/r", "git@h:o/r"),
        ("https://h/r@v1", "https://h/r@v1"),
    ],
)
def test_credentials_are_removed(source: str, shown: str) -> None:
    """From every URL; the user of ssh is part of the address."""
    assert redacted(source) == shown


REMOTES = (
    '[[includes]]\nname = "inc"\nsource = "https://h/inc"\nref = "main"\n'
    '[[installed_skills]]\nname = "sk"\nsource = "https://h/sk"\n'
)


def _resolved(source: Source, old: Entry | None) -> Entry:
    del old
    return Entry(
        name=source.name,
        source=source.source,
        commit="c" * 40,
        digest="sha256:0",
        ref=source.ref,
        path=f"skills/{source.name}" if source.table == "installed_skills" else "",
    )


@pytest.mark.case("lock:X7")
def test_no_lock_and_two_remotes(repo: Repo) -> None:
    """Each is not pinned."""
    assert LockProject(repo, REMOTES).lines() == [
        "remote include inc: not pinned: ai-rulez.lock does not exist",
        "remote skill sk: not pinned: ai-rulez.lock does not exist",
    ]


@pytest.mark.case("lock:X8")
@pytest.mark.case("lock:X9")
@pytest.mark.case("lock:X14")
@pytest.mark.case("lock:X5")
@pytest.mark.case("lock:Y9")
def test_remotes_against_the_cache(repo: Repo, tmp_path: Path) -> None:
    """Equal, another commit, tampered with, not there: the last is noted, and outputs are compared all the same."""
    project = LockProject(repo, REMOTES)
    tree = tmp_path / "tree"
    (tree / "rules").mkdir(parents=True)
    (tree / "rules/a.md").write_text("# A\n")
    digest = Hasher().directory("include", tree)
    project.lock(resolve=lambda source, old: replace(_resolved(source, old), digest=digest))
    report = project.check()
    assert (report.changes, report.notes) == (
        (),
        (
            "include inc not cached, so its content was not compared; `reqfile lock --fetch` brings it",
            "skill sk not cached, so its content was not compared; `reqfile lock --fetch` brings it",
        ),
    )
    project.cached["inc"] = CachedTree(folder=tree, commit="c" * 40)
    assert len(project.check().notes) == 1
    project.cached["inc"] = CachedTree(folder=tree, commit="e" * 40)
    assert project.lines() == [f"remote include inc: cache is at commit {'e' * 40}, lock records {'c' * 40}"]
    project.cached["inc"] = CachedTree(folder=tree)
    (tree / "rules/a.md").write_text("# B\n")
    tampered = Hasher().directory("include", tree)
    assert project.lines() == [
        f"remote include inc: cached content digest {tampered} does not match the lock's {digest}"
    ]
    project.cached["inc"] = CachedTree(folder=tree / "nowhere")
    (line,) = project.lines()
    assert line.startswith("remote include inc: cannot digest the cached content: digest directory: ")


def test_stale_and_unconfigured_entries(repo: Repo) -> None:
    """An edited ref, an entry missing, one too many; each names its source."""
    project = LockProject(repo, REMOTES)
    project.lock(resolve=_resolved)
    project.config(REMOTES.replace('"main"', '"dev"') + '[[includes]]\nname = "new"\nsource = "https://h/new"\n')
    lock = project.read()
    assert lock is not None
    project.save(_whole(replace(lock, sources=(Entry(name="old", source="s", commit="c", digest="d"),))))
    assert project.lines() == [
        "remote include inc: lock is stale: source, path or ref changed since it was written",
        "remote include new: not covered by the lock",
        "remote source old: in the lock but no longer configured",
    ]


@pytest.mark.case("lock:Y5")
@pytest.mark.case("lock:Y22")
def test_content_only_keeps_remote_pins(repo: Repo) -> None:
    """Entries byte for byte, items new; without it, what cannot be fetched refuses the whole write."""
    project = LockProject(repo, REMOTES).base()
    before = project.lock(resolve=_resolved)
    project.write("rules/tone.md", "# New\n")
    after = project.lock(LockRequest(content_only=True))
    assert (after.includes, after.skills) == (before.includes, before.skills)
    assert after.items != before.items
    assert project.check().in_sync
    data = (project.folder / "ai-rulez.lock").read_bytes()
    with pytest.raises(UnresolvedError) as caught:
        project.lock()
    assert str(caught.value).split("\n")[0] == "cannot write ai-rulez.lock:"
    assert [line.partition(" could not be resolved: ")[0] for line in str(caught.value).split("\n")[1:]] == [
        '  include "inc"',
        '  skill "sk"',
    ]
    assert (project.folder / "ai-rulez.lock").read_bytes() == data


@pytest.mark.case("lock:Y18")
@pytest.mark.case("lock:Y20")
def test_a_partial_run(repo: Repo) -> None:
    """One entry anew; without a lock it has no content pins, with one they are kept as they are."""
    project = LockProject(repo, REMOTES).base()
    lock = project.lock(LockRequest(names=("inc",)), resolve=_resolved)
    assert ([entry.name for entry in lock.includes], lock.items, lock.tree) == (["inc"], (), "")
    assert project.check().no_content_pins
    full = project.lock(resolve=_resolved)
    project.write("rules/tone.md", "# New\n")

    def moved(source: Source, old: Entry | None) -> Entry:
        return replace(_resolved(source, old), commit="d" * 40)

    partial = project.lock(LockRequest(kind="skill"), resolve=moved)
    assert (partial.items, partial.includes) == (full.items, full.includes)
    assert partial.skills[0].commit == "d" * 40
    assert partial.tree == tree_of(partial) != full.tree
    with pytest.raises(UsageError) as caught:
        project.lock(LockRequest(names=("ghost",)), resolve=moved)
    assert str(caught.value) == (
        f'"ghost" is not a remote include, installed skill, skill source or served skill in {project.folder}'
    )


@pytest.mark.case("lock:X51")
@pytest.mark.case("lock:X52")
def test_names_in_the_cache() -> None:
    """Safe as a part of a path."""
    assert [safe_name(name) for name in ("a/b c", "..", "...", "")] == ["a_b_c", "include", "include", "include"]


@pytest.mark.case("lock:X54")
@pytest.mark.case("lock:X55")
def test_urls_in_the_cache() -> None:
    """Spellings of one repository share a folder, ``.git`` and other names do not."""
    same = {include_folder("n", url) for url in ("https://h/r", "https://h/r/", "git@h:r", "ssh://git@h/r")}
    assert len(same) == 1
    assert include_folder("n", "https://h/r.git") not in same
    assert include_folder("m", "https://h/r") not in same


def test_what_ai_rulez_fetched_is_found(tmp_path: Path) -> None:
    """An include by its content folder and recorded commit, a skill source by its commit, nothing else."""
    cache = AiRulezCache(tmp_path)
    source = _source(ref="main")
    assert cache.find(source, ENTRY) is None
    checkout = tmp_path / "includes" / include_folder("a", "https://h/r")
    (checkout / ".ai-rulez/rules").mkdir(parents=True)
    (checkout / ".cache_meta.json").write_text('{"remote_head_sha": "abc"}')
    assert cache.find(source, ENTRY) == CachedTree(folder=checkout / ".ai-rulez", commit="abc")
    (checkout / ".cache_meta.json").write_text("[")
    assert cache.find(source, ENTRY) == CachedTree(folder=checkout / ".ai-rulez")
    commit = "c" * 40
    tree = tmp_path / "skill-sources" / source_folder("https://h/r", commit)
    tree.mkdir(parents=True)
    fetched = replace(source, table="skill_sources")
    assert cache.find(fetched, replace(ENTRY, commit=commit)) == CachedTree(folder=tree, commit=commit)
    assert cache.find(fetched, replace(ENTRY, commit=f"../{tree.parent.parent.name}/{commit}")) is None
    assert cache.find(replace(source, table="installed_skills"), ENTRY) is None
    assert AiRulezCache(None).find(source, ENTRY) is None


def test_skill_sources_by_url(repo: Repo) -> None:
    """``url`` is their key (seed 001 "Version constraints")."""
    project = LockProject(repo, '[[skill_sources]]\nname = "acme"\nurl = "https://h/skills"\nref = "v1"\n')
    assert project.lines() == ["remote source acme: not pinned: ai-rulez.lock does not exist"]
    project.lock(resolve=_resolved)
    assert project.check().in_sync
    project.config('[[skill_sources]]\nname = "acme"\nurl = "https://h/other"\nref = "v1"\n')
    assert project.lines() == ["remote source acme: lock is stale: url, path or ref changed since it was written"]
