"""Grouping, order, concurrency and the cache change what judging costs, never what it says (issue 8, proof)."""

from __future__ import annotations

import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.workspace.http import HttpReply
from tests.support.decisions import DECISION, PYFUNC
from tests.support.juries import Court
from tests.support.requirements import req
from tests.support.services import GivenTransport, answered

IDS = ("ALPHA", "BETA", "GAMMA")
THRESHOLDS = ((0.8, 0.2), (0.5, 0.5), (1.0, 0.0))
KINDS = ("function_definition", "class_definition", "except_clause")
CODE = {
    "f": "def f(x):\n    try:\n        x()\n    except E:\n        pass\n",
    "c": "class C:\n    def m(self):\n        return 1\n",
    "n": "x = 1\n",
}

checks = st.fixed_dictionaries(
    {},
    optional={
        identifier: st.tuples(st.sampled_from(KINDS), st.booleans(), st.sampled_from(THRESHOLDS)) for identifier in IDS
    },
).filter(bool)
trees = st.dictionaries(
    st.sampled_from(["a.py", "app/b.py", "app/c.py", "d.rs"]), st.lists(st.sampled_from("fcn"), max_size=4), max_size=4
)


def probability(body: dict[str, Any], identifier: str) -> float:
    """What a deterministic model would say: a function of all it sees."""
    seen = repr((body["state"], identifier, body["questions"][identifier]))
    return sha256(seen.encode()).digest()[0] / 255


def files_of(chosen: dict[str, Any], tree: dict[str, list[str]], config: str) -> dict[str, str | bytes]:
    """A repository with those checks and that code."""
    files: dict[str, str | bytes] = {
        "Reqfile.yaml": req(**dict.fromkeys(chosen, DECISION)),
        ".reqfile/config.yaml": config,
    }
    for identifier, (kind, enclosing, (above, below)) in chosen.items():
        text = PYFUNC.replace("function_definition", kind).replace("0.8", str(above)).replace("0.2", str(below))
        context = "context: enclosing\n" if enclosing else ""
        files[f".reqfile/{identifier}/decision.yaml"] = context + text.lstrip("\n")
    return files | {path: "".join(CODE[part] for part in parts) for path, parts in tree.items()}


def verdicts(outcomes: tuple[Outcome, ...]) -> list[tuple[object, ...]]:
    """What reports are made of, without what only tells the cost."""
    return [(o.owner, o.status, o.findings, o.reason, o.details.get("units")) for o in outcomes]


@settings(max_examples=60, deadline=None)
@given(chosen=checks, tree=trees, concurrency=st.integers(1, 8), slow=st.lists(st.booleans(), min_size=1, max_size=5))
def test_verdicts_are_those_of_each_check_alone(
    chosen: dict[str, Any], tree: dict[str, list[str]], concurrency: int, slow: list[bool]
) -> None:
    """Judged together, in any order of replies, fresh or from the cache: the same outcomes; no unit is sent twice."""
    answer = answered(probability)

    def respond(body: dict[str, Any]) -> HttpReply:
        if body["state"] != "reqfile" and slow[len(repr(body)) % len(slow)]:
            time.sleep(0.001)
        return answer(body)

    config = f"decision:\n  concurrency: {concurrency}\n"
    files = files_of(chosen, tree, config)
    alone = []
    for identifier, check in chosen.items():
        court = Court(files_of({identifier: check}, tree, config), GivenTransport(answer))
        alone += verdicts(court.judge())
    transport = GivenTransport(respond)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "jev-cache")
        fresh = Court(files, transport, cache=cache).judge()
        sent = [body["state"] for body in transport.sent if body["state"] != "reqfile"]
        again = Court(files, transport, cache=cache).judge()
    assert verdicts(fresh) == verdicts(again) == alone
    assert len(sent) == len({repr(state) for state in sent})
    assert sum(body["state"] != "reqfile" for body in transport.sent) == len(sent)
    assert all(o.details.get("cached") == o.details.get("units") for o in again)


@settings(max_examples=40, deadline=None)
@given(chosen=checks, tree=trees, failing=st.integers(0, 255))
def test_what_fails_is_never_a_pass_and_costs_no_other_unit_its_verdict(
    chosen: dict[str, Any], tree: dict[str, list[str]], failing: int
) -> None:
    """Each unit is judged as if it were alone, or counted among those that could not be judged."""
    answer = answered(probability)

    def fails(body: dict[str, Any]) -> bool:
        return body["state"] != "reqfile" and sha256(repr(body["state"]).encode()).digest()[0] < failing

    def respond(body: dict[str, Any]) -> HttpReply:
        return HttpReply(status=500, body=b"no") if fails(body) else answer(body)

    files = files_of(chosen, tree, "")
    good = Court(files, GivenTransport(answer)).judge()
    bad = Court(files, GivenTransport(respond)).judge()
    for before, after in zip(good, bad, strict=True):
        assert set(after.findings) <= set(before.findings)
        lost = int(before.details.get("units") or 0) - int(after.details.get("units") or 0)
        if lost:
            assert after.status == "error"
            assert (after.reason or "").startswith(f"{lost} of {before.details['units']} units could not be judged")
        else:
            assert verdicts((after,)) == verdicts((before,))
