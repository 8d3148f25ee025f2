"""What the store of parsed files remembers is what parsing gives (issue 3.5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.format import parse_reqfile
from pytest_reqfile.reqfile.parsed_store import STORE_NAME, ParsedStore
from pytest_reqfile.reqfile.parsed_wire import (
    config_from_wire,
    config_to_wire,
    reqfile_from_wire,
    reqfile_to_wire,
)
from pytest_reqfile.reqfile.settings import parse_config
from pytest_reqfile.workspace.kept_file import KeptFile
from tests.support.blocks import Check, block, reqfile_text, run

_WORDS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=12).filter(str.strip)
_GLOBS = st.sampled_from(["**", "*.py", "a/{b,c}/**", "[!x]?.txt"])


@st.composite
def _commands(draw: st.DrawFn) -> Check:
    fields: dict[str, object] = {}
    if draw(st.booleans()):
        fields |= {"files": draw(_GLOBS), "pass_files": draw(st.booleans())}
    optional = {
        "format": st.sampled_from(["exit", "sarif", "junit"]),
        "violation_codes": st.lists(st.integers(1, 255), min_size=1, max_size=3),
        "timeout": st.integers(1, 10_000),
        "fast": st.booleans(),
        "mode": st.sampled_from(["blocking", "advisory"]),
        "thresholds": st.sampled_from([{}, {"violation_above": 0.9}, {"violation_above": 0.5, "pass_below": 0.1}]),
    }
    fields |= {key: draw(values) for key, values in optional.items() if draw(st.booleans())}
    return run(draw(_WORDS), **fields)


@st.composite
def _reqfiles(draw: st.DrawFn) -> str:
    blocks = []
    for number in range(draw(st.integers(0, 4))):
        checks: list[Check] = draw(st.lists(_commands(), min_size=1, max_size=3))
        if draw(st.booleans()):
            judged: list[Check] = ["decision", {"decision": {"mode": "blocking"}}]
            checks.append(draw(st.sampled_from(judged)))
        more = {key: draw(_WORDS) for key in ("must", "why", "who", "ref") if draw(st.booleans())}
        written = block(f"ID_{number}", *checks, **more)
        if draw(st.booleans()):
            use = draw(st.sampled_from(["./std", "..", "a/b@" + "1" * 40]))
            written = {"id": f"ID_{number}", "use": use, **({"why": "Ours."} if draw(st.booleans()) else {})}
        blocks.append(written)
    return reqfile_text(*blocks)


_CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "base": _WORDS,
        "exclude": st.lists(_GLOBS, max_size=3),
        "decision": st.fixed_dictionaries(
            {},
            optional={"model": _WORDS, "api_key_env": _WORDS, "endpoint": _WORDS, "concurrency": st.integers(1, 99)},
        ),
    },
)


@given(_reqfiles(), st.sampled_from(["Reqfile.yaml", "a/b/Reqfile.yaml"]))
def test_a_reqfile_survives_the_store(text: str, path: str) -> None:
    """To JSON and back, every field, and with the path of whoever asks."""
    parsed = parse_reqfile(text, path)
    wire = json.loads(json.dumps(reqfile_to_wire(parsed)))
    assert reqfile_from_wire(wire, path) == parsed


@given(_CONFIGS)
def test_a_config_survives_the_store(values: dict[str, object]) -> None:
    """To JSON and back, every field."""
    parsed = parse_config(json.dumps(values, ensure_ascii=False), "a/.reqfile/config.yaml")
    wire = json.loads(json.dumps(config_to_wire(parsed)))
    assert config_from_wire(wire, "a/.reqfile/config.yaml", "a") == parsed


TEXT = reqfile_text(block("ONE", run("true", files="**")))


def _stored(folder: Path, *texts: str) -> dict[str, object]:
    store = ParsedStore(KeptFile(folder, STORE_NAME))
    for text in texts:
        store.reqfile(text, "Reqfile.yaml")
    store.save()
    files: dict[str, object] = json.loads((folder / "reqfile" / STORE_NAME).read_text())["files"]
    return files


def test_only_what_a_run_used_is_kept(tmp_path: Path) -> None:
    """What was edited away does not pile up."""
    other = TEXT.replace("ONE", "TWO")
    assert set(_stored(tmp_path, TEXT)) == {f"r:{TEXT}"}
    assert set(_stored(tmp_path, TEXT, other)) == {f"r:{TEXT}", f"r:{other}"}
    assert set(_stored(tmp_path, other)) == {f"r:{other}"}


def test_a_run_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    """So that hooks that run side by side do not write for ever."""
    _stored(tmp_path, TEXT)
    before = (tmp_path / "reqfile" / STORE_NAME).stat()
    _stored(tmp_path, TEXT)
    after = (tmp_path / "reqfile" / STORE_NAME).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_file_with_problems_is_never_kept(tmp_path: Path) -> None:
    """It is parsed, and complained about, every time."""
    for _ in range(2):
        store = ParsedStore(KeptFile(tmp_path, STORE_NAME))
        with pytest.raises(FormatError):
            store.reqfile("reqfile: 2\n", "Reqfile.yaml")
        store.save()
    assert not (tmp_path / "reqfile" / STORE_NAME).exists()


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\0\xff",
        b"[]",
        b"{}",
        b'{"source": "another", "files": {}}',
        b'{"source": 1, "files": 1}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_store_is_no_store(tmp_path: Path, damage: bytes) -> None:
    """Whatever is in the file, the answer is that of the parser, and the store is whole again afterwards."""
    _stored(tmp_path, TEXT)
    (tmp_path / "reqfile" / STORE_NAME).write_bytes(damage)
    store = ParsedStore(KeptFile(tmp_path, STORE_NAME))
    assert store.reqfile(TEXT, "Reqfile.yaml") == parse_reqfile(TEXT, "Reqfile.yaml")
    assert set(_stored(tmp_path, TEXT)) == {f"r:{TEXT}"}


@pytest.mark.parametrize(
    "wire",
    [
        *(1, None, [[]], [[1, 2]], [["ONE", "code", 0, None, None, None, None, None, None, None]]),
        [["ONE", "code", 0, {"a": 1}, None, None, None, None, None, None]],
    ],
)
def test_an_entry_that_is_none_is_parsed(tmp_path: Path, wire: object) -> None:
    """An entry we did not write is not believed where it cannot be a Reqfile."""
    _stored(tmp_path, TEXT)
    file = tmp_path / "reqfile" / STORE_NAME
    stored = json.loads(file.read_text())
    stored["files"][f"r:{TEXT}"] = wire
    file.write_text(json.dumps(stored))
    store = ParsedStore(KeptFile(tmp_path, STORE_NAME))
    expected = parse_reqfile(TEXT, "Reqfile.yaml")
    assert store.reqfile(TEXT, "Reqfile.yaml") == expected


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    """A read-only checkout, here a file where the folder should be: everything still works."""
    (tmp_path / "reqfile").write_text("")
    store = ParsedStore(KeptFile(tmp_path, STORE_NAME))
    assert store.reqfile(TEXT, "Reqfile.yaml") == parse_reqfile(TEXT, "Reqfile.yaml")
    store.save()


def test_a_symlink_is_not_followed(tmp_path: Path) -> None:
    """Neither to read nor to write."""
    (tmp_path / "reqfile").mkdir()
    target = tmp_path / "target"
    target.write_text("kept")
    (tmp_path / "reqfile" / STORE_NAME).symlink_to(target)
    assert KeptFile(tmp_path, STORE_NAME).read() is None
    _stored(tmp_path, TEXT)
    assert target.read_text() == "kept"
