"""Laws of the lock: order, one flipped bit, write then check, hand edits, wire forms (issue 6 "Proof")."""

from __future__ import annotations

import json
import string
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_reqfile.errors import FormatError
from pytest_reqfile.lock.changes import Change, Report, report_from_wire, report_to_wire
from pytest_reqfile.lock.compare import Present, compare_content
from pytest_reqfile.lock.digest import EXECUTABLE, PLAIN, Leaf, file_leaf, is_text, tree_digest, without_cr
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.file import LockFormatError, parse_lock
from pytest_reqfile.lock.outputs import rendering, served_text
from pytest_reqfile.lock.pins import Pins, unique
from pytest_reqfile.lock.state import PARTS, LockState, part_outcome, state_from_wire, state_to_wire
from pytest_reqfile.lock.toml_text import lock_text, toml_string
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Approval, Deny, Entry, ItemPin, Lock, OutputPin, Scan, ordered
from pytest_reqfile.syntax.gojson import go_json

SEGMENTS = st.text(string.ascii_letters + "é._- ", min_size=1, max_size=6).filter(lambda text: text not in {".", ".."})
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
MODES = st.sampled_from([PLAIN, EXECUTABLE])
FILES = st.dictionaries(PATHS, st.tuples(st.binary(max_size=40), MODES), min_size=1, max_size=5)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.text(string.ascii_lowercase + "é'\"\\\n\t", max_size=5)


def _leaves(files: dict[str, tuple[bytes, str]]) -> list[Leaf]:
    return [file_leaf(path, data, EXECUTABLE if mode == EXECUTABLE else PLAIN) for path, (data, mode) in files.items()]


@given(FILES, st.randoms(use_true_random=False))
def test_order_is_nothing(files: dict[str, tuple[bytes, str]], random: object) -> None:
    """A tree is a set of leaves."""
    leaves = _leaves(files)
    shuffled = list(leaves)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert tree_digest("skill", shuffled) == tree_digest("skill", leaves)


@given(FILES, st.data())
def test_one_flipped_bit_or_mode(files: dict[str, tuple[bytes, str]], data: st.DataObject) -> None:
    """Every bit counts, CRLF of text apart, and so does the mode."""
    path = data.draw(st.sampled_from(sorted(files)))
    content, mode = files[path]
    before = tree_digest("skill", _leaves(files))
    other = EXECUTABLE if mode == PLAIN else PLAIN
    assert tree_digest("skill", _leaves({**files, path: (content, other)})) != before
    if content:
        place = data.draw(st.integers(0, 8 * len(content) - 1))
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        same_text = is_text(path) and bytes(flipped).replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n")
        assert (tree_digest("skill", _leaves({**files, path: (bytes(flipped), mode)})) == before) is same_text


@given(st.lists(st.binary(max_size=5), max_size=8))
def test_crlf_in_pieces(pieces: list[bytes]) -> None:
    """Where a file is cut does not matter."""
    assert b"".join(without_cr(pieces)) == b"".join(pieces).replace(b"\r\n", b"\n")


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(FILES)
def test_disk_and_memory_agree(files: dict[str, tuple[bytes, str]]) -> None:
    """A directory has the digest of its files' leaves."""
    with tempfile.TemporaryDirectory() as folder:
        written: dict[str, tuple[bytes, str]] = {}
        for path, (data, mode) in files.items():
            place = Path(folder, path)
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
            except OSError:  # a file where a folder should be
                continue
            place.chmod(0o755 if mode == EXECUTABLE else 0o644)
            written[path] = data, mode
        assert Hasher().directory("include", Path(folder)) == tree_digest("include", _leaves(written))


