"""Sentences of seed 004's SELECTION, FAST_PATH, RUN_LOG and EXAMPLES that no case of cases/reqfile.md shows."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run, seen
from tests.support.decisions import DECISION, PYFUNC, decide, drepo, functions, log_of
from tests.support.jev import Jev
from tests.support.requirements import req

EDITIONS = ("0.1", "0.4")
HOT = functions("f", mark="HOT")


def _feature(repo: Repo, files: dict[str, str]) -> Repo:
    """``files`` committed on main, and the branch ``feature`` for what comes."""
    for path, content in files.items():
        repo.write(path, content)
    repo.commit()
    repo.branch("feature")
    return repo


@pytest.mark.requirement("SELECTION")
@pytest.mark.parametrize("edition", EDITIONS)
def test_decision_units_are_those_of_changed_files(repo: Repo, jev: Jev, edition: str) -> None:
    """Committed, uncommitted and untracked; every unit of such a file, and none of another, cached or not."""
    drepo(repo, jev, config=jev.pinned)
    _feature(repo, {f"{name}.py": functions("f", mark="HOT") for name in ("old", "committed", "edited", "gone")})
    repo.write("committed.py", functions("f", "g", mark="HOT"))
    repo.commit()
    repo.write("edited.py", functions("h", mark="HOT"))
    repo.write("new.py", functions("i", mark="HOT"))
    repo.delete("gone.py")
    done = decide(repo, "--changed", "main", "--edition", edition)
    assert sorted(path for path, _ in jev.units) == ["committed.py", "committed.py", "edited.py", "new.py"]
    assert "old.py" not in done.out
    assert "1 check run, 0 with nothing to check, 4 code units judged" in done.out


@pytest.mark.requirement("SELECTION")
@pytest.mark.parametrize("edition", EDITIONS)
def test_the_merge_base_counts_and_not_the_base(repo: Repo, edition: str) -> None:
    """What the base got since is nobody's change here, and commits of the branch stay changes."""
    _feature(repo, {"Reqfile.yaml": reqfile_text(block("SEEN", seen())), "a.txt": "1", "b.txt": "1"})
    repo.write("b.txt", "2")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.write("a.txt", "2")
    repo.commit()
    repo.git("switch", "-q", "feature")
    assert repo.run("check", "--changed", "main", "--edition", edition).out.startswith("SEEN  saw b.txt\n")


@pytest.mark.requirement("SELECTION")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_base_on_the_command_line_goes_before_any_other(repo: Repo, edition: str) -> None:
    """Before that of a config, before the remote's default branch, and for every folder."""
    _feature(
        repo,
        {
            "Reqfile.yaml": reqfile_text(block("TOP", seen(files="*.txt"))),
            "app/Reqfile.yaml": reqfile_text(block("SUB", seen())),
            ".reqfile/config.yaml": "base: nowhere\n",
            "app/.reqfile/config.yaml": "base: elsewhere\n",
        },
    )
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/none")
    repo.write("app/new.txt")
    repo.write("top.txt")
    done = repo.run("check", "--changed", "main", "--edition", edition)
    assert [line for line in done.out.splitlines() if "saw" in line] == ["TOP  saw top.txt", "SUB  saw new.txt"]


@pytest.mark.requirement("SELECTION")
def test_the_nearest_config_with_a_base_names_it(repo: Repo) -> None:
    """A config in between that sets other keys takes no base away; the default branch is asked for last of all."""
    _feature(
        repo,
        {
            "app/deep/Reqfile.yaml": reqfile_text(block("DEEP", seen())),
            ".reqfile/config.yaml": "base: main\n",
            "app/.reqfile/config.yaml": "exclude: [never]\n",
        },
    )
    repo.write("app/deep/new.txt")
    assert repo.run("check", "--changed").out.startswith("DEEP  saw new.txt\n")


MINE = "app/Reqfile.yaml"


def _rewritten(repo: Repo) -> None:
    repo.write(MINE, reqfile_text(block("APP", seen("new"))))
    repo.commit()


WIDENING: dict[str, Callable[[Repo], object]] = {
    "Reqfile edited": lambda repo: repo.write(MINE, f"{repo.path(MINE).read_text()}\n# x\n"),
    "Reqfile committed": _rewritten,
    "asset added": lambda repo: repo.write("app/.reqfile/APP/new.lst"),
    "asset edited": lambda repo: repo.write("app/.reqfile/APP/words.lst", "two"),
    "asset deleted": lambda repo: repo.delete("app/.reqfile/APP/words.lst"),
    "config of the folder": lambda repo: repo.write("app/.reqfile/config.yaml", "decision:\n  concurrency: 2\n"),
    "config above": lambda repo: repo.write(".reqfile/config.yaml", "base: main\nexclude: [never]\n"),
    "config deleted": lambda repo: repo.delete(".reqfile/config.yaml"),
}
NOT_WIDENING: dict[str, Callable[[Repo], object]] = {
    "another Reqfile": lambda repo: repo.write("web/Reqfile.yaml", reqfile_text(block("WEB", seen("other")))),
    "an asset of another": lambda repo: repo.write("app/.reqfile/OTHER/words.lst", "two"),
    "a config beside": lambda repo: repo.write("web/.reqfile/config.yaml", "base: main\n"),
    "nothing": lambda repo: None,
}


@pytest.fixture
def scoped(repo: Repo) -> Repo:
    """APP with two files and an asset, WEB beside it, a config at the root."""
    return _feature(
        repo,
        {
            "app/Reqfile.yaml": reqfile_text(block("APP", seen())),
            "app/.reqfile/APP/words.lst": "one",
            "web/Reqfile.yaml": reqfile_text(block("WEB", seen())),
            ".reqfile/config.yaml": "base: main\n",
            "app/a.txt": "",
            "app/sub/b.txt": "",
        },
    )


