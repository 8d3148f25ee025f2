"""The frontmatter splitter and what is read from it (cases lock D; spec/lock.md 3.2)."""

from __future__ import annotations

import pytest

from pytest_reqfile.project.frontmatter import read_document, split_frontmatter

PATH = ".ai-rulez/rules/x.md"


@pytest.mark.parametrize(
    ("text", "block", "closed", "body"),
    [
        pytest.param("---\nowner: web\n---\nText\n", "owner: web\n", True, "Text\n", marks=pytest.mark.case("lock:D1")),
        pytest.param(
            "---\r\nowner: web\r\n---\r\nText\r\n", "owner: web\n", True, "Text\r\n", marks=pytest.mark.case("lock:D2")
        ),
        pytest.param("\ufeff---\nk: v\n---\nx", "k: v\n", True, "x", marks=pytest.mark.case("lock:D3")),
        pytest.param("---\nk: v\n---", "k: v\n", True, "", marks=pytest.mark.case("lock:D5")),
        pytest.param("----\nk: v\n---\n", None, False, "----\nk: v\n---\n", marks=pytest.mark.case("lock:D6")),
        pytest.param("---  \t\nk: v\n--- \nx", "k: v\n", True, "x", marks=pytest.mark.case("lock:D8")),
        pytest.param("---\nk: v\n", "", False, "---\nk: v\n", marks=pytest.mark.case("lock:D9")),
        pytest.param("\n---\nk: v\n---\n", None, False, "\n---\nk: v\n---\n", marks=pytest.mark.case("lock:D11")),
        pytest.param("---\n ---\n----\n---\nx", " ---\n----\n", True, "x", marks=pytest.mark.case("lock:D13")),
        pytest.param("---\nk: v\n---\na\n---\nb", "k: v\n", True, "a\n---\nb", marks=pytest.mark.case("lock:D15")),
        pytest.param("---\nk: v\n---\n\nText\n", "k: v\n", True, "Text\n", marks=pytest.mark.case("lock:D16")),
        ("---\n---\nText", "", True, "Text"),
        ("---", None, False, "---"),
        ("", None, False, ""),
        ("---x\n---\n", None, False, "---x\n---\n"),
    ],
)
def test_split(text: str, block: str | None, closed: bool, body: str) -> None:
    """Fences are ``---`` and blanks, not indented; the block loses its carriage returns, the body one empty line."""
    split = split_frontmatter(text)
    assert (split.block, split.closed, split.body) == (block, closed, body)


@pytest.mark.case("lock:D17")
@pytest.mark.parametrize(
    ("block", "owner", "version"),
    [
        ('owner: "  web "\nversion: 1.10\n', "web", "1.10"),
        ("owner: web team # us\nversion: 2026-01-02 # today\n", "web team", "2026-01-02"),
        ("owner: 007\nversion: 1.0 # x\n", "007", "1.0"),
        ("owner: true\nversion: 0x1F\n", "true", "0x1F"),
        ("owner:\nversion: ~\n", "", ""),
        ("owner: [a]\nversion: {a: 1}\n", "", ""),
        ("{owner: 5, version: 1.50}\n", "5", "1.50"),
        ("metadata:\n  owner: web\n  version: 1\n", "", ""),
        ("title: x\n", "", ""),
    ],
)
def test_owner_and_version_are_source_text(block: str, owner: str, version: str) -> None:
    """``1.10`` stays ``1.10``, a date stays as written, nested keys do not count."""
    document = read_document(f"---\n{block}---\nbody\n", PATH)
    assert document.problems == ()
    assert (document.owner, document.version) == (owner, version)


@pytest.mark.case("lock:D20")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\n- a\n---\nx", "2: the frontmatter must be a mapping, found a list"),
        ("---\nk: v\nx", "1: the frontmatter is never closed: expected a second line `---`"),
        ("---\nname: a\nname: b\n---\nx", "3: the frontmatter cannot be read: duplicate key `name`"),
    ],
)
def test_malformed(text: str, problem: str) -> None:
    """A malformed block gives no owner, and a problem with its line in the file."""
    document = read_document(text, PATH)
    assert document.frontmatter is None
    assert (document.owner, document.version) == ("", "")
    assert str(document.problems[0]).startswith(f"{PATH}:{problem}")


def test_unclosed_text_is_kept() -> None:
    """An unclosed block is body, so nothing of the file is lost."""
    document = read_document("---\n## Rule\n", PATH)
    assert document.body == "---\n## Rule\n"
    assert document.line_of("## Rule") == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# T\n\n## Schema changes\n", 3),
        ("---\nowner: a\n---\n# T\n\n## Schema changes\n", 6),
        ("---\nowner: a\n---\n\n# T\r\n  ## Schema changes \r\n", 6),
        ("---\nnote: '## Schema changes'\n---\nx\n", None),
        ("# ## Schema changes\n", None),
    ],
)
def test_anchor_lines_are_lines_of_the_file(text: str, line: int | None) -> None:
    """The frontmatter counts, so that ``path:line`` leads to the heading (spec/verifiers.md 2.3)."""
    assert read_document(text, PATH).line_of(" ## Schema changes\t") == line
