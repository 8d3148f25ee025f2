"""Includes and installed skills: where their content is, how it is folded in, what is missing (spec 4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.project.imports import pinned_folder
from pytest_reqfile.project.tables import is_git_source
from pytest_reqfile.project.values import Source
from tests.support.projects import ProjectFolder, names, texts

INCLUDE = '[[includes]]\nname = "shared"\nsource = "vendor/shared"\n'
SKILL = '[[installed_skills]]\nname = "ship"\nsource = "vendor"\n'


@pytest.mark.case("lock:G14")
@pytest.mark.parametrize(
    "source",
    ["https://h/r", "HTTPS://h/r", "ssh://git@h/r", "git@h:o/r", "file:///x", "git+ssh://h/r", "git://h/r"],
)
def test_git_sources(source: str) -> None:
    """By scheme, or with ``@`` before the first ``:`` and no separator before that."""
    assert is_git_source(source)


@pytest.mark.case("lock:G16")
@pytest.mark.parametrize("source", [r"C:\shared", "../shared", "./x:y", "dir/a@b:c", "", "a@b", "x:y@z"])
def test_local_sources(source: str) -> None:
    """Anything else is a path."""
    assert not is_git_source(source)


@pytest.mark.case("lock:E9")
@pytest.mark.case("lock:G10")
@pytest.mark.parametrize("base", ["vendor/shared/.ai-rulez", "vendor/shared"])
def test_a_local_include(tmp_path: Path, base: str) -> None:
    """A tree with a configuration folder or a bare one; its rules join, its domains belong to every profile."""
    project = ProjectFolder(tmp_path, INCLUDE)
    project.write(f"{base}/rules/a.md")
    project.write(f"{base}/domains/d/rules/b.md")
    project.write(f"{base}/verifiers/corp.toml", "[[verifiers]]\n")
    project.write(f"{base}/config.toml", "this is not read")
    loaded = project.load()
    assert names(loaded) == ["rule a", "rule d/b"]
    assert [item.path for item in loaded.items] == [f"{base}/rules/a.md", f"{base}/domains/d/rules/b.md"]
    assert [(domain.name, domain.always) for domain in loaded.domains] == [("d", True)]
    assert loaded.own_items == ()
    assert [file.source for file in loaded.declarations] == ["include:shared/verifiers/corp.toml"]
    assert (loaded.problems, loaded.unavailable) == ((), ())


def test_nothing_but_content_comes_from_an_include(tmp_path: Path) -> None:
    """spec/airulez-project.md 4.1: not recursive; its own configuration, hooks, servers and lock say nothing here."""
    project = ProjectFolder(tmp_path, INCLUDE)
    base = "vendor/shared/.ai-rulez"
    project.write(f"{base}/rules/a.md")
    project.write(
        f"{base}/config.toml",
        'version = "5.0"\nname = "theirs"\ndefault = "x"\n[profiles]\nx = []\n[[includes]]\nname = "deep"\n'
        'source = "../deep"\n[[hooks]]\nevent = "Stop"\n[[verifiers]]\nname = "v"\ntype = "file_exists"\npath = "x"\n',
    )
    project.write("vendor/deep/rules/b.md")
    loaded = project.load()
    assert names(loaded) == ["rule a"]
    assert (loaded.config.name, loaded.config.verifiers, loaded.config.hooks) == ("demo", (), ())
    assert [source.name for source in loaded.config.includes] == ["shared"]


def test_an_include_that_names_the_configuration_folder(tmp_path: Path) -> None:
    """``source`` may be the content folder itself."""
    project = ProjectFolder(tmp_path, '[[includes]]\nname = "s"\nsource = "vendor/.ai-rulez"\n')
    project.write("vendor/.ai-rulez/rules/a.md")
    assert names(project.load()) == ["rule a"]


def test_path_inside_of_an_include(tmp_path: Path) -> None:
    """``path`` names the folder within the source."""
    project = ProjectFolder(tmp_path, INCLUDE + 'path = "kit"\n')
    project.write("vendor/shared/kit/.ai-rulez/rules/a.md")
    project.write("vendor/shared/rules/other.md")
    assert names(project.load()) == ["rule a"]


def test_the_filter_of_an_include(tmp_path: Path) -> None:
    """``include`` keeps kinds, never drops domains, and brings no verifiers (seed 000)."""
    project = ProjectFolder(tmp_path, INCLUDE + 'include = ["rules"]\n')
    for path in ("rules/a.md", "agents/b.md", "domains/d/agents/c.md", "verifiers/v.toml"):
        project.write(f"vendor/shared/{path}")
    loaded = project.load()
    assert names(loaded) == ["rule a", "agent d/c"]
    assert loaded.declarations == ()


@pytest.mark.parametrize(
    ("strategy", "winner", "problems"),
    [
        ("local-override", ".ai-rulez/rules/a.md", []),
        ("include-override", "vendor/shared/rules/a.md", []),
        (
            "error",
            ".ai-rulez/rules/a.md",
            [
                '.ai-rulez/config.toml:3: include "shared": rule "a" is already declared in .ai-rulez/rules/a.md '
                '(merge_strategy = "error")'
            ],
        ),
    ],
)
def test_merge_strategies(tmp_path: Path, strategy: str, winner: str, problems: list[str]) -> None:
    """Who wins where both have an item of the same name."""
    project = ProjectFolder(tmp_path, f'{INCLUDE}merge_strategy = "{strategy}"\n')
    project.write(".ai-rulez/rules/a.md")
    project.write("vendor/shared/rules/a.md")
    project.write("vendor/shared/rules/b.md")
    loaded = project.load()
    assert [item.path for item in loaded.items] == [winner, "vendor/shared/rules/b.md"]
    assert texts(loaded.problems) == problems


def test_an_own_domain_stays_ones_own(tmp_path: Path) -> None:
    """A domain that the project has too does not become active everywhere."""
    project = ProjectFolder(tmp_path, INCLUDE)
    project.write(".ai-rulez/domains/d/rules/a.md")
    project.write("vendor/shared/domains/d/rules/b.md")
    assert [(domain.name, domain.always) for domain in project.load().domains] == [("d", False)]


@pytest.mark.case("lock:G12")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing", 'path "missing" not found'),
        ("README.md", 'path "README.md" is not a directory'),
        ("empty", "it holds no content (expected one of the folders .ai-rulez, rules, context, skills, agents, "
         "commands, checks, domains, verifiers)"),
        ("../outside", 'path "../outside" leads out of the project; only config.local.toml may name such a folder'),
        ("link", 'path "link" leads out of the project; only config.local.toml may name such a folder'),
        ("/", 'path "/" leads out of the project; only config.local.toml may name such a folder'),
    ],
)  # fmt: skip
def test_includes_that_cannot_be_used(tmp_path: Path, source: str, message: str) -> None:
    """A problem at the entry, and content that nothing may silently do without."""
    project = ProjectFolder(tmp_path / "repo", f'\n[[includes]]\nname = "s"\nsource = "{source}"\n')
    project.write("README.md")
    (project.root / "empty").mkdir()
    (tmp_path / "outside/rules").mkdir(parents=True)
    project.link("link", tmp_path / "outside")
    loaded = project.load()
    assert texts(loaded.problems) == [f'.ai-rulez/config.toml:4: include "s": {message}']
    assert [(missing.source.name, missing.reason) for missing in loaded.unavailable] == [("s", message)]


def test_the_local_file_may_name_a_folder_outside(tmp_path: Path) -> None:
    """Machine-local configuration is trusted with paths; reports show no machine path."""
    project = ProjectFolder(tmp_path / "repo")
    project.write(".ai-rulez/config.local.toml", '[[includes]]\nname = "mine"\nsource = "../outside"\n')
    outside = tmp_path / "outside"
    (outside / "rules").mkdir(parents=True)
    (outside / "rules/a.md").write_text("---\n[\n---\n")
    (outside / "verifiers").mkdir()
    (outside / "verifiers/v.toml").write_text("x =")
    loaded = project.load(local=True)
    assert [item.path for item in loaded.items] == ["include:mine/rules/a.md"]
    assert loaded.items[0].origin.tree.read(loaded.items[0].file) == b"---\n[\n---\n"
    assert [file.source for file in loaded.declarations] == ["include:mine/verifiers/v.toml"]
    assert all(problem.path == "include:mine/rules/a.md" for problem in loaded.problems)
    assert len(loaded.problems) == 1


def test_links_in_content_of_others_are_never_followed(tmp_path: Path) -> None:
    """Not even inside of the repository (spec 2.6), and they are told."""
    project = ProjectFolder(tmp_path, INCLUDE)
    project.write("vendor/shared/rules/a.md")
    project.link("vendor/shared/rules/b.md", "a.md")
    project.link("vendor/shared/skills", "../../.ai-rulez")
    loaded = project.load()
    assert names(loaded) == ["rule a"]
    reason = "a symbolic link, which is not followed in content of others"
    assert texts(loaded.problems) == [f"vendor/shared/rules/b.md: {reason}", f"vendor/shared/skills: {reason}"]


def test_what_no_digest_of_an_include_covers_is_no_content(tmp_path: Path) -> None:
    """Folders named .git are left out of its digest, so nothing in them is read; ours are our own."""
    project = ProjectFolder(tmp_path, INCLUDE)
    project.write("vendor/shared/rules/a.md")
    for base in ("vendor/shared", ".ai-rulez"):
        project.write(f"{base}/skills/.git/SKILL.md")
        project.write(f"{base}/domains/.git/rules/c.md")
    found = {(item.origin.kind, item.name) for item in project.load().items}
    assert found == {("include", "a"), ("project", ".git"), ("project", ".git/c")}


def test_git_sources_are_unavailable_until_fetched(tmp_path: Path) -> None:
    """Without a tree nothing that depends on it may pass; with one its content is read, and no other folder of it."""
    project = ProjectFolder(
        tmp_path / "repo",
        '[[includes]]\nname = "corp"\nsource = "https://h.invalid/r"\n'
        '[[installed_skills]]\nname = "lint"\nsource = "git@h.invalid:o/r"\n',
    )
    loaded = project.load()
    assert [(missing.source.name, missing.reason) for missing in loaded.unavailable] == [
        ("corp", "its content is not on this machine"),
        ("lint", "its content is not on this machine"),
    ]
    cache = tmp_path / "cache"
    for folder in (".ai-rulez/rules", "rules"):
        (cache / folder).mkdir(parents=True)
    (cache / "rules/a.md").write_text("# A\n")
    (cache / ".ai-rulez/rules/b.md").write_text("# B\n")

    def fetched(source: Source) -> Path | str:
        return cache if source.name == "corp" else "not pinned in ai-rulez.lock"

    loaded = project.load(fetched=fetched)
    assert [item.path for item in loaded.items] == ["include:corp/rules/a.md"]
    assert [missing.reason for missing in loaded.unavailable] == ["not pinned in ai-rulez.lock"]


def test_an_override_beats_the_source(tmp_path: Path) -> None:
    """``local_override`` is read instead of a git source."""
    project = ProjectFolder(
        tmp_path, '[[includes]]\nname = "c"\nsource = "https://h.invalid/r"\nlocal_override = "vendor/shared"\n'
    )
    project.write("vendor/shared/rules/a.md")
    assert names(project.load()) == ["rule a"]


def test_a_missing_override_is_no_problem(tmp_path: Path) -> None:
    """Other machines do not have it: a warning, and content that is missing (spec/airulez-project.md 4.2)."""
    project = ProjectFolder(
        tmp_path, '[[includes]]\nname = "c"\nsource = "https://h.invalid/r"\nlocal_override = "gone"\n'
    )
    loaded = project.load()
    message = 'its local_override "gone" is not on this machine'
    assert loaded.problems == ()
    assert texts(loaded.notes) == [f'.ai-rulez/config.toml:3: include "c": {message}']
    assert [missing.reason for missing in loaded.unavailable] == [message]


def test_the_order_of_places_in_an_include(tmp_path: Path) -> None:
    """spec/lock.md 6.1: the configuration folder of the source comes before its ``path``."""
    project = ProjectFolder(tmp_path, INCLUDE + 'path = "kit"\n')
    project.write("vendor/shared/rules/d.md")
    for path, expected in (
        ("vendor/shared/kit/rules/c.md", "rule c"),
        ("vendor/shared/kit/.ai-rulez/rules/b.md", "rule b"),
        ("vendor/shared/.ai-rulez/rules/a.md", "rule a"),
    ):
        project.write(path)
        assert names(project.load()) == [expected]


def test_an_okf_bundle_is_not_read(tmp_path: Path) -> None:
    """A format we do not read is missing content, never none."""
    project = ProjectFolder(tmp_path, INCLUDE + 'format = "okf"\n')
    project.write("vendor/shared/rules/a.md")
    loaded = project.load()
    assert loaded.items == ()
    assert [missing.reason for missing in loaded.unavailable] == ["an OKF bundle is not read"]


@pytest.mark.case("verifiers:A12.9")
def test_an_installed_skill_brings_its_verifiers(tmp_path: Path) -> None:
    """Exactly one imported file, known to be of a skill."""
    project = ProjectFolder(tmp_path, SKILL)
    project.write("vendor/skills/ship/SKILL.md", "# Ship\n")
    project.write("vendor/skills/ship/verifiers/a.toml")
    project.write("vendor/skills/ship/verifiers/notes.txt")
    loaded = project.load()
    assert names(loaded) == ["skill ship"]
    (file,) = loaded.declarations
    assert (file.source, file.origin.kind, file.origin.name) == ("skill:ship/verifiers/a.toml", "skill", "ship")


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ('source = "vendor/ship"\n', "vendor/ship"),
        ('source = "vendor"\npath = "kit/ship"\n', "vendor/kit/ship"),
        ('source = "https://h.invalid/r"\nlocal_override = "vendor/mine"\n', "vendor/mine"),
    ],
)
def test_where_an_installed_skill_is(tmp_path: Path, config: str, folder: str) -> None:
    """Its path in the source, or the source itself."""
    project = ProjectFolder(tmp_path, f'[[installed_skills]]\nname = "ship"\n{config}')
    project.write(f"{folder}/SKILL.md")
    loaded = project.load()
    assert [item.path for item in loaded.items] == [f"{folder}/SKILL.md"]


def test_a_root_skill_keeps_its_name(tmp_path: Path) -> None:
    """An installed skill does not replace the project's own, and says so."""
    project = ProjectFolder(tmp_path, SKILL)
    project.write("vendor/skills/ship/SKILL.md")
    project.write("vendor/skills/ship/verifiers/a.toml")
    project.write(".ai-rulez/skills/ship/SKILL.md")
    loaded = project.load()
    assert [item.path for item in loaded.items] == [".ai-rulez/skills/ship/SKILL.md"]
    assert loaded.declarations == ()
    assert texts(loaded.notes) == [
        '.ai-rulez/config.toml:3: installed skill "ship": the skill "ship" is not installed: '
        ".ai-rulez/skills/ship/SKILL.md has that name"
    ]


