"""Sentences of seed 000 about verifiers that no case of cases/verifiers.md shows."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError
from pytest_reqfile.verifiers.changes import Scope
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.values import Target, TargetKind
from tests.support import Repo
from tests.support.processes import is_alive, pid_in, started, wait_until
from tests.support.verifiers import Workbench, example, flat, head, member, predicate

MAIN = RunOptions(scope=Scope(kind="since", revision="main"))
STAGED = RunOptions(scope=Scope(kind="staged"))


@pytest.fixture
def bench(repo: Repo) -> Workbench:
    return Workbench(repo.root, repo.environment)


def _disk(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with what it holds and when it was written, git's own included."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def _everything(bench: Workbench, repo: Repo) -> None:
    """A flat verifier of every type and a spec of every predicate, on a branch with a change."""
    bench.config(
        flat("exists", "file_exists", path="a.ddl")
        + flat("absent", "file_absent", path="a.ddl")
        + flat("count", "glob_count", glob="*.ddl", max=0)
        + flat("regex", "regex", glob="*.ddl", pattern="x")
        + flat("forbid", "forbid", glob="*.ddl", pattern="a")
        + flat("key", "key_equals", path="p.json", key="a", equals="2")
        + flat("sync", "generated_in_sync")
    )
    bench.spec(
        head("r", when="*.ddl")
        + predicate("regex", regex="x")
        + head("d", when="*.ddl")
        + '[verifiers.require.forbid]\nregex = "a"\nin = "diff-added"\n'
        + head("e")
        + predicate("not.file_exists", path="a.ddl")
        + head("p", when="*.ddl")
        + predicate("paired", for_each="*.ddl", requires_changed="{stem}.h")
        + head("g")
        + predicate("glob_count", files="*", max=1)
        + head("c", when="*.ddl")
        + predicate("command", argv=["touch", "started"])
        + head("l", when="*.ddl")
        + predicate("llm", checklist=["a"])
        + head("t", when="*.ddl")
        + member("all", "regex", regex="a")
        + member("all", "forbid", regex="x")
        + example("e", "pass", {"x.ddl": "a"})
    )
    bench.write_all({"a.ddl": "a\n", "p.json": '{"a": 1}'})
    repo.commit()
    repo.branch("topic")
    bench.write("a.ddl", "a\nanother\n")


@pytest.mark.parametrize(
    "command", [("run",), ("run", "--since", "main"), ("run", "--staged"), ("list",), ("explain", "t"), ("test",)]
)
def test_a_verifier_never_writes(bench: Workbench, repo: Repo, command: tuple[str, ...]) -> None:
    """Neither in the project nor into its repository; and without a flag no program is started."""
    _everything(bench, repo)
    before = _disk(repo.root)
    done = repo.run("verifiers", *command)
    assert (done.code, done.err) == (2 if command[0] == "run" else 0, "")
    assert _disk(repo.root) == before


def test_the_same_input_gives_the_same_result(bench: Workbench, repo: Repo) -> None:
    """Byte for byte, whoever asks and whatever the user's variables and the time are."""
    _everything(bench, repo)
    first = repo.run("verifiers", "run", "--format", "json")
    others = {"LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "COLUMNS": "20"}
    assert repo.run("verifiers", "run", "--format", "json", env=others) == first


def test_no_other_flag_allows_a_command(bench: Workbench, repo: Repo) -> None:
    """Neither permission for models, nor a generator, nor trust, nor asking for all files."""
    bench.config("[verifiers_settings]\nmax_timeout_s = 5\n")
    bench.spec(head("c", when="*.ddl") + predicate("command", argv=["touch", "started"]))
    bench.write("a.ddl")
    flags = ("--allow-llm", "--gate-llm", "--all", "--strict", "--strict-applicability", "--fail-on", "none")
    done = repo.run("verifiers", "run", *flags)
    assert (done.code, "AR9H3" in done.out) == (1, True)
    assert repo.run("verifiers", "test").code == 0
    assert not repo.path("started").exists()


def test_what_a_command_sees_of_the_environment(bench: Workbench, repo: Repo) -> None:
    """The names of the seed, those of ``command_env``, and the mark by which what it starts is found and ended."""
    bench.config('[verifiers_settings]\ncommand_env = ["MY_FLAG", "NOT_SET"]\n')
    bench.spec(head("c", when="*.ddl") + predicate("command", argv=["sh", "-c", "env > ../seen; pwd > ../where; cat"]))
    bench.write("sub/a.ddl")
    given = {
        "USER": "me",
        "TMPDIR": "/tmp",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "LC_TIME": "C",
        "CI": "1",
        "MY_FLAG": "1",
        "SECRET_TOKEN": "t",
        "OTHER": "o",
        "HTTPS_PROXY": "p",
        "TERM": "xterm",
        "AI_RULEZ_X": "1",
    }
    done = repo.run("verifiers", "run", "--allow-exec", cwd="sub", env=given, stdin="not for the command")
    assert done.code == 0, done.out + done.err
    seen = dict(line.split("=", 1) for line in (repo.root.parent / "seen").read_text().splitlines())
    shells_own = {"PWD", "SHLVL", "_", "OLDPWD"}
    allowed = {"PATH", "HOME", "USER", "TMPDIR", "TZ", "LANG", "CI", "NO_COLOR", "TERM", "MY_FLAG", "REQFILE_RUN"}
    locale = {name for name in seen if name.startswith("LC_")}
    assert set(seen) - shells_own - locale == allowed
    assert "LC_TIME" in locale
    assert (seen["TERM"], seen["NO_COLOR"], seen["MY_FLAG"]) == ("dumb", "1", "1")
    assert (repo.root.parent / "where").read_text() == f"{repo.root}\n"


class TestGlobs:
    """Seed 000 "Globs"."""

    @pytest.mark.parametrize(
        ("glob", "found"),
        [
            ("*.go", "a.go lib/b.go lib/deep/c.go new.go"),
            ("lib/*.go", "lib/b.go"),
            ("lib/?.go", "lib/b.go"),
            ("lib?b.go", ""),
            ("lib/**/*.go", "lib/b.go lib/deep/c.go"),
            ("lib/", "lib/b.go lib/deep/c.go"),
            ("**/deep/*.go", "lib/deep/c.go"),
            ("{a,new}.go", "a.go new.go"),
        ],
    )
    @pytest.mark.parametrize("form", ["flat", "spec"])
    def test_files(self, bench: Workbench, repo: Repo, form: str, glob: str, found: str) -> None:
        """The same for both forms: untracked files count, links and the four folders do not."""
        for path in ("a.go", "lib/b.go", "lib/deep/c.go", *(f"{name}/x.go" for name in SKIPPED), "lib/.venv/x.go"):
            bench.write(path, "XXX\n")
        repo.symlink("link.go", "a.go")
        repo.symlink("linked", "lib")
        repo.commit()
        bench.write("new.go", "XXX\n")
        if form == "flat":
            bench.config(flat("v", "forbid", glob=glob, pattern="XXX"))
        else:
            bench.spec(head("v", when=glob) + predicate("forbid", regex="XXX"))
        assert [finding.file for finding in bench.result().findings] == found.split()

    @pytest.mark.parametrize("exclude", [["lib/"], ["*.go"], ["lib/**"], ["x", "{lib,y}/*.go"]])
    def test_exclude(self, bench: Workbench, exclude: list[str]) -> None:
        """Drops more, in both forms and for counting."""
        bench.write("lib/b.go", "XXX\n")
        bench.config(
            flat("f", "forbid", glob="lib/*", exclude=exclude, pattern="XXX")
            + flat("c", "glob_count", glob="lib/*", exclude=exclude, max=0)
        )
        bench.spec(
            head("s", when="lib/*", exclude=exclude)
            + predicate("forbid", regex="XXX")
            + head("g")
            + predicate("glob_count", files="lib/*", exclude=exclude, max=0)
        )
        assert [result.status for result in bench.results()] == ["pass", "pass", "not_applicable", "pass"]


SKIPPED = ("node_modules", ".venv", "__pycache__")


@pytest.mark.parametrize(("kind", "status"), [("file_exists", "fail"), ("file_absent", "pass")])
def test_a_dangling_link_does_not_exist(bench: Workbench, repo: Repo, kind: str, status: str) -> None:
    """For either probe."""
    repo.symlink("dead", "nowhere")
    bench.config(flat("v", kind, path="dead"))
    assert bench.result().status == status


def test_a_failing_info_verifier_is_reported_only(bench: Workbench, repo: Repo) -> None:
    """It fails no run that does not ask for that severity."""
    bench.config(flat("i", "file_exists", path="gone", severity="info"))
    codes = []
    for flags in ((), ("--strict",), ("--fail-on", "info")):
        done = repo.run("verifiers", "run", *flags)
        assert "fail    info      i     gone does not exist" in done.out
        codes.append(done.code)
    assert codes == [0, 0, 2]


@pytest.mark.parametrize("kind", ["rule", "skill", "agent", "command"])
@pytest.mark.parametrize("domain", ["", "web/"])
def test_a_verifier_enforces_any_kind(bench: Workbench, kind: TargetKind, domain: str) -> None:
    """By ``id``, or by ``domain/id``; and each only where there is an item of that kind."""
    place = f".ai-rulez/{'domains/web/' if domain else ''}"
    files = {"rule": "rules/x.md", "skill": "skills/x/SKILL.md", "agent": "agents/x.md", "command": "commands/x.md"}
    bench.write(f"{place}{files[kind]}", "---\nname: other\n---\n# Heading\n")
    bench.spec(
        f'[[verifiers]]\nid = "v"\n{kind} = "{domain}x"\nanchor = "# Heading"\n' + predicate("file_exists", path="gone")
    )
    result = bench.result()
    assert (result.status, result.target) == (
        "fail",
        Target(kind=kind, id=f"{domain}x", path=f"{place}{files[kind]}", line=4),
    )
    other = "agent" if kind == "rule" else "rule"
    bench.spec(f'[[verifiers]]\nid = "v"\n{other} = "{domain}x"\n' + predicate("file_exists", path="gone"))
    assert bench.result().message.startswith(f'the {other} "{domain}x" does not exist')


@pytest.mark.parametrize(
    "text",
    [
        predicate("regex", regex="x"),
        '[verifiers.require.forbid]\nregex = "x"\nin = "diff-added"\n',
        predicate("paired", for_each="*.c", requires_exists="{stem}.h"),
        predicate("file_exists", path="{stem}.h"),
        predicate("not.file_exists", path="{dir}/x"),
    ],
)
def test_what_looks_at_scoped_files_needs_a_scope(bench: Workbench, text: str) -> None:
    """Every predicate of the seed's list, wherever it stands in the tree."""
    bench.spec(head("x") + text)
    (invalid,) = bench.declarations().invalid
    assert invalid.message == "this predicate checks the changed files, so the verifier needs when_changed"


def test_an_invalid_declaration_is_never_skipped(bench: Workbench, repo: Repo) -> None:
    """AR9H2 is exit 1 when nothing failed, and stands beside a failure, which is exit 2."""
    bench.spec('[[verifiers]]\nid = "bad"\nrule = "ghost"\n' + predicate("file_exists", path="x"))
    row = 'error   error     bad   the rule "ghost" does not exist (a verifier must name the item it enforces)'
    done = repo.run("verifiers", "run")
    assert (done.code, row in done.out, "1 could not run" in done.out) == (1, True, True)
    (result,) = json.loads(repo.run("verifiers", "run", "--format", "json").out)["results"]
    assert (result["status"], result["code"]) == ("error", "AR9H2")
    bench.config(flat("f", "file_exists", path="gone"))
    done = repo.run("verifiers", "run")
    assert (done.code, row in done.out, "1 failed, 1 could not run" in done.out) == (2, True, True)


class TestChangedOnly:
    """Seed 000 "Changed-only runs" and "Full tree"."""

    def test_every_state_of_a_file_counts(self, bench: Workbench, repo: Repo) -> None:
        """Committed, staged, unstaged, untracked and renamed; a deleted one is not looked at any more."""
        bench.write_all({f"{name}.ddl": f"{name}\n" * 9 for name in ("old", "staged", "unstaged", "moved", "gone")})
        bench.spec(head("x", when="*.ddl") + predicate("regex", regex="-- undo"))
        repo.commit()
        repo.branch("topic")
        bench.write("committed.ddl", "1\n")
        repo.commit()
        bench.write_all({"staged.ddl": "1\n", "unstaged.ddl": "1\n", "untracked.ddl": "1\n"})
        repo.git("add", "staged.ddl")
        repo.git("mv", "moved.ddl", "new.ddl")
        repo.delete("gone.ddl")
        found = [str(finding.file).removesuffix(".ddl") for finding in bench.result(MAIN).findings]
        assert found == ["committed", "new", "staged", "unstaged", "untracked"]

    def test_a_moved_file_is_not_new(self, bench: Workbench, repo: Repo) -> None:
        """A ratchet does not see old lines again because their file moved; a line that is new in it it sees."""
        bench.spec(head("n", when="*.py") + '[verifiers.require.forbid]\nregex = "XXX"\nin = "diff-added"\n')
        bench.write("old.py", "# XXX\n" + "x = 1\n" * 9)
        repo.commit()
        repo.branch("topic")
        repo.git("mv", "old.py", "new.py")
        assert bench.result(MAIN).status == "pass"
        bench.write("new.py", "# XXX\n" + "x = 1\n" * 9 + "# XXX new\n")
        assert [(f.file, f.line) for f in bench.result(MAIN).findings] == [("new.py", 11)]

    def test_staged_files_are_read_from_the_working_tree(self, bench: Workbench, repo: Repo) -> None:
        """What is staged says which files; what they hold now is what counts."""
        bench.spec(head("x", when="*.ddl") + predicate("regex", regex="-- undo"))
        repo.commit()
        bench.write("a.ddl", "make\n")
        repo.git("add", "a.ddl")
        assert bench.result(STAGED).status == "fail"
        bench.write("a.ddl", "-- undo\n")
        assert bench.result(STAGED).status == "pass"

    def test_predicates_see_the_whole_tree(self, bench: Workbench, repo: Repo) -> None:
        """``requires_exists``, ``any-file``, ``glob_count`` and ``file_exists`` find what did not change."""
        bench.spec(
            head("p", when="*.c")
            + predicate("paired", for_each="{rel}.c", requires_exists="{rel}.h")
            + head("a", when="*.c")
            + '[verifiers.require.regex]\nregex = "unchanged"\nin = "any-file"\nfiles = "*.h"\n'
            + head("g", when="*.c")
            + predicate("glob_count", files="*.h", min=1)
            + head("e", when="*.c")
            + predicate("file_exists", path="{stem}.h")
            + head("c", when="*.c")
            + predicate("paired", for_each="{rel}.c", requires_changed="{rel}.h")
        )
        bench.write_all({"a.c": "1\n", "a.h": "unchanged\n"})
        repo.commit()
        repo.branch("topic")
        bench.write("a.c", "2\n")
        found = {result.name: result.status for result in bench.results(MAIN)}
        assert found == {"p": "pass", "a": "pass", "g": "pass", "e": "pass", "c": "fail"}

    @pytest.mark.parametrize(
        "flags", [("--since", "main", "--staged"), ("--since", "main", "--all"), ("--staged", "--all")]
    )
    def test_one_scope(self, bench: Workbench, repo: Repo, flags: tuple[str, ...]) -> None:
        """The three exclude each other."""
        done = repo.run("verifiers", "run", *flags)
        assert (done.code, done.err.splitlines()[0]) == (1, "error: use only one of --since, --staged and --all")

    def test_the_network_is_never_used(self, bench: Workbench, repo: Repo, tmp_path: Path) -> None:
        """A partial clone that lacks the base's content is an error with its remedy: nothing is fetched in silence."""
        bench.spec(head("x", when="*.ddl") + '[verifiers.require.forbid]\nregex = "b"\nin = "diff-added"\n')
        bench.write("a.ddl", "a\n")
        repo.commit()
        bench.write("a.ddl", "b\n")
        repo.commit()
        repo.git("config", "uploadpack.allowFilter", "true")
        clone = tmp_path / "clone"
        repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.root}", str(clone))
        done = repo.run("verifiers", "run", "--since", "HEAD~1", cwd=clone)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: resolve changed files: git ")
        remedy = "git fetch --refetch --no-filter"
        assert done.err.endswith(f"; this clone is partial, fetch what it lacks first: {remedy}\n")
        with pytest.raises(GitError, match=remedy):
            Workbench(clone, repo.environment).results(RunOptions(scope=Scope(kind="since", revision="HEAD~1")))
        repo.execute(*remedy.split(), cwd=clone)
        done = repo.run("verifiers", "run", "--since", "HEAD~1", cwd=clone)
        assert (done.code, "a.ddl:1  forbidden pattern `b` matched" in done.out) == (0, True)


