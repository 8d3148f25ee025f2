"""The record of first-seen tags (seed 001 "Minimum release age", 2; cases U1 to U9)."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import tomli

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.first_seen import HEADER, LARGEST, FirstSeen
from pytest_reqfile.lock.tags import Tag
from tests.support.range_sources import URL, commit, tags

NOW = datetime(2026, 9, 28, 10, tzinfo=UTC)
WEEK = timedelta(days=7)
ONE, TWO = tags("v1 v2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ai-rulez" / "observed-tags.toml"


def _entries(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = tomli.loads(path.read_text())["tag"]
    return found


@pytest.mark.case("lock:U1")
@pytest.mark.case("lock:U2")
@pytest.mark.case("lock:U4")
def test_the_first_time_counts(path: Path) -> None:
    """A week later it is the same; a moved tag is new; only what is unknown is added."""
    assert FirstSeen(path).observe(URL, [ONE], NOW) == {ONE}
    moved = Tag(name="v1", commit=commit(9))
    assert FirstSeen(path).observe(URL, [ONE, moved, TWO], NOW + WEEK) == {moved, TWO}
    record = FirstSeen(path)
    assert [record.when(URL, tag) for tag in (ONE, moved, TWO)] == [NOW, NOW + WEEK, NOW + WEEK]
    assert record.when("https://example.invalid/other", ONE) is None
    before = path.read_bytes(), path.stat().st_ino
    assert FirstSeen(path).observe(URL, [ONE, TWO], NOW + 2 * WEEK) == frozenset()
    assert (path.read_bytes(), path.stat().st_ino) == before


@pytest.mark.case("lock:U9")
def test_the_text_of_the_file(path: Path) -> None:
    """The original's header and quotes; by source, tag and commit."""
    FirstSeen(path).observe("https://b.invalid/x", [ONE], NOW)
    FirstSeen(path).observe("https://a.invalid/x", [TWO, Tag(name="it's", commit=commit(7))], NOW)
    records = [("a", '"it\'s"', 7), ("a", "'v2'", 2), ("b", "'v1'", 1)]
    assert path.read_text() == (
        "# Local record of when ai-rulez first saw each remote tag (min_release_age). Safe to delete.\n"
    ) + "".join(
        f"\n[[tag]]\nsource = 'https://{host}.invalid/x'\ntag = {tag}\ncommit = '{commit(number)}'\n"
        "seen = 2026-09-28T10:00:00Z\n"
        for host, tag, number in records
    )


@pytest.mark.case("lock:U5")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not toml", "it is no record of tags; delete it"),
        (b"\xff", "it is no record of tags; delete it"),
        (b"tag = 3\n", "it is no record of tags; delete it"),
        (b"[[tag]]\nsource = 'x'\n", "it is no record of tags; delete it"),
        (
            b"[[tag]]\nsource = 'x'\ntag = 'v1'\ncommit = 'c'\nseen = 2026-09-28T10:00:00\n",
            "it is no record of tags; delete it",
        ),
        (b"[[tag]]\nsource = 1\ntag = 'v1'\ncommit = 'c'\nseen = 2026-09-28T10:00:00Z\n", "it is no record of tags"),
        (b"#" * (LARGEST + 1), f"larger than {LARGEST} bytes; delete it"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_file_that_cannot_be_used(path: Path, data: bytes, message: str) -> None:
    """It is an error, and never overwritten."""
    path.parent.mkdir()
    path.write_bytes(data)
    for act in (lambda: FirstSeen(path).observe(URL, [ONE], NOW), lambda: FirstSeen(path).when(URL, ONE)):
        with pytest.raises(FileError) as caught:
            act()
        assert str(caught.value).startswith(f"cannot use {path}: {message}")
    assert path.read_bytes() == data


@pytest.mark.case("lock:U7")
def test_at_most_a_thousand_of_one_source(path: Path) -> None:
    """The first of the list; a new one takes the place of one that is wanted no more, not of what others see."""
    many = [Tag(name=f"v{number}", commit=commit(number)) for number in range(1200)]
    assert len(FirstSeen(path).observe(URL, many, NOW)) == 1200
    FirstSeen(path).observe("https://other.invalid/x", [ONE], NOW - WEEK)
    assert len(_entries(path)) == 1001
    newest = Tag(name="new", commit=commit("f"))
    FirstSeen(path).observe(URL, [newest, *many], NOW + WEEK)
    record = FirstSeen(path)
    assert len(_entries(path)) == 1001
    assert record.when(URL, newest) == NOW + WEEK
    assert record.when(URL, many[998]) == NOW
    assert record.when(URL, many[999]) is None
    assert record.when("https://other.invalid/x", ONE) == NOW - WEEK


def test_at_most_five_thousand_and_below_a_mebibyte(path: Path) -> None:
    """The oldest go, also where long names fill the file earlier; what is written can be read."""
    for number in range(6):
        listed = [Tag(name=f"v{tag}", commit=commit(tag)) for tag in range(1000)]
        FirstSeen(path).observe(f"https://{number}.invalid/x", listed, NOW + number * WEEK)
    sources = {entry["source"] for entry in _entries(path)}
    assert sources == {f"https://{number}.invalid/x" for number in range(1, 6)}
    long = [Tag(name=f"{tag:04}".ljust(200, "x"), commit=commit(tag)) for tag in range(1000)]
    for number in range(5):
        FirstSeen(path).observe(f"https://{number}.invalid/long", long, NOW + (9 + number) * WEEK)
    assert path.stat().st_size <= LARGEST - 64 * 1024
    assert {entry["source"] for entry in _entries(path)} <= {f"https://{number}.invalid/long" for number in range(5)}
    assert len(_entries(path)) > 1000


def _observe(path: Path, source: str) -> None:
    for number in range(10):
        FirstSeen(path).observe(source, [Tag(name=f"v{number}", commit=commit(number))], NOW)


def test_several_processes(path: Path) -> None:
    """Nothing that one of them records is lost."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_observe, args=(path, f"https://{n}.invalid/x")) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(_entries(path)) == 30
    assert path.read_text().startswith(HEADER)


def test_a_symlink_is_no_place_for_the_record(path: Path, tmp_path: Path) -> None:
    """What it leads to is not written."""
    path.parent.mkdir()
    target = tmp_path / "target"
    target.write_text("")
    path.symlink_to(target)
    with pytest.raises(FileError, match="a symbolic link"):
        FirstSeen(path).observe(URL, [ONE], NOW)
    assert target.read_text() == ""
