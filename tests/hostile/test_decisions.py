"""Decision checks and services that are slow, cut off, late, wrong, huge or hostile; runs that are interrupted."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpTransport
from pytest_reqfile.workspace.processes import Cancellation
from tests.support import Repo
from tests.support.decisions import DECISION, PYFUNC, asked_key, decide, drepo, functions
from tests.support.jev import EXACT, NEWER, Heard, Jev, Said, said
from tests.support.juries import Court
from tests.support.processes import started, wait_until
from tests.support.requirements import req


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    """One that reads 16 KiB, and waits as long as a loaded machine needs."""
    made = HttpTransport(Environment(variables={}), seconds=20, limit=16 * 1024)
    yield made
    made.close()


@pytest.fixture
def hasty() -> Iterator[HttpTransport]:
    """One that gives up after less than a second."""
    made = HttpTransport(Environment(variables={}), seconds=0.8, limit=16 * 1024)
    yield made
    made.close()


def judge(jev: Jev, transport: HttpTransport, cache: Path, *names: str, concurrency: int = 4) -> Outcome:
    """The outcome of one check over functions of these names."""
    files: dict[str, str | bytes] = {
        "Reqfile.yaml": req(ONE_JOB=DECISION),
        ".reqfile/ONE_JOB/decision.yaml": PYFUNC,
        ".reqfile/config.yaml": f"{jev.config}  concurrency: {concurrency}\n",
        "a.py": functions(*names),
    }
    (outcome,) = Court(files, transport, cache=cache).judge()
    return outcome


def only(name: str, reply: Said) -> Callable[[Heard], Said | None]:
    """Behaves so for the unit of that name alone."""

    def behave(heard: Heard) -> Said | None:
        return reply if not heard.is_probe and f"def {name}(" in heard.state["unit"] else None

    return behave


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Said(delay=2.0), "Jev request failed: no complete answer within 0.8 seconds"),
        (Said(body=b"{" * 500, drip=0.02), "cannot read Jev response: no complete answer within 0.8 seconds"),
        (Said(body=b"x" * 20_000), "cannot read Jev response: the answer is larger than 16 KiB"),
        (Said(body=b"x" * 100, cut=90), "cannot read Jev response: the answer was cut off"),
        (Said(raw=b""), "Jev request failed: the server closed the connection without an answer"),
        (Said(raw=b"garbage\r\n\r\n"), "Jev request failed: the server does not speak HTTP"),
        (Said(status=302, headers={"Location": "http://127.0.0.1:9/x"}), "Jev returned HTTP 302: "),
        (Said(status=500, body=b"\x1b[2Jboom\xff"), "Jev returned HTTP 500: \x1b[2Jboom\ufffd"),
        (said({"model": EXACT, "answers": {"OTHER": {"noul": 0.0}}}), "Jev response has no probability for ONE_JOB: "),
        (said([]), "Jev response has no model: []"),
        (Said(body=b"["), "Jev returned invalid JSON: "),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
def test_one_bad_reply_costs_one_unit_and_is_never_a_pass(
    jev: Jev, transport: HttpTransport, hasty: HttpTransport, tmp_path: Path, reply: Said, reason: str
) -> None:
    """The other units are judged and kept; the next run asks about the lost one alone."""
    jev.behave = only("b", reply)
    outcome = judge(jev, hasty if "0.8" in reason else transport, tmp_path / "cache", "a", "b", "c")
    assert outcome.status == "error"
    assert (outcome.reason or "").startswith(f"1 of 3 units could not be judged, first at a.py:5: {reason}")
    assert outcome.details["units"] == 2
    jev.behave = lambda heard: None
    jev.heard.clear()
    again = judge(jev, transport, tmp_path / "cache", "a", "b", "c")
    assert (again.status, again.details["cached"]) == ("pass", 2)
    assert [heard.state["unit"].partition("(")[0] for heard in jev.questions] == ["def b"]


def test_a_service_that_is_busy_is_given_the_time_it_asks_for(
    jev: Jev, transport: HttpTransport, tmp_path: Path
) -> None:
    """``Retry-After`` in seconds; the third attempt succeeds."""
    replies = iter([Said(status=429, headers={"Retry-After": "1"}), Said(status=503)])
    jev.behave = lambda heard: None if heard.is_probe else next(replies, None)
    start = time.monotonic()
    outcome = judge(jev, transport, tmp_path / "cache", "a")
    assert outcome.status == "pass"
    assert time.monotonic() - start >= 2.0
    assert len(jev.questions) == 3


def test_a_service_that_asks_for_an_hour_is_not_waited_for(jev: Jev, transport: HttpTransport, tmp_path: Path) -> None:
    """What it asked for is told."""
    jev.behave = lambda heard: Said(status=429, body=b"later", headers={"Retry-After": "3600"})
    start = time.monotonic()
    outcome = judge(jev, transport, tmp_path / "cache", "a", "b")
    assert "Jev returned HTTP 429: later (it asks to wait 3600 seconds)" in (outcome.reason or "")
    assert time.monotonic() - start < 20.0
    assert len(jev.heard) == 1


def test_a_model_that_changes_in_the_middle_of_a_run_is_told_for_each_finding(
    jev: Jev, transport: HttpTransport, tmp_path: Path
) -> None:
    """Findings name the model that judged them; answers are kept under it."""
    jev.probability = lambda heard, identifier: 0.9
    answers = {"ONE_JOB": {"noul": 0.9}}
    jev.behave = only("b", said({"model": NEWER, "answers": answers}))
    outcome = judge(jev, transport, tmp_path / "cache", "a", "b")
    assert [finding.model for finding in outcome.findings] == [EXACT, NEWER]
    assert outcome.details["model"] == f"{EXACT}, {NEWER}"


def test_cancelling_ends_a_run_at_once_and_keeps_what_came(jev: Jev, tmp_path: Path) -> None:
    """The rest could not be judged: an error, whatever came; nothing is pruned."""
    files: dict[str, str | bytes] = {
        "Reqfile.yaml": req(ONE_JOB=DECISION),
        ".reqfile/ONE_JOB/decision.yaml": PYFUNC,
        ".reqfile/config.yaml": f"{jev.config}  concurrency: 2\n",
        "a.py": functions("a", "b", "c", "d"),
    }
    cancellation = Cancellation()

    def behave(heard: Heard) -> Said | None:
        if not heard.is_probe and "def a(" not in heard.state["unit"]:
            cancellation.cancel()
            return Said(delay=30.0)
        return None

    jev.behave = behave
    cache = tmp_path / "cache"
    cache.write_text("0123456789abcdef 0.5\n")
    transport = HttpTransport(Environment(variables={}))
    start = time.monotonic()
    (outcome,) = Court(files, transport, cache=cache, cancellation=cancellation).judge()
    assert time.monotonic() - start < 20.0
    assert outcome.status == "error"
    assert "stopped" in (outcome.reason or "")
    assert len(cache.read_text().splitlines()) == 1 + int(outcome.details["units"] or 0)


def test_a_run_cancelled_before_it_asks_looks_no_further_and_asks_nothing(jev: Jev, tmp_path: Path) -> None:
    """Reading and parsing may take long, too; what was not looked into is an error, not nothing to check."""
    files: dict[str, str | bytes] = {
        "Reqfile.yaml": req(ONE_JOB=DECISION),
        ".reqfile/ONE_JOB/decision.yaml": PYFUNC,
        ".reqfile/config.yaml": jev.config,
        "a.py": functions("a"),
    }
    cancellation = Cancellation()
    cancellation.cancel()
    transport = HttpTransport(Environment(variables={}))
    (outcome,) = Court(files, transport, cache=tmp_path / "cache", cancellation=cancellation).judge()
    assert (outcome.status, outcome.reason) == ("error", "stopped before it was answered")
    assert jev.heard == []


def hanging_after_six(heard: Heard) -> Said | None:
    """Of the functions f0 to f11, which are asked about in this order, six are answered."""
    number = -1 if heard.is_probe else int(heard.state["unit"].removeprefix("def f").partition("(")[0])
    return Said(delay=60.0) if number > 5 else None


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_stops_asking_and_keeps_the_answers_that_came(
    repo: Repo, jev: Jev, stop: signal.Signals
) -> None:
    """The next run asks about the rest alone."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 2\n")
    names = [f"f{number}" for number in range(12)]
    repo.write("a.py", functions(*names))
    jev.behave = hanging_after_six
    with started(repo, "pytest_reqfile", "check", env=asked_key()) as process:
        assert wait_until(lambda: len(jev.questions) >= 8, 30.0)
        time.sleep(0.2)
        start = time.monotonic()
        process.send_signal(stop)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 128 + stop
    assert time.monotonic() - start < 20.0
    assert (out, b"error: interrupted" in err, b"Traceback" in err) == (b"", True, False)
    assert len(repo.path(".git/reqfile/jev-cache").read_text().splitlines()) == 6
    jev.behave = lambda heard: None
    jev.heard.clear()
    assert "12 code units judged" in decide(repo).out
    assert len(jev.questions) == 6