def test_the_published_report(bench: Workbench, repo: Repo) -> None:
    """Seed 000 "Output and failure mapping", to the letter."""
    bench.write(".ai-rulez/rules/database.md", "# Database\n\n## Migrations\n")
    bench.write(".ai-rulez/rules/api-conventions.md", "# API\n")
    bench.spec(
        """[[verifiers]]
id = "migrations-have-down"
rule = "database"
anchor = "## Migrations"
severity = "error"
message = "Every migration needs a '-- down' section."
fix = "Add a '-- down' section that reverses the change."
when_changed = ["db/migrations/*.sql"]
exclude = ["db/migrations/legacy/**"]

[verifiers.require.regex]
regex = "(?m)^-- down\\\\b"
in = "same-file"

[[verifiers.examples]]
name = "with down passes"
files = { "db/migrations/0001.sql" = "CREATE TABLE t();\\n-- down\\nDROP TABLE t;\\n" }
changed = ["db/migrations/0001.sql"]
expect = "pass"

[[verifiers]]
id = "new-endpoints-have-tests"
rule = "api-conventions"
severity = "error"
when_changed = ["src/api/*.py"]

[verifiers.require.paired]
for_each = "src/api/{rel}.py"
requires_changed = "tests/api/test_{stem}.py"
"""
    )
    repo.commit()
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    bench.write_all({"db/migrations/0042.sql": "CREATE TABLE t();\n", "src/api/orders.py": "x = 1\n"})
    done = repo.run("verifiers", "run", "--since", "origin/main")
    assert done.code == 2
    assert (
        done.out
        == """\
STATUS  SEVERITY  NAME                      MESSAGE
fail    error     migrations-have-down      Every migration needs a '-- down' section.
fail    error     new-endpoints-have-tests  src/api/orders.py: expected tests/api/test_orders.py to be changed too

AR9H1 migrations-have-down (rule "database", .ai-rulez/rules/database.md:3)
  db/migrations/0042.sql  pattern `(?m)^-- down\\b` not found
  fix: Add a '-- down' section that reverses the change.
AR9H1 new-endpoints-have-tests (rule "api-conventions", .ai-rulez/rules/api-conventions.md)
  src/api/orders.py  expected tests/api/test_orders.py to be changed too

0 passed, 2 failed, 0 could not run (since origin/main)
"""
    )
    assert repo.run("verifiers", "test").out.startswith("ok   migrations-have-down: with down passes\n1 of 1 examples")


