"""Questions about states, answered from the cache or by the service (seed 004 DECISION_CHECK; spec reqfile.md 4.3)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.reqfile.answers import Answers, AnswersError, answer_key
from pytest_reqfile.reqfile.endpoints import EndpointError, MissingKeyError, endpoint_of
from pytest_reqfile.reqfile.jev import Jev, JevError, ModelAnswer
from pytest_reqfile.reqfile.patience import Patience
from pytest_reqfile.reqfile.settings import DecisionSettings
from pytest_reqfile.reqfile.threads import in_threads
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import Transport
from pytest_reqfile.workspace.processes import Cancellation

STOPPED: Final = "stopped before it was answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One state and the questions about it by id, all as JSON text; ``refusal`` says why it must not be sent."""

    state: str
    questions: Mapping[str, str]
    refusal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The probability of yes, in 0..1, and the exact model that gave it, now or (``cached``) earlier."""

    probability: float
    model: str
    cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a question was not answered; ``unset`` is the variable that should hold the key and does not."""

    reason: str
    unset: str | None = None


Reply = Answer | Failure
Replies = Mapping[str, Reply]


class Gates:
    """How many requests of each settings run at a time, whoever asks: labeled examples ask side by side."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._gates: dict[DecisionSettings, threading.Semaphore] = {}

    def of(self, settings: DecisionSettings) -> threading.Semaphore:
        """The gate that every request with these settings passes."""
        with self.lock:
            return self._gates.setdefault(settings, threading.Semaphore(settings.concurrency))


def _unannounced(text: str) -> None:
    del text


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """How a run reaches models. ``announce`` is told what the repository's own config chose before anything is sent."""

    environment: Environment
    transport: Transport
    announce: Callable[[str], None] = _unannounced
    gates: Gates = field(default_factory=Gates)
    patience: Patience = field(default_factory=Patience)
    _told: set[str] = field(default_factory=set)

    def tell(self, text: str) -> None:
        """Announce a text once per run, whoever asks how often."""
        with self.gates.lock:
            new = text not in self._told
            self._told.add(text)
        if new:
            self.announce(text)


