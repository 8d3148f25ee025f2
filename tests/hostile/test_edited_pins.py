"""Pins of remote sources that somebody edited: neither kept nor passed unseen (issue 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_reqfile.lock.toptree import tree_of
from tests.support import Repo
from tests.support.remotes import CONTENT, Remote, Taker


@pytest.fixture
def taker(make_repo: Callable[[str], Repo]) -> Taker:
    return Taker(make_repo)


@pytest.fixture
def remote(taker: Taker) -> Remote:
    return taker.remote()


def edit(taker: Taker, old: str, new: str, *, consistent: bool) -> bytes:
    """Somebody changes the lock, and makes its tree digest fit or not; its bytes then."""
    path = taker.project.folder / "ai-rulez.lock"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    if consistent:
        lock = taker.project.read()
        assert lock is not None
        taker.project.save(replace(lock, tree=tree_of(lock)))
    return path.read_bytes()


def test_an_edited_pin_is_not_kept_unseen(taker: Taker, remote: Remote) -> None:
    """Offline, and where tag and commit are gone: a new tree digest would make the edit look as if it was locked."""
    commit = remote.publish(CONTENT, "v1.2.0")
    taker.takes(remote, version="^1.2")
    taker.lock()
    edited = edit(taker, commit, "1" * 40, consistent=False)
    told = "error: the tree digest does not match the pins in ai-rulez.lock; it was edited by hand. "
    done = taker.run("--offline")
    assert (done.code, done.err[: len(told)], taker.written()) == (2, told, edited)
    remote.delete_tag("v1.2.0")
    remote.tag("v1.1.0")
    done = taker.run()
    assert (done.code, done.err[: len(told)], taker.written()) == (2, told, edited)


def test_the_object_of_a_kept_tag_is_what_the_remote_has(taker: Taker, remote: Remote) -> None:
    """A pin that is kept online is looked at whole."""
    remote.publish(CONTENT, "v1.2.0", annotated=True)
    taker.takes(remote, version="^1.2")
    before = taker.lock()
    edit(taker, before.includes[0].tag_object, "1" * 40, consistent=True)
    assert taker.lock() == before


@pytest.mark.parametrize("commit", ["HEAD", "--upload-pack=x", "../../x", "", "A" * 40, "1" * 64])
def test_a_pin_without_a_commit_is_none(taker: Taker, remote: Remote, commit: str) -> None:
    """However well its tree digest fits: nothing could ever be compared with it, so it must not pass as not cached."""
    locked = remote.publish(CONTENT)
    taker.takes(remote)
    taker.lock()
    edit(taker, locked, commit, consistent=True)
    done = taker.run("--check")
    told = f'remote include shared: the lock records "{commit}", which is no commit id; run `reqfile lock`'
    assert (done.code, done.out.splitlines()[1]) == (2, f"  {told}")
    assert (taker.run("--fetch").code, taker.run().code, taker.run("--check").code) == (2, 0, 0)
