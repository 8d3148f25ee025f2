"""syntax/globs.py and globset.py: both dialects, case by case."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from pytest_reqfile.syntax.globs import Glob, GlobError, GlobSet, expand_braces, reqfile_glob, verifier_glob


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.txt", ["a.txt", ".txt", "a b.txt", "a\nb.txt"], ["a/b.txt", "a.txtx", "A.TXT"]),
        ("?.py", ["é.py", "a.py", "\n.py"], ["/.py", ".py", "ab.py"]),
        ("**/*.py", ["a.py", "a/b.py", "a/b/c.py", ".x/.y.py"], ["a.pyc"]),
        ("a/**", ["a/b", "a/b/c", "a/.b"], ["a", "b/a/c"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "x/a/b"]),
        ("**", ["a", "a/b", ""], []),
        ("**/**", ["a", "a/b"], []),
        ("a/**/**", ["a/b", "a/b/c"], ["a"]),
        ("**/**/b", ["b", "a/b", "a/x/b"], ["ab"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("a/**b", ["a/b", "a/xb"], ["a/x/b"]),
        ("**a", ["a", "xa"], ["x/a"]),
        ("vendor", ["vendor"], ["vendor/x", "a/vendor"]),
        ("vendor/", [], ["vendor", "vendor/x"]),
        ("/vendor/**", [], ["vendor/x"]),
        ("vendor/*", ["vendor/x"], ["vendor/x/y"]),
        ("!a", ["!a"], ["b"]),
        ("[abc]", ["a", "c"], ["d", "ab"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[!a-c]x", ["dx", "éx"], ["ax", "x"]),
        ("[^a]", ["b", "^"], ["a"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[!]a]", ["b"], ["]", "a"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[-a]", ["a", "-"], ["b"]),
        ("[a-c-e]", ["a", "d", "e"], ["-", "f"]),
        ("[\\]", ["\\"], ["]"]),
        ("[{},*]", ["{", "}", ",", "*"], ["a"]),
        ("{a,b}.x", ["a.x", "b.x"], ["ab.x", ".x"]),
        ("a{,b}", ["ab"], ["a"]),
        ("a{}b", ["ab"], ["a{}b"]),
        ("{a,b/{c,d}}.x", ["a.x", "b/d.x"], ["b.x", "c.x"]),
        ("{**/a,b/**}", ["a", "x/a", "b/y"], ["b"]),
        ("a/{**/b,c}", ["a/b", "a/x/b", "a/c"], ["a/x/c"]),
        ("{a/**,c}", ["a/x/y", "c"], ["a"]),
        ("a,b", ["a,b"], ["a"]),
        ("\\*", ["*"], ["a"]),
        ("a\\{b", ["a{b"], []),
        ("\\a", ["a"], ["\\a"]),
        ("[a]b(c)+$|^.#é", ["ab(c)+$|^.#é"], ["ab"]),
        ("日*", ["日本"], ["本日"]),
    ],
)
def test_reqfile_globs(glob: str, yes: list[str], no: list[str]) -> None:
    """spec/reqfile.md 2.4, alone and in a set."""
    compiled = reqfile_glob(glob)
    together = GlobSet([compiled])
    for path in yes:
        assert compiled.matches(path), path
        assert together.matches(path) == (0,), path
    for path in no:
        assert not compiled.matches(path), path
        assert together.matches(path) == (), path


@pytest.mark.parametrize(
    ("glob", "reason"),
    [
        ("a/[", "unclosed character class; missing ']'"),
        ("[]", "unclosed character class; missing ']'"),
        ("[!]", "unclosed character class; missing ']'"),
        ("[z-a]", "invalid range; 'z' > 'a'"),
        ("[z-a", "invalid range; 'z' > 'a'"),
        ("a}", "unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)"),
        ("{a", "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"),
        ("a\\", "dangling '\\'"),
    ],
)
def test_reqfile_glob_errors(glob: str, reason: str) -> None:
    """In globset's words."""
    with pytest.raises(GlobError) as caught:
        reqfile_glob(glob)
    assert str(caught.value) == f"error parsing glob '{glob}': {reason}"


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        pytest.param("lib/**/*.rb", ["lib/x/y.rb", "lib/y.rb"], ["x.rb"], marks=pytest.mark.case("verifiers:A3.1")),
        pytest.param("*.rb", ["p/q/r.rb", "r.rb"], ["r.rbx"], marks=pytest.mark.case("verifiers:A3.3")),
        pytest.param("lib/*.rb", ["lib/y.rb"], ["lib/x/y.rb"], marks=pytest.mark.case("verifiers:A3.4")),
        pytest.param("{m,n}/*.txt", ["n/k.txt", "m/k.txt"], ["k.txt"], marks=pytest.mark.case("verifiers:A3.5")),
        pytest.param("man/", ["man/a/b.txt"], ["man", "x/man/a"], marks=pytest.mark.case("verifiers:A3.7")),
        ("  ./src/*.py\n", ["src/a.py"], ["./src/a.py"]),
        ("/a.py", ["a.py", "x/a.py"], []),
        (".//a/b", ["a/b"], []),
        ("dir", ["dir", "x/dir"], ["dir/x"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "x/a/b"]),
        ("a**b", ["ab", "a/x/b"], ["b"]),
        ("?", ["é", "x/é", "\udcff"], ["ab"]),
        ("{src/x,*.md}", ["src/x", "a/b.md"], ["a/src/x"]),
        ("a{b,c{d,e}}", ["ab", "acd", "ace"], ["ac"]),
        ("a{,b}", ["a", "ab"], []),
        ("{x}", ["x"], ["{x}"]),
        ("{a", ["{a"], ["a"]),
        ("{a/{b,c}", ["{a/b", "{a/c"], ["a/b"]),
        ("a,b}", ["a,b}"], ["a"]),
        ("[ab]", ["[ab]"], ["a"]),
        ("a\\*", ["a\\b"], ["a*"]),
        ("é.txt", ["é.txt", "x/é.txt"], ["e.txt"]),
        ("**", ["a\nb/c", "a"], []),
        ("*.txt", ["bad\x1b[31mred\nline.txt"], []),
    ],
)
def test_verifier_globs(glob: str, yes: list[str], no: list[str]) -> None:
    """spec/verifiers.md 1.4."""
    compiled = verifier_glob(glob)
    together = GlobSet([compiled])
    for path in yes:
        assert compiled.matches(path), path
        assert together.matches(path) == (0,), path
    for path in no:
        assert not compiled.matches(path), path


