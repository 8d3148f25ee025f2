"""Cases F, I and M: command checks, fast path, no false green (seed 004 COMMAND_CHECK, FAST_PATH, NO_FALSE_GREEN)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest

from tests.support import Completed, Repo
from tests.support.requirements import CRASH, OK, command, expect, req, say, seen

RESULT = "It is wrong."


def _run(repo: Repo, check: str, *arguments: str) -> Completed:
    """``check`` of a repository with R1 alone, hint ``Do it.``, and the files a.txt, src/b.txt and src/c.rs."""
    repo.write("Reqfile.yaml", req(R1=check))
    for path in ("a.txt", "src/b.txt", "src/c.rs"):
        repo.write(path, "text\n")
    return repo.run("check", *arguments)


def _sarif(*results: Mapping[str, object]) -> str:
    return json.dumps({"version": "2.1.0", "runs": [{"results": list(results)}]})


def _result(uri: str | None = "a.txt", line: int = 3, **fields: object) -> dict[str, object]:
    found: dict[str, object] = {"message": {"text": RESULT}, **fields}
    if uri is not None:
        found["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}]
    return found


def _judged(probability: float, kind: str = "review") -> dict[str, object]:
    return _result(kind=kind, properties={"probability": probability})


def _report(code: int, name: str = "out.sarif", format: str = "sarif", **fields: object) -> str:
    return command(f"cat {name}; exit {code}", hint="Do it.", format=format, **fields)


@pytest.mark.case("reqfile:F1")
def test_exit_zero_passes(repo: Repo) -> None:
    """Whatever was printed."""
    expect(_run(repo, OK), 0, "1 check run, 0 with nothing to check. 0 violations")


@pytest.mark.case("reqfile:F2")
def test_exit_one_is_a_violation_carrying_the_output(repo: Repo) -> None:
    """Both outputs in the order they were written."""
    done = _run(repo, command("echo out; echo err >&2; exit 1", hint="Do it."))
    expect(done, 1, "R1  out\n    err\n  fix: Do it.\n")


@pytest.mark.case("reqfile:F4")
def test_violation_codes_replace_the_default(repo: Repo) -> None:
    """1 is a tool error then."""
    expect(_run(repo, command("exit 101", violation_codes=[101])), 1, "R1  (no output)\n")
    done = _run(repo, command("exit 1", violation_codes=[101]))
    expect(done, 3, "error  R1  `exit 1` failed with exit code 1\n    (no output)\n")


@pytest.mark.case("reqfile:F5")
def test_other_exit_codes_are_tool_errors(repo: Repo) -> None:
    """With the end of the output."""
    expect(
        _run(repo, command("echo boom; exit 2")),
        3,
        "error  R1  `echo boom; exit 2` failed with exit code 2\n    boom\n",
    )


@pytest.mark.case("reqfile:F7")
def test_a_signal_is_a_tool_error(repo: Repo) -> None:
    """A crash does not read as a pass."""
    expect(_run(repo, command("kill -9 $$")), 3, "error  R1  `kill -9 $$` was killed by signal 9\n")


@pytest.mark.case("reqfile:F8")
@pytest.mark.case("reqfile:F18")
@pytest.mark.parametrize("run", ["sleep 30", "sleep 30 &"])
def test_a_timeout_is_a_tool_error_and_stops_the_command(repo: Repo, run: str) -> None:
    """Also what it started in the background and holds the output (F18)."""
    start = time.monotonic()
    done = _run(repo, command(run, timeout=1))
    expect(done, 3, f"error  R1  `{run}` timed out after 1 seconds\n")
    assert time.monotonic() - start < 10


@pytest.mark.case("reqfile:F10")
def test_files_restrict_when_the_command_runs(repo: Repo) -> None:
    """No matching file: nothing to check. Without ``pass_files`` the command gets no arguments."""
    expect(_run(repo, command("exit 1", files="**/*.py")), 0, "0 checks run, 1 with nothing to check.")
    expect(_run(repo, say("args $#", files="**/*.txt")), 1, "R1  args 0\n")


@pytest.mark.case("reqfile:F11")
def test_pass_files_appends_the_matching_files(repo: Repo) -> None:
    """In byte order, relative to the folder."""
    expect(_run(repo, seen("**/*.txt")), 1, "saw a.txt src/b.txt\n")
    expect(_run(repo, seen("*.txt")), 1, "saw a.txt\n")


@pytest.mark.case("reqfile:F13")
def test_sarif_output_gives_one_violation_per_result_with_its_location(repo: Repo) -> None:
    """Relative to the command's folder, absolute, and without a place."""
    results = _sarif(
        _result("src/h.py", 42, ruleId="E1"),
        _result(f"file://{repo.root}/app/other%20file.py", 7, ruleId="X1"),
        _result(None),
    )
    repo.write("app/out.sarif", results)
    repo.write("app/Reqfile.yaml", req(R1=_report(1)))
    expect(
        repo.run("check"),
        1,
        f"R1  app/src/h.py:42  {RESULT} (E1)\n  fix: Do it.\nR1  app/other file.py:7  {RESULT} (X1)\n",
        f"R1  {RESULT}\n",
        "3 violations",
    )


