"""The content tree: names, order, symlinks, and files that cannot be looked at (spec/airulez-project.md 2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from tests.support.projects import ProjectFolder, names, texts

BASE = (
    "rules/tone.md",
    "context/about.md",
    "agents/helper.md",
    "commands/ship.md",
    "checks/lint.md",
    "skills/pack/SKILL.md",
    "domains/api/skills/pack/SKILL.md",
    "domains/api/rules/tone.md",
)


def _base(root: Path) -> ProjectFolder:
    project = ProjectFolder(root)
    for path in BASE:
        project.write(f".ai-rulez/{path}", f"# {path}\n")
    return project


@pytest.mark.case("lock:E1")
def test_items_and_their_order(tmp_path: Path) -> None:
    """One item per file or skill folder: root first, then domains, kinds and ids in a fixed order."""
    loaded = _base(tmp_path).load()
    assert names(loaded) == [
        "rule tone",
        "context about",
        "skill pack",
        "agent helper",
        "command ship",
        "check lint",
        "rule api/tone",
        "skill api/pack",
    ]
    assert [item.config_path for item in loaded.items[-2:]] == ["domains/api/rules/tone.md", BASE[6]]
    assert [domain.name for domain in loaded.domains] == ["api"]
    assert loaded.own_items == loaded.items
    assert (loaded.problems, loaded.notes) == ((), ())


@pytest.mark.case("lock:E13")
def test_what_is_no_item(tmp_path: Path) -> None:
    """No recursion, one suffix, a skill needs its SKILL.md; files that begin with a dot count."""
    project = ProjectFolder(tmp_path)
    for name in ("deep/a.md", "a.mdc", "A.MD", "a.markdown", ".hidden.md"):
        project.write(f".ai-rulez/rules/{name}")
    project.write(".ai-rulez/skills/empty/readme.md")
    project.write(".ai-rulez/skills/lower/skill.md")
    project.write(".ai-rulez/skills/loose.md")
    project.write(".ai-rulez/commands/empty/readme.md")
    loaded = project.load()
    assert names(loaded) == ["rule .hidden"]
    assert loaded.problems == ()


def test_byte_order(tmp_path: Path) -> None:
    """Names sort by their bytes, not by the alphabet."""
    project = ProjectFolder(tmp_path)
    for name in ("é", "a", "Z"):
        project.write(f".ai-rulez/rules/{name}.md")
    assert names(project.load()) == ["rule Z", "rule a", "rule é"]


@pytest.mark.case("lock:E15")
def test_commands_are_files_or_folders(tmp_path: Path) -> None:
    """``x.md`` and ``x/COMMAND.md`` are both the command ``x``."""
    project = ProjectFolder(tmp_path)
    project.write(".ai-rulez/commands/a.md")
    project.write(".ai-rulez/commands/b/COMMAND.md")
    items = project.load().items
    assert [(item.id, item.config_path, item.folder) for item in items] == [
        ("a", "commands/a.md", None),
        ("b", "commands/b/COMMAND.md", ".ai-rulez/commands/b"),
    ]


@pytest.mark.case("lock:E10")
def test_a_repeated_key_keeps_both(tmp_path: Path) -> None:
    """A command that exists as file and as folder is two items, and a warning."""
    project = ProjectFolder(tmp_path)
    project.write(".ai-rulez/commands/dup.md")
    project.write(".ai-rulez/commands/dup/COMMAND.md")
    loaded = project.load()
    assert [item.config_path for item in loaded.items] == ["commands/dup/COMMAND.md", "commands/dup.md"]
    assert texts(loaded.notes) == [
        '.ai-rulez/commands/dup.md: command "dup" has the name of command "dup" in .ai-rulez/commands/dup/COMMAND.md'
    ]


@pytest.mark.case("lock:E6")
def test_owner_and_version(tmp_path: Path) -> None:
    """Frontmatter of a skill; its own ``name`` does not rename it."""
    project = ProjectFolder(tmp_path)
    project.write(".ai-rulez/skills/pack/SKILL.md", '---\nname: other\nowner: platform\nversion: "1.2.0"\n---\nPack.\n')
    skill = project.load().items[0]
    assert (skill.id, skill.document.owner, skill.document.version) == ("pack", "platform", "1.2.0")
    assert (skill.document.body, skill.document.body_line) == ("Pack.\n", 6)


def _linked(root: Path) -> tuple[ProjectFolder, Path]:
    top = root / "repo"
    project = _base(top / "app")
    (top / "shared").mkdir()
    (top / "shared/text.md").write_text("# Shared\n")
    (top / "shared/skill").mkdir()
    (top / "shared/skill/SKILL.md").write_text("# Skill\n")
    return project, top


@pytest.mark.case("lock:E21")
def test_links_inside_the_repository_are_followed(tmp_path: Path) -> None:
    """Name from the link, text from the target: files, folders and whole trees."""
    project, top = _linked(tmp_path)
    project.link(".ai-rulez/rules/link.md", "../../../shared/text.md")
    project.link(".ai-rulez/skills/linked", "../../../shared/skill")
    project.link(".ai-rulez/domains/api/context", "../../../../shared")
    loaded = project.load(top=top)
    found = {item.name: item.document.text for item in loaded.items}
    assert found["link"] == "# Shared\n"
    assert found["linked"] == "# Skill\n"
    assert found["api/text"] == "# Shared\n"
    assert loaded.problems == ()


@pytest.mark.case("lock:E22")
def test_links_that_are_refused(tmp_path: Path) -> None:
    """Out of the repository, into .git, to credentials, to nothing, in a loop: each is told, none is read."""
    project, top = _linked(tmp_path)
    (tmp_path / "secret.md").write_text("outside")
    (top / ".git").mkdir()
    (top / ".git/x.md").write_text("git")
    for name in (".env", "server.pem", ".env.example"):
        (top / name).write_text("key")
    project.link(".ai-rulez/rules/out.md", tmp_path / "secret.md")
    project.link(".ai-rulez/rules/git.md", "../../../.git/x.md")
    project.link(".ai-rulez/rules/env.md", "../../../.env")
    project.link(".ai-rulez/rules/key.md", "../../../server.pem")
    project.link(".ai-rulez/rules/example.md", "../../../.env.example")
    project.link(".ai-rulez/rules/dead.md", "nowhere")
    project.link(".ai-rulez/rules/loop.md", "loop.md")
    loaded = project.load(top=top)
    assert [item.id for item in loaded.of_kind("rule")] == ["example", "tone", "tone"]
    assert texts(loaded.problems) == [
        ".ai-rulez/rules/dead.md: cannot read: No such file or directory",
        ".ai-rulez/rules/env.md: a symbolic link to .env, which may hold credentials and is not followed",
        ".ai-rulez/rules/git.md: a symbolic link into .git, which is not followed",
        ".ai-rulez/rules/key.md: a symbolic link to server.pem, which may hold credentials and is not followed",
        ".ai-rulez/rules/loop.md: cannot read: a symbolic link",
        ".ai-rulez/rules/out.md: cannot read: a symbolic link that leads out of the repository",
    ]


CREDENTIALS = (
    ".env .env.local .ENV.Production .envrc .npmrc .pypirc .netrc _netrc .git-credentials .htpasswd credentials "
    "credentials.json secrets.json secrets.yaml secrets.yml id_rsa id_dsa id_ecdsa id_ed25519 terraform.tfvars "
    "a.pem b.key c.p12 d.pfx e.keystore F.PEM ID_RSA Secrets.JSON"
)
HARMLESS = ".env.example .env.sample .env.template .env.dist .env.defaults environment id_rsa.pub keystore pem.md"


@pytest.mark.parametrize("name", [*CREDENTIALS.split(), *HARMLESS.split()])
def test_a_link_to_credentials(tmp_path: Path, name: str) -> None:
    """spec/airulez-project.md 2.6: by the name of what the link leads to, in any case; by the link's own name never."""
    project = ProjectFolder(tmp_path)
    project.write(f"keys/{name}", "text")
    project.link(".ai-rulez/rules/id_rsa.md", f"../../keys/{name}")
    loaded = project.load()
    followed = name in HARMLESS.split()
    assert (len(loaded.items), len(loaded.problems)) == ((1, 0) if followed else (0, 1))


