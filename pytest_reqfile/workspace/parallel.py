"""Two waits at once: for calls that spend their time outside of this process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


def at_once(one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
    """The results of both calls, the second made in a thread. What ``one`` raises wins over what ``other`` raises."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="reqfile-at-once") as pool:
        future = pool.submit(other)
        return one(), future.result()
