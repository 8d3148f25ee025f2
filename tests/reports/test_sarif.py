"""SARIF 2.1.0: golden file, schema, places, fingerprints, limits (issue 5 item 1; spec verifiers 9.4; user-asks D)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sarif_om

from pytest_reqfile.outcome import Finding, Location, Outcome
from pytest_reqfile.reports import sarif
from pytest_reqfile.reports.run_report import run_report
from pytest_reqfile.reports.sarif import sarif_report
from pytest_reqfile.reports.sarif_document import Fingerprints, artifact, location, serialised
from tests.support.reports import every_kind, item, outcome, read_sarif


def run_of(*outcomes: Outcome) -> dict[str, Any]:
    """The SARIF run of outcomes."""
    return read_sarif(sarif_report(run_report("1.2.3", map(item, outcomes))).text)


def notes(run: dict[str, Any], kind: str = "toolExecutionNotifications") -> list[tuple[str, str]]:
    """Level and text of each notification; the schema's default level is left out of the file."""
    return [(note.get("level", "warning"), note["message"]["text"]) for note in run["invocations"][0][kind]]


def fingerprint(*findings: Finding) -> list[str]:
    """The fingerprints of findings of one check, in order."""
    results = run_of(outcome(findings=findings))["results"]
    return [result["partialFingerprints"]["reqfile/v1"] for result in results]


def test_every_kind_of_outcome(golden: Callable[[str, str], None]) -> None:
    """The whole file, byte by byte, and valid."""
    report = sarif_report(every_kind())
    read_sarif(report.text)
    assert report.cuts == ()
    golden("report.sarif", report.text)


def test_order_of_items_does_not_matter() -> None:
    """Shuffled items give the same bytes."""
    report = every_kind()
    items = list(report.items)
    random.Random(4).shuffle(items)
    again = run_report(
        report.version, items, requirements=report.requirements, started=report.started, seconds=report.seconds
    )
    assert sarif_report(again).text == sarif_report(report).text


def test_nothing_is_said_of_what_passed() -> None:
    """A pass is a rule without results: code scanning then closes its alerts (user-asks 32)."""
    run = run_of(outcome("pass"))
    assert run["results"] == []
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["FAIL_FAST"]
    assert run["invocations"][0]["executionSuccessful"] is True


def test_an_empty_run_has_empty_results() -> None:
    """Absent results would mean "not scanned"."""
    assert run_of()["results"] == []


def test_what_could_not_be_evaluated_is_a_notification() -> None:
    """Errors are notifications, the run no success; an advisory error is a warning, a model not asked a note."""
    run = run_of(
        outcome("error", owner="BREAKS", reason="boom"),
        outcome("error", owner="LAX", reason="not judged", blocking=False),
        outcome("skipped", owner="VAGUE", reason="needs a model"),
        outcome("deferred", owner="SLOW", reason="left"),
        outcome("nothing_to_check", owner="QUIET", reason="no file"),
    )
    assert notes(run) == [
        ("error", "BREAKS/command-1: boom"),
        ("warning", "LAX/command-1: not judged"),
        ("note", "VAGUE/command-1: needs a model"),
        ("note", "1 check left for a full run"),
    ]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False


def test_a_declaration_that_cannot_be_used_is_a_result_too() -> None:
    """It has a line that people can go to (spec verifiers 9.4; user-asks 30)."""
    place = Location(path="app/Reqfile.yaml", line=3)
    load = outcome("error", subject="load", owner="app/Reqfile.yaml", check="load", declared=place, reason="bad `x`")
    run = run_of(load)
    assert notes(run, "toolConfigurationNotifications") == [("error", "bad `x`")]
    (result,) = run["results"]
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 3


def test_a_run_that_ended_early_says_so() -> None:
    """An incomplete report is no success."""
    run = read_sarif(sarif_report(run_report("1", [item(outcome("pass"))], stopped="interrupted")).text)
    assert notes(run) == [("error", "the run ended early, this report is not complete: interrupted")]
    assert run["properties"]["complete"] is False


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("a b/ü%.py", "a%20b/%C3%BC%25.py"),
        ("a:b.py", "a%3Ab.py"),
        ("src\\a.py", "src/a.py"),
        ("x\udcff.py", "x%FF.py"),
        ("x\ud800.py", "x%5Cud800.py"),
    ],
)
def test_uris_are_relative_and_quoted(path: str, uri: str) -> None:
    """From the repository root, percent-encoded; bytes that are no text are quoted as they are."""
    assert serialised(artifact(path)) == {"uri": uri, "uriBaseId": "%SRCROOT%"}


@pytest.mark.parametrize(
    ("path", "uri"), [("/opt/x y.py", "file:///opt/x%20y.py"), ("C:\\x\\y.py", "file:///C%3A/x/y.py")]
)
def test_a_file_elsewhere_is_a_file_uri(path: str, uri: str) -> None:
    """Without a base, as it lies outside of the repository."""
    assert serialised(artifact(path)) == {"uri": uri}


