"""Which tag a version constraint takes (seed 001 "Version constraints"; spec/lock.md 6.6 and 6.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.ages import Gate, Held, Release, go_duration, held_for_age, timestamp
from pytest_reqfile.lock.remotes import requested_ref, table_of
from pytest_reqfile.lock.tags import Tag, tag_version
from pytest_reqfile.lock.values import Entry
from pytest_reqfile.lock.versions import Constraint, ConstraintError, Version
from pytest_reqfile.project.values import Source

_LOOKUPS: Final = 50
_SHOWN: Final = 3

SelectionCode = Literal["AR730", "AR731"]


class SelectionError(ReqfileError):
    """No tag can be taken: ``AR731`` for a constraint that cannot be read, else ``AR730``. The text leads with it.

    ``held`` are the tags that would do but for their age.
    """

    def __init__(self, code: SelectionCode, message: str, held: tuple[Held, ...] = ()) -> None:
        self.code: SelectionCode = code
        self.message = message
        self.held = held
        super().__init__(f"{code} {message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A tag that names a version."""

    tag: Tag
    version: Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The tag that is taken; ``latest`` is the highest there is, whatever the constraint says.

    ``released`` and ``released_from`` are as the lock records them, empty where no time was looked up.
    """

    tag: Tag
    version: Version
    latest: Candidate
    notes: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    released: str = ""
    released_from: str = ""


def constraint_of(source: Source) -> Constraint:
    """The constraint of a range source. Raises ``SelectionError`` AR731."""
    text = requested_ref(source)
    if source.version and source.ref:
        raise SelectionError("AR731", f'version constraint "{text}" is invalid: set `version` or `ref`, not both')
    try:
        return Constraint.parse(text)
    except ConstraintError as error:
        raise SelectionError("AR731", str(error)) from error


def satisfies(source: Source, tag: str) -> bool:
    """Whether a recorded tag is one that the source's version constraint allows (spec/lock.md 6.4)."""
    version = tag_version(tag, source.tag_prefix)
    try:
        return version is not None and constraint_of(source).allows(version, source.include_prerelease)
    except SelectionError:
        return False


def select(
    source: Source, tags: tuple[Tag, ...], *, pinned: Entry | None = None, gate: Gate | None = None
) -> Selection:
    """The highest tag that the constraint allows and, with a ``gate``, that is old enough.

    The ``pinned`` tag, if it still leads to the pinned commit, needs no age. Raises ``SelectionError``.
    """
    constraint = constraint_of(source)
    candidates = _candidates(source, tags)
    if not candidates:
        raise SelectionError("AR730", _no_versions(source, tags))
    allowed = [one for one in candidates if constraint.allows(one.version, source.include_prerelease)]
    warnings = gate.observe(tags) if gate is not None else ()
    if not allowed:
        raise SelectionError("AR730", _none_allowed(source, constraint, candidates))
    walk = _Walk(gate, pinned)
    chosen = walk.first(allowed)
    if chosen is None:
        assert gate is not None, "without a gate the first is taken"
        raise SelectionError("AR730", _all_held(source, gate, walk.held), tuple(walk.held))
    return Selection(
        tag=chosen.tag,
        version=chosen.version,
        latest=_latest(source, candidates) or chosen,
        notes=(*_twins(chosen, candidates), *warnings),
        held=tuple(walk.held),
        released=timestamp(walk.release.at) if walk.release is not None else "",
        released_from=walk.release.source if walk.release is not None else "",
    )


def downgrade_refusal(source: Source, pinned: str, selection: Selection) -> str | None:
    """Why a pin may not move: to a version that is lower than the pinned tag's. None where it may."""
    version = tag_version(pinned, source.tag_prefix)
    if version is None or selection.version.precedence >= version.precedence:
        return None
    return (
        f'refusing to move {table_of(source)} "{source.name}" from {pinned} down to {selection.tag.name}: a lower '
        "version can come from a truncated tag list"
    )


