"""What broke once: links, ignored paths, odd root folders, settings of nearly the right name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.requirements import OK, req, say

Run = Callable[..., pytest.RunResult]


def collected(text: str) -> list[str]:
    """The node ids that ``--co -q`` printed."""
    return [line for line in text.splitlines() if "::" in line]


def test_a_link_to_a_reqfile_is_none(project: Repo, make_repo: Callable[[str], Repo], run: Run) -> None:
    """Neither a linked file, nor a file in a linked folder, nor one of another repository (seed 004 EXCLUDE)."""
    other = make_repo("other")
    other.write("sub/Reqfile.yaml", req(OTHER=OK))
    project.write("app/Reqfile.yaml", req(SUB=OK))
    project.symlink("alias/Reqfile.yaml", "../app/Reqfile.yaml")
    project.symlink("folder", "app")
    project.symlink("out", str(other.root / "sub"))
    assert collected(run("--co", "-q").stdout.str()) == ["app/Reqfile.yaml::SUB/command-1"]
    assert collected(run("--co", "-q", "--reqfile").stdout.str()) == ["app/Reqfile.yaml::SUB/command-1"]
    for name in ("alias", "folder", "out"):
        result = run("-rs", f"{name}/Reqfile.yaml")
        result.assert_outcomes(skipped=1)
        result.stdout.fnmatch_lines(["SKIPPED [[]1] *: Reqfile.yaml leads through a symbolic link, so it is no file *"])


def test_a_repository_that_is_reached_through_a_link_is_collected(project: Repo, tmp_path: Path, run: Run) -> None:
    """What counts are links below its top."""
    project.write("app/Reqfile.yaml", req(SUB=OK))
    link = tmp_path / "link"
    link.symlink_to(project.root)
    run(f"{link}/app/Reqfile.yaml").assert_outcomes(passed=1)
    run(str(link)).assert_outcomes(passed=1)


def test_ignored_paths_are_ignored(project: Repo, run: Run) -> None:
    """--ignore holds for settings folders too, --ignore-glob also for what --reqfile adds."""
    project.write("Reqfile.yaml", req(TOP=OK))
    project.write("app/Reqfile.yaml", req(SUB=OK))
    project.write("other/.reqfile/config.yaml", "no: such key\n")
    both = ["Reqfile.yaml::TOP/command-1", "app/Reqfile.yaml::SUB/command-1"]
    for ignore in ("--ignore=other/.reqfile", "--ignore=other/.reqfile/config.yaml", "--ignore-glob=*/.reqfile"):
        for whole in ((), ("--reqfile",)):
            assert collected(run("--co", "-q", ignore, *whole).stdout.str()) == both
    for ignore in ("--ignore-glob=*pp", "--ignore-glob=app/*.yaml"):
        found = collected(run("--co", "-q", "--reqfile", "--ignore=other", ignore).stdout.str())
        assert found == ["Reqfile.yaml::TOP/command-1"]


def test_files_outside_the_root_folder_keep_their_ids_apart(project: Repo, tmp_path: Path) -> None:
    """Two files of one name: both are counted, and each can be told."""
    project.write("a/Reqfile.yaml", "reqfile: 2\n")
    project.write("b/Reqfile.yaml", "reqfile: 2\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = project.pytest(f"--rootdir={elsewhere}", "-q", "-rE", "a/Reqfile.yaml", "b/Reqfile.yaml")
    assert "0 violations, 0 advisory findings, 2 errors.\n" in done.out
    assert "/a/Reqfile.yaml::load - a/Reqfile.yaml:1: " in done.out
    assert "/b/Reqfile.yaml::load - b/Reqfile.yaml:1: " in done.out


def test_an_ini_file_above_the_repository_does_not_hide_it(project: Repo, make_repo: Callable[[str], Repo]) -> None:
    """It makes its folder pytest's root; --reqfile then means the repository that pytest was started in."""
    inner = make_repo("outside/inner")
    (inner.root.parent / "pytest.ini").write_text("[pytest]\n")
    inner.write("Reqfile.yaml", req(TOP=OK))
    inner.write(".hidden/Reqfile.yaml", req(HIDDEN=OK))
    done = inner.pytest("--co", "-q", "--reqfile")
    expected = ["inner/Reqfile.yaml::TOP/command-1", "inner/.hidden/Reqfile.yaml::HIDDEN/command-1"]
    assert collected(done.out) == expected
    assert project.root != inner.root


def test_settings_of_nearly_the_right_name_make_their_checks_errors(project: Repo, run: Run) -> None:
    """Also where only the checks were asked for: they would run by other settings than were meant."""
    project.write("app/Reqfile.yaml", req(SUB=OK))
    project.write(".reqfile/config.yml", "base: main\n")
    result = run("-rE", "app")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["ERROR app/Reqfile.yaml::SUB/command-1 - its settings cannot be read: .reqfile/config*"]
    )


def test_a_reqfile_in_a_settings_folder_says_why_it_is_none(project: Repo, run: Run) -> None:
    """Named by path it is skipped, with the reason."""
    project.write(".reqfile/A/examples/ok-x/Reqfile.yaml", req(INNER=say("x")))
    result = run("-rs", ".reqfile/A/examples/ok-x/Reqfile.yaml")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED *Reqfile.yaml is in a .reqfile folder, where no requirements are read"])


@pytest.mark.parametrize("plugin", ["setupplan", "setuponly", "junitxml", "logging"])
def test_a_plugin_of_pytest_that_is_off_is_not_needed(project: Repo, plugin: str) -> None:
    """What it would have declared is not asked for."""
    project.write("Reqfile.yaml", req(TOP=OK, BAD=say("x")))
    done = project.pytest("-p", f"no:{plugin}", "-p", "no:randomly")
    assert done.code == 1
    assert "1 failed, 1 passed in" in done.out
    assert done.err == ""
