"""Cases P of decision checks: questions that come from folders and other repositories (spec reqfile.md 1.6)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.decisions import DECISION, PYFUNC, asked_key, decide, functions
from tests.support.jev import Jev
from tests.support.packages import REPOSITORY, Consumer, uses
from tests.support.requirements import OK, req


@pytest.fixture
def consumer(make_repo: Callable[[str], Repo], tmp_path: Path) -> Consumer:
    """A repository that takes requirements from ``globex/rules``."""
    remotes = tmp_path / "remotes"
    return Consumer(repo=make_repo("repo"), rules=make_repo(f"remotes/{REPOSITORY}"), remotes=remotes)


def publish(consumer: Consumer, question: str) -> str:
    """A commit of the source whose decision check asks this."""
    consumer.rules.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC.replace("Several things?", question))
    consumer.rules.write(".reqfile/config.yaml", "decision:\n  endpoint: https://evil.example/\n  model: theirs\n")
    return consumer.publish(req(ONE_JOB=DECISION))


def asked(jev: Jev) -> list[tuple[str, str]]:
    """Path and question of all that was asked, sorted."""
    return sorted(
        (heard.state["path"], question["instructions"]["question"])
        for heard in jev.questions
        for question in heard.questions.values()
    )


@pytest.mark.case("reqfile:P1")
def test_a_folder_s_question_is_asked_about_the_use_block_s_files(repo: Repo, jev: Jev) -> None:
    """Each file once, by the nearest block; findings say where the requirement comes from."""
    repo.write("Reqfile.yaml", uses({"ONE_JOB": "./std"}))
    repo.write("std/Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write("std/.reqfile/ONE_JOB/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("src/a.py", functions("f", mark="HOT"))
    repo.write("std/tools/b.py", functions("f", mark="HOT"))
    done = repo.run("check", env=asked_key())
    assert done.code == 0
    assert asked(jev) == [("src/a.py", "Several things?"), ("std/tools/b.py", "Several things?")]
    finding = "advisory  ONE_JOB  src/a.py:1  p=0.95  It does several things.\n  fix: Break it up.\n"
    assert f"{finding}  from: Reqfile.yaml:3, use ./std (std/Reqfile.yaml:3)\n" in done.out
    assert "advisory  ONE_JOB  std/tools/b.py:1" in done.out


@pytest.mark.case("reqfile:P20")
def test_two_worktrees_with_different_thresholds_never_affect_each_other(repo: Repo, jev: Jev) -> None:
    """Both use one file of answers, at the same time; each run is as it would be alone."""
    repo.write("lib/Reqfile.yaml", req(ONE_JOB=OK))
    repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - id: ONE_JOB\n    use: ./lib\n    checks:\n      - decision\n")
    repo.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC.replace("0.8", "0.9"))
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("a.py", functions("f", mark="P80"))
    repo.commit()
    other = repo.home / "other"
    repo.git("worktree", "add", "-q", str(other))
    (other / ".reqfile/ONE_JOB/decision.yaml").write_text(PYFUNC.replace("0.8", "0.6"))
    folders = (repo.root, other)
    alone = [decide(repo, cwd=str(folder)) for folder in folders]
    for done, start in zip(
        alone, ("uncertain  ONE_JOB  a.py:1  p=0.80  ", "advisory  ONE_JOB  a.py:1  p=0.80  "), strict=True
    ):
        assert (done.code, done.out.startswith(start)) == (0, True), done.out
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda folder: decide(repo, cwd=str(folder)), folders * 5))
    assert together == alone * 5
    assert len(jev.questions) == 1


@pytest.mark.case("reqfile:P12")
@pytest.mark.case("reqfile:H23")
def test_a_pinned_repository_s_question_is_asked_with_our_settings(consumer: Consumer, jev: Jev) -> None:
    """Two folders on two commits, each with its own question; the source's endpoint and model are never used."""
    first, second = publish(consumer, "Q1"), publish(consumer, "Q2")
    repo = consumer.repo
    repo.write("Reqfile.yaml", uses({"ONE_JOB": f"{REPOSITORY}@{first}"}))
    repo.write("services/api/Reqfile.yaml", uses({"ONE_JOB": f"{REPOSITORY}@{second}"}))
    repo.write(".reqfile/config.yaml", jev.config)
    for path in ("a.py", "services/api/b.py"):
        repo.write(path, functions("f", mark="HOT"))
    done = consumer.run("check", env=asked_key())
    assert done.code == 0, done.out
    assert asked(jev) == [("a.py", "Q1"), ("services/api/b.py", "Q2")]
    assert done.out.count("advisory  ONE_JOB") == 2
    assert f"from: Reqfile.yaml:3, use {REPOSITORY}@{first} (Reqfile.yaml:3 at commit {first})" in done.out


def test_a_broken_question_of_another_repository_names_it(consumer: Consumer, jev: Jev) -> None:
    """Its path alone would be looked for here (spec 1.6)."""
    commit = publish(consumer, "Q1\nunknown: 1")
    consumer.repo.write("Reqfile.yaml", uses({"ONE_JOB": f"{REPOSITORY}@{commit}"}))
    consumer.repo.write(".reqfile/config.yaml", jev.config)
    done = consumer.run("check", env=asked_key())
    assert done.code == 3
    problem = ".reqfile/ONE_JOB/decision.yaml:5: unknown key `unknown` in decision.yaml"
    assert f"error  in {REPOSITORY}@{commit}: {problem}" in done.out
    assert jev.heard == []


def test_a_pinned_requirement_is_measured_on_the_examples_it_brings(consumer: Consumer, jev: Jev) -> None:
    """The source's labeled examples, the source's question, our settings (spec 6.2)."""
    consumer.rules.write(".reqfile/ONE_JOB/examples/violation-a/example.yaml", "expected: violation\n")
    consumer.rules.write(".reqfile/ONE_JOB/examples/violation-a/files/a.py", functions("f", mark="HOT"))
    commit = publish(consumer, "Q1")
    consumer.repo.write("Reqfile.yaml", uses({"ONE_JOB": f"{REPOSITORY}@{commit}"}))
    consumer.repo.write(".reqfile/config.yaml", jev.config)
    done = consumer.run("eval", env=asked_key())
    assert done.code == 0, done.out
    assert "1 of 1 violations caught" in done.out
    assert asked(jev) == [("a.py", "Q1")]
