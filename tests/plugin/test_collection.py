"""Design 2.1 and 2.6: which files become items, under which names, in which order, and what turns it all off."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.requirements import OK, req, say

Run = Callable[..., pytest.RunResult]


def collected(result: pytest.RunResult) -> list[str]:
    """The node ids that ``--co -q`` printed."""
    return [line for line in result.outlines if "::" in line]


@pytest.fixture
def nested(project: Repo) -> Repo:
    """Requirements at the root, in app/ and in a folder that pytest does not enter, with a Python test."""
    project.write("Reqfile.yaml", req(TOP=[OK]))
    project.write("app/Reqfile.yaml", req("product", SUB=[OK, say("x")]))
    project.write(".hidden/Reqfile.yaml", req(HIDDEN=[OK]))
    project.write("tests/test_a.py", "def test_a(): pass\n")
    return project


def test_the_walk_collects_what_it_meets(nested: Repo, run: Run) -> None:
    """Plain pytest: files in collection order, checks in declaration order; dot folders are not entered."""
    assert collected(run("--co", "-q")) == [
        "Reqfile.yaml::TOP/command-1",
        "app/Reqfile.yaml::SUB/command-1",
        "app/Reqfile.yaml::SUB/command-2",
        "tests/test_a.py::test_a",
    ]


@pytest.mark.parametrize("arguments", [("tests",), ("tests/test_a.py::test_a",)])
def test_reqfile_adds_the_whole_repository(nested: Repo, run: Run, arguments: tuple[str, ...]) -> None:
    """--reqfile collects every Reqfile of the git listing, whatever the arguments say, each item once."""
    assert collected(run("--reqfile", "--co", "-q", *arguments)) == [
        "tests/test_a.py::test_a",
        ".hidden/Reqfile.yaml::HIDDEN/command-1",
        "Reqfile.yaml::TOP/command-1",
        "app/Reqfile.yaml::SUB/command-1",
        "app/Reqfile.yaml::SUB/command-2",
    ]


def test_reqfile_adds_to_a_walk_without_doubles(nested: Repo, run: Run) -> None:
    """Items the walk met are not collected again; single items named by id are completed."""
    everything = collected(run("--reqfile", "--co", "-q"))
    assert sorted(everything) == sorted(set(everything))
    assert len(everything) == 5
    assert len(collected(run("--reqfile", "--co", "-q", "app/Reqfile.yaml::SUB/command-2"))) == 4


def test_reqfile_reaches_above_rootdir(nested: Repo) -> None:
    """--reqfile means the whole git repository, also above rootdir (design 2.6)."""
    nested.write("app/pytest.ini", "[pytest]\n")
    done = nested.pytest("--reqfile", "--co", "-q", cwd="app")
    assert "../Reqfile.yaml::TOP/command-1" in done.out
    run_it = nested.pytest("--reqfile", "-q", cwd="app")
    assert "4 checks run" in run_it.out


def test_ini_turns_it_on_and_the_flag_off(nested: Repo, run: Run) -> None:
    """`reqfile = true` is --reqfile; --no-reqfile beats it and stops the walk as well."""
    nested.write("pytest.ini", "[pytest]\nreqfile = true\ntestpaths = tests\n")
    assert len(collected(run("--co", "-q"))) == 5
    assert collected(run("--co", "-q", "--no-reqfile")) == ["tests/test_a.py::test_a"]


@pytest.mark.parametrize(
    "argument",
    [
        "Reqfile.yaml",
        "app/Reqfile.yaml::SUB/command-2",
        ".hidden/Reqfile.yaml",
        ".hidden/Reqfile.yaml::HIDDEN/command-1",
    ],
)
def test_a_path_always_works(nested: Repo, run: Run, argument: str) -> None:
    """A file or item named on the command line is collected, in a dot folder too."""
    found = collected(run("--co", "-q", argument))
    assert len(found) == 1
    assert found[0].startswith(argument)


def test_a_bad_file_is_an_error_and_hides_no_other(nested: Repo, run: Run) -> None:
    """FILE::load carries every problem of the file; other files run."""
    nested.write("app/Reqfile.yaml", "reqfile: 1\ncode:\n  - id: lower\n    colour: red\n")
    result = run("-rE")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "error: app/Reqfile.yaml:3: requirement id `lower` must be SCREAMING_SNAKE_CASE",
            "    app/Reqfile.yaml:4: unknown key `colour` in a requirement (expected one of: *)",
            "ERROR app/Reqfile.yaml::load - app/Reqfile.yaml:3: requirement id `lower` must be SCREAMING_SNAKE_CASE",
        ]
    )


def test_near_misses_are_errors(project: Repo, run: Run) -> None:
    """A near-miss name of a Reqfile or config is its own ::load; another tool's file of that name is nothing."""
    project.write("reqfile.yml", req(A=[OK]))
    project.write("other/reqfile.yaml", "on: push\n")
    project.write(".reqfile/config.yml", "base: main\n")
    result = run("-rE")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines_random(
        [
            "ERROR reqfile.yml::load - reqfile.yml:1: a requirements file must be named exactly Reqfile.yaml",
            "ERROR .reqfile/config.yml::load - .reqfile/config.yml:1: a config file must be named exactly *",
        ]
    )


