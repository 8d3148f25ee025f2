"""The model service's protocol: one request about one state, with several yes/no questions (spec reqfile.md 4.4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import HttpError, ReqfileError
from pytest_reqfile.reqfile.endpoints import Endpoint
from pytest_reqfile.workspace.http import HttpReply, Transport

WAITS: Final = (0.5, 1.0)
"""Seconds before the second and the third attempt."""
LONGEST_WAIT: Final = 60.0
"""Seconds that a service may ask to wait; if it asks for more, the request fails at once."""
_OK: Final = 200
_RETRIED: Final = frozenset({429, 502, 503, 504, 520, 522, 524, 529})
_BODY_SHOWN: Final = 300
_LONGEST_NAME: Final = 300
_PROBE: Final = "probe"
_PROBE_STATE: Final = '"reqfile"'
_PROBE_QUESTION: Final = '{"instructions":"Is this text empty?","type":"noul"}'


class JevError(ReqfileError):
    """The service gave no usable answer; the text is what reports say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What the exact ``model`` answered: by question id, the probability of yes, in 0..1."""

    model: str
    probabilities: Mapping[str, float]


Pause = Callable[[float], bool]
"""Waits that many seconds; True when the run was stopped meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jev:
    """The service at one endpoint, asked for one model, which may be an alias. Used from several threads."""

    endpoint: Endpoint
    model: str
    transport: Transport
    pause: Pause

    def exact_model(self) -> str:
        """The model that answers now, asked about nothing of the repository. Raises JevError."""
        return self.ask(_PROBE_STATE, {_PROBE: _PROBE_QUESTION}).model

    def ask(self, state: str, questions: Mapping[str, str]) -> ModelAnswer:
        """The answers about a state, both given as JSON text. Raises JevError: one bad answer fails the request."""
        asked = ",".join(f"{_json(identifier)}:{question}" for identifier, question in questions.items())
        body = f'{{"model":{_json(self.model)},"state":{state},"questions":{{{asked}}}}}'
        return self._read(self._send(body.encode()), tuple(questions))

    def _send(self, body: bytes) -> str:
        """The text of a reply of status 200, after as many attempts as it takes and may take."""
        headers = {"Authorization": f"Bearer {self.endpoint.key}", "Content-Type": "application/json"}
        for wait in (*WAITS, None):
            try:
                reply = self.transport.post(self.endpoint.url, headers, body)
            except HttpError as error:
                if error.answered:
                    raise JevError(self._masked(f"cannot read Jev response: {error}")) from error
                failure, asked = f"Jev request failed: {error}", None
            else:
                if reply.status == _OK:
                    return reply.body.decode("utf-8", "replace")
                failure, asked = self._status_failure(reply), reply.retry_after
                if reply.status not in _RETRIED:
                    wait = None  # noqa: PLW2901 - such an answer is the last one
            if wait is None or (asked or 0) > LONGEST_WAIT or self.pause(max(wait, asked or 0)):
                raise JevError(self._masked(failure))
        raise AssertionError("the last attempt returns or raises")

    def _read(self, text: str, identifiers: tuple[str, ...]) -> ModelAnswer:
        try:
            document: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise JevError(self._masked(f"Jev returned invalid JSON: {error}")) from error
        found = document if isinstance(document, dict) else {}
        model, answers = found.get("model"), found.get("answers")
        if not isinstance(model, str) or not _is_name(model):
            raise JevError(f"Jev response has no model: {self._shown(text)}")
        probabilities: dict[str, float] = {}
        for identifier in identifiers:
            probability = _probability(answers, identifier)
            if probability is None:
                raise JevError(f"Jev response has no probability for {identifier}: {self._shown(text)}")
            probabilities[identifier] = probability
        return ModelAnswer(model=self._masked(model), probabilities=probabilities)

    def _status_failure(self, reply: HttpReply) -> str:
        asked = reply.retry_after
        patience = f" (it asks to wait {asked:.0f} seconds)" if asked and asked > LONGEST_WAIT else ""
        return f"Jev returned HTTP {reply.status}: {self._shown(reply.body.decode('utf-8', 'replace'))}{patience}"

    def _shown(self, body: str) -> str:
        """What a report shows of a reply, masked first: half of a key that was cut would not be found."""
        text = self._masked(body).strip()
        return text if len(text) <= _BODY_SHOWN else f"{text[:_BODY_SHOWN]}…"

    def _masked(self, text: str) -> str:
        """A server may send back what it was sent."""
        return text.replace(self.endpoint.key, "***")


def _is_name(model: str) -> bool:
    """Reports, run logs and cache keys carry it: one line that can be written, and not a long one."""
    return bool(model.strip()) and model.isprintable() and len(model) <= _LONGEST_NAME


def _probability(answers: object, identifier: str) -> float | None:
    answer = answers.get(identifier) if isinstance(answers, dict) else None
    probability = answer.get("noul") if isinstance(answer, dict) else None
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1:
        return None
    return float(probability) + 0.0  # there is no minus zero in the file of answers


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