def test_an_installed_skill_without_its_file(tmp_path: Path) -> None:
    """A folder without SKILL.md is a problem, not an empty skill."""
    project = ProjectFolder(tmp_path, SKILL)
    project.write("vendor/readme.md")
    loaded = project.load()
    assert texts(loaded.problems) == ['.ai-rulez/config.toml:3: installed skill "ship": there is no SKILL.md in it']
    assert len(loaded.unavailable) == 1


@pytest.mark.case("lock:G11")
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("vendor/full", "vendor/full/.ai-rulez"),
        ("vendor/full/.ai-rulez", "vendor/full/.ai-rulez"),
        ("vendor/bare", "vendor/bare"),
        ("vendor/linked", "vendor/full/.ai-rulez"),
        ("vendor/to-bare", "vendor/bare"),
    ],
)
def test_the_folder_that_the_lock_pins(tmp_path: Path, source: str, expected: str) -> None:
    """The configuration folder in the source, else the source; links on the configured path are resolved."""
    project = ProjectFolder(tmp_path, f'[[includes]]\nname = "i"\nsource = "{source}"\npath = "elsewhere"\n')
    project.write("vendor/full/.ai-rulez/rules/a.md")
    project.write("vendor/bare/rules/a.md")
    project.link("vendor/linked/.ai-rulez", "../full/.ai-rulez")
    project.link("vendor/to-bare", "bare")
    loaded = project.load()
    assert pinned_folder(loaded.place, loaded.config.includes[0]) == tmp_path / expected


@pytest.mark.parametrize(("source", "message"), [("none", "not found"), ("file", "is not a directory")])
def test_a_folder_that_cannot_be_pinned(tmp_path: Path, source: str, message: str) -> None:
    """The words of the lock's problem (spec/lock.md 3.4)."""
    project = ProjectFolder(tmp_path, f'[[includes]]\nname = "i"\nsource = "{source}"\n')
    project.write("file")
    loaded = project.load()
    with pytest.raises(FileError, match=rf'^path "{source}" {message}$'):
        pinned_folder(loaded.place, loaded.config.includes[0])


def test_origins_are_what_was_read(tmp_path: Path) -> None:
    """In the order they are declared, also of an include without items."""
    project = ProjectFolder(tmp_path, SKILL + INCLUDE)
    (tmp_path / "vendor/shared/rules").mkdir(parents=True)
    project.write("vendor/skills/ship/SKILL.md")
    assert [(origin.kind, origin.name, origin.folder) for origin in project.load().origins] == [
        ("include", "shared", "vendor/shared"),
        ("skill", "ship", "vendor/skills/ship"),
    ]
