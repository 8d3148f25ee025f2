"""What pytest's options say about verifiers (design 2.4; seed 000 "Changed-only runs", "Output …")."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError, UsageError
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.checklists import Checklists
from pytest_reqfile.plugin.generators import generator
from pytest_reqfile.plugin.narrowing import Narrowing
from pytest_reqfile.plugin.projects import VerifierOptions
from pytest_reqfile.project.values import Place
from pytest_reqfile.verifiers.changes import Scope, refuse_revision
from pytest_reqfile.verifiers.command import is_allowed
from pytest_reqfile.verifiers.outcomes import FAIL_ON, FailOn
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.workspace.environment import Environment

BaseOf = Callable[[Path], str | None]


def verifier_options(
    config: pytest.Config, environment: Environment, narrowing: Narrowing, base_of: BaseOf
) -> VerifierOptions:
    """The options, with ``base_of`` to find the default base of a changed-only run."""

    def scope(place: Place) -> Scope:
        return _scope(narrowing, place, base_of)

    run = RunOptions(
        profile=options.value(config, "profile"),
        role=options.value(config, "role"),
        allow_exec=is_allowed(options.is_on(config, "allow_exec"), environment),
        generator=generator(config),
        exec_flag="--reqfile-allow-exec",
        test_command="pytest",
    )
    return VerifierOptions(
        run=run,
        scope=scope,
        fail_on=_fail_on(config),
        fast=narrowing.plain.fast,
        checklists=Checklists(config, environment),
    )


def _fail_on(config: pytest.Config) -> FailOn:
    """The lowest failing severity: an explicit one wins over ``--reqfile-strict``."""
    given = options.value(config, "fail_on")
    known: FailOn
    for known in FAIL_ON:
        if given == known:
            return known
    return "warning" if options.is_on(config, "strict") else "error"


def _scope(narrowing: Narrowing, place: Place, base_of: BaseOf) -> Scope:
    """Raises UsageError where the base of a changed-only run cannot be known: never an empty run."""
    if narrowing.is_staged:
        return Scope(kind="staged")
    if not narrowing.is_changed_only:
        return Scope()
    try:
        base = narrowing.base or base_of(place.root)
    except GitError as error:
        raise UsageError(f"--reqfile-changed: {error}") from error
    if base is None:
        raise UsageError(
            f"--reqfile-changed needs a base for {place.config}: pass one (--reqfile-changed=origin/main), "
            "or set origin/HEAD (git remote set-head origin --auto)"
        )
    refuse_revision(base)
    return Scope(kind="since", revision=base)
