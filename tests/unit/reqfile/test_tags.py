"""What a remote's tag listing says."""

from __future__ import annotations

import pytest

from pytest_reqfile.reqfile.tags import latest_release, read_tags

A, B, C = "a" * 40, "b" * 40, "c" * 40


@pytest.mark.case("reqfile:Q9")
def test_listings_are_read_with_annotated_tags_peeled() -> None:
    """The ``^{}`` line names the commit of an annotated tag, wherever it stands."""
    listing = f"{A}\trefs/tags/v1\n{B}\trefs/tags/v2\n{C}\trefs/tags/v2^{{}}\n"
    assert read_tags(listing) == {"v1": A, "v2": C}
    assert read_tags(f"{C}\trefs/tags/v2^{{}}\n{B}\trefs/tags/v2\n") == {"v2": C}


def test_other_lines_are_no_tags() -> None:
    """Branches, warnings and cut lines."""
    assert read_tags(f"{A}\trefs/heads/main\nwarning: slow\n{A[:39]}\trefs/tags/v1\n{A}\trefs/tags/\n") == {}


@pytest.mark.case("reqfile:Q10")
def test_the_latest_release_is_the_highest_version_not_the_last_listed() -> None:
    """Numbers are compared as numbers; pre-releases and names are no releases."""
    tags = dict.fromkeys(("v0.10.0", "v0.9.0", "0.2", "v1.0.0-rc1", "nightly", "v", "v1.", "x1.0"), A)
    assert latest_release(tags) == "v0.10.0"
    assert latest_release(dict.fromkeys(("v1.0.0-rc1", "nightly"), A)) is None
    assert latest_release({}) is None


def test_a_longer_version_is_the_later_one_and_absurd_numbers_are_no_versions() -> None:
    """``v1.0`` before ``v1.0.0``; digits beyond any release number do not count."""
    assert latest_release({"v1.0": A, "v1.0.0": B}) == "v1.0.0"
    assert latest_release({"v1": A, "v" + "9" * 5000: B, "v²": C}) == "v1"
