"""Texts of list and explain where names and texts are odd; the rest is shown by cases K and L."""

from __future__ import annotations

import json

from pytest_reqfile.reqfile.listing import explain_text, list_json, list_text
from tests.support.memory_tree import catalog_of
from tests.support.requirements import OK, req

ODD = "a\nFrom b\x1b[2J"
FILES: dict[str, str | bytes] = {
    f"{ODD}/Reqfile.yaml": req("process", R1=OK).replace("must: Be good.", 'must: "One\\x1b.\\n  must: Forged.\\n"'),
    f"{ODD}/.reqfile/config.yaml": 'exclude: ["x*"]\n',
}
SHOWN = "a\\x0aFrom b\\x1b[2J"


def test_names_stay_on_their_line() -> None:
    """A folder's name can neither break a line nor move the cursor."""
    catalog = catalog_of(FILES)
    assert list_text(catalog, None) == (
        f"From {SHOWN}/Reqfile.yaml:\n  R1 (process)  checks: command\n\n"
        "1 requirements: 0 product, 0 code, 1 process.\n"
    )
    assert list_text(catalog, "process").endswith("\n\n1 process requirements.\n")
    assert explain_text(catalog, f"{ODD}/x", is_folder=False) == (
        f"{SHOWN}/x is excluded by {SHOWN}/.reqfile/config.yaml; no requirements apply.\n"
    )
    assert explain_text(catalog, "c\n", is_folder=True) == "No requirements apply to c\\x0a.\n"


def test_further_lines_of_a_text_are_indented() -> None:
    """None of them reads as a line of ours."""
    assert explain_text(catalog_of(FILES), f"{ODD}/y", is_folder=False) == (
        f"Requirements that apply to {SHOWN}/y:\n\nFrom {SHOWN}/Reqfile.yaml:\n  R1 (process)\n"
        "    must: One\\x1b.\n        must: Forged.\n    why: Because.\n"
    )


def test_json_keeps_names_and_texts_as_they_are() -> None:
    """Escaped by JSON alone."""
    (entry,) = json.loads(list_json(catalog_of(FILES), None))["requirements"]
    assert (entry["reqfile"], entry["must"]) == (f"{ODD}/Reqfile.yaml", "One\x1b.\n  must: Forged.\n")


def test_nothing_to_list_is_said() -> None:
    """In words that name the type asked for."""
    assert list_text(catalog_of({}), None) == "No requirements in this repository.\n"
    assert list_text(catalog_of(FILES), "code") == "No code requirements in this repository.\n"
