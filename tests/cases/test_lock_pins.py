"""What is pinned, case by case: authored items, declared items, scripts, local includes (cases E, F, G, D)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.lock.declared import hook_json, role_json, settings_json
from pytest_reqfile.lock.digest import file_leaf, tree_digest
from pytest_reqfile.lock.pins import pin_sources
from pytest_reqfile.lock.scripts import command_scripts
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import ItemPin, Lock
from pytest_reqfile.project.tables import is_git_source
from tests.support.locks import BASE, GO, LockProject
from tests.support.repo import Repo


@pytest.fixture
def project(repo: Repo) -> LockProject:
    return LockProject(repo)


@pytest.mark.case("lock:E1")
def test_one_item_per_file_or_skill(project: LockProject) -> None:
    """Ids, domains and paths of the base project."""
    items = project.base().items()
    assert {label: item.path for label, item in items.items()} == {
        "agent helper": "agents/helper.md",
        "check lint": "checks/lint.md",
        "command ship": "commands/ship.md",
        "context about": "context/about.md",
        "rule tone": "rules/tone.md",
        "rule api/tone": "domains/api/rules/tone.md",
        "skill pack": "skills/pack",
        "skill api/pack": "domains/api/skills/pack",
    }


@pytest.mark.case("lock:E3")
def test_frontmatter_counts(project: LockProject) -> None:
    """Raw bytes are pinned, not what the loader keeps."""
    project.base().write("rules/tone.md", "---\npriority: low\n---\n# Tone\n")
    changed = project.changed_by(lambda: project.write("rules/tone.md", "---\npriority: high\n---\n# Tone\n"))
    assert changed == {"rule tone"}


@pytest.mark.case("lock:E4")
def test_crlf_does_not_count(project: LockProject) -> None:
    """A Windows checkout pins the same."""
    project.base()
    before = project.renew().lock

    def convert() -> None:
        for path, text in BASE.items():
            if isinstance(text, str):
                project.write(path, text.replace("\n", "\r\n"))

    assert project.changed_by(convert) == set()
    assert project.renew().lock.tree == before.tree == tree_of(before)


@pytest.mark.case("lock:E5")
@pytest.mark.parametrize("what", ["asset", "mode", "new"])
def test_resources_count_for_their_skill_alone(project: LockProject, what: str) -> None:
    """A script's mode, an asset's byte, a new reference."""
    project.base()
    acts = {
        "asset": lambda: project.write("skills/pack/assets/x.bin", b"\x01\r\n\x03"),
        "mode": lambda: project.write("skills/pack/scripts/go.sh", GO, mode=0o644),
        "new": lambda: project.write("skills/pack/references/r.md", "r\n"),
    }
    assert project.changed_by(acts[what]) == {"skill pack"}


@pytest.mark.case("lock:E6")
@pytest.mark.case("lock:D17")
def test_owner_and_version(project: LockProject) -> None:
    """As written in the frontmatter, trimmed; a number stays as it is spelled."""
    project.base()
    project.write("skills/pack/SKILL.md", '---\nowner: "  web "\nversion: 1.10\n---\nx\n')
    item = project.items()["skill pack"]
    assert (item.owner, item.version, item.path) == ("web", "1.10", "skills/pack")


@pytest.mark.case("lock:E8")
def test_a_rename_is_two_changes(project: LockProject) -> None:
    """The leaf path is part of the digest, and the id changes."""
    project.base().lock()
    project.folder.joinpath("rules/tone.md").rename(project.folder / "rules/voice.md")
    assert project.lines() == [
        "source removed  rule tone (rules/tone.md)",
        "source added    rule voice (rules/voice.md)",
    ]


@pytest.mark.case("lock:E9")
def test_content_of_others_is_not_itemised(repo: Repo) -> None:
    """An include is pinned as a whole."""
    project = LockProject(repo, '[[includes]]\nname = "sh"\nsource = "shared"\n').base()
    repo.write("shared/rules/x.md", "x")
    assert project.items().keys() & {"rule x", "local-include sh"} == {"local-include sh"}


@pytest.mark.case("lock:E10")
def test_a_repeated_key(project: LockProject) -> None:
    """A command as file and as folder: the second in path order gets a number."""
    project.write("commands/dup.md", "a")
    project.write("commands/dup/COMMAND.md", "b")
    lock = project.lock()
    assert [(item.id, item.path) for item in lock.items] == [
        ("dup", "commands/dup.md"),
        ("dup#2", "commands/dup/COMMAND.md"),
    ]
    assert project.check().in_sync


@pytest.mark.case("lock:E12")
@pytest.mark.case("lock:F10")
def test_scope_skills(repo: Repo) -> None:
    """Skills and nothing else; no outputs either."""
    project = LockProject(
        repo,
        '[lock]\nscope = "skills"\n[[hooks]]\nevent = "Stop"\n[[roles]]\nname = "r"\n[[mcp_servers]]\nname = "a"\n'
        '[permissions]\nallow = ["x"]\n[[includes]]\nname = "sh"\nsource = "shared"\n'
        '[[verifiers]]\nname = "v"\ntype = "file_exists"\npath = "x"\n[verifiers_settings]\nwarn_dead = true\n',
    ).base()
    repo.write("shared/rules/x.md", "x")
    project.write("rubrics/a/x.md", "x")
    lock = project.lock()
    assert {item.kind for item in lock.items} == {"skill"}
    assert (lock.scope, lock.outputs_pinned) == ("skills", False)
    assert project.check().in_sync


@pytest.mark.case("lock:E13")
def test_what_is_not_loaded_is_not_pinned(project: LockProject) -> None:
    """No recursion, one suffix."""
    project.base()
    names = ("rules/deep/a.md", "rules/a.mdc", "rules/A.MD", "rules/a.markdown")
    assert project.changed_by(lambda: [project.write(name, "x") for name in names]) == set()


@pytest.mark.case("lock:E15")
def test_folder_commands(project: LockProject) -> None:
    """The path is the folder only where it has resources."""
    project.write("commands/ship/COMMAND.md", "x")
    assert project.items()["command ship"].path == "commands/ship/COMMAND.md"
    project.write("commands/ship/scripts/a.sh", "x")
    assert project.items()["command ship"].path == "commands/ship"


@pytest.mark.case("lock:E18")
def test_ignored_resources(project: LockProject) -> None:
    """What git ignores is no part of a pin; without git it is."""
    project.base().repo.write(".gitignore", "*.log\n")
    assert project.changed_by(lambda: project.write("skills/pack/assets/x.log", "1")) == set()
    project.in_git = False
    assert project.changed_by(lambda: project.write("skills/pack/assets/x.log", "2")) == {"skill pack"}


def test_folders_no_pin_covers(project: LockProject) -> None:
    """Files of a skill outside of its bundled folders are neither used nor pinned; a write says so."""
    project.base().write("skills/pack/docs/x.md", "x")
    assert project.renew().warnings == (
        ".ai-rulez/skills/pack/docs: files in it are neither used nor pinned "
        "(expected one of: references, scripts, assets)",
    )
    assert project.changed_by(lambda: project.write("skills/pack/docs/x.md", "y")) == set()


@pytest.mark.case("lock:E20")
@pytest.mark.case("lock:N4")
def test_a_file_that_went_away_after_loading(project: LockProject) -> None:
    """Its loaded text stands for it; a SKILL.md that is a folder is an error."""
    project.base()
    digest = project.items()["skill pack"].digest
    loaded = project.load()
    (project.folder / "skills/pack/SKILL.md").unlink()
    items = pin_sources(loaded, project.hasher, None, "all").items
    assert next(item for item in items if item.key == ("skill", "", "pack")).digest == digest
    project.write("skills/odd/SKILL.md/x", "x")
    with pytest.raises(FormatError, match=r"skills/odd/SKILL\.md: not a regular file"):
        project.renew()


@pytest.mark.case("lock:E21")
def test_a_link_inside_the_repository(project: LockProject) -> None:
    """Name of the link, bytes of the target."""
    project.repo.write("docs/real.md", "# Real\n")
    project.repo.symlink(".ai-rulez/rules/link.md", "../../docs/real.md")
    item = project.items()["rule link"]
    assert (item.path, item.digest) == ("rules/link.md", tree_digest("rule", [file_leaf("link.md", b"# Real\n")]))


@pytest.mark.case("lock:E22")
def test_a_link_out_of_the_repository(project: LockProject) -> None:
    """Refused: not written, and a check stays red."""
    project.base().lock()
    project.repo.symlink(".ai-rulez/rules/link.md", "/etc/hosts")
    with pytest.raises(FormatError, match=r"rules/link\.md: .*symbolic link that leads out"):
        project.renew()
    assert len([line for line in project.lines() if line.startswith("lock: .ai-rulez/rules/link.md")]) == 1


@pytest.mark.case("lock:D20")
def test_malformed_frontmatter(project: LockProject) -> None:
    """No owner or version; a write is refused, the digest does not depend on it."""
    project.base().write("rules/tone.md", "---\nowner: [\n---\nx\n")
    with pytest.raises(FormatError, match="the frontmatter cannot be read"):
        project.renew()
    digest = tree_digest("rule", [file_leaf("tone.md", b"---\nowner: [\n---\nx\n")])
    pin = ItemPin(kind="rule", id="tone", path="rules/tone.md", digest=digest)
    project.save(Lock(items=(pin,), tree="x"))
    assert not any(line.startswith("source changed  rule tone") for line in project.lines())


@pytest.mark.case("lock:F1")
def test_hook_ordinals(repo: Repo) -> None:
    """Counted within one event and matcher."""
    group = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\n[[hooks.hooks]]\ncommand = "{}"\n'
    project = LockProject(repo, group.format("a") + group.format("b") + '[[hooks]]\nevent = "Stop"\n')
    assert set(project.items()) == {"hook PreToolUse:Bash:0", "hook PreToolUse:Bash:1", "hook Stop:*:0"}


@pytest.mark.case("lock:F3")
@pytest.mark.case("lock:F14")
@pytest.mark.case("lock:F19")
def test_roles_and_settings(repo: Repo) -> None:
    """Each table that says something; an empty one only where its presence counts."""
    project = LockProject(
        repo, '[[roles]]\nname = "ops"\n[permissions]\nallow = ["x"]\n[claude.settings.managed.env]\nA = "1"\n'
    )
    assert set(project.items()) == {"role ops", "settings permissions", "settings claude-managed"}
    project.config("[permissions]\n[claude.settings.managed]\n[verifiers_settings]\n")
    items = project.items()
    assert set(items) == {"settings verifiers-settings"}
    expected = tree_digest("settings", [file_leaf("verifiers-settings.json", b"{}")])
    assert items["settings verifiers-settings"].digest == expected


SCRIPT_HOOK = '[[hooks]]\nevent = "Stop"\n[[hooks.hooks]]\nscript = "{}"\n'


@pytest.mark.case("lock:F4")
@pytest.mark.case("lock:F6")
def test_hook_scripts(repo: Repo) -> None:
    """A script's text, mode and appearance count for its hook; a missing one is no problem."""
    project = LockProject(repo, SCRIPT_HOOK.format("./tools/../tools/a.sh") + '[[hooks]]\nevent = "Start"\n')
    assert project.renew().warnings == ()
    hook = {"hook Stop:*:0"}
    assert project.changed_by(lambda: repo.write("tools/a.sh", "a")) == hook
    assert project.changed_by(lambda: repo.write("tools/a.sh", "b")) == hook
    assert project.changed_by(lambda: repo.write("tools/a.sh", "b", mode=0o755)) == hook


