"""What is active under a profile or role (seed 000 "Active profile and role"; spec/airulez-project.md 3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.project.selection import canonical, select
from tests.support.projects import ProjectFolder, names

ROOT = ".ai-rulez"
REST = ("context about", "agent helper")
WEB = ("rule web/css", "context web/site")


def _project(root: Path, config: str) -> ProjectFolder:
    project = ProjectFolder(root, config)
    for path in ("rules/http.md", "domains/store/rules/dd.md", "domains/web/rules/css.md"):
        project.write(f"{ROOT}/{path}")
    return project


@pytest.mark.case("verifiers:A13.4")
@pytest.mark.parametrize(
    ("profiles", "profile", "active"),
    [
        ("", None, True),
        ('[profiles]\nbe = ["store"]\n', None, False),
        ('[profiles]\nbe = ["store"]\n', "be", True),
        ('[profiles]\nbe = ["store"]\nfe = []\n', "fe", False),
        ('[profiles]\ndefault = ["store"]\n', None, True),
        ('default = "be"\n[profiles]\nbe = ["store"]\n', None, True),
        ('default = "be"\n[profiles]\nbe = ["store"]\nfe = []\n', "fe", False),
        ('[profiles]\nbe = ["store"]\nfe = []\n', "fe, be", True),
        ('[profiles]\nbe = ["store"]\n', "be,default", True),
        ('[profiles]\nbe = ["store"]\n', "default", False),
    ],
)
def test_profiles(tmp_path: Path, profiles: str, profile: str | None, active: bool) -> None:
    """The flag, else the configured default, else all content where there are no profiles, else the root's."""
    selection = select(_project(tmp_path, profiles).load(), profile=profile)
    assert selection.is_active("rule", "store/dd") is active
    assert selection.is_active("rule", "dd") is active
    assert selection.is_active("rule", "http")


def test_labels(tmp_path: Path) -> None:
    """The words of the inactive message."""
    loaded = _project(tmp_path, '[profiles]\nbe = ["store"]\nfe = []\n[[roles]]\nname = "ops"\n').load()
    assert select(loaded).label == 'profile "default"'
    assert select(loaded, profile=" be ,fe,be").label == 'profile "be,fe"'
    assert select(loaded, profile="be", role="ops").label == 'role "ops"'
    assert canonical("b , a,b,") == "b,a"


@pytest.mark.parametrize(
    ("profile", "role", "message"),
    [
        ("nope", None, 'profile "nope" is not defined (defined: be)'),
        ("be,nope", None, 'profile "nope" is not defined (defined: be)'),
        (None, "nope", 'role "nope" is not defined (defined: orphan, grand, parent, base, self)'),
        (None, "orphan", 'role "orphan" extends "gone", which is not defined'),
        (None, "grand", 'role "grand" extends "parent", which extends "base": one level is the limit'),
        (None, "self", 'role "self" extends "self", which extends "self": one level is the limit'),
    ],
)
def test_what_cannot_be_selected(tmp_path: Path, profile: str | None, role: str | None, message: str) -> None:
    """Unknown names and roles that cannot be flattened are usage errors."""
    pairs = (("orphan", "gone"), ("grand", "parent"), ("parent", "base"), ("base", None), ("self", "self"))
    roles = "".join(
        f'[[roles]]\nname = "{name}"\n' + (f'extends = "{parent}"\n' if parent else "") for name, parent in pairs
    )
    loaded = _project(tmp_path, f'[profiles]\nbe = ["store"]\n{roles}').load()
    with pytest.raises(UsageError) as caught:
        select(loaded, profile=profile, role=role)
    assert str(caught.value) == message


def test_an_unknown_profile_where_none_is_defined(tmp_path: Path) -> None:
    """Without profiles only the default one exists."""
    with pytest.raises(UsageError, match=r'^profile "web" is not defined \(none is defined\)$'):
        select(_project(tmp_path, "").load(), profile="web")


