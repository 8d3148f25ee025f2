"""Model services that fail, stall, redirect and lie, over real connections (issue 9; libraries.md 8)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reqfile.verifiers.chat import ChatError, ChatMessage, ChatReply, ChatRequest, Usage
from pytest_reqfile.verifiers.clients import ModelClient
from pytest_reqfile.verifiers.costs import Caps, Limits, Spending
from pytest_reqfile.verifiers.model_service import ModelService
from pytest_reqfile.verifiers.models import PROVIDERS, Provider
from pytest_reqfile.verifiers.prices import Price, Prices
from pytest_reqfile.verifiers.providers import Answered
from pytest_reqfile.verifiers.reply_cache import ReplyCache
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpTransport
from tests.support.models import KEY, Models, Sent, serve

TEXT = '{"results": []}'
REQUEST = ChatRequest(
    messages=(ChatMessage(role="system", content="Be strict."), ChatMessage(role="user", content="Judge ünï.")),
    max_tokens=100,
    schema_name="verdicts",
    schema='{"type":"object","properties":{},"required":[]}',
    prompt_version="p/1",
)
PRICE = Price(input_per_mtok=1, output_per_mtok=10)


class Asker:
    """Clients of the local service; ``waited`` is how long they were asked to wait, and did not."""

    def __init__(self, models: Models, cache: Path) -> None:
        self.models = models
        self.cache = cache
        self.waited: list[float] = []
        self.spending = Spending()
        self._transports: list[HttpTransport] = []

    def client(
        self, name: str = "openai", *, url: str = "", seconds: float = 5.0, caps: Caps | None = None, key: str = KEY
    ) -> ModelClient:
        provider = PROVIDERS[name]
        placed = Provider(name=name, protocol=provider.protocol, base_url=url or self.models.url, key_env="THE_KEY")
        environment = Environment(variables={"THE_KEY": key} if key else {})
        transport = HttpTransport(environment, seconds=seconds)
        self._transports.append(transport)
        return ModelClient(
            model=f"{name}/m1",
            provider=placed,
            prices=Prices(model=f"{name}/m1", own=PRICE),
            caps=caps or Caps(),
            spending=self.spending,
            service=ModelService(
                provider=placed,
                environment=environment,
                transport=transport,
                clock=SystemClock(),
                pause=self.waited.append,
            ),
            cache=ReplyCache(self.cache),
        )

    def ask(self, **facts: object) -> ChatReply:
        return self.client(**facts).ask(REQUEST)  # type: ignore[arg-type]

    def fails(self, **facts: object) -> ChatError:
        with pytest.raises(ChatError) as caught:
            self.ask(**facts)
        return caught.value

    def close(self) -> None:
        for transport in self._transports:
            transport.close()


@pytest.fixture
def asker(models: Models, tmp_path: Path) -> Iterator[Asker]:
    asker = Asker(models, tmp_path / "cache")
    models.answer = lambda heard: Sent(text=TEXT)
    yield asker
    asker.close()


@pytest.mark.parametrize(
    ("name", "path", "header", "limit"),
    [
        ("openai", "/v1/chat/completions", ("Authorization", f"Bearer {KEY}"), "max_completion_tokens"),
        ("openrouter", "/v1/chat/completions", ("Authorization", f"Bearer {KEY}"), "max_tokens"),
        ("anthropic", "/v1/messages", ("x-api-key", KEY), "max_tokens"),
        ("gemini", "/v1/models/m1:generateContent", ("x-goog-api-key", KEY), "maxOutputTokens"),
    ],
)
def test_protocols(asker: Asker, models: Models, name: str, path: str, header: tuple[str, str], limit: str) -> None:
    """Each provider is asked in its own protocol, with the key in a header and nowhere else."""
    reply = asker.ask(name=name)
    assert (json.loads(reply.text), reply.cached) == (json.loads(TEXT), False)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (100, 10)
    assert reply.cost_usd == pytest.approx(0.0002)
    (heard,) = models.heard
    assert (heard.path, heard.model, heard.user, heard.schema) == (path, "m1", "Judge ünï.", json.loads(REQUEST.schema))
    assert heard.headers[header[0]] == header[1]
    settings = heard.body.get("generationConfig", heard.body)
    assert (settings[limit], settings["temperature"]) == (100, 0)
    assert KEY.encode() not in heard.raw
    assert b"Be strict." in heard.raw


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"choices": [{"message": {"content": null, "refusal": "I will not."}}]}', b"\xff"]
)
def test_no_text(asker: Asker, models: Models, name: str, body: bytes) -> None:
    """An answer without a text in its place is no reply; it is not asked for again and counts as paid."""
    models.answer = lambda heard: Sent(body=body)
    error = asker.fails(name=name)
    assert error.kind == "reply"
    assert str(error).startswith("the provider's answer ")
    assert len(models.heard) == 1
    assert asker.spending.calls == 1
    assert asker.spending.cost_usd > 0


OPENAI_TEXT = {"message": {"role": "assistant", "content": TEXT}}
UNFINISHED = [
    ("openai", {"choices": [{**OPENAI_TEXT, "finish_reason": "length"}]}, "length"),
    ("openai", {"choices": [{**OPENAI_TEXT, "finish_reason": "content_filter"}]}, "content_filter"),
    ("anthropic", {"content": [{"type": "tool_use", "input": {}}], "stop_reason": "max_tokens"}, "max_tokens"),
    ("anthropic", {"content": [{"type": "text", "text": TEXT}], "stop_reason": "refusal"}, "refusal"),
    ("gemini", {"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "SAFETY"}]}, "SAFETY"),
    ("gemini", {"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "MAX_TOKENS"}]}, "MAX_TOKENS"),
]


@pytest.mark.parametrize(("name", "document", "word"), UNFINISHED)
def test_unfinished_answers(asker: Asker, models: Models, name: str, document: object, word: str) -> None:
    """What was cut off or held back may be whole JSON, and is no verdict; it counts as paid and is not kept."""
    models.answer = lambda heard: Sent(body=json.dumps(document).encode())
    error = asker.fails(name=name)
    assert (error.kind, str(error)) == ("reply", f"the model did not finish its answer: {word}")
    assert asker.spending.cost_usd > 0
    assert asker.fails(name=name).kind == "reply"
    assert len(models.heard) == 2


@pytest.mark.parametrize("reason", [None, "stop", "STOP", "tool_calls", ""])
def test_finished_answers(asker: Asker, models: Models, reason: str | None) -> None:
    """Servers that speak OpenAI's protocol have several words for it, or none."""
    body = json.dumps({"choices": [{**OPENAI_TEXT, "finish_reason": reason}]}).encode()
    models.answer = lambda heard: Sent(body=body)
    assert asker.ask().text == TEXT


