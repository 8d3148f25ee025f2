"""Labeled examples that want something else: links out, repositories inside, names with escapes, the user's git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run

FINDS = run('! grep -l FIXME "$@"', files="**/*.txt", pass_files=True)
EXAMPLES = ".reqfile/R/examples"


@pytest.fixture
def finding(repo: Repo) -> Repo:
    """R, which flags files with FIXME."""
    repo.write("Reqfile.yaml", reqfile_text(block("R", FINDS)))
    return repo


def test_the_users_git_configuration_changes_nothing(finding: Repo) -> None:
    """A global ignore file, a template with hooks, a system attribute: none reaches the case or its commands."""
    home = finding.home
    template = home / "template" / "hooks"
    template.mkdir(parents=True)
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.txt\n")
    (home / "config").write_text(
        f"[core]\n\texcludesFile = {home}/ignored\n[init]\n\ttemplateDir = {home}/template\n[user]\n\tname = Somebody\n"
    )
    (home / "ignored").write_text("*.txt\n")
    finding.write(f"{EXAMPLES}/violation-a/a.txt", "FIXME\n")
    git = run("git ls-files -co --exclude-standard | grep -q a.txt && test ! -d .git/hooks && ! git config user.name")
    finding.write("Reqfile.yaml", reqfile_text(block("R", FINDS), block("GIT", git)))
    finding.write(".reqfile/GIT/examples/ok-a/example.yaml", "expected: ok\n")
    finding.write(".reqfile/GIT/examples/ok-a/files/a.txt", "x")
    variables = {"GIT_CONFIG_GLOBAL": str(home / "config"), "GIT_TEMPLATE_DIR": str(home / "template")}
    done = finding.run("eval", env=variables)
    assert (done.code, done.out.split("\n\n")[0]) == (
        0,
        "R  asserted: 1 examples, 1 as labeled\nGIT  asserted: 1 examples, 1 as labeled",
    )


def test_a_surrounding_hook_does_not_reach_a_case(finding: Repo) -> None:
    """Run from a hook of this repository, the case is still listed from its own."""
    finding.write(f"{EXAMPLES}/violation-a/a.txt", "FIXME\n")
    hook = {"GIT_DIR": str(finding.root / ".git"), "GIT_INDEX_FILE": "index", "GIT_WORK_TREE": str(finding.root)}
    assert finding.run("eval", env=hook).out.startswith("R  asserted: 1 examples, 1 as labeled\n")


@pytest.mark.parametrize("target", ["../../../../secret", "/etc/passwd", "missing"])
@pytest.mark.parametrize("layout", ["named", "described"])
def test_a_symlink_in_a_case_is_refused(finding: Repo, layout: str, target: str) -> None:
    """It could show checks, and their logs, what is no part of the example."""
    folder = f"{EXAMPLES}/violation-a"
    if layout == "described":
        finding.write(f"{folder}/example.yaml", "expected: violation\n")
        folder += "/files"
    finding.write(f"{folder}/a.txt", "FIXME\n")
    finding.symlink(f"{folder}/link.txt", target)
    done = finding.run("eval")
    assert done.code == 3
    text = f"  violation-a: error: {folder}/link.txt is a symlink; examples hold regular files only\n"
    assert text in done.out


@pytest.mark.parametrize("place", [EXAMPLES, f"{EXAMPLES}/violation-a", f"{EXAMPLES}/violation-a/files"])
def test_a_folder_of_examples_that_is_a_symlink_is_refused(finding: Repo, tmp_path: Path, place: str) -> None:
    """Whatever it leads to is not the example that was labeled."""
    outside = tmp_path / "outside"
    (outside / "violation-a" / "files").mkdir(parents=True)
    (outside / "violation-a" / "a.txt").write_text("FIXME\n")
    (outside / "example.yaml").write_text("expected: violation\n")
    if place.endswith("files"):
        finding.write(f"{EXAMPLES}/violation-a/example.yaml", "expected: violation\n")
    finding.symlink(place, str(outside))
    done = finding.run("eval")
    assert (done.code, done.out) == (3, "")
    assert f"error: {place.removesuffix('/files')}" in done.err


@pytest.mark.parametrize("name", [".git/config", "sub/.GIT/hooks/post-checkout"])
def test_a_repository_inside_of_a_case_is_refused(finding: Repo, name: str) -> None:
    """git would run what its configuration says."""
    finding.write(f"{EXAMPLES}/violation-a/{name}", "[core]\n\tfsmonitor = touch evil\n")
    done = finding.run("eval")
    assert done.code == 3
    assert f"{EXAMPLES}/violation-a/{name} belongs to a git repository; examples hold none\n" in done.out


def test_a_fifo_in_a_case_does_not_hang(finding: Repo) -> None:
    """Nor does any other special file."""
    finding.write(f"{EXAMPLES}/violation-a/a.txt", "FIXME\n")
    os.mkfifo(finding.path(f"{EXAMPLES}/violation-a/pipe"))
    done = finding.run("eval", timeout=20)
    assert done.code == 3
    assert "pipe is no regular file; examples hold regular files only" in done.out


def test_names_cannot_write_to_the_terminal(finding: Repo) -> None:
    """Folder names are shown without their control characters."""
    finding.write(f"{EXAMPLES}/violation-\x1b[31mred\u202e/a.txt", "fine\n")
    done = finding.run("eval")
    assert done.code == 1
    assert "  violation-\\x1b[31mred\\u202e: missed\n" in done.out


def test_cases_leave_nothing_behind(finding: Repo, tmp_path: Path) -> None:
    """Neither temporary folders nor changes to the repository, even of a command that closes its folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    closing = run("mkdir x && touch x/y && chmod 000 x; exit 1")
    finding.write("Reqfile.yaml", reqfile_text(block("R", closing)))
    finding.write(f"{EXAMPLES}/violation-a/a.txt", "FIXME\n")
    finding.write(f"{EXAMPLES}/ok-b/a.txt", "FIXME\n")
    finding.commit()
    assert finding.run("eval", "--repeat", "2", env={"TMPDIR": str(scratch)}).code == 1
    assert list(scratch.iterdir()) == []
    assert finding.git("status", "--porcelain") == ""


