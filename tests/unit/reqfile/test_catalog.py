"""Scopes and stages of a catalog (seed 004 CASCADE; spec reqfile.md 2.5 to 2.7)."""

from __future__ import annotations

from tests.support.memory_tree import catalog_of
from tests.support.requirements import OK, req

SHADOWED: dict[str, str | bytes] = {
    "Reqfile.yaml": req(A=OK, B=OK),
    "app/Reqfile.yaml": "reqfile: 1\ncode:\n  - { id: A, use: .. }\n",
    "app/deep/er/Reqfile.yaml": "reqfile: 1\ncode:\n  - { id: A, use: ../../.., why: Deeper. }\n",
    "apple/x": "",
}


def test_the_nearest_block_with_an_id_applies() -> None:
    """One per file and id; folders are whole components."""
    catalog = catalog_of(SHADOWED)
    assert catalog.problems == ()
    paths = ("x", "app/x", "app/deep/x", "app/deep/er/x", "app/deep/er/s/x", "apple/x")
    scope = {
        path: [requirement.folder for requirement in catalog.requirements if catalog.in_scope(requirement, path)]
        for path in paths
    }
    assert scope == {
        "x": ["", ""],
        "app/x": ["", "app"],
        "app/deep/x": ["", "app"],
        "app/deep/er/x": ["", "app/deep/er"],
        "app/deep/er/s/x": ["", "app/deep/er"],
        "apple/x": ["", ""],
    }


def test_what_applies_to_a_folder_is_told_from_the_root_down() -> None:
    """Reqfile order within a depth."""
    catalog = catalog_of({**SHADOWED, "Zoo/Reqfile.yaml": req(Z=OK), "app/deep/Reqfile.yaml": req(D=OK)})
    assert [(r.id, r.folder) for r in catalog.applying_to("app/deep/er")] == [
        ("B", ""),
        ("D", "app/deep"),
        ("A", "app/deep/er"),
    ]
    assert [r.id for r in catalog.applying_to("Zoo")] == ["A", "B", "Z"]


def test_problems_are_told_stage_by_stage() -> None:
    """A duplicate is not judged while a file could not be read, nor a use block while ids repeat (spec 2.7)."""
    files: dict[str, str | bytes] = {
        "Reqfile.yaml": req(A=OK) + "  - { id: U, use: ./none }\n",
        "app/Reqfile.yaml": req(A=OK),
        "bad/Reqfile.yaml": "reqfile: 2\n",
    }
    unread = catalog_of(files)
    assert [str(problem) for problem in unread.first_problems] == [
        "bad/Reqfile.yaml:1: unsupported Reqfile version 2; this reqfile supports version 1"
    ]
    assert len(unread.problems) == 3
    repeated = catalog_of({path: text for path, text in files.items() if path != "bad/Reqfile.yaml"})
    assert [str(problem) for problem in repeated.first_problems] == [
        "app/Reqfile.yaml:3: requirement A is also defined in Reqfile.yaml; "
        "define it once and take it elsewhere with `use`"
    ]
    unresolved = catalog_of({"Reqfile.yaml": files["Reqfile.yaml"]})
    assert [str(problem) for problem in unresolved.first_problems] == [
        "Reqfile.yaml:11: `use: ./none`: no Reqfile at or under none defines U"
    ]
    assert [requirement.id for requirement in unresolved.requirements] == ["A"]


def test_assets_lie_next_to_the_reqfile() -> None:
    """An absolute path, whether it exists or not."""
    catalog = catalog_of({"Reqfile.yaml": req(A=OK), "app/Reqfile.yaml": req(B=OK)})
    assert [requirement.assets for requirement in catalog.requirements] == ["/repo/.reqfile/A", "/repo/app/.reqfile/B"]


def test_checks_are_named_by_type_and_number() -> None:
    """The item names of design 2.1."""
    (requirement,) = catalog_of({"Reqfile.yaml": req(A=[OK, "- decision", OK])}).requirements
    assert [name for name, _ in requirement.named_checks()] == ["command-1", "decision", "command-2"]
