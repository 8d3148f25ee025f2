"""What a lock cannot look at keeps it red: nothing is in sync because nobody saw it (issue 6; spec/lock.md 2.6)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Entry
from tests.hostile import test_broken_reading as reading
from tests.support.locks import LockProject
from tests.support.repo import Completed, Repo

bound = reading.bound
LOCK = ".ai-rulez/ai-rulez.lock"
SCRIPTS = ".ai-rulez/skills/pack/scripts"
HOOK = '[[hooks]]\nevent = "Stop"\n[[hooks.hooks]]\nscript = "{}"\n'
AGENT = "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: {}\n---\n"
RED = "cannot pin part of the configuration; `reqfile lock --check` will fail until it is fixed"


def lock(repo: Repo, bound: tuple[str, ...], *arguments: str) -> Completed:
    """``reqfile lock`` to whom permissions mean something."""
    return repo.execute(*bound, sys.executable, "-P", "-m", "pytest_reqfile", "lock", *arguments)


def assert_red(project: LockProject, bound: tuple[str, ...], problem: str) -> None:
    """The write warns of the problem, and a check right behind it has it as its one difference."""
    done = lock(project.repo, bound)
    assert (done.code, done.err) == (0, f"warning: {RED}\nwarning:   {problem}\n")
    done = lock(project.repo, bound, "--check")
    assert done.code == 2
    assert done.out == f"ai-rulez.lock does not match {project.folder}:\n  lock: {problem}\n"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A script beyond the repository."""
    script = tmp_path / "beyond.sh"
    script.write_text("echo 1\n")
    return script


@pytest.mark.parametrize(
    ("declared", "who"),
    [(HOOK, 'hook Stop:*:0 script "{}"'), (AGENT, 'agent a frontmatter hook script "{}"')],
    ids=["hook", "frontmatter"],
)
class TestScripts:
    """Scripts of hooks and of frontmatter: code that runs on developers' machines."""

    @staticmethod
    def _project(repo: Repo, declared: str, script: str) -> LockProject:
        if declared == HOOK:
            return LockProject(repo, HOOK.format(script))
        project = LockProject(repo)
        project.write("agents/a.md", AGENT.format(f"./{script}"))
        return project

    def test_a_link_out_of_the_repository(self, repo: Repo, declared: str, who: str, outside: Path) -> None:
        """A script outside of the project, whatever name it has inside."""
        project = self._project(repo, declared, "tools/a.sh")
        repo.symlink("tools/a.sh", str(outside))
        reason = "a symbolic link that leads out of the repository"
        assert_red(project, (), f"{who.format('tools/a.sh')} cannot be pinned: {reason}")

    def test_no_permission(self, repo: Repo, declared: str, who: str, bound: tuple[str, ...]) -> None:
        """It was pinned as one that is not there, so that any change of it was in sync."""
        project = self._project(repo, declared, "tools/a.sh")
        repo.write("tools/a.sh", "echo 1\n", mode=0)
        assert_red(project, bound, f"{who.format('tools/a.sh')} cannot be pinned: Permission denied")

    def test_a_closed_folder(self, repo: Repo, declared: str, who: str, bound: tuple[str, ...]) -> None:
        """Nor is what lies in it."""
        project = self._project(repo, declared, "tools/a.sh")
        repo.write("tools/a.sh", "echo 1\n")
        with reading.closed(repo, "tools"):
            assert_red(project, bound, f"{who.format('tools/a.sh')} cannot be pinned: Permission denied")

    def test_a_pipe(self, repo: Repo, declared: str, who: str) -> None:
        """Nothing that can be read twice, and reading it would block."""
        project = self._project(repo, declared, "a.sh")
        os.mkfifo(repo.path("a.sh"))
        assert_red(project, (), f"{who.format('a.sh')} cannot be pinned: not a regular file")

    @pytest.mark.parametrize("there", ["nothing", "folder", "dangling"])
    def test_what_is_missing_is_no_problem(self, repo: Repo, declared: str, who: str, there: str) -> None:
        """A script that appears later changes the digest (spec/lock.md 2.6)."""
        project = self._project(repo, declared, "a")
        if there == "folder":
            repo.write("a/b", "x")
        elif there == "dangling":
            repo.symlink("a", "nowhere")
        assert (project.lock().items[-1].kind, project.renew().warnings) == (who.partition(" ")[0], ())
        assert project.check().in_sync


@pytest.mark.parametrize("script", [".", "a\\\\b"])
def test_a_script_that_is_no_path(repo: Repo, script: str) -> None:
    """The hook is named, and the rest is pinned."""
    project = LockProject(repo, HOOK.format(script))
    shown = script.replace("\\\\", "\\")
    assert_red(project, (), f'hook Stop:*:0 script "{shown}" cannot be pinned: not the path of a file')