@pytest.mark.requirement("SELECTION")
@pytest.mark.parametrize("edit", WIDENING)
def test_what_makes_a_definition_a_changed_one(scoped: Repo, edit: str) -> None:
    """Its Reqfile, its files or a config that applies to its folder, whatever was done to it: the whole scope."""
    WIDENING[edit](scoped)
    done = scoped.run("check", "--changed", "main")
    assert done.out.partition("\n")[0].split()[2:] == ["a.txt", "sub/b.txt"], done.out


@pytest.mark.requirement("SELECTION")
@pytest.mark.parametrize("edit", NOT_WIDENING)
def test_what_does_not(scoped: Repo, edit: str) -> None:
    """What is somebody else's definition changes nothing here."""
    NOT_WIDENING[edit](scoped)
    done = scoped.run("check", "--changed", "main")
    assert "APP" not in done.out
    assert "0 checks run, 2 with nothing to check. 0 violations, 0 advisory findings, 0 errors." in done.out


@pytest.mark.requirement("FAST_PATH")
def test_a_plain_run_skips_nothing(repo: Repo) -> None:
    """``fast: false`` is as good as not said; a variable of an agent or of CI changes nothing."""
    checks = (run("echo a; exit 1", fast=True), run("echo b; exit 1", fast=False), run("echo c; exit 1"))
    repo.write("Reqfile.yaml", reqfile_text(block("ALL", *checks)))
    done = repo.run("check", env={"CI": "true", "REQFILE_FAST": "1"})
    assert done.out.endswith("\n3 checks run, 0 with nothing to check. 3 violations, 0 advisory findings, 0 errors.\n")
    fast = repo.run("check", "--fast").out
    assert "\n1 check run, 0 with nothing to check, 2 left for a full run. 1 violation, " in fast


@pytest.mark.requirement("RUN_LOG")
def test_a_log_is_appended_to(repo: Repo) -> None:
    """What earlier runs wrote stays, byte for byte; each run has an id of its own."""
    repo.write("Reqfile.yaml", reqfile_text(block("A", run("true"))))
    repo.run("check", "--log", "run.jsonl")
    first = repo.path("run.jsonl").read_bytes()
    repo.run("check", "--log", "run.jsonl")
    both = repo.path("run.jsonl").read_bytes()
    assert both.startswith(first)
    assert len({json.loads(line)["run_id"] for line in both.splitlines()}) == 2


@pytest.mark.requirement("RUN_LOG")
def test_the_log_says_whether_the_cache_answered(repo: Repo, jev: Jev) -> None:
    """And changes nothing of what is found: the same verdicts, model and exit code, asked or not."""
    drepo(repo, jev, config=jev.pinned)
    repo.write("a.py", functions("f", mark="HOT") + "\n\n" + functions("g"))
    plain = decide(repo)
    logged = decide(repo, "--log", "run.jsonl")
    assert (logged.code, logged.out) == (plain.code, plain.out)
    found = log_of(repo, "run.jsonl", "decision_unit")
    assert [(line["verdict"], line["cached"]) for line in found] == [("advisory", True), ("pass", True)]
    repo.write("a.py", functions("f", mark="HOT") + "\n\n" + functions("h"))
    decide(repo, "--log", "run.jsonl")
    assert [line["cached"] for line in log_of(repo, "run.jsonl", "decision_unit")[2:]] == [True, False]


@pytest.mark.requirement("EXAMPLES")
@pytest.mark.parametrize("layout", ["named", "described"])
def test_an_example_is_alone(repo: Repo, layout: str) -> None:
    """In a fresh repository: no other case, file, requirement or history of this one is there."""
    script = (
        'test "$(git rev-parse --show-toplevel)" = "$(pwd -P)" && test ! -e ../../outer.txt && '
        'test "$(find . -name "*.txt" | sort | tr "\\n" " ")" = "./a.txt " && '
        'test "$(git log --oneline 2>/dev/null | grep -c history)" = 0'
    )
    never = block("OTHER", run("touch /nonexistent/x"))
    repo.write("Reqfile.yaml", reqfile_text(block("ALONE", run(script)), never))
    repo.write("outer.txt")
    for name in ("ok-a", "ok-b"):
        folder = f".reqfile/ALONE/examples/{name}"
        if layout == "described":
            repo.write(f"{folder}/example.yaml", "expected: ok\n")
            folder += "/files"
        repo.write(f"{folder}/a.txt")
    repo.commit("history")
    done = repo.run("test")
    assert done.code == 0, done.out + done.err
    assert done.out.startswith("ALONE  asserted: 2 examples, 2 as labeled\nOTHER  no evidence: no labeled examples\n")
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.requirement("EXAMPLES")
def test_an_example_has_the_settings_of_its_requirement(repo: Repo, jev: Jev) -> None:
    """Address, model and key of the folder of its Reqfile, key by key from the configs above it."""
    repo.write("app/Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write("app/.reqfile/ONE_JOB/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", f"{jev.config}  api_key_env: K_ROOT\n")
    repo.write("app/.reqfile/config.yaml", "decision:\n  model: m-app-2.0\n")
    repo.write("app/.reqfile/ONE_JOB/examples/violation-a/a.py", HOT)
    done = repo.run("test", env={"K_ROOT": "abc"})
    assert done.code == 0, done.out + done.err
    assert "1 of 1 violations caught" in done.out
    (heard,) = jev.questions
    assert (heard.model, heard.authorization) == ("m-app-2.0", "Bearer abc")
