"""What imports bring, and do not, besides the cases of ``cases/verifiers.md`` (seed 000 "Imported verifiers")."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.verifiers import Workbench, head, member, predicate

INCLUDE = '[[includes]]\nname = "corp"\nsource = "corp"\n'
FORBID = head("no-drop", when="*.ddl") + predicate("forbid", regex="drop")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    workbench = Workbench(tmp_path)
    workbench.write("a.ddl", "drop\n")
    return workbench


def test_imported_checklist(bench: Workbench) -> None:
    """An include may ask a model; without one its verifier is skipped with AR9H4, as our own."""
    bench.config(INCLUDE)
    bench.write("corp/verifiers/a.toml", head("l", when="*.ddl") + predicate("llm", checklist=["a"]))
    result = bench.result()
    assert (result.status, result.code, result.advisory) == ("skipped", "AR9H4", True)


def test_command_deep_in_the_tree(bench: Workbench) -> None:
    """Trust is asked for wherever in the tree the command is."""
    bench.config(INCLUDE)
    deep = member("all", "forbid", regex="x") + "[[verifiers.require.all]]\n"
    command = deep + predicate("all.not.command", argv=["true"])
    bench.write("corp/verifiers/a.toml", head("deep", when="*.ddl") + command)
    (invalid,) = bench.declarations().invalid
    assert invalid.message.startswith('uses the command predicate, which a verifier imported from include "corp"')


def test_filtered_include(bench: Workbench) -> None:
    """An include with a filter brings no verifiers."""
    bench.config(INCLUDE + 'include = ["rules"]\n')
    bench.write("corp/verifiers/a.toml", FORBID)
    assert bench.results() == ()


def test_generated_files_are_looked_at(bench: Workbench) -> None:
    """`linguist-generated` leaves nothing out; `exclude` does."""
    bench.write(".gitattributes", "*.ddl linguist-generated\n")
    bench.spec(FORBID)
    assert bench.result().status == "fail"
    bench.spec(head("no-drop", when="*.ddl", exclude=["a.ddl"]) + predicate("forbid", regex="drop"))
    assert bench.result().status == "not_applicable"


def test_missing_examples_of_inactive_verifiers(bench: Workbench) -> None:
    """AR9H6 is not asked of a verifier whose rule is outside the active profile."""
    bench.config('[profiles]\nweb = ["web"]\n[verifiers_settings]\nrequire_examples = true\n')
    bench.write(".ai-rulez/domains/web/rules/w.md", "w\n")
    bench.spec(FORBID.replace('rule = "store"', 'rule = "web/w"'))
    (result,) = bench.results()
    assert result.status == "inactive"