@pytest.mark.case("reqfile:F14")
@pytest.mark.parametrize(("code", "edition", "ended"), [(1, "0.1", 3), (1, "0.4", 3), (0, "0.1", 0), (0, "0.4", 3)])
def test_unparseable_sarif_is_a_tool_error(repo: Repo, code: int, edition: str, ended: int) -> None:
    """On exit 0 edition 0.1 does not read it, unless the command declares thresholds."""
    run = f"echo garbage; exit {code}"
    message = f"error  R1  `{run}`: output is not valid SARIF: "
    done = _run(repo, command(run, format="sarif"), "--edition", edition)
    expect(done, ended, *([message] if ended else ["0 errors."]))
    if code == 0:
        expect(_run(repo, command(run, format="sarif", thresholds={}), "--edition", edition), 3, message)


@pytest.mark.case("reqfile:F17")
def test_invalid_command_fields_are_config_errors(repo: Repo) -> None:
    """Each at its value."""
    checks = (
        command("true", pass_files=True),
        command("true", format="json"),
        command("true", violation_codes=[0]),
        command("true", violation_codes=[]),
        command("true", timeout=0),
        command("true", files="a/["),
    )
    problems = (
        "11: `pass_files` needs a `files` glob",
        "15: unknown format `json`; expected `exit`, `sarif` or `junit`",
        "19: `violation_codes` must list exit codes between 1 and 255",
        "23: `violation_codes` must list exit codes between 1 and 255",
        "27: `timeout` must be a positive number of seconds",
        "31: invalid `files` glob: error parsing glob 'a/[': unclosed character class; missing ']'",
    )
    repo.write("Reqfile.yaml", req(R1=checks))
    expect(repo.run("check"), 3, "".join(f"error  Reqfile.yaml:{problem}\n" for problem in problems), "6 errors")


IGNORED = [{"kind": kind} for kind in ("pass", "open", "informational", "notApplicable", "review")] + [
    {"suppressions": [{"kind": "inSource"}]},
    {"suppressions": [{"kind": "external", "status": "accepted"}]},
]
COUNTED: list[dict[str, object]] = [
    {},
    {"kind": "fail", "suppressions": []},
    {"suppressions": [{"kind": "external", "status": "rejected"}]},
    {"suppressions": [{"kind": "external", "status": "underReview"}]},
]


@pytest.mark.case("reqfile:F20")
@pytest.mark.parametrize("code", [0, 1])
def test_sarif_results_that_are_not_failures_or_are_suppressed_are_ignored(repo: Repo, code: int) -> None:
    """In edition 0.4; in 0.1 a violation code makes each of them count, and exit 0 is not read."""
    both = [_result(f"f{at}.txt", 1, **fields) for at, fields in enumerate([*COUNTED, *IGNORED])]
    repo.write("out.sarif", _sarif(*both))
    done = _run(repo, _report(code), "--edition", "0.4")
    lines = [line for line in done.out.splitlines() if line.startswith("R1")]
    assert lines == [f"R1  f{at}.txt:1  {RESULT}" for at in range(4)]
    expect(done, 1, "4 violations, 0 advisory findings, 0 errors.")
    expect(_run(repo, _report(code)), code, "11 violations" if code else "0 violations")
    repo.write("out.sarif", _sarif(*both[4:]))
    expect(_run(repo, _report(code), "--edition", "0.4"), 0, "0 violations, 0 advisory findings, 0 errors.")


