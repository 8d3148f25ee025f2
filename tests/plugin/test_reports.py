"""Reports of a run: written once by the controller, equal in every mode and order, and never half (issue 5)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.support import Repo
from tests.support.projects import HEAD
from tests.support.reports import physical_locations, read_html, read_json, read_junit, read_sarif
from tests.support.requirements import OK, command, req, say

Run = Callable[..., pytest.RunResult]
MODES = {"without": ("-p", "no:xdist"), "idle": (), "workers": ("-n", "2"), "reversed": ("-n", "2", "--backwards")}
EXAMPLES = Path(__file__).parents[2] / "examples"
REPORTS = {"sarif": "r.sarif", "junit": "r.xml", "json": "r.json", "html": "r.html"}
BACKWARDS = """
import pytest
def pytest_addoption(parser): parser.addoption('--backwards', action='store_true')
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.getoption('backwards'): items.reverse()
"""
LINKED = """
import pytest
@pytest.mark.requirement('PASSES', 'NOWHERE')
def test_both(): pass
@pytest.mark.requirement('LINKED')
@pytest.mark.parametrize('n', [1, 2])
def test_each(n): assert n == 1
@pytest.mark.requirement('UNLOOKED')
def test_skipped(): pytest.skip('not today')
@pytest.mark.requirement('UNLOOKED')
@pytest.mark.xfail(run=False)
def test_not_run(): pass
"""
TIMES = (
    (r'"(start|end)TimeUtc": "[^"]*"', '"time"'),
    (r'"(started|seconds)": [-+.e0-9]+', '"time": 0'),
    (r' time="[0-9.]+"', ""),
    (r"<time .*?</time> · [^<]*", "time"),
)


def options(folder: str = "out") -> tuple[str, ...]:
    """The flags that ask for every report in a folder."""
    return tuple(f"--reqfile-{name}={folder}/{file}" for name, file in REPORTS.items())


def reports(repo: Repo, folder: str = "out") -> dict[str, str]:
    """Every report in a folder, each valid, without times."""
    read: dict[str, Callable[[str], object]] = {
        "sarif": read_sarif,
        "junit": read_junit,
        "json": read_json,
        "html": read_html,
    }
    found = {name: repo.path(f"{folder}/{file}").read_text("utf-8") for name, file in REPORTS.items()}
    for name, text in found.items():
        read[name](text)
    for pattern, replacement in TIMES:
        found = {name: re.sub(pattern, replacement, text) for name, text in found.items()}
    return found


def own_cases(repo: Repo, path: str) -> list[str]:
    """The test cases of pytest's own JUnit file, without times, sorted; the file is valid but for their properties."""
    text = repo.path(path).read_text("utf-8")
    root = etree.fromstring(text.encode())
    for case in root.iter("testcase"):
        case.attrib.pop("time")
    read_junit(text, case_properties=True)
    return sorted(etree.tostring(case, encoding="unicode") for case in root.iter("testcase"))


def project_json(repo: Repo, folder: str = "out") -> dict[str, Any]:
    """The JSON report."""
    return read_json(repo.path(f"{folder}/r.json").read_text("utf-8"))


def statuses(repo: Repo) -> dict[str, str]:
    """Status of each item by its node id."""
    return {each["nodeid"]: each["status"] for each in project_json(repo)["items"]}


