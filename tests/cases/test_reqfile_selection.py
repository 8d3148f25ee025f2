"""Cases H and D4: what a changed-only run looks at (seed 004 SELECTION), through the command line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run, seen

EDITIONS = ("0.1", "0.4")
SEEN = block("SEEN", seen())
TRIGGER = block("TRIG", run("echo ran; exit 1", files="**/*.txt"))
ALWAYS = block("ALWAYS", run("echo ran; exit 1"))

pytestmark = pytest.mark.parametrize("edition", EDITIONS)


@pytest.fixture
def branched(repo: Repo) -> Callable[..., Repo]:
    """``brepo``: a Reqfile and three files committed on main, then the branch ``feature``."""

    def make(*blocks: dict[str, object]) -> Repo:
        repo.write("Reqfile.yaml", reqfile_text(*blocks))
        for name in ("old.txt", "kept.txt", "gone.txt"):
            repo.write(name, name)
        repo.commit()
        repo.branch("feature")
        return repo

    return make


Branched = Callable[..., Repo]


@pytest.mark.case("reqfile:H1")
def test_changed_restricts_file_checks_to_files_changed_since_the_merge_base(branched: Branched, edition: str) -> None:
    """Committed, staged, modified and untracked files, and no others."""
    repo = branched(SEEN)
    repo.write("committed.txt")
    repo.commit()
    repo.write("kept.txt", "staged")
    repo.git("add", "kept.txt")
    repo.write("old.txt", "modified")
    repo.write("untracked.txt")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert (done.code, done.out.split("\n")[0]) == (1, "SEEN  saw committed.txt kept.txt old.txt untracked.txt")


@pytest.mark.case("reqfile:H3")
def test_deleted_files_trigger_commands_that_do_not_take_files(branched: Branched, edition: str) -> None:
    """A deletion is a change that only a command without arguments can look at."""
    repo = branched(SEEN, TRIGGER)
    repo.delete("gone.txt")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert done.out == (
        "TRIG  ran\n  fix: Do it.\n\n"
        "1 check run, 1 with nothing to check. 1 violation, 0 advisory findings, 0 errors.\n"
    )


@pytest.mark.case("reqfile:H4")
def test_commands_without_files_still_run(branched: Branched, edition: str) -> None:
    """Nothing changed: what needs no file runs, the rest has nothing to check."""
    done = branched(ALWAYS, SEEN).run("check", "--changed", "main", "--edition", edition)
    assert (done.code, done.out.split("\n")[0]) == (1, "ALWAYS  ran")
    assert "1 check run, 1 with nothing to check." in done.out


@pytest.mark.case("reqfile:H5")
def test_the_base_defaults_to_the_config(branched: Branched, edition: str) -> None:
    """``base`` of the config that applies, where the command line names none."""
    repo = branched(SEEN)
    repo.write(".reqfile/config.yaml", "base: main\n")
    repo.commit()
    repo.git("branch", "-f", "main")
    repo.write("new.txt")
    assert repo.run("check", "--changed", "--edition", edition).out.startswith("SEEN  saw new.txt\n")


@pytest.mark.case("reqfile:H5")
def test_the_base_defaults_to_the_remotes_default_branch_last(branched: Branched, edition: str) -> None:
    """``origin/HEAD`` where neither the command line nor a config names a base."""
    repo = branched(SEEN)
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repo.write("new.txt")
    assert repo.run("check", "--changed", "--edition", edition).out.startswith("SEEN  saw new.txt\n")


@pytest.mark.case("reqfile:H7")
def test_changed_without_a_base_is_a_config_error(branched: Branched, edition: str) -> None:
    """The error says the three ways to name a base."""
    done = branched(SEEN).run("check", "--changed", "--edition", edition)
    assert (done.code, done.out) == (
        3,
        "error  --changed needs a base for the repository root: pass one (reqfile check --changed origin/main), "
        "set `base` in .reqfile/config.yaml, or set origin/HEAD (git remote set-head origin --auto)\n\n"
        "0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n",
    )


@pytest.mark.case("reqfile:H8")
def test_an_unknown_base_is_an_error(branched: Branched, edition: str) -> None:
    """Never an empty run."""
    done = branched(SEEN).run("check", "--changed", "origin/nowhere", "--edition", edition)
    assert done.code == 3
    assert done.out.startswith(
        "error  cannot find the merge-base of origin/nowhere and HEAD: git merge-base origin/nowhere HEAD failed: "
    )
    assert "\n0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n" in done.out


@pytest.mark.case("reqfile:H8")
def test_an_unknown_base_of_a_config_is_located(branched: Branched, edition: str) -> None:
    """The error names the file and line that name the base."""
    repo = branched(SEEN)
    repo.write("app/.reqfile/config.yaml", "exclude: []\nbase: nowhere\n")
    repo.write(".reqfile/config.yaml", "base: main\n")
    repo.write("app/Reqfile.yaml", reqfile_text(block("APP", seen())))
    done = repo.run("check", "--changed", "--edition", edition)
    assert done.code == 3
    assert done.out.startswith(
        "error  app/.reqfile/config.yaml:2: cannot find the merge-base of nowhere and HEAD: "
        "git merge-base nowhere HEAD failed: "
    )


@pytest.mark.case("reqfile:H10")
def test_only_runs_the_listed_requirements(repo: Repo, edition: str) -> None:
    """A and C of A, B, C."""
    repo.write("Reqfile.yaml", reqfile_text(*(block(name, run(f"echo {name}; exit 1")) for name in "ABC")))
    done = repo.run("check", "--only", "A,C", "--edition", edition)
    assert (done.code, done.out) == (
        1,
        "A  A\n  fix: Do it.\nC  C\n  fix: Do it.\n\n"
        "2 checks run, 0 with nothing to check. 2 violations, 0 advisory findings, 0 errors.\n",
    )


@pytest.mark.case("reqfile:H13")
def test_a_changed_requirement_is_checked_on_its_whole_scope(branched: Branched, edition: str) -> None:
    """SEEN's hint changed; its neighbour in the same file is widened in edition 0.1 only."""
    other = block("SEEN2", seen("also"))
    repo = branched(SEEN, other)
    repo.write("new.txt")
    repo.write("Reqfile.yaml", reqfile_text(block("SEEN", seen(fix_hint="Otherwise.")), other))
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert "SEEN  saw gone.txt kept.txt new.txt old.txt\n" in done.out
    neighbour = "gone.txt kept.txt new.txt old.txt" if edition == "0.1" else "new.txt"
    assert f"SEEN2  also {neighbour}\n" in done.out