def _roles(root: Path, config: str, role: str) -> list[str]:
    project = _project(root, config)
    for path in ("rules/tls.md", "context/about.md", "agents/helper.md", "domains/web/context/site.md"):
        project.write(f"{ROOT}/{path}")
    return [f"{item.kind} {item.name}" for item in select(project.load(), role=role).items]


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("", ["rule http", "rule tls", *REST]),
        ('domains = ["web"]', ["rule http", "rule tls", *REST, *WEB]),
        ('rules = { include = ["t*"] }', ["rule tls", *REST]),
        ('rules = { include = ["*"], exclude = ["t??"] }', ["rule http", *REST]),
        ('agents = { exclude = ["*"] }\nrules = {}', ["rule http", "rule tls", "context about"]),
        ('domains = ["web"]\nrules = { include = ["web/*"] }', [*REST, *WEB]),
        ('domains = ["web"]\nrules = { include = ["css"] }', [*REST, *WEB]),
        ('rules = { include = ["["] }', [*REST]),
    ],
)  # fmt: skip
def test_roles(tmp_path: Path, role: str, expected: list[str]) -> None:
    """Domains choose, selectors narrow, context is never filtered, exclusion wins, a bad pattern matches nothing."""
    assert _roles(tmp_path, f'[profiles]\nx = []\n[[roles]]\nname = "r"\n{role}\n', "r") == expected


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ('rules = { include = ["http"] }', 'rules = { include = ["tls"] }', ["http", "tls"]),
        ('rules = { include = ["http"] }', "", ["http"]),
        ("", 'rules = { include = ["tls"] }', ["tls"]),
        ('rules = { include = ["http"] }', "rules = { exclude = [] }", ["http", "tls"]),
        ('rules = { exclude = ["http"] }', 'rules = { exclude = ["tls"] }', []),
        ('domains = ["store"]', 'domains = ["web"]', ["http", "tls", "store/dd", "web/css"]),
    ],
)
def test_inheritance(tmp_path: Path, parent: str, child: str, expected: list[str]) -> None:
    """Domains and exclusions add up; inclusions do where both have some."""
    config = f'[[roles]]\nname = "p"\n{parent}\n[[roles]]\nname = "c"\nextends = "p"\n{child}\n'
    found = _roles(tmp_path, config, "c")
    assert [text.removeprefix("rule ") for text in found if text.startswith("rule ")] == expected


def test_domains_of_includes_are_always_active(tmp_path: Path) -> None:
    """Include domains belong to every profile and role (spec 3.1)."""
    project = _project(tmp_path, '[profiles]\nx = []\n[[includes]]\nname = "i"\nsource = "v"\n[[roles]]\nname = "r"\n')
    project.write("v/domains/corp/rules/law.md")
    loaded = project.load()
    assert select(loaded).is_active("rule", "corp/law")
    assert select(loaded, profile="x").is_active("rule", "law")
    assert select(loaded, role="r").is_active("rule", "law")


def test_a_bare_id_that_is_active_anywhere_is_active(tmp_path: Path) -> None:
    """spec/airulez-project.md 3.2: it is looked up in what is active, in root and then in every domain."""
    project = _project(tmp_path, '[profiles]\nbe = ["store"]\nfe = ["web"]\n')
    project.write(f"{ROOT}/domains/web/rules/dd.md")
    loaded = project.load()
    for profile, store, web in (("be", True, False), ("fe", False, True)):
        selection = select(loaded, profile=profile)
        assert selection.is_active("rule", "dd")
        assert (selection.is_active("rule", "store/dd"), selection.is_active("rule", "web/dd")) == (store, web)
    assert not select(loaded).is_active("rule", "dd")


def test_installed_skills_of_a_profile(tmp_path: Path) -> None:
    """A skill with ``profiles`` is dropped from the others."""
    skill = '[[installed_skills]]\nname = "ship"\nsource = "v"\nprofiles = ["x"]\n'
    project = _project(tmp_path, f"[profiles]\nx = []\ny = []\n{skill}")
    project.write("v/SKILL.md")
    loaded = project.load()
    assert names(loaded)[1] == "skill ship"
    assert select(loaded, profile="x").is_active("skill", "ship")
    assert select(loaded, profile="y,x").is_active("skill", "ship")
    assert not select(loaded, profile="y").is_active("skill", "ship")
