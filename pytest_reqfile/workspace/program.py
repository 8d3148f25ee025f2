"""This program on this machine: where it is installed, and how much it may do at once."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, NoReturn

from pytest_reqfile.errors import FileError

_STANDARD_OUTPUT: Final = 1
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals() -> None:
    """From now on SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, once: what follows stops the running commands.

    Commands have sessions of their own, so what ends us reaches none of them. An ignored signal (``nohup``) stays so.
    """
    for number in _ENDING:
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _interrupt)


def ending_signal(stop: KeyboardInterrupt) -> int:
    """The number of the signal behind ``stop``."""
    return int(stop.args[0]) if stop.args else int(signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    for ending in _ENDING:  # impatience must not cut the end short and leave a command running
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def end_bugs_with(code: int) -> None:
    """A bug of ours ends the process with ``code``, its traceback shown: Python's own 1 would read as findings."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        if issubclass(kind, Exception):
            os._exit(code)

    sys.excepthook = hook


def our_program() -> str:
    """The absolute path of the running ``reqfile``, which commands find in $REQFILE (spec reqfile.md 3.2).

    Started as a module or from pytest, it is the script beside the interpreter; the interpreter itself only where the
    package is used without being installed.
    """
    started = Path(sys.argv[0])
    script = started if started.name == "reqfile" and started.exists() else Path(sys.executable).with_name("reqfile")
    return os.path.abspath(script if script.exists() else sys.executable)


def imports_from(folder: Path) -> bool:
    """Whether modules of this process, ours among them, may come from below ``folder``, which is canonical."""
    places = (*sys.path, __file__)
    return any(Path(os.path.realpath(place or os.curdir)).is_relative_to(folder) for place in places)


def processors() -> int:
    """How many commands may run at a time: the processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def terminal_columns() -> int:
    """The width of the terminal as shutil finds it: $COLUMNS, else what standard output says, else 80."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    try:
        columns = os.get_terminal_size(_STANDARD_OUTPUT).columns
    except OSError:  # closed, or no terminal
        columns = 0
    return columns or 80


def process_id() -> int:
    """The number of this process."""
    return os.getpid()


def current_folder() -> Path:
    """The absolute path of the current folder. Raises FileError where it has been removed."""
    try:
        return Path.cwd()
    except OSError as error:
        raise FileError(f"cannot read the current folder: {error.strerror}") from error
