"""Case N: the report of ``check`` in its forms, decision checks left out (seed 004 OUTPUT; spec reqfile.md 8)."""

from __future__ import annotations

import json

import pytest

from tests.support import Repo
from tests.support.requirements import OK, command, expect, req, say
from tests.support.terminal import on_terminal

LOUD = "It is loud."


def _mixed(repo: Repo) -> None:
    """LOUD finds one thing in a file (and one it is not sure of), NO_FIXME one without a place, BROKEN breaks."""
    place = {"physicalLocation": {"artifactLocation": {"uri": "api/h.py"}, "region": {"startLine": 42}}}
    found = {"ruleId": "E1", "message": {"text": LOUD}, "locations": [place]}
    unsure = {"message": {"text": "Several things?"}, "locations": [place], "properties": {"probability": 0.5}}
    repo.write("result.sarif", json.dumps({"runs": [{"results": [found, unsure]}]}))
    repo.write(
        "Reqfile.yaml",
        req(
            LOUD=command("cat result.sarif; exit 1", hint="H1", format="sarif", thresholds={}),
            NO_FIXME=say("FIXME found", hint="Fix it."),
            BROKEN=command("exit 7"),
            QUIET=command("exit 1", files="**/*.go"),
        ),
    )


@pytest.mark.case("reqfile:N1")
def test_the_summary_lists_findings_errors_and_counts(repo: Repo) -> None:
    """Violations, then what is uncertain, then errors, then one line of numbers."""
    _mixed(repo)
    done = repo.run("check")
    assert (done.code, done.out, done.err) == (
        3,
        f"LOUD  api/h.py:42  {LOUD} (E1)\n  fix: H1\n"
        "NO_FIXME  FIXME found\n  fix: Fix it.\n"
        "uncertain  LOUD  api/h.py:42  p=0.50  Several things?\n  fix: H1\n"
        "error  BROKEN  `exit 7` failed with exit code 7\n    (no output)\n"
        "\n3 checks run, 1 with nothing to check. 2 violations, 1 advisory finding, 1 error.\n",
        "",
    )


@pytest.mark.case("reqfile:N2")
def test_json_output_has_the_same_content(repo: Repo) -> None:
    """Absent is null for a place, and left out for the rest."""
    _mixed(repo)
    done = repo.run("check", "--format", "json")
    assert (done.code, done.err) == (3, "")
    report = json.loads(done.out)
    assert report["findings"][0] == {
        "requirement": "LOUD",
        "kind": "violation",
        "file": "api/h.py",
        "line": 42,
        "message": f"{LOUD} (E1)",
        "fix_hint": "H1",
    }
    assert (report["findings"][1]["file"], report["findings"][1]["line"]) == (None, None)
    assert [finding["kind"] for finding in report["findings"]] == ["violation", "violation", "uncertain"]
    assert report["findings"][2]["probability"] == 0.5
    message = "`exit 7` failed with exit code 7\n(no output)"
    assert report["errors"] == [{"requirement": "BROKEN", "message": message, "blocking": True}]
    assert report["summary"] == {
        "checks_run": 3,
        "checks_with_nothing_to_check": 1,
        "checks_left_for_full_run": 0,
        "violations": 2,
        "advisory_findings": 1,
        "errors": 1,
        "advisory_errors": 0,
        "decisions": 0,
    }
    assert report["exit_code"] == 3
    assert list(report) == ["findings", "errors", "summary", "exit_code"]


@pytest.mark.case("reqfile:N2")
def test_json_output_holds_config_errors_too(repo: Repo) -> None:
    """The same document whatever went wrong (spec 8.3)."""
    repo.write("Reqfile.yaml", "reqfile: 2\n")
    done = repo.run("check", "--format", "json")
    report = json.loads(done.out)
    message = "Reqfile.yaml:1: unsupported Reqfile version 2; this reqfile supports version 1"
    assert report["errors"] == [{"requirement": None, "message": message, "blocking": True}]
    assert (report["findings"], report["exit_code"], done.code) == ([], 3, 3)


@pytest.mark.case("reqfile:N4")
def test_a_clean_run_prints_only_the_summary(repo: Repo) -> None:
    """One line, also where nothing ran."""
    repo.write("Reqfile.yaml", req(R1=OK))
    line = "1 check run, 0 with nothing to check. 0 violations, 0 advisory findings, 0 errors.\n"
    expect(repo.run("check"), 0, line)
    assert repo.run("check").out == line
    repo.delete("Reqfile.yaml")
    assert repo.run("check").out == line.replace("1 check", "0 checks")


