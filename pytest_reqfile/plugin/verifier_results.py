"""What verifiers that only read come to, worked out together; under xdist by the first worker that needs one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from pytest_reqfile.plugin.wires import from_json, to_json
from pytest_reqfile.verifiers.run import name_of
from pytest_reqfile.verifiers.values import Verifier
from pytest_reqfile.workspace.run_folder import shared_once

_BATCH: Final = 100


class Results(Protocol):
    """Outcomes of verifiers that are not worked out one at a time."""

    def expect(self, verifiers: Iterable[Verifier]) -> None:
        """These are left to run, here or in another worker."""

    def outcome(self, verifier: Verifier) -> Outcome | None:
        """The outcome of one that is expected; None for another."""


class BatchedResults:
    """The outcomes of a process of its own, a hundred at a time: between two items pytest leaves nothing in the caches
    of the processor, and looking up what is decided took twice as long there (issue 4 item 7).
    """

    def __init__(self, evaluate: Callable[[Verifier], Outcome]) -> None:
        self._evaluate = evaluate
        self._left: dict[str, Verifier] = {}
        self._outcomes: dict[str, Outcome] = {}

    def expect(self, verifiers: Iterable[Verifier]) -> None:
        """These are left to run, in this order."""
        self._left = {name_of(verifier): verifier for verifier in verifiers}
        self._outcomes = {}

    def outcome(self, verifier: Verifier) -> Outcome | None:
        """The outcome of one that is expected, once; None for another, and for one that runs again."""
        name = name_of(verifier)
        if name in self._left:
            following = islice((each for each in self._left if each != name), _BATCH - 1)
            for each in (name, *following):
                self._outcomes[each] = self._evaluate(self._left.pop(each))
        return self._outcomes.pop(name, None)


class SharedResults:
    """The outcomes of the verifiers of one project that are left to run, for workers with a ``folder`` in common."""

    def __init__(self, folder: Path, root: Path, evaluate: Callable[[Verifier], Outcome]) -> None:
        self._folder = folder
        self._root = root
        self._evaluate = evaluate
        self._expected: tuple[Verifier, ...] = ()
        self._names: frozenset[str] = frozenset()

    def expect(self, verifiers: Iterable[Verifier]) -> None:
        """These are left to run, here or in another worker."""
        self._expected = tuple(sorted(verifiers, key=name_of))
        self._names = frozenset(map(name_of, self._expected))

    def outcome(self, verifier: Verifier) -> Outcome | None:
        """The outcome of one that is expected; None for another."""
        name = name_of(verifier)
        return self._outcomes[name] if name in self._names else None

    @cached_property
    def _outcomes(self) -> dict[str, Outcome]:
        names = [name_of(verifier) for verifier in self._expected]
        key = sha256(json.dumps([str(self._root), names]).encode()).hexdigest()
        wires = from_json(shared_once(self._folder, f"verifiers-{key}", self._work_out))
        return dict(zip(names, map(from_wire, wires), strict=True))

    def _work_out(self) -> bytes:
        return to_json([to_wire(self._evaluate(verifier)) for verifier in self._expected])