def test_a_key_that_is_there_twice(asker: Asker, models: Models) -> None:
    """One of two verdicts would be thrown away unseen."""
    models.answer = lambda heard: Sent(
        body=b'{"content": [{"type": "tool_use", "input": {"results": [1], "results": []}}]}'
    )
    assert str(asker.fails(name="anthropic")) == "the provider's answer is no JSON"


def test_reasons_of_silence(asker: Asker, models: Models) -> None:
    """Why a model said nothing is told in the provider's words."""
    models.answer = lambda heard: Sent(body=b'{"promptFeedback": {"blockReason": "SAFETY"}}')
    assert str(asker.fails(name="gemini")).endswith(": SAFETY")


@pytest.mark.parametrize(
    ("status", "body", "kind", "attempts"),
    [
        (400, b'{"error": {"message": "bad", "code": "x"}}', "config", 1),
        (400, b'{"error": {"message": "too many", "code": "context_length_exceeded"}}', "too_long", 1),
        (401, b'{"error": {"message": "no"}}', "auth", 1),
        (402, b"pay", "budget", 1),
        (403, b"no", "auth", 1),
        (404, b"no such model", "config", 1),
        (413, b"large", "too_long", 1),
        (429, b"slow down", "rate_limit", 3),
        (429, b'{"error": {"message": "empty", "code": "insufficient_quota"}}', "budget", 1),
        (500, b"oops", "server", 3),
        (503, b"later", "server", 3),
        (504, b"late", "timeout", 3),
        (529, b"overloaded", "server", 3),
        (302, b"", "config", 1),
    ],
)
def test_statuses(asker: Asker, models: Models, status: int, body: bytes, kind: str, attempts: int) -> None:
    """What a status means: what may pass is tried again, what will not is not."""
    models.answer = lambda heard: Sent(status=status, body=body, headers={"Location": "http://127.0.0.1:1/"})
    error = asker.fails()
    assert (error.kind, len(models.heard)) == (kind, attempts)
    assert str(error).startswith(f"HTTP {status}")
    assert asker.waited == [0.5, 1.0][: attempts - 1]
    assert asker.spending.cost_usd == 0


