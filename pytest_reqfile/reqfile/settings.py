""".reqfile/config.yaml and the settings of a folder, key by key (seed 004 CONFIG_CASCADE, EXCLUDE; spec 1.2, 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_reqfile.workspace.git_ahead import USUAL_KEY
from pytest_reqfile.workspace.paths import below, contains, folder_of

if TYPE_CHECKING:
    from pytest_reqfile.syntax.fields import Fields
    from pytest_reqfile.syntax.globs import Glob

CONFIG_NAME: Final = ".reqfile/config.yaml"
CONFIG_KEYS: Final = ("base", "exclude", "decision")
DECISION_KEYS: Final = ("model", "api_key_env", "endpoint", "concurrency")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSettings:
    """How decision checks of a folder reach their model; ``concurrency`` is the number of requests at a time."""

    model: str = "~typesafe/jev-latest"
    api_key_env: str = USUAL_KEY
    endpoint: str = "https://openrouter.ai/api/v1"
    concurrency: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One config file as written; None means that the key is not set. ``folder`` is the one that holds .reqfile/."""

    path: str
    folder: str
    base: str | None = None
    base_line: int | None = None
    exclude: tuple[Glob, ...] = ()
    model: str | None = None
    api_key_env: str | None = None
    endpoint: str | None = None
    concurrency: int | None = None


def parse_config(text: str, path: str) -> Config:
    """The config in ``text``. Raises FormatError with every problem of the file."""
    from pytest_reqfile.reqfile.checks import read_glob
    from pytest_reqfile.syntax.fields import Fields, Problems
    from pytest_reqfile.syntax.yaml import read_yaml

    root = read_yaml(text, path)
    problems = Problems(path)
    folder = folder_of(folder_of(path))
    if root.kind == "null":
        return Config(path=path, folder=folder)
    fields = Fields(root, "the config", CONFIG_KEYS, problems)
    base = fields.optional_string("base")
    exclude = tuple(
        glob
        for text in fields.optional_strings("exclude")
        if (glob := read_glob(text, "exclude", fields.line("exclude"), problems)) is not None
    )
    node = fields.node("decision")
    decision = Fields(node, "decision", DECISION_KEYS, problems) if node is not None else None
    config = Config(
        path=path,
        folder=folder,
        base=base,
        base_line=fields.line("base") if base is not None else None,
        exclude=exclude,
        model=decision.optional_string("model") if decision else None,
        api_key_env=decision.optional_string("api_key_env") if decision else None,
        endpoint=decision.optional_string("endpoint") if decision else None,
        concurrency=_read_concurrency(decision) if decision else None,
    )
    problems.raise_if_any()
    return config


def _read_concurrency(decision: Fields) -> int | None:
    concurrency = decision.optional_integer("concurrency")
    if concurrency is not None and concurrency < 1:
        decision.refuse("concurrency", "`concurrency` must be at least 1")
    return concurrency


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every config of a repository, shallowest folder first, and what they mean for a folder or path."""

    configs: tuple[Config, ...] = ()

    def base(self, folder: str) -> str | None:
        """The revision changes in ``folder`` are measured from, where a config says so (seed 004 SELECTION)."""
        config = self.base_config(folder)
        return config.base if config is not None else None

    def base_config(self, folder: str) -> Config | None:
        """The nearest config that sets ``base`` for ``folder``."""
        return next((config for config in self.above(folder) if config.base is not None), None)

    def decision(self, folder: str) -> DecisionSettings:
        """The decision settings of ``folder``: each key from the nearest config that sets it."""
        default = DecisionSettings()
        configs = tuple(self.above(folder))
        return DecisionSettings(
            model=next((c.model for c in configs if c.model is not None), default.model),
            api_key_env=next((c.api_key_env for c in configs if c.api_key_env is not None), default.api_key_env),
            endpoint=next((c.endpoint for c in configs if c.endpoint is not None), default.endpoint),
            concurrency=next((c.concurrency for c in configs if c.concurrency is not None), default.concurrency),
        )

    def excluder(self, path: str) -> Config | None:
        """The config one of whose ``exclude`` globs matches ``path``, or None. Globs add up down the tree."""
        for config in self.configs:
            relative = below(path, config.folder) if config.exclude else None
            if relative and any(glob.matches(relative) for glob in config.exclude):
                return config
        return None

    def above(self, folder: str) -> Iterator[Config]:
        """The configs that apply to ``folder``, nearest first."""
        return (config for config in reversed(self.configs) if contains(config.folder, folder))
