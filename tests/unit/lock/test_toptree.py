"""The tree over everything, approvals and the subject (spec/lock.md 2.7, 2.10; cases L, M)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_reqfile.lock.records import with_approval
from pytest_reqfile.lock.served import reported_digest, reported_file_digest, served_digest
from pytest_reqfile.lock.toptree import approvals_digest, subject_digest, subject_of, top_tree, tree_of
from pytest_reqfile.lock.values import Approval, Deny, Entry, Lock
from tests.unit.lock.vectors import Vector, approval, content, name_of, named, row


@pytest.mark.case("lock:L1")
@pytest.mark.parametrize("vector", named("rows"), ids=name_of)
def test_row_vectors(vector: Vector) -> None:
    """Fields joined by NUL, trailing empty ones kept."""
    expected = vector["expected"]
    assert row(vector["entry"]) == (expected["kind"], expected["key"], expected["digest"])


@pytest.mark.case("lock:A1-A22")
@pytest.mark.case("lock:H3")
@pytest.mark.case("lock:H4")
@pytest.mark.case("lock:I15")
@pytest.mark.case("lock:L1")
@pytest.mark.case("lock:L2")
@pytest.mark.parametrize("vector", named("tops"), ids=name_of)
def test_top_vectors(vector: Vector) -> None:
    """Every kind of row, in any order."""
    rows = [row(entry) for entry in vector["entries"]]
    assert top_tree(rows) == top_tree(reversed(rows)) == vector["expected"]


@pytest.mark.case("lock:M1")
@pytest.mark.parametrize("vector", named("subjects"), ids=name_of)
def test_subject_vectors(vector: Vector) -> None:
    """Tree, approvals, hash version, scope and whether outputs are pinned."""
    found = subject_digest(
        vector["tree"], vector["approvals"], vector["scope"], vector["outputs_pinned"], vector["hash_version"]
    )
    assert found == vector["expected"]


@pytest.mark.case("lock:L4")
@pytest.mark.case("lock:L5")
@pytest.mark.parametrize("vector", named("approvals"), ids=name_of)
def test_approvals_vectors(vector: Vector) -> None:
    """Each field of a record counts; nothing is the empty string."""
    approvals = [approval(record) for record in vector["approvals"]]
    assert approvals_digest(approvals, [Deny(**deny) for deny in vector["deny"]]) == vector["expected"]


@pytest.mark.case("lock:L5")
def test_the_approvals_vectors_differ() -> None:
    """No two sets of records share a digest."""
    found = [vector["expected"] for vector in named("approvals")]
    assert len(set(found)) == len(found)


@pytest.mark.case("lock:N5")
@pytest.mark.case("lock:N6")
@pytest.mark.parametrize("vector", named("served"), ids=name_of)
def test_served_vectors(vector: Vector) -> None:
    """With and without the lines that change while the skill does not."""
    files = {file["path"]: content(file) for file in vector["files"]}
    assert (served_digest(files), reported_digest(files)) == (vector["expected"], vector["expected_raw"])


@pytest.mark.case("lock:N9")
def test_one_served_file() -> None:
    """The bare leaf of vector 1, as a digest."""
    vector = named("leaves")[0]
    assert reported_file_digest(vector["path"], content(vector)) == f"sha256:{vector['expected']}"


RECORD = Approval(
    kind="rule", id="tone", digest="sha256:01", reviewer="kim", assurance="asserted", approved_at="2026-03-04T05:06:07Z"
)
LOCK = Lock(includes=(Entry(name="a", source="s", commit="c", digest="d"),), tree="t", scope="all")


@pytest.mark.case("lock:L7")
def test_an_approval_changes_the_subject_only() -> None:
    """Approvals stay outside of the tree."""
    approved = with_approval(LOCK, RECORD)
    assert tree_of(approved) == tree_of(LOCK)
    assert subject_of(approved).digest != subject_of(LOCK).digest


@pytest.mark.case("lock:M2")
def test_a_forged_tree_does_not_count() -> None:
    """The subject is made of the recomputed tree."""
    assert subject_of(replace(LOCK, tree="sha256:forged")) == subject_of(LOCK)


@pytest.mark.case("lock:I16")
@pytest.mark.parametrize(
    "edit",
    [
        {"released": "2026-01-01T00:00:00Z"},
        {"released_from": "forge"},
    ],
)
def test_what_the_tree_does_not_cover(edit: dict[str, str]) -> None:
    """Informational keys of an entry."""
    changed = replace(LOCK, includes=(replace(LOCK.includes[0], **edit),))
    assert tree_of(changed) == tree_of(LOCK)