def test_resources_and_rubrics_that_cannot_be_read(repo: Repo, bound: tuple[str, ...]) -> None:
    """Each is told, by the path it has for people, and nothing is written."""
    project = LockProject(repo).base()
    project.write("rubrics/tone/golden/a.json", "{}")
    for path in ("skills/pack/scripts/go.sh", "rules/tone.md"):
        (project.folder / path).chmod(0)
    done = lock(repo, bound)
    assert (done.code, done.err) == (1, "error: .ai-rulez/rules/tone.md: cannot read: Permission denied\n")
    (project.folder / "rules/tone.md").chmod(0o644)
    done = lock(repo, bound)
    assert done.err == "error: .ai-rulez/skills/pack/scripts/go.sh: cannot read: Permission denied\n"
    (project.folder / "skills/pack/scripts/go.sh").chmod(0o755)
    (project.folder / "rubrics/tone/golden/a.json").chmod(0)
    for arguments in ((), ("--diff",)):
        done = lock(repo, bound, *arguments)
        assert (done.code, done.out) == (1, "")
        assert done.err == "error: .ai-rulez/rubrics/tone/golden/a.json: cannot read: Permission denied\n"
    assert project.read() is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("folder", "expected a regular file, found a folder; run `ai-rulez generate`"),
        ("link", "expected a regular file, found a symbolic link; run `ai-rulez generate`"),
        ("pipe", "expected a regular file, found a special file; run `ai-rulez generate`"),
        ("closed", "cannot read: Permission denied"),
    ],
)
def test_a_generated_file_that_is_none(repo: Repo, bound: tuple[str, ...], kind: str, reason: str) -> None:
    """It differs, and hides no other difference; nothing is pinned in its place."""
    project = LockProject(repo).base()
    project.write(".generated-manifest.json", '{"files": ["A.md", "./B.md", "B.md"]}')
    repo.write("A.md", "a\n")
    repo.write("B.md", "b\n")
    before = project.lock()
    assert [pin.path for pin in before.outputs] == ["A.md", "B.md"]
    repo.path("A.md").unlink()
    _put(repo.path("A.md"), kind)
    repo.write("B.md", "c\n")
    done = lock(repo, bound, "--check")
    assert (done.code, done.out.splitlines()[1:]) == (
        2,
        [f"  output changed  output A.md: {reason}", "  output changed  output B.md"],
    )
    done = lock(repo, bound)
    assert (done.code, done.err) == (1, f"error: A.md: {reason}\n")
    assert project.read() == before


def _put(place: Path, kind: str) -> None:
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to("B.md")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_text("a\n")
        place.chmod(0)


def test_a_lock_that_pins_something_twice(repo: Repo) -> None:
    """Only one of the pins can be compared; a merge made it, and a recomputed tree hides it from the digest."""
    project = LockProject(repo).base()
    repo.write("A.md", "a\n")
    project.write(".generated-manifest.json", '{"files": ["A.md"]}')
    right = project.lock()
    entry = Entry(name="pack", source="https://h/r", commit="", digest="sha256:1")
    wrong = replace(
        right,
        items=(*(replace(item, digest="sha256:0") for item in right.items if item.id == "pack"), *right.items),
        outputs=(replace(right.outputs[0], digest="sha256:0"), *right.outputs),
        served=(entry, entry),
    )
    project.save(replace(wrong, tree=tree_of(wrong)))
    assert [line for line in project.lines() if "not compared" not in line] == [
        f"lock: the lock pins {what} more than once; it was edited by hand"
        for what in ("skill pack", "skill api/pack", "output A.md", "served pack")
    ]


DECLARED = """[[hooks]]
event = "Stop"
cwd = "a"
hooks = [{ command = "x", shell = "bash" }, { command = "y", shell = "bash" }]
[[mcp_servers]]
name = "a"
command = "npx"
headers_helper = "x"
[permissions]
allow = ["a"]
additional = ["b"]
[[roles]]
name = "ops"
skills = { include = ["a"], only = ["b"] }
[claude.settings.managed]
env = { A = "1" }
model = "x"
[[verifiers]]
name = "v"
type = "file_exists"
path = "a"
paths = ["b"]
"""


def test_keys_that_no_pin_covers(repo: Repo) -> None:
    """A hook's ``cwd`` is code, too: where ai-rulez does not know a key, no digest has it, and that is said."""
    project = LockProject(repo, DECLARED)
    said = [
        f"{label}: its key `{key}` is not pinned, because ai-rulez does not know it"
        for label, key in (
            ("hook Stop:*:0", "cwd"),
            ("hook Stop:*:0", "shell"),
            ("role ops", "only"),
            ("verifier v", "paths"),
            ("settings permissions", "additional"),
            ("settings claude-managed", "model"),
            ("settings mcp-servers, server a", "headers_helper"),
        )
    ]
    done = repo.run("lock")
    assert (done.code, done.err.splitlines()) == (0, [f"warning: {line}" for line in said])
    project.config(DECLARED.replace('"bash"', '"zsh"'))
    done = repo.run("lock", "--check")
    assert (done.code, done.out.splitlines()[1:]) == (0, [f"  note: {line}" for line in said])
    project.config(DECLARED + '[lock]\nscope = "skills"\n')
    assert (repo.run("lock").err, repo.run("lock", "--check").out.count("\n")) == ("", 1)