def _candidates(source: Source, tags: tuple[Tag, ...]) -> list[Candidate]:
    """Highest version first; of equal ones the tag that sorts first."""
    found = [
        Candidate(tag=tag, version=version)
        for tag in sorted(tags, key=lambda one: one.name.encode())
        if (version := tag_version(tag.name, source.tag_prefix)) is not None
    ]
    found.sort(key=lambda one: one.version.precedence, reverse=True)  # keeps the order of equal ones
    return found


def _latest(source: Source, candidates: list[Candidate]) -> Candidate | None:
    return next((one for one in candidates if source.include_prerelease or not one.version.prerelease), None)


class _Walk:
    """From the highest tag down to the first that is old enough; nobody knowing is not old enough."""

    def __init__(self, gate: Gate | None, pinned: Entry | None) -> None:
        self._gate = gate
        self._pinned = (pinned.tag, pinned.commit) if pinned is not None and pinned.tag else None
        self._lookups = 0
        self.held: list[Held] = []
        self.release: Release | None = None

    def first(self, allowed: list[Candidate]) -> Candidate | None:
        return next((one for one in allowed if self._passes(one.tag)), None)

    def _passes(self, tag: Tag) -> bool:
        if self._gate is None or (tag.name, tag.commit) == self._pinned:
            return True
        if self._lookups < _LOOKUPS:
            self._lookups += 1
            return self._is_old_enough(tag, self._gate)
        if len(self.held) == _LOOKUPS:
            self.held.append(Held(tag=tag.name, commit=tag.commit, reason=f"more than {_LOOKUPS} newer tags to check"))
        return False

    def _is_old_enough(self, tag: Tag, gate: Gate) -> bool:
        try:
            release = gate.release_of(tag)
        except ReqfileError as error:
            self.held.append(Held(tag=tag.name, commit=tag.commit, reason=" ".join(str(error).split())))
            return False
        held = held_for_age(tag, release, gate)
        if held is not None:
            self.held.append(held)
            return False
        self.release = release
        return True


def _twins(chosen: Candidate, candidates: list[Candidate]) -> tuple[str, ...]:
    same = [one for one in candidates if one.version.precedence == chosen.version.precedence and one is not chosen]
    if not same:
        return ()
    names = _quoted([chosen.tag.name, same[0].tag.name], " and ")
    if same[0].version == chosen.version:
        what = "name the same version"
    else:
        what = "differ only in build metadata, which semver precedence ignores"
    return (f'tags {names} {what}; using "{chosen.tag.name}"',)


def _no_versions(source: Source, tags: tuple[Tag, ...]) -> str:
    others = f"; non-version tags: {_quoted([tag.name for tag in tags[:_SHOWN]])}" if tags else ""
    wanted = f'no semantic version tags{_prefixed(source)} to satisfy "{requested_ref(source)}"'
    return f"{wanted}{others}; pin a commit SHA instead"


def _none_allowed(source: Source, constraint: Constraint, candidates: list[Candidate]) -> str:
    highest = _quoted([one.tag.name for one in candidates[:_SHOWN]])
    message = f'no tag{_prefixed(source)} satisfies "{requested_ref(source)}" (highest tags: {highest})'
    if any(constraint.allows(one.version, include_prerelease=True) for one in candidates):
        message += "; prereleases are excluded unless the constraint names one or include_prerelease = true"
    return message


def _all_held(source: Source, gate: Gate, held: list[Held]) -> str:
    shown = [str(one) for one in held[:_SHOWN]]
    if len(held) > _SHOWN:
        shown.append(f"{len(held) - _SHOWN} more")
    eligible = next((one.eligible_at for one in held if one.eligible_at is not None), None)
    when = f"; the newest becomes eligible on {timestamp(eligible)[:10]}" if eligible is not None else ""
    return (
        f'every tag that satisfies "{requested_ref(source)}" is held back by min_release_age '
        f"({go_duration(gate.minimum)}): {'; '.join(shown)}{when}; wait, lower min_release_age, or pin a commit SHA"
    )


def _prefixed(source: Source) -> str:
    return f' with prefix "{source.tag_prefix}"' if source.tag_prefix else ""


def _quoted(names: list[str], between: str = ", ") -> str:
    return between.join(f'"{name}"' for name in names)