ROLES = """
[profiles]
web = ["web"]

[[roles]]
name = "ops"
domains = ["db"]

[[roles]]
name = "front"
domains = ["web"]
"""


@pytest.mark.parametrize(
    ("flags", "active"),
    [
        ((), {"r"}),
        (("--profile", "web"), {"r", "w"}),
        (("--role", "ops"), {"r", "d"}),
        (("--role", "ops", "--profile", "web"), {"r", "d"}),
        (("--role", "front"), {"r", "w"}),
    ],
)
def test_active_selection(bench: Workbench, repo: Repo, flags: tuple[str, ...], active: set[str]) -> None:
    """The role, else the profile, else the built-in default; what is not active is shown and never fails the run."""
    bench.config(ROLES)
    text = ""
    for name, rule in (("r", "store"), ("w", "web/x"), ("d", "db/y")):
        text += f'[[verifiers]]\nid = "{name}"\nrule = "{rule}"\nseverity = "error"\n'
        text += predicate("file_exists", path="gone" if name not in active else ".ai-rulez/config.toml")
    bench.write_all({".ai-rulez/domains/web/rules/x.md": "# X\n", ".ai-rulez/domains/db/rules/y.md": "# Y\n"})
    bench.spec(text)
    done = repo.run("verifiers", "run", "--format", "json", *flags)
    results = json.loads(done.out)["results"]
    assert done.code == 0
    assert {found["name"]: found["status"] for found in results} == {
        name: "pass" if name in active else "inactive" for name in "rwd"
    }


