"""The lock file: its bytes, what is refused, and how it is written (spec/lock.md 1; cases J)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.file import LockFile, LockFormatError, parse_lock
from pytest_reqfile.lock.records import scan_of, with_approval, with_denial, with_scan
from pytest_reqfile.lock.toml_text import lock_text, toml_string
from pytest_reqfile.lock.toptree import approvals_digest, subject_of, tree_of
from pytest_reqfile.lock.values import Approval, Deny, Entry, ItemPin, Lock, OutputPin, Scan
from pytest_reqfile.workspace.walk import Walk
from tests.unit.lock.vectors import approval, vectors

GOLDEN = vectors()["golden_lock"]
APPROVAL = Approval(kind="rule", id="a", digest="d", reviewer="Kim", assurance="asserted", approved_at="2026-01-01")
SCAN = Scan(scanner="Scan-A", tree="t", findings=0, result="pass")


def _golden() -> Lock:
    """The golden lock from its data, unsorted on purpose."""
    data = GOLDEN["lock"]
    return Lock(
        ai_rulez_version=data["ai_rulez_version"],
        scope=data["scope"],
        outputs_pinned=data["outputs_pinned"],
        tree=data["tree"],
        includes=tuple(Entry(**entry) for entry in data["include"]),
        skills=tuple(Entry(**entry) for entry in data["skill"]),
        served=tuple(Entry(**{"commit": "", **entry}) for entry in data["served"]),
        items=tuple(ItemPin(**item) for item in data["item"]),
        outputs=tuple(OutputPin(**output) for output in data["output"]),
        approvals=tuple(map(approval, data["approval"])),
        denied=tuple(Deny(**deny) for deny in data["deny"]),
        scans=tuple(Scan(**scan) for scan in data["scan"]),
    )


def _file(folder: Path, text: str | bytes | None = None) -> LockFile:
    (folder / ".ai-rulez").mkdir(exist_ok=True)
    if text is not None:
        (folder / ".ai-rulez/ai-rulez.lock").write_bytes(text.encode() if isinstance(text, str) else text)
    return LockFile(walk=Walk(folder), path=".ai-rulez/ai-rulez.lock")


@pytest.mark.case("lock:J2")
def test_golden_bytes() -> None:
    """Every table, every key, both kinds of strings: the original's bytes."""
    text = lock_text(_golden())
    assert text == GOLDEN["text"]
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN["text_sha256"]


@pytest.mark.case("lock:M8")
def test_golden_digests() -> None:
    """Its tree, approvals digest and subject."""
    lock = parse_lock(GOLDEN["text"].encode(), "ai-rulez.lock")
    assert (tree_of(lock), lock.tree) == (GOLDEN["tree"], GOLDEN["tree"])
    assert approvals_digest(lock.approvals, lock.denied) == GOLDEN["approvals_digest"]
    assert subject_of(lock).digest == GOLDEN["subject"]


@pytest.mark.case("lock:J1")
def test_write_read_write(tmp_path: Path) -> None:
    """The same bytes, sorted though given unsorted."""
    file = _file(tmp_path)
    file.write(_golden())
    first = (tmp_path / file.path).read_bytes()
    read = file.read()
    assert read is not None
    file.write(read)
    assert (tmp_path / file.path).read_bytes() == first == GOLDEN["text"].encode()


@pytest.mark.case("lock:J3")
def test_no_file_is_no_lock(tmp_path: Path) -> None:
    """Not an error."""
    assert _file(tmp_path).read() is None


@pytest.mark.case("lock:J4")
@pytest.mark.parametrize(
    ("text", "version", "line"),
    [("version = 99\n", 99, 1), ("# c\nversion = 0\n", 0, 2), ("tree = 'x'\n", 0, 1), ("version = -1\n", -1, 1)],
)
def test_other_versions(tmp_path: Path, text: str, version: int, line: int) -> None:
    """Refused with the way out; a missing version reads as 0."""
    with pytest.raises(LockFormatError) as caught:
        _file(tmp_path, text).read()
    assert str(caught.value) == (
        f".ai-rulez/ai-rulez.lock:{line}: unsupported lock version {version} (this reqfile reads versions 1 and 2): "
        "delete it and run `reqfile lock` to regenerate ai-rulez.lock"
    )
    assert parse_lock(text.encode(), "x", any_version=True).version == version