@pytest.mark.case("lock:F5")
@pytest.mark.parametrize(("script", "leaf"), [("../x.sh", "outside/x.sh"), ("/opt/x y:z.sh", "outside/opt_x y_z.sh")])
def test_hook_scripts_outside(repo: Repo, script: str, leaf: str) -> None:
    """Pinned by name, never read; one problem that keeps every check red."""
    project = LockProject(repo, SCRIPT_HOOK.format(script))
    lock = project.lock()
    hook = file_leaf("hook.json", f'{{"event":"Stop","hooks":[{{"script":"{script}"}}]}}'.encode())
    assert lock.items[0].digest == tree_digest("hook", [hook, file_leaf(leaf, script.encode())])
    assert project.lines() == [
        f'lock: hook Stop:*:0 script "{script}" is outside the project, so its content cannot be pinned; '
        "move it into the project"
    ]


@pytest.mark.case("lock:F9")
@pytest.mark.case("lock:F16")
def test_json_leaves(repo: Repo) -> None:
    """Struct order, nothing that is empty, HTML escapes."""
    project = LockProject(
        repo,
        """[[hooks]]
matcher = "Bash"
event = "PreToolUse"
hooks = [{ command = "a && b > c", timeout = 0, async = false, args = [] }]
[[roles]]
domains = ["backend"]
name = "dev"
pin = false
skills = {}
match = { groups = ["x"] }
[permissions]
allow = ["Bash(git *)"]
deny = []
[[mcp_servers]]
name = "b"
enabled = false
[[mcp_servers]]
command = "npx"
name = "a"
env = { "Z" = "${TOKEN}", "A" = "1" }
""",
    )
    config = project.load().config
    assert hook_json(config.hooks[0].declared.node) == (
        '{"event":"PreToolUse","matcher":"Bash","hooks":[{"command":"a \\u0026\\u0026 b \\u003e c"}]}'
    )
    assert role_json(config.roles[0].declared.node) == (
        '{"name":"dev","domains":["backend"],"skills":{},"match":{"groups":["x"]}}'
    )
    assert dict(settings_json(config)) == {
        "permissions": '{"allow":["Bash(git *)"]}',
        "mcp-servers": '[{"name":"a","command":"npx","env":{"A":"1","Z":"${TOKEN}"}},{"name":"b","enabled":false}]',
    }


