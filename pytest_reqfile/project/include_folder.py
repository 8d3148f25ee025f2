"""Where in a source the content of an include is (spec/lock.md 6.1; spec/airulez-project.md 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

CONFIG_FOLDER: Final = ".ai-rulez"


def include_folder(path: str, has_folder: Callable[[str], bool], kinds: Sequence[str]) -> str | None:
    """The configuration folder of the source, that of its ``path``, then a bare tree at ``path`` or in the source.

    A bare tree has a folder of one of ``kinds``. ``has_folder`` says whether a real folder is at a path of the source;
    empty is the source itself. None where there is no content.
    """
    for inner in (CONFIG_FOLDER, _below(path, CONFIG_FOLDER)):
        if has_folder(inner):
            return inner
    bare = (base for base in (path, "") if any(has_folder(_below(base, kind)) for kind in kinds))
    return next(bare, None)


def _below(base: str, name: str) -> str:
    return f"{base}/{name}" if base else name