@pytest.mark.case("lock:J4")
def test_version_2_is_read(tmp_path: Path) -> None:
    """And is written as 1 again where nothing needs 2."""
    lock = _file(tmp_path, "version = 2\n").read()
    assert lock is not None
    assert lock.version == 2
    assert "\nversion = 1\n" in lock_text(lock)


@pytest.mark.case("lock:J6")
@pytest.mark.parametrize("target", ["real.lock", "nowhere"])
def test_a_symlink_is_refused_and_replaced(tmp_path: Path, target: str) -> None:
    """Whatever it leads to; writing leaves the target as it is."""
    real = tmp_path / "real.lock"
    real.write_text("version = 1\n")
    file = _file(tmp_path)
    (tmp_path / file.path).symlink_to(tmp_path / target)
    with pytest.raises(LockFormatError, match="it is a symbolic link; if the lock is a symlink, delete it and run"):
        file.read()
    file.write(Lock(tree="t"))
    assert not (tmp_path / file.path).is_symlink()
    assert real.read_text() == "version = 1\n"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A folder or FIFO in its place is refused without waiting for anybody."""
    file = _file(tmp_path)
    make(tmp_path / file.path)
    with pytest.raises(LockFormatError, match="it is not a regular file"):
        file.read()


@pytest.mark.case("lock:J7")
def test_a_symlinked_folder_is_not_written_into(tmp_path: Path) -> None:
    """The folder of the lock must be a real one."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".ai-rulez").symlink_to("elsewhere")
    file = LockFile(walk=Walk(tmp_path), path=".ai-rulez/ai-rulez.lock")
    with pytest.raises(FileError, match=r"cannot write \.ai-rulez/ai-rulez\.lock: \.ai-rulez is a symbolic link"):
        file.write(Lock())
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.case("lock:J8")
def test_the_lowest_version_that_can_hold_it() -> None:
    """Role pins need 2, whatever the loaded file said."""
    plain, role = OutputPin(path="a", digest="d"), OutputPin(role="r", digest="d")
    assert "\nversion = 1\n" in lock_text(Lock(version=2, outputs=(plain,)))
    assert "\nversion = 2\n" in lock_text(Lock(version=1, outputs=(role, plain)))


@pytest.mark.case("lock:J10")
def test_served_entries_of_views() -> None:
    """The default view first, then views in byte order."""
    entries = tuple(Entry(name="s", source="x", commit="", digest="d", view=view) for view in ("static", "", "role:b"))
    text = lock_text(Lock(served=entries))
    assert [line for line in text.split("\n") if line.startswith("view")] == ["view = 'role:b'", "view = 'static'"]
    assert text.index("[[served]]") < text.index("view = ")


@pytest.mark.case("lock:J13")
@pytest.mark.case("lock:J14")
def test_approvals_are_sorted_and_replaced() -> None:
    """One record for each digest and reviewer, their case and surrounding blanks apart."""
    lock = with_approval(Lock(items=(ItemPin(kind="rule", id="a", digest="d"),)), APPROVAL)
    lock = with_approval(lock, replace(APPROVAL, kind="agent"))
    again = with_approval(lock, replace(APPROVAL, reviewer=" kim ", note="later"))
    assert [(one.kind, one.reviewer, one.note) for one in again.approvals] == [
        ("agent", "Kim", ""),
        ("rule", " kim ", "later"),
    ]
    text = lock_text(again)
    assert lock_text(parse_lock(text.encode(), "x")) == text
    assert parse_lock(text.encode(), "x").items == lock.items


@pytest.mark.case("lock:J16")
def test_denials_are_sorted_and_replaced() -> None:
    """By digest."""
    lock = with_denial(
        with_denial(with_denial(Lock(), Deny(digest="b")), Deny(digest="a")), Deny(digest="b", reason="r")
    )
    assert parse_lock(lock_text(lock).encode(), "x").denied == (Deny(digest="a"), Deny(digest="b", reason="r"))


@pytest.mark.case("lock:J17")
def test_scan_records() -> None:
    """Replaced by the exact name, found in any case; neither version nor content pins are affected."""
    lock = with_scan(with_scan(Lock(), SCAN), replace(SCAN, findings=2))
    assert lock.scans == (replace(SCAN, findings=2),)
    assert scan_of(lock, "scan-a") == lock.scans[0]
    assert len(with_scan(lock, replace(SCAN, scanner="scan-a")).scans) == 2
    assert (lock.needed_version, lock.has_content_pins) == (1, False)
    assert "findings = 0\n" in lock_text(Lock(scans=(SCAN,)))


