"""Which models there are to ask: providers, and models by their full names ``provider/model``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Protocol = Literal["openai", "anthropic", "gemini"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Where a provider is reached and which protocol it speaks. Without ``key_env`` it needs no key."""

    name: str
    protocol: Protocol
    base_url: str
    key_env: str = ""


PROVIDERS: Final = {
    provider.name: provider
    for provider in (
        Provider(name="openai", protocol="openai", base_url="https://api.openai.com/v1", key_env="OPENAI_API_KEY"),
        Provider(
            name="anthropic",
            protocol="anthropic",
            base_url="https://api.anthropic.com/v1",
            key_env="ANTHROPIC_API_KEY",
        ),
        Provider(
            name="gemini",
            protocol="gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_env="GEMINI_API_KEY",
        ),
        Provider(
            name="openrouter",
            protocol="openai",
            base_url="https://openrouter.ai/api/v1",
            key_env="OPENROUTER_API_KEY",
        ),
        Provider(name="ollama", protocol="openai", base_url="http://127.0.0.1:11434/v1"),
        # Whatever speaks OpenAI's protocol; where it is, and which variable holds its key, only the user says.
        Provider(name="openai-compatible", protocol="openai", base_url=""),
    )
}


def split_model(model: str) -> tuple[str, str]:
    """Provider and name of a model in full."""
    provider, _, name = model.partition("/")
    return provider, name


def full_model(named: str, users: str) -> str:
    """The model in full that ``named`` means beside the user's own ``users``: always one of the same provider.

    A repository names models, but never chooses who is sent code and a key. A name that starts with the provider's is
    in full already; any other prefix belongs to the model's name, as gateways have it.
    """
    if not named:
        return users
    provider, _ = split_model(users)
    return named if named.startswith(f"{provider}/") else f"{provider}/{named}"
