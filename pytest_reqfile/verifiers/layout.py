"""What a model is told of a repository: names of folders and endings, no content (seed 000 "Suggesting verifiers")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import splitext
from typing import Final

from pytest_reqfile.verifiers.hunks import fault_of
from pytest_reqfile.verifiers.words import sanitized
from pytest_reqfile.workspace.paths import byte_order, folder_of, name_of

MAX_FOLDERS: Final = 60
MAX_EXTENSIONS: Final = 12
_LEVELS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """``folders``: the first two levels in byte order. ``extensions``: the commonest ones, the commonest first."""

    folders: tuple[str, ...]
    extensions: tuple[str, ...]


def layout_of(paths: Iterable[str], config_folder: str) -> Layout:
    """The layout of a repository's files, its configuration folder left out.

    A name that looks like a credential or holds anything unprintable is left out, too.
    """
    listed = [path for path in paths if path != config_folder and not path.startswith(f"{config_folder}/")]
    folders = {"/".join(folder_of(path).split("/")[:_LEVELS]) for path in listed} - {""}
    folders |= {folder.split("/")[0] for folder in folders}
    counts = Counter(splitext(name_of(path))[1] for path in listed)
    del counts[""]
    commonest = sorted(counts, key=lambda extension: (-counts[extension], byte_order(extension)))
    return Layout(
        folders=tuple(filter(_is_harmless, sorted(folders, key=byte_order)))[:MAX_FOLDERS],
        extensions=tuple(filter(_is_harmless, commonest))[:MAX_EXTENSIONS],
    )


def _is_harmless(name: str) -> bool:
    return sanitized(name) == name and fault_of(name) is None
