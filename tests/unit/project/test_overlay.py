"""``config.local.toml``: what merges, what replaces, what is refused (spec/airulez-project.md 1.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.outcome import Location
from pytest_reqfile.project.overlay import overlay, shared_only
from pytest_reqfile.project.values import Config, Declared
from pytest_reqfile.syntax.nodes import plain
from pytest_reqfile.syntax.toml import read_toml
from tests.support.projects import ProjectFolder, texts

LOCAL = ".ai-rulez/config.local.toml"


def _merged(tmp_path: Path, shared: str, local: str) -> Config:
    project = ProjectFolder(tmp_path, shared)
    project.write(LOCAL, local)
    return project.load(local=True).config


def _value(declared: Declared) -> object:
    return plain(declared.node)


@pytest.mark.case("verifiers:A4.2")
def test_verifiers_replace_each_other_by_name(tmp_path: Path) -> None:
    """A matched entry is replaced in place (seed 000 "Local overlay"), new ones follow."""
    config = _merged(
        tmp_path,
        '[[verifiers]]\nname="a"\ntype="file_exists"\npath="A"\n[[verifiers]]\nname="b"\ntype="file_exists"\npath="B"\n',
        '[[verifiers]]\nname="b"\ntype="file_absent"\n[[verifiers]]\nname="c"\ntype="file_exists"\npath="C"\n',
    )
    assert [_value(entry) for entry in config.verifiers] == [
        {"name": "a", "type": "file_exists", "path": "A"},
        {"name": "b", "type": "file_absent"},
        {"name": "c", "type": "file_exists", "path": "C"},
    ]
    assert [entry.path for entry in config.verifiers] == [".ai-rulez/config.toml", LOCAL, LOCAL]
    assert config.verifiers[1].overrides == Location(path=".ai-rulez/config.toml", line=7)


def test_the_local_file_is_read_only_where_asked_for(tmp_path: Path) -> None:
    """The lock and CI see the shared configuration (spec 1.4), even where the local one is broken."""
    project = ProjectFolder(tmp_path, 'default = "web"\n')
    project.write(LOCAL, "this is no TOML")
    assert project.load().config.local is None
    with pytest.raises(FormatError, match=r"^\.ai-rulez/config\.local\.toml:1: invalid TOML"):
        project.load(local=True)


def test_tables_merge_and_the_rest_is_replaced(tmp_path: Path) -> None:
    """Two tables merge to any depth; lists, scalars and ``builtins`` are replaced."""
    config = _merged(
        tmp_path,
        'builtins = ["a"]\nbundle_exclude = ["x"]\n[llm]\nmodel = "m"\n[llm.limits]\nlow = 1\nhigh = [1, 2]\n',
        'builtins = false\nbundle_exclude = ["y"]\n[llm.limits]\nhigh = [3]\n',
    )
    assert config.builtins.in_use is False
    assert config.bundle_exclude == ("y",)
    assert _value(config.tables["llm"]) == {"model": "m", "limits": {"low": 1, "high": [3]}}


@pytest.mark.parametrize(
    ("shared", "local", "expected"),
    [
        ('["claude", "cursor"]', '["!cursor", "codex", "claude"]', ["claude", "codex"]),
        ('["claude"]', '[{ name = "claude", mode = "x" }]', [{"name": "claude", "mode": "x"}]),
        ('[{ name = "p", a = 1 }]', '[{ name = "p", b = 2 }]', [{"name": "p", "a": 1, "b": 2}]),
        ('[{ name = "p", a = 1 }]', '["p"]', [{"name": "p", "a": 1}]),
    ],
)
def test_presets(tmp_path: Path, shared: str, local: str, expected: list[object]) -> None:
    """An ordered union; ``!name`` drops, a table wins over a bare name."""
    config = _merged(tmp_path, f"presets = {shared}\n", f"presets = {local}\n")
    assert _value(config.tables["presets"]) == expected


def test_a_table_of_the_local_file_alone(tmp_path: Path) -> None:
    """A key the shared file does not have is taken as it is, with its own place."""
    config = _merged(tmp_path, "", '[[roles]]\nname = "mine"\n[profiles]\nme = ["x"]\n')
    assert [role.name for role in config.roles] == ["mine"]
    assert config.profiles[0].location == Location(path=LOCAL, line=4)


def test_scopes_match_by_path_too(tmp_path: Path) -> None:
    """A scope without a name is known by its path."""
    config = _merged(tmp_path, '[[scopes]]\npath = "a"\nmode = 1\n', '[[scopes]]\npath = "a"\nmode = 2\n')
    assert _value(config.tables["scopes"]) == [{"path": "a", "mode": 2}]


def test_inherited_values_stand_at_the_local_entry() -> None:
    """Every line of a merged entry is a line of the file it is attributed to."""
    shared = '\n\n\n\n\n[[plugins]]\nname="a"\nsource="r"\n[plugins.require.any]\nx=[{y=1}]\n'
    local = '[[plugins]]\nname="a"\nfix="f"\n'
    merged = overlay(shared_only(read_toml(shared, "config.toml"), "config.toml"), read_toml(local, LOCAL), LOCAL)
    lines = {entry.key: (entry.line, entry.value.line) for entry in merged.entries["plugins"][0].node.entries}
    assert lines == {"name": (2, 2), "source": (1, 1), "require": (1, 1), "fix": (3, 3)}


def test_removing_what_is_not_there_is_a_warning(tmp_path: Path) -> None:
    """``remove = true`` deletes an entry, and warns where there is none."""
    project = ProjectFolder(tmp_path, '[[verifiers]]\nname="a"\n')
    project.write(LOCAL, '[[verifiers]]\nname="a"\nremove=true\n[[verifiers]]\nname="b"\nremove=true\n')
    loaded = project.load(local=True)
    assert loaded.config.verifiers == ()
    assert texts(loaded.notes) == [f"{LOCAL}:4: there is no `b` in `verifiers` to remove"]


def test_values_are_never_shown(tmp_path: Path) -> None:
    """Messages name keys and places only: a local file may hold secrets."""
    project = ProjectFolder(tmp_path, 'default = "x"\n')
    project.write(LOCAL, 'version = "hunter2"\nheader = "hunter2"\nhunter = "hunter2"\npresets = "hunter2"\n')
    with pytest.raises(FormatError) as caught:
        project.load(local=True)
    assert len(caught.value.problems) == 4
    assert "hunter2" not in str(caught.value)