@pytest.mark.case("lock:F10")
@pytest.mark.parametrize(
    ("old", "new"), [('"-y"', '"-n"'), ("npx", "node"), ("enabled = false", "enabled = true"), ('A = "1"', 'A = "2"')]
)
def test_servers(repo: Repo, old: str, new: str) -> None:
    """An argument, the program, its environment, whether it is on: code that runs on developers' machines."""
    text = '[[mcp_servers]]\nname = "a"\ncommand = "npx"\nargs = ["-y"]\nenabled = false\nenv = { A = "1" }\n'
    project = LockProject(repo, text).base()
    project.lock()
    project.config(text.replace(old, new))
    assert project.lines() == ["source changed  settings mcp-servers"]


@pytest.mark.case("lock:F12")
def test_environment_does_not_count(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """``${TOKEN}`` is pinned unresolved."""
    project = LockProject(repo, '[[mcp_servers]]\nname = "a"\nenv = { T = "${TOKEN}" }\n')
    assert project.changed_by(lambda: monkeypatch.setenv("TOKEN", "secret")) == set()


TWO_VERIFIERS = '[[verifiers]]\nid = "one"\nrule = "r"\n[[verifiers]]\nrule = "r"\n'


@pytest.mark.case("lock:F17")
def test_verifiers(repo: Repo) -> None:
    """Inline by name, of files by id or by number."""
    project = LockProject(repo, '[[verifiers]]\nname = "no-todo"\ntype = "file_exists"\npath = "x"\n')
    project.write("verifiers/style.toml", TWO_VERIFIERS)
    assert {(item.id, item.path) for item in project.items().values()} == {
        ("no-todo", ""),
        ("one", "verifiers/style.toml"),
        ("verifiers/style.toml#2", "verifiers/style.toml"),
    }


@pytest.mark.case("lock:F18")
@pytest.mark.parametrize(
    ("old", "new"), [('"error"', '"info"'), ('["a"]', '["a", "b"]'), ("'x+'", "'x*'"), ("severity", "# \nseverity")]
)
def test_weakening_a_verifier_shows(project: LockProject, old: str, new: str) -> None:
    """Severity, exclusions, pattern: only that one changes; comments and layout do not count."""
    text = (
        '[[verifiers]]\nid = "v"\nseverity = "error"\nexclude = ["a"]\n[verifiers.require.forbid]\nregex = \'x+\'\n'
        '[[verifiers]]\nid = "other"\nrule = "r"\n'
    )
    project.write("verifiers/v.toml", text)
    project.lock()
    project.write("verifiers/v.toml", text.replace(old, new, 1))
    expected = [] if new.startswith("#") else ["source changed  verifier v (verifiers/v.toml)"]
    assert project.lines() == expected


@pytest.mark.case("lock:F20")
@pytest.mark.parametrize("what", ["syntax", "link"])
def test_verifier_files_that_cannot_be_pinned(project: LockProject, what: str) -> None:
    """One problem, the others are pinned."""
    project.write("verifiers/a.toml", '[[verifiers]]\nid = "a"\n')
    if what == "syntax":
        project.write("verifiers/b.toml", "[[verifiers")
    else:
        project.repo.symlink(".ai-rulez/verifiers/b.toml", "a.toml")
    reason = "valid TOML" if what == "syntax" else "a regular file"
    renewed = project.renew()
    assert [item.id for item in renewed.lock.items] == ["a"]
    assert renewed.warnings == (
        "cannot pin part of the configuration; `reqfile lock --check` will fail until it is fixed",
        f"  verifier file verifiers/b.toml is not {reason}, so it cannot be pinned",
    )


@pytest.mark.case("lock:F22")
@pytest.mark.case("lock:F24")
def test_rubrics(project: LockProject) -> None:
    """Every file below, dot files too; a link is a problem and the rest is pinned."""
    for name in ("rubric.toml", "system.md", "golden/a.json", "calibration.json", ".hidden"):
        project.write(f"rubrics/tone/{name}", "x")
    item = project.items()["rubric tone"]
    assert item.path == "rubrics/tone"
    assert project.changed_by(lambda: project.write("rubrics/tone/golden/a.json", "y")) == {"rubric tone"}
    project.repo.symlink(".ai-rulez/rubrics/tone/link.md", "system.md")
    project.repo.symlink(".ai-rulez/rubrics/linked", "tone")
    renewed = project.renew()
    assert renewed.warnings[1:] == (
        "  rubric file rubrics/tone/link.md is not a regular file, so it cannot be pinned",
        ".ai-rulez/rubrics/linked: a symbolic link: it is no rubric, and not pinned",
    )
    assert {item.id for item in renewed.lock.items} == {"tone"}


@pytest.mark.case("lock:F26")
def test_nan_cannot_be_pinned(project: LockProject) -> None:
    """The lock is refused as a whole."""
    project.write("verifiers/a.toml", '[[verifiers]]\nid = "a"\nmin = nan\n')
    with pytest.raises(FormatError, match="json: unsupported value: nan"):
        project.renew()


AGENT = "---\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: {}\n---\nx\n"


@pytest.mark.case("lock:G1")
@pytest.mark.case("lock:G3")
@pytest.mark.case("lock:G4")
@pytest.mark.parametrize(
    "command",
    [
        "./tools/guard.sh --x",
        "'\"$CLAUDE_PROJECT_DIR/tools/guard.sh\"'",
        "${CLAUDE_PROJECT_DIR}/tools/guard.sh",
        "$CODEX_PROJECT_DIR/tools/guard.sh",
    ],
)
def test_frontmatter_hooks(project: LockProject, command: str) -> None:
    """The script's appearance and text change the agent's digest."""
    project.write("agents/a.md", AGENT.format(command))
    assert project.changed_by(lambda: project.repo.write("tools/guard.sh", "a")) == {"agent a"}
    assert project.changed_by(lambda: project.repo.write("tools/guard.sh", "b")) == {"agent a"}
    leaves = [
        file_leaf("a.md", AGENT.format(command).encode()),
        file_leaf("hook-script/tools/guard.sh", b"b"),
    ]
    assert project.items()["agent a"].digest == tree_digest("agent", leaves)


@pytest.mark.case("lock:G5")
@pytest.mark.parametrize("command", ["../guard.sh", "./../guard.sh"])
def test_frontmatter_hooks_outside(project: LockProject, command: str) -> None:
    """A problem, no error."""
    project.write("agents/a.md", AGENT.format(command))
    assert project.renew().warnings[1:] == (
        '  agent a frontmatter hook script "../guard.sh" is outside the project, so its content cannot be pinned; '
        "move it into the project",
    )


@pytest.mark.case("lock:G6")
def test_scripts_of_a_command() -> None:
    """Words between separators of the shell."""
    assert command_scripts("cd x && ./a.sh;./b.sh | tee ./c") == ["a.sh", "b.sh", "c"]


@pytest.mark.case("lock:G8")
@pytest.mark.parametrize("hooks", ["a string", "{Stop: 1}", "{Stop: [{hooks: x}]}", "[1]", "{Stop: [{hooks: [1]}]}"])
def test_hooks_of_another_shape(project: LockProject, hooks: str) -> None:
    """No scripts, the plain digest."""
    text = f"---\nhooks: {hooks}\n---\n./x.sh\n"
    project.write("agents/a.md", text)
    assert project.items()["agent a"].digest == tree_digest("agent", [file_leaf("a.md", text.encode())])


def test_rules_have_no_hooks(project: LockProject) -> None:
    """Only agents, skills and commands run them."""
    text = AGENT.format("./x.sh")
    project.write("rules/a.md", text)
    assert project.items()["rule a"].digest == tree_digest("rule", [file_leaf("a.md", text.encode())])


def _including(repo: Repo, more: str = "") -> LockProject:
    return LockProject(repo, f'[[includes]]\nname = "sh"\nsource = "shared"\n{more}')


@pytest.mark.case("lock:G10")
@pytest.mark.case("lock:G11")
@pytest.mark.parametrize("inner", ["", ".ai-rulez/"])
def test_local_includes(repo: Repo, inner: str) -> None:
    """Content folders count, what is beside them does not."""
    project = _including(repo)
    repo.write(f"shared/{inner}rules/a.md", "# A\n")
    repo.write(f"shared/{inner}hooks/x.sh", "no content\n")
    item = project.items()["local-include sh"]
    assert (item.path, item.digest) == ("shared", tree_digest("include", [file_leaf("rules/a.md", b"# A\n")]))
    changed = project.changed_by(lambda: repo.write(f"shared/{inner}rules/a.md", "# B\n"))
    assert changed == {"local-include sh"}
    assert project.changed_by(lambda: repo.write(f"shared/{inner}README.md", "r")) == set()


@pytest.mark.case("lock:G12")
@pytest.mark.parametrize("what", ["missing", "file"])
def test_local_includes_that_are_not_there(repo: Repo, what: str) -> None:
    """No item, one problem."""
    project = _including(repo)
    if what == "file":
        repo.write("shared", "x")
    reason = "not found" if what == "missing" else "is not a directory"
    renewed = project.renew()
    assert renewed.lock.items == ()
    assert renewed.warnings[1:] == (f'  local include sh cannot be pinned: path "shared" {reason}',)


@pytest.mark.case("lock:G14")
@pytest.mark.case("lock:G16")
@pytest.mark.parametrize(
    ("source", "git"),
    [
        *((source, True) for source in ("https://h/r", "ssh://git@h/r", "git@h:o/r")),
        *((source, False) for source in ("C:\\shared", "../shared", "./x:y", "dir/a@b:c")),
    ],
)
def test_what_is_local(source: str, git: bool) -> None:
    """By scheme, or ``user@host:path``."""
    assert is_git_source(source) is git


@pytest.mark.case("lock:G18")
def test_okf_includes(repo: Repo) -> None:
    """The whole directory, under a kind of its own."""
    project = _including(repo, 'format = "okf"\n')
    repo.write("shared/README.md", "r\n")
    leaves = [file_leaf("README.md", b"r\n")]
    assert project.items()["local-include sh"].digest == tree_digest("okf-include", leaves)


@pytest.mark.case("lock:G19")
def test_local_overrides_are_not_pinned(repo: Repo) -> None:
    """A development shortcut; whoever writes a lock or compares with one is told."""
    project = _including(repo, 'local_override = "shared"\n')
    repo.write("shared/rules/a.md", "# A\n")
    assert project.items() == {}
    note = 'include sh is read from its local_override "shared", which is not pinned'
    assert repo.run("lock").err == f"warning: {note}\n"
    check = repo.run("lock", "--check")
    assert (check.code, check.out.splitlines()[1]) == (0, f"  note: {note}")


def test_skills_at_a_path_are_not_pinned(repo: Repo) -> None:
    """ai-rulez pins those of git repositories only; a change of others would be unseen, so that is told."""
    tables = (("installed_skills", "source", "ship"), ("skill_sources", "url", "acme"))
    text = "".join(f'[[{table}]]\nname = "{name}"\n{key} = "vendor"\n' for table, key, name in tables)
    project = LockProject(repo, text)
    repo.write("vendor/skills/ship/SKILL.md", "# Ship\n")
    assert project.items() == {}
    told = 'is read from the path "vendor", which is not pinned: only git repositories are'
    assert repo.run("lock").err.splitlines() == [f"warning: skill ship {told}", f"warning: source acme {told}"]
    check = repo.run("lock", "--check")
    assert (check.code, check.out.splitlines()[1:]) == (
        0,
        [f"  note: skill ship {told}", f"  note: source acme {told}"],
    )


def test_an_include_outside_of_the_project(repo: Repo, tmp_path: Path) -> None:
    """Pinned wherever it lies."""
    (tmp_path / "other/rules").mkdir(parents=True)
    (tmp_path / "other/rules/a.md").write_text("# A\n")
    source = os.path.relpath(tmp_path / "other", repo.root)
    project = LockProject(repo, f'[[includes]]\nname = "o"\nsource = "{source}"\n')
    item = project.items()["local-include o"]
    assert (item.path, item.digest) == (source, tree_digest("include", [file_leaf("rules/a.md", b"# A\n")]))


@pytest.mark.case("lock:N1")
def test_vector_5_as_a_project(project: LockProject) -> None:
    """The documented digest of a skill is the one the lock pins."""
    project.write("skills/deploy/SKILL.md", "---\nname: deploy\n---\nDeploy.\n")
    project.write("skills/deploy/scripts/run.sh", "#!/bin/sh\necho hi\n", mode=0o755)
    project.write("skills/deploy/assets/logo.bin", b"\x00\x01\r\n\x02")
    assert project.items()["skill deploy"].digest == (
        "sha256:262d721306783b4c3b554a1345253c266f6f991733dad6a347e1b55d5e57ac05"
    )


@pytest.mark.case("lock:N3")
def test_a_skill_without_its_file(project: LockProject) -> None:
    """A folder without SKILL.md is no skill, so nothing of it is pinned; its pin is missed."""
    project.base().lock()
    (project.folder / "skills/pack/SKILL.md").unlink()
    assert project.lines() == ["source removed  skill pack (skills/pack)"]


def test_undecodable_names_are_refused(project: LockProject) -> None:
    """A lock is UTF-8; a name that is not cannot be in it."""
    try:
        project.write(os.fsdecode(b"rules/\xff.md"), "x")
    except OSError:
        pytest.skip("this file system wants UTF-8 names")
    with pytest.raises((FormatError, FileError), match="not valid UTF-8"):
        project.renew()
