"""Use blocks in the text of a Reqfile."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.format import parse_reqfile
from pytest_reqfile.reqfile.pins import Move, Pin, UseLine, find_pins, insert_use_lines, move_pins, sections_text
from pytest_reqfile.reqfile.values import Kind

OLD, NEW = "1" * 40, "2" * 40
NEW_LINE = UseLine(id="NEW", use=f"a/b@{OLD}", tag="v1")
INSERTED = f"- {{ id: NEW, use: a/b@{OLD} }}  # v1"


def insert(text: str, *kinds: Kind) -> str:
    return insert_use_lines(text, "Reqfile.yaml", dict.fromkeys(kinds, (NEW_LINE,)))


@pytest.mark.case("reqfile:Q5")
def test_inserted_blocks_go_at_the_end_of_their_section_before_what_follows() -> None:
    """After the last item, before the blank line and the comment that lead to the next section."""
    text = "reqfile: 1\ncode:\n  - { id: A, use: ./a }\n\n# How we work.\nprocess:\n  - { id: B, use: ./b }\n"
    expected = text.replace("./a }\n", f"./a }}\n  {INSERTED}\n")
    assert insert(text, "code") == expected


def test_a_new_file_has_a_blank_line_before_each_section() -> None:
    """The file that ``reqfile add`` creates."""
    sections: dict[Kind, tuple[UseLine, ...]] = {"code": (NEW_LINE,), "process": (UseLine(id="B", use="./b"),)}
    text = f"code:\n  {INSERTED}\n\nprocess:\n  - {{ id: B, use: ./b }}\n"
    assert insert_use_lines("", "Reqfile.yaml", sections) == f"reqfile: 1\n\n{text}"
    assert sections_text(sections) == text


def test_a_missing_section_is_appended_after_a_blank_line() -> None:
    """A file that ends without a newline gets one; one that ends with a blank line gets no second."""
    assert insert("reqfile: 1", "code") == f"reqfile: 1\n\ncode:\n  {INSERTED}\n"
    assert insert("reqfile: 1\n\n", "code") == f"reqfile: 1\n\ncode:\n  {INSERTED}\n"


@pytest.mark.parametrize("indent", ["", "  ", "      "])
def test_the_section_keeps_its_indentation(indent: str) -> None:
    """Items stand where the section's other items stand."""
    text = f"reqfile: 1\ncode:\n{indent}- id: A\n{indent}  use: ./a\nprocess: []\n"
    assert insert(text, "code") == text.replace("process", f"{indent}{INSERTED}\nprocess")


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    """A file from Windows stays one."""
    text = "\ufeffreqfile: 1\r\ncode:\r\n  - { id: A, use: ./a }\r\n"
    assert insert(text, "code") == f"{text}  {INSERTED}\r\n"


def test_a_text_that_ends_like_a_comment_is_not_cut() -> None:
    """The last line of a block scalar starts with ``#`` and belongs to the scalar."""
    why = "  - id: A\n    use: ./a\n    why: |\n      First.\n      # not a comment\n"
    text = f"reqfile: 1\ncode:\n{why}# a comment\n"
    new = insert(text, "code")
    assert new == text.replace("# a comment\n", f"  {INSERTED}\n# a comment\n")
    assert parse_reqfile(new, "Reqfile.yaml").blocks[0].why == "First.\n# not a comment\n"


@pytest.mark.parametrize(
    "text",
    [
        "reqfile: 1\ncode: []\n",
        "{reqfile: 1, code: []}\n",
        f"reqfile: 1\ncode: [{{ id: A, use: a/b@{OLD} }}]\n",
        "x: 1\n",
    ],
)
def test_a_file_that_cannot_take_lines_is_refused(text: str) -> None:
    """A section in flow style has no lines to add to."""
    with pytest.raises(FormatError):
        insert(text, "code")


def test_values_that_yaml_would_misread_are_quoted() -> None:
    """A folder with a space or a bracket, an id that is a YAML word."""
    line = UseLine(id="NULL", use="./my rules, [old]")
    assert str(line) == '- { id: "NULL", use: "./my rules, [old]" }'
    new = insert_use_lines("", "Reqfile.yaml", {"code": (line,)})
    (block,) = parse_reqfile(new, "Reqfile.yaml").blocks
    assert (block.id, str(block.use)) == ("NULL", "./my rules, [old]")


@pytest.mark.case("reqfile:Q7")
def test_pins_are_found_in_flow_and_block_style_with_their_tag() -> None:
    """The tag is the first word of the comment; folders are no pins."""
    text = (
        f"reqfile: 1\ncode:\n  - {{ id: A, use: a/b@{OLD} }}  # v1.2 of May\n"
        f"  - id: B\n    use: 'c/d@{NEW.upper()}'\n  - {{ id: C, use: ./local }}  # v3\n"
        f'  - {{ id: D, use: a/b@{OLD}, why: "issue #4" }}\n'
    )
    assert find_pins(text) == (
        Pin(line=3, repo="a/b", commit=OLD, tag="v1.2"),
        Pin(line=5, repo="c/d", commit=NEW, tag=None),
        Pin(line=7, repo="a/b", commit=OLD, tag=None),
    )


def test_moved_pins_keep_every_other_byte() -> None:
    """Only the commit and the comment of the line change; an apostrophe is no quote."""
    block = f"{{ id: A, use: \"a/b@{OLD}\", why: it's no.4, who: '#4' }}"
    text = f"reqfile: 1\r\ncode: # ours\r\n  - {block}   # v1 old\r\n# end"
    (pin,) = find_pins(text)
    moved = move_pins(text, "Reqfile.yaml", (Move(pin=pin, commit=NEW, tag="v2"),))
    assert moved == text.replace(OLD, NEW).replace("   # v1 old", "  # v2")


def test_pins_of_one_commit_move_together() -> None:
    """Two blocks of the same repository, with and without a comment, one in capitals."""
    text = f"reqfile: 1\ncode:\n- {{ id: A, use: a/b@{OLD} }}  # v1\n- id: B\n  use: a/b@{OLD}\n  why: Because.\n"
    moves = tuple(Move(pin=pin, commit=NEW, tag="v2") for pin in find_pins(text))
    moved = move_pins(text, "Reqfile.yaml", moves)
    assert moved == text.replace(f"{OLD} }}  # v1", f"{NEW} }}  # v2").replace(f"{OLD}\n", f"{NEW}  # v2\n")


def test_a_move_that_would_say_something_else_is_refused() -> None:
    """A pin inside a text: the line would become a different text."""
    text = f"reqfile: 1\ncode:\n- id: A\n  use: ./a\n  why: |\n    As in\n    use: a/b@{OLD}\n"
    (pin,) = find_pins(text)
    with pytest.raises(FormatError):
        move_pins(text, "Reqfile.yaml", (Move(pin=pin, commit=NEW, tag="v2"),))