@pytest.fixture
def everything(project: Repo) -> Repo:
    """Outcomes of every status in two folders, hostile texts, a broken file and linked tests."""
    result = {
        "message": {"text": "bad\u001b[2J <b>&"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a%FF%20b.py"}, "region": {"startLine": 4}}}],
    }
    project.write("found.sarif", json.dumps({"runs": [{"results": [result, {"message": {"text": "two"}}]}]}))
    checks = {
        "PASSES": [OK],
        "FAILS": [command("cat found.sarif; exit 1", format="sarif"), say("'second\\xff\\033[2J'", hint="Do it.")],
        "BREAKS": [command("printf 'boom\\377\\001'; exit 7")],
        "ADVISES": [say("think of it", mode="advisory"), command("exit 9", mode="advisory")],
        "QUIET": [command("exit 1", files="**/*.go")],
        "LINKED": [command("exit 1", files="**/*.go")],
        "UNLOOKED": [command("exit 1", files="**/*.go")],
        "NOWHERE": [command("exit 1", files="**/*.go")],
    }
    project.write("Reqfile.yaml", req(**checks))
    project.write("app/Reqfile.yaml", req(BELOW=[say("below")]))
    project.write("app/inner/Reqfile.yaml", "reqfile: 1\ncode:\n  - id: lower\n")
    project.write("app/test_linked.py", LINKED)
    project.write("app/pytest.ini", "[pytest]\n")
    project.write("app/conftest.py", BACKWARDS)
    return project


def test_reports_do_not_depend_on_mode_or_order(everything: Repo) -> None:
    """Byte for byte but for times, with pytest's own JUnit cases; every item once; linked tests counted."""
    found: dict[str, tuple[object, ...]] = {}
    for mode, arguments in MODES.items():
        done = everything.pytest("--reqfile", *arguments, *options(mode), f"--junitxml={mode}/p.xml", cwd="app")
        assert done.code == 1, done.out + done.err
        folder = f"app/{mode}"
        found[mode] = (reports(everything, folder), own_cases(everything, f"{folder}/p.xml"))
    first = found.pop("without")
    for mode, each in found.items():
        assert each == first, mode

    report = project_json(everything, "app/without")
    by_name = {f"{each['file']}::{each['owner']}/{each['check']}": each["status"] for each in report["items"]}
    assert len(by_name) == len(report["items"]) == 12
    assert by_name["app/inner/Reqfile.yaml::app/inner/Reqfile.yaml/load"] == "error"
    assert by_name["Reqfile.yaml::FAILS/command-1"] == "fail"
    assert [each["nodeid"].partition("::")[0] for each in report["tests"]] == ["test_linked.py"] * 5
    assert report["unverified"] == ["BREAKS", "QUIET", "UNLOOKED"]
    text = json.dumps(first[0])
    assert str(everything.root) not in text
    assert "a%EF%BF%BD%20b.py" in text
    assert "\\u001b" not in text.replace("\\\\u001b", "")


@pytest.mark.parametrize("name", ["quickstart", "verifiers", "oracle"])
def test_example_projects_report_the_same_in_every_mode(project: Repo, name: str) -> None:
    """The projects of examples/, as their users run them."""
    shutil.copytree(EXAMPLES / name, project.root, dirs_exist_ok=True)
    path = f"{Path(sys.executable).parent}:{project.variables['PATH']}"
    found = []
    missions = ("mission.json", ".") if name == "oracle" else ()  # collected only by name
    for mode in ("without", "idle", "workers"):
        done = project.pytest("--reqfile", *MODES[mode], *options(mode), *missions, env={"PATH": path})
        assert done.code in {0, 1}, done.out + done.err
        found.append(reports(project, mode))
        shutil.rmtree(project.path(mode))  # it would be one more file that checks look at
    assert found[0] == found[1] == found[2]
    assert len(json.loads(found[0]["json"])["items"]) >= 3


UNDECODABLE = """
version = "5.0"
name = "demo"

[[verifiers]]
name = "no-todo"
type = "forbid"
glob = "*.py"
pattern = "TODO"
severity = "warning"
"""


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_file_name_that_is_no_text(project: Repo, arguments: tuple[str, ...]) -> None:
    """Its bytes reach the SARIF URI, every other report shows them, and no worker dies of them."""
    project.write(".ai-rulez/config.toml", UNDECODABLE)
    Path(os.fsdecode(os.fsencode(project.root) + b"/x\xff\x1b.py")).write_text("# TODO\n")
    done = project.pytest(*arguments, "--reqfile", *options(), "--junitxml=out/p.xml")
    assert done.code == 0, done.out + done.err
    assert "x\\xff\\x1b.py:1" in done.out
    found = reports(project)
    assert '"uri": "x%FF%1B.py"' in found["sarif"]
    assert [name for name, text in found.items() if "\x1b" in text] == []
    assert [name for name, text in found.items() if "x\\xff" in text] == ["junit", "html"]
    assert own_cases(project, "out/p.xml")
    (item,) = project_json(project)["items"]
    assert (item["status"], item["subject"]) == ("advisory", "verifier")


def test_a_dead_worker_leaves_no_hole(project: Repo) -> None:
    """The item it died of and those that nobody ran after it are errors; the rest of the report stands."""
    checks = {"A_PASSES": [OK], "B_DIES": [command("kill -9 $PPID; sleep 5")], "C_LOST": [OK, OK]}
    project.write("Reqfile.yaml", req(**checks))
    done = project.pytest("-n", "1", "--max-worker-restart=0", *options())
    assert done.code != 0
    reports(project)
    assert statuses(project) == {
        "Reqfile.yaml::A_PASSES/command-1": "pass",
        "Reqfile.yaml::B_DIES/command-1": "error",
        "Reqfile.yaml::C_LOST/command-1": "error",
        "Reqfile.yaml::C_LOST/command-2": "error",
    }
    assert project_json(project)["complete"] is False
    assert "error: 2 items not run: the run ended before" in done.out.splitlines()
    lines = {each["owner"]: (each["declared"]["line"], each["title"]) for each in project_json(project)["items"]}
    assert lines["B_DIES"] == (11, "Be good."), "a lost item is shown at its requirement"


DEADLY_EXAMPLES = """
[[verifiers]]
id = "clean"
rule = "style"
when_changed = ["*.txt"]
[verifiers.require.command]
argv = ["sh", "-c", "test ! -e die.txt || kill -9 $PPID; sleep 5"]
[[verifiers.examples]]
name = "dies"
files = { "die.txt" = "x" }
changed = ["die.txt"]
expect = "fail"
"""


def test_a_dead_worker_does_not_take_the_label_of_an_example(project: Repo) -> None:
    """What an example expects is known before it runs, and counted whatever came of it."""
    project.write("Reqfile.yaml", req(R=[command("test ! -e die || { kill -9 $PPID; sleep 5; }")]))
    project.write(".reqfile/R/examples/violation-x/die", "x")
    project.write(".ai-rulez/config.toml", HEAD)
    project.write(".ai-rulez/rules/style.md", "# Style\n")
    project.write(".ai-rulez/verifiers/t.toml", DEADLY_EXAMPLES)
    done = project.pytest("-n", "1", "--reqfile-allow-exec", *options(), "Reqfile.yaml", ".ai-rulez/verifiers/t.toml")
    assert done.code == 1
    assert "labeled examples of 1 requirement: 0 with both classes, 1 with violations only, 0 with none" in done.out
    assert "labeled examples of 1 verifier: 0 with both classes, 1 with violations only, 0 with none" in done.out
    lost = {item["owner"]: item for item in project_json(project)["items"] if item["subject"] == "example"}
    found = {owner: (item["status"], item["details"]["label"]) for owner, item in lost.items()}
    assert found == {"R": ("error", "violation"), "clean": ("error", "fail")}
    assert lost["clean"]["declared"]["line"] == 8


BROKEN_WORKER = """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    if hasattr(report, 'worker_id') or 'command' in report.nodeid: report.sections.append(('broken', '\\udcff'))
"""


def test_workers_that_break_down_are_no_success(project: Repo) -> None:
    """xdist ends with 0 when a plugin breaks every worker; what was not looked at is never green."""
    project.write("Reqfile.yaml", req(A=OK))
    project.write("conftest.py", BROKEN_WORKER)
    done = project.pytest("-n", "1", "-q", *options())
    told = "error: 1 item not run: the run ended before" in done.out.splitlines()
    assert done.code == (pytest.ExitCode.TESTS_FAILED if told else pytest.ExitCode.INTERNAL_ERROR), done.out
    reports(project)
    assert statuses(project) == {"Reqfile.yaml::A/command-1": "error"}


DIES_COLLECTING = """
import os
def pytest_collection_modifyitems(config):
    if hasattr(config, 'workerinput'): os._exit(11)
"""


def test_workers_that_die_while_they_collect_looked_at_nothing(project: Repo) -> None:
    """xdist ends as if there were no tests; an upload of that report would close every alert."""
    project.write("Reqfile.yaml", req(A=OK))
    project.write("conftest.py", DIES_COLLECTING)
    done = project.pytest("-n", "1", *options())
    assert done.code != 0
    sarif = reports(project)["sarif"]
    assert '"executionSuccessful": false' in sarif
    assert project_json(project)["stopped"] == "every worker ended while it collected: Not properly terminated"


def test_an_item_that_failed_on_one_worker_failed(project: Repo) -> None:
    """Where every worker runs everything, the one that passes later does not take the failure back."""
    project.write("Reqfile.yaml", req(A=command("mkdir one && { echo bad; exit 1; }; sleep 2")))
    assert project.pytest("--dist=each", "--tx=2*popen", *options()).code == 1
    reports(project)
    assert statuses(project) == {"Reqfile.yaml::A/command-1": "fail"}


def test_a_plugin_that_breaks_at_the_end_takes_no_report_along(project: Repo) -> None:
    """Reports of others are written in the same hook, and break over names that are no text."""
    project.write("Reqfile.yaml", req(A=say("bad")))
    project.write("conftest.py", "def pytest_sessionfinish(): raise UnicodeError('broken')\n")
    assert project.pytest(*options()).code != 0
    reports(project)
    assert statuses(project) == {"Reqfile.yaml::A/command-1": "fail"}


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["alone", "workers"])
def test_ctrl_c_writes_what_is_known(project: Repo, arguments: tuple[str, ...]) -> None:
    """Marked incomplete; what was not reached is an error, never gone (seed 000 "Output")."""
    interrupt = f"kill -{int(signal.SIGINT)} $PPID; sleep 20"
    project.write("Reqfile.yaml", req(A_PASSES=[OK], B_STOPS=[command(interrupt)], C_LATER=[OK]))
    done = project.pytest(*arguments, *options())
    assert done.code == pytest.ExitCode.INTERRUPTED, done.out
    reports(project)
    assert statuses(project) == {
        "Reqfile.yaml::A_PASSES/command-1": "pass",
        "Reqfile.yaml::B_STOPS/command-1": "error",
        "Reqfile.yaml::C_LATER/command-1": "error",
    }
    found = project_json(project)
    assert (found["complete"], bool(found["stopped"])) == (False, True)


