"""Sentences of seed 000 about models that no published case shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.verifiers.chat import ChatMessage, ChatRequest
from pytest_reqfile.verifiers.models import PROVIDERS
from pytest_reqfile.verifiers.reply_cache import reply_key
from tests.cases.test_verifiers_llm import SRC, Bench
from tests.support import Repo
from tests.support.models import Models, Sent, failing, results, verdict
from tests.support.suggestions import proposal, reply
from tests.support.verifiers import Workbench, example, head, member, predicate

HEAD = head("judged", when="*.go", severity="error")
LLM = member("all", "llm", checklist=["Errors say what to do."])
FORBIDDEN = member("all", "forbid", regex="nope")
REFUSED = member("all", "command", argv=["true"])


@pytest.fixture
def bench(tmp_path: Path, models: Models) -> Iterator[Bench]:
    variables = {"REQFILE_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin", **models.variables()}
    bench = Bench(tmp_path / "project", models, variables)
    bench.write("a.go", SRC)
    yield bench
    for llm in bench.opened:
        llm.close()


NESTED = "[[verifiers.require.all]]\n[[verifiers.require.all.all]]\n" + predicate("all.all.llm", checklist=["One."])


def test_a_member_with_a_checklist_is_deferred(bench: Bench, models: Models) -> None:
    """Also where the checklist is deeper: the deterministic failure comes first, and the model is not asked."""
    bench.spec(HEAD + NESTED + FORBIDDEN)
    result = bench.judge()
    assert (result.status, result.code) == ("fail", "AR9H1")
    assert models.heard == []
    bench.write("a.go", "package a\n")
    assert bench.judge().status == "pass"
    assert len(models.heard) == 1


def test_a_refusal_hides_no_failure(bench: Bench, models: Models) -> None:
    """A command that was refused is noted beside the failure of a sibling, whatever comes first."""
    for text in (REFUSED + LLM + FORBIDDEN, FORBIDDEN + LLM + REFUSED):
        bench.spec(HEAD + text)
        result = bench.judge()
        assert (result.status, result.code) == ("fail", "AR9H1")
        assert any("pass --allow-exec" in note for note in result.notes)
    assert models.heard == []


def test_without_a_failure_the_refusal_is_the_result(bench: Bench) -> None:
    """An error, whatever the model says."""
    bench.spec(HEAD + REFUSED + LLM)
    result = bench.judge()
    assert (result.status, result.code) == ("error", "AR9H3")


@pytest.mark.parametrize(
    "text",
    [
        member("any", "llm", checklist=["a"]),
        predicate("not.llm", checklist=["a"]),
        "[[verifiers.require.all]]\n" + predicate("all.not.llm", checklist=["a"]),
        "[[verifiers.require.all]]\n[[verifiers.require.all.any]]\n" + predicate("all.any.llm", checklist=["a"]),
        "[[verifiers.require.any]]\n[[verifiers.require.any.all]]\n" + predicate("any.all.llm", checklist=["a"]),
    ],
)
def test_where_a_checklist_may_stand(bench: Bench, text: str) -> None:
    """Not where an advisory verdict would decide the result."""
    bench.spec(HEAD + text)
    result = bench.judge()
    assert (result.status, result.code) == ("error", "AR9H2")
    assert "the llm predicate may only be the root predicate or a direct member of `all`" in result.message


def test_a_large_change_is_split_by_file_and_line(bench: Bench, models: Models) -> None:
    """Every added line goes out once, in calls that are not larger than asked for."""
    bench.spec(HEAD + predicate("llm", checklist=["One."], max_diff_bytes=1024))
    bench.write("b.go", "".join(f"line {n} of b {'x' * 60}\n" for n in range(1, 41)))
    assert bench.judge().status == "pass"
    sent = [line for heard in models.heard for line in heard.user.splitlines() if line.startswith("L")]
    assert sent == [f"L{n}+ {line}" for n, line in enumerate(SRC.splitlines(), start=1)] + [
        f"L{n}+ line {n} of b {'x' * 60}" for n in range(1, 41)
    ]
    for heard in models.heard:
        lines = (line.partition(" ")[2] for line in heard.user.splitlines() if line.startswith("L"))
        assert sum(len(line) + 8 for line in lines) <= 1024


def test_long_lines_are_cut_between_characters(bench: Bench, models: Models) -> None:
    """What is behind byte 400 is not judged, and it is said of how many added lines."""
    bench.write("a.go", f"short\n{'é' * 300}\n{'x' * 399}é\n{'y' * 400}\n")
    bench.checklist(["One."])
    result = bench.judge()
    assert result.status == "pass"
    assert "cut a.go: 2 added line(s) are longer than 400 bytes" in result.notes
    text = models.heard[0].user
    assert f"L2+ {'é' * 200}...\nL3+ {'x' * 399}...\nL4+ {'y' * 400}\n" in text
    assert "ééé..." in text


REQUEST = ChatRequest(
    messages=(ChatMessage(role="user", content="text"),),
    max_tokens=1,
    schema_name="n",
    schema="{}",
    prompt_version="p/1",
)
OTHERS = [
    replace(REQUEST, prompt_version="p/2"),
    replace(REQUEST, messages=(ChatMessage(role="user", content="other"),)),
    replace(REQUEST, messages=(ChatMessage(role="system", content="text"),)),
    replace(REQUEST, schema='{"a":1}'),
    replace(REQUEST, max_tokens=2),
]


def test_what_a_reply_is_kept_under() -> None:
    """Everything that was asked, the prompt's version, the model, and where it is."""
    openai = PROVIDERS["openai"]
    keys = [reply_key(openai, "openai/m", request) for request in (REQUEST, *OTHERS)]
    keys += [reply_key(openai, "openai/m2", REQUEST), reply_key(PROVIDERS["openrouter"], "openai/m", REQUEST)]
    keys += [reply_key(replace(openai, base_url="https://proxy.example/v1"), "openai/m", REQUEST)]
    assert len(set(keys)) == len(keys)
    assert reply_key(openai, "openai/m", replace(REQUEST)) == keys[0]


