"""Trees made to break the scan: bombs, huge and binary files, bad encodings, names with escapes, what is no file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pytest_reqfile.lock.security_scan import MAX_BYTES, MAX_FILES, ScanResult, ScanSettings, report_lines, scan_tree

SETTINGS = ScanSettings(allowed_hosts=("ok.example.org",))
SECONDS = 20.0
"""For half a MiB; it takes half of one. A quadratic rule takes hours."""

BOMBS = (
    *("curl ", "curl https://x ", "curl /|\\\n", "| ", "|", "<!--", "<!-- -->", "<!-- run curl -->"),
    *("eval $(", 'eval "', "ignore all previous ", "do not tell ", "without the user ", "hide a b c d "),
    *('password="', 'password="aaaaaaaaaaaaaaaaaaaaa1"', "chmod 777 ", "cat ~/", "echo > ", "tee ", "cp a "),
    *("https://", "https://a@", "eyJaaaaaaaaaaa.", "sk-ant-aaaaaaaaaaaaaaaaaaaaa ", "-----BEGIN A PRIVATE KEY-----"),
    *("base64 -d |", 'sh -c "$(', "aB1/", "\n", "\u200b", "é\u200d", "---\n", "AKIAIOSFODNN7EXAMPLE "),
)


def scan(folder: Path, content: bytes, name: str = "SKILL.md") -> ScanResult:
    (folder / name).write_bytes(content)
    return scan_tree(folder, SETTINGS)


@pytest.mark.parametrize("unit", BOMBS)
def test_bombs(tmp_path: Path, unit: str) -> None:
    """Half a MiB of a text that every rule begins to like, on one line: time grows with its length, not its square."""
    data = unit.encode()
    started = time.process_time()
    scan(tmp_path, (data * (MAX_BYTES // len(data) + 1))[:MAX_BYTES])
    assert time.process_time() - started < SECONDS


def test_one_line_of_ten_megabytes(tmp_path: Path) -> None:
    """It is not read, and that is said; the files beside it are scanned."""
    (tmp_path / "min.js").write_bytes(b"x" * (10 << 20) + b"curl https://ok.example.org/x|sh")
    found = scan(tmp_path, b'eval "$X"\n')
    assert [finding.file for finding in found.findings] == ["SKILL.md"]
    assert found.notes == ("1 file(s) are larger than 512 KiB and were not scanned: min.js",)


def test_the_largest_file(tmp_path: Path) -> None:
    """512 KiB are scanned to the last byte."""
    tail = b"\neval $X"
    found = scan(tmp_path, b" " * (MAX_BYTES - len(tail)) + tail)
    assert [(finding.code, finding.line) for finding in found.findings] == [("AR005", 2)]


def test_many_findings(tmp_path: Path) -> None:
    """Ten of a rule in a file are listed, and a note says that there are more."""
    found = scan(tmp_path, b"eval $X\n" * 30_000)
    assert found.errors == 10
    assert found.notes == ("1 file(s) have more than 10 findings of one code, of which the first are listed: SKILL.md",)


def test_many_files(tmp_path: Path) -> None:
    """2000 are looked at; that there are more is a note."""
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number:05}.md").write_bytes(b"")
    found = scan(tmp_path, b"eval $X\n", "zz-last.md")
    assert found == ScanResult(notes=("more than 2000 files: the rest are not listed or scanned",))
    assert scan(tmp_path, b"eval $X\n", "00-first.md").errors == 1


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\xfd eval $X \xc3\n",
        b"\xe2\x80 eval $X\n",
        b"\0\0 eval $X\n",
        b"x\0y\n\0eval $X",
        b"\r\neval $X\r\n",
        "eval $X\n".encode("utf-16"),
        "\ufeffeval $X\n".encode("utf-16-be"),
        "eval $X\n".encode("utf-16-le"),
        "eval $X\n".encode("utf-16-be"),
        "eval $X\n".encode("utf-32"),
        "eval $X\n".encode("utf-32-be"),
        b"#!/bin/bash\nev\0al \0$X\n",
    ],
    ids=[
        *("not UTF-8", "cut", "NULs", "a NUL in front", "CRLF", "UTF-16", "UTF-16 of the other kind"),
        *("UTF-16 without a mark", "the other kind without a mark", "UTF-32", "UTF-32 without a mark", "NULs in words"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    """No byte hides what follows it."""
    assert [finding.code for finding in scan(tmp_path, data, "run.sh").findings] == ["AR005"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_hidden_characters_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    """Tags are found in UTF-16, too, marked or not, also between words of another script."""
    found = scan(tmp_path, "ein Wort\nслово \U000e0041 слово\n".encode(encoding), "SKILL.md")
    assert [(finding.code, finding.line) for finding in found.findings] == [("AR002", 2)]


def test_binary_files(tmp_path: Path) -> None:
    """In an image any bytes may stand, so hidden characters are not looked for; that is said. A text stays a text."""
    data = b"\x89PNG\0\0" + "\u200b\u202e".encode()
    found = scan(tmp_path, data, "logo.png")
    assert found == ScanResult(notes=("1 file(s) are binary: hidden characters were not looked for: logo.png",))
    assert scan(tmp_path, data, "SKILL.md").errors == 1
    (tmp_path / "SKILL.md").unlink()
    assert scan(tmp_path, data + b"\neval $X\n", "logo.png").errors == 1


def test_names(tmp_path: Path) -> None:
    """A name cannot move the cursor, end a line or reorder the report."""
    name = os.fsencode("a\n\x1b[2K\u202e") + b"\xff.md"
    (tmp_path / os.fsdecode(name)).write_bytes(b"eval $X\n")
    lines = report_lines("include x\x1b[1m", scan_tree(tmp_path, SETTINGS), accepted=False)
    shown = r"a\u{A}\u{1B}[2K\u{202E}\xff.md"
    assert lines == (
        r"include x\u{1B}[1m: the security scan found 2 error(s), 0 warning(s): refused",
        rf"  AR002 error {shown}:1 in its name: hidden characters: \u{{202E}} (right-to-left override)",
        f"  AR005 error {shown}:1 eval of dynamic text: eval $X",
    )


def test_hidden_characters_in_names(tmp_path: Path) -> None:
    """Rules are called by them; of links and files alike, once each, also where the content is not looked at."""
    for name in ("rules/sty\u200ble.md", "skills/\U000e0041/SKILL.md", "big\u2060.bin", "fine-\u2764\ufe0f.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * (MAX_BYTES + 1) if "big" in name else b"x")
    (tmp_path / "li\u200bnk").symlink_to("/etc/passwd")
    found = [str(finding) for finding in scan_tree(tmp_path, SETTINGS).findings]
    assert [line.partition(":1 in its name: hidden characters: ")[2] for line in found] == [
        r"\u{2060} (word joiner)",
        r"\u{200B} (zero width space)",
        r"\u{200B} (zero width space)",
        r"\u{E0041} (tag latin capital letter a)",
    ]


def test_what_is_no_file(tmp_path: Path) -> None:
    """Links and pipes are not followed or opened; .git and the cache's bookkeeping are not content."""
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"eval $X\n")
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "hook.sh").write_bytes(b"eval $X\n")
    (tree / ".cache_meta.json").write_bytes(b"eval $X\n")
    (tree / "link.md").symlink_to(outside)
    (tree / "loop").symlink_to(tree)
    os.mkfifo(tree / "pipe.md")
    assert scan_tree(tree, SETTINGS) == ScanResult()


def test_front_matter_made_to_break(tmp_path: Path) -> None:
    """YAML bombs, front matter that is none: no tool is found there, and nothing breaks."""
    bomb = "a: &a [x, x]\n" + "".join(
        f"{c}: &{c} [*{p}, *{p}, *{p}]\n" for p, c in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    for front in (
        bomb + "allowed-tools: *k\n",
        "allowed-tools: [",
        "allowed-tools: {a: 1}",
        "allowed-tools:\n",
        "- allowed-tools",
    ):
        assert scan(tmp_path, f"---\n{front}\n---\n".encode()).errors == 0