def test_stopping_at_the_first_failure_is_incomplete(project: Repo, run: Run) -> None:
    """-x leaves items that nobody looked at."""
    project.write("Reqfile.yaml", req(A=[say("x")], B=[OK]))
    assert run("-x", *options()).ret == pytest.ExitCode.TESTS_FAILED
    reports(project)
    found = project_json(project)
    assert found["stopped"] == "stopping after 1 failures"
    assert {each["owner"]: each["reason"] for each in found["items"]} == {
        "A": None,
        "B": "not run: the run ended before it",
    }


def test_a_report_that_cannot_be_written_fails_the_run(project: Repo, run: Run) -> None:
    """It is named, the other reports are written, and the exit code is not 0; even -qq says it."""
    project.write("Reqfile.yaml", req(A=[OK]))
    project.path("app").mkdir()
    result = run("-qq", "--reqfile-sarif=app", "--reqfile-json=out/r.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: --reqfile-sarif: cannot write */app: Is a directory"])
    assert statuses(project) == {"Reqfile.yaml::A/command-1": "pass"}


LONG = "printf 'x%.0s' $(seq 5000); exit 1"


@pytest.mark.parametrize(("verbosity", "told"), [("-v", True), ("-q", True), ("-qq", False)])
def test_what_a_report_leaves_out_is_told(project: Repo, run: Run, verbosity: str, told: bool) -> None:
    """Also by a quiet run, whose reader would take the upload for whole (user-asks 31)."""
    project.write("Reqfile.yaml", req(A=[command(LONG)]))
    lines = run(verbosity, "--tb=no", *options()).outlines
    assert ("sarif report: 1 message cut to 4000 characters" in lines) is told
    reports(project)