def test_links_that_no_pin_covers(repo: Repo) -> None:
    """They are not followed, so what they lead to may change: the write says so."""
    project = LockProject(repo).base()
    repo.write("shared/a.sh", "x")
    repo.symlink(".ai-rulez/skills/pack/scripts/b.sh", "../../../../shared/a.sh")
    repo.symlink(".ai-rulez/skills/pack/references", "../../../shared")
    repo.symlink(".ai-rulez/skills/pack/scripts/.venv/python", "/usr/bin/python3")
    os.mkfifo(project.folder / "skills/pack/scripts/c.sh")
    project.write("rubrics/loose.md", "x")
    done = repo.run("lock")
    assert (done.code, done.err.splitlines()) == (
        0,
        [
            "warning: .ai-rulez/skills/pack/references: a symbolic link: neither used nor pinned",
            "warning: .ai-rulez/skills/pack/scripts/b.sh: a symbolic link: neither used nor pinned",
            "warning: .ai-rulez/skills/pack/scripts/c.sh: a pipe, socket or device: neither used nor pinned",
            "warning: .ai-rulez/rubrics/loose.md: a file: it is no rubric, and not pinned",
        ],
    )


def test_repositories_that_no_pin_covers(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    """git lists no files of a submodule, so a skill's vendored scripts may change: the write says so."""
    project = LockProject(repo).base()
    other = make_repo("other")
    other.write("run.sh", "x")
    other.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), f"{SCRIPTS}/vendor")
    repo.write(".ai-rulez/skills/pack/assets/own/.git/HEAD", "ref: refs/heads/main\n")
    message = "a repository of its own, whose files git does not list here: neither used nor pinned"
    done = repo.run("lock")
    assert (done.code, done.err.splitlines()) == (
        0,
        [f"warning: .ai-rulez/skills/pack/assets/own: {message}", f"warning: {SCRIPTS}/vendor: {message}"],
    )
    project.in_git = False
    assert project.renew().warnings == ()
    changed = project.changed_by(lambda: repo.write(f"{SCRIPTS}/vendor/run.sh", "y"))
    assert changed == {"skill pack"}


def test_an_answer_that_cannot_be_written(repo: Repo) -> None:
    """Exit 1, could not run: a 3 would mean that the lock was written and served skills left out (seed 001)."""
    LockProject(repo).base().lock()
    for redirection in (">&-", "> /dev/full"):
        done = repo.execute("sh", "-c", f'exec "$0" -P -m pytest_reqfile lock --check {redirection}', sys.executable)
        assert (done.code, done.err.startswith("error: cannot write the output: ")) == (1, True)


def _broken_head(repo: Repo) -> dict[str, str]:
    repo.path(".git/HEAD").unlink()
    return {}


def _broken_index(repo: Repo) -> dict[str, str]:
    repo.write(".git/index", "no index")
    return {}


def _no_git(repo: Repo) -> dict[str, str]:
    return {"PATH": str(repo.home), "GIT_PYTHON_GIT_EXECUTABLE": ""}


def _owned_by_another(repo: Repo) -> dict[str, str]:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    for path in ("", ".git"):
        os.chown(repo.path(path), 65534, 65534)
    return {}


@pytest.mark.parametrize(
    ("disturb", "says"),
    [
        (_broken_head, "not inside a git repository; there is a .git in {root}, so git must be asked"),
        (_broken_index, "git ls-files "),
        (_no_git, "could not run git: "),
        (_owned_by_another, "detected dubious ownership in repository at '{root}'"),
    ],
)
def test_git_does_not_answer(repo: Repo, disturb: Callable[[Repo], dict[str, str]], says: str) -> None:
    """Where there is a repository, what git ignores is not pinned; unasked, all of it would be."""
    project = LockProject(repo).base()
    repo.write(".gitignore", "*.log\n")
    project.write("skills/pack/assets/x.log", "ignored")
    project.lock()
    repo.write("test_a.py", "def test_a(reqfile_lock): pass\n")
    before = (project.folder / "ai-rulez.lock").read_bytes()
    env = disturb(repo)
    for arguments in ((), ("--check",), ("--diff",)):
        done = repo.run("lock", *arguments, env=env)
        assert (done.code, done.out, says.format(root=repo.root) in done.err) == (1, "", True), done.err
    assert (project.folder / "ai-rulez.lock").read_bytes() == before
    done = repo.pytest("-q", LOCK, "test_a.py", env=env)
    assert (done.code, "3 errors" in done.out, says.format(root=repo.root) in done.out) == (1, True, True), done.out