def test_local_content_and_declarations_are_no_items(tmp_path: Path) -> None:
    """spec/airulez-project.md 2.1: ``local/`` is of one machine; an agent is called like its file."""
    project = ProjectFolder(tmp_path)
    for path in ("local/rules/mine.md", "verifiers/rules/a.md", "providers/x.md", "rubrics/r/rules/b.md"):
        project.write(f".ai-rulez/{path}")
    project.write(".ai-rulez/agents/helper.md", "---\nname: somebody else\n---\nHelp.\n")
    assert names(project.load()) == ["agent helper"]


def test_a_linked_folder_that_leads_out(tmp_path: Path) -> None:
    """A tree root may be a link, but not to somewhere else."""
    project = ProjectFolder(tmp_path / "repo")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/evil.md").write_text("x")
    project.link(".ai-rulez/rules", tmp_path / "rules")
    loaded = project.load()
    assert loaded.items == ()
    assert texts(loaded.problems) == [".ai-rulez/rules: cannot read: a symbolic link that leads out of the repository"]


def test_files_that_are_wrong_are_told_and_kept(tmp_path: Path) -> None:
    """Bad text does not make a rule vanish: the item stays, with a located problem."""
    project = ProjectFolder(tmp_path)
    project.write(".ai-rulez/rules/bytes.md", b"# ok\n\xff\n")
    project.write(".ai-rulez/rules/open.md", "---\nk: v\n")
    project.write(".ai-rulez/rules/yaml.md", "---\nk: [\n---\n")
    loaded = project.load()
    assert names(loaded) == ["rule bytes", "rule open", "rule yaml"]
    found = texts(loaded.problems)
    assert found[:2] == [
        ".ai-rulez/rules/bytes.md:2: not valid UTF-8",
        ".ai-rulez/rules/open.md:1: the frontmatter is never closed: expected a second line `---`",
    ]
    assert found[2].startswith(".ai-rulez/rules/yaml.md:2: the frontmatter cannot be read: invalid YAML:")
    assert loaded.items[0].document.text == "# ok\n\udcff\n"