def test_a_failed_write_keeps_the_old_report(project: Repo) -> None:
    """On a disk that takes no more the report of the last run stays whole, and nothing half lies beside it."""
    project.write("Reqfile.yaml", req(A=[OK]))
    project.write("out/r.html", "the last run")
    limited = f"ulimit -f 2; exec {sys.executable} -P -m pytest -s -p no:cacheprovider --reqfile-html=out/r.html"
    done = project.execute("bash", "-c", limited, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.code == 1, done.out
    assert "error: --reqfile-html: cannot write" in done.out
    assert project.path("out/r.html").read_text() == "the last run"
    assert [path.name for path in project.path("out").iterdir()] == ["r.html"]


def test_when_reports_are_written(project: Repo, run: Run) -> None:
    """On an empty selection too; not when nothing is to run, for a bad command line, or when turned off."""
    project.write("Reqfile.yaml", req(A=[OK]))
    for arguments, code in (
        (("--collect-only",), pytest.ExitCode.OK),
        (("--reqfile-only=NONE",), pytest.ExitCode.USAGE_ERROR),
        (("--no-reqfile",), pytest.ExitCode.NO_TESTS_COLLECTED),
    ):
        assert run(*arguments, *options()).ret == code
        assert not project.path("out").exists()
    assert run("-k", "nothing", *options()).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert json.loads(reports(project)["json"])["items"] == []
    result = run("--reqfile-json=same", "--reqfile-html=./same")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --reqfile-html and --reqfile-json both name */same"])


def test_no_two_reports_are_one_file(project: Repo, run: Run) -> None:
    """However the path is spelled, and whoever writes: one of them would be lost."""
    project.write("Reqfile.yaml", req(A=[OK]))
    project.path("d").mkdir()
    project.path("link").symlink_to("d")
    for arguments in (
        ("--reqfile-json=d/../same", "--reqfile-html=same"),
        ("--reqfile-json=d/same", "--reqfile-html=link/same"),
        ("--junitxml=same", "--reqfile-junit=same"),
        ("--reqfile-json=same", "--reqfile-log=same"),
    ):
        result = run(*arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: --* and --* both name */same"])
    assert not project.path("same").exists()


@pytest.mark.parametrize("flag", ["--reqfile-json", "--reqfile-log"])
def test_a_report_is_not_written_over_what_it_reports_on(project: Repo, run: Run, flag: str) -> None:
    """A flag whose value was forgotten takes the path that was meant to be run."""
    declared = req(A=[OK])
    project.write("Reqfile.yaml", declared)
    result = run(flag, "Reqfile.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: {flag}: */Reqfile.yaml is a file that reqfile reads, expected a file to write"]
    )
    assert project.path("Reqfile.yaml").read_text() == declared


def test_setup_plan_runs_nothing(project: Repo, run: Run) -> None:
    """It shows what would run; nothing of it is missing then."""
    project.write("Reqfile.yaml", req(A=command("touch ran; exit 1")))
    assert run("--setup-plan").ret == pytest.ExitCode.OK
    assert not project.path("ran").exists()


@pytest.mark.parametrize("flag", ["--fixtures", "--fixtures-per-test", "--setup-plan", "--collect-only"])
def test_runs_that_run_nothing(project: Repo, flag: str) -> None:
    """What was only collected is not missing, and nothing is reported on."""
    project.write("Reqfile.yaml", req(A=OK))
    done = project.pytest(flag, "--reqfile-json", "report.json")
    assert (done.code, "not run" in done.out) == (0, False), done.out
    assert not project.path("report.json").exists()


def test_the_section_begins_on_a_line_of_its_own(project: Repo, mode: tuple[str, ...]) -> None:
    """After the line of the progress, which pytest ends where nothing failed only if it is asked to."""
    project.write("Reqfile.yaml", req(A=OK))
    lines = project.pytest(*mode).out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.strip("=") == " reqfile ")
    assert lines[at + 1] == "labeled examples of 1 requirement: 0 with both classes, 1 with none"