@pytest.mark.parametrize("flag", ["--role", "--profile"])
def test_an_unknown_selection(bench: Workbench, repo: Repo, flag: str) -> None:
    """Exit 1, before anything is evaluated."""
    bench.config(ROLES + flat("f", "file_exists", path="gone"))
    done = repo.run("verifiers", "run", flag, "nope")
    assert (done.code, done.out, "nope" in done.err) == (1, "", True)


def test_a_report_is_written_whole_or_not_at_all(bench: Workbench, repo: Repo) -> None:
    """``--output`` replaces a link and leaves its target alone; the exit code is that of the run."""
    bench.config(flat("f", "file_exists", path="gone"))
    repo.write("kept.txt", "kept")
    repo.symlink("report.txt", "kept.txt")
    done = repo.run("verifiers", "run", "--output", "report.txt")
    assert (done.code, done.out) == (2, "")
    assert repo.path("kept.txt").read_text() == "kept"
    assert "0 passed, 1 failed, 0 could not run" in repo.path("report.txt").read_text()
    assert [path.name for path in repo.root.iterdir() if "report" in path.name] == ["report.txt"]


def test_an_inline_spec_of_the_overlay(bench: Workbench) -> None:
    """config.local.toml may declare specs, and replace a shared entry by one, in its place."""
    bench.config(flat("a", "file_exists", path="gone") + flat("z", "file_exists", path="gone"))
    bench.write(
        ".ai-rulez/config.local.toml",
        '[[verifiers]]\nname = "a"\nrule = "store"\n' + predicate("file_exists", path=".ai-rulez/config.toml"),
    )
    assert {result.name: result.status for result in bench.results()} == {"a": "pass", "z": "fail"}


