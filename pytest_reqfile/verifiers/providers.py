"""Three protocols by which models are asked, as pure functions between values and bytes (libraries.md 8)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from pytest_reqfile.verifiers.chat import ChatError, ChatRequest, ErrorKind, Usage
from pytest_reqfile.verifiers.models import Protocol, Provider
from pytest_reqfile.verifiers.words import sanitized

ANTHROPIC_VERSION: Final = "2023-06-01"
_OPENAI: Final = "openai"
_WORDS_SHOWN: Final = 300
Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One HTTP request. ``repr`` leaves the headers out: they hold the key."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"<Wire {self.url}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The model's text; ``usage`` is None where the provider did not say."""

    text: str
    usage: Usage | None


def wire_request(provider: Provider, key: str, model: str, request: ChatRequest) -> Wire:
    """The request in the provider's protocol; ``model`` without its provider. An empty ``key`` is not sent."""
    make = _REQUESTS[provider.protocol]
    path, headers, document = make(provider, key, model, request)
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Wire(
        url=f"{provider.base_url}{path}",
        headers={"Content-Type": "application/json", **headers},
        body=body.encode("utf-8", "replace"),
    )


Parts = tuple[str, dict[str, str], Json]


def _openai(provider: Provider, key: str, model: str, request: ChatRequest) -> Parts:
    # OpenAI itself refuses `max_tokens` for newer models, other servers know nothing else.
    limit = "max_completion_tokens" if provider.name == _OPENAI else "max_tokens"
    schema = {"name": request.schema_name, "schema": json.loads(request.schema)}
    document: Json = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": request.temperature,
        limit: request.max_tokens,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    return "/chat/completions", {"Authorization": f"Bearer {key}"} if key else {}, document


