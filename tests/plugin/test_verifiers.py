"""Design 2.1 to 2.6 for verifiers: names, markers, outcomes, options, changed-only runs, errors of a project."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.projects import HEAD, write_project

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def rulez(project: Repo) -> Repo:
    """A repository with an .ai-rulez project."""
    write_project(project)
    return project


def test_every_outcome_in_every_mode(rulez: Repo, mode: tuple[str, ...]) -> None:
    """Failures, advisories, errors, skips and self-tests of verifiers do not depend on xdist."""
    done = rulez.pytest("--strict-markers", "-W", "error", "-rA", *mode)
    assert done.code == 1
    for line in (
        "FAILED .ai-rulez/config.toml::readme - file does not exist",
        "FAILED .ai-rulez/verifiers/db.toml::migrations-have-down - pattern `(?m)^-- down` not found",
        "PASSED .ai-rulez/verifiers/db.toml::migrations-have-down/examples/with-down-passes",
        "PASSED .ai-rulez/verifiers/db.toml::migrations-have-down/examples/without-down-fails",
        'advisory  no-todo  a.py:1  forbidden pattern "TODO"',
        "labeled examples of 2 verifiers: 1 with both classes, 1 with none",
        "verifiers: 0 passed, 3 failed, 2 could not run",
    ):
        assert line in done.out.splitlines(), done.out
    assert "2 failed, 2 passed, 2 errors, 1 advisory" in done.out
    assert "--reqfile-allow-exec" in done.out


def test_a_failure_names_what_it_enforces(rulez: Repo, run: Run) -> None:
    """The rule, its anchor's line in the file as it is on disk, the finding and the fix."""
    text = run(".ai-rulez/verifiers/db.toml::migrations-have-down").stdout.str()
    shown = text[text.index("[reqfile] migrations-have-down") : text.index("= reqfile =")].split("\n")[1:-1]
    assert shown == [
        "AR9H1 migrations-have-down: Every migration needs a '-- down' section.",
        '  enforces: rule "database" (.ai-rulez/rules/database.md:6)',
        "db/1.sql: pattern `(?m)^-- down` not found",
        "  fix: Add a '-- down' section.",
        "declared at .ai-rulez/verifiers/db.toml:1",
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('{"a": 1}', 'a is "1", expected "2"'),
        ('{"b": 1}', "has no key a"),
        ('{"a": null}', 'a is null, expected "2"'),
    ],
)
def test_a_failed_key_check_names_the_value(project: Repo, document: str, said: str) -> None:
    """Where a finding stands alone: the summary, code scanning, the page. On the command line it is ai-rulez's text."""
    entry = '[[verifiers]]\nname = "k"\ntype = "key_equals"\npath = "k.json"\nkey = "a"\nequals = "2"\n'
    project.write(".ai-rulez/config.toml", f"{HEAD}{entry}")
    project.write("k.json", document)
    done = project.pytest("--reqfile-sarif", "r.sarif", "--reqfile-junit", "r.xml")
    assert f"FAILED .ai-rulez/config.toml::k - {said}" in done.out
    assert f"k.json: {said}\ndeclared at" in done.out
    assert "key check failed" not in done.out
    (result,) = json.loads(project.path("r.sarif").read_text())["runs"][0]["results"]
    assert result["message"]["text"] == said
    assert "key check failed" in project.run("verifiers", "run").out


def test_markers_and_options(rulez: Repo, run: Run) -> None:
    """-m verifier(...), fast, and the severities that fail the run."""
    run("-m", "verifier(id='readme')").assert_outcomes(failed=1, deselected=6)
    run("-m", "fast and not example", "--co", "-q").stdout.no_fnmatch_line("*tool-answers*")
    run("-m", "advisory").stdout.fnmatch_lines(["*1 advisory*"])
    run("-k", "no-todo", "--reqfile-fail-on", "warning").assert_outcomes(failed=1, deselected=6)
    run("-k", "no-todo", "--reqfile-strict").assert_outcomes(failed=1, deselected=6)
    assert run("-k", "readme", "--reqfile-fail-on", "none").ret == 0
    assert run("--reqfile-profile", "none").ret == pytest.ExitCode.USAGE_ERROR
    run("--reqfile-fast", "-k", "tool-answers", "-rs").stdout.fnmatch_lines(["SKIPPED*left for a full run"])


def test_a_command_needs_the_opt_in(rulez: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command predicate is an error without permission and runs with the flag or the variable."""
    run("-k", "tool-answers").assert_outcomes(errors=1, deselected=6)
    run("-k", "tool-answers", "--reqfile-allow-exec").assert_outcomes(failed=1, deselected=6)
    monkeypatch.setenv("AI_RULEZ_VERIFIERS_ALLOW_EXEC", "1")
    run("-k", "tool-answers").assert_outcomes(failed=1, deselected=6)


def test_changed_only(rulez: Repo, run: Run) -> None:
    """A verifier whose scope did not change is not applicable; whole-repository ones still run."""
    rulez.commit()
    run("-k", "migrations-have-down and not examples", "--reqfile-changed=HEAD", "-rs").assert_outcomes(
        skipped=1, deselected=6
    )
    rulez.write("db/2.sql", "-- up\n-- down\n-- more\n")
    run("-k", "migrations-have-down and not examples", "--reqfile-changed=HEAD").assert_outcomes(passed=1, deselected=6)
    rulez.write("db/3.sql", "-- up\n")
    run("-k", "migrations-have-down and not examples", "--reqfile-staged").assert_outcomes(skipped=1, deselected=6)
    rulez.git("add", "-A")
    run("-k", "migrations-have-down and not examples", "--reqfile-staged").assert_outcomes(failed=1, deselected=6)
    result = run("--reqfile-changed=nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_broken_project_is_an_error_of_its_files(rulez: Repo, run: Run) -> None:
    """An unknown key, a bad declaration and a layout that is not read: errors, never "no verifiers"."""
    rulez.write(".ai-rulez/verifiers/other.toml", "[[verifiers]]\nid = 'x'\ncolour = 'red'\n")
    run(".ai-rulez/verifiers/other.toml").assert_outcomes(errors=1)
    rulez.write(".ai-rulez/config.toml", "version = '4.0'\n")
    result = run()
    assert result.ret == 1
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["verifiers: 0 passed, 0 failed, 3 could not run"])
    result.stdout.no_fnmatch_line("* run, * with nothing to check*")
    rulez.write("sub/ai-rulez.toml", "version = '5.0'\n")
    run("sub").stdout.fnmatch_lines(["*the single-file layout is not read*"])


def test_whole_repository_adds_projects(rulez: Repo, run: Run) -> None:
    """--reqfile collects the project's files when pytest's walk would not meet them."""
    rulez.write("tests/test_a.py", "def test_a(): pass\n")
    found = run("--reqfile", "--co", "-q", "tests").stdout.str()
    assert ".ai-rulez/config.toml::readme" in found
    assert ".ai-rulez/verifiers/db.toml::migrations-have-down/examples/with-down-passes" in found


def test_results_do_not_depend_on_company(rulez: Repo, run: Run) -> None:
    """A verifier evaluated alone comes to what it comes to among the others (metamorphic)."""
    together = run("-rA").stdout.str()
    for name in ("readme", "migrations-have-down"):
        alone = run("-rA", "-k", f"{name} and not examples").stdout.str()
        line = next(line for line in alone.splitlines() if line.startswith("FAILED") and name in line)
        assert line in together
