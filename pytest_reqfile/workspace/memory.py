"""Memory of this process, where reading builds many values at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Keep the cycle collector from running meanwhile: trees that are being built hold nothing to collect.

    Every few hundred values it would look at all there are, which for ten thousand requirements costs as much as
    reading them.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def settle() -> None:
    """Tell the cycle collector that what there is now stays to the end, so that it need not look at it again.

    ``unsettle`` takes it back.
    """
    gc.freeze()


def unsettle() -> None:
    """Let the cycle collector look at everything again."""
    if gc.get_freeze_count():
        gc.unfreeze()
