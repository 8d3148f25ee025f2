"""Processes ``sleep SECONDS`` that tests start with an odd number, to find them again."""

from __future__ import annotations

from pathlib import Path

from pytest_reqfile.workspace.process_tree import process_table


def sleeping(seconds: str) -> list[int]:
    """The processes ``sleep SECONDS`` of this machine."""
    return [row.pid for row in process_table() if _words(row.pid)[:2] == [b"sleep", seconds.encode()]]


def _words(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
