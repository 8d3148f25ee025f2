"""The client of a run: gate, kept replies, caps, provider, put together (seed 000 "Opt-in and gated"; spec 5.1)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.project.values import Project
from pytest_reqfile.verifiers.chat import NOT_ASKED_FOR, ChatError, ChatReply, ChatRequest, Disabled, LlmOptions, Usage
from pytest_reqfile.verifiers.costs import Caps, Spending, Worst, worst_case
from pytest_reqfile.verifiers.llm_settings import LlmSettings, read_llm_settings
from pytest_reqfile.verifiers.model_service import ATTEMPT_SECONDS, Attempts, ModelService
from pytest_reqfile.verifiers.models import Provider, full_model, split_model
from pytest_reqfile.verifiers.prices import Prices
from pytest_reqfile.verifiers.providers import Answered
from pytest_reqfile.verifiers.reply_cache import ReplyCache, reply_key
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpTransport, Transport

NO_NETWORK: Final = "[llm] allow_network is not enabled in the user config (a repository config cannot enable it)"
NO_MODEL: Final = "no [llm] model is configured"


@dataclass(frozen=True, kw_only=True)
class ModelClient:
    """``chat.Client`` for one provider."""

    model: str
    provider: Provider
    prices: Prices
    caps: Caps
    spending: Spending
    service: ModelService
    cache: ReplyCache

    def ask(self, request: ChatRequest) -> ChatReply:
        """See ``chat.Client``. A kept reply is no call, so no cap speaks against it."""
        model = full_model(request.model, self.model)
        key = reply_key(self.provider, model, request)
        kept = self.cache.find(key)
        if kept is not None and request.is_usable(kept.text):
            return ChatReply(text=kept.text, usage=kept.usage or Usage(), cost_usd=0.0, cached=True)
        worst = worst_case(request, model, self.prices)
        attempts = Attempts(
            before=lambda: self.caps.admit(worst, self.spending),
            lost=lambda: self.spending.add(worst.cost_usd, worst.tokens),
        )
        before = self.spending.cost_usd
        try:
            answered = self.service.send(request, split_model(model)[1], attempts)
        except ChatError as error:
            error.cost_usd = self.spending.cost_usd - before
            raise
        reply = self._counted(answered, model, worst, before)
        if request.is_usable(answered.text):
            self.cache.keep(key, Answered(text=answered.text, usage=reply.usage))
        return reply

    def close(self) -> None:
        """See ``chat.Client``."""
        self.service.transport.close()

    def _counted(self, answered: Answered, model: str, worst: Worst, before: float) -> ChatReply:
        """What the provider says that it used, the worst where it does not say; with what lost attempts may cost."""
        usage = answered.usage
        if usage is None:
            usage = Usage(prompt_tokens=worst.prompt_tokens, completion_tokens=worst.completion_tokens)
        cost = self.prices.cost(model, usage.prompt_tokens, usage.completion_tokens)
        self.spending.add(cost, usage.prompt_tokens + usage.completion_tokens)
        total = None if cost is None else self.spending.cost_usd - before
        return ChatReply(text=answered.text, usage=usage, cost_usd=total)


def make_client(
    environment: Environment,
    project: Project,
    options: LlmOptions,
    *,
    spending: Spending | None = None,
    transport: Transport | None = None,
) -> ModelClient | Disabled:
    """See ``chat.open_client``."""
    settings = read_llm_settings(environment, project)
    reason = disabled_reason(settings, options)
    if reason is not None or settings.provider is None:
        return Disabled(reason=reason or NO_MODEL)
    service = ModelService(
        provider=settings.provider,
        environment=environment,
        transport=transport or HttpTransport(environment, seconds=ATTEMPT_SECONDS),
        clock=SystemClock(),
        pause=threading.Event().wait,
    )
    return ModelClient(
        model=settings.model,
        provider=settings.provider,
        prices=settings.prices,
        caps=caps_of(settings, options),
        spending=spending or Spending(),
        service=service,
        cache=ReplyCache.of_user(environment, project.place.top),
    )


def disabled_reason(settings: LlmSettings, options: LlmOptions) -> str | None:
    """Why no model is asked; None where one may be."""
    if not options.allowed:
        return NOT_ASKED_FOR.format(flag=options.allow_flag)
    if not settings.allow_network:
        return f"{NO_NETWORK}; {settings.refused}" if settings.refused else NO_NETWORK
    return None if settings.model else NO_MODEL


def caps_of(settings: LlmSettings, options: LlmOptions) -> Caps:
    """What the command line and the settings allow to spend."""
    return Caps(max_cost_usd=options.max_cost_usd, cost_flag=options.cost_flag, limits=settings.limits)