def test_where_reports_are_written(project: Repo) -> None:
    """A flag's path is relative to the current folder, an ini key's to rootdir; the terminal names each."""
    project.write("Reqfile.yaml", req(A=[OK]))
    project.write("pytest.ini", "[pytest]\nreqfile_json = build/r.json\nreqfile_html = build/r.html\n")
    project.write("app/x.txt")
    done = project.pytest("../Reqfile.yaml", "--reqfile-html=r.html", cwd="app")
    assert done.code == 0, done.out
    assert project.path("build/r.json").is_file()
    assert project.path("app/r.html").is_file()
    assert not project.path("build/r.html").exists()
    assert "html report: r.html" in done.out.splitlines()
    assert f"json report: {project.root}/build/r.json" in done.out.splitlines()


@pytest.mark.parametrize("rootdir", [".", "../.."], ids=["below", "outside"])
def test_uris_start_at_the_repository_root(project: Repo, rootdir: str) -> None:
    """Whatever pytest's root folder is, and from a folder below: code scanning knows the repository only."""
    found = {"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.py"}}}]}
    project.write("app/found.sarif", json.dumps({"runs": [{"results": [found]}]}))
    project.write("app/Reqfile.yaml", req(A=[command("cat found.sarif; exit 1", format="sarif")]))
    done = project.pytest(f"--rootdir={rootdir}", "Reqfile.yaml", *options(), cwd="app")
    assert done.code == 1, done.out
    reports(project, "app/out")
    places = physical_locations(read_sarif(project.path("app/out/r.sarif").read_text("utf-8")))
    assert {place["artifactLocation"]["uri"] for place in places} == {"app/b.py", "app/Reqfile.yaml"}


def test_pytests_own_file_has_places_on_request(project: Repo, run: Run) -> None:
    """``file`` and ``line`` of a test case, counted from 0, in the form that has them (user-asks 28)."""
    project.write("Reqfile.yaml", req(A=[OK]))
    assert run("-o", "junit_family=xunit1", "--junitxml=p.xml").ret == pytest.ExitCode.OK
    (case,) = etree.fromstring(project.path("p.xml").read_bytes()).iter("testcase")
    assert (case.get("file"), case.get("line")) == ("Reqfile.yaml", "7")