@pytest.mark.case("verifiers:A3.10")
def test_64_alternatives_are_the_most() -> None:
    """Six groups of two; a seventh is too many."""
    assert verifier_glob("{a,b}" * 6).matches("abbaab")
    with pytest.raises(GlobError, match=r"^brace groups expand to more than 64 alternatives$"):
        verifier_glob("{a,b}" * 7)
    with pytest.raises(GlobError, match="more than 64"):
        verifier_glob("{" + ",".join("x" * 65) + "}")


def test_alternatives_keep_their_order() -> None:
    """As written, from left to right."""
    assert expand_braces("{a,b}{c,d}{") == ("ac{", "ad{", "bc{", "bd{")
    assert expand_braces("a{b{c,d},e},f}") == ("abc,f}", "abd,f}", "ae,f}")


@pytest.mark.parametrize("make", [reqfile_glob, verifier_glob])
def test_undecodable_bytes_are_characters(make: Callable[[str], Glob]) -> None:
    """A name that is not UTF-8 is matched byte by byte, in globs as in paths."""
    name = os.fsdecode(b"a\xff\xe2\x82.py")
    assert make("*.py").matches(name)
    assert make("a???.py").matches(name)
    assert not make("a??.py").matches(name)
    assert make(name).matches(name)
    assert not make(name).matches(os.fsdecode(b"a\xff\xe2\x83.py"))


def test_a_negated_class_takes_one_undecodable_byte() -> None:
    """One character each."""
    assert reqfile_glob("[!x][!x]").matches(os.fsdecode(b"\xff\xfe"))


def test_a_set_answers_for_equal_globs_and_beyond_its_chunks() -> None:
    """Indices are those of the globs given, ascending."""
    globs = [reqfile_glob(f"*.{number % 150}") for number in range(400)]
    together = GlobSet(globs)
    assert together.matches("x.7") == (7, 157, 307)
    assert together.matches("x.149") == (149, 299)
    assert together.matches("x") == ()
    assert GlobSet([]).matches("x") == ()


def test_a_glob_too_long_is_refused() -> None:
    """Which bounds what RE2 must hold."""
    for make in (reqfile_glob, verifier_glob):
        assert make("?" * 4096).matches("x" * 4096)
        with pytest.raises(GlobError, match=r"^a glob of more than 4096 characters is not read$"):
            make("?" * 4097)