def test_a_case_with_a_broken_reqfile_cannot_run(finding: Repo) -> None:
    """In the older layout a case's own Reqfiles and settings apply, so their problems count."""
    finding.write(f"{EXAMPLES}/violation-a/sub/Reqfile.yaml", "reqfile: 2\n")
    finding.write(f"{EXAMPLES}/violation-b/sub/Reqfile.yaml", reqfile_text(block("R", FINDS)))
    done = finding.run("eval")
    assert done.code == 3
    assert "  violation-a: error: sub/Reqfile.yaml:1: unsupported Reqfile version 2" in done.out
    assert "  violation-b: error: sub/Reqfile.yaml:3: requirement R is also defined in Reqfile.yaml" in done.out


@pytest.mark.parametrize("path", ["Reqfile.yaml/a.txt", ".reqfile/config.yaml/a.txt", ".reqfile"])
def test_a_case_that_leaves_no_room_for_the_requirement_cannot_run(finding: Repo, path: str) -> None:
    """A folder where its Reqfile or settings go, a file where its folder goes."""
    finding.write(f"{EXAMPLES}/ok-x/{path}", "x")
    done = finding.run("test")
    assert done.code == 3
    assert "ok-x: error: cannot put " in done.out


def test_settings_of_a_named_case_apply(finding: Repo) -> None:
    """Its excludes hide files from the checks, as they would in a repository."""
    finding.write(f"{EXAMPLES}/violation-a/sub/.reqfile/config.yaml", "exclude: ['*.txt']\n")
    finding.write(f"{EXAMPLES}/violation-a/sub/a.txt", "FIXME\n")
    assert "  violation-a: not selected\n" in finding.run("eval").out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("R", "../up", "--expected", "ok", "a.txt"), "an example's name is that of one folder"),
        (("R", ".hidden", "--expected", "ok", "a.txt"), "an example's name is that of one folder"),
        (("R", "", "--expected", "ok", "a.txt"), "an example's name is that of one folder"),
        (("R", "x", "--expected", "ok", "../outside.txt"), "../outside.txt is outside the repository"),
        (("R", "x", "--expected", "ok", "missing.txt"), "missing.txt: cannot read: No such file or directory"),
        (("R", "x", "--expected", "ok", "link.txt"), "link.txt is a symlink; examples hold regular files only"),
        (("R", "x", "--expected", "ok", "--finding", "a.txt", "a.txt"), "an `ok` example has none"),
        (
            ("R", "x", "--expected", "violation", "--finding", "b.txt", "a.txt"),
            "--finding b.txt is not among the files",
        ),
        (("NONE", "x", "--expected", "ok", "a.txt"), "no requirement NONE applies to a.txt"),
        (
            ("SUB", "x", "--expected", "ok", "sub/b.txt", "a.txt"),
            "a.txt is not under sub, the folder of sub/Reqfile.yaml",
        ),
        (("R", "taken", "--expected", "ok", "a.txt"), ".reqfile/R/examples/taken already exists"),
        (("R", "x", "--expected", "ok", "empty"), "empty holds no file"),
        (("R", "x", "--expected", "ok", ".git/config"), ".git/config belongs to a git repository; examples hold none"),
        (("R", "x", "--expected", "ok", "."), "link.txt is a symlink; examples hold regular files only"),
        (
            ("R", "x", "--expected", "violation", "--finding", "f\udcff", "f\udcff"),
            "not valid UTF-8, so example.yaml cannot hold it",
        ),
        (("R", "x", "--expected", "ok", "--rationale", "r\udcff", "a.txt"), "--rationale r"),
    ],
)
def test_example_add_refuses(finding: Repo, words: tuple[str, ...], problem: str) -> None:
    """With a reason, exit 3, and nothing made."""
    finding.write("a.txt", "x")
    finding.write("sub/b.txt", "x")
    finding.write("sub/Reqfile.yaml", reqfile_text(block("SUB", FINDS)))
    finding.write(".reqfile/R/examples/taken/keep.txt", "x")
    finding.symlink("link.txt", "a.txt")
    finding.path("empty").mkdir()
    before = sorted(str(path) for path in finding.root.rglob("*") if ".git" not in path.parts)
    done = finding.run("example", "add", *words)
    assert (done.code, done.out) == (3, "")
    assert problem in done.err
    assert sorted(str(path) for path in finding.root.rglob("*") if ".git" not in path.parts) == before