@pytest.mark.case("lock:J18")
def test_unknown_keys_are_ignored_and_go(tmp_path: Path) -> None:
    """A newer writer's additions do not make the lock unreadable."""
    text = "version = 1\nnew = 1\n[[item]]\nkind = 'rule'\nid = 'a'\ndigest = 'd'\nextra = []\n[[later]]\nx = 1\n"
    file = _file(tmp_path, text)
    lock = file.read()
    assert lock == Lock(items=(ItemPin(kind="rule", id="a", digest="d"),))
    assert lock_text(lock).endswith("\nversion = 1\n\n[[item]]\nkind = 'rule'\nid = 'a'\ndigest = 'd'\n")


@pytest.mark.case("lock:J19")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 1\n[[item\n", ":2: parse lock file: invalid TOML: "),
        ("version = 1\ntree = 2026-01-01\n", ":2: parse lock file: `tree` must be a non-empty string"),
        ('version = "1"\n', ":1: parse lock file: `version` must be an integer, found a string"),
        ("version = 99999999999999999999\n", ":1: parse lock file: invalid TOML: the integer does not fit"),
        ("version = 1\n[item]\nx = 1\n[[item]]\n", ":4: parse lock file: invalid TOML: "),
        ("version = 1\nitem = 3\n", ":2: parse lock file: `item` must be a list"),
        ("version = 1\nitem = [3]\n", ":2: parse lock file: an entry of [[item]] must be a table"),
        (b"version = 1\ntree = '\xff'\n", ":2: parse lock file: not valid UTF-8"),
        ("version = 1\nversion = 1\n", ":2: parse lock file: invalid TOML: "),
        ("version = 1\n[[scan]]\nfindings = 'x'\n", ":3: parse lock file: `findings` must be an integer"),
    ],
)
def test_corrupt_files(tmp_path: Path, text: str | bytes, message: str) -> None:
    """An error at its line with the way out, never a crash."""
    with pytest.raises(LockFormatError) as caught:
        _file(tmp_path, text).read()
    assert f".ai-rulez/ai-rulez.lock{message}" in str(caught.value)
    assert str(caught.value).endswith("; restore it from version control, or delete it and run `reqfile lock`")


@pytest.mark.case("lock:J20")
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "'plain'"),
        ("", "''"),
        ("it's", '"it\'s"'),
        ('a "b" \\c', "'a \"b\" \\c'"),
        ("a\tb", "'a\tb'"),
        ("a\nb", '"a\\nb"'),
        ("a\r\f\b'\tb", '"a\\r\\f\\b\'\\tb"'),
        ("a\x7fb", '"a\\u007Fb"'),
        ("\x01\x1f", '"\\u0001\\u001F"'),
        ("é\u2028", "'é\u2028'"),
        ('it\'s "b" \\', '"it\'s \\"b\\" \\\\"'),
    ],
)
def test_strings(text: str, written: str) -> None:
    """Literal strings where TOML allows them, and back."""
    assert toml_string(text) == written
    assert parse_lock(f"version = 1\nprofile = {written}\n".encode(), "x").profile == text


@pytest.mark.case("lock:J24")
@pytest.mark.parametrize(
    ("lock", "pins"),
    [
        (Lock(tree="t"), True),
        (Lock(items=(ItemPin(kind="rule", id="a", digest="d"),)), True),
        (Lock(outputs=(OutputPin(path="a", digest="d"),)), True),
        (Lock(includes=(Entry(name="a", source="s", commit="c", digest="d"),)), False),
        (Lock(served=(Entry(name="a", source="s", commit="c", digest="d"),)), False),
        (Lock(approvals=(APPROVAL,), scans=(SCAN,)), False),
    ],
)
def test_content_pins(lock: Lock, pins: bool) -> None:
    """What makes a lock one that verifies authored content."""
    assert lock.has_content_pins is pins


@pytest.mark.case("lock:H3")
@pytest.mark.case("lock:I16")
def test_role_pins_are_no_outputs() -> None:
    """A role pin is never read as an output without a path; only its digest is in the tree."""
    role = OutputPin(role="backend", digest="d")
    lock = Lock(outputs=(role, OutputPin(path="CLAUDE.md", digest="e")))
    assert [pin.path for pin in lock.default_outputs] == ["CLAUDE.md"]
    assert lock.role_pin("backend") == role
    requested = replace(lock, outputs=(replace(role, requested=True), lock.outputs[1]))
    assert tree_of(requested) == tree_of(lock) != tree_of(replace(lock, outputs=lock.outputs[1:]))
