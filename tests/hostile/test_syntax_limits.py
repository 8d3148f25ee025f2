"""Bombs and monsters for the readers of syntax/: refused or read within seconds, always located, never a crash."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.globs import GlobError, GlobSet, reqfile_glob, verifier_glob
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.syntax.patterns import Haystack, PatternError, compile_pattern
from pytest_reqfile.syntax.targets import load_plain_json, load_plain_toml, load_plain_yaml
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.syntax.yaml import read_yaml

N = 100_000
both = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "pure"])


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Processor time, since other tests may run beside this one."""
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


@both
@pytest.mark.parametrize(
    "text",
    ["[" * N, "{" * N, "[ " * N, "[\n" * N, "- " * N, "? " * N, "{a: " * N, "&a " * N, "!a " * N, "a: " * N, "*a " * N],
    ids=lambda text: ascii(text[:4]),
)
def test_deep_yaml(text: str, pure: bool) -> None:
    """Refused at its line in less than two seconds, by the quadratic pure parser too (libraries.md 4)."""
    with _within(2), pytest.raises(FormatError) as caught:
        read_yaml(text, "f", pure=pure)
    assert all(problem.line is not None for problem in caught.value.problems)


@both
def test_yaml_nested_as_deep_as_allowed(pure: bool) -> None:
    """64 levels are read, 65 are not."""
    assert read_yaml("[" * 64 + "]" * 64, "f", pure=pure).kind == "list"
    with pytest.raises(FormatError, match=r"^f:1: YAML nested deeper than 64 levels is not read$"):
        read_yaml("[" * 65 + "]" * 65, "f", pure=pure)


def test_a_yaml_bomb_of_aliases_is_refused() -> None:
    """Nothing is expanded: the alias itself is the problem."""
    text = "a: &a [x, x]\n" + "".join(f"k{n}: &k{n} [*a, *a]\n" for n in range(20))
    with pytest.raises(FormatError) as caught:
        read_yaml(text, "f")
    assert len(caught.value.problems) == 40


def test_a_yaml_bomb_in_a_users_file_stays_small() -> None:
    """10**20 values when expanded: what aliases share stays shared."""
    text = "k0: &k0 [x, x]\n" + "".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 10)}]\n" for n in range(1, 21))
    with _within(2):
        found = load_plain_yaml(text, "f")
    assert isinstance(found, dict)
    assert found["k20"][0] is found["k20"][9] is found["k19"]


def test_a_yaml_bomb_of_merge_keys_is_refused() -> None:
    """Merging copies, so it counts."""
    keys = ", ".join(f"a{n}: {n}" for n in range(2000))
    text = f"base: &b {{{keys}}}\n" + "".join(f"m{n}: {{<<: *b}}\n" for n in range(2000))
    with _within(10), pytest.raises(FormatError, match="YAML with more than 1000000 values is not read"):
        load_plain_yaml(text, "f")


def test_a_flood_of_problems_ends() -> None:
    """A thousand are enough for anyone."""
    with _within(5), pytest.raises(FormatError) as caught:
        read_yaml("- *a\n" * 2_000_000, "f")
    assert len(caught.value.problems) == 1000


@pytest.mark.slow
def test_ten_megabytes_of_yaml() -> None:
    """Read, or refused for their number of values; never minutes."""
    with _within(20):
        root = read_yaml("key: |\n" + "  some text\n" * 900_000, "f")
        with pytest.raises(FormatError, match="YAML with more than 1000000 values is not read"):
            read_yaml("- a\n" * 2_500_000, "f")
    assert len(str(root.entries[0].value.value)) > 8_000_000


@both
def test_long_yaml_lines_and_scalars(pure: bool) -> None:
    """One line of a megabyte."""
    with _within(10):
        assert read_yaml("a: " + "x" * 1_000_000, "f", pure=pure).entries[0].value.kind == "string"
        assert read_yaml("a: " + "1" * 1_000_000, "f", pure=pure).entries[0].value.kind == "number"


@pytest.mark.parametrize(
    "text",
    ["a=" + "[" * N, "a=" + "{a=" * N, "a" + ".a" * N + "=1", "[" + "a." * N + "a]", "[[" + "a." * N + "a]]"],
    ids=lambda text: text[:5],
)
def test_deep_toml(text: str) -> None:
    """Brackets, tables, dotted keys and headers."""
    with _within(2):
        with pytest.raises(FormatError, match=r"^f:1: TOML nested deeper than 64 levels is not read$"):
            read_toml(text, "f")
        with pytest.raises(FormatError, match=r"^f:1: "):
            load_plain_toml(text, "f")