@pytest.mark.case("reqfile:F22")
@pytest.mark.parametrize("code", [0, 1])
def test_malformed_sarif_suppressions_cannot_hide_a_violation(repo: Repo, code: int) -> None:
    """Whatever is not understood is an error, each with its place in the report."""
    wrong: list[object] = [
        {},
        {"kind": "bogus"},
        {"kind": "inSource", "status": None},
        {"kind": "inSource", "status": "bogus"},
        None,
    ]
    checks = []
    for at, suppression in enumerate(wrong):
        repo.write(f"{at}.sarif", _sarif(_result(suppressions=[suppression])))
        checks.append(_report(code, f"{at}.sarif"))
    repo.write("Reqfile.yaml", req(R1=checks))
    done = repo.run("check", "--edition", "0.4")
    expect(done, 3, "0 violations, 0 advisory findings, 5 errors.")
    assert done.out.count(": output is not valid SARIF: runs[0].results[0].suppressions[0]") == 5


@pytest.mark.case("reqfile:F24")
def test_commands_find_their_files_through_reqfile_assets(repo: Repo) -> None:
    """An absolute path; the command still runs in the folder of its Reqfile. $REQFILE is the program."""
    repo.write(
        "app/.reqfile/R1/check.sh", '#!/bin/sh\necho "assets $REQFILE_ASSETS, in $(basename "$PWD")"; exit 1\n', 0o755
    )
    repo.write("app/Reqfile.yaml", req(R1=command("$REQFILE_ASSETS/check.sh"), R2=command("$REQFILE --version")))
    expect(repo.run("check"), 1, f"R1  assets {repo.root}/app/.reqfile/R1, in app\n", "2 checks run", "1 violation")


@pytest.mark.case("reqfile:F26")
@pytest.mark.case("reqfile:F27")
@pytest.mark.case("reqfile:F28")
@pytest.mark.case("reqfile:F30")
def test_sarif_probabilities_are_judged_by_the_thresholds(repo: Repo) -> None:
    """Above is a violation (F26), between uncertain (F27), below a pass of any kind (F28), none is certain (F30)."""
    results = (_judged(0.9), _judged(0.5), _judged(0.1, "fail"), _result(line=4))
    repo.write("out.sarif", _sarif(*results))
    done = _run(repo, _report(0), "--edition", "0.4")
    found = (
        f"R1  a.txt:3  p=0.90  {RESULT}\n  fix: Do it.\n"
        f"R1  a.txt:4  {RESULT}\n  fix: Do it.\n"
        f"uncertain  R1  a.txt:3  p=0.50  {RESULT}\n  fix: Do it.\n"
    )
    expect(done, 1, found, "2 violations, 1 advisory finding, 0 errors.", absent=["p=0.10"])
    repo.write("out.sarif", _sarif(_judged(0.5), _judged(0.1, "fail")))
    expect(_run(repo, _report(0), "--edition", "0.4"), 0, "0 violations, 1 advisory finding, 0 errors.")


@pytest.mark.case("reqfile:F31")
def test_probability_outside_zero_one_is_a_tool_error(repo: Repo) -> None:
    """Also of a result that would be ignored."""
    repo.write("out.sarif", _sarif(_judged(1.5) | {"suppressions": [{"kind": "inSource"}]}))
    message = "error  R1  `cat out.sarif; exit 0`: a SARIF result has probability 1.5, outside 0 to 1\n"
    expect(_run(repo, _report(0), "--edition", "0.4"), 3, message)


@pytest.mark.case("reqfile:F32")
def test_command_thresholds_have_defaults_and_can_be_set_per_check(repo: Repo) -> None:
    """Declaring them makes edition 0.1 read SARIF on exit 0 as well (design 3)."""
    repo.write("out.sarif", _sarif(_judged(0.7)))
    expect(_run(repo, _report(0), "--edition", "0.4"), 0, "uncertain  R1  a.txt:3  p=0.70")
    expect(_run(repo, _report(0, thresholds={"violation_above": 0.6})), 1, "R1  a.txt:3  p=0.70", absent=["uncertain"])
    done = _run(repo, _report(0, thresholds={"violation_above": 0.2, "pass_below": 0.5}))
    expect(done, 3, "error  Reqfile.yaml:12: thresholds must satisfy 0 <= pass_below <= violation_above <= 1\n")


