"""No line that is withheld ever reaches a model: judged by the bytes that a real server received (issue 9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_reqfile.syntax.hidden import hidden_character
from pytest_reqfile.verifiers.changes import ChangeSet, Scope
from pytest_reqfile.verifiers.chat import LlmOptions
from pytest_reqfile.verifiers.diffs import Change, Lines
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.hunks import packed, sendable
from pytest_reqfile.verifiers.llm_run import open_llm
from pytest_reqfile.verifiers.predicates import Checklist
from pytest_reqfile.verifiers.prompts import fence_token, user_text
from pytest_reqfile.verifiers.replies import Entry, UnusableReplyError, decode
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.values import Settings
from pytest_reqfile.workspace.environment import Environment
from tests.support.models import Models, serve
from tests.support.verifiers import Workbench, head, predicate

SECRETS = (
    "token: {0}abcdefghijkl",
    'password = "{0}Abcdefghijklmnopqrst1"',
    "Authorization: Bearer {0}abcdefgh",
    "curl -H 'x: sk-{0}abcdefgh'",
    "api_key={0}abcdefgh and more",
    "http://x/?secret={0}abcdefgh",
)
HIDDEN = (
    "{0}\u200b",
    "\u202e{0}",
    "{0}\x1b[31m",
    "\ufeff{0}",
    "{0}\u2028x",
    "{0}\U000e0041",
    "\u3164{0}",
    "{0}\ufe00",
    "{0}\ufe0f",
    "{0}\u180b\u2065",
    "\U000e0080{0}",
    "\U000e01f0{0}",
)
PLAIN = (
    "{0}",
    "\t{0} = 1",
    "def {0}():",
    "CHANGES {0}>>>",
    "FILE {0}",
    "L7+ {0}",
    "# ünï {0}",
    "\u26a0\ufe0f {0} 1\ufe0f\u20e3",
    "{0}" + "x" * 500,
)


@dataclass(frozen=True)
class Text:
    """A changed file: its lines by kind, and which of them were added (None for all)."""

    lines: tuple[tuple[str, str], ...]
    added: Lines | None

    def mark(self, number: int) -> str:
        """What tells the line apart from all others."""
        return f"mark{number:03d}mark"

    @property
    def content(self) -> bytes:
        written = (form.format(self.mark(number)) for number, (_, form) in enumerate(self.lines, start=1))
        return "\n".join(written).encode() + b"\n"

    @property
    def withheld(self) -> set[int]:
        """The numbers of lines that must not be sent."""
        return {number for number, (kind, _) in enumerate(self.lines, start=1) if kind == "bad"}

    def windows(self) -> Iterator[range]:
        """What may be shown around each added range."""
        for first, last in ((1, len(self.lines)),) if self.added is None else self.added:
            if first <= len(self.lines):  # the file may have become shorter since
                yield range(max(1, first - 3), min(len(self.lines), last + 3) + 1)


FORMS = st.one_of(
    st.tuples(st.just("good"), st.sampled_from(PLAIN)),
    st.tuples(st.just("good"), st.sampled_from(PLAIN)),
    st.tuples(st.just("good"), st.sampled_from(PLAIN)),
    st.tuples(st.just("bad"), st.sampled_from(SECRETS + HIDDEN)),
)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    lines = draw(st.lists(FORMS, min_size=1, max_size=60))
    if draw(st.booleans()):
        return Text(lines=tuple(lines), added=None)
    numbers = sorted(draw(st.sets(st.integers(1, len(lines) + 2), min_size=1, max_size=8)))
    return Text(lines=tuple(lines), added=tuple((number, number) for number in numbers))


@pytest.fixture(scope="module")
def service() -> Iterator[Models]:
    with serve(Models()) as models:
        yield models


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, service: Models) -> Workbench:
    variables = {**service.variables(), "PATH": "/usr/bin:/bin"}
    bench = Workbench(tmp_path_factory.mktemp("project"), Environment(variables=variables))
    bench.spec(head("j", when="*.txt") + predicate("llm", checklist=["Every line is right."], max_diff_bytes=1024))
    return bench


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(texts(), min_size=1, max_size=3))
def test_no_withheld_line_is_sent(bench: Workbench, service: Models, files: list[Text]) -> None:
    """Nothing withheld, nothing far from a change, and everything else that was added: in some request's bytes."""
    names = [f"f{number}.txt" for number in range(len(files))]
    for name, text in zip(names, files, strict=True):
        bench.write(name, text.content)
    service.heard.clear()
    changes = ChangeSet(tuple(Change(path=n, status="M", added=t.added) for n, t in zip(names, files, strict=True)))
    evidence = Evidence(Tree(bench.root, files=tuple(names)), Settings(), Scope(), changes=changes)
    (spec,) = bench.declarations().specs
    assert isinstance(spec.require, Checklist)
    llm = open_llm(bench.environment, bench.project(), LlmOptions(allowed=True, max_cost_usd=0))
    try:
        verdict = llm.evaluate(spec, spec.require, tuple(names), evidence)
    finally:
        llm.close()
    received = dict.fromkeys(names, b"")
    for heard in service.heard:
        assert len(heard.user.encode()) < 1024 + 700
        for name, part in _parts(heard.user):
            received[name] += part.encode()
    for name, text in zip(names, files, strict=True):
        _judge(text, received[name])
    noted = [note for note in verdict.notes if note.startswith("withheld ")]
    assert bool(noted) == any(set(w) & t.withheld for t in files for w in t.windows())