@pytest.mark.case("lock:N4")
def test_a_marker_that_is_a_folder(tmp_path: Path) -> None:
    """``SKILL.md`` that is no file, and a content folder that is one."""
    project = ProjectFolder(tmp_path)
    project.write(".ai-rulez/skills/x/SKILL.md/y")
    project.write(".ai-rulez/agents", "a file")
    loaded = project.load()
    assert texts(loaded.problems) == [
        ".ai-rulez/skills/x/SKILL.md: not a regular file",
        ".ai-rulez/agents: cannot read: Not a directory",
    ]


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("store", ".ai-rulez/rules/store.md"),
        ("only", ".ai-rulez/domains/a/rules/only.md"),
        ("b/only", ".ai-rulez/domains/b/rules/only.md"),
        ("a/store", None),
        ("ghost", None),
        ("a/b/only", None),
        ("/store", None),
    ],
)
def test_targets(tmp_path: Path, target: str, path: str | None) -> None:
    """spec/airulez-project.md 2.3: root, then domains by name; with a slash only that domain."""
    project = ProjectFolder(tmp_path)
    for name in ("rules/store", "domains/b/rules/only", "domains/a/rules/only"):
        project.write(f".ai-rulez/{name}.md")
    found = project.load().find("rule", target)
    assert (found.path if found else None) == path


@pytest.mark.case("lock:F22")
@pytest.mark.case("lock:F24")
def test_rubrics(tmp_path: Path) -> None:
    """Every regular file below, dot files too; links are listed as refused."""
    project = ProjectFolder(tmp_path)
    for name in ("rubric.toml", ".dot", "golden/a.json"):
        project.write(f".ai-rulez/rubrics/tone/{name}")
    project.link(".ai-rulez/rubrics/tone/link", "rubric.toml")
    (tmp_path / ".ai-rulez/rubrics/empty").mkdir()
    project.link(".ai-rulez/rubrics/linked", "tone")
    (rubric,) = project.load().rubrics
    base = ".ai-rulez/rubrics/tone"
    assert (rubric.id, rubric.path) == ("tone", base)
    assert rubric.files == (f"{base}/.dot", f"{base}/golden/a.json", f"{base}/rubric.toml")
    assert rubric.refused == (f"{base}/link",)


def test_configuration_problems_stop_the_load(tmp_path: Path) -> None:
    """A configuration that is wrong says nothing about what is active: no project."""
    project = _base(tmp_path)
    project.write(".ai-rulez/config.toml", b'name = "\xff"\n')
    with pytest.raises(FormatError, match=r"^\.ai-rulez/config\.toml:1: not valid UTF-8$"):
        project.load()