@pytest.mark.case("reqfile:H14")
def test_a_changed_asset_widens_its_requirement_and_no_other(branched: Branched, edition: str) -> None:
    """The files of one requirement say nothing about another one."""
    repo = branched(SEEN, block("ASSET", seen("asset")))
    repo.write(".reqfile/ASSET/words.lst", "one\n")
    repo.commit()
    repo.git("branch", "-f", "main")
    repo.write(".reqfile/ASSET/words.lst", "two\n")
    repo.write("new.txt")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert "SEEN  saw new.txt\n" in done.out
    assert "ASSET  asset gone.txt kept.txt new.txt old.txt\n" in done.out


@pytest.mark.case("reqfile:R18")
def test_examples_redefine_in_edition_0_1_only(branched: Branched, edition: str) -> None:
    """Seed 004 says ``its .reqfile/<ID>/ files``; the later edition leaves its examples out."""
    repo = branched(SEEN)
    repo.write(".reqfile/SEEN/examples/ok-a/a.txt")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    if edition == "0.1":
        assert done.out.startswith("SEEN  saw gone.txt kept.txt old.txt\n")
    else:
        assert "0 checks run, 1 with nothing to check" in done.out


@pytest.mark.case("reqfile:H16")
def test_a_nested_config_change_widens_the_requirements_above_it(repo: Repo, edition: str) -> None:
    """A lifted exclusion makes a target of a file that did not change."""
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    repo.write("app/.reqfile/config.yaml", "exclude: [old.txt]\n")
    repo.write("app/old.txt")
    repo.commit()
    repo.branch("feature")
    repo.write("app/.reqfile/config.yaml", "exclude: []\n")
    assert repo.run("check", "--changed", "main", "--edition", edition).out.startswith("SEEN  saw app/old.txt\n")


@pytest.mark.case("reqfile:H18")
def test_a_change_to_a_local_sources_assets_rechecks_every_block_resolving_to_it(repo: Repo, edition: str) -> None:
    """Both the definition's scope and that of the block that takes it."""
    repo.write("Reqfile.yaml", reqfile_text({"id": "STD", "use": "./std"}))
    repo.write("std/Reqfile.yaml", reqfile_text(block("STD", seen())))
    repo.write("std/.reqfile/STD/words.lst", "one")
    repo.write("src/a.txt")
    repo.write("std/tools/b.txt")
    repo.commit()
    repo.branch("feature")
    repo.write("std/.reqfile/STD/words.lst", "two")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert [line for line in done.out.split("\n") if line.startswith("STD")] == [
        "STD  saw src/a.txt",
        "STD  saw tools/b.txt",
    ]