def test_an_error_that_is_a_bug_is_in_the_report(project: Repo, run: Run) -> None:
    """Teardown of an item that another plugin broke turns its pass into an error."""
    project.write("Reqfile.yaml", req(A=[OK]))
    project.write("conftest.py", "def pytest_runtest_teardown(item): raise ZeroDivisionError('broken')\n")
    assert run(*options()).ret == pytest.ExitCode.TESTS_FAILED
    reports(project)
    (found,) = project_json(project)["items"]
    assert (found["status"], found["reason"]) == ("error", "ZeroDivisionError: broken")


def test_a_teardown_that_breaks_hides_no_finding(project: Repo, run: Run) -> None:
    """The item is an error where it is declared, and what it had found is still reported."""
    project.write("Reqfile.yaml", req(A=[say("found this")]))
    project.write("conftest.py", "def pytest_runtest_teardown(item): raise ZeroDivisionError('broken')\n")
    assert run(*options()).ret == pytest.ExitCode.TESTS_FAILED
    (found,) = project_json(project)["items"]
    assert (found["status"], found["reason"]) == ("error", "ZeroDivisionError: broken")
    assert (found["declared"]["line"], found["findings"][0]["message"]) == (8, "found this")
    assert [name for name, text in reports(project).items() if "found this" not in text] == []


MARKED = """
import pytest
MARKS = {
    'SKIPPED': pytest.mark.skip(reason='not today'),
    'XFAILS': pytest.mark.xfail(reason='known'),
    'XBREAKS': pytest.mark.xfail(reason='known'),
    'XNOTRUN': pytest.mark.xfail(run=False),
    'XPASSES': pytest.mark.xfail(reason='known'),
    'XSTRICT': pytest.mark.xfail(strict=True, reason='known'),
}
def pytest_collection_modifyitems(items):
    for item in items: item.add_marker(MARKS[item.name.partition('/')[0]])
"""


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["alone", "workers"])
def test_marks_of_the_user_are_told_in_every_report(project: Repo, arguments: tuple[str, ...]) -> None:
    """A skip is no item that was lost, what is expected to fail does not gate, and an unexpected pass is no pass."""
    checks = {"SKIPPED": OK, "XFAILS": say("x"), "XBREAKS": command("exit 7"), "XNOTRUN": say("x"), "XPASSES": OK}
    project.write("Reqfile.yaml", req(**checks))
    project.write("conftest.py", MARKED)
    done = project.pytest(*arguments, *options())
    assert done.code == 0, done.out
    assert " 1 skipped, 3 xfailed, 1 xpassed in " in done.out
    assert project_json(project)["complete"] is True
    found = {each["owner"]: (each["status"], each["blocking"], each["reason"]) for each in items(project)}
    assert found == {
        "SKIPPED": ("skipped", True, "not today"),
        "XFAILS": ("advisory", False, None),
        "XBREAKS": ("error", False, "`exit 7` failed with exit code 7\n(no output)"),
        "XNOTRUN": ("skipped", True, "expected to fail: [NOTRUN]"),
        "XPASSES": ("pass", True, None),
    }
    assert 'executionSuccessful": false' not in reports(project)["sarif"]
    project.write("Reqfile.yaml", req(XSTRICT=OK))
    assert project.pytest(*arguments, *options()).code == 1
    assert [(each["status"], each["reason"]) for each in items(project)] == [("error", "[XPASS(strict)] known")]
    reports(project)


def items(repo: Repo) -> list[dict[str, Any]]:
    """The items of the JSON report."""
    found: list[dict[str, Any]] = project_json(repo)["items"]
    return found


def test_traceability_in_the_terminal(everything: Repo, run: Run) -> None:
    """-v shows what belongs to each requirement, --reqfile what nothing verified; a plain run stays short."""
    plain = run("app", "-k", "FAILS or linked").stdout.str()
    assert "not verified" not in plain
    whole = run("--reqfile").stdout
    whole.fnmatch_lines(["3 of 9 requirements not verified in this run: BREAKS, QUIET, UNLOOKED"])
    verbose = run("-v", "--reqfile").stdout
    verbose.fnmatch_lines_random(
        [
            "PASSES  1 check (1 pass), 1 test (1 passed)",
            "LINKED  1 check (1 nothing to check), 2 tests (1 passed, 1 failed)",
            "UNLOOKED  1 check (1 nothing to check), 2 tests (2 skipped)",
            "BELOW  1 check (1 fail)",
        ]
    )
