"""A lock against the pins of what is there now (spec/lock.md 5.4, 1 to 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_reqfile.lock.changes import Change, Verb
from pytest_reqfile.lock.outputs import GONE, Outputs
from pytest_reqfile.lock.pins import Pins
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import ENTRY_TABLES, ItemPin, Lock
from pytest_reqfile.project.values import LockScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What a lock is compared with. ``outputs`` is None where only sources are compared.

    ``profile`` is the one asked for, None for whichever the lock has. ``command`` writes the lock.
    """

    pins: Pins
    scope: LockScope = "all"
    include_outputs: bool = True
    outputs: Outputs | None = None
    sources_only: bool = False
    profile: str | None = None
    command: str = "reqfile lock"

    @property
    def outputs_pinned(self) -> bool:
        """Whether a lock written with these settings pins outputs (scope ``skills`` implies none)."""
        return self.include_outputs and self.scope == "all"


def compare_content(lock: Lock, name: str, present: Present) -> tuple[Change, ...]:
    """The differences of items, outputs and the lock's own head; in no order yet."""
    if not lock.has_content_pins:
        detail = (
            f"{name} (version {lock.version}) has no content pins, so authored content is not verified; "
            f"run `{present.command}` to pin it"
        )
        return (_of_lock(detail),)
    changes = [*map(_of_lock, _head(lock, present)), *compare_items(lock.items, present.pins.items)]
    if present.outputs is not None and present.outputs_pinned and not present.sources_only:
        changes += compare_outputs(lock, present.outputs)
    return tuple(changes)


def _of_lock(detail: str) -> Change:
    return Change(scope="lock", change="changed", detail=detail)


def _head(lock: Lock, present: Present) -> Iterator[str]:
    yield from present.pins.problems
    if not lock.tree:
        yield f"the lock has content pins but no tree digest; run `{present.command}` to rewrite it"
    elif lock.tree != tree_of(lock):
        yield "the tree digest does not match the pins in the lock; it was edited by hand"
    yield from (f"the lock pins {label} more than once; it was edited by hand" for label in _repeated(lock))
    if lock.scope and lock.scope != present.scope:
        yield f'the lock was written with scope "{lock.scope}", [lock] scope is "{present.scope}"'
    if present.sources_only:
        return
    if lock.outputs_pinned != present.outputs_pinned:
        found, wanted = _go(lock.outputs_pinned), _go(present.include_outputs)
        if present.include_outputs == lock.outputs_pinned:  # scope "skills" decides then
            yield f'the lock was written with outputs pinned = {found}, [lock] scope is "{present.scope}"'
        else:
            yield f"the lock was written with outputs pinned = {found}, [lock] include_outputs is {wanted}"
    if present.outputs_pinned and present.profile is not None and present.profile != lock.profile:
        yield f'the lock pins outputs of profile "{lock.profile}", this check rendered "{present.profile}"'


def _repeated(lock: Lock) -> list[str]:
    """What is pinned twice: only one of the pins can be compared, and the tree digest may be of both."""
    found = Counter[tuple[str, ...]]((*item.key, item.label) for item in lock.items)
    for pin in lock.outputs:
        found[pin.path, pin.role, f"outputs of role {pin.role}" if pin.role else f"output {pin.path}"] += 1
    for table in ENTRY_TABLES:
        found.update((entry.name, entry.view, f"{table} {entry.label}") for entry in lock.entries(table))
    return [key[-1] for key, count in found.items() if count > 1]


def _go(value: bool) -> str:
    return "true" if value else "false"


def compare_items(locked: Iterable[ItemPin], present: Iterable[ItemPin]) -> list[Change]:
    """Items by kind, domain and id; a rename is one removed and one added."""
    old = {item.key: item for item in locked}
    new = {item.key: item for item in present}
    changes = [_item_change("added", item, new=item.digest) for key, item in new.items() if key not in old]
    changes += [_item_change("removed", item, old=item.digest) for key, item in old.items() if key not in new]
    for key in old.keys() & new.keys():
        before, after = old[key], new[key]
        if before.digest != after.digest:
            changes.append(
                _item_change("changed", after, old=before.digest, new=after.digest, detail=_said(before, after))
            )
        elif before.path != after.path:
            detail = f"moved from {before.path}"
            changes.append(_item_change("changed", after, old=before.digest, new=after.digest, detail=detail))
    return changes


def _item_change(verb: Verb, item: ItemPin, *, old: str = "", new: str = "", detail: str = "") -> Change:
    return Change(
        scope="source",
        change=verb,
        kind=item.kind,
        id=item.id,
        domain=item.domain,
        path=item.path,
        old=old,
        new=new,
        detail=detail,
    )


def _said(before: ItemPin, after: ItemPin) -> str:
    """What its frontmatter says otherwise: a changed digest under an unchanged version is a review smell."""
    pairs = (("version", before.version, after.version), ("owner", before.owner, after.owner))
    return ", ".join(f'{what} "{old}" -> "{new}"' for what, old, new in pairs if old != new)


def compare_outputs(lock: Lock, outputs: Outputs) -> list[Change]:
    """Generated files by path, role pins apart.

    A pinned one that is not on disk is removed, one that cannot be looked at is changed, and both say so.
    """
    old = {output.path: output.digest for output in lock.default_outputs}
    new = {output.path: output.digest for output in outputs.pins}
    gone = frozenset(outputs.missing)
    unread = dict(outputs.unread)
    changes: list[Change] = []
    for path, reason in unread.items():
        verb: Verb = "changed" if path in old else "added"
        changes.append(Change(scope="output", change=verb, path=path, old=old.get(path, ""), detail=reason))
    for path in (old.keys() | new.keys()) - unread.keys():
        before, after = old.get(path, ""), new.get(path, "")
        if not before:
            changes.append(Change(scope="output", change="added", path=path, new=after))
        elif not after:
            detail = GONE if path in gone else ""
            changes.append(Change(scope="output", change="removed", path=path, old=before, detail=detail))
        elif before != after:
            changes.append(Change(scope="output", change="changed", path=path, old=before, new=after))
    return changes
