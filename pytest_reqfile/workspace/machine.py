"""This machine in the words of a receipt, and the programs on it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError

_VERSION_SECONDS: Final = 10.0


DEFAULT_PATH: Final = os.defpath
"""Where programs are looked for without a PATH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """``platform`` such as ``Linux-6.1``, ``arch`` such as ``x86_64``, ``python`` our own version."""

    platform: str
    arch: str
    python: str


def is_folder(path: Path) -> bool:
    """Whether there is a folder now, reached in any way."""
    return path.is_dir()


def this_machine() -> Machine:
    return Machine(
        platform=f"{platform.system()}-{platform.release()}",
        arch=platform.machine(),
        python=platform.python_version(),
    )


def find_program(name: str, search_path: str) -> str | None:
    """The absolute path of a program on ``search_path`` (colon-separated); None if there is none."""
    return shutil.which(name, path=search_path)


def first_line_of(program: str, argument: str) -> str:
    """The first line a program prints about itself, such as its version; empty if it prints nothing."""
    try:
        done = subprocess.run(
            (program, argument), stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").partition("\n")[0].strip()


def python_prefixes(search_path: str) -> tuple[str, ...]:
    """The installations of the first ``python3`` and ``python`` on ``search_path``."""
    programs = (find_program(name, search_path) for name in ("python3", "python"))
    return tuple(dict.fromkeys(str(Path(program).parent.parent) for program in programs if program is not None))


def editable_installs(root: Path, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Files of Python installations below ``prefixes`` that lead into ``root``: imports that bypass a copy of it."""
    found: list[str] = []
    needle = os.fsencode(root)
    for prefix in prefixes:
        if not prefix:
            continue
        for pattern in ("lib/python*/site-packages/*.pth", "lib/python*/site-packages/*.dist-info/direct_url.json"):
            found += (str(path) for path in sorted(Path(prefix).glob(pattern)) if needle in path.read_bytes())
    return tuple(found)


def read_if_there(path: Path) -> bytes | None:
    """The bytes of a file; None if there is no such file. Raises ``FileError`` for one that cannot be read."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot read: {error.strerror}") from error
