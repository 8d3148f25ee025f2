"""This program on this machine: where it is, how much it may do, and how a signal ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reqfile.workspace.program import ending_signal, our_program, processors, terminal_columns

SCRIPT = """
import signal, sys, time
from pytest_reqfile.workspace.program import end_on_signals, ending_signal
{before}
end_on_signals()
try:
    print("ready", flush=True)
    time.sleep(30)
except KeyboardInterrupt as stop:
    print(ending_signal(stop), flush=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.raise_signal(number)
    print("whole", flush=True)
"""

# under nohup, or in the background of a script, processes begin with signals ignored
NONE_IGNORED = "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)"


def _started(before: str = "") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        (sys.executable, "-c", SCRIPT.format(before=before)), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_the_first_signal_interrupts_and_those_after_it_do_not(number: signal.Signals) -> None:
    """What stops the commands is not stopped itself."""
    process = _started(NONE_IGNORED)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert (out, process.returncode) == (f"{number.value}\nwhole\n", 0)


def test_an_ignored_signal_stays_ignored() -> None:
    """``nohup reqfile check &`` outlives its terminal."""
    process = _started("signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)
    assert out == f"{signal.SIGTERM.value}\nwhole\n"


def test_an_interrupt_without_a_number_is_ctrl_c() -> None:
    """As Python itself raises it."""
    assert (ending_signal(KeyboardInterrupt()), ending_signal(KeyboardInterrupt(15))) == (2, 15)


def test_our_program_is_one_that_commands_can_start() -> None:
    """An absolute path of something executable, which is us."""
    program = our_program()
    assert os.path.isabs(program)
    assert os.access(program, os.X_OK)
    done = subprocess.run((program, "--version"), capture_output=True, text=True, check=True)
    assert done.stdout.startswith("reqfile " if Path(program).name == "reqfile" else "Python ")


def test_processors_and_columns_are_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """$COLUMNS beats the terminal; one that says nothing is 80 wide."""
    assert processors() >= 1
    monkeypatch.setenv("COLUMNS", "47")
    assert terminal_columns() == 47
    monkeypatch.setenv("COLUMNS", "wide")
    assert terminal_columns() >= 1
