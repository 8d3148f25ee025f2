"""Globs against a slow matcher written from the words of the specs, without regular expressions."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.syntax.globs import GlobError, GlobSet, reqfile_glob, verifier_glob

PATHS = st.lists(st.text(alphabet="abé.\n", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
# Pieces, not characters, so that what matters is common.
PIECES = st.sampled_from(
    ["a", "b", "é", ".", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[a-b]", "{a,b}", "{a,**/b}", "\\a", ","]
)
REQFILE_GLOBS = st.lists(PIECES, min_size=1, max_size=6).map("".join)
VERIFIER_GLOBS = st.lists(
    st.sampled_from(["a", "b", "é", ".", "/", "*", "**", "**/", "?", "{", "}", ",", "{a,b}", "./", "[", "\n"]),
    max_size=8,
).map("".join)


@cache
def _segment_matches(glob: str, name: str) -> bool:
    """One path segment, backtracking: ``*`` any run, ``?`` one, ``[..]`` one of."""
    if glob == "":
        return name == ""
    if glob[0] == "*":
        return _segment_matches(glob[1:], name) or (name != "" and _segment_matches(glob, name[1:]))
    if name == "":
        return False
    if glob[0] == "?":
        return _segment_matches(glob[1:], name[1:])
    if glob[0] == "[":
        end = glob.index("]", 2)
        body = glob[1:end]
        negated = body[0] == "!"
        members = {"[ab]": "ab", "[!a]": "a", "[a-b]": "ab"}[glob[: end + 1]]
        return (name[0] in members) != negated and _segment_matches(glob[end + 1 :], name[1:])
    if glob[0] == "\\":
        return glob[1] == name[0] and _segment_matches(glob[2:], name[1:])
    return glob[0] == name[0] and _segment_matches(glob[1:], name[1:])


def _segments_match(globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whole segments: ``**`` is any number of them, but at least one at the end."""
    if not globs:
        return not names
    if globs[0] == "**":
        if len(globs) == 1:
            return len(names) >= 1
        return any(_segments_match(globs[1:], names[skip:]) for skip in range(len(names) + 1))
    return bool(names) and _segment_matches(globs[0], names[0]) and _segments_match(globs[1:], names[1:])


def _alternatives(glob: str) -> list[str]:
    """Braces expanded; the drawn ones do not nest."""
    start = glob.find("{")
    if start < 0:
        return [glob]
    end = glob.index("}", start)
    return [
        tail
        for option in glob[start + 1 : end].split(",")
        for tail in _alternatives(glob[:start] + option + glob[end + 1 :])
    ]


def _is_plain(glob: str) -> bool:
    """Where the words of spec/reqfile.md 2.4 decide: no empty segment, ``**`` at a component's place, braces whole.

    A ``**`` that is glued to a brace or to text depends on globset's parser; tests/unit has those cases one by one.
    A class may take a ``/``, which is no matter of segments either.
    """
    segments = glob.split("/")
    glued = any("**" in segment and segment != "**" for segment in segments)
    return "" not in segments and not glued and "{a,**/b}" not in glob and "[!a]" not in glob


@given(REQFILE_GLOBS.filter(_is_plain), st.lists(PATHS, min_size=1, max_size=5))
def test_reqfile_globs_match_as_the_words_say(glob: str, paths: list[str]) -> None:
    """And a set answers as the single glob does."""
    compiled = reqfile_glob(glob)
    together = GlobSet([reqfile_glob("zz"), compiled])
    for path in paths:
        expected = any(_segments_match(tuple(one.split("/")), tuple(path.split("/"))) for one in _alternatives(glob))
        assert compiled.matches(path) is expected, path
        assert together.matches(path) == ((1,) if expected else ()), path


@given(st.text(alphabet="ab/*?[]{},!^-\\é", max_size=12), PATHS)
def test_any_reqfile_glob_is_read_or_refused(glob: str, path: str) -> None:
    """Nothing but a GlobError, and what is read can be asked, alone and in a set."""
    try:
        compiled = reqfile_glob(glob)
    except GlobError:
        return
    assert GlobSet([compiled]).matches(path) == ((0,) if compiled.matches(path) else ())


def _verifier_matches(glob: str, path: str) -> bool:
    """One alternative, backtracking over the whole path."""
    if glob == "":
        return path == ""
    if glob.startswith("**/"):
        ends = [place + 1 for place, character in enumerate(path) if character == "/"]
        return any(_verifier_matches(glob[3:], path[end:]) for end in [0, *ends])
    if glob.startswith("**"):
        return any(_verifier_matches(glob[2:], path[end:]) for end in range(len(path) + 1))
    if glob[0] == "*":
        run = path.find("/") if "/" in path else len(path)
        return any(_verifier_matches(glob[1:], path[end:]) for end in range(run + 1))
    if path == "":
        return False
    return (path[0] != "/" if glob[0] == "?" else glob[0] == path[0]) and _verifier_matches(glob[1:], path[1:])


def _expanded(text: str) -> list[str]:
    """The first group that closes, its options cut at its own commas, then the rest."""
    for start, character in enumerate(text):
        if character != "{":
            continue
        depth, cuts = 0, [start]
        for place in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if text[place] == "," and depth == 1:
                cuts.append(place)
            if depth == 0:
                cuts.append(place)
                options = [text[a + 1 : b] for a, b in pairwise(cuts)]
                return [text[:start] + tail for option in options for tail in _expanded(option + text[place + 1 :])]
    return [text]


@given(VERIFIER_GLOBS, st.lists(PATHS, min_size=1, max_size=5))
def test_verifier_globs_match_as_the_words_say(glob: str, paths: list[str]) -> None:
    """spec/verifiers.md 1.4."""
    text = glob.strip().removeprefix("./").removeprefix("/")
    text += "**" if text.endswith("/") else ""
    alternatives = [one if "/" in one else f"**/{one}" for one in _expanded(text)]
    try:
        compiled = verifier_glob(glob)
    except GlobError:
        assert len(alternatives) > 64
        return
    for path in paths:
        assert compiled.matches(path) is any(_verifier_matches(one, path) for one in alternatives), path