def test_a_blank_rationale_is_none(finding: Repo) -> None:
    """What was added can be read again."""
    finding.write("a.txt", "x")
    assert finding.run("example", "add", "R", "x", "--expected", "ok", "--rationale", " ", "a.txt").code == 0
    assert "rationale" not in finding.path(f"{EXAMPLES}/x/example.yaml").read_text()
    assert finding.run("eval").code == 0


@pytest.mark.parametrize("name", ["example.yml", "Example.yaml"])
def test_a_label_of_nearly_the_right_name_is_refused(finding: Repo, name: str) -> None:
    """The folder's own name must not win over a label that somebody wrote; without files/ it is part of the case."""
    finding.write(f"{EXAMPLES}/ok-x/{name}", "expected: violation\n")
    finding.write(f"{EXAMPLES}/ok-x/a.txt", "fine\n")
    assert finding.run("eval").code == 0
    finding.write(f"{EXAMPLES}/ok-x/files/a.txt", "fine\n")
    done = finding.run("eval")
    assert (done.code, done.out) == (3, "")
    assert done.err == f"error: {EXAMPLES}/ok-x/{name}:1: a label must be named exactly example.yaml\n"


def test_example_add_never_writes_through_a_symlink(finding: Repo, tmp_path: Path) -> None:
    """``.reqfile`` of a repository may lead anywhere."""
    finding.write("a.txt", "x")
    finding.symlink(".reqfile", str(tmp_path))
    done = finding.run("example", "add", "R", "x", "--expected", "ok", "a.txt")
    assert (done.code, done.out) == (3, "")
    assert not (tmp_path / "R").exists()


def test_example_add_takes_ignored_files_but_no_repository(finding: Repo) -> None:
    """A whole folder as it is on disk, modes included; from a folder below, by paths seen from there."""
    finding.write(".gitignore", "build\n")
    finding.write("sub/build/out.txt", "x")
    finding.write("sub/.git/config", "")
    finding.write("sub/tool.sh", "#!/bin/sh\n", mode=0o755)
    done = finding.run("example", "add", "R", "x", "--expected", "ok", "--holdout", "../sub", cwd="sub")
    assert done.out.startswith("Added .reqfile/R/examples/x/ (2 files).\n")
    folder = finding.path(".reqfile/R/examples/x")
    assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
        "example.yaml",
        "files/sub/build/out.txt",
        "files/sub/tool.sh",
    ]
    assert (folder / "files/sub/tool.sh").stat().st_mode & 0o111
    assert (folder / "example.yaml").read_text().endswith("split: holdout\n")