JUNIT = """<?xml version="1.0"?>
<testsuites><testsuite name="all">
  <testcase classname="out" name="passes"/>
  <testcase classname="out" name="names" file="tests/o.rs" line="12">
    <failure message="expected 1&#10;got 2"/>
  </testcase>
</testsuite></testsuites>
"""


@pytest.mark.case("reqfile:F33")
@pytest.mark.parametrize("code", [0, 1])
def test_junit_failures_become_findings_named_after_their_test(repo: Repo, code: int) -> None:
    """On exit 0 as well, in both editions (design 3)."""
    repo.write("out.xml", JUNIT)
    done = _run(repo, _report(code, "out.xml", "junit"))
    found = "R1  tests/o.rs:12  test out::names failed: expected 1\n  fix: Do it.\n"
    expect(done, 1, found, "1 violation", absent=["passes"])


@pytest.mark.case("reqfile:F35")
def test_junit_report_without_any_test_is_a_tool_error(repo: Repo) -> None:
    """A suite that ran nothing shows nothing; neither does one that hides what failed."""
    repo.write("out.xml", "<testsuites/>")
    message = "error  R1  `cat out.xml; exit 0`: the JUnit report lists no test\n"
    expect(_run(repo, _report(0, "out.xml", "junit")), 3, message)
    repo.write("out.xml", '<testsuite><testcase name="a"/></testsuite>')
    message = (
        "error  R1  `cat out.xml; exit 1` exited with violation code 1 but its JUnit report lists no failed test\n"
    )
    expect(_run(repo, _report(1, "out.xml", "junit")), 3, message)


@pytest.mark.case("reqfile:F36")
def test_a_command_in_advisory_mode_reports_findings_without_blocking(repo: Repo) -> None:
    """Its tool errors do not gate either."""
    done = _run(repo, say("hm", mode="advisory"))
    expect(done, 0, "advisory  R1  hm\n", "0 violations, 1 advisory finding, 0 errors.")
    done = _run(repo, command("exit 7", mode="advisory"))
    expect(done, 0, "advisory error  R1  `exit 7` failed", "0 advisory findings, 1 error (1 advisory).")
    done = _run(repo, command("true", mode="sometimes"))
    expect(done, 3, "error  Reqfile.yaml:11: unknown mode `sometimes`; expected `blocking` or `advisory`\n")


@pytest.mark.case("reqfile:R11")
def test_a_sarif_level_does_not_soften_a_result(repo: Repo) -> None:
    """``level: note`` is a violation; places are shown as given where they leave the repository."""
    results = (
        _result("file://host/p", 1, level="note"),
        _result("../../outside.txt", 2),
        _result("/elsewhere/f.txt", 3),
        _result("./x/../%25y%zz", 4),
    )
    repo.write("app/out.sarif", _sarif(*results))
    repo.write("app/Reqfile.yaml", req(R1=_report(1)))
    places = ("app/host/p:1", "../../outside.txt:2", "/elsewhere/f.txt:3", "app/%y%zz:4")
    expect(repo.run("check"), 1, *(f"R1  {place}  {RESULT}\n" for place in places), "4 violations")


@pytest.mark.case("reqfile:R11")
def test_sarif_that_lacks_what_is_read_is_invalid(repo: Repo) -> None:
    """Fields are typed strictly: a result that cannot be read must not vanish."""
    at = "runs[0].results"
    wrong = {
        f"{at}[0].message.text must be a string, found null": _sarif({"message": {"id": "m1"}}),
        f"{at} must be an array, found null": '{"runs": [{"results": null}]}',
        f"{at}[0].locations must be an array, found null": _sarif({"message": {"text": "x"}, "locations": None}),
        "runs must be an array, found missing": "{}",
        "duplicate field `results`": '{"runs": [{"results": [], "results": []}]}',
        "NaN is not a JSON number": '{"runs": [], "x": NaN}',
    }
    checks = []
    for number, text in enumerate(wrong.values()):
        repo.write(f"{number}.sarif", text)
        checks.append(_report(1, f"{number}.sarif"))
    repo.write("Reqfile.yaml", req(R1=checks))
    texts = [f"`cat {at}.sarif; exit 1`: output is not valid SARIF: {text}\n" for at, text in enumerate(wrong)]
    expect(repo.run("check"), 3, *texts)
    repo.write("Reqfile.yaml", req(R1=command("echo '{\"runs\": [{}]}'; exit 1", format="sarif")))
    expect(repo.run("check"), 3, "exited with violation code 1 but its SARIF output lists no results\n")


