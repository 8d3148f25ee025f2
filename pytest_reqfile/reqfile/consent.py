"""Whether a repository has anything to do with models; asked by every run, so little is imported here."""

from __future__ import annotations

from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.values import DecisionCheck


def may_ask(catalog: Catalog) -> bool:
    """Whether the repository has anything to do with models: a decision check, or settings for one.

    Elsewhere a key that happens to be set must not send code anywhere (spec 9).
    """
    configured = any(
        (config.model, config.api_key_env, config.endpoint, config.concurrency) != (None, None, None, None)
        for config in catalog.settings.configs
    )
    return configured or any(isinstance(check, DecisionCheck) for r in catalog.requirements for check in r.checks)
