"""What verifiers that only read come to: worked out together by the first worker that needs one (design 4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from pytest_reqfile.plugin.wires import from_json, to_json
from pytest_reqfile.verifiers.run import name_of
from pytest_reqfile.verifiers.values import Verifier
from pytest_reqfile.workspace.run_folder import shared_once


class SharedResults:
    """The outcomes of the verifiers of one project that are left to run, for workers with a ``folder`` in common."""

    def __init__(self, folder: Path, root: Path, evaluate: Callable[[Verifier], Outcome]) -> None:
        self._folder = folder
        self._root = root
        self._evaluate = evaluate
        self._expected: tuple[Verifier, ...] = ()

    def expect(self, verifiers: Iterable[Verifier]) -> None:
        """These are left to run, here or in another worker."""
        self._expected = tuple(sorted(verifiers, key=name_of))

    def outcome(self, verifier: Verifier) -> Outcome | None:
        """The outcome of one that is expected; None for another."""
        return self._outcomes.get(name_of(verifier)) if verifier in self._expected else None

    @cached_property
    def _outcomes(self) -> dict[str, Outcome]:
        names = [name_of(verifier) for verifier in self._expected]
        key = sha256(json.dumps([str(self._root), names]).encode()).hexdigest()
        wires = from_json(shared_once(self._folder, f"verifiers-{key}", self._work_out))
        return dict(zip(names, map(from_wire, wires), strict=True))

    def _work_out(self) -> bytes:
        return to_json([to_wire(self._evaluate(verifier)) for verifier in self._expected])
