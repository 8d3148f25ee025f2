"""Templates and captures (seed 000 "Templates"; spec/verifiers.md 2.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.verifiers.templates import TemplateError, capture_rel, expand, has_template
from pytest_reqfile.workspace.paths import normalised


@pytest.mark.parametrize(
    ("template", "path", "expanded"),
    [
        ("tests/test_{stem}{ext}", "src/a.tar.gz", "tests/test_a.tar.gz"),
        ("{dir}/x", "top.py", "x"),
        ("{dir}/x", "a/b/c.py", "a/b/x"),
        ("{path}.lock", "a/b", "a/b.lock"),
        ("x/{stem}-{ext}", "a/.gitignore", "x/-.gitignore"),
        ("{rel}/y", "a/b", "REL/y"),
        ("./a//{stem}", "b.c", "a/b"),
    ],
)
def test_expand(template: str, path: str, expanded: str) -> None:
    """Each variable, and the cleaning of the result."""
    assert expand(template, path, "REL") == expanded


@pytest.mark.parametrize(("template", "path"), [("../{stem}", "a"), ("{rel}", "a"), ("/{stem}", "a"), ("{dir}", "a")])
def test_outside(template: str, path: str) -> None:
    """What leaves the project, or is the project itself, is refused."""
    with pytest.raises(TemplateError, match="expands outside the project for a: "):
        expand(template, path, "../x")


def test_nul() -> None:
    """No file is called like that."""
    with pytest.raises(TemplateError, match="expands to a path with a NUL byte"):
        expand("{rel}", "a", "x\0y")


def test_names_are_no_templates() -> None:
    """What a file is called is never expanded again."""
    assert expand("{stem}/{rel}", "{rel}.py", "{path}") == "{rel}/{path}"


@pytest.mark.parametrize(
    ("for_each", "path", "rel"),
    [
        ("src/api/{rel}.py", "src/api/v1/users.py", "v1/users"),
        ("src/{rel}.py", "src/.py", None),
        ("src/{rel}.py", "lib/a.py", None),
        ("{rel}/{rel}", "a/b/c", "a/b/c"),
        ("a.b/{rel}", "axb/c", None),
        ("x/{rel}", "x/line\nbreak", "line\nbreak"),
    ],
)
def test_capture(for_each: str, path: str, rel: str | None) -> None:
    """What ``{rel}`` stands for."""
    assert capture_rel(for_each, path) == rel


SEGMENT = st.text("ab.{}-", min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))


@given(parts=st.lists(SEGMENT, min_size=1, max_size=4), template=st.text("ab/.{}direlpathstmx", max_size=20))
def test_stays_inside(parts: list[str], template: str) -> None:
    """Whatever the names: the result is a clean path inside the project, or an error."""
    path = "/".join(parts)
    try:
        expanded = expand(template, path, path)
    except (TemplateError, KeyError):
        return
    assert normalised(expanded) == expanded
    assert expanded


@given(rel=st.text(min_size=1, max_size=12))
def test_capture_inverts_expansion(rel: str) -> None:
    """A path made from a literal ``for_each`` gives its ``{rel}`` back."""
    assert capture_rel("src/{rel}.py", f"src/{rel}.py") == rel


def test_has_template() -> None:
    """Known or not."""
    assert has_template("a/{what}")
    assert not has_template("a/{}/{A}")