def test_an_interrupted_pytest_run_keeps_the_answers_that_came(repo: Repo, jev: Jev) -> None:
    """Ctrl-C reaches pytest while the first decision item judges for all of them."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 2\n")
    repo.write("a.py", functions(*(f"f{number}" for number in range(12))))
    jev.behave = hanging_after_six
    with started(repo, "pytest", "-p", "no:cacheprovider", "-q", env=asked_key()) as process:
        assert wait_until(lambda: len(jev.questions) >= 8, 30.0)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 2, out
    assert len(repo.path(".git/reqfile/jev-cache").read_text().splitlines()) == 6


def test_no_symlink_leads_to_a_question(repo: Repo, jev: Jev) -> None:
    """Neither decision.yaml nor its folder may come from outside of the repository."""
    drepo(repo, jev)
    outside = repo.home / "spec"
    outside.mkdir()
    (outside / "decision.yaml").write_text(PYFUNC)
    repo.write("a.py", functions("f"))
    repo.delete(".reqfile/ONE_JOB")
    repo.symlink(".reqfile/ONE_JOB", str(outside))
    assert "needs .reqfile/ONE_JOB/decision.yaml: a folder above it is missing or a symbolic link" in decide(repo).out
    repo.delete(".reqfile/ONE_JOB")
    repo.symlink(".reqfile/ONE_JOB/decision.yaml", str(outside / "decision.yaml"))
    done = decide(repo)
    assert done.code == 3
    assert "needs .reqfile/ONE_JOB/decision.yaml: a symbolic link" in done.out
    assert jev.heard == []


def test_names_and_code_of_any_kind_are_asked_about(repo: Repo, jev: Jev) -> None:
    """Control characters, names that are no UTF-8, a byte order mark, lines of any ending."""
    drepo(repo, jev)
    names = ["-x.py", "a b.py", "\x1b[2J.py", "é日本.py", os.fsdecode(b"\xff.py")]
    for name in names:
        repo.write(name, functions("f", mark="HOT"))
    repo.write("bom.py", "\ufeff" + functions("f", mark="HOT"))
    repo.write("crlf.py", functions("f", mark="HOT").replace("\n", "\r\n"))
    repo.write("nul.py", "def f():\n    return '\0 HOT'\n")
    done = decide(repo)
    assert done.code == 0, done.out
    assert done.out.count("advisory  ONE_JOB") == len(names) + 3
    assert "\x1b" not in done.out
    assert {heard.state["path"] for heard in jev.questions} >= {"\\x1b[2J.py", "\\xff.py", "é日本.py", "-x.py"}
    document = json.loads(decide(repo, "--format", "json").out)
    assert document["summary"]["units_judged"] == len(names) + 3
    assert len(jev.questions) == len(names) + 3


def test_a_cache_that_is_a_symlink_is_neither_followed_nor_replaced(repo: Repo, jev: Jev) -> None:
    """Whoever put it there may have meant another file."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    target = repo.home / "target"
    target.write_text("0123456789abcdef 0.5\n")
    repo.symlink(".git/reqfile/jev-cache", str(target))
    done = decide(repo)
    assert done.code == 3
    assert "cannot read the Jev cache" in done.out
    assert target.read_text() == "0123456789abcdef 0.5\n"
    assert jev.heard == []


def test_a_key_that_would_break_a_header_is_refused_unseen(repo: Repo, jev: Jev) -> None:
    """Its value is told to nobody."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    done = decide(repo, env={"OPENROUTER_API_KEY": "secret\nX-Other: 1"})
    assert done.code == 3
    assert "OPENROUTER_API_KEY cannot be a key" in done.out
    assert "secret" not in done.out + done.err
    assert jev.heard == []