def test_a_finding_without_a_file_is_shown_at_its_declaration() -> None:
    """A result needs a place (user-asks 35)."""
    (result,) = run_of(outcome(findings=(Finding(message="x"),)))["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("Reqfile.yaml", 8)


def test_a_finding_about_a_file_has_no_region() -> None:
    """No line is made up."""
    assert serialised(location("a")) == {
        "physicalLocation": {"artifactLocation": {"uri": "a", "uriBaseId": "%SRCROOT%"}}
    }


def test_fingerprints_survive_line_shifts() -> None:
    """The same text on another line is the same alert, also where the message names the line."""
    at_4 = fingerprint(Finding(message="src/a.py:4:1: bare except, see line 3", file="src/a.py", line=4))
    at_9 = fingerprint(Finding(message="src/a.py:9:1: bare except, see line 8", file="src/a.py", line=9))
    assert at_4 == at_9
    assert at_4 != fingerprint(Finding(message="another", file="src/a.py", line=4))
    assert at_4 != fingerprint(Finding(message="src/a.py:4:1: bare except, see line 3", file="src/b.py", line=4))


def test_equal_findings_have_their_own_fingerprints() -> None:
    """Identical hashes would collapse into one alert."""
    same = [Finding(message="print", file="a.py", line=line) for line in (1, 2, 3)]
    assert len(set(fingerprint(*same))) == 3


def test_the_hash_of_spec_verifiers() -> None:
    """NUL-joined SHA-256, the n-th equal one with ``owner#n`` (spec verifiers 9.4)."""
    prints = Fingerprints()
    assert prints.of("v", "f", "m") == "781feb34dd438f588edcf820d8a498a081a75ab08dd8ea1b5d4fe1d72cb2bf12"
    again = prints.of("v", "f", "m")
    assert again == Fingerprints().of("v#2", "f", "m")


def test_the_gravest_results_are_kept() -> None:
    """Code scanning takes 5,000: errors first, and both the file and the terminal say what is missing."""
    warnings = tuple(Finding(message=f"w{n}", kind="advisory") for n in range(3000))
    errors = tuple(Finding(message=f"e{n}") for n in range(2500))
    done = sarif_report(run_report("1", [item(outcome(findings=(*warnings, *errors)))]))
    run = read_sarif(done.text)
    levels = [result.get("level", "warning") for result in run["results"]]
    assert (levels.count("error"), levels.count("warning")) == (2500, 2500)
    cut = "500 results of 5500 left out: code scanning takes no more"
    assert done.cuts == (cut,)
    assert notes(run) == [("warning", f"this report is not complete: {cut}")]


def test_long_messages_are_cut() -> None:
    """A command's whole output is no message of an alert."""
    done = sarif_report(run_report("1", [item(outcome(findings=(Finding(message="x" * 5000),)))]))
    (result,) = read_sarif(done.text)["results"]
    assert result["message"]["text"] == "x" * 3999 + "…"
    assert done.cuts == ("1 message cut to 4000 characters",)


def test_limits_hold_for_text_that_does_not_print() -> None:
    """An escape is longer than the character it shows: what is counted is what is written (user-asks 36)."""
    found = run_of(outcome(title="\x1b" * 1000, why="\u202e" * 1000, findings=(Finding(message="\0" * 3000),)))
    (rule,) = found["tool"]["driver"]["rules"]
    assert [len(rule[key]["text"]) for key in ("shortDescription", "fullDescription")] == [1024, 1024]
    assert len(found["results"][0]["message"]["text"]) == 4000
    assert "1 message cut to 4000 characters" in str(found["invocations"])


def test_the_file_stays_below_the_upload_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that does not compress costs results rather than the upload."""
    monkeypatch.setattr(sarif, "BYTE_LIMIT", 200_000)
    noise = random.Random(1)
    texts = ("".join(chr(noise.randrange(0x4E00, 0x9FA5)) for _ in range(1000)) for _ in range(200))
    done = sarif_report(run_report("1", [item(outcome(findings=tuple(Finding(message=text) for text in texts)))]))
    kept = len(read_sarif(done.text)["results"])
    assert 0 < kept < 200
    assert done.cuts == (f"{200 - kept} results of 200 left out: code scanning takes no more",)


def test_rules_with_results_are_kept_before_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code scanning refuses a file of more than 25,000 rules; a result keeps its rule, and what is missing is said."""
    monkeypatch.setattr(sarif, "RULE_LIMIT", 3)
    passed = [outcome(owner=f"R{n}", status="pass", findings=()) for n in range(5)]
    failed = outcome(owner="Z", findings=(Finding(message="m"),))
    broken = outcome(owner="Y", status="error", findings=(), reason="no answer")
    done = sarif_report(run_report("1", map(item, (*passed, failed, broken))))
    run = read_sarif(done.text)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["R0", "R1", "Z"]
    cut = "4 rules of 7 left out: code scanning takes no more"
    assert done.cuts == (cut,)
    noted, said = run["invocations"][0]["toolExecutionNotifications"]
    assert noted["associatedRule"] == {"id": "Y"}
    assert said["message"]["text"] == f"this report is not complete: {cut}"


def test_ids_of_two_subjects_stay_apart() -> None:
    """A flat verifier that is named like a requirement is another rule."""
    verifier = replace(outcome(subject="verifier", check=""), details={})
    rules = run_of(outcome(), verifier)["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["FAIL_FAST", "verifier/FAIL_FAST"]


def test_absent_values_and_defaults_are_left_out() -> None:
    """``null`` would be invalid where the schema has a default."""
    region = sarif_om.Region(start_line=3)
    assert serialised(region) == {"startLine": 3}
    assert serialised(sarif_om.Result(message=sarif_om.Message(text="x"), level=None)) == {"message": {"text": "x"}}
