"""Edits of a Reqfile's text touch nothing but what they are about."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.format import parse_reqfile
from pytest_reqfile.reqfile.pins import Move, UseLine, find_pins, insert_use_lines, move_pins
from pytest_reqfile.reqfile.values import Kind

OLD, NEW = "1" * 40, "2" * 40
PATH = "Reqfile.yaml"
LINES: tuple[Kind, ...] = ("code", "process")

comments = st.sampled_from(["", "# a comment\n", "\n", "\n\n# use: a/b@" + OLD + "\n", "   # deep\n"])
indents = st.sampled_from(["", "  ", "    "])


@st.composite
def blocks(draw: st.DrawFn, identifier: str) -> str:
    """A block in flow or block style, pinned or local, with a comment or a text like one; ``@`` opens inner lines."""
    use = draw(st.sampled_from([f"a/b@{OLD}", f'"a/b@{OLD}"', "./lib", f"c/d@{OLD}"]))
    comment = draw(st.sampled_from(["", "  # v1", " #v1 # twice", "  # it's"]))
    if draw(st.booleans()):
        why = draw(st.sampled_from(["", ", why: 'is it #4?'", ', why: "a \\"#\\" b"', ", who: it's"]))
        return f"{{ id: {identifier}, use: {use}{why} }}{comment}\n"
    text = draw(st.sampled_from(["", "@why: |\n@  text\n@  # like a comment\n", "@who: Us.\n"]))
    return f"id: {identifier}\n@use: {use}{comment}\n{text}"


@st.composite
def reqfiles(draw: st.DrawFn) -> str:
    """A valid Reqfile of use blocks with comments and blank lines anywhere between them."""
    text = draw(comments) + "reqfile: 1\n"
    number = 0
    for kind in draw(st.permutations(LINES))[: draw(st.integers(0, 2))]:
        indent = draw(indents)
        text += draw(comments) + f"{kind}:\n"
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            text += indent + "- " + draw(blocks(f"ID{number}"))
            text = text.replace("\n@", f"\n{indent}  ") + draw(comments)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return text.replace("\n", newline).removesuffix(draw(st.sampled_from(["", newline])))


@given(reqfiles(), st.sampled_from(LINES))
@example(f"reqfile: 1\ncode:\n- id: ID1\n  use: a/b@{OLD}\n  why: |\n    text\n    # the last line has no end", "code")
def test_an_insertion_only_adds_its_line(text: str, kind: Kind) -> None:
    """Without the new lines the text is what it was, and every old block means what it meant."""
    line = UseLine(id="NEW", use=f"x/y@{NEW}", tag="v9")
    before = parse_reqfile(text, PATH)
    new = insert_use_lines(text, PATH, {kind: (line,)})
    after = parse_reqfile(new, PATH)
    assert [b.id for b in after.blocks if b.id != "NEW"] == [b.id for b in before.blocks]
    assert [(b.kind, str(b.use)) for b in after.blocks if b.id == "NEW"] == [(kind, f"x/y@{NEW}")]
    if f"\n{kind}:" in text:
        rest = "".join(kept for kept in new.splitlines(keepends=True) if str(line) not in kept)
        assert rest in {text, f"{text}\n", f"{text}\r\n"}
    else:
        assert new.startswith(text)


@given(reqfiles())
def test_moving_pins_changes_only_them_and_their_comments(text: str) -> None:
    """Line by line: other lines stay, a moved line keeps all before its comment."""
    pins = [pin for pin in find_pins(text) if pin.repo == "a/b" and "# use:" not in text.split("\n")[pin.line - 1]]
    moves = [Move(pin=pin, commit=NEW, tag="v2") for pin in pins]
    new = move_pins(text, PATH, moves)
    moved = {pin.line for pin in pins}
    assert new.count("\n") == text.count("\n")
    for number, (old_line, new_line) in enumerate(zip(text.split("\n"), new.split("\n"), strict=True), start=1):
        if number not in moved:
            assert new_line == old_line
        else:
            content = new_line.removesuffix("\r").removesuffix("  # v2")
            assert old_line.startswith(content.replace(NEW, OLD))
    assert [str(b.use).replace(NEW, OLD) for b in parse_reqfile(new, PATH).blocks] == [
        str(b.use) for b in parse_reqfile(text, PATH).blocks
    ]


@given(st.text(alphabet="acdeiou:-{}[]#'\"/@1 \n\r\t,|>&*!", max_size=60))
def test_any_text_is_edited_rightly_or_refused(noise: str) -> None:
    """Whatever stands in the file: a FormatError, or the file with one block more."""
    text = f"reqfile: 1\ncode:\n- {{ id: A, use: ./a }}\n{noise}"
    line = UseLine(id="NEW", use="./b")
    try:
        new = insert_use_lines(text, PATH, {"code": (line,)})
    except FormatError:
        return
    assert [block.id for block in parse_reqfile(new, PATH).blocks] == [
        *(block.id for block in parse_reqfile(text, PATH).blocks),
        "NEW",
    ]
