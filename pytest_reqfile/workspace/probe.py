"""Whether something is at a path, without ever reporting on what lies beyond the project (seed 000 "Fields")."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import normalised


def path_exists(root: Path, path: str) -> bool:
    """Whether a file or folder is at ``path`` below the canonical ``root``, symlinks followed as ``stat`` does."""
    return resolved_path(root, path) is not None


def resolved_path(root: Path, path: str) -> str | None:
    """Where below the canonical ``root`` the ``path`` leads, free of symlinks; None where nothing is there.

    A dangling symlink leads nowhere. Raises FileError for a path that leaves ``root``, in itself or over a symlink at
    any point of it (what is missing there cannot be told from what is present), and for what cannot be looked at.
    """
    clean = normalised(path)
    if clean is None or "\0" in path:
        raise FileError(f'path "{path}" is outside the project')
    place = str(root)
    for part in clean.split("/") if clean else ():
        place = f"{place}/{part}"
        try:
            mode = os.lstat(place).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise FileError(f"stat {path}: {error.strerror or error}") from error
        if stat.S_ISLNK(mode):
            target = _resolved(place, path)
            if target is None:
                return None
            if not Path(target).is_relative_to(root):
                raise FileError(f"{path} resolves outside the project")
            place = target
    return Path(place).relative_to(root).as_posix()


def _resolved(place: str, path: str) -> str | None:
    try:
        return os.path.realpath(place, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileError(f"resolve {path}: {error.strerror or error}") from error
