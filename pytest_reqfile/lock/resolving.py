"""What a remote source is pinned to when a lock is written (seed 001 "Version constraints"; spec/lock.md 6.3, 6.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.ages import Gate
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher, OfflineError
from pytest_reqfile.lock.pinned_tags import missing_text, moved_text
from pytest_reqfile.lock.remote_pins import altered, covers
from pytest_reqfile.lock.remotes import (
    CachedTree,
    is_range,
    recorded_path,
    redacted,
    requested_ref,
    table_of,
    tree_kind,
)
from pytest_reqfile.lock.renew import RefusedError
from pytest_reqfile.lock.selection import (
    Selection,
    SelectionError,
    constraint_of,
    downgrade_refusal,
    satisfies,
    select,
)
from pytest_reqfile.lock.tags import PinState, Tag, pin_state
from pytest_reqfile.lock.values import Entry
from pytest_reqfile.project.values import Source

GateFor = Callable[[Source], Gate | None]
"""The minimum release age that applies to a source; None where there is none."""


def no_gate(source: Source) -> None:
    """The answer where tags may be of any age."""
    del source


class Resolver:
    """Pins sources anew, as ``renew.Resolve`` asks for it.

    A plain ref follows its branch or tag; a version constraint keeps a pin that it still allows, and else takes the
    newest tag it allows. ``notes`` are what people should know beside the pins, in the order of the sources. Offline
    every pin that covers its source is kept, and any other source refused. ``keeps_unseen`` says whether a pin was kept
    of which nobody looked at what it pins.
    """

    def __init__(self, fetcher: Fetcher, hasher: Hasher, gate_for: GateFor = no_gate) -> None:
        self._fetcher = fetcher
        self._hasher = hasher
        self._gate_for = gate_for
        self.notes: list[str] = []
        self.keeps_unseen = False

    def __call__(self, source: Source, old: Entry | None) -> Entry:
        """Raises ``RefusedError`` for a moved tag and for tags that do not do, ``ReqfileError`` for all else."""
        try:
            return self._resolve(source, old)
        except SelectionError as error:
            refuse = RefusedError if error.code == "AR730" else ReqfileError
            raise refuse(f'{table_of(source)} "{source.name}": {error}') from error
        except (RefusedError, OfflineError):
            raise
        except ReqfileError as error:
            raise ReqfileError(f'{table_of(source)} "{source.name}": {error}') from error

    def _resolve(self, source: Source, old: Entry | None) -> Entry:
        if is_range(source):  # what is wrong is told also while a pin needs neither
            constraint_of(source)
            self._gate_for(source)
        covered = old if old is not None and covers(old, source) else None
        if self._fetcher.offline:
            if covered is None:
                raise OfflineError(_not_offline(source))
            return self._unseen_pin(covered)
        if not is_range(source):
            return entry_of(source, *self.content(source, self._fetcher.commit_of(source), old))
        tags = self._fetcher.tags(source)
        return self._keep(source, covered, tags) if covered is not None else self._choose(source, old, tags)

    def _keep(self, source: Source, pin: Entry, tags: tuple[Tag, ...]) -> Entry:
        """A pin that the constraint still allows never moves here; its content is looked at all the same."""
        state = self._unmoved(source, pin, tags)
        if state == "missing":
            self.notes.append(missing_text(table_of(source), pin))
        try:
            tree, digest = self.content(source, pin.commit, pin)
        except ReqfileError:
            if state == "missing":  # gone with its tag: the pin stands as it is
                return self._unseen_pin(pin)
            raise
        found = next((tag for tag in tags if tag.name == pin.tag), None)
        kept = entry_of(source, tree, digest)
        return replace(
            kept,
            tag=pin.tag,
            tag_object=pin.tag_object if found is None else found.tag_object,
            released=pin.released,
            released_from=pin.released_from,
        )

    def _unseen_pin(self, pin: Entry) -> Entry:
        self.keeps_unseen = True
        return pin

    def _unmoved(self, source: Source, pin: Entry, tags: tuple[Tag, ...]) -> PinState:
        """What became of the pinned tag, if it was not moved. Raises ``RefusedError`` AR732."""
        state, commit = pin_state(tags, pin.tag, pin.commit)
        if state == "moved":
            raise RefusedError(moved_text(table_of(source), pin, commit))
        return state

    def _choose(self, source: Source, old: Entry | None, tags: tuple[Tag, ...]) -> Entry:
        known = old if old is not None and old.tag and old.source == redacted(source.source) else None
        if known is not None:  # another constraint or path must not hide that its tag was moved
            self._unmoved(source, known, tags)
        selection = select(source, tags, pinned=known, gate=self._gate_for(source))
        if known is not None and satisfies(source, known.tag):
            refusal = downgrade_refusal(source, known.tag, selection)
            if refusal is not None:
                raise RefusedError(refusal)
        label = f"{table_of(source)} {source.name}"
        self.notes += (f"{label}: {note}" for note in (*selection.notes, *map(str, selection.held)))
        tree, digest = self.content(source, selection.tag.commit, old)
        return entry_of(source, tree, digest, selection)

    def content(self, source: Source, commit: str, old: Entry | None) -> tuple[CachedTree, str]:
        """The content of a source at ``commit`` and its digest; only what an ``old`` pin vouches for is not fetched."""
        pin = old if old is not None and (old.commit, old.path) == (commit, recorded_path(source)) else None
        cached = self._fetcher.cached(source, pin) if pin is not None else None
        if pin is not None and cached is not None and altered(source, pin, cached, self._hasher) is None:
            return replace(cached, commit=commit), pin.digest
        tree = self._fetcher.tree(source, commit)
        digest = self._hasher.directory(tree_kind(source), tree.folder)
        if pin is not None and digest != pin.digest:
            label = f"{table_of(source)} {source.name}"
            self.notes.append(f"{label}: the lock had {pin.digest} for the content of {commit}, but it is {digest}")
        return tree, digest


def _not_offline(source: Source) -> str:
    what = "version constraint" if is_range(source) else "ref"
    return f'{what} "{requested_ref(source)}" of {table_of(source)} "{source.name}" cannot be resolved offline'


def entry_of(source: Source, tree: CachedTree, digest: str, selection: Selection | None = None) -> Entry:
    """The entry that pins a source to a tree; for a version constraint with the tag that was selected."""
    return Entry(
        name=source.name,
        source=redacted(source.source),
        commit=tree.commit,
        digest=digest,
        path=recorded_path(source),
        ref=requested_ref(source),
        tag=selection.tag.name if selection is not None else "",
        tag_object=selection.tag.tag_object if selection is not None else "",
        released=selection.released if selection is not None else "",
        released_from=selection.released_from if selection is not None else "",
    )
