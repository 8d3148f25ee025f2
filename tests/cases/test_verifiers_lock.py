"""How the lock shows that a verifier was weakened (cases/verifiers.md A18; seed 000 "Lock")."""

from __future__ import annotations

import pytest

from tests.support.locks import LockProject
from tests.support.repo import Repo

README = '[[verifiers]]\nname = "readme"\ntype = "file_exists"\npath = "README.md"\n'
SPECS = (
    '[[verifiers]]\nid = "m"\nrule = "r"\nseverity = "error"\nwhen_changed = ["*.sql"]\nexclude = ["old/**"]\n'
    "[verifiers.require.regex]\nregex = '(?m)^-- down$'\n"
    '[[verifiers]]\nid = "second"\nrule = "r"\n[verifiers.require.file_exists]\npath = "x"\n'
)


@pytest.fixture
def project(repo: Repo) -> LockProject:
    project = LockProject(repo, README)
    project.write("rules/r.md", "# R\n")
    project.write("verifiers/db.toml", SPECS)
    return project


@pytest.mark.case("verifiers:A18.1")
def test_every_declaration_is_an_item(project: LockProject) -> None:
    """Flat ones without a path, those of files with theirs, and no problem."""
    items = [item for item in project.items().values() if item.kind == "verifier"]
    assert {item.id: item.path for item in items} == {
        "readme": "",
        "m": "verifiers/db.toml",
        "second": "verifiers/db.toml",
    }
    assert project.renew().warnings == ()


@pytest.mark.case("verifiers:A18.2")
@pytest.mark.parametrize(
    ("old", "new"), [('"error"', '"warning"'), ('["old/**"]', '["old/**", "a/**"]'), ("^-- down$", "^--")]
)
def test_a_weaker_verifier_is_another(project: LockProject, old: str, new: str) -> None:
    """A lower severity, a wider exclude, a laxer pattern: that one alone has another digest."""
    text = SPECS.replace(old, new, 1)
    assert text != SPECS
    assert project.changed_by(lambda: project.write("verifiers/db.toml", text)) == {"verifier m"}


def test_a_verifier_that_is_gone_shows(project: LockProject) -> None:
    """As if it had been weakened."""
    project.lock()
    project.write("verifiers/db.toml", SPECS[: SPECS.index('[[verifiers]]\nid = "second"')])
    assert project.lines() == ["source removed  verifier second (verifiers/db.toml)"]


@pytest.mark.case("verifiers:A18.4")
def test_settings_are_pinned_where_there_are_any(project: LockProject) -> None:
    """So that widened trust shows."""
    assert "settings verifiers-settings" not in project.items()
    project.config(f"[verifiers_settings]\ncommand_env = ['A']\n{README}")
    assert "settings verifiers-settings" in project.items()
    wider = f"[verifiers_settings]\ncommand_env = ['A', 'B']\n{README}"
    assert project.changed_by(lambda: project.config(wider)) == {"settings verifiers-settings"}


@pytest.mark.case("verifiers:A18.6")
def test_a_local_include_is_pinned_with_its_verifiers(project: LockProject) -> None:
    """What an include checks belongs to its tree."""
    project.repo.write("shared/rules/a.md", "# A\n")
    project.repo.write("shared/verifiers/v.toml", SPECS)
    project.config(f'[[includes]]\nname = "shared"\nsource = "./shared"\n{README}')
    assert "local-include shared" in project.items()
    weaker = SPECS.replace('"error"', '"info"')
    assert project.changed_by(lambda: project.repo.write("shared/verifiers/v.toml", weaker)) == {"local-include shared"}