def test_toml_nested_as_deep_as_allowed() -> None:
    """64 levels below the top, in values and in headers."""
    assert read_toml("a=" + "[" * 64 + "]" * 64, "f").kind == "mapping"
    with pytest.raises(FormatError, match=r"^f:2: TOML nested deeper than 64 levels is not read$"):
        read_toml("\na=" + "[" * 65 + "]" * 65, "f")
    with pytest.raises(FormatError, match=r"^f:1: TOML nested deeper than 64 levels is not read$"):
        read_toml("[" + ".".join("a" * 66) + "]\nb=1", "f")


@pytest.mark.parametrize(
    "text", ["a='''" + "x" * 10_000_000 + "'''", 'a="""' + '\\n"' * 2_000_000 + 'x"""', "#" * 10_000_000]
)
def test_ten_megabytes_of_toml(text: str) -> None:
    """One value, one comment."""
    with _within(10):
        assert read_toml(text, "f").kind == "mapping"


@pytest.mark.parametrize("text", ["[" * N, '{"a":' * N, "[[1]," * N, "[" * N + "]" * N], ids=lambda text: text[:5])
def test_deep_json(text: str) -> None:
    """Refused by both readers."""
    with _within(2):
        with pytest.raises(FormatError, match=r"^f:1: JSON nested deeper than 200 levels is not read$"):
            read_json(text, "f")
        with pytest.raises(FormatError, match=r"^f:1: JSON nested too deeply is not read$"):
            load_plain_json(text, "f")


def test_json_nested_as_deep_as_allowed() -> None:
    """200 levels are read."""
    assert read_json("[" * 200 + "]" * 200, "f").kind == "list"


@pytest.mark.parametrize(
    "text", ["1" * N, "-" + "1" * N, '"' + "\\" * N, '"' + "x" * N, "[" + "1," * N, " " * N, "\ud800", "\x00"]
)
def test_json_monsters(text: str) -> None:
    """Refused at a line."""
    with _within(2), pytest.raises(FormatError, match=r"^f:1: invalid JSON: "):
        read_json(text, "f")


@pytest.mark.case("verifiers:A3.9")
def test_a_bomb_of_braces_fails_fast() -> None:
    """2**30 alternatives, and a few shapes more."""
    with _within(1), pytest.raises(GlobError, match="alternatives"):
        verifier_glob("{a,b}" * 30)


@pytest.mark.parametrize("make", [reqfile_glob, verifier_glob])
@pytest.mark.parametrize(
    "text",
    [
        "{" * 2000 + "a" + "}" * 2000,
        "{" * 4000,
        "{a}" * 1300,
        "{,a}" * 6,
        "?" * 4096,
        "[a-z]" * 800,
        "**/" * 1300,
        "*a" * 2048,
    ],
    ids=lambda text: text[:5],
)
def test_monstrous_globs(make: object, text: str) -> None:
    """Read or refused at once, and a long path is answered at once."""
    assert callable(make)
    with _within(3):
        try:
            glob = make(text)
        except GlobError:
            return
        assert GlobSet([glob] * 50).matches("a/" * 2000) in ((), tuple(range(50)))


def test_a_hundred_monstrous_globs_in_one_set() -> None:
    """What does not fit into one automaton is split, and still answers rightly."""
    globs = [reqfile_glob("?" * 4000 + str(number)) for number in range(100)]
    with _within(20):
        assert GlobSet(globs).matches("x" * 4000 + "42") == (42,)


@pytest.mark.parametrize(
    "text", ["(" * N, "(" * N + ")" * N, "a|" * N, "[" * N, "[[:a:]" * N, "(?i)" * N, "\\Q" * N, "(?P<n" * N]
)
def test_monstrous_patterns(text: str) -> None:
    """Accepted or refused, at once."""
    with _within(3):
        try:
            compile_pattern(text)
        except PatternError:
            return


@pytest.mark.case("verifiers:A7.17")
def test_a_catastrophic_pattern_is_linear() -> None:
    """Where a backtracking engine would never end."""
    with _within(2):
        assert compile_pattern("(a+)+$").search(b"a" * 200_000 + b"!") is None


def test_a_text_of_invalid_bytes() -> None:
    """A megabyte of them is one Haystack, searched in linear time."""
    with _within(5):
        haystack = Haystack(b"\xff" * 1_000_000 + b"needle")
        assert compile_pattern("needle").search(haystack) == (1_000_000, 1_000_006)
        assert sum(1 for _ in compile_pattern("\ufffd{1000}").finditer(haystack)) == 1000
