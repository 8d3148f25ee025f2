"""``reqfile lock`` as a process: exit codes, texts, files (cases Y, M, Z; spec/lock.md 5, 10)."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Approval, Deny, Entry, Lock, OutputPin, Scan
from tests.support.locks import LockProject
from tests.support.repo import Repo

HINT = "run `reqfile lock` to refresh it (after reviewing the change with `reqfile lock --diff`)\n"


@pytest.fixture
def project(repo: Repo) -> LockProject:
    return LockProject(repo).base()


def _bytes(project: LockProject) -> bytes:
    return (project.folder / "ai-rulez.lock").read_bytes()


@pytest.mark.case("lock:Y1")
@pytest.mark.case("lock:Y16")
@pytest.mark.case("lock:Y24")
@pytest.mark.case("lock:Y26")
@pytest.mark.case("lock:Y40")
def test_write_twice_and_check(project: LockProject) -> None:
    """The same bytes; in sync; a check writes nothing."""
    project.repo.write("CLAUDE.md", "x\n")
    project.write(".generated-manifest.json", '{"files": ["CLAUDE.md"]}')
    done = project.repo.run("lock")
    lock = project.read()
    assert lock is not None
    assert (done.code, done.err) == (0, "")
    assert done.out == f"pinned 8 item(s) and 1 output(s), tree {lock.tree}\n"
    first = _bytes(project)
    for key in (b"version = 1", b"ai_rulez_version = '5.0.0'", b"scope = 'all'", b"outputs_pinned = true", b"tree = "):
        assert b"\n" + key in first
    assert project.repo.run("lock").code == 0
    assert _bytes(project) == first
    facts = (project.folder / "ai-rulez.lock").stat()
    check = project.repo.run("lock", "--check")
    assert (check.code, check.out, check.err) == (0, f"Lock file is up to date ({project.folder})\n", "")
    after = (project.folder / "ai-rulez.lock").stat()
    assert (facts.st_mtime_ns, facts.st_ino) == (after.st_mtime_ns, after.st_ino)


@pytest.mark.case("lock:Y2")
def test_check_names_source_and_output(project: LockProject) -> None:
    """Exit 2; lines on stdout, what to do on stderr; from a folder below, too."""
    project.repo.write("CLAUDE.md", "x\n")
    project.write(".generated-manifest.json", '{"files": ["CLAUDE.md"]}')
    project.lock()
    project.write("rules/tone.md", "y")
    project.repo.write("CLAUDE.md", "y\n")
    done = project.repo.run("lock", "--check", cwd=".ai-rulez/rules")
    assert done.code == 2
    assert done.out == (
        f"ai-rulez.lock does not match {project.folder}:\n"
        "  source changed  rule tone (rules/tone.md)\n"
        "  output changed  output CLAUDE.md\n"
    )
    assert done.err == HINT
    as_json = project.repo.run("lock", "--check", "--format", "json")
    document = json.loads(as_json.out)
    assert (as_json.code, as_json.err) == (2, "")
    assert list(document) == ["schema_version", "in_sync", "lock_version", "lock_ai_rulez_version", "changes"]
    assert [change["scope"] for change in document["changes"]] == ["source", "output"]


@pytest.mark.case("lock:Y14")
@pytest.mark.parametrize(
    ("config", "code"), [("", 1), ("[lock]\nenforce = false\n", 1), ("[lock]\nenforce = true\n", 2)]
)
def test_check_without_a_lock(project: LockProject, config: str, code: int) -> None:
    """Nothing to check is not in sync; enforced, it is a difference."""
    project.config(config)
    done = project.repo.run("lock", "--check")
    assert done.code == code
    if code == 1:
        expected = f"error: no ai-rulez.lock in {project.folder}: nothing to check; run `reqfile lock` to create it\n"
        assert (done.out, done.err) == ("", expected)
    else:
        assert done.out == (
            f"ai-rulez.lock does not match {project.folder}:\n"
            "  lock: ai-rulez.lock does not exist but [lock] enforce = true; run `reqfile lock`\n"
        )


@pytest.mark.case("lock:Y30")
def test_diff(project: LockProject) -> None:
    """Always exit 0: without a lock it shows what one would pin, as documented."""
    done = project.repo.run("lock", "--diff")
    first, *lines = done.out.splitlines()
    assert (done.code, len(lines)) == (0, 8)
    assert first == f"no ai-rulez.lock in {project.folder}; `reqfile lock` would pin:"
    project.lock()
    assert project.repo.run("lock", "--diff").out == "ai-rulez.lock matches the sources and outputs\n"
    project.write("rules/tone.md", "y")
    done = project.repo.run("lock", "--diff")
    assert (done.code, done.out, done.err) == (0, "  source changed  rule tone (rules/tone.md)\n", "")
    assert json.loads(project.repo.run("lock", "--diff", "--format", "json").out)["in_sync"] is False


@pytest.mark.case("lock:Y21")
@pytest.mark.parametrize("text", ["version = 7\n", "version = [\n"])
def test_a_lock_that_cannot_be_read(project: LockProject, text: str) -> None:
    """Every command exits 1 with the way out, and the file stays."""
    project.write("ai-rulez.lock", text)
    for arguments in ((), ("--check",), ("--diff",), ("--subject",), ("--content-only",)):
        done = project.repo.run("lock", *arguments)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: .ai-rulez/ai-rulez.lock:1: ")
        assert "delete it and run `reqfile lock`" in done.err
    assert _bytes(project) == text.encode()


@pytest.mark.case("lock:J6")
@pytest.mark.case("lock:Y21")
def test_a_symlinked_lock(project: LockProject, tmp_path: Path) -> None:
    """Reading refuses it, writing replaces it and leaves its target alone (design 3)."""
    target = tmp_path / "elsewhere.lock"
    target.write_text("version = 1\n")
    (project.folder / "ai-rulez.lock").symlink_to(target)
    for arguments in (("--check",), ("--diff",), ("--subject",)):
        done = project.repo.run("lock", *arguments)
        assert (done.code, "delete it and run `reqfile lock`" in done.err) == (1, True)
    done = project.repo.run("lock")
    assert (done.code, done.err) == (
        0,
        "warning: .ai-rulez/ai-rulez.lock was a symbolic link: it is replaced, and its pins were not read\n",
    )
    assert not (project.folder / "ai-rulez.lock").is_symlink()
    assert target.read_text() == "version = 1\n"
    assert project.repo.run("lock", "--check").code == 0


@pytest.mark.case("lock:J7")
def test_a_symlinked_configuration_folder(project: LockProject) -> None:
    """Nothing is written through it."""
    project.folder.rename(project.repo.path("real"))
    project.repo.symlink(".ai-rulez", "real")
    done = project.repo.run("lock")
    assert (done.code, done.err) == (
        1,
        "error: .ai-rulez/ai-rulez.lock: read lock file: .ai-rulez: cannot read: a symbolic link\n",
    )
    assert not project.repo.path("real/ai-rulez.lock").exists()


@pytest.mark.case("lock:Y11")
@pytest.mark.case("lock:Y12")
@pytest.mark.case("lock:Y56")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kind", "x"), 'unknown --kind "x" (use include, skill, source or served)'),
        (("--format", "json"), "--format applies to --check, --diff, --outdated and --subject only"),
        (("--check", "--format", "xml"), 'unknown --format "xml" (use text or json)'),
        (("--check", "--diff"), "--check and --diff are mutually exclusive"),
        (("--output", "x"), "--output needs --subject"),
        (("--subject", "--output", "x", "-r"), "--output cannot be combined with --recursive: "),
        (("--roles", "--check"), "--roles pins outputs, so it cannot be combined with "),
        (("--roles", "name"), "--roles pins outputs, so it cannot be combined with "),
        (("--subject", "--check"), "--subject only reads the lock, so it cannot be combined with "),
        (("--subject", "name"), "--subject only reads the lock, so it cannot be combined with "),
        (("--content-only", "name"), "--content-only keeps every remote pin, so it cannot be combined with "),
        (("--content-only", "--kind", "include"), "--content-only keeps every remote pin"),
        (("--content-only", "--kind", "skill"), "--content-only keeps every remote pin"),
        (("--content-only", "--kind", "source"), "--content-only keeps every remote pin"),
        (("--content-only", "--check"), "--content-only writes the lock"),
        (("--check", "name"), "--check and --diff compare everything"),
        (("--check", "--kind", "x"), 'unknown --kind "x" (use include, skill, source, served or content)'),
        (("--role", "ghost"), 'unknown role "ghost"'),
        (("ghost",), '"ghost" is not a remote include, installed skill, skill source or served skill in '),
    ],
)
def test_flags_that_do_not_go_together(project: LockProject, arguments: tuple[str, ...], message: str) -> None:
    """Refused with exit 1: 2 would mean a difference. Nothing is written."""
    done = project.repo.run("lock", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {message}")
    assert not (project.folder / "ai-rulez.lock").exists()


@pytest.mark.case("lock:Y12")
def test_content_only_of_served_skills_is_partial(project: LockProject) -> None:
    """Allowed; content pins are copied, not recomputed."""
    lock = project.lock()
    project.write("rules/tone.md", "new")
    assert project.repo.run("lock", "--content-only", "--kind", "served").code == 0
    after = project.read()
    assert after is not None
    assert after.items == lock.items


def test_an_unknown_flag_is_no_difference(project: LockProject) -> None:
    """Exit 1 from the argument parser, too."""
    assert project.repo.run("lock", "--chek").code == 1


@pytest.mark.case("lock:M5")
@pytest.mark.case("lock:M6")
def test_subject(project: LockProject) -> None:
    """A line, a statement, a file; refused for a lock without pins (1) or edited by hand (2)."""
    assert project.repo.run("lock", "--subject").err == "error: ai-rulez.lock has no content pins to sign\n"
    lock = project.lock()
    done = project.repo.run("lock", "--subject")
    digest = done.out.split("  ")[0]
    assert done.out == (
        f"{digest}  (lock-subject/v1; tree {lock.tree}, approvals none, hash_version 1, scope all, "
        "outputs_pinned true)\n"
    )
    written = [project.repo.run("lock", "--subject", "--output", f"{name}.json") for name in "ab"]
    assert [(one.code, one.out, one.err) for one in written] == [(0, done.out, f"wrote {n}.json\n") for n in "ab"]
    statement = project.repo.path("a.json").read_bytes()
    assert statement == project.repo.path("b.json").read_bytes()
    assert statement.decode() == (
        f'{{\n  "schema_version": 1,\n  "type": "ai-rulez/lock-subject/v1",\n  "subject": "{digest}",\n'
        f'  "tree": "{lock.tree}",\n  "approvals_digest": "",\n  "hash_version": 1,\n  "scope": "all",\n'
        '  "outputs_pinned": true\n}\n'
    )
    assert project.repo.run("lock", "--subject", "--format", "json").out == statement.decode()
    before = _bytes(project)
    for path in (".ai-rulez/ai-rulez.lock", "./.ai-rulez/rules/../ai-rulez.lock"):
        done = project.repo.run("lock", "--subject", "--output", path)
        assert (done.code, done.err) == (1, f"error: --output {path} is the lock itself: name another file\n")
    assert _bytes(project) == before
    project.save(Lock())
    assert project.repo.run("lock", "--subject").code == 1
    project.save(replace(lock, tree="sha256:0"))
    edited = project.repo.run("lock", "--subject", "--output", "c.json")
    assert (edited.code, edited.out) == (2, "")
    assert edited.err == (
        "error: the tree digest of ai-rulez.lock does not match its entries (edited by hand?); "
        "refusing to compute a subject\n"
    )
    assert not project.repo.path("c.json").exists()


@pytest.mark.case("lock:Y25")
def test_the_profile_of_the_lock(project: LockProject) -> None:
    """Recorded once, then used without asking; one that is not defined is refused, and shows when it goes away."""
    project.config("[profiles]\np = []\nq = []\n")
    assert project.repo.run("lock", "--profile", "p").code == 0
    assert project.repo.run("lock").code == 0
    assert project.repo.run("lock", "--check").code == 0
    assert b"profile = 'p'" in _bytes(project)
    other = project.repo.run("lock", "--check", "--profile", "q")
    assert (other.code, 'of profile "p", this check rendered "q"' in other.out) == (2, True)
    for arguments in ((), ("--check",), ("--diff",)):
        ghost = project.repo.run("lock", *arguments, "--profile", "ghost")
        assert (ghost.code, ghost.err) == (1, 'error: profile "ghost" is not defined (defined: p, q)\n')
    project.config("[profiles]\nq = []\n")
    gone = project.repo.run("lock", "--check")
    assert gone.out.splitlines()[1:] == [
        '  lock: the lock pins outputs of profile "p": profile "p" is not defined (defined: q)'
    ]
    again = project.repo.run("lock")
    assert (again.code, again.err) == (
        1,
        'error: profile "p" is not defined (defined: q); the lock pins its outputs: name another with --profile\n',
    )
    assert project.repo.run("lock", "--profile", "q").code == 0
    assert project.repo.run("lock", "--check").code == 0


RECORD = Approval(
    kind="rule", id="tone", digest="d", reviewer="kim", assurance="asserted", approved_at="2026-01-01T00:00:00Z"
)


@pytest.mark.case("lock:Y28")
def test_approvals_are_carried(project: LockProject) -> None:
    """One of a rule that is gone is dropped with a warning; scan records go with the content they speak of."""
    gone = replace(RECORD, id="gone")
    scan = Scan(scanner="s", tree="t", findings=0, result="pass")
    lock = replace(project.lock(), approvals=(RECORD, gone), denied=(Deny(digest="x"),), scans=(scan,))
    project.save(lock)
    done = project.repo.run("lock")
    assert done.err == "warning: AR715 approval of rule:gone by kim dropped: it is not pinned\n"
    assert project.read() == replace(lock, approvals=(RECORD,))
    project.write("rules/tone.md", "new")
    done = project.repo.run("lock")
    assert done.err == "warning: scan record of s dropped: the content has changed since\n"
    after = project.read()
    assert after is not None
    assert (after.approvals, after.denied, after.scans) == ((RECORD,), (Deny(digest="x"),), ())


def test_denied_content_is_not_pinned(project: LockProject) -> None:
    """AR717: exit 1, the lock untouched."""
    lock = project.lock()
    digest = next(item.digest for item in lock.items if item.key == ("rule", "api", "tone"))
    project.save(replace(lock, denied=(Deny(digest=digest, reason="reads credentials"),)))
    before = _bytes(project)
    done = project.repo.run("lock")
    assert (done.code, done.out) == (1, "")
    assert done.err == ("error: AR717 refusing to pin content on the deny list: rule:api/tone (reads credentials)\n")
    assert _bytes(project) == before


def test_the_other_configuration_folder(repo: Repo) -> None:
    """``.config/ai-rulez`` has its lock beside its configuration."""
    repo.write(".config/ai-rulez/config.toml", 'version = "5.0"\nname = "x"\n')
    repo.write(".config/ai-rulez/rules/a.md", "# A\n")
    assert repo.run("lock").code == 0
    lock = repo.path(".config/ai-rulez/ai-rulez.lock").read_text()
    assert "path = 'rules/a.md'" in lock
    repo.write(".config/ai-rulez/rules/a.md", "# B\n")
    done = repo.run("lock", "--check")
    assert (done.code, "source changed  rule a (rules/a.md)" in done.out) == (2, True)


@pytest.mark.case("lock:Z5")
def test_recursive(repo: Repo) -> None:
    """Every project of the repository below here; the worst code counts: 1, then 2."""
    inner, outer = Repo.__new__(Repo), LockProject(repo).base()
    inner.__dict__.update({**repo.__dict__, "root": repo.path("app")})
    app = LockProject(inner).base()
    assert repo.run("lock", "-r").code == 0
    assert outer.read() is not None
    assert app.read() is not None
    assert repo.run("lock", "-r", "--check").out.count("up to date") == 2
    app.write("rules/tone.md", "new")
    assert repo.run("lock", "-r", "--check").code == 2
    outer.write("ai-rulez.lock", "[")
    assert repo.run("lock", "-r", "--check").code == 1
    assert repo.run("lock", "-r", "--check", cwd="app").code == 2


def test_which_of_several_is_meant(repo: Repo) -> None:
    """Of several locks every line, document and error says to which it belongs."""
    for folder in ("a", "b"):
        repo.write(f"{folder}/.ai-rulez/config.toml", 'version = "5.0"\nname = "x"\n')
        repo.write(f"{folder}/.ai-rulez/rules/tone.md", "# Tone\n")
    locks = [f"{repo.root}/{folder}/.ai-rulez/ai-rulez.lock" for folder in "ab"]
    done = repo.run("lock", "-r")
    assert [line for line in done.out.splitlines() if not line.startswith("pinned 1 item(s)")] == [
        f"{lock}:" for lock in locks
    ]
    repo.write("b/.ai-rulez/rules/tone.md", "# New\n")
    assert repo.run("lock", "-r", "--diff").out == (
        f"{locks[0]}:\nai-rulez.lock matches the sources and outputs\n"
        f"{locks[1]}:\n  source changed  rule tone (rules/tone.md)\n"
    )
    text, found = repo.run("lock", "-r", "--check", "--format", "json").out, []
    while text.strip():
        document, end = json.JSONDecoder().raw_decode(text.lstrip())
        found.append((document["lock"], document["in_sync"]))
        text = text.lstrip()[end:]
    assert found == [(locks[0], True), (locks[1], False)]
    assert repo.run("lock", "-r", "--subject").out.splitlines()[::2] == [f"{lock}:" for lock in locks]
    repo.write("b/.ai-rulez/config.toml", "version = \n")
    done = repo.run("lock", "-r", "--check")
    assert (done.code, done.err) == (1, "error: b/.ai-rulez/config.toml:1: invalid TOML: Invalid value\n")
    assert repo.run("lock", "--check", cwd="b").err == "error: .ai-rulez/config.toml:1: invalid TOML: Invalid value\n"
    lone = json.loads(repo.run("lock", "-r", "--check", "--format", "json", cwd="a").out)
    assert "lock" not in lone  # the document is ai-rulez's where there is one


GENERATOR = """#!/bin/sh
test "$1 $2" = "generate --role" || exit 9
printf '%s' "for $3 $(cat .ai-rulez/rules/tone.md)" > CLAUDE.md
printf '{}' > .claude-x.json
mkdir -p .claude && printf '{}' > .claude/settings.json
printf '{"files": ["CLAUDE.md"]}' > .ai-rulez/.generated-manifest.json
"""


@pytest.mark.case("lock:H10")
@pytest.mark.case("lock:H12")
def test_roles_with_a_generator(project: LockProject, tmp_path: Path) -> None:
    """Rendered in a copy, pinned as one digest, compared on request; without a generator said to be unchecked."""
    program = tmp_path / "ai-rulez"
    program.write_text(GENERATOR)
    program.chmod(0o755)
    project.config('[[roles]]\nname = "ops"\n[[roles]]\nname = "web"\npin = true\n')
    refused = project.repo.run("lock")
    assert (refused.code, "role web cannot be pinned: only ai-rulez renders them" in refused.err) == (1, True)
    done = project.repo.run("lock", "--role", "ops", "--generator", str(program))
    lock = project.read()
    assert lock is not None
    assert [(pin.role, pin.requested) for pin in lock.role_pins] == [("ops", True), ("web", False)]
    assert [line.split(" sha256")[0] for line in done.out.splitlines()[1:]] == [
        "pinned outputs of role ops",
        "pinned outputs of role web",
    ]
    assert not project.repo.path("CLAUDE.md").exists()
    assert lock.version == 2
    unchecked = project.repo.run("lock", "--check")
    assert (unchecked.code, unchecked.out.count("only ai-rulez renders them")) == (0, 2)
    assert project.repo.run("lock", "--check", "--generator", str(program)).code == 0
    project.write("rules/tone.md", "new")
    diff = project.repo.run("lock", "--diff", "--generator", str(program), "--role", "ops", "--format", "json")
    change = json.loads(diff.out)["changes"][-1]
    assert (change["kind"], change["id"], sorted(change["files"])) == (
        "role",
        "ops",
        [".claude/settings.json", "CLAUDE.md"],
    )
    assert (
        project.repo.run("lock", "--check", "--role", "ghost").err == 'error: role "ghost" is not pinned in the lock\n'
    )
    broken = project.repo.run("lock", "--generator", "/bin/false")
    assert (broken.code, broken.err) == (1, "error: cannot render role ops: /bin/false exited 1\n")


def test_a_generator_sees_no_key(project: LockProject, tmp_path: Path) -> None:
    """It renders what others may write, so it gets the small environment of a verifier's command."""
    program = tmp_path / "ai-rulez"
    program.write_text(f"{GENERATOR}env > {tmp_path}/seen\n")
    program.chmod(0o755)
    project.config('[[roles]]\nname = "web"\npin = true\n')
    hidden = {"OPENROUTER_API_KEY": "k", "GITHUB_TOKEN": "t", "AI_RULEZ_GIT_TOKEN": "t", "NOISE": "n"}
    project.repo.variables |= {**hidden, "CI": "1", "LC_ALL": "C"}
    assert project.repo.run("lock", "--generator", str(program)).code == 0
    seen = {line.partition("=")[0] for line in (tmp_path / "seen").read_text().splitlines()}
    assert {"PATH", "HOME", "CI", "LC_ALL"} <= seen
    assert not seen & set(hidden)