class Asking:
    """Asks for one run. Without ``answers`` nothing is kept, and no request is spent on learning the exact model."""

    def __init__(self, service: Service, *, answers: Answers | None, cancellation: Cancellation | None = None) -> None:
        self._service = service
        self._answers = answers
        self._cancellation = cancellation
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._models: dict[DecisionSettings, str | Failure] = {}
        self._failed = False

    def ask(self, settings: DecisionSettings, requests: Sequence[Request]) -> tuple[Replies, ...]:
        """The replies to each request by question id. Never raises for what a service or the cache does.

        An interrupt ends it at once; the answers that came are kept.
        """
        if not requests:
            return ()
        try:
            return self._asked(settings, requests)
        except MissingKeyError as error:
            return self._all_failed(requests, Failure(reason=str(error), unset=settings.api_key_env))
        except (EndpointError, AnswersError, JevError) as error:
            return self._all_failed(requests, Failure(reason=str(error)))
        except BaseException:
            self._end()
            raise

    def _asked(self, settings: DecisionSettings, requests: Sequence[Request]) -> tuple[Replies, ...]:
        jev = self._jev(settings)
        model = self._model(settings, jev)
        replies: tuple[dict[str, Reply], ...] = tuple(self._known(request, model) for request in requests)
        self._ask_missing(jev, settings, requests, replies)
        self._failed = self._failed or any(isinstance(r, Failure) for found in replies for r in found.values())
        return replies

    def save(self, *, prune: bool) -> None:
        """Keep what was answered; ``prune`` drops what a run over everything did not use (seed 004).

        After any failure nothing is dropped: what was not asked about may be needed again. Raises FileError.
        """
        if self._answers is None:
            return
        prunes = prune and not self._failed
        with self._lock, suppress(AnswersError):  # without a single unit nobody has read the file, nor needs it
            if prunes:
                self._answers.load()
            self._answers.save(prune=prunes)

    def is_cancelled(self) -> bool:
        """Whether the run was told to end."""
        return self._cancellation is not None and self._cancellation.is_set()

    def _jev(self, settings: DecisionSettings) -> Jev:
        endpoint = endpoint_of(settings, self._service.environment)
        if self._answers is not None:
            self._answers.load()
        return Jev(endpoint=endpoint, model=settings.model, transport=self._service.transport, pause=self._stop.wait)

    def _model(self, settings: DecisionSettings, jev: Jev) -> str:
        """The exact model behind the settings, asked for once per run; only the cache needs it (spec 4.4)."""
        if settings not in self._models:
            unusual = unusual_choice(settings)
            if unusual is not None:
                self._service.tell(unusual)
            self._models[settings] = self._probed(jev) if self._answers is not None else ""
        found = self._models[settings]
        if isinstance(found, Failure):
            raise JevError(found.reason)
        return found

    def _probed(self, jev: Jev) -> str | Failure:
        """The exact model, asked for in a thread: a service that hangs must not hold a run that was told to end."""
        said: list[str | Failure] = []

        def probe() -> None:
            try:
                said.append(jev.exact_model())
            except JevError as error:
                said.append(Failure(reason=str(error)))

        if in_threads([probe], 1, self.is_cancelled):
            return said[0]
        self._end()
        return Failure(reason=STOPPED)

    def _known(self, request: Request, model: str) -> dict[str, Reply]:
        if request.refusal is not None:
            return dict.fromkeys(request.questions, Failure(reason=request.refusal))
        if self._answers is None:
            return {}
        known: dict[str, Reply] = {}
        for identifier, question in request.questions.items():
            probability = self._answers.get(answer_key(model, request.state, identifier, question))
            if probability is not None:
                known[identifier] = Answer(probability=probability, model=model, cached=True)
        return known

    def _ask_missing(
        self,
        jev: Jev,
        settings: DecisionSettings,
        requests: Sequence[Request],
        replies: Sequence[dict[str, Reply]],
    ) -> None:
        open_requests = [
            (replace(request, questions=rest), found)
            for request, found in zip(requests, replies, strict=True)
            if (rest := {i: question for i, question in request.questions.items() if i not in found})
        ]
        tasks = [partial(self._ask_one, jev, settings, request, found) for request, found in open_requests]
        if in_threads(tasks, settings.concurrency, self.is_cancelled):
            return
        self._end()
        with self._lock:
            for request, found in open_requests:
                found.update({i: Failure(reason=STOPPED) for i in request.questions if i not in found})

    def _ask_one(self, jev: Jev, settings: DecisionSettings, request: Request, found: dict[str, Reply]) -> None:
        with self._service.gates.of(settings):
            answer = self._answer(jev, settings, request)
        with self._lock:
            if isinstance(answer, Failure):
                found.update(dict.fromkeys(request.questions, answer))
            else:
                self._keep(request, answer, found)

    def _answer(self, jev: Jev, settings: DecisionSettings, request: Request) -> ModelAnswer | Failure:
        patience = self._service.patience
        over = STOPPED if self._stop.is_set() else patience.is_over(settings)
        if over is not None:
            return Failure(reason=over)
        try:
            with patience.request(settings):
                return jev.ask(request.state, request.questions)
        except JevError as error:
            return Failure(reason=str(error))

    def _keep(self, request: Request, answer: ModelAnswer, found: dict[str, Reply]) -> None:
        """Kept under the model that answered, which may be newer than the one the run began with (spec 4.5)."""
        for identifier, question in request.questions.items():
            probability = answer.probabilities[identifier]
            found[identifier] = Answer(probability=probability, model=answer.model, cached=False)
            if self._answers is not None:
                self._answers.put(answer_key(answer.model, request.state, identifier, question), probability)

    def _end(self) -> None:
        """Nothing more is asked in this run; what came is kept."""
        self._failed = True
        self._stop.set()
        self._service.transport.abort()
        with suppress(FileError):  # the interrupt is what people are told about
            self.save(prune=False)

    def _all_failed(self, requests: Iterable[Request], failure: Failure) -> tuple[Replies, ...]:
        self._failed = True
        return tuple(dict.fromkeys(request.questions, failure) for request in requests)


def unusual_choice(settings: DecisionSettings) -> str | None:
    """What the repository's own config chose about where code and key go; None where that is the default."""
    default = DecisionSettings()
    if (settings.endpoint, settings.api_key_env) == (default.endpoint, default.api_key_env):
        return None
    return (
        f".reqfile/config.yaml sends code to {settings.endpoint} with the key in {settings.api_key_env} "
        f"(by default {default.endpoint} with {default.api_key_env})"
    )
