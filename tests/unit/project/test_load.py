"""What one load brings together, and its warnings."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.project.manifest import read_manifest
from tests.support.projects import ProjectFolder, texts

MANIFEST = ".ai-rulez/.generated-manifest.json"


@pytest.mark.case("lock:F1")
def test_hooks_have_ordinals(tmp_path: Path) -> None:
    """Groups of one event and matcher are numbered from 0 (spec/lock.md 3.5)."""
    group = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\n'
    project = ProjectFolder(tmp_path, f'{group}{group}[[hooks]]\nevent = "Stop"\n')
    assert [hook.id for hook in project.load().config.hooks] == ["PreToolUse:Bash:0", "PreToolUse:Bash:1", "Stop:*:0"]


def test_domains_nobody_declares(tmp_path: Path) -> None:
    """A misspelt domain would leave verifiers inactive: a warning; packs of ai-rulez may hold it: none."""
    project = ProjectFolder(tmp_path, '[profiles]\nweb = ["fronted"]\n')
    assert texts(project.load().notes) == [
        ".ai-rulez/config.toml:4: profile `web` lists the domain `fronted`, which does not exist"
    ]
    for config in ('builtins = true\n[profiles]\nweb = ["x"]\n', '[profiles]\nweb = ["builtin:go", "x"]\n'):
        project.config(config)
        assert project.load().notes == ()
        assert project.load().config.builtins.in_use
    assert project.load().config.builtins.scoped == ("go",)


def test_a_skill_with_the_name_of_a_command(tmp_path: Path) -> None:
    """Ids are compared without case (spec/airulez-project.md 2.4); another domain may repeat them."""
    project = ProjectFolder(tmp_path)
    for path in ("skills/Ship/SKILL.md", "commands/ship.md", "domains/d/commands/ship.md"):
        project.write(f".ai-rulez/{path}")
    assert texts(project.load().notes) == [
        '.ai-rulez/commands/ship.md: command "ship" has the name of skill "Ship" in .ai-rulez/skills/Ship/SKILL.md'
    ]


def test_a_project_in_the_fallback_place(tmp_path: Path) -> None:
    """Content of ``.config/ai-rulez`` is read as that of ``.ai-rulez``."""
    project = ProjectFolder(tmp_path)
    (tmp_path / ".ai-rulez").rename(tmp_path / "x")
    (tmp_path / ".config").mkdir()
    (tmp_path / "x").rename(tmp_path / ".config/ai-rulez")
    project.write(".config/ai-rulez/rules/a.md")
    project.write(".config/ai-rulez/verifiers/v.toml")
    loaded = project.load()
    assert [(item.path, item.config_path) for item in loaded.items] == [(".config/ai-rulez/rules/a.md", "rules/a.md")]
    assert [file.source for file in loaded.declarations] == [".config/ai-rulez/verifiers/v.toml"]
    assert loaded.config.path == ".config/ai-rulez/config.toml"


def test_manifest(tmp_path: Path) -> None:
    """The outputs of the last generation, in the order of the file."""
    project = ProjectFolder(tmp_path)
    assert read_manifest(project.load()) is None
    project.write(MANIFEST, '{"version": 1, "files": ["CLAUDE.md", ".cursor/rules/a.mdc"]}')
    manifest = read_manifest(project.load())
    assert manifest is not None
    assert manifest.files == ("CLAUDE.md", ".cursor/rules/a.mdc")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", f"{MANIFEST}:1: invalid JSON: expected a key in double quotes, found the end of the file"),
        ("[]", f"{MANIFEST}:1: the manifest must be a mapping, found a list"),
        ("{}", f"{MANIFEST}:1: the manifest is missing the required field `files`"),
        ('{"files":\n[3]}', f"{MANIFEST}:2: `files` must be a non-empty string, found an integer"),
        ('{"files":\n["../x"]}', f"{MANIFEST}:2: `../x` is not a path inside of the project"),
        ("\udcff", f"{MANIFEST}: not valid UTF-8"),
    ],
)
def test_bad_manifests(tmp_path: Path, text: str, message: str) -> None:
    """A manifest that cannot be read is an error: outputs are not assumed to be none."""
    project = ProjectFolder(tmp_path)
    project.write(MANIFEST, text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError) as caught:
        read_manifest(project.load())
    assert str(caught.value) == message