@pytest.mark.case("reqfile:N9")
def test_a_finding_of_an_imported_requirement_names_its_block_and_resolved_source(repo: Repo) -> None:
    """Here from a folder; other repositories are shown among the P cases."""
    repo.write("std/Reqfile.yaml", req(R1=command("test $(basename $PWD) = std", hint="Move it.")))
    repo.write("app/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: R1, use: ../std }\n")
    expect(
        repo.run("check"),
        1,
        "R1  (no output)\n  fix: Move it.\n  from: app/Reqfile.yaml:3, use ../std (std/Reqfile.yaml:3)\n",
    )
    finding = json.loads(repo.run("check", "--format", "json").out)["findings"][0]
    assert (finding["block"], finding["source"]) == ("app/Reqfile.yaml:3", "../std (std/Reqfile.yaml:3)")


@pytest.mark.case("reqfile:N17")
def test_pretty_output_is_a_table_then_the_details_of_what_does_not_pass(repo: Repo) -> None:
    """Symbols instead of words, each hint once, no colour where no terminal is."""
    _mixed(repo)
    done = repo.run("check", "--format", "pretty")
    assert done.code == 3
    assert done.out.startswith("reqfile check · 4 requirements · 3 checks\n\n")
    expect(
        done,
        3,
        "  ✗ LOUD      1 violation · 1 uncertain ",
        "  ✗ NO_FIXME  1 violation ",
        "  ! BROKEN    error · `exit 7` failed with exit code 7 ",
        "  – QUIET     nothing to check\n",
        f"\n✗ LOUD  1 violation · 1 uncertain\n  Be good.\n  ✗ api/h.py:42  {LOUD} (E1)\n"
        "  ? api/h.py:42  p=0.50  Several things?\n  fix  H1\n",
        "\n! BROKEN  error\n  Be good.\n  ! `exit 7` failed with exit code 7\n    (no output)\n",
        "\n✗ 2 violations   ? 1 uncertain   ! 1 error   3 checks · 1 with nothing to check · ",
        absent=["\x1b"],
    )
    table, details = done.out.split("─" * 64)
    assert len({len(line) for line in table.splitlines() if line.endswith("s") and line.startswith("  ")}) == 1
    assert details.index("✗ NO_FIXME") < details.index("! BROKEN")
    assert "QUIET" not in details


@pytest.mark.case("reqfile:N18")
def test_quiet_output_keeps_only_what_fails_and_the_summary(repo: Repo) -> None:
    """No header and no table."""
    _mixed(repo)
    done = repo.run("check", "--format", "pretty", "-q")
    assert done.out.startswith("✗ LOUD  1 violation")
    expect(done, 3, "\n✗ NO_FIXME  ", "\n✗ 2 violations   ", absent=["reqfile check ·", "QUIET"])


@pytest.mark.case("reqfile:N19")
def test_verbose_output_lists_what_each_check_ran(repo: Repo) -> None:
    """And why a check did not run."""
    _mixed(repo)
    expect(
        repo.run("check", "--format", "pretty", "-v"),
        3,
        "\nChecks\n  LOUD      command  cat result.sarif; exit 1 · ",
        "\n  QUIET     command  exit 1 · nothing to check: no matching file\n",
    )


@pytest.mark.case("reqfile:N20")
def test_outside_a_terminal_the_default_output_stays_plain_for_agents(repo: Repo) -> None:
    """Scripts and agents read the same whatever the flag."""
    _mixed(repo)
    plain = repo.run("check").out
    assert plain.startswith("LOUD  api/h.py:42  ")
    assert [repo.run("check", "--format", form).out for form in ("plain", "summary", "auto")] == [plain] * 3


@pytest.mark.case("reqfile:N20")
@pytest.mark.parametrize(
    ("arguments", "variables", "colored"),
    [((), {}, True), ((), {"NO_COLOR": "1"}, False), (("--no-color",), {}, False), ((), {"NO_COLOR": ""}, True)],
    ids=["terminal", "NO_COLOR", "--no-color", "empty"],
)
def test_on_a_terminal_the_output_is_pretty_and_coloured(
    repo: Repo, arguments: tuple[str, ...], variables: dict[str, str], colored: bool
) -> None:
    """An empty NO_COLOR is as good as unset."""
    _mixed(repo)
    out = on_terminal(repo, ("check", *arguments), variables)
    assert "reqfile check · 4 requirements · 3 checks" in out
    assert ("\x1b[31m✗\x1b[0m" in out) == colored
    assert ("\x1b" in out) == colored


@pytest.mark.case("reqfile:N17")
def test_the_table_fits_into_the_terminal(repo: Repo) -> None:
    """A row that wraps is no row."""
    repo.write("Reqfile.yaml", req(R1=command("exit 7 # " + "x" * 100), R2=OK))
    for width in (50, 90):
        out = on_terminal(repo, ("check",), {"NO_COLOR": "1", "COLUMNS": str(width)})
        table = out.split("─")[0].splitlines()[2:-1]
        assert [len(line) for line in table] == [width, width]