def test_a_check_of_two_roles(project: LockProject) -> None:
    """Every role that is named is looked at, not only the first."""
    project.config('[[roles]]\nname = "ops"\n[[roles]]\nname = "web"\n')
    lock = project.lock()
    pins = tuple(OutputPin(role=role, digest="sha256:1", requested=True) for role in ("ops", "web"))
    project.save(replace(lock, outputs=pins, tree=tree_of(replace(lock, outputs=pins))))
    done = project.repo.run("lock", "--check", "--role", "ops", "--role", "web")
    notes = [
        f"  note: the outputs of role {role} were not compared: only ai-rulez renders them" for role in ("ops", "web")
    ]
    assert (done.code, done.out.splitlines()[1:]) == (0, notes)
    done = project.repo.run("lock", "--check", "--role", "ops", "--role", "ghost")
    assert (done.code, done.err) == (1, 'error: role "ghost" is not pinned in the lock\n')


def test_what_keeps_pins_refuses_edited_ones(project: LockProject) -> None:
    """A new tree digest over pins that nobody looked at would make an edit look as if it had been locked."""
    entry = Entry(name="pack", source=".ai-rulez/skills/pack/SKILL.md", commit="", digest="sha256:1")
    lock = replace(project.lock(), served=(entry,))
    project.save(replace(lock, tree=tree_of(lock), served=(replace(entry, digest="sha256:2"),)))
    before = _bytes(project)
    for arguments in (("--content-only",), ("pack",), ("--kind", "served")):
        done = project.repo.run("lock", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: the tree digest does not match the pins in ai-rulez.lock; it was edited by")
        assert _bytes(project) == before


def test_served_entries_are_carried(project: LockProject) -> None:
    """And said to be unchecked, by write, check and diff, since their bytes take a generator (design 3)."""
    entry = Entry(name="pack", source=".ai-rulez/skills/pack/SKILL.md", commit="", digest="sha256:1")
    remote = Entry(name="far", source="https://h/r", commit="c" * 40, digest="sha256:2")
    lock = replace(project.lock(), served=(remote, entry))
    project.save(replace(lock, tree=tree_of(lock)))
    first = _bytes(project)
    known = "what a server serves is known to ai-rulez alone"
    kept = "{} served skill(s) stay pinned as they were, and were not looked at: " + known
    for arguments in ((), ("--content-only",), ("--kind", "served"), ("--content-only", "--kind", "served"), ("pack",)):
        done = project.repo.run("lock", *arguments)
        count = 1 if arguments == ("pack",) else 2
        assert (done.code, done.err) == (0, f"warning: {kept.format(count)}\n")
        assert done.out.splitlines()[:2] == [f"locked far {'c' * 12} sha256:2", "locked pack  sha256:1"]
        assert _bytes(project) == first
    note = f"2 served skill(s) were not compared: {known} (their sources are compared)"
    for arguments in (("--check",), ("--check", "--kind", "served"), ("--diff",)):
        done = project.repo.run("lock", *arguments)
        assert (done.code, done.out.splitlines()[1:]) == (0, [f"  note: {note}"])
    document = json.loads(project.repo.run("lock", "--check", "--format", "json").out)
    assert (document["in_sync"], document["notes"]) == (True, [note])


def test_served_entries_of_what_is_gone(project: LockProject) -> None:
    """A skill without its file, a view of a role that is gone: nothing can be served so, whoever serves."""
    project.config('[[roles]]\nname = "ops"\n')
    pack = Entry(name="pack", source=".ai-rulez/skills/pack/SKILL.md", commit="", digest="sha256:1")
    gone = replace(pack, name="gone", source=".ai-rulez/skills/gone/SKILL.md")
    views = tuple(replace(pack, view=view) for view in ("profile:gone", "role:gone", "role:ops", "source:x"))
    odd = replace(pack, name="odd", source=".ai-rulez/../../SKILL.md")
    lock = replace(project.lock(), served=(gone, odd, pack, *views))
    project.save(replace(lock, tree=tree_of(lock)))
    done = project.repo.run("lock", "--check")
    assert (done.code, done.out.splitlines()[1:-1]) == (
        2,
        [
            f"  served {name}: in the lock but no longer served"
            for name in ("gone", "odd", "pack (view profile:gone)", "pack (view role:gone)")
        ],
    )
    assert done.out.splitlines()[-1].startswith("  note: 3 served skill(s) were not compared")
    assert project.repo.run("lock").code == 0
    after = project.read()
    assert after is not None
    assert [entry.label for entry in after.served] == ["pack", "pack (view role:ops)", "pack (view source:x)"]
    assert project.repo.run("lock", "--check").code == 0


def test_nothing_to_lock(repo: Repo) -> None:
    """Said, and exit 1."""
    done = repo.run("lock")
    assert (done.code, done.err.startswith("error: nothing to lock: no .ai-rulez project and no Reqfile.yaml")) == (
        1,
        True,
    )


def test_outside_of_git(project: LockProject, tmp_path: Path) -> None:
    """A project needs no repository."""
    shutil.copytree(project.folder, tmp_path / "plain/.ai-rulez")
    assert project.repo.run("lock", cwd=tmp_path / "plain").code == 0
    assert project.repo.run("lock", "--check", cwd=tmp_path / "plain").code == 0
    assert (
        project.repo.run("lock", "-r", cwd=tmp_path / "plain").err
        == "error: --recursive: not inside a git repository\n"
    )


@pytest.mark.case("lock:Y44")
def test_problems_of_the_configuration(project: LockProject) -> None:
    """Every one of them, and exit 1."""
    project.config('[lock]\nscope = "x"\nenforce = 1\n')
    done = project.repo.run("lock")
    assert (done.code, done.err.count("error: .ai-rulez/config.toml:")) == (1, 2)
    assert 'invalid lock scope "x"' in done.err


def test_warnings_name_what_is_not_pinned(project: LockProject) -> None:
    """The write succeeds, the next check is red."""
    project.config('[[hooks]]\nevent = "Stop"\n[[hooks.hooks]]\nscript = "/x.sh"\n')
    project.write(".generated-manifest.json", '{"files": ["gone.md", ".mcp.json"]}')
    done = project.repo.run("lock")
    assert done.code == 0
    assert done.err.splitlines() == [
        "warning: cannot pin part of the configuration; `reqfile lock --check` will fail until it is fixed",
        'warning:   hook Stop:*:0 script "/x.sh" is outside the project, so its content cannot be pinned; '
        "move it into the project",
        "warning: output gone.md is not pinned: .ai-rulez/.generated-manifest.json names it, but it is not on disk; "
        "run `ai-rulez generate`",
        "warning: output .mcp.json is not pinned: a settings document, of which users may own a part",
    ]
    assert project.repo.run("lock", "--check").code == 2


def test_the_cache_is_of_no_consequence(project: LockProject) -> None:
    """Used for checks alone, off with one option, never for writing."""
    project.lock()
    cache = Path(project.repo.variables["REQFILE_CACHE"]) / "lock"
    assert project.repo.run("lock").code == 0
    assert not cache.exists()
    os.utime(project.folder / "skills/pack/assets/x.bin", (0, 0))
    for arguments in ((), ("--no-cache",), ()):
        assert project.repo.run("lock", "--check", *arguments).code == 0
    project.write("skills/pack/assets/x.bin", b"\x01\r\n\x03")
    for arguments in ((), ("--no-cache",)):
        assert project.repo.run("lock", "--check", *arguments).code == 2


def test_role_pins_without_outputs(project: LockProject) -> None:
    """A lock with role pins alone is compared as such."""
    project.config("[lock]\ninclude_outputs = false\n")
    lock = project.lock()
    project.save(replace(lock, outputs=(OutputPin(role="old", digest="d"),), tree=""))
    done = project.repo.run("lock", "--check")
    assert "output removed  outputs of role old: the role is no longer pinned or no longer exists" in done.out
