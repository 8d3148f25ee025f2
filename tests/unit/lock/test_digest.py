"""The hashing scheme: every vector byte for byte, and the rules of cases A and C (spec/lock.md 2)."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.lock.digest import (
    EXECUTABLE,
    TEXT_EXTENSIONS,
    TreeKind,
    file_leaf,
    is_text,
    mode_of,
    open_file_leaf,
    streamed_leaf,
    tree_digest,
    without_cr,
)
from pytest_reqfile.workspace.hashing import OpenFile
from tests.unit.lock.vectors import Vector, content, kind, leaf, name_of, named, vectors


@pytest.mark.case("lock:A1-A22")
@pytest.mark.parametrize("vector", named("leaves"), ids=name_of)
def test_leaf_vectors(vector: Vector) -> None:
    """The bare hex of a file leaf."""
    assert leaf(vector)[1].hex() == vector["expected"]


@pytest.mark.case("lock:A1-A22")
@pytest.mark.case("lock:A24")
@pytest.mark.case("lock:A25")
@pytest.mark.case("lock:B12")
@pytest.mark.case("lock:B14")
@pytest.mark.case("lock:F16")
@pytest.mark.case("lock:H2")
@pytest.mark.case("lock:H4")
@pytest.mark.parametrize("vector", named("trees"), ids=name_of)
def test_tree_vectors(vector: Vector) -> None:
    """The digest of an item of every kind."""
    assert tree_digest(kind(vector), map(leaf, vector["files"])) == vector["expected"]


@pytest.mark.case("lock:A23")
def test_order_does_not_matter() -> None:
    """Leaves are sorted, however they come."""
    vector = next(vector for vector in named("trees") if vector["name"] == "5 skill deploy")
    leaves = [leaf(file) for file in vector["files"]]
    shuffled = [random.Random(seed).sample(leaves, len(leaves)) for seed in range(25)]
    found = {tree_digest("skill", order) for order in (*itertools.permutations(leaves), *shuffled)}
    assert found == {vector["expected"]}


@pytest.mark.case("lock:A24")
def test_the_family_is_pairwise_different() -> None:
    """Text, mode, an extra file, a lone CR and CRLF in a script each give another digest."""
    family = [vector["expected"] for vector in named("trees") if vector["name"].startswith("skill pack")]
    assert len(set(family)) == len(family) == 6


@pytest.mark.case("lock:A26")
def test_every_kind_is_a_domain_of_its_own() -> None:
    """One file list under every label gives as many digests."""
    kinds = get_args(TreeKind)
    leaves = [file_leaf("n.md", b"x")]
    assert len({tree_digest(label, leaves) for label in kinds}) == len(kinds) == 20


@pytest.mark.case("lock:A28")
@pytest.mark.parametrize("path", ["", "/abs.md", "a\\b.md", "../x.md", "a/./b.md", "a//b.md", "./a", "a/..", "a/", "."])
def test_paths_no_tree_may_hold(path: str) -> None:
    """Nothing that could mean two places, or one outside."""
    with pytest.raises(FormatError, match="invalid path in a digest tree"):
        file_leaf(path, b"")


@pytest.mark.parametrize("path", ["...", "..a", "a..", ".md", "a/.b/c", "a b", "ü"])
def test_paths_that_only_look_odd(path: str) -> None:
    """Dots inside of names are names."""
    assert file_leaf(path, b"")[0] == path.encode()


@pytest.mark.case("lock:A29")
def test_duplicate_path() -> None:
    """Two files of one path cannot be told apart."""
    with pytest.raises(FormatError, match=r"n\.md: duplicate path in rule tree"):
        tree_digest("rule", [file_leaf("n.md", b"a"), file_leaf("m.md", b""), file_leaf("n.md", b"b")])


@pytest.mark.case("lock:A31")
@pytest.mark.parametrize(
    "path",
    ["t.sh", "t.bash", "t.zsh", "t.py", "t.js", "t.mjs", "t.cjs", "t.ts", "T.SH", "Run.PY", "md", "a.md/b", "a."],
)
def test_scripts_and_the_rest_are_bytes(path: str) -> None:
    """A CR in a script changes what it does, so it counts."""
    assert not is_text(path)
    assert file_leaf(path, b"a\r\n") != file_leaf(path, b"a\n")


@pytest.mark.case("lock:A32")
def test_the_ten_text_extensions() -> None:
    """Exactly these, in order."""
    assert " ".join(TEXT_EXTENSIONS) == ".json .jsonc .markdown .md .mdc .mdx .toml .txt .yaml .yml"


@pytest.mark.case("lock:A33")
@pytest.mark.parametrize("path", ["A.MD", "x.Yaml", ".md", "a.b.md", "d.sh/x.json"])
def test_text_by_the_last_extension(path: str) -> None:
    """Lower-cased, of the last part; a file called just ``.md`` has one."""
    assert is_text(path)
    assert file_leaf(path, b"a\r\nb\r") == file_leaf(path, b"a\nb\r")


@pytest.mark.case("lock:A35")
def test_paths_are_bytes() -> None:
    """No Unicode normalisation, and the order of UTF-8."""
    composed, decomposed = file_leaf("é.md", b""), file_leaf("e\u0301.md", b"")
    assert composed != decomposed
    leaves = [file_leaf(path, b"") for path in ("é.md", "a.md", "Z.md")]
    assert [name.decode() for name, _ in sorted(leaves)] == ["Z.md", "a.md", "é.md"]


@pytest.mark.case("lock:B14")
@pytest.mark.parametrize("vector", [v for v in named("trees") if v["name"].startswith("doc.md")], ids=name_of)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 18])
def test_crlf_over_chunk_borders(vector: Vector, size: int) -> None:
    """One pass, whatever the pieces: a CRLF that results is not converted again."""
    data = content(vector["files"][0])
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    normalised = b"".join(without_cr(chunks))
    assert normalised == data.replace(b"\r\n", b"\n")


@pytest.mark.parametrize("name", ["a.md", "a.bin"])
def test_streaming_equals_memory(tmp_path: Path, name: str) -> None:
    """A large file is hashed in pieces to the same digest; text in two passes."""
    data = (b"line\r\n" * 40_000 + b"\r") * 6
    (tmp_path / name).write_bytes(data)
    (tmp_path / name).chmod(0o755)
    with OpenFile(str(tmp_path / name), name) as file:
        assert file.size > 1 << 20
        assert open_file_leaf(name, file) == streamed_leaf(name, file) == file_leaf(name, data, EXECUTABLE)


class _Growing(OpenFile):
    """A file that somebody appends to just before the pass number ``when`` over it."""

    def __init__(self, place: Path, when: int) -> None:
        super().__init__(str(place), place.name)
        self._place = place
        self._passes_left = when

    def whole(self) -> bytes:
        self._begin()
        return super().whole()

    def chunks(self) -> Iterator[bytes]:
        self._begin()
        return super().chunks()

    def _begin(self) -> None:
        self._passes_left -= 1
        if self._passes_left == 0:
            with self._place.open("ab") as stream:
                stream.write(b"x")


@pytest.mark.case("lock:B15")
@pytest.mark.parametrize(
    ("name", "size", "when"), [("a.md", 10, 1), ("a.bin", 10, 1), ("a.bin", 2 << 20, 1), ("a.md", 2 << 20, 2)]
)
def test_a_file_that_grows(tmp_path: Path, name: str, size: int, when: int) -> None:
    """Between the pass that takes its size and the one that hashes it: refused, not pinned half."""
    place = tmp_path / name
    place.write_bytes(b"y" * size)
    with _Growing(place, when) as file, pytest.raises(FileError, match=rf"^{name} changed while it was being hashed$"):
        open_file_leaf(name, file)


@pytest.mark.case("lock:C1")
@pytest.mark.case("lock:C2")
@pytest.mark.parametrize(
    ("bits", "mode"),
    [
        *((bits, "100644") for bits in (0o644, 0o600, 0o444, 0o655, 0o611)),
        *((bits, "100755") for bits in (0o755, 0o700, 0o100, 0o544)),
    ],
)
def test_only_the_owner_execute_bit_counts(tmp_path: Path, bits: int, mode: str) -> None:
    """Group and others are git's to ignore."""
    place = tmp_path / "x"
    place.write_bytes(b"")
    place.chmod(bits)
    if not os.access(place, os.R_OK):
        pytest.skip("this user cannot read a file without its read bit")
    with OpenFile(str(place), "x") as file:
        assert mode_of(file.executable) == mode


def test_the_vectors_are_all_there() -> None:
    """Nothing passes because a section was lost."""
    counts = {section: len(named(section)) for section in ("trees", "directories", "rows", "tops", "subjects")}
    assert counts == {"trees": 31, "directories": 4, "rows": 1, "tops": 11, "subjects": 5}
    assert len(vectors()["approvals"]) == 11