@pytest.mark.case("reqfile:I1")
@pytest.mark.case("reqfile:I2")
def test_fast_runs_only_declared_fast_commands_and_counts_the_rest(repo: Repo) -> None:
    """A full run is the default (I2)."""
    repo.write("Reqfile.yaml", req(QUICK=say("quick", fast=True), SLOW=say("slow")))
    last = "1 check run, 0 with nothing to check, 1 left for a full run. 1 violation, 0 advisory findings, 0 errors.\n"
    fast = repo.run("check", "--fast")
    expect(fast, 1, "QUICK  quick\n", absent=["SLOW"])
    assert fast.out.endswith(f"\n\n{last}")
    expect(repo.run("check"), 1, "QUICK  quick\n", "SLOW  slow\n", absent=["left for a full run"])


@pytest.mark.case("reqfile:H10")
def test_only_runs_the_listed_requirements(repo: Repo) -> None:
    """Repeatable; an unknown or empty list runs nothing at all (spec 5.4)."""
    repo.write("Reqfile.yaml", req(A=say("a"), B=say("b"), C=say("c")))
    for arguments in (["--only", "A,C"], ["--only=A", "--only", "C"]):
        expect(repo.run("check", *arguments), 1, "A  a\n", "C  c\n", "2 checks run", absent=["B  b"])
    done = repo.run("check", "--only", "A,NO,NEVER")
    unknown = "".join(f"error  --only: no requirement has the id {name}\n" for name in ("NEVER", "NO"))
    expect(done, 3, unknown, "0 checks run", "2 errors.")
    expect(repo.run("check", "--only", ""), 3, "error  --only lists no requirement id\n", "0 checks run")


@pytest.mark.case("reqfile:M1")
@pytest.mark.case("reqfile:M3")
def test_a_tool_error_exits_3_and_takes_precedence(repo: Repo) -> None:
    """Every check passing exits with 0 (M1)."""
    repo.write("Reqfile.yaml", req(R1=OK, R2=OK))
    expect(repo.run("check"), 0, "2 checks run")
    repo.write("Reqfile.yaml", req(R1=command("exit 1"), R2=CRASH))
    done = repo.run("check")
    assert done.code == 3
    last = "\n\n2 checks run, 0 with nothing to check. 1 violation, 0 advisory findings, 1 error.\n"
    assert done.out.endswith(last)


@pytest.mark.case("reqfile:M4")
def test_a_missing_tool_exits_3(repo: Repo) -> None:
    """The shell's 127 is no violation code."""
    done = _run(repo, command("no-such-program-at-all"))
    expect(done, 3, "error  R1  `no-such-program-at-all` failed with exit code 127\n    sh: ")


@pytest.mark.case("reqfile:M7")
def test_a_config_error_exits_3(repo: Repo) -> None:
    """Nothing ran, and the last line says so."""
    done = _run(repo, '- command:\n    fix_hint: "h"')
    expect(done, 3, "error  Reqfile.yaml:9: a command check is missing the required field `run`\n")
    last = "\n\n0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n"
    assert done.out.endswith(last)


@pytest.mark.case("reqfile:M12")
def test_outside_a_git_repository_exits_3(repo: Repo) -> None:
    """``check`` says it in its report."""
    outside = repo.home / "plain"
    outside.mkdir()
    done = repo.run("check", cwd=str(outside), env={"GIT_CEILING_DIRECTORIES": str(outside.parent)})
    expect(done, 3, "error  not inside a git repository\n\n0 checks run")


def test_an_unreadable_report_is_explained_by_stderr(repo: Repo) -> None:
    """What the tool said on stderr follows the error: a report that never came has its reason there."""
    done = _run(repo, command("echo no such option >&2; exit 1", format="junit"))
    expect(done, 3, "output is not valid JUnit XML: no element found: line 1, column 0\n    no such option\n")