@pytest.mark.case("reqfile:H19")
def test_a_why_change_in_an_intermediate_use_block_rechecks_only_its_scope(repo: Repo, edition: str) -> None:
    """Root takes ./oss/p, which takes ./std below it; a reason set in between concerns that scope alone."""
    repo.write("Reqfile.yaml", reqfile_text({"id": "STD", "use": "./oss/p"}))
    repo.write("oss/p/Reqfile.yaml", reqfile_text({"id": "STD", "use": "./std"}))
    repo.write("oss/p/std/Reqfile.yaml", reqfile_text(block("STD", seen())))
    for folder in ("src", "oss/p/src", "oss/p/std/src"):
        repo.write(f"{folder}/x.txt")
    repo.commit()
    repo.branch("feature")
    repo.write("oss/p/Reqfile.yaml", reqfile_text({"id": "STD", "use": "./std", "why": "Ours."}))
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert [line for line in done.out.split("\n") if line.startswith("STD")] == ["STD  saw src/x.txt"]
    assert "from: oss/p/Reqfile.yaml" in done.out


@pytest.mark.case("reqfile:H20")
def test_adding_a_shadowing_block_rechecks_its_subtree(repo: Repo, edition: str) -> None:
    """Another block now applies to unchanged files below it, and to no others."""
    repo.write("Reqfile.yaml", reqfile_text(block("STD", seen("root"))))
    repo.write("std/Reqfile.yaml", reqfile_text())
    for folder in ("", "services/api/", "other/"):
        repo.write(f"{folder}x.txt")
    repo.commit()
    repo.branch("feature")
    repo.write("services/api/Reqfile.yaml", reqfile_text({"id": "STD", "use": "../..", "checks": [seen("api")]}))
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert [line for line in done.out.split("\n") if line.startswith("STD")] == ["STD  api x.txt"]


def test_removing_a_shadowing_block_rechecks_its_subtree(repo: Repo, edition: str) -> None:
    """Files that fall to the block further up were never checked by it."""
    repo.write("Reqfile.yaml", reqfile_text(block("STD", seen("root"))))
    repo.write("app/Reqfile.yaml", reqfile_text({"id": "STD", "use": "..", "checks": [seen("api")]}))
    repo.write("x.txt")
    repo.write("app/x.txt")
    repo.commit()
    repo.branch("feature")
    repo.delete("app/Reqfile.yaml")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    expected = "STD  root app/x.txt x.txt\n" if edition == "0.1" else "STD  root app/x.txt\n"
    assert done.out.startswith(expected)


@pytest.mark.case("reqfile:I6")
def test_skipped_checks_do_not_need_a_base(repo: Repo, edition: str) -> None:
    """A folder whose checks are all left for a full run may name a base that does not exist."""
    repo.write("Reqfile.yaml", reqfile_text(block("QUICK", seen(fast=True))))
    repo.write(".reqfile/config.yaml", "base: main\n")
    repo.write("slow/Reqfile.yaml", reqfile_text(block("SLOW", seen())))
    repo.write("slow/.reqfile/config.yaml", "base: origin/nowhere\n")
    repo.commit()
    repo.write("new.txt")
    done = repo.run("check", "--fast", "--changed", "--edition", edition)
    assert (done.code, done.out.split("\n")[0]) == (1, "QUICK  saw new.txt")
    assert repo.run("check", "--changed", "--edition", edition).code == 3


@pytest.mark.case("reqfile:D4")
def test_each_folder_is_compared_with_its_own_base(repo: Repo, edition: str) -> None:
    """The root with main, app with release."""
    repo.write("Reqfile.yaml", reqfile_text(block("TOP", seen(files="*.txt"))))
    repo.write("app/Reqfile.yaml", reqfile_text(block("SUB", seen())))
    repo.write(".reqfile/config.yaml", "base: main\n")
    repo.write("app/.reqfile/config.yaml", "base: release\n")
    repo.write("top.txt", "1")
    repo.write("app/x.txt", "1")
    repo.commit()
    repo.git("branch", "release")
    repo.write("top.txt", "2")
    repo.write("app/x.txt", "2")
    repo.commit()
    repo.branch("feature")
    done = repo.run("check", "--changed", "--edition", edition)
    assert done.out.startswith("SUB  saw x.txt\n")
    assert "TOP" not in done.out