ITEMS = st.lists(
    st.builds(
        ItemPin, kind=st.sampled_from(["rule", "skill"]), id=NAMES, digest=NAMES, domain=NAMES, path=NAMES, owner=NAMES
    ),
    max_size=5,
).map(unique)
ENTRIES = st.lists(
    st.builds(Entry, **{field.name: NAMES for field in fields(Entry)}), max_size=3, unique_by=lambda e: (e.name, e.view)
).map(tuple)
APPROVALS = st.lists(
    st.builds(
        Approval,
        **{
            field.name: NAMES
            if field.name != "accepted_findings"
            else st.lists(NAMES.filter(bool), max_size=2).map(tuple)
            for field in fields(Approval)
        },
    ),
    max_size=2,
).map(tuple)
LOCKS = st.builds(
    Lock,
    ai_rulez_version=NAMES,
    profile=NAMES,
    scope=NAMES,
    outputs_pinned=st.booleans(),
    tree=NAMES,
    includes=ENTRIES,
    skills=ENTRIES,
    sources=ENTRIES,
    served=ENTRIES,
    items=ITEMS,
    outputs=st.lists(st.builds(OutputPin, digest=NAMES, path=NAMES, role=NAMES), max_size=3).map(tuple),
    approvals=APPROVALS,
    denied=st.lists(st.builds(Deny, digest=NAMES, reason=NAMES), max_size=2).map(tuple),
    scans=st.lists(
        st.builds(Scan, scanner=NAMES, tree=NAMES, findings=st.integers(0, 9), result=NAMES), max_size=2
    ).map(tuple),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(LOCKS)
def test_written_and_read_is_the_same(lock: Lock) -> None:
    """Whatever its strings hold; and written again it is the same file."""
    blank = [text for text in _strings(lock) if text and not text.strip()]
    assume(not blank)  # a string of blanks alone is a wrong type to the getters
    text = lock_text(lock)
    read = parse_lock(text.encode(), "x")
    assert read == ordered(lock)
    assert lock_text(read) == text


def _strings(lock: Lock) -> list[str]:
    found: list[str] = []
    for field in fields(lock):
        value = getattr(lock, field.name)
        if isinstance(value, str):
            found.append(value)
        for record in value if isinstance(value, tuple) else ():
            values = [getattr(record, one.name) for one in fields(record)]
            found += [v for v in values if isinstance(v, str)]
            found += [v for vs in values if isinstance(vs, tuple) for v in vs]
    return found


@given(TEXTS)
def test_every_string_can_be_written(text: str) -> None:
    """TOML reads back what was meant."""
    assume(not text or text.strip())
    assert parse_lock(f"version = 1\nprofile = {toml_string(text)}\n".encode(), "x").profile == text


@given(ITEMS, st.data())
def test_hand_edits_are_caught(items: tuple[ItemPin, ...], data: st.DataObject) -> None:
    """A lock whose digest, id, kind or domain was edited does not match its own tree."""
    assume(items)
    lock = Lock(items=items, scope="all")
    lock = replace(lock, tree=tree_of(lock))
    place = data.draw(st.integers(0, len(items) - 1))
    key = data.draw(st.sampled_from(["digest", "id", "kind", "domain"]))
    edited = replace(items[place], **{key: getattr(items[place], key) + "x"})
    changed = replace(lock, items=(*items[:place], edited, *items[place + 1 :]))
    present = Present(pins=Pins(items=items, problems=()), include_outputs=False)
    assert compare_content(lock, "l", present) == ()
    assert "it was edited by hand" in "".join(map(str, compare_content(changed, "l", present)))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_lock_or_an_error(data: bytes) -> None:
    """Never a crash (case J19)."""
    for start in (b"", b"version = 1\n", b"version = 1\n[[item]]\n"):
        with suppress(LockFormatError):
            parse_lock(start + data, "x")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-(2.0**53), 2.0**53).map(lambda number: number + 0.0)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_go_json_is_json(value: object) -> None:
    """It reads back as the same value, holds nothing HTML misreads, and does not depend on the order of keys."""
    text = go_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")
    assert go_json(json.loads(text)) == text


@given(st.lists(st.floats()))
def test_numbers_without_json(values: list[float]) -> None:
    """NaN and infinity are refused, all else is written."""
    finite = all(value - value == 0 for value in values)
    try:
        go_json(values)
    except FormatError:
        assert not finite
    else:
        assert finite


@given(st.binary(max_size=80))
def test_filters_only_take_away(data: bytes) -> None:
    """What is rendered or served is what was on disk, less lines of a header; filtering twice is filtering once."""
    for act in (lambda d: rendering("a.md", d), lambda d: rendering("a.toml", d, stamped=True), served_text):
        once: bytes = act(data)
        assert len(once) <= len(data)
    plain = data.replace(b"-Hash: ", b"").replace(b"Generated: ", b"")
    assert rendering("a.md", plain, stamped=True) == served_text(plain) == plain


SCOPES = st.sampled_from(["lock", "remote", "served", "source", "output", "approval"])
CHANGES = st.builds(
    Change,
    scope=SCOPES,
    change=st.sampled_from(["added", "removed", "changed"]),
    kind=NAMES,
    id=NAMES,
    domain=NAMES,
    path=SEGMENTS,
    detail=NAMES,
    files=st.lists(st.tuples(NAMES, NAMES), max_size=2).map(tuple),
)
REPORTS: st.SearchStrategy[Report] = st.builds(
    Report,
    name=st.just("ai-rulez.lock"),
    changes=st.lists(CHANGES, max_size=4).map(tuple),
    notes=st.lists(TEXTS.filter(bool), max_size=2).map(tuple),
    no_content_pins=st.booleans(),
    lock_version=st.integers(0, 2),
    looked_at=st.fixed_dictionaries(
        {name: st.integers(0, 3) for name in ("lock", "source", "output", "remote", "served")}
    ),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(REPORTS)
def test_wire_forms(report: Report) -> None:
    """A state survives as builtin types; every change is in exactly one part, none is lost."""
    outcomes = tuple(part_outcome(".ai-rulez/ai-rulez.lock", report, part) for part in PARTS)
    state = LockState(
        path=".ai-rulez/ai-rulez.lock", exists=True, tree="t", subject="s", report=report, outcomes=outcomes
    )
    wire = json.loads(json.dumps(state_to_wire(state)))
    assert state_from_wire(wire) == state
    assert report_from_wire(report_to_wire(report)) == report
    found = [finding.message for outcome in outcomes for finding in outcome.findings]
    assert sorted(found) == sorted(map(str, report.changes))
    assert state.in_sync is (not report.changes)


def test_the_laws_can_fail() -> None:
    """A digest without the mode would break the law of modes."""
    without_mode: Callable[[bytes], str] = lambda data: tree_digest("skill", [file_leaf("a", data)])  # noqa: E731
    assert without_mode(b"x") == without_mode(b"x")
    assert tree_digest("skill", [file_leaf("a", b"x", EXECUTABLE)]) != without_mode(b"x")