def _parts(user: str) -> Iterator[tuple[str, str]]:
    """The lines of each file in a request; a line of a file that looks like a header is told by its number."""
    name = ""
    for line in user.partition("<<<CHANGES ")[2].split("\n"):
        if line.startswith("FILE f"):
            name = line.removeprefix("FILE ")
        elif name:
            yield name, line


def _judge(text: Text, received: bytes) -> None:
    near = {number for window in text.windows() for number in window}
    spoilt = {n for window in text.windows() if set(window) & text.withheld for n in window}
    for number in range(1, len(text.lines) + 1):
        is_sent = text.mark(number).encode() in received
        assert not (is_sent and number in text.withheld)
        assert not (is_sent and number not in near)
    if text.added is not None and not spoilt:
        for number in {n for first, last in text.added for n in range(first, last + 1)} & near:
            assert text.mark(number).encode() in received


@given(
    keys=st.lists(st.text("abcXYZ019+/", min_size=10, max_size=60), min_size=1, max_size=20), after=st.integers(0, 9)
)
def test_private_keys(keys: list[str], after: int) -> None:
    """The lines between the first and the last of a private key look harmless, and are not sent either."""
    body = [f"{number:04d}{key}" for number, key in enumerate(keys)]
    begin, end = "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"
    lines = ["before", begin, *body, end, *(f"line {n}" for n in range(after))]
    middle = 2 + (len(body) + 1) // 2
    found = sendable("k", "\n".join(lines).encode(), ((middle, middle),))
    assert found.hunks == ()
    assert len(found.notes) == 1


@given(body=st.text(), asked=st.text())
def test_the_token_is_not_in_the_data(body: str, asked: str) -> None:
    """Whatever a change says, its fence has a token that it has not."""
    body = body.encode("utf-8", "replace").decode()
    asked = asked.encode("utf-8", "replace").decode()
    token = fence_token(asked, body)
    assert token not in body
    assert len(token) == 24


@given(content=st.binary(max_size=3000), size=st.integers(1024, 2000))
def test_any_bytes(content: bytes, size: int) -> None:
    """Every call is within its size and every file splits into lines that stand where they stood."""
    found = sendable("a", content, None)
    lines = content.replace(b"\r\n", b"\n").decode("utf-8", "replace").split("\n")
    for call in packed(found.hunks, size):
        assert sum(hunk.size for hunk in call) <= size
        assert user_text(["x"], call).count("FILE a\n") >= 1
        for hunk in call:
            for line in hunk.lines:
                assert lines[line.number - 1].startswith(
                    line.text.removesuffix("...") if len(line.text) > 390 else line.text
                )
                assert hidden_character(line.text) is None


def _decoded(text: str) -> tuple[Entry, ...] | str:
    """The verdicts, or why there are none."""
    try:
        return decode(text, 3)
    except UnusableReplyError as error:
        return str(error)


@given(text=st.text())
def test_any_reply(text: str) -> None:
    """Whatever a model answers, it is decoded or refused in one printable line, never an error of ours."""
    found = _decoded(text)
    assert isinstance(found, str)
    assert found.isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["results", "item", "verdict", "file", "quote", "reason", "x"]), inner, max_size=6
        )
    ),
    max_leaves=20,
)


@given(document=JSON)
def test_any_json(document: object) -> None:
    """The same of every JSON document."""
    found = _decoded(json.dumps(document))
    if isinstance(found, str):
        assert found.isprintable()
    else:
        assert all(1 <= entry.item <= 3 for entry in found)
