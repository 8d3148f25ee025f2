"""Spec verifiers over a whole tree, case by case (cases/verifiers.md A7, A12 to A14, and part B)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.outcome import Finding
from pytest_reqfile.verifiers.examples import run_example, select_tested
from pytest_reqfile.verifiers.outcomes import example_outcome, gates, outcome_of
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.values import Target
from tests.support.verifiers import Workbench, example, flat, head, member, predicate, toml

TREE: dict[str, str | bytes] = {
    "db/1.ddl": "make\n-- undo\ndrop\n",
    "db/2.ddl": "make\r\n",
    "svc/http/acct.py": "import svc.raw\r\nx = 1\n",
    "svc/http/util.py": "x = 1\n",
    "checks/test_acct.py": "t",
    "COPYING": "mit",
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.write_all(TREE)
    return bench


def _result(bench: Workbench, text: str, options: RunOptions | None = None) -> Result:
    bench.spec(text)
    return bench.result(options)


def _places(findings: tuple[Finding, ...]) -> list[tuple[str | None, int | None]]:
    return [(finding.file, finding.line) for finding in findings]


DDL = head("x", when="db/*.ddl")


@pytest.mark.parametrize(
    ("text", "status", "first"),
    [
        pytest.param(
            DDL + predicate("regex", regex="(?m)^-- undo$"),
            "fail",
            ("db/2.ddl", None, "pattern `(?m)^-- undo$` not found"),
            marks=pytest.mark.case("verifiers:A7.1"),
        ),
        pytest.param(
            head("x", when="svc/http/*.py") + predicate("forbid", regex="(?m)^import svc\\.raw$"),
            "fail",
            ("svc/http/acct.py", 1, "forbidden pattern `(?m)^import svc\\.raw$` matched"),
            marks=pytest.mark.case("verifiers:A7.3"),
        ),
        pytest.param(
            head("x") + predicate("file_exists", path="COPYING"), "pass", None, marks=pytest.mark.case("verifiers:A7.5")
        ),
        pytest.param(
            head("x") + predicate("glob_count", files="db/*.ddl", max=1),
            "fail",
            (None, None, "2 file(s) match db/*.ddl, expected at most 1: db/1.ddl, db/2.ddl"),
            marks=pytest.mark.case("verifiers:A7.7"),
        ),
        pytest.param(
            head("x", when="svc/http/acct.py")
            + predicate("paired", for_each="svc/http/{rel}.py", requires_exists="checks/test_{stem}.py"),
            "pass",
            None,
            marks=pytest.mark.case("verifiers:A7.8"),
        ),
        pytest.param(
            DDL + member("all", "regex", regex="make") + member("all", "regex", regex="-- undo"),
            "fail",
            ("db/2.ddl", None, "pattern `-- undo` not found"),
            marks=pytest.mark.case("verifiers:A7.10"),
        ),
        pytest.param(
            head("x", when="db/2.ddl") + member("any", "regex", regex="nothing") + member("any", "regex", regex="make"),
            "pass",
            None,
            marks=pytest.mark.case("verifiers:A7.11"),
        ),
        pytest.param(
            head("x") + predicate("not.file_exists", path="COPYING"),
            "fail",
            (None, None, "a condition that must not hold is true"),
            marks=pytest.mark.case("verifiers:A7.12"),
        ),
        pytest.param(
            head("x", when="*.zig") + predicate("regex", regex="x"),
            "not_applicable",
            None,
            marks=pytest.mark.case("verifiers:A7.14"),
        ),
        pytest.param(
            head("x") + predicate("glob_count", files="*.ddl", min=5),
            "fail",
            (None, None, "2 file(s) match *.ddl, expected at least 5"),
        ),
        pytest.param(
            head("x", when="svc/**/*.py") + predicate("file_exists", path="checks/test_{stem}.py"),
            "fail",
            ("svc/http/util.py", None, "checks/test_util.py does not exist"),
        ),
        pytest.param(
            head("x", when="svc/**/*.py") + predicate("file_exists", path="checks/test_{stem}.py", exists=False),
            "fail",
            ("svc/http/acct.py", None, "checks/test_acct.py exists"),
        ),
        pytest.param(
            head("x") + '[verifiers.require.regex]\nregex = "zzz"\nin = "any-file"\nfiles = "*.ddl"\n',
            "fail",
            (None, None, "pattern `zzz` not found in any of 2 file(s)"),
        ),
        pytest.param(
            head("x") + '[verifiers.require.regex]\nregex = "undo"\nin = "any-file"\nfiles = "*.ddl"\n', "pass", None
        ),
        pytest.param(
            head("x", exclude=["db/1*"])
            + '[verifiers.require.forbid]\nregex = "make"\nin = "any-file"\nfiles = "*.ddl"\n',
            "fail",
            ("db/2.ddl", 1, "forbidden pattern `make` matched"),
        ),
        pytest.param(
            DDL + '[verifiers.require.regex]\nregex = "-- undo"\nin = "diff-added"\n',
            "fail",
            ("db/2.ddl", None, "pattern `-- undo` not found in the added lines"),
        ),
        pytest.param(
            head("x", when="svc/**/*.py")
            + predicate("paired", for_each="*.py", requires_changed="checks/test_{stem}{ext}"),
            "fail",
            ("svc/http/util.py", None, "expected checks/test_util.py to be changed too"),
        ),
    ],
)
def test_predicate(bench: Workbench, text: str, status: str, first: tuple[str | None, int | None, str] | None) -> None:
    """One spec over the tree of A7."""
    result = _result(bench, text)
    assert result.status == status, result.message
    assert result.target == Target(kind="rule", id="store", path=".ai-rulez/rules/store.md")
    if first is not None:
        found = result.findings[0]
        assert (found.file, found.line, found.message) == first
    assert result.code == ("AR9H1" if status == "fail" else "")


@pytest.mark.case("verifiers:A7.15")
def test_template_that_leaves_the_project(bench: Workbench) -> None:
    """A derived path outside the project is an error, without a code."""
    paired = predicate("paired", for_each="svc/http/{rel}.py", requires_exists="../../../{stem}.txt")
    result = _result(bench, head("x", when="svc/http/acct.py") + paired)
    assert (result.status, result.code) == ("error", "")
    expected = 'template "../../../{stem}.txt" expands outside the project for svc/http/acct.py: ../../../acct.txt'
    assert result.message == expected


@pytest.mark.case("verifiers:A7.16")
def test_dead_scope(bench: Workbench) -> None:
    """A scope that matches no file of the repository fails only where that is asked for."""
    text = head("x", when="*.zig", severity="error") + predicate("regex", regex="x")
    assert _result(bench, text).message == "no changed file matches when_changed"
    result = bench.result(RunOptions(strict_applicability=True))
    assert (result.status, result.code, result.severity) == ("fail", "AR9H5", "warning")
    assert result.message == "when_changed matches no file in the repository: *.zig"
    assert result.fix == "Fix the glob or delete the verifier."
    bench.config("[verifiers_settings]\nwarn_dead = true\n")
    assert bench.result().code == "AR9H5"


@pytest.mark.case("verifiers:A7.17")
def test_hostile_pattern(bench: Workbench) -> None:
    """A pattern that would stall a backtracking engine does not stall this one."""
    bench.write("long.txt", "a" * 200_000 + "!")
    assert _result(bench, head("x", when="long.txt") + predicate("regex", regex="(a+)+$")).status == "fail"


@pytest.mark.case("verifiers:A7.19")
def test_inline_and_file(bench: Workbench) -> None:
    """Inline specs come before those of files, and report config.toml."""
    bench.config(
        flat("f", "file_exists", path="db/1.ddl")
        + '[[verifiers]]\nname = "no-drop"\nrule = "store"\nwhen_changed = ["db/*.ddl"]\nfix = "F"\n'
        + '[verifiers.require.forbid]\nregex = "drop"\nin = "any-file"\nfiles = "db/*.ddl"\n'
        + '[[verifiers]]\nname = "bad"\nrule = "ghost"\n'
        + predicate("file_exists", path="x")
    )
    bench.spec(head("from-file") + predicate("file_exists", path="COPYING"))
    found = [(r.name, r.status, r.source, r.code) for r in bench.results()]
    assert found == [
        ("f", "pass", "", ""),
        ("no-drop", "fail", "config.toml", "AR9H1"),
        ("from-file", "pass", ".ai-rulez/verifiers/t.toml", ""),
        ("bad", "error", "config.toml", "AR9H2"),
    ]


class TestResult:
    """The words around a verdict (spec/verifiers.md 2.10)."""

    def test_message_of_the_declaration(self, bench: Workbench) -> None:
        """The declaration's message, fix and description are those of the result."""
        fields = {"message": "M.", "fix": "F.", "description": "D.", "severity": "error", "anchor": "## Schema changes"}
        result = _result(bench, head("x", when="db/*.ddl", **fields) + predicate("regex", regex="undo"))
        assert (result.message, result.fix, result.description, result.severity) == ("M.", "F.", "D.", "error")
        assert result.target == Target(kind="rule", id="store", path=".ai-rulez/rules/store.md", line=3)
        assert (result.type, result.source) == ("regex", ".ai-rulez/verifiers/t.toml")

    def test_message_of_our_own(self, bench: Workbench) -> None:
        """Without one it is the first finding and how many more there are."""
        result = _result(bench, DDL + predicate("regex", regex="zzz"))
        assert result.message == "db/1.ddl: pattern `zzz` not found (and 1 more)"

    def test_pass(self, bench: Workbench) -> None:
        """A pass names the number of scoped files, where there is a scope."""
        assert _result(bench, DDL + predicate("regex", regex="make")).message == "2 file(s)"
        assert _result(bench, head("x") + predicate("file_exists", path="COPYING")).message == ""

    @pytest.mark.case("verifiers:D-10")
    def test_order_of_findings(self, bench: Workbench) -> None:
        """Findings without a file come first, in byte order of their messages."""
        text = DDL + member("any", "regex", regex="zzz") + member("any", "file_exists", path="NONE")
        result = _result(bench, text)
        assert [(f.file, f.message) for f in result.findings] == [
            (None, "NONE does not exist"),
            (None, "none of the alternatives holds"),
            ("db/1.ddl", "pattern `zzz` not found"),
            ("db/2.ddl", "pattern `zzz` not found"),
        ]
        assert result.message == "NONE does not exist (and 3 more)"

    @pytest.mark.case("verifiers:D-5")
    def test_findings_are_bounded(self, bench: Workbench) -> None:
        """At most 50 findings are kept per verifier, and it is said that there were more."""
        bench.write("a.x", "no\n" * 60)
        text = head("x", when="*.x") + predicate("forbid", regex="no")
        assert len(_result(bench, text).findings) == 50
        bench.write("a.x", "no\n" * 49)
        bench.write("b.x", "no\n" * 60)
        result = _result(bench, text)
        assert len(result.findings) == 50
        assert result.notes == ("49 more finding(s) are not kept",)
        assert result.message.endswith("(and 98 more)")

    @pytest.mark.case("verifiers:D-4")
    def test_skipped_files(self, bench: Workbench) -> None:
        """Binary files neither pass nor fail, but are named."""
        bench.write("b.bin", b"a\0b")
        result = _result(bench, head("x", when="b.bin") + predicate("regex", regex="zzz"))
        assert (result.status, result.notes) == ("pass", ("skipped b.bin: binary file",))

    @pytest.mark.case("verifiers:A13.1")
    def test_large_files(self, bench: Workbench) -> None:
        """A file beyond ``max_file_bytes`` is skipped, with a note."""
        bench.write("big.txt", "FIX and more\n!")
        text = head("x", when="big.txt") + predicate("forbid", regex="FIX")
        assert _result(bench, text).status == "fail"
        bench.config("[verifiers_settings]\nmax_file_bytes = 4\n")
        result = _result(bench, text)
        assert (result.status, result.notes) == ("pass", ("skipped big.txt: larger than 4 bytes",))

    @pytest.mark.case("verifiers:D-2")
    def test_line_ends(self, bench: Workbench) -> None:
        """Specs see LF line ends."""
        bench.write("a.txt", b"end\r\n")
        assert _result(bench, head("x", when="a.txt") + predicate("regex", regex="(?m)^end$")).status == "pass"

    def test_masked_excerpt(self, bench: Workbench) -> None:
        """A finding never shows a credential."""
        bench.write("a.txt", "x = 1\n  key sk-zyxwvutsrqponmlkjihgfedcba denied  \n")
        result = _result(bench, head("x", when="a.txt") + predicate("forbid", regex="(?m)^.*denied.*$"))
        assert [(f.line, f.match) for f in result.findings] == [(2, "key [REDACTED] denied")]

    @pytest.mark.case("verifiers:D-17")
    def test_several_captures(self, bench: Workbench) -> None:
        """Captures are joined with ``/``, the first being greedy."""
        bench.write("a/p/q/b/r/s.c")
        bench.write("t/p/q/r/s.c")
        text = head("x", when="*.c", exclude=["t/**"]) + predicate(
            "paired", for_each="a/{rel}/b/{rel}.c", requires_exists="t/{rel}.c"
        )
        assert _result(bench, text).status == "pass"

    @pytest.mark.case("verifiers:D-18")
    def test_requires_changed_everywhere(self, bench: Workbench) -> None:
        """Without a base every listed file counts as changed."""
        paired = predicate("paired", for_each="svc/http/{rel}.py", requires_changed="checks/test_{stem}.py")
        assert _result(bench, head("x", when="svc/http/acct.py") + paired).status == "pass"

    def test_symlink_out_of_the_project(self, bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> None:
        """A probe beyond the project is an error, and stays one under ``not``."""
        (bench.root / "out").symlink_to(tmp_path_factory.mktemp("outside"))
        result = _result(bench, head("x") + predicate("not.file_exists", path="out/x"))
        assert (result.status, result.code) == ("error", "")
        assert result.message == "out/x resolves outside the project"


class TestChecklist:
    """llm predicates without a model: skipped, visibly (seed 000 "Opt-in and gated")."""

    @pytest.mark.case("verifiers:A10.1")
    def test_skipped(self, bench: Workbench) -> None:
        """AR9H4, info, advisory."""
        text = head("x", when="db/*.ddl", severity="error") + predicate("llm", checklist=["a"])
        result = _result(bench, text)
        assert (result.status, result.code, result.severity, result.advisory) == ("skipped", "AR9H4", "info", True)
        assert result.message == (
            "LLM use is off (pass --allow-llm to evaluate llm verifiers); the checklist was not evaluated"
        )
        outcome = outcome_of(result)
        assert (outcome.status, outcome.reason) == ("skipped", result.message)

    @pytest.mark.case("verifiers:A10.18")
    @pytest.mark.case("verifiers:D-6")
    def test_deterministic_failure(self, bench: Workbench) -> None:
        """A deterministic member decides, but the verifier is advisory all the same."""
        text = head("x", when="db/*.ddl", severity="error")
        result = _result(bench, text + member("all", "llm", checklist=["a"]) + member("all", "forbid", regex="drop"))
        assert (result.status, result.code, result.severity, result.advisory) == ("fail", "AR9H1", "warning", True)
        assert result.notes == (
            "the llm checklist was not evaluated: a deterministic predicate already failed",
            "advisory: the severity of an llm verifier is capped at warning "
            "(--gate-llm lets a calibrated verifier fail the run)",
        )
        assert outcome_of(result).status == "advisory"
        assert outcome_of(result, "warning").status == "fail"

    @pytest.mark.case("verifiers:D-7")
    def test_not_applicable(self, bench: Workbench) -> None:
        """The cap holds for every result of an llm verifier."""
        text = head("x", when="*.zig", severity="error") + predicate("llm", checklist=["a"])
        result = _result(bench, text)
        assert (result.status, result.severity, result.advisory) == ("not_applicable", "warning", True)

    def test_skip_passes_through_not_and_any(self, bench: Workbench) -> None:
        """A skip inside ``all`` is the verdict where nothing failed."""
        text = DDL + member("all", "llm", checklist=["a"]) + member("all", "forbid", regex="zzz")
        assert _result(bench, text).status == "skipped"


class TestImports:
    """A12: verifiers of includes and installed skills, and their trust."""

    CONFIG = '[[includes]]\nname = "corp"\nsource = "corp"\n'
    COMMAND = head("cmd", when="*.ddl") + predicate("command", argv=["true"])

    @pytest.mark.case("verifiers:A12.1")
    def test_include(self, bench: Workbench) -> None:
        """An include's verifier runs like our own."""
        bench.config(self.CONFIG)
        bench.write("corp/verifiers/corp.toml", head("no-drop", when="*.ddl") + predicate("forbid", regex="drop"))
        result = bench.result()
        assert (result.status, result.source) == ("fail", "include:corp/verifiers/corp.toml")

    @pytest.mark.case("verifiers:A12.2")
    @pytest.mark.parametrize(
        ("trusted", "lock", "message"),
        [
            (
                [],
                "",
                'uses the command predicate, which a verifier imported from include "corp" may not: list the include '
                "in [verifiers_settings] trust_exec_from (it must also be pinned in ai-rulez.lock)",
            ),
            (
                ["corp"],
                "",
                'include "corp" is trusted to run commands but is not pinned in ai-rulez.lock: run `reqfile lock`',
            ),
            (["other"], '[[include]]\nname = "corp"\n', "uses the command predicate, which a verifier imported"),
            (["corp"], '[[include]]\nname = "corp"\n', "include"),  # a commit pins no path
            (["corp"], '[[item]]\nkind = "local-include"\nid = "corp"\n', None),
            (["corp"], '[[item]]\nkind = "rule"\nid = "corp"\n', "include"),
        ],
    )
    def test_trust(self, bench: Workbench, trusted: list[str], lock: str, message: str | None) -> None:
        """Commands need trust and a pin."""
        other = '[[includes]]\nname = "other"\nsource = "other"\n' if "other" in trusted else ""
        bench.write("other/rules/r.md", "r")
        bench.config(f"{self.CONFIG}{other}[verifiers_settings]\ntrust_exec_from = {toml(trusted)}\n")
        bench.write("corp/verifiers/corp.toml", self.COMMAND)
        if lock:
            bench.write(".ai-rulez/ai-rulez.lock", lock)
        declarations = bench.declarations()
        if message is None:
            assert [spec.id for spec in declarations.specs] == ["cmd"]
            return
        (invalid,) = declarations.invalid
        assert invalid.message.startswith(message)
        assert invalid.source == "include:corp/verifiers/corp.toml"

    @pytest.mark.case("verifiers:A12.4")
    def test_trusted_command(self, bench: Workbench) -> None:
        """Trusted, pinned and opted in: it runs."""
        bench.config(f'{self.CONFIG}[verifiers_settings]\ntrust_exec_from = ["corp"]\n')
        bench.write("corp/verifiers/corp.toml", self.COMMAND)
        bench.write(".ai-rulez/ai-rulez.lock", '[[item]]\nkind = "local-include"\nid = "corp"\n')
        assert bench.result(RunOptions(allow_exec=True)).status == "pass"
        assert bench.result().code == "AR9H3"

    @pytest.mark.case("verifiers:A12.6")
    def test_duplicate_and_broken(self, bench: Workbench) -> None:
        """An imported id may not repeat a name; a file with an unknown key is dropped."""
        bench.config(flat("taken", "file_exists", path="x") + self.CONFIG)
        bench.write("corp/verifiers/a.toml", head("taken", when="*") + predicate("regex", regex="x"))
        bench.write("corp/verifiers/b.toml", head("b", when="*", colour=1) + predicate("regex", regex="x"))
        first, second = bench.declarations().invalid
        assert first.message == "duplicate verifier id (already declared in config.toml)"
        assert second.message.startswith("invalid TOML: ")

    @pytest.mark.case("verifiers:A12.7")
    def test_skill(self, bench: Workbench) -> None:
        """An installed skill brings verifiers, but never commands."""
        bench.config('[[installed_skills]]\nname = "ship"\nsource = "ship"\n')
        bench.write("ship/SKILL.md", "---\nname: ship\ndescription: d\n---\n\nShip.\n")
        bench.write(
            "ship/verifiers/a.toml", head("no-drop", when="*.ddl") + predicate("forbid", regex="drop") + self.COMMAND
        )
        first, second = bench.results()
        assert (first.status, first.source) == ("fail", "skill:ship/verifiers/a.toml")
        assert second.message == (
            'uses the command predicate, which a verifier shipped by installed skill "ship" may never use '
            "(trust_exec_from covers includes only)"
        )

    def test_include_that_is_elsewhere(self, bench: Workbench) -> None:
        """An include whose files are not on this machine may bring verifiers, so the run cannot be all right."""
        bench.config('[[includes]]\nname = "far"\nsource = "https://example.invalid/far.git"\n')
        result = bench.result()
        assert (result.name, result.status, result.code) == ("include:far", "error", "AR9H2")


class TestActiveSelection:
    """A13: settings, profiles and roles."""

    @pytest.mark.case("verifiers:A13.3")
    def test_require_examples(self, bench: Workbench) -> None:
        """AR9H6 comes in addition."""
        text = head("x") + predicate("file_exists", path="COPYING")
        assert _result(bench, text).code == ""
        bench.config("[verifiers_settings]\nrequire_examples = true\n")
        own, missing = bench.results()
        assert own.status == "pass"
        assert (missing.status, missing.code, missing.severity, missing.type) == (
            "fail",
            "AR9H6",
            "warning",
            "examples",
        )
        assert missing.message == "no self-test examples"
        assert missing.findings == (Finding(message="verifier x has no examples"),)
        assert not gates(missing.severity, "error")
        assert gates(missing.severity, "warning")
        bench.spec(text + '[[verifiers.examples]]\nname = "e"\nexpect = "pass"\n')
        assert len(bench.results()) == 1

    @pytest.mark.case("verifiers:A13.4")
    @pytest.mark.parametrize(
        ("profiles", "profile", "status"),
        [
            ("", None, "fail"),
            ('[profiles]\nbe = ["store"]\n', None, "inactive"),
            ('[profiles]\nbe = ["store"]\n', "be", "fail"),
            ('[profiles]\nbe = ["store"]\nfe = []\n', "fe", "inactive"),
            ('[profiles]\ndefault = ["store"]\n', None, "fail"),
        ],
    )
    def test_profiles(self, bench: Workbench, profiles: str, profile: str | None, status: str) -> None:
        """A verifier of an inactive rule is shown, never run, never failed."""
        bench.config(profiles)
        bench.write(".ai-rulez/domains/store/rules/dd.md", "# DD\n")
        bench.spec(
            '[[verifiers]]\nid = "x"\nrule = "store/dd"\nseverity = "error"\n' + predicate("file_exists", path="NONE")
        )
        result = bench.result(RunOptions(profile=profile))
        assert result.status == status
        if status == "inactive":
            name = profile or "default"
            assert result.message == f'rule "store/dd" is not in the active profile "{name}"'
            assert (result.severity, result.code, result.fix, result.findings) == ("error", "", "", ())

    def test_unknown_profile(self, bench: Workbench) -> None:
        """An unknown profile ends the run before it starts."""
        with pytest.raises(UsageError, match="nope"):
            bench.open(RunOptions(profile="nope"))


class TestExamples:
    """A14: self-tests."""

    TEXT = (
        head("undo", when="db/*.ddl")
        + predicate("regex", regex="-- undo")
        + "".join(
            example(name, expect, {path: text})
            for name, path, text, expect in (
                ("good", "db/1.ddl", "-- undo\n", "pass"),
                ("bad", "db/1.ddl", "make\n", "fail"),
                ("wrong", "db/1.ddl", "make\n", "pass"),
                ("other", "x.txt", "make\n", "not_applicable"),
            )
        )
    )

    @pytest.mark.case("verifiers:A14.1")
    def test_examples(self, bench: Workbench) -> None:
        """Each example in a folder of its own; the project's files play no part."""
        bench.spec(self.TEXT)
        run = bench.open()
        (spec,) = select_tested(run)
        results = [run_example(spec, example, run) for example in spec.examples]
        assert [(r.example.name, r.got, r.ok) for r in results] == [
            ("good", "pass", True),
            ("bad", "fail", True),
            ("wrong", "fail", False),
            ("other", "not_applicable", True),
        ]
        with pytest.raises(UsageError, match=r"unknown verifier\(s\): \[a b\]"):
            select_tested(run, ["b", "undo", "a"])
        outcome = example_outcome(results[2], "examples/wrong")
        assert outcome.status == "fail"
        assert outcome.findings[0].message == "expected pass, got fail: db/1.ddl: pattern `-- undo` not found"
        assert outcome.name == "undo/examples/wrong"

    @pytest.mark.case("verifiers:D-25")
    def test_error_is_no_expectation(self, bench: Workbench) -> None:
        """What could not be evaluated meets no label: a command without the opt-in, and a derived path outside."""
        bench.spec(
            head("cmd", when="*")
            + predicate("command", argv=["true"])
            + '[[verifiers.examples]]\nname = "e"\nfiles = { a = "" }\nchanged = ["a"]\nexpect = "fail"\n'
        )
        run = bench.open()
        (spec,) = run.declarations.specs
        result = run_example(spec, spec.examples[0], run)
        assert (result.got, result.ok) == ("error", False)
        assert example_outcome(result, "examples/e").status == "error"
        allowed = bench.open(RunOptions(allow_exec=True))
        assert run_example(spec, spec.examples[0], allowed).got == "pass"

    @pytest.mark.case("verifiers:A10.26")
    def test_llm_example(self, bench: Workbench) -> None:
        """An llm verifier's examples are skipped: nobody can say what a model answers."""
        bench.spec(
            head("x", when="*")
            + predicate("llm", checklist=["a"])
            + '[[verifiers.examples]]\nname = "e"\nfiles = { a = "" }\nchanged = ["a"]\nexpect = "fail"\n'
        )
        run = bench.open()
        (spec,) = run.declarations.specs
        result = run_example(spec, spec.examples[0], run)
        assert (result.got, result.ok, result.message) == (
            "skipped",
            True,
            "the llm predicate needs a model: not run offline",
        )
        assert example_outcome(result, "examples/e").status == "skipped"

    def test_everything_counts_as_added(self, bench: Workbench) -> None:
        """``diff-added`` sees every line of a changed file, and files that are not changed are only there."""
        bench.spec(
            head("x", when="*.py")
            + '[verifiers.require.forbid]\nregex = "XXX"\nin = "diff-added"\n'
            + '[[verifiers.examples]]\nname = "e"\nfiles = { "a.py" = "x\\nXXX\\n", "b.py" = "XXX\\n" }\n'
            + 'changed = ["./a.py", "gone.py"]\nexpect = "fail"\n'
        )
        run = bench.open()
        (spec,) = run.declarations.specs
        assert _places(run_example(spec, spec.examples[0], run).findings) == [("a.py", 2)]