def test_a_broken_config_makes_its_checks_errors(project: Repo, run: Run) -> None:
    """Checks below a config that cannot be read are not judged by settings that were meant to be others."""
    project.write("Reqfile.yaml", req(TOP=[OK]))
    project.write("app/Reqfile.yaml", req(SUB=[OK]))
    project.write("app/.reqfile/config.yaml", "exclud: []\n")
    result = run("-rE")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines_random(
        [
            "ERROR app/.reqfile/config.yaml::load - app/.reqfile/config.yaml:1: unknown key `exclud` in the config*",
            "ERROR app/Reqfile.yaml::SUB/command-1 - its settings cannot be read: app/.reqfile/config.yaml:1: *",
        ]
    )


def test_a_repeated_id_is_an_error_of_the_later_file(project: Repo, run: Run) -> None:
    """The first file keeps its items; the later one's ::load names both (design 2.6)."""
    project.write("Reqfile.yaml", req(SAME=[OK]))
    project.write("app/Reqfile.yaml", req(SAME=[OK], OTHER=[OK]))
    result = run("-rE")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["ERROR app/Reqfile.yaml::load - app/Reqfile.yaml:3: requirement SAME is also defined in Reqfile.yaml; *"]
    )


def test_an_excluded_or_ignored_file_is_skipped_when_named(project: Repo, run: Run) -> None:
    """Named by path it says what leaves it out; met by the walk it is nothing."""
    project.write(".reqfile/config.yaml", "exclude: ['fixtures/**']\n")
    project.write(".gitignore", "build/\n")
    project.write("fixtures/Reqfile.yaml", "nonsense")
    project.write("build/Reqfile.yaml", "nonsense")
    project.write("test_a.py", "def test_a(): pass\n")
    run().assert_outcomes(passed=1)
    for path, reason in (
        ("fixtures/Reqfile.yaml", "fixtures/Reqfile.yaml is excluded by .reqfile/config.yaml"),
        ("build/Reqfile.yaml", "build/Reqfile.yaml is ignored by git"),
    ):
        result = run("-rs", path)
        result.assert_outcomes(skipped=1)
        result.stdout.fnmatch_lines([f"SKIPPED [[]1] {path}:1: {reason}"])


def test_outside_a_repository_a_reqfile_is_an_error(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git nothing can be listed: an error, never an empty pass; --reqfile is a usage error."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(pytester.path.parent))
    monkeypatch.delenv("REQFILE_RUN", raising=False)
    pytester.path.joinpath("Reqfile.yaml").write_text(req(A=[OK]))
    pytester.runpytest_inprocess().assert_outcomes(errors=1)
    result = pytester.runpytest_inprocess("--reqfile")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --reqfile: not inside a git repository"])


def test_collect_only_runs_nothing(project: Repo, run: Run) -> None:
    """--co starts no command."""
    project.write("Reqfile.yaml", req(A=[say("x > started")]))
    run("--co")
    assert not project.path("started").exists()


def test_names_use_the_fixed_alphabet(nested: Repo, run: Run) -> None:
    """No bracket, colon or space in a name (anchors.md L7)."""
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./")
    for nodeid in collected(run("--reqfile", "--co", "-q", "Reqfile.yaml")):
        assert set(nodeid.partition("::")[2]) <= allowed


def test_an_unknown_requirement_is_an_error_of_the_linked_test(project: Repo, run: Run) -> None:
    """@pytest.mark.requirement takes one or more ids; one that no Reqfile defines makes the test an error."""
    project.write("Reqfile.yaml", req(A=[OK], B=[OK]))
    project.write(
        "test_links.py",
        "import pytest\n"
        "@pytest.mark.requirement('A', 'B')\ndef test_two(): pass\n"
        "@pytest.mark.requirement(id='B')\ndef test_keyword(): pass\n"
        "@pytest.mark.requirement('C')\ndef test_unknown(): pass\n",
    )
    result = run("-rE", "test_links.py")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*requirement C: no Reqfile of the repository defines it"])
    run("test_links.py", "-m", "requirement(id='B')").assert_outcomes(passed=2, deselected=1)


def test_fixtures_give_the_repository_and_its_catalog(project: Repo, run: Run) -> None:
    """Ordinary tests can ask what the repository requires."""
    project.write("Reqfile.yaml", req(A=[OK]))
    project.write(
        "test_fixtures.py",
        "def test_catalog(reqfile_catalog, reqfile_repository):\n"
        "    assert [r.id for r in reqfile_catalog.requirements] == ['A']\n"
        f"    assert reqfile_repository.root == {str(project.root)!r}\n",
    )
    run("test_fixtures.py").assert_outcomes(passed=1)


def test_bad_option_values_are_usage_errors(project: Repo, run: Run) -> None:
    """An edition that does not exist stops the run before anything runs, from flag, ini or environment."""
    project.write("Reqfile.yaml", req(A=[OK]))
    assert run("--reqfile-edition=0.3").ret == pytest.ExitCode.USAGE_ERROR
    result = run("-o", "reqfile_edition=0.3")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("--reqfile-generator='",), "--reqfile-generator"), (("-o", "reqfile_generator='"), "reqfile_generator")],
)
def test_a_generator_that_is_no_command_is_a_usage_error(run: Run, arguments: tuple[str, ...], named: str) -> None:
    """Named with its value and the way out, before anything is collected."""
    result = run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[0] == (
        f'ERROR: {named}: expected ai-rulez, lock or a command as for a shell, found "\'" (no closing quotation); '
        "close the quote, or put a backslash before it"
    )
    result.stdout.no_fnmatch_line("*collected*")
