"""Asking a model: what is asked and answered, whatever the provider (seed 000 "LLM checklist verifiers")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from pytest_reqfile.errors import ReqfileError

if TYPE_CHECKING:
    from pytest_reqfile.project.values import Project
    from pytest_reqfile.verifiers.costs import Spending
    from pytest_reqfile.workspace.environment import Environment
    from pytest_reqfile.workspace.http import Transport

DEFAULT_MAX_COST: Final = 0.50
NOT_ASKED_FOR: Final = "pass {flag} to evaluate llm verifiers"

ErrorKind = Literal[
    "cost",  # --max-cost
    "budget",  # the user's or repository's [llm] limits
    "network",  # nothing may be sent there
    "auth",
    "rate_limit",
    "timeout",
    "server",
    "too_long",
    "config",
    "reply",
]
STOPPING: Final[frozenset[ErrorKind]] = frozenset({"cost", "budget", "network", "auth"})
"""What ends all asking: the next call would meet the same (spec/verifiers.md 5.5)."""


class ChatError(ReqfileError):
    """A call that was not answered. ``kind`` says why; the text is for people and never holds the key.

    ``cost_usd`` is what the attempts may have cost all the same.
    """

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.cost_usd = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation."""

    role: Literal["system", "user"]
    content: str


def _anything(text: str) -> bool:
    del text
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question. ``schema`` is the JSON schema of the reply as JSON text, without ``additionalProperties``.

    ``model`` is empty for the user's own, else a model of the user's provider. ``prompt_version`` names the words of
    the prompt: replies are kept under it. A reply that ``is_usable`` refuses is handed back, but never kept.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    schema_name: str
    schema: str
    prompt_version: str
    model: str = ""
    temperature: float = 0.0
    is_usable: Callable[[str], bool] = field(default=_anything, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the provider counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The model's text. ``cost_usd`` is None where no price is known, 0 where the reply is a kept one (``cached``)."""

    text: str
    usage: Usage
    cost_usd: float | None
    cached: bool = False


class Client(Protocol):
    """Asks a model, with everything around it: kept replies, the caps on cost, attempts, one deadline."""

    @property
    def model(self) -> str:
        """The user's model in full, ``provider/model``."""

    def ask(self, request: ChatRequest) -> ChatReply:
        """The reply, usable or not. Raises ChatError."""

    def close(self) -> None:
        """Close the connections that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """No model is asked in this run, and why."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """What the command line says about models; flags are spelled as the user's front has them.

    ``max_cost_usd`` caps what a run may cost, 0 for no cap. ``estimate`` asks what would be sent, and sends nothing.
    """

    allowed: bool = False
    estimate: bool = False
    max_cost_usd: float = DEFAULT_MAX_COST
    allow_flag: str = "--allow-llm"
    cost_flag: str = "--max-cost"


def open_client(
    environment: Environment,
    project: Project,
    options: LlmOptions,
    *,
    spending: Spending | None = None,
    transport: Transport | None = None,
) -> Client | Disabled:
    """The client of a run over ``project``, or why there is none (seed 000 "Opt-in and gated").

    What was spent counts in ``spending``, which clients may share. Nothing is sent yet. Raises FormatError for user
    settings that are wrong.
    """
    from pytest_reqfile.verifiers.clients import make_client

    return make_client(environment, project, options, spending=spending, transport=transport)