def test_redirects_are_not_followed(asker: Asker, models: Models) -> None:
    """Neither the key nor the change goes to where an answer points."""
    with serve(Models()) as elsewhere:
        models.answer = lambda heard: Sent(status=307, headers={"Location": f"{elsewhere.url}/chat/completions"})
        assert str(asker.fails()) == "HTTP 307: it redirects, which is not followed"
        assert elsewhere.heard == []


def test_a_passing_failure(asker: Asker, models: Models) -> None:
    """After an overloaded answer the next one counts, and the wait is the one asked for."""
    left = [Sent(status=429, body=b"", headers={"Retry-After": "7"}), Sent(status=503, body=b""), Sent(text=TEXT)]
    models.answer = lambda heard: left.pop(0)
    assert asker.ask().text == TEXT
    assert asker.waited == [7.0, 1.0]


def test_too_long_a_wait(asker: Asker, models: Models) -> None:
    """A provider that asks for more than a minute is not waited for."""
    models.answer = lambda heard: Sent(status=429, body=b"", headers={"Retry-After": "61"})
    assert asker.fails().kind == "rate_limit"
    assert (asker.waited, len(models.heard)) == ([], 1)


def test_timeouts_are_paid(asker: Asker, models: Models) -> None:
    """An answer that does not come in time may have to be paid: each attempt counts with its worst case."""
    models.answer = lambda heard: Sent(text=TEXT, delay=2.0)
    error = asker.fails(seconds=0.2)
    assert error.kind == "timeout"
    assert "no complete answer within 0.2 seconds" in str(error)
    assert asker.spending.calls == 3
    worst = asker.spending.cost_usd / 3
    assert worst > 100 * 10 / 1e6
    assert error.cost_usd == asker.spending.cost_usd
    asker.spending = Spending()
    error = asker.fails(seconds=0.2, caps=Caps(max_cost_usd=1.5 * worst))
    assert error.kind == "cost"
    assert asker.spending.calls == 1


def test_a_dead_provider(asker: Asker) -> None:
    """Nobody listens: it is said, nothing is counted."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        error = asker.fails(url=f"http://{address}/v1")
    assert (error.kind, asker.spending.calls) == ("server", 0)
    assert str(error).startswith(f"{address} cannot be reached: ")
    assert "refused" in str(error)


def test_a_run_does_not_wait_forever(asker: Asker, models: Models) -> None:
    """A provider that cost the run ten minutes for nothing is not asked again."""
    client = asker.client()
    client.service._lost.append(601.0)
    with pytest.raises(ChatError) as caught:
        client.ask(REQUEST)
    assert caught.value.kind == "timeout"
    assert models.heard == []


def test_a_huge_answer(asker: Asker, models: Models) -> None:
    """An answer is read up to a bound, and not asked for again."""
    models.answer = lambda heard: Sent(body=b" " * (5 * 1024 * 1024))
    error = asker.fails()
    assert (error.kind, str(error), len(models.heard)) == ("reply", "the answer is larger than 4096 KiB", 1)


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak"])
def test_keys(asker: Asker, models: Models, key: str) -> None:
    """Without a key nothing is sent to a provider elsewhere; one that cannot be is never sent."""
    error = asker.fails(key=key, url="https://models.example/v1")
    assert error.kind == "auth"
    assert "THE_KEY" in str(error)
    assert not key or key not in str(error)
    assert models.heard == []


def test_no_key_on_this_machine(asker: Asker, models: Models) -> None:
    """A model on this machine needs none, and gets none."""
    asker.ask(key="")
    assert "Authorization" not in models.heard[0].headers


def test_keys_are_not_shown(asker: Asker, models: Models) -> None:
    """A provider that sends back what it was sent gives no key away; nor does a traceback."""
    models.answer = lambda heard: Sent(status=401, body=f"wrong key {KEY}".encode())
    error = asker.fails()
    assert str(error) == "HTTP 401: wrong key ***"
    assert KEY not in repr(asker.client())


def test_a_placeholder_is_no_key(asker: Asker, models: Models) -> None:
    """What a server on this machine is given for a key is part of many words, and makes no message unreadable."""
    models.answer = lambda heard: Sent(status=401, body=b"unknown model")
    assert str(asker.fails(key="k")) == "HTTP 401: unknown model"


def test_a_terminal_is_left_alone(asker: Asker, models: Models) -> None:
    """Words of a provider are shown on one line, shortened, without what moves a cursor."""
    models.answer = lambda heard: Sent(status=400, body=b"a\x1b[31m\nb" + b"c" * 1000)
    text = str(asker.fails())
    assert text.isprintable()
    assert text.startswith("HTTP 400: a\\x1b[31m b")
    assert len(text) < 400


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_calls=1), "[llm] max_calls = 1 is used up"),
        (Limits(max_tokens=400), "more than [llm] max_tokens = 400 leaves (110 spent)"),
        (Limits(max_cost_usd=0.0013), "would exceed [llm] max_cost_usd $0.00 ($0.0002 spent)"),
    ],
)
def test_budgets(asker: Asker, models: Models, limits: Limits, words: str) -> None:
    """The user's budget stops asking before the call that could exceed it."""
    client = asker.client(caps=Caps(max_cost_usd=0, limits=limits))
    client.ask(REQUEST)
    other = ChatRequest(
        messages=(ChatMessage(role="user", content="x" * 600),),
        max_tokens=100,
        schema_name="s",
        schema="{}",
        prompt_version="p/1",
    )
    with pytest.raises(ChatError) as caught:
        client.ask(other)
    assert (caught.value.kind, len(models.heard)) == ("budget", 1)
    assert words in str(caught.value)