@pytest.mark.parametrize(
    ("user", "config", "words"),
    [
        ({"max_calls": "1"}, "", "[llm] max_calls = 1 is used up"),
        ({}, "max_calls = 1", "[llm] max_calls = 1 is used up"),
        ({"max_calls": "1"}, "max_calls = 9", "[llm] max_calls = 1 is used up"),
        ({"max_calls": "9"}, "max_calls = 1", "[llm] max_calls = 1 is used up"),
        ({"max_cost_usd": "0.02"}, "max_cost_usd = 5.0", "would exceed [llm] max_cost_usd $0.02"),
    ],
)
def test_the_budget_of_a_run(repo: Repo, models: Models, user: dict[str, str], config: str, words: str) -> None:
    """It applies on top of ``--max-cost``, over all verifiers; a repository can only tighten it."""
    bench = Workbench(repo.root, repo.environment)
    bench.config(f"[llm]\n{config}")
    bench.spec("".join(head(name, when="*.go") + predicate("llm", checklist=[name]) for name in ("a", "b")))
    bench.write("a.go", SRC)
    models.answer = lambda heard: Sent(text=results(verdict()), usage=False)
    done = repo.run("verifiers", "run", "--allow-llm", "--max-cost", "0", env=models.variables(**user))
    assert done.code == 0, done
    assert "pass     warning   a " in done.out
    assert "skipped  info      b " in done.out
    assert words in done.out
    assert len(models.heard) == 1


def test_examples_count_as_entirely_added(repo: Repo, models: Models) -> None:
    """Each of their changed files, as a whole; another file of the example is there and is not shown."""
    bench = Workbench(repo.root, repo.environment)
    files = {"a.go": "package a\n\nvar x = WRONG\n", "b.go": "package b\n"}
    bench.spec(HEAD + predicate("llm", checklist=["One."]) + example("e", "fail", files, ("a.go",)))
    bench.write("a.go", "package of the repository\n")
    models.says(results(failing("a.go", "var x = WRONG")))
    repo.run("verifiers", "calibrate", "--allow-llm", env=models.variables())
    (heard,) = models.heard
    assert "FILE a.go\nL1+ package a\nL2+ \nL3+ var x = WRONG\n\nCHANGES " in heard.user
    assert b"package b" not in heard.raw
    assert b"of the repository" not in heard.raw


def test_five_proposals_if_nothing_else_is_said(repo: Repo, models: Models) -> None:
    """More are dropped, and counted."""
    Workbench(repo.root, repo.environment)
    models.says(reply(*(proposal(id=f"p{n}") for n in range(7))))
    done = repo.run("verifiers", "suggest", "store", "--allow-llm", "--format", "json", env=models.variables())
    document = json.loads(done.out)
    assert [one["id"] for one in document["proposals"]] == ["p0", "p1", "p2", "p3", "p4"]
    assert document["notes"][0] == "2 proposal(s) beyond --max-proposals 5 were dropped"


def test_a_revision_that_is_too_large_is_noted(repo: Repo, models: Models) -> None:
    """It is left out of the replay, and the others are not."""
    bench = Workbench(repo.root, repo.environment)
    repo.commit("base")
    bench.write("huge.bin", b"\0" * (33 * 1024 * 1024))
    repo.commit("huge")
    repo.git("rm", "-q", "huge.bin")
    bench.write("a.go", "// HACK\n")
    repo.commit("hack")
    models.says(reply(proposal()))
    done = repo.run("verifiers", "suggest", "store", "--allow-llm", "--replay", "3", env=models.variables())
    assert done.code == 0, done
    assert "# replay: would have flagged 1 of 2 merged diff(s) (" in done.out
    assert "note: 1 of 3 merged diff(s) could not be replayed (the revision " in done.out
    assert " is too large to extract: at most 50000 files, 32 MiB each and 512 MiB together)" in done.out
