"""What holds for every text, pattern, overlay and selection."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reqfile.project.frontmatter import read_document, split_frontmatter
from pytest_reqfile.project.overlay import overlay, shared_only
from pytest_reqfile.project.resources import Excluder
from pytest_reqfile.project.selection import select
from pytest_reqfile.project.values import Project
from pytest_reqfile.syntax.nodes import Entry, Node, plain
from pytest_reqfile.syntax.pathmatch import path_match
from tests.support.projects import ProjectFolder

LINE = st.sampled_from(["---", "--- ", " ---", "----", "", "a: 1", "## Title", "\t## Title ", "- x", "text", "\ufeff"])
TEXT = st.builds(lambda lines, end: end.join(lines), st.lists(LINE, max_size=12), st.sampled_from(["\n", "\r\n"]))


@given(TEXT)
def test_the_body_is_the_end_of_the_file(text: str) -> None:
    """Nothing of a file is lost but the block, its fences and one empty line; lines are those of the file."""
    split = split_frontmatter(text)
    assert "\n".join(text.split("\n")[split.body_line - 1 :]) == split.body
    if split.closed:
        assert split.block is not None
        assert split.body_line - split.block.count("\n") in {3, 4}
    else:
        assert split.body == text


@given(TEXT, st.sampled_from(["## Title", "text", "---", " - x "]))
def test_an_anchor_is_found_at_its_line(text: str, anchor: str) -> None:
    """The line that is named holds the anchor; an anchor of the body is always found."""
    document = read_document(text, "x.md")
    line = document.line_of(anchor)
    present = anchor.strip() in (part.strip() for part in document.body.split("\n"))
    assert (line is not None) == present
    if line is not None:
        assert text.split("\n")[line - 1].strip() == anchor.strip()


@given(st.text(max_size=200))
def test_no_text_ends_in_a_traceback(text: str) -> None:
    """Any text is a document, with problems at most."""
    document = read_document(f"---\n{text}\n---\n", "x.md")
    assert all(problem.path == "x.md" for problem in document.problems)
    assert isinstance(document.owner, str)


def _oracle(pattern: str, name: str) -> bool:
    parts = {"*": "[^/]*", "?": "[^/]"}
    return re.fullmatch("".join(parts.get(char, re.escape(char)) for char in pattern), name, re.DOTALL) is not None


@settings(max_examples=500)
@given(st.text("ab/*?.", max_size=8), st.text("ab/.", max_size=10))
def test_path_match_agrees_with_a_regex(pattern: str, name: str) -> None:
    """On patterns without classes, a backtracking regex says the same."""
    assert path_match(pattern, name) is _oracle(pattern, name)


@given(st.lists(st.text("ab*/!", max_size=5), max_size=4), st.text("ab/", min_size=1, max_size=8))
def test_the_last_pattern_decides(patterns: list[str], name: str) -> None:
    """``!*`` at the end brings everything back, ``*`` drops everything."""
    assert not Excluder([*patterns, "!*"]).drops(name)
    assert Excluder([*patterns, "*"]).drops(name)


VALUES = st.recursive(
    st.integers() | st.text("xy", max_size=2) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(st.sampled_from(["llm", "lint", "claude", "usage"]), VALUES, max_size=3)


def _node(value: object, line: int) -> Node:
    if isinstance(value, dict):
        entries = tuple(Entry(key=key, line=line, column=1, value=_node(inner, line)) for key, inner in value.items())
        return Node(kind="mapping", value=entries, line=line, column=1)
    if isinstance(value, list):
        return Node(kind="list", value=tuple(_node(item, line) for item in value), line=line, column=1)
    return Node(kind="integer" if isinstance(value, int) else "string", value=value, line=line, column=1)


def _merged(shared: object, local: object) -> object:
    if not (isinstance(shared, dict) and isinstance(local, dict)):
        return local
    keys = [*shared, *(key for key in local if key not in shared)]
    return {
        key: _merged(shared[key], local[key]) if key in shared and key in local else {**shared, **local}[key]
        for key in keys
    }


def _lines(node: Node) -> set[int]:
    inner = [entry.value for entry in node.entries] if node.kind == "mapping" else []
    inner += node.items if node.kind == "list" else ()
    return {node.line}.union(*map(_lines, inner)) if inner else {node.line}


@given(TABLES, TABLES)
def test_overlays_merge_as_documents(shared: dict[str, object], local: dict[str, object]) -> None:
    """Tables key by key, the rest replaced; every line of a value belongs to the file it is attributed to."""
    merged = overlay(shared_only(_node(shared, 1), "shared"), _node(local, 2), "local")
    assert {key: plain(declared.node) for key, declared in merged.tables.items()} == _merged(shared, local)
    for key, declared in merged.tables.items():
        assert declared.path == ("local" if key in local else "shared")
        assert _lines(declared.node) == {2 if key in local else 1}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three domains, two profiles that share one, and a role."""
    root: Path = tmp_path_factory.mktemp("project")
    folder = ProjectFolder(root, '[profiles]\np = ["a", "b"]\nq = ["b", "c"]\n[[roles]]\nname = "r"\ndomains = ["a"]\n')
    for path in ("rules/x", "agents/y", "domains/a/rules/x", "domains/b/rules/z", "domains/c/agents/y"):
        folder.write(f".ai-rulez/{path}.md")
    return folder.load()


@given(
    st.lists(st.sampled_from(["p", "q", "default"]), min_size=1, max_size=3),
    st.sampled_from(["rule", "agent"]),
    st.sampled_from(["x", "y", "z", "a/x", "b/z", "c/y", "a/y"]),
)
def test_selections_are_parts(project: Project, profiles: list[str], kind: str, target: str) -> None:
    """Selection ⊆ all; a composed profile is the union of its parts; what is active exists."""
    whole = select(project, profile=",".join(profiles))
    assert set(whole.items) <= set(project.items)
    parts = [select(project, profile=profile).items for profile in profiles]
    assert set(whole.items) == {item for items in parts for item in items}
    assert [item for item in project.items if item in whole.items] == list(whole.items)
    if whole.is_active("rule" if kind == "rule" else "agent", target):
        assert project.find("rule" if kind == "rule" else "agent", target) is not None
