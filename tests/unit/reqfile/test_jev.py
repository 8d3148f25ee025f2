"""The service's protocol: attempts, waits, and what counts as an answer (spec reqfile.md 4.4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_reqfile.errors import HttpError
from pytest_reqfile.reqfile.endpoints import Endpoint
from pytest_reqfile.reqfile.jev import Jev, JevError
from pytest_reqfile.workspace.http import HttpReply
from tests.support.services import GivenTransport

GOOD = HttpReply(status=200, body=b'{"model": "m-1", "answers": {"A": {"noul": 0.25}, "B": {"noul": 1}}, "usage": {}}')
QUESTIONS = {"A": '{"type":"noul"}', "B": '{"type":"noul"}'}


class Waits:
    """Remembers how long a client would wait; ``stop`` says the run was stopped meanwhile."""

    def __init__(self, stop: bool = False) -> None:
        self.seconds: list[float] = []
        self._stop = stop

    def __call__(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return self._stop


def client(*replies: HttpReply | HttpError, waits: Waits | None = None) -> tuple[Jev, GivenTransport]:
    """A client whose service gives these replies, one after the other."""
    rest: Iterator[HttpReply | HttpError] = iter(replies)

    def respond(body: dict[str, Any]) -> HttpReply:
        del body
        reply = next(rest)
        if isinstance(reply, HttpError):
            raise reply
        return reply

    transport = GivenTransport(respond)
    endpoint = Endpoint(url="https://openrouter.ai/api/v1/systemone", key="s3cret")
    return Jev(endpoint=endpoint, model="~m", transport=transport, pause=waits or Waits()), transport


def test_an_answer_is_the_exact_model_and_a_probability_for_each_question() -> None:
    """What else the service says is ignored; integers are numbers."""
    jev, transport = client(GOOD)
    answer = jev.ask('{"unit":"x"}', QUESTIONS)
    assert (answer.model, dict(answer.probabilities)) == ("m-1", {"A": 0.25, "B": 1.0})
    assert transport.sent == [
        {"model": "~m", "state": {"unit": "x"}, "questions": {"A": {"type": "noul"}, "B": {"type": "noul"}}}
    ]


@pytest.mark.case("reqfile:R7")
@pytest.mark.parametrize("status", [429, 502, 503, 504, 520, 522, 524, 529])
def test_busy_services_are_asked_three_times(status: int) -> None:
    """After half a second and after one more; then what the last one said is the reason."""
    busy = HttpReply(status=status, body=b"  busy \n")
    waits = Waits()
    jev, transport = client(busy, busy, GOOD, waits=waits)
    assert jev.ask("1", QUESTIONS).model == "m-1"
    assert (len(transport.sent), waits.seconds) == (3, [0.5, 1.0])
    jev, transport = client(busy, busy, busy)
    with pytest.raises(JevError) as caught:
        jev.ask("1", QUESTIONS)
    assert str(caught.value) == f"Jev returned HTTP {status}: busy"
    assert len(transport.sent) == 3


@pytest.mark.case("reqfile:R7")
@pytest.mark.parametrize("status", [201, 204, 301, 307, 400, 401, 403, 404, 500, 501])
def test_any_other_status_fails_at_once(status: int) -> None:
    """A redirect as well: where it leads gets no key."""
    jev, transport = client(HttpReply(status=status, body=GOOD.body))
    with pytest.raises(JevError, match=f"Jev returned HTTP {status}: "):
        jev.ask("1", QUESTIONS)
    assert len(transport.sent) == 1


def test_a_connection_that_fails_is_tried_again_and_one_that_answered_is_not() -> None:
    """An answer cut off in the middle was given, and paid for."""
    jev, transport = client(HttpError("reset"), HttpError("reset"), GOOD)
    assert jev.ask("1", QUESTIONS).model == "m-1"
    jev, transport = client(*[HttpError("reset")] * 3)
    with pytest.raises(JevError, match=r"^Jev request failed: reset$"):
        jev.ask("1", QUESTIONS)
    jev, transport = client(HttpError("cut", answered=True))
    with pytest.raises(JevError, match=r"^cannot read Jev response: cut$"):
        jev.ask("1", QUESTIONS)
    assert len(transport.sent) == 1


@pytest.mark.parametrize(("asked", "waited"), [(0.0, [0.5]), (3.0, [3.0]), (60.0, [60.0]), (61.0, []), (1e9, [])])
def test_retry_after_is_waited_for_within_reason(asked: float, waited: list[float]) -> None:
    """A minute at most: nobody waits for an hour without knowing; what was asked for is told."""
    waits = Waits()
    busy = HttpReply(status=429, body=b"busy", retry_after=asked)
    jev, _ = client(busy, GOOD, waits=waits)
    if waited:
        assert jev.ask("1", QUESTIONS).model == "m-1"
    else:
        with pytest.raises(JevError, match=rf"HTTP 429: busy \(it asks to wait {asked:.0f} seconds\)$"):
            jev.ask("1", QUESTIONS)
    assert waits.seconds == waited


def test_a_run_that_was_stopped_is_not_waited_for() -> None:
    """Ctrl-C between two attempts."""
    jev, transport = client(HttpError("reset"), GOOD, waits=Waits(stop=True))
    with pytest.raises(JevError, match="Jev request failed: reset"):
        jev.ask("1", QUESTIONS)
    assert len(transport.sent) == 1


def body(document: object) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "Jev returned invalid JSON: Expecting value"),
        (b"<html>", "Jev returned invalid JSON: Expecting value"),
        (b"\xff\xfe", "Jev returned invalid JSON: Expecting value"),
        (b"[" * 100_000, "Jev returned invalid JSON: maximum recursion depth exceeded"),
        (b"[]", "Jev response has no model: []"),
        (body({"answers": {}}), 'Jev response has no model: {"answers": {}}'),
        (body({"model": "", "answers": {}}), "Jev response has no model: "),
        (body({"model": 1, "answers": {}}), "Jev response has no model: "),
        (body({"model": "\ud800", "answers": {}}), "Jev response has no model: "),
        (body({"model": "m\n1", "answers": {}}), "Jev response has no model: "),
        (body({"model": "\x1b[2J", "answers": {}}), "Jev response has no model: "),
        (body({"model": "m" * 301, "answers": {}}), "Jev response has no model: "),
        (body({"model": "m"}), 'Jev response has no probability for A: {"model": "m"}'),
        (body({"model": "m", "answers": []}), "Jev response has no probability for A: "),
        (body({"model": "m", "answers": {"A": 0.5}}), "Jev response has no probability for A: "),
        (body({"model": "m", "answers": {"A": {"noul": 0.5}}}), "Jev response has no probability for B: "),
        (b'{"model": "m", "answers": {"A": {"noul": NaN}}}', "Jev response has no probability for A: "),
        (b'{"model": "m", "answers": {"A": {"noul": 1e999}}}', "Jev response has no probability for A: "),
        (body({"model": "m", "answers": {"A": {"noul": -0.1}}}), "Jev response has no probability for A: "),
        (body({"model": "m", "answers": {"A": {"noul": None}}}), "Jev response has no probability for A: "),
    ],
)
def test_what_is_no_answer_is_an_error(answer: bytes, message: str) -> None:
    """One bad answer fails the request; it is not sent again."""
    jev, transport = client(HttpReply(status=200, body=answer))
    with pytest.raises(JevError) as caught:
        jev.ask("1", QUESTIONS)
    assert str(caught.value).startswith(message)
    assert len(transport.sent) == 1


def test_long_bodies_are_cut_and_keys_masked() -> None:
    """A hostile service makes neither reports long nor keys public."""
    jev, _ = client(HttpReply(status=500, body=b"Bearer s3cret " + b"x" * 1000))
    with pytest.raises(JevError) as caught:
        jev.ask("1", QUESTIONS)
    text = str(caught.value)
    assert text.startswith("Jev returned HTTP 500: Bearer *** x")
    assert text.endswith("x…")
    assert len(text) < 350
    assert "s3cret" not in repr(jev)


@pytest.mark.parametrize("at", range(285, 301))
def test_no_part_of_a_key_is_shown_where_a_body_is_cut(at: int) -> None:
    """Masking comes before cutting."""
    jev, _ = client(HttpReply(status=500, body=b"x" * at + b"s3cret and more"))
    with pytest.raises(JevError) as caught:
        jev.ask("1", QUESTIONS)
    assert "s3" not in str(caught.value)


def test_a_key_sent_back_as_the_model_is_masked_and_minus_zero_is_zero() -> None:
    """Reports name the model; the file of answers has no sign."""
    answers = {"A": {"noul": -0.0}, "B": {"noul": 0.5}}
    jev, _ = client(HttpReply(status=200, body=body({"model": "m-s3cret", "answers": answers})))
    answer = jev.ask("1", QUESTIONS)
    assert answer.model == "m-***"
    assert str(answer.probabilities["A"]) == "0.0"


@pytest.mark.parametrize("make", [lambda jev: jev.exact_model()])
def test_the_probe_says_nothing_of_the_repository(make: Callable[[Jev], str]) -> None:
    """It only learns which model answers."""
    jev, transport = client(HttpReply(status=200, body=body({"model": "m-2", "answers": {"probe": {"noul": 0}}})))
    assert make(jev) == "m-2"
    question = {"type": "noul", "instructions": "Is this text empty?"}
    assert transport.sent == [{"model": "~m", "state": "reqfile", "questions": {"probe": question}}]