def _anthropic(provider: Provider, key: str, model: str, request: ChatRequest) -> Parts:
    """A tool that the model must use is how every version of the protocol takes a schema."""
    del provider
    tool = {"name": request.schema_name, "input_schema": json.loads(request.schema)}
    document: Json = {
        "model": model,
        "system": _joined(request, "system"),
        "messages": [{"role": "user", "content": _joined(request, "user")}],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": request.schema_name},
    }
    headers = {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
    return "/messages", headers, document


def _gemini(provider: Provider, key: str, model: str, request: ChatRequest) -> Parts:
    del provider
    document: Json = {
        "systemInstruction": {"parts": [{"text": _joined(request, "system")}]},
        "contents": [{"role": "user", "parts": [{"text": _joined(request, "user")}]}],
        "generationConfig": {
            "temperature": request.temperature,
            "maxOutputTokens": request.max_tokens,
            "responseMimeType": "application/json",
            "responseSchema": json.loads(request.schema),
        },
    }
    # The key goes into a header: an address ends up in logs.
    return f"/models/{quote(model, safe='')}:generateContent", {"x-goog-api-key": key} if key else {}, document


_REQUESTS: Final[dict[Protocol, Callable[[Provider, str, str, ChatRequest], Parts]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
}


def _joined(request: ChatRequest, role: str) -> str:
    return "\n\n".join(message.content for message in request.messages if message.role == role)


def read_reply(protocol: Protocol, body: bytes) -> Answered:
    """What a reply of status 200 says. Raises ChatError for one without text, and for one that is not all of it."""
    try:
        document: object = json.loads(body, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ChatError("reply", "the provider's answer is no JSON") from error
    found = _REPLIES[protocol](document)
    if found is None:
        raise ChatError("reply", f"the provider's answer holds no text{_reason(document)}")
    ended = _at(document, *_ENDINGS[protocol])
    if ended is not None and str(ended).lower() not in _FINISHED:
        # Cut off or held back: what is there may be whole JSON, and is not the model's whole answer.
        raise ChatError("reply", f"the model did not finish its answer: {words(str(ended))}")
    return found


def _once(pairs: list[tuple[str, object]]) -> Json:
    """An object without its first value of a key would say something else than it says."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _openai_reply(document: object) -> Answered | None:
    text = _at(document, "choices", 0, "message", "content")
    usage = _usage(document, ("usage", "prompt_tokens"), ("usage", "completion_tokens"))
    return Answered(text=text, usage=usage) if isinstance(text, str) else None


def _anthropic_reply(document: object) -> Answered | None:
    blocks = _at(document, "content")
    usage = _usage(document, ("usage", "input_tokens"), ("usage", "output_tokens"))
    for block in blocks if isinstance(blocks, list) else ():
        if _at(block, "type") == "tool_use" and isinstance(given := _at(block, "input"), dict):
            return Answered(text=json.dumps(given, ensure_ascii=False), usage=usage)
    texts = [_at(block, "text") for block in blocks if _at(block, "type") == "text"] if isinstance(blocks, list) else []
    return _together(texts, usage)


def _gemini_reply(document: object) -> Answered | None:
    parts = _at(document, "candidates", 0, "content", "parts")
    prompt, answer = ("usageMetadata", "promptTokenCount"), ("usageMetadata", "candidatesTokenCount")
    usage = _usage(document, prompt, answer, ("usageMetadata", "thoughtsTokenCount"))
    spoken = (
        [_at(part, "text") for part in parts if _at(part, "thought") is not True] if isinstance(parts, list) else []
    )
    return _together(spoken, usage)


_REPLIES: Final[dict[Protocol, Callable[[object], Answered | None]]] = {
    "openai": _openai_reply,
    "anthropic": _anthropic_reply,
    "gemini": _gemini_reply,
}


_ENDINGS: Final[dict[Protocol, tuple[str | int, ...]]] = {
    "openai": ("choices", 0, "finish_reason"),
    "anthropic": ("stop_reason",),
    "gemini": ("candidates", 0, "finishReason"),
}
_FINISHED: Final = frozenset(
    {"stop", "end_turn", "tool_use", "tool_calls", "function_call", "stop_sequence", "eos", "eos_token", ""}
)


def _together(texts: list[object], usage: Usage | None) -> Answered | None:
    found = [text for text in texts if isinstance(text, str)]
    return Answered(text="".join(found), usage=usage) if found else None


def _usage(
    document: object, prompt: tuple[str, ...], completion: tuple[str, ...], *more: tuple[str, ...]
) -> Usage | None:
    """Counts that the provider states; None unless both are there, so that nobody takes a call for free."""
    first, second = token_count(_at(document, *prompt)), token_count(_at(document, *completion))
    if not first or second is None:
        return None
    extra = sum(token_count(_at(document, *path)) or 0 for path in more)
    return Usage(prompt_tokens=first, completion_tokens=second + extra)


_MOST_TOKENS: Final = 10**9


def token_count(found: object) -> int | None:
    """A number of tokens that somebody states; None where it cannot be one."""
    is_count = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST_TOKENS
    return found if is_count and isinstance(found, int) else None


def _at(document: object, *path: str | int) -> object:
    """What stands at a path of keys and indexes; None where there is nothing of the kind."""
    for step in path:
        if isinstance(step, str) and isinstance(document, dict):
            document = document.get(step)
        elif isinstance(step, int) and isinstance(document, list) and len(document) > step:
            document = document[step]
        else:
            return None
    return document


def _reason(document: object) -> str:
    """Why a model said nothing, as far as the provider tells."""
    places: tuple[tuple[str | int, ...], ...] = (
        ("choices", 0, "message", "refusal"),
        ("choices", 0, "finish_reason"),
        ("candidates", 0, "finishReason"),
        ("promptFeedback", "blockReason"),
        ("stop_reason",),
        ("error", "message"),
    )
    reasons = [found for place in places if isinstance(found := _at(document, *place), str) and found]
    return f": {words(reasons[0])}" if reasons else ""


_BY_STATUS: Final[dict[int, ErrorKind]] = {
    401: "auth",
    403: "auth",
    402: "budget",
    408: "timeout",
    413: "too_long",
    429: "rate_limit",
    504: "timeout",
}
_CONTEXT_WORDS: Final = ("context_length", "context length", "too long", "token count", "too many tokens")
_QUOTA_WORDS: Final = ("insufficient_quota", "credit balance")


def status_error(status: int, body: bytes) -> ChatError:
    """The error of a reply whose status is not 200, with the provider's own words."""
    try:
        document: object = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    stated = _at(document, "error", "message")
    text = stated if isinstance(stated, str) else body.decode("utf-8", "replace")
    codes = " ".join(str(_at(document, "error", key)) for key in ("code", "type", "status"))
    kind = _kind(status, f"{text} {codes}".lower())
    where = "it redirects, which is not followed" if 300 <= status < 400 else words(text)
    return ChatError(kind, f"HTTP {status}: {where}".rstrip(": "))


def _kind(status: int, text: str) -> ErrorKind:
    if status == 429 and any(word in text for word in _QUOTA_WORDS):
        return "budget"
    if status == 400 and any(word in text for word in _CONTEXT_WORDS):
        return "too_long"
    return _BY_STATUS.get(status, "server" if status >= 500 else "config")


def words(text: str) -> str:
    """What a provider says, on one line and not too long."""
    line = sanitized(" ".join(text.split()))
    return line if len(line) <= _WORDS_SHOWN else f"{line[:_WORDS_SHOWN]}..."