@pytest.mark.parametrize(
    "config", ["builtins = true\n", 'builtins = ["go"]\n', '[profiles]\nweb = ["builtin:go"]\n', "builtins = false\n"]
)
def test_a_target_that_may_be_in_a_builtin_pack(bench: Workbench, config: str) -> None:
    """Their content is inside of ai-rulez: an error that says what was not looked into, never a pass."""
    bench.config(config)
    bench.spec('[[verifiers]]\nid = "v"\nrule = "git-workflow"\n' + predicate("file_exists", path="x"))
    result = bench.result()
    assert (result.status, result.code) == ("error", "AR9H2")
    hint = "; not looked into: the builtin packs of ai-rulez"
    assert result.message.endswith(hint) is ("false" not in config)


def test_an_interrupt_marks_what_was_not_reached(bench: Workbench, repo: Repo) -> None:
    """Ctrl-C ends the command with all it started; a report comes all the same, and exit 1 where nothing failed."""
    bench.config(flat("before", "file_absent", path="gone"))
    script = "sleep 300 & echo $! > ../child; wait"
    bench.spec(
        head("slow")
        + predicate("command", argv=["sh", "-c", script])
        + head("after")
        + predicate("file_exists", path="gone")
    )
    with started(repo, "pytest_reqfile", "verifiers", "run", "--allow-exec", "--format", "json", env={}) as run:
        child = pid_in(repo.root.parent / "child")
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=30)
    found = {result["name"]: result["status"] for result in json.loads(out)["results"]}
    assert (run.returncode, found) == (1, {"before": "pass", "slow": "error", "after": "error"})
    assert wait_until(lambda: not is_alive(child))
