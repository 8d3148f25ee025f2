"""Keys, entries of config.toml and verifier files, case by case (cases/verifiers.md A3 to A6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.outcome import Location
from pytest_reqfile.syntax.globs import GlobError, verifier_glob
from pytest_reqfile.verifiers.keypath import KeyPathError, parse_key
from pytest_reqfile.verifiers.predicates import AllOf, TextMatch
from pytest_reqfile.verifiers.values import InvalidDeclaration
from tests.support.verifiers import Workbench, flat, head, member, predicate, toml

SIXTY_PAIRS = "{a,b}" * 30


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def _problem(bench: Workbench, entries: str) -> str:
    bench.config(entries)
    with pytest.raises(FormatError) as caught:
        bench.declarations()
    return str(caught.value)


def _only_invalid(bench: Workbench, text: str) -> InvalidDeclaration:
    bench.spec(text)
    declarations = bench.declarations()
    assert declarations.specs == ()
    (invalid,) = declarations.invalid
    return invalid


class TestGlobs:
    """A3: the glob language."""

    @pytest.mark.parametrize(
        ("glob", "path", "matches"),
        [
            pytest.param("lib/**/*.rb", "lib/x/y.rb", True, marks=pytest.mark.case("verifiers:A3.1")),
            pytest.param("*.rb", "p/q/r.rb", True, marks=pytest.mark.case("verifiers:A3.3")),
            pytest.param("lib/*.rb", "lib/x/y.rb", False, marks=pytest.mark.case("verifiers:A3.4")),
            pytest.param("{m,n}/*.txt", "n/k.txt", True, marks=pytest.mark.case("verifiers:A3.5")),
            pytest.param("man/", "man/a/b.txt", True, marks=pytest.mark.case("verifiers:A3.7")),
        ],
    )
    def test_match(self, glob: str, path: str, matches: bool) -> None:
        """One glob at one path."""
        assert verifier_glob(glob).matches(path) is matches

    @pytest.mark.case("verifiers:A3.9")
    def test_too_many_alternatives(self) -> None:
        """2**30 alternatives are refused before they are made."""
        with pytest.raises(GlobError, match="alternatives"):
            verifier_glob(SIXTY_PAIRS)

    @pytest.mark.case("verifiers:A3.10")
    def test_just_enough_alternatives(self) -> None:
        """64 alternatives are accepted."""
        assert verifier_glob("{a,b}" * 6).matches("ababab")


class TestKeys:
    """A3: the keys of ``key_equals``."""

    @pytest.mark.parametrize(
        ("key", "segments"),
        [
            pytest.param("p.q.r", ("p", "q", "r"), marks=pytest.mark.case("verifiers:A3.20")),
            pytest.param("deps.left\\.pad", ("deps", "left.pad"), marks=pytest.mark.case("verifiers:A3.21")),
            pytest.param('deps.["z"]', ("deps", "z"), marks=pytest.mark.case("verifiers:A3.23")),
            pytest.param("rows[3].id", ("rows", "3", "id"), marks=pytest.mark.case("verifiers:A3.25")),
            pytest.param('["p\\"q"]', ('p"q',), marks=pytest.mark.case("verifiers:A3.27")),
            pytest.param('a[""]', ("a", "")),
            pytest.param("a\\\\b", ("a\\b",)),
            pytest.param("rows[1][2]", ("rows", "1", "2")),
        ],
    )
    def test_segments(self, key: str, segments: tuple[str, ...]) -> None:
        """What a key addresses."""
        assert parse_key(key) == segments

    @pytest.mark.parametrize(
        ("key", "reason"),
        [
            pytest.param("", "key is empty"),
            pytest.param("p..q", 'key "p..q" has an empty segment', marks=pytest.mark.case("verifiers:A3.28")),
            pytest.param(".p", 'key ".p" has an empty segment', marks=pytest.mark.case("verifiers:A3.29")),
            pytest.param("p.", 'key "p." has an empty segment'),
            pytest.param("p\\", 'key "p\\\\" ends with a backslash', marks=pytest.mark.case("verifiers:A3.31")),
            pytest.param(
                'p["z', 'key "p[\\"z": unterminated quoted segment', marks=pytest.mark.case("verifiers:A3.32")
            ),
            pytest.param('p["z"', 'key "p[\\"z\\"": closing quote must be followed by \']\''),
            pytest.param(
                'p["z"]w', "key \"p[\\\"z\\\"]w\": unexpected 'w' after ']'", marks=pytest.mark.case("verifiers:A3.34")
            ),
            pytest.param("p[x]", 'key "p[x]": [x] is neither a list index nor a quoted key'),
            pytest.param("p[1", "key \"p[1\": unterminated '['"),
        ],
    )
    def test_refused(self, key: str, reason: str) -> None:
        """Keys that cannot be read."""
        with pytest.raises(KeyPathError) as caught:
            parse_key(key)
        assert str(caught.value) == reason


class TestConfig:
    """A4: entries of config.toml."""

    @pytest.mark.case("verifiers:A4.1")
    def test_three_entries(self, bench: Workbench) -> None:
        """What is set and what is not stay apart."""
        bench.config(
            flat("a", "file_exists", path="A")
            + flat("b", "glob_count", glob="*.x", exclude=["y/"], min=2, max=40, severity="warning")
            + flat("c", "key_equals", path="p.json", key="k", equals=">=9")
        )
        first, second, third = bench.declarations().flat
        assert (first.severity, second.severity) == ("error", "warning")
        assert getattr(second.check, "minimum", None) == 2
        assert getattr(second.check, "maximum", None) == 40
        assert getattr(third.check, "equals", None) == ">=9"
        bench.config(flat("b", "glob_count", glob="*.x", max=0))
        (only,) = bench.declarations().flat
        assert (getattr(only.check, "minimum", 1), getattr(only.check, "maximum", 1)) == (None, 0)

    @pytest.mark.case("verifiers:A4.2")
    def test_overlay(self, bench: Workbench) -> None:
        """config.local.toml merges by name, in place; what is new comes last."""
        bench.config(flat("a", "file_exists", path="A") + flat("b", "file_exists", path="B"))
        bench.write(
            ".ai-rulez/config.local.toml", flat("b", "file_absent", path="B") + flat("c", "file_exists", path="C")
        )
        found = {verifier.name: verifier.check.type for verifier in bench.declarations().flat}
        assert found == {"a": "file_exists", "b": "file_absent", "c": "file_exists"}

    @pytest.mark.case("verifiers:D-28")
    def test_overlay_of_another_type(self, bench: Workbench) -> None:
        """A local entry replaces the shared one (seed 000 "Local overlay"), where ai-rulez keeps the keys it leaves."""
        bench.config(flat("b", "file_exists", path="B", severity="warning", description="shared"))
        bench.write(".ai-rulez/config.local.toml", flat("b", "regex", glob="*.x", pattern="y"))
        (only,) = bench.declarations().flat
        assert (only.check.type, only.severity, only.description) == ("regex", "error", "")
        assert only.declared.path == ".ai-rulez/config.local.toml"

    def test_overlay_that_says_too_little(self, bench: Workbench) -> None:
        """What is left open is not taken from the shared entry."""
        bench.config(flat("b", "file_exists", path="B"))
        bench.write(".ai-rulez/config.local.toml", '[[verifiers]]\nname = "b"\ntype = "file_absent"\n')
        with pytest.raises(FormatError, match=r"verifier type file_absent needs verifiers\[0\].path"):
            bench.declarations()

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            pytest.param(
                '[[verifiers]]\ntype = "file_exists"\npath = "A"\n',
                'invalid verifier name "" at verifiers[0].name',
                marks=pytest.mark.case("verifiers:A4.3"),
            ),
            pytest.param(
                flat("a", "file_exists", path="A") * 2,
                'duplicate verifier name "a"',
                marks=pytest.mark.case("verifiers:A4.5"),
            ),
            pytest.param(
                flat("a", "bogus"),
                'unknown verifier type "bogus" at verifiers[0].type (known types: file_exists, file_absent, '
                "glob_count, regex, forbid, key_equals, generated_in_sync)",
                marks=pytest.mark.case("verifiers:A4.6"),
            ),
            pytest.param(
                flat("a", "command"),
                'unknown verifier type "command" at verifiers[0].type (a program is run by the spec form: leave `type` '
                "out and use [verifiers.require.command])",
                marks=pytest.mark.case("verifiers:A1.33"),
            ),
            pytest.param(
                flat("a", "file_exists", path="A", severity="loud"),
                'invalid verifier severity "loud" at verifiers[0].severity',
                marks=pytest.mark.case("verifiers:A4.8"),
            ),
            pytest.param(
                flat("a", "file_absent"),
                "verifier type file_absent needs verifiers[0].path",
                marks=pytest.mark.case("verifiers:A4.9"),
            ),
            pytest.param(
                flat("a", "file_exists", path="/etc/hosts"),
                'verifier verifiers[0].path "/etc/hosts" must be relative and inside the project',
                marks=pytest.mark.case("verifiers:A4.10"),
            ),
            pytest.param(
                flat("a", "file_exists", path="a\\..\\..\\b"),
                'verifiers[0].path "a\\\\..\\\\..\\\\b" must be relative and inside the project',
            ),
            pytest.param(
                flat("a", "glob_count", glob="*"),
                "verifier type glob_count needs a min or max at verifiers[0]",
                marks=pytest.mark.case("verifiers:A4.12"),
            ),
            pytest.param(
                flat("a", "regex", glob="*"),
                "verifier type regex needs verifiers[0].pattern",
                marks=pytest.mark.case("verifiers:A4.14"),
            ),
            pytest.param(
                flat("a", "forbid", glob="*", pattern="("),
                "invalid verifier verifiers[0].pattern: ",
                marks=pytest.mark.case("verifiers:A4.15"),
            ),
            pytest.param(
                flat("a", "key_equals", path="a.json", equals="x"),
                "verifier type key_equals needs verifiers[0].key",
                marks=pytest.mark.case("verifiers:A4.17"),
            ),
            pytest.param(
                flat("a", "forbid", glob=SIXTY_PAIRS, pattern="x"),
                "brace groups expand to more than 64 alternatives",
                marks=pytest.mark.case("verifiers:A4.18"),
            ),
            pytest.param(
                flat("a", "glob_count", glob="*", min=-1),
                "verifier verifiers[0].min and max must not be negative",
                marks=pytest.mark.case("verifiers:A4.20"),
            ),
            pytest.param(
                flat("a", "glob_count", glob="*", min=3, max=2), "verifier verifiers[0].min (3) is greater than max (2)"
            ),
            pytest.param(
                flat("a", "key_equals", path="notes.md", key="k", equals="x"),
                'verifier verifiers[0].path "notes.md" has an unsupported format for key_equals',
                marks=pytest.mark.case("verifiers:A4.21"),
            ),
            pytest.param(
                flat("a", "file_exists", path="A", pattern="x", glob="*"),
                "verifier verifiers[0] sets glob, pattern, which does not apply to type file_exists",
                marks=pytest.mark.case("verifiers:A4.23"),
            ),
            pytest.param(
                flat("a", "key_equals", path="a.json", key="k"),
                "verifier type key_equals needs verifiers[0].equals",
                marks=pytest.mark.case("verifiers:A4.26"),
            ),
            pytest.param(
                flat("a", "generated_in_sync", profile="nope"),
                'verifier verifiers[0].profile "nope" is not a defined profile',
                marks=pytest.mark.case("verifiers:A4.36"),
            ),
            pytest.param(
                '[[verifiers]]\nname = "a"\n',
                "verifier verifiers[0] needs a type, or exactly one of rule, skill, agent or command",
                marks=pytest.mark.case("verifiers:A4.42"),
            ),
            pytest.param(
                '[[verifiers]]\nname = "a"\nrule = "store"\n',
                "verifier verifiers[0] needs a require predicate",
                marks=pytest.mark.case("verifiers:A4.43"),
            ),
            pytest.param(
                flat("a", "file_exists", path="A", rule="store", fix="f"),
                "verifier verifiers[0] sets rule, fix, which does not apply to type file_exists",
                marks=pytest.mark.case("verifiers:A4.45"),
            ),
            pytest.param(
                f'[[verifiers]]\nname = "a"\nrule = "store"\nwhen_changed = ["ok", {toml("{a,b}" * 7)}]\n'
                + predicate("file_exists", path="x"),
                f'invalid verifier verifiers[0] glob #1 "{"{a,b}" * 7}": brace groups expand to more',
                marks=pytest.mark.case("verifiers:A4.46"),
            ),
            pytest.param(
                '[[verifiers]]\nname = "a"\nrule = "store"\nglob = "x"\n' + predicate("file_exists", path="x"),
                "verifier verifiers[0] sets glob, which does not apply without a type",
            ),
            pytest.param(
                flat("a", "file_exists", path="A", patern="x"), "unknown key `patern` in verifiers[0]", id="unknown-key"
            ),
            pytest.param(
                flat("a", "forbid", glob=3, pattern="x"), "`glob` must be a string, found an integer", id="wrong-type"
            ),
        ],
    )
    def test_refused(self, bench: Workbench, entry: str, message: str) -> None:
        """Each error of an entry, with the line it is on."""
        text = _problem(bench, entry)
        assert message in text
        assert text.startswith(".ai-rulez/config.toml:")

    def test_all_problems(self, bench: Workbench) -> None:
        """Every entry that is wrong is told, not the first alone."""
        text = _problem(bench, flat("a", "bogus") + flat("b", "file_exists") + flat("c", "file_exists", path="/x"))
        assert [line.split(":")[1] for line in text.splitlines()] == ["5", "6", "12"]

    @pytest.mark.case("verifiers:A4.27")
    @pytest.mark.case("verifiers:A4.28")
    @pytest.mark.case("verifiers:A4.30")
    def test_accepted(self, bench: Workbench) -> None:
        """Entries with nothing wrong."""
        bench.config(
            flat("a", "file_exists", path="A")
            + flat("b", "regex", glob="*", pattern="x")
            + flat("c", "generated_in_sync")
        )
        assert len(bench.declarations().flat) == 3

    @pytest.mark.parametrize(
        "profile",
        [
            pytest.param("", marks=pytest.mark.case("verifiers:A4.32")),
            pytest.param("default", marks=pytest.mark.case("verifiers:A4.34")),
            pytest.param("api,default", marks=pytest.mark.case("verifiers:A4.35")),
        ],
    )
    def test_profiles(self, bench: Workbench, profile: str) -> None:
        """Defined profiles, alone and composed."""
        bench.config("[profiles]\napi = []\n\n" + flat("a", "generated_in_sync", profile=profile))
        assert len(bench.declarations().flat) == 1

    @pytest.mark.case("verifiers:A4.40")
    def test_inline_spec(self, bench: Workbench) -> None:
        """An entry without a type is a spec."""
        bench.config(
            '[[verifiers]]\nname = "no-xxx"\nrule = "store"\nwhen_changed = ["*.go"]\nexclude = ["gen/**"]\nfix = "F"\n'
            + member("all", "forbid", regex="XXX")
        )
        (spec,) = bench.declarations().specs
        assert (spec.id, spec.target.id, spec.fix, spec.source) == ("no-xxx", "store", "F", "config.toml")
        assert [glob.text for glob in (*spec.when_changed, *spec.exclude)] == ["*.go", "gen/**"]
        assert spec.require == AllOf(members=(TextMatch(forbidden=True, pattern="XXX"),))
        assert spec.declared == Location(path=".ai-rulez/config.toml", line=3)

    @pytest.mark.case("verifiers:D-22")
    def test_inline_name_in_capitals(self, bench: Workbench) -> None:
        """The name of an inline spec is its id, which knows no capitals."""
        bench.config('[[verifiers]]\nname = "Upper"\nrule = "store"\n' + predicate("file_exists", path="x"))
        (result,) = bench.results()
        assert (result.name, result.code) == ("Upper", "AR9H2")
        assert result.message.startswith('invalid id "Upper"')

    def test_inline_with_unknown_key_in_its_tree(self, bench: Workbench) -> None:
        """The predicate tree of an inline spec is judged per run, as strictly as in a file."""
        bench.config('[[verifiers]]\nname = "x"\nrule = "store"\n' + predicate("file_exists", path="x", colour=1))
        (result,) = bench.results()
        assert result.message == "invalid TOML: unknown key `colour` in [require.file_exists]"


class TestSettings:
    """``[verifiers_settings]`` (spec/verifiers.md 1.8)."""

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("max_timeout_s = 901", "verifiers_settings.max_timeout_s must be between 1 and 900 seconds"),
            ("max_file_bytes = -1", "verifiers_settings.max_file_bytes must be between 1 and 67108864 bytes"),
            (
                'trust_exec_from = ["corp"]',
                'verifiers_settings.trust_exec_from entry "corp" is not a declared include',
            ),
            ('command_env = ["A-B"]', 'verifiers_settings.command_env entry "A-B" is not an environment variable name'),
            (
                'command_env = ["MY_TOKEN"]',
                'verifiers_settings.command_env entry "MY_TOKEN" looks like a credential or proxy setting',
            ),
            ("warn_deed = true", "unknown key `warn_deed` in [verifiers_settings]"),
        ],
    )
    def test_refused(self, bench: Workbench, line: str, message: str) -> None:
        """A setting out of its range."""
        assert _problem(bench, f"[verifiers_settings]\n{line}\n") == f".ai-rulez/config.toml:4: {message}"

    def test_zero_means_default(self, bench: Workbench) -> None:
        """Zero is as good as not set."""
        bench.config("[verifiers_settings]\nmax_timeout_s = 0\nmax_file_bytes = 0\n")
        settings = bench.declarations().settings
        assert (settings.max_timeout_s, settings.max_file_bytes) == (300, 5 * 1024 * 1024)


WHEN = head("x", when="*.ddl")
REGEX = predicate("regex", regex="x")


class TestSpec:
    """A5: one declaration of a verifier file."""

    @pytest.mark.case("verifiers:A5.1")
    def test_loads(self, bench: Workbench) -> None:
        """The smallest useful spec; its severity is warning."""
        bench.spec(WHEN + REGEX)
        (spec,) = bench.declarations().specs
        assert (spec.severity, spec.source) == ("warning", ".ai-rulez/verifiers/t.toml")
        assert spec.declared == Location(path=".ai-rulez/verifiers/t.toml", line=1)
        assert (spec.target.path, spec.target.line) == (".ai-rulez/rules/store.md", None)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            pytest.param(
                WHEN + "colour = 1\n" + REGEX,
                "invalid TOML: unknown key `colour` in [[verifiers]]",
                marks=pytest.mark.case("verifiers:A5.2"),
            ),
            pytest.param(
                '[[verifiers]]\nid = "x"\n' + REGEX,
                "set exactly one of rule, skill, agent or command: the item this verifier enforces",
                marks=pytest.mark.case("verifiers:A5.3"),
            ),
            pytest.param(
                '[[verifiers]]\nid = "x"\nrule = "ghost"\n' + REGEX,
                'the rule "ghost" does not exist (a verifier must name the item it enforces)',
                marks=pytest.mark.case("verifiers:A5.5"),
            ),
            pytest.param(
                head("x", when="*.ddl", anchor="## Nowhere") + REGEX,
                'anchor "## Nowhere" is not a heading line of rule "store"',
                marks=pytest.mark.case("verifiers:A5.6"),
            ),
            pytest.param(WHEN, "needs a [verifiers.require] predicate", marks=pytest.mark.case("verifiers:A5.8")),
            pytest.param(
                WHEN + predicate("regex", regex="("),
                "regex: invalid regex: missing )",
                marks=pytest.mark.case("verifiers:A5.9"),
            ),
            pytest.param(
                WHEN + REGEX + predicate("forbid", regex="y"),
                "a predicate table must set exactly one of regex, forbid, file_exists, paired, glob_count, command, "
                "llm, all, any, not",
                marks=[pytest.mark.case("verifiers:A5.11"), pytest.mark.case("verifiers:A6.7")],
            ),
            pytest.param(
                head("x") + REGEX,
                "this predicate checks the changed files, so the verifier needs when_changed",
                marks=pytest.mark.case("verifiers:A5.13"),
            ),
            pytest.param(
                WHEN + predicate("paired", for_each="*.ddl", requires_exists="{what}"),
                "paired.requires: unknown template variable {what} (use {path}, {dir}, {stem}, {ext}, {rel})",
                marks=pytest.mark.case("verifiers:A5.14"),
            ),
            pytest.param(
                head("Not Ok", when="*.ddl") + REGEX,
                "invalid id \"Not Ok\": use lowercase letters, digits, '.', '_' and '-'",
                marks=pytest.mark.case("verifiers:A5.16"),
            ),
            pytest.param(
                WHEN + REGEX + '[[verifiers.examples]]\nname = "e"\nexpect = "perhaps"\n',
                "examples[0].expect must be pass, fail or not_applicable",
                marks=pytest.mark.case("verifiers:A5.18"),
            ),
            pytest.param(
                WHEN + REGEX + '[[verifiers.examples]]\nexpect = "pass"\nfiles = { "../x" = "" }\n',
                'examples[0] has a file path outside the fixture: "../x"',
            ),
            pytest.param(
                head("x") + predicate("glob_count", files="*"),
                "glob_count needs min or max",
                marks=pytest.mark.case("verifiers:A5.20"),
            ),
            pytest.param(
                WHEN + predicate("command", argv=[]),
                "command needs a non-empty argv (the program and its arguments; there is no shell)",
                marks=[pytest.mark.case("verifiers:A5.31"), pytest.mark.case("verifiers:A6.11")],
            ),
            pytest.param(
                WHEN + predicate("command", argv=["x"], pass_files="shell"),
                'command.pass_files "shell" must be args or stdin0',
                marks=pytest.mark.case("verifiers:A5.33"),
            ),
            pytest.param(
                WHEN + predicate("command", argv=["x"], timeout_s=5000),
                "command.timeout_s must be between 1 and 900",
                marks=pytest.mark.case("verifiers:A5.34"),
            ),
            pytest.param(
                WHEN + predicate("command", argv=["x"], expect_exit=256),
                "command.expect_exit must be between 0 and 255",
            ),
            pytest.param(
                WHEN + predicate("command", argv=["x"], shell=True),
                "invalid TOML: unknown key `shell` in [require.command]",
                marks=[pytest.mark.case("verifiers:A5.36"), pytest.mark.case("verifiers:A6.13")],
            ),
            pytest.param(
                head("x") + predicate("command", argv=["x"], pass_files="args"),
                "this predicate checks the changed files, so the verifier needs when_changed",
                marks=pytest.mark.case("verifiers:A5.37"),
            ),
            pytest.param(
                WHEN + predicate("llm", checklist=[]),
                "llm.checklist needs 1 to 20 items",
                marks=pytest.mark.case("verifiers:A5.41"),
            ),
            pytest.param(
                WHEN + predicate("llm", checklist=["a"] * 21),
                "llm.checklist needs 1 to 20 items",
                marks=pytest.mark.case("verifiers:A5.43"),
            ),
            pytest.param(
                WHEN + predicate("llm", checklist=["a"], max_diff_bytes=9),
                "llm.max_diff_bytes must be between 1024 and 200000",
                marks=pytest.mark.case("verifiers:A5.44"),
            ),
            pytest.param(
                WHEN + predicate("not.llm", checklist=["a"]),
                "the llm predicate may only be the root predicate or a direct member of `all`",
                marks=pytest.mark.case("verifiers:A5.46"),
            ),
            pytest.param(
                head("x") + predicate("llm", checklist=["a"]),
                "this predicate checks the changed files, so the verifier needs when_changed",
                marks=pytest.mark.case("verifiers:A5.50"),
            ),
            pytest.param(
                WHEN + predicate("llm", model="m"),
                "llm.checklist needs 1 to 20 items",
                marks=pytest.mark.case("verifiers:A6.14"),
            ),
            pytest.param(
                WHEN + "[verifiers.require]\nsize = 1\n",
                "invalid TOML: unknown key `size` in [verifiers.require]",
                marks=pytest.mark.case("verifiers:A6.9"),
            ),
            pytest.param(
                WHEN + '[verifiers.require.regex]\nregex = "x"\nin = "nowhere"\n',
                'regex: invalid in "nowhere": use same-file, diff-added or any-file',
                marks=pytest.mark.case("verifiers:A6.10"),
            ),
            pytest.param(
                WHEN + predicate("paired", for_each="*.ddl"),
                "paired needs exactly one of requires_changed or requires_exists",
                marks=pytest.mark.case("verifiers:A6.17"),
            ),
            pytest.param(
                WHEN + predicate("paired", for_each="a/*/{rel}", requires_exists="x"),
                "paired.for_each with {rel} must otherwise be a literal path",
            ),
            pytest.param(
                WHEN + predicate("forbid", regex="x", files="*.y"), 'forbid: files applies to in = "any-file" only'
            ),
            pytest.param(
                head("x") + predicate("file_exists", path="../x"), "file_exists.path must stay inside the project"
            ),
            pytest.param(
                WHEN + member("all", "regex", regex="a") + member("all", "regex", regex="("),
                "all[1]: regex: invalid regex: missing )",
            ),
            pytest.param(
                head("x", when=SIXTY_PAIRS) + REGEX,
                f'invalid glob "{SIXTY_PAIRS}": brace groups expand to more than 64 alternatives',
            ),
            pytest.param(
                head("x", when="*.ddl", severity="loud") + REGEX, 'invalid severity "loud": use error, warning or info'
            ),
        ],
    )
    def test_refused(self, bench: Workbench, text: str, message: str) -> None:
        """One problem, no spec."""
        found = _only_invalid(bench, text).message
        assert found.startswith(message)

    @pytest.mark.case("verifiers:A5.21")
    def test_depth(self, bench: Workbench) -> None:
        """Four levels, the leaf included."""
        bench.spec(WHEN + predicate("not.not.not.regex", regex="x"))
        assert len(bench.declarations().specs) == 1
        message = _only_invalid(bench, WHEN + predicate("not.not.not.not.regex", regex="x")).message
        assert message == "all/any/not nest deeper than 4 levels"

    @pytest.mark.case("verifiers:A5.23")
    def test_symlinked_file(self, bench: Workbench) -> None:
        """A verifier file is no symlink."""
        bench.write("elsewhere.toml", WHEN + REGEX)
        (bench.root / ".ai-rulez/verifiers").mkdir()
        (bench.root / ".ai-rulez/verifiers/link.toml").symlink_to("../../elsewhere.toml")
        (invalid,) = bench.declarations().invalid
        assert "symlinks are not followed" in invalid.message
        assert (invalid.id, invalid.name) == (None, ".ai-rulez/verifiers/link.toml")

    @pytest.mark.case("verifiers:A5.24")
    def test_result(self, bench: Workbench) -> None:
        """An invalid declaration is an error of the run."""
        bench.spec('[[verifiers]]\nid = "x"\nrule = "ghost"\n' + REGEX)
        result = bench.result()
        assert (result.status, result.code, result.type, result.severity) == ("error", "AR9H2", "invalid", "error")
        assert result.declared == Location(path=".ai-rulez/verifiers/t.toml", line=3)

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param(WHEN + predicate("command", argv=["x", "y"]), marks=pytest.mark.case("verifiers:A5.30")),
            pytest.param(WHEN + predicate("llm", checklist=["a"]), marks=pytest.mark.case("verifiers:A5.40")),
            pytest.param(
                WHEN + member("all", "regex", regex="x") + member("all", "llm", checklist=["a"]),
                marks=[pytest.mark.case("verifiers:A5.48"), pytest.mark.case("verifiers:A6.6")],
            ),
            pytest.param(
                head("x") + '[verifiers.require.regex]\nregex = "x"\nin = "any-file"\nfiles = "*.md"\n',
                marks=pytest.mark.case("verifiers:A6.1"),
            ),
            pytest.param(
                WHEN
                + predicate("paired", for_each="src/{rel}.py", requires_exists="tests/test_{stem}.py")
                + '[[verifiers.examples]]\nname = "e"\nexpect = "pass"\n',
                marks=pytest.mark.case("verifiers:A6.2"),
            ),
            pytest.param(
                WHEN + predicate("command", argv=["x"], pass_files="stdin0", timeout_s=5, expect_exit=3),
                marks=pytest.mark.case("verifiers:A6.4"),
            ),
        ],
    )
    def test_valid(self, bench: Workbench, text: str) -> None:
        """Specs with nothing wrong."""
        bench.spec(text)
        declarations = bench.declarations()
        assert (len(declarations.specs), declarations.invalid) == (1, ())

    @pytest.mark.case("verifiers:D-14")
    @pytest.mark.case("verifiers:D-15")
    def test_anchor_is_a_line_of_the_file(self, bench: Workbench) -> None:
        """Any line is an anchor, and its number is that of the file on disk, frontmatter counted."""
        bench.write(".ai-rulez/rules/store.md", "---\npriority: high\nowner: me\n---\n\n# Store\n\n## Schema changes\n")
        bench.spec(head("x", when="*.ddl", anchor=" ## Schema changes ") + REGEX)
        (spec,) = bench.declarations().specs
        assert spec.target.line == 8
        bench.write(".ai-rulez/rules/store.md", "# Store\n\nEach change needs an undo part.\r\n")
        bench.spec(head("x", when="*.ddl", anchor="Each change needs an undo part.") + REGEX)
        (spec,) = bench.declarations().specs
        assert spec.target.line == 3

    def test_order_and_duplicates(self, bench: Workbench) -> None:
        """Files in byte order; the first usable declaration keeps the id, flat names first of all."""
        bench.config(flat("taken", "file_exists", path="x"))
        bench.spec(head("b", when="*") + REGEX + head("taken", when="*") + REGEX, "b.toml")
        bench.spec(head("a", when="*") + predicate("regex", regex="(") + head("a", when="*") + REGEX, "a.toml")
        bench.spec(head("b", when="*") + REGEX, "c.toml")
        declarations = bench.declarations()
        assert [(spec.id, spec.source[-6:]) for spec in declarations.specs] == [("a", "a.toml"), ("b", "b.toml")]
        assert [(i.name, i.message) for i in declarations.invalid] == [
            ("a", "regex: invalid regex: missing ): ("),
            ("taken", "duplicate verifier id (already declared in config.toml)"),
            ("b", "duplicate verifier id (already declared in .ai-rulez/verifiers/b.toml)"),
        ]

    @pytest.mark.case("verifiers:D-23")
    def test_huge_file(self, bench: Workbench) -> None:
        """A verifier file of more than 1 MiB is refused."""
        invalid = _only_invalid(bench, WHEN + REGEX + "#" * (1 << 20))
        assert invalid.message == "file is larger than 1024 KiB"

    def test_wrong_shape(self, bench: Workbench) -> None:
        """A key of the wrong type drops the file, and says where."""
        invalid = _only_invalid(bench, WHEN + "exclude = 3\n" + REGEX)
        assert (invalid.id, invalid.message) == (
            None,
            "invalid TOML: `exclude` must be a list of strings, found an integer",
        )
        assert invalid.declared.line == 5


@pytest.mark.parametrize(
    ("key", "meant"),
    [("verifier", "verifiers"), ("Verifiers", "verifiers"), ("verifiers_setting", "verifiers_settings")],
)
def test_misspelt_key(bench: Workbench, key: str, meant: str) -> None:
    """A key of config.toml that is nearly one of ours is AR9H2: what stands below it would not be looked at."""
    bench.config(flat("a", "file_exists", path="a") + f"[{key}]\nx = 1\n[unrelated]\n")
    (invalid,) = bench.declarations().invalid
    assert (invalid.id, invalid.message) == (None, f"unknown key `{key}`, did you mean `{meant}`?")
    assert invalid.declared == Location(path=".ai-rulez/config.toml", line=7)
