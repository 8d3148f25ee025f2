"""Where a tool says something is, as a repository path (spec reqfile.md 3.4)."""

from __future__ import annotations

import pytest

from pytest_reqfile.reqfile.places import decode_percent, repository_path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/a.py", "app/src/a.py"),
        ("./src//x/../a.py", "app/src/a.py"),
        ("../lib/b.py", "lib/b.py"),
        ("../../out.py", "../../out.py"),
        ("/repo/lib/b.py", "lib/b.py"),
        ("file:///repo/app/other%20file.py", "app/other file.py"),
        ("file:///repo/../etc/passwd", "/repo/../etc/passwd"),
        ("file:///elsewhere/c.py", "/elsewhere/c.py"),
        ("/repository/c.py", "/repository/c.py"),
        ("file://host/p.py", "app/host/p.py"),
        ("%2e%2e/d.py", "d.py"),
        ("https://example.invalid/a", "app/https:/example.invalid/a"),
        ("%C3%A9.py", "app/é.py"),
        ("/repo", "/repo"),
    ],
)
def test_a_place_is_seen_from_the_folder_of_the_command(uri: str, path: str) -> None:
    """What lies outside of the repository is kept as decoded."""
    assert repository_path(uri, root="/repo", folder="app") == path


def test_a_repository_at_the_root_of_the_disk_has_places_too() -> None:
    """As in a container."""
    assert repository_path("/src/a.py", root="/", folder="") == "src/a.py"


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("a%20b", "a b"),
        ("100%", "100%"),
        ("%zz%4", "%zz%4"),
        ("%25%32%30", "%20"),
        ("%ff.py", "�.py"),
        ("%E2%82x", "�x"),
    ],
)
def test_percent_escapes_are_decoded_once_and_bad_ones_kept(text: str, decoded: str) -> None:
    """Bytes that are no UTF-8 become U+FFFD."""
    assert decode_percent(text) == decoded