def test_usage_that_lies(asker: Asker, models: Models) -> None:
    """Counts that cannot be are not believed: the worst case is."""
    message = {"choices": [{"message": {"content": TEXT}}]}
    for usage in (
        {"prompt_tokens": -5, "completion_tokens": 1},
        {"prompt_tokens": 0, "completion_tokens": 0},
        "x",
        None,
    ):
        asker.spending = Spending()
        asker.cache = asker.cache / "next"
        document = {**message, "usage": usage}
        models.answer = lambda heard, document=document: Sent(body=json.dumps(document).encode())  # type: ignore[misc]
        reply = asker.ask()
        assert reply.usage.completion_tokens == 100
        assert asker.spending.cost_usd == reply.cost_usd
        assert (reply.cost_usd or 0) > 0.001


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 1}', b"\xff\xfe", b'{"format": 1, "key": "x"}'])
def test_damaged_cache(asker: Asker, models: Models, damage: bytes) -> None:
    """A kept reply that was damaged is as good as absent."""
    asker.ask()
    (kept,) = asker.cache.iterdir()
    assert kept.stat().st_mode & 0o077 == 0 or asker.cache.stat().st_mode & 0o077 == 0
    assert asker.ask().cached
    kept.write_bytes(damage)
    assert not asker.ask().cached
    assert len(models.heard) == 2


@pytest.mark.parametrize("tokens", [-5, 10**300, True, 1.5, None])
def test_a_cache_that_counts_wrong(asker: Asker, models: Models, tokens: object) -> None:
    """A kept reply whose counts cannot be is as good as absent, too: reports add them up."""
    asker.ask()
    (kept,) = asker.cache.iterdir()
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "prompt_tokens": tokens}))
    assert asker.ask().usage.prompt_tokens == 100


def test_cache_of_another_request(asker: Asker, models: Models) -> None:
    """A reply is kept under everything that made it; one of another key is not taken."""
    asker.ask()
    (kept,) = asker.cache.iterdir()
    kept.write_bytes(kept.read_bytes().replace(kept.name.encode(), b"0" * 64))
    assert not asker.ask().cached
    asker.ask(name="openrouter")
    assert len(list(asker.cache.iterdir())) == 2


def test_cache_that_cannot_be_written(asker: Asker, tmp_path: Path) -> None:
    """A reply that cannot be kept is a reply all the same."""
    (tmp_path / "file").write_text("")
    asker.cache = tmp_path / "file/below"
    assert not asker.ask().cached


def test_a_cache_in_the_repository(tmp_path: Path) -> None:
    """A change could bring the reply along that lets it pass: what lies there is neither read nor written."""
    for folder in (tmp_path / "r/cache", tmp_path / "link"):
        (tmp_path / "r/cache").mkdir(parents=True, exist_ok=True)
        if folder.name == "link":
            folder.symlink_to(tmp_path / "r/cache")
        cache = ReplyCache.of_user(Environment(variables={"REQFILE_CACHE": str(folder)}), tmp_path.resolve() / "r")
        cache.keep("a" * 64, Answered(text=TEXT, usage=Usage()))
        assert cache.find("a" * 64) is None
    assert list((tmp_path / "r/cache").iterdir()) == []


def test_no_folder_for_caches() -> None:
    """Where there is no folder for caches nothing is kept."""
    cache = ReplyCache.of_user(Environment(variables={}), Path("/repository"))
    assert cache.find("0" * 64) is None
