"""What is running now, on a terminal, once a run takes long enough to wonder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.syntax.printable import visible

PATIENCE: Final = 0.5
"""Seconds a run may take before anything is shown, and between two looks at what is running."""
_WIDTH: Final = 78


class Progress:
    """A line on stderr that names the running checks; nothing at all where stderr is not a terminal."""

    def __init__(self, terminal: Terminal, planned: Sequence[PlannedCheck]) -> None:
        self._total = sum(check.state == "run" for check in planned)
        self._ended = 0
        self._running: dict[str, None] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        stream = terminal.err
        self._active = self._total > 0 and stream is not None and stream.isatty()
        self._thread = threading.Thread(target=self._show, args=(stream,), name="reqfile-progress", daemon=True)

    def started(self, planned: PlannedCheck) -> None:
        """The check is running now."""
        with self._lock:
            self._running[_name(planned)] = None

    def ended(self, planned: PlannedCheck, outcome: Outcome) -> None:
        """The check has its outcome."""
        del outcome
        with self._lock:
            self._running.pop(_name(planned), None)
            self._ended += 1

    def __enter__(self) -> Self:
        if self._active:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._active:
            self._thread.join()

    def _show(self, stream: TextIO) -> None:
        shown = False
        while not self._stop.wait(PATIENCE):
            with self._lock:
                text = f"[{self._ended}/{self._total}] {', '.join(self._running)}"
            stream.write(f"\r\x1b[K{visible(text)[:_WIDTH]}")
            stream.flush()
            shown = True
        if shown:
            stream.write("\r\x1b[K")
            stream.flush()


def _name(planned: PlannedCheck) -> str:
    return f"{planned.requirement.id}/{planned.name}"
