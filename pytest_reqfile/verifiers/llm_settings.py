"""``[llm]``: what the user allows, and how a repository may tighten it (seed 000 "Opt-in and gated"; spec 5.1).

Whether anything is sent, where to, with which key and at what price is the user's alone to say: in the user's own
config.toml or in ``AI_RULEZ_LLM_*``. Of a repository's ``[llm]`` only the limits count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

from pytest_reqfile.errors import FileError, FormatError, Problem, UsageError
from pytest_reqfile.project.places import CONFIG_NAME, user_config_folder
from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.project.values import Project
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.verifiers.costs import NO_LIMITS, Limits
from pytest_reqfile.verifiers.models import PROVIDERS, Provider, split_model
from pytest_reqfile.verifiers.prices import Price, Prices
from pytest_reqfile.verifiers.words import go_quoted
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import is_loopback
from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.snapshot import read_regular, reason_of

PREFIX: Final = "AI_RULEZ_LLM_"
MAX_CONFIG_BYTES: Final = 1024 * 1024
_WHERE: Final = "[llm]"
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """What holds for one project. ``model`` is in full, empty where the user chose none; then there is no provider.

    ``provider`` has the address and key variable that apply. ``refused`` says why the user's file does not count.
    """

    allow_network: bool = False
    model: str = ""
    provider: Provider | None = None
    price: Price | None = None
    limits: Limits = NO_LIMITS
    refused: str = ""

    @property
    def prices(self) -> Prices:
        return Prices(model=self.model, own=self.price)


def read_llm_settings(environment: Environment, project: Project) -> LlmSettings:
    """The settings of a run over ``project``. Raises FormatError, UsageError for what the user wrote and cannot be."""
    table, refused = _users_table(environment, project.place.top)
    reader = _Reader(environment, table)
    model = reader.text("model")
    provider, full = _chosen(reader.text("provider"), model)
    limits = Limits(
        max_cost_usd=reader.amount("max_cost_usd") or 0.0,
        max_tokens=reader.count("max_tokens") or 0,
        max_calls=reader.count("max_calls") or 0,
    )
    settings = LlmSettings(
        allow_network=reader.flag("allow_network"),
        model=full,
        provider=_placed(provider, reader.text("base_url"), reader.text("api_key_env")),
        price=_price(reader.amount("price_input_per_mtok"), reader.amount("price_output_per_mtok")),
        limits=limits.tightened(_repository_limits(project)),
        refused=refused,
    )
    reader.raise_if_any()
    return settings


def _users_table(environment: Environment, repository: Path) -> tuple[tuple[Node, str] | None, str]:
    """The ``[llm]`` table of the user's file with the name of the file; else why a file that is there has no say."""
    folder = user_config_folder(environment)
    if folder is None:
        return None, ""
    file = folder / CONFIG_NAME
    real = canonical(file)
    if real.is_relative_to(repository):
        # A change under review could bring it along: allow_network, an address and the name of a secret.
        return None, f"{file} lies in the repository, so it is not the user's"
    try:
        text = read_regular(real, str(file), MAX_CONFIG_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None, ""
    except UnicodeDecodeError as error:
        raise FormatError([Problem(path=str(file), message="not valid UTF-8")]) from error
    except OSError as error:
        raise FileError(f"{file}: cannot read: {reason_of(error)}") from error
    table = read_toml(text, str(file)).get("llm")
    return (None if table is None else (table, str(file))), ""


class _Reader:
    """One setting after the other: the variable if it is set, else the user's file."""

    def __init__(self, environment: Environment, table: tuple[Node, str] | None) -> None:
        self._environment = environment
        self._problems = Problems(table[1] if table is not None else "")
        self._fields = _fields(table[0], self._problems) if table is not None else None
        self._wrong: list[str] = []

    def raise_if_any(self) -> None:
        """FormatError for the file, UsageError for variables; the file first."""
        self._problems.raise_if_any()
        if self._wrong:
            raise UsageError(*self._wrong)

    def text(self, key: str) -> str:
        """Without control characters, which have no place in a name or an address."""
        found = self._variable(key) or self._in_file(key)
        if not found.isprintable():
            self._refuse(key, "text without control characters", found)
            return ""
        return found.strip()

    def _in_file(self, key: str) -> str:
        node = self._fields.node(key) if self._fields is not None else None
        if self._fields is None or node is None or node.value == "":
            return ""
        return self._fields.optional_string(key) or ""

    def flag(self, key: str) -> bool:
        given = self._variable(key)
        if given is None:
            return self._fields.boolean(key, False) if self._fields is not None else False
        if given.lower() not in ("1", "true", "0", "false"):
            self._refuse(key, "true or false", given)
        return given.lower() in ("1", "true")

    def count(self, key: str) -> int | None:
        return self._number(key, "a whole number, 0 or more", int, lambda f: f.optional_integer(key))

    def amount(self, key: str) -> float | None:
        return self._number(key, "a number, 0 or more", float, lambda f: f.optional_number(key))

    def _number(
        self, key: str, expected: str, parse: Callable[[str], Value], of_file: Callable[[Fields], Value | None]
    ) -> Value | None:
        given = self._variable(key)
        try:
            if given is not None:
                found: Value | None = parse(given)
            else:
                found = of_file(self._fields) if self._fields is not None else None
        except ValueError:
            self._refuse(key, expected, given or "")
            return None
        if isinstance(found, int | float) and not (math.isfinite(found) and found >= 0):
            self._refuse(key, expected, given if given is not None else str(found))
            return None
        return found

    def _variable(self, key: str) -> str | None:
        return self._environment.get(PREFIX + key.upper()) or None

    def _refuse(self, key: str, expected: str, found: str) -> None:
        if self._variable(key) is not None or self._fields is None:
            self._wrong.append(f"{PREFIX}{key.upper()}: expected {expected}, found {go_quoted(found)}")
        else:
            self._fields.refuse(key, f"{_WHERE} {key}: expected {expected}, found {go_quoted(found)}")


def _fields(table: Node, problems: Problems) -> Fields:
    return loose_fields(table, _WHERE, problems)


def _chosen(provider: str, model: str) -> tuple[Provider | None, str]:
    """The provider and the model in full: ``provider/model``, or a model of the provider that is named apart."""
    known = ", ".join(PROVIDERS)
    if provider and provider not in PROVIDERS:
        raise UsageError(f"{_WHERE} provider {go_quoted(provider)} is not known (expected one of: {known})")
    if not model:
        return None, ""
    if provider:
        return PROVIDERS[provider], model if model.startswith(f"{provider}/") else f"{provider}/{model}"
    first, name = split_model(model)
    if first not in PROVIDERS or not name:
        raise UsageError(
            f"{_WHERE} model {go_quoted(model)}: expected provider/model, the provider being one of: {known}"
        )
    return PROVIDERS[first], model


def _placed(provider: Provider | None, base_url: str, key_env: str) -> Provider | None:
    """The provider at the user's own address and with the user's own key variable, where there are such."""
    if provider is None:
        return None
    placed = replace(
        provider, base_url=(base_url or provider.base_url).rstrip("/"), key_env=key_env or provider.key_env
    )
    if not placed.base_url:
        raise UsageError(f"{_WHERE} base_url is needed: it says where {provider.name} is reached")
    _judge_address(placed.base_url)
    return placed


def _judge_address(url: str) -> None:
    try:
        address = urlsplit(url)
        _ = address.port
    except ValueError as error:
        raise UsageError(f"{_WHERE} base_url {go_quoted(url)} cannot be read: {error}") from error
    host = address.hostname or ""
    plain = not (address.query or address.fragment or "@" in address.netloc or " " in url)
    if not plain or not host or (address.scheme != "https" and not (address.scheme == "http" and is_loopback(host))):
        raise UsageError(
            f"{_WHERE} base_url {go_quoted(url)}: expected an https:// address without user, query and fragment "
            "(http:// for this machine alone)"
        )


def _price(prompt: float | None, completion: float | None) -> Price | None:
    """Both sides are needed: half a price would make calls look cheap."""
    if prompt is None or completion is None:
        return None
    return Price(input_per_mtok=prompt, output_per_mtok=completion)


def _repository_limits(project: Project) -> Limits:
    """The limits in the project's own ``[llm]``; nothing else of it has a say."""
    declared = project.config.tables.get("llm")
    if declared is None:
        return NO_LIMITS
    problems = Problems(declared.path)
    fields = _fields(declared.node, problems)
    limits = Limits(
        max_cost_usd=_positive(fields, "max_cost_usd", fields.optional_number("max_cost_usd")),
        max_tokens=int(_positive(fields, "max_tokens", fields.optional_integer("max_tokens"))),
        max_calls=int(_positive(fields, "max_calls", fields.optional_integer("max_calls"))),
    )
    problems.raise_if_any()
    return limits


def _positive(fields: Fields, key: str, found: float | None) -> float:
    if found is None:
        return 0
    if not (math.isfinite(found) and found >= 0):
        fields.refuse(key, f"{_WHERE} {key}: expected a number, 0 or more, found {found:g}")
        return 0
    return found
