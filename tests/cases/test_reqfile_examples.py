"""Cases O and A21 to A25: labeled examples (seed 004 EXAMPLES), through the command line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run

CHECKER = '#!/bin/sh\nif grep -l FIXME "$@"; then exit 1; fi\n'
NO_FIXME = block("NO_FIXME", run("$REQFILE_ASSETS/check.sh", files="**/*.txt", pass_files=True))
LAYOUTS = ("named", "described")

Case = Callable[..., None]


@pytest.fixture
def checked(repo: Repo) -> Repo:
    """``ex``: NO_FIXME, whose command is a script of its own."""
    repo.write("Reqfile.yaml", reqfile_text(NO_FIXME))
    repo.write(".reqfile/NO_FIXME/check.sh", CHECKER, mode=0o755)
    return repo


def add_case(repo: Repo, layout: str, name: str, files: dict[str, str], more: str = "", of: str = "NO_FIXME") -> None:
    """An example whose label is in its name; ``described`` ones say it again in example.yaml."""
    folder = f".reqfile/{of}/examples/{name}"
    if layout == "described":
        label = "violation" if name.startswith("violation-") else "ok"
        repo.write(f"{folder}/example.yaml", f"expected: {label}\n{more}")
        folder += "/files"
    for path, content in files.items():
        repo.write(f"{folder}/{path}", content)


@pytest.mark.case("reqfile:O1")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_examples_of_a_command_check_must_match_their_labels(checked: Repo, layout: str, edition: str) -> None:
    """Three examples as labeled, in both layouts and editions."""
    add_case(checked, layout, "violation-a", {"notes.txt": "FIXME\n"})
    add_case(checked, layout, "violation-b", {"docs/p.txt": "FIXME\n"})
    add_case(checked, layout, "ok-c", {"notes.txt": "fine\n"})
    done = checked.run("eval", "--edition", edition)
    assert (done.code, done.out, done.err) == (
        0,
        "NO_FIXME  asserted: 3 examples, 3 as labeled\n\n"
        "1 requirements: 1 asserted, 0 measured, 0 without evidence; 3 examples. 0 failing their labels.\n",
        "",
    )


@pytest.mark.case("reqfile:O1")
def test_commands_find_copied_files_in_the_older_layout(repo: Repo) -> None:
    """Reqfile, settings and ``.reqfile/<ID>/`` lie in the case, its examples left out (edition 0.1)."""
    script = "test -f Reqfile.yaml && test ! -e .reqfile/NO_FIXME/examples && .reqfile/NO_FIXME/check.sh"
    repo.write("app/Reqfile.yaml", reqfile_text(block("NO_FIXME", run(script, files="**/*.txt", pass_files=True))))
    repo.write("app/.reqfile/NO_FIXME/check.sh", CHECKER, mode=0o755)
    repo.write("app/.reqfile/NO_FIXME/examples/violation-a/x.txt", "FIXME\n")
    repo.write("app/.reqfile/NO_FIXME/examples/ok-b/x.txt", "fine\n")
    done = repo.run("test")
    assert (done.code, done.out.split("\n")[0]) == (0, "NO_FIXME  asserted: 2 examples, 2 as labeled")


@pytest.mark.case("reqfile:O2")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_command_check_disagreeing_with_a_label_fails(checked: Repo, layout: str) -> None:
    """Missed, false alarm, and not selected by any check."""
    add_case(checked, layout, "violation-low", {"notes.txt": "fixme\n"})
    add_case(checked, layout, "ok-mention", {"notes.txt": "FIXME\n"})
    add_case(checked, layout, "violation-nofile", {"main.rs": "FIXME\n"})
    done = checked.run("eval")
    assert (done.code, done.out) == (
        1,
        "NO_FIXME  asserted: 3 examples, 0 as labeled\n"
        "  ok-mention: false alarm\n"
        "  violation-low: missed\n"
        "  violation-nofile: not selected\n\n"
        "1 requirements: 1 asserted, 0 measured, 0 without evidence; 3 examples. 1 failing their labels.\n",
    )


@pytest.mark.case("reqfile:O4")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_case_that_cannot_run_is_an_error(repo: Repo, layout: str) -> None:
    """A tool that is missing judges nothing: exit 3, whatever the label."""
    repo.write("Reqfile.yaml", reqfile_text(block("NO_FIXME", run("no-such-tool-here"))))
    add_case(repo, layout, "violation-x", {"a.txt": ""})
    done = repo.run("eval")
    assert done.code == 3
    assert "  violation-x: error: `no-such-tool-here` failed with exit code 127\n" in done.out


@pytest.mark.case("reqfile:O5")
def test_example_folders_must_be_labeled(checked: Repo) -> None:
    """Neither a label in the name nor example.yaml; a plain file beside the folders is none of them."""
    checked.write(".reqfile/NO_FIXME/examples/maybe-x/notes.txt")
    checked.write(".reqfile/NO_FIXME/examples/README.md")
    done = checked.run("eval")
    assert (done.code, done.out, done.err) == (
        3,
        "",
        "error: .reqfile/NO_FIXME/examples/maybe-x: an example folder must be named violation-… or ok-…, or hold "
        "example.yaml (`expected: violation` or `expected: ok`) and its case in files/\n",
    )


@pytest.mark.case("reqfile:O8")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_violation_a_command_examined_is_missed(repo: Repo, layout: str) -> None:
    """One of two commands looked at the file, so it was selected."""
    checks = (run("true", files="**/*.rs"), run("true", files="**/*.py"))
    repo.write("Reqfile.yaml", reqfile_text(block("NO_FIXME", *checks)))
    add_case(repo, layout, "violation-rust", {"a.rs": ""})
    assert "  violation-rust: missed\n" in repo.run("eval").out


@pytest.mark.case("reqfile:O10")
def test_a_requirement_without_examples_is_reported_as_no_evidence(checked: Repo) -> None:
    """It is in the report, and in the count."""
    done = checked.run("eval")
    assert (done.code, done.out) == (
        0,
        "NO_FIXME  no evidence: no labeled examples\n\n"
        "1 requirements: 0 asserted, 0 measured, 1 without evidence; 0 examples. 0 failing their labels.\n",
    )


@pytest.mark.case("reqfile:O12")
def test_described_examples_reach_assets_only_through_reqfile_assets(checked: Repo) -> None:
    """Neither the Reqfile nor ``.reqfile`` lies beside the case."""
    add_case(checked, "described", "violation-a", {"notes.txt": "FIXME\n"})
    add_case(checked, "described", "ok-b", {"notes.txt": "fine\n"})
    script = "test ! -e Reqfile.yaml && test ! -e .reqfile && $REQFILE_ASSETS/check.sh"
    checked.write("Reqfile.yaml", reqfile_text(block("NO_FIXME", run(script, files="**/*.txt", pass_files=True))))
    done = checked.run("eval")
    assert (done.code, done.out.split("\n")[0]) == (0, "NO_FIXME  asserted: 2 examples, 2 as labeled")
    direct = run(".reqfile/NO_FIXME/check.sh", files="**/*.txt", pass_files=True)
    checked.write("Reqfile.yaml", reqfile_text(block("NO_FIXME", direct)))
    assert checked.run("eval").code == 3


@pytest.mark.case("reqfile:O12")
def test_reqfiles_and_settings_in_a_described_case_are_data(repo: Repo) -> None:
    """They are shown to the checks like any file, and read by nobody: an invalid one harms nothing."""
    script = 'f() { echo "$*"; exit 1; }; f'
    repo.write("Reqfile.yaml", reqfile_text(block("SEEN", run(script, files="**", pass_files=True, format="exit"))))
    files = {"Reqfile.yaml": "not: valid", ".reqfile/config.yaml": "exclude: ['**']\n", ".gitignore": "no.txt\n"}
    add_case(repo, "described", "ok-a", files | {"a.txt": "", "no.txt": ""}, of="SEEN")
    log = repo.run("eval", "--edition", "0.4")
    assert "  ok-a: false alarm\n" in log.out
    repo.write(
        "Reqfile.yaml",
        reqfile_text(
            block(
                "SEEN",
                run(
                    'f() { [ "$*" = ".gitignore .reqfile/config.yaml Reqfile.yaml a.txt" ]; }; f',
                    files="**",
                    pass_files=True,
                ),
            )
        ),
    )
    done = repo.run("eval")
    assert (done.code, done.out.split("\n")[0]) == (0, "SEEN  asserted: 1 examples, 1 as labeled")


@pytest.mark.case("reqfile:O13")
def test_an_imported_requirement_is_tested_with_its_definitions_examples_and_local_examples(repo: Repo) -> None:
    """The definition's come first; blocks that share an id are told apart by their Reqfile."""
    repo.write("std/Reqfile.yaml", reqfile_text(NO_FIXME))
    repo.write("std/.reqfile/NO_FIXME/check.sh", CHECKER, mode=0o755)
    repo.write("std/.reqfile/NO_FIXME/examples/violation-a/example.yaml", "expected: violation\n")
    repo.write("std/.reqfile/NO_FIXME/examples/violation-a/files/a.txt", "FIXME\n")
    repo.write("Reqfile.yaml", reqfile_text({"id": "NO_FIXME", "use": "./std"}))
    add_case(repo, "described", "ok-b", {"a.txt": "fine\n"})
    done = repo.run("eval")
    assert (done.code, done.out.split("\n\n")[0]) == (
        0,
        "NO_FIXME (Reqfile.yaml)  asserted: 2 examples, 2 as labeled\n"
        "NO_FIXME (std/Reqfile.yaml)  asserted: 1 examples, 1 as labeled",
    )


@pytest.fixture
def flagging(repo: Repo) -> Callable[[str], Repo]:
    """GUESS, whose command gives a SARIF result for each file with FIXME; ``properties`` are those of the results."""

    def make(properties: str) -> Repo:
        place = '"locations": [{"physicalLocation": {"artifactLocation": {"uri": "%s"}}}]'
        result = f'{{"message": {{"text": "found"}}, {place}{properties}}}'
        script = (
            '#!/bin/sh\nprintf \'{"runs": [{"results": [\'\ncomma=\n'
            'for f in "$@"; do\n  grep -q FIXME "$f" || continue\n  printf "$comma"\n  comma=,\n'
            f"  printf '{result}' \"$f\"\ndone\n"
            "printf ']}]}'\n"
        )
        repo.write(".reqfile/GUESS/flag.sh", script, mode=0o755)
        fields = {"files": "**/*.txt", "pass_files": True, "format": "sarif", "thresholds": {"violation_above": 0.8}}
        repo.write("Reqfile.yaml", reqfile_text(block("GUESS", run("$REQFILE_ASSETS/flag.sh", **fields))))
        return repo

    return make


Flagging = Callable[[str], Repo]
PROBABLE = ', "properties": {"probability": 0.9}'


@pytest.mark.case("reqfile:O15")
def test_a_flag_on_another_file_than_the_expected_finding_counts_as_missed(flagging: Flagging) -> None:
    """The files that were flagged are named."""
    repo = flagging("")
    files = {"notes.txt": "FIXME\n", "plan.txt": "fixme\n"}
    add_case(repo, "described", "violation-plan", files, "findings: [plan.txt]\n", of="GUESS")
    done = repo.run("eval")
    assert done.code == 1
    assert "  violation-plan: missed: flagged notes.txt instead of its expected findings\n" in done.out


@pytest.mark.case("reqfile:O15")
def test_a_flag_without_a_file_cannot_confirm_an_expected_finding(checked: Repo) -> None:
    """A command that only exits with 1 says of no file that it is wrong."""
    add_case(checked, "described", "violation-a", {"a.txt": "FIXME\n"}, "findings: [a.txt]\n")
    text = "  violation-a: missed: flagged without a file, so its expected findings cannot be confirmed\n"
    assert text in checked.run("eval").out


@pytest.mark.case("reqfile:O16")
@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_a_known_miss_is_reported_but_does_not_fail_an_asserted_requirement(checked: Repo, edition: str) -> None:
    """Until it is caught: then the label says too much."""
    add_case(checked, "described", "violation-a", {"a.txt": "fixme\n"}, "known: miss\n")
    done = checked.run("eval", "--edition", edition)
    assert (done.code, done.out) == (
        0,
        "NO_FIXME  asserted: 1 examples, 0 as labeled\n  violation-a: missed (known)\n\n"
        "1 requirements: 1 asserted, 0 measured, 0 without evidence; 1 examples. 0 failing their labels.\n",
    )
    checked.write(".reqfile/NO_FIXME/examples/violation-a/files/a.txt", "FIXME\n")
    done = checked.run("eval", "--edition", edition)
    assert "  violation-a: caught, as labeled now: remove `known`\n" in done.out


@pytest.mark.case("reqfile:O18")
@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_command_checks_reporting_probabilities_are_measured_not_asserted(flagging: Flagging, edition: str) -> None:
    """A command without a model that guesses; exit 0 although a correct example is flagged."""
    repo = flagging(PROBABLE)
    add_case(repo, "described", "ok-mention", {"a.txt": "FIXME\n"}, of="GUESS")
    done = repo.run("eval", "--edition", edition)
    assert (done.code, done.out) == (
        0,
        "GUESS  measured, no assertion: 0 of 0 violations caught (0 missed, 0 not selected, 0 uncertain); "
        "1 of 1 correct examples flagged (95% interval 21 to 100%; 0 uncertain)\n"
        "  ok-mention: false alarm\n"
        "  no violation examples: catches are not measured\n\n"
        "1 requirements: 0 asserted, 1 measured, 0 without evidence; 1 examples. 0 failing their labels.\n",
    )


@pytest.mark.case("reqfile:R16")
def test_probabilities_that_are_all_low_leave_a_requirement_asserted(flagging: Flagging) -> None:
    """Nothing of them reaches the findings."""
    repo = flagging(', "properties": {"probability": 0.1}')
    add_case(repo, "described", "ok-mention", {"a.txt": "FIXME\n"}, of="GUESS")
    assert repo.run("eval").out.startswith("GUESS  asserted: 1 examples, 1 as labeled\n")


@pytest.mark.case("reqfile:O19")
def test_test_is_a_hidden_alias_of_eval(checked: Repo) -> None:
    """The same output; only ``eval`` is in the list of commands."""
    add_case(checked, "named", "ok-a", {"a.txt": "fine\n"})
    assert checked.run("test") == checked.run("eval")
    shown = checked.run("--help").out
    assert "\n    eval " in shown
    assert "\n    test " not in shown


def test_eval_has_no_json_output(checked: Repo) -> None:
    """spec/reqfile.md 6.5."""
    done = checked.run("eval", "--format", "json")
    assert (done.code, done.out, done.err) == (3, "", "error: reqfile eval has no JSON output\n")


@pytest.mark.case("reqfile:O20")
def test_example_add_turns_a_missed_file_into_a_violation_example(checked: Repo) -> None:
    """With its expected finding, where it comes from, and the files beside it; then it is missed."""
    checked.write("docs/plan.txt", "fixme\n")
    checked.write("docs/other.txt", "fine\n")
    head = checked.commit()
    options = ("--expected", "violation", "--finding", "docs/plan.txt", "--rationale", "Lower case – too.")
    done = checked.run("example", "add", "NO_FIXME", "low", *options, "docs")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "Added .reqfile/NO_FIXME/examples/low/ (2 files).\nMeasure it with: reqfile eval --only NO_FIXME\n"
    )
    folder = checked.path(".reqfile/NO_FIXME/examples/low")
    assert (folder / "example.yaml").read_text("utf-8") == (
        f'expected: violation\nfindings:\n  - "docs/plan.txt"\nrationale: "Lower case – too."\norigin: "real:{head}"\n'
    )
    assert (folder / "files/docs/other.txt").read_text("utf-8") == "fine\n"
    done = checked.run("eval")
    assert done.code == 1
    assert "  low: missed\n" in done.out


@pytest.mark.case("reqfile:O22")
def test_held_out_examples_are_measured_apart(flagging: Flagging) -> None:
    """From those the checks were tuned on."""
    repo = flagging(PROBABLE)
    add_case(repo, "described", "violation-a", {"a.txt": "FIXME\n"}, of="GUESS")
    add_case(repo, "described", "ok-b", {"a.txt": "fine\n"}, of="GUESS")
    add_case(repo, "described", "violation-c", {"a.txt": "fixme\n"}, "split: holdout\n", of="GUESS")
    add_case(repo, "described", "ok-d", {"a.txt": "FIXME\n"}, "split: holdout\n", of="GUESS")
    done = repo.run("eval")
    assert (done.code, done.out) == (
        0,
        "GUESS  measured, no assertion\n"
        "  tuning: 1 of 1 violations caught (95% interval 21 to 100%; 0 missed, 0 not selected, 0 uncertain); "
        "0 of 1 correct examples flagged (95% interval 0 to 79%; 0 uncertain)\n"
        "  held out: 0 of 1 violations caught (95% interval 0 to 79%; 1 missed, 0 not selected, 0 uncertain); "
        "1 of 1 correct examples flagged (95% interval 21 to 100%; 0 uncertain)\n"
        "  ok-d (held out): false alarm\n"
        "  violation-c (held out): missed\n\n"
        "1 requirements: 0 asserted, 1 measured, 0 without evidence; 4 examples. 0 failing their labels.\n",
    )


@pytest.mark.case("reqfile:O23")
def test_repeat_reruns_each_example_and_reports_unstable_cases(repo: Repo) -> None:
    """A tool that answers now so, now so: the tie goes against the label."""
    repo.write(".reqfile/FLAKY/toggle.sh", '#!/bin/sh\nmkdir "$TOGGLE" 2>/dev/null && exit 1 || exit 0\n', mode=0o755)
    repo.write("Reqfile.yaml", reqfile_text(block("FLAKY", run("$REQFILE_ASSETS/toggle.sh"))))
    add_case(repo, "described", "violation-a", {"a.txt": ""}, of="FLAKY")
    done = repo.run("eval", "--repeat", "2", env={"TOGGLE": str(repo.home / "toggle")})
    assert (done.code, done.out) == (
        1,
        "FLAKY  asserted: 1 examples, 0 as labeled\n"
        "  violation-a: unstable over 2 runs: caught 1, missed 1\n\n"
        "1 requirements: 1 asserted, 0 measured, 0 without evidence; 1 examples, 2 runs each, 1 unstable. "
        "1 failing their labels.\n",
    )


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_repeat_takes_a_positive_number(checked: Repo, number: str) -> None:
    """spec/reqfile.md 7: a wrong command line is exit 2."""
    done = checked.run("eval", f"--repeat={number}")
    assert (done.code, done.out) == (2, "")
    assert f"argument --repeat: expected a number of at least 1, found '{number}'" in done.err


@pytest.mark.case("reqfile:O26")
def test_pretty_eval_is_a_table_of_requirements_with_their_rates(checked: Repo) -> None:
    """One caught, one missed."""
    add_case(checked, "named", "violation-a", {"a.txt": "FIXME\n"})
    add_case(checked, "named", "violation-b", {"a.txt": "fixme\n"})
    done = checked.run("eval", "--format", "pretty")
    assert (done.code, done.out) == (
        1,
        "reqfile eval · 1 requirement · 2 examples\n\n"
        "  ✗ NO_FIXME  asserted · 1/2 as labeled\n      violation-b: missed\n\n"
        "✗ 1 requirement failing their labels\n",
    )


def test_pretty_eval_of_nothing_is_no_tick(checked: Repo) -> None:
    """Nothing passes by emptiness (design 6.7)."""
    done = checked.run("eval", "--format", "pretty")
    assert (done.code, done.out.splitlines()[-1]) == (0, "– no labeled examples: nothing was measured")


def test_pretty_eval_shows_rates_and_at_most_eight_cases(flagging: Flagging) -> None:
    """``-v`` shows all."""
    repo = flagging(PROBABLE)
    for number in range(9):
        add_case(repo, "described", f"violation-{number}", {"a.txt": "fixme\n"}, of="GUESS")
    add_case(repo, "described", "ok-a", {"a.txt": "FIXME\n"}, of="GUESS")
    done = repo.run("eval", "--format", "pretty")
    row = "  ≈ GUESS  measured · caught 0/9 (0–30%) · false alarms 1/1 (21–100%)\n"
    assert row in done.out
    assert "      … 2 more (reqfile eval -v)\n" in done.out
    assert "more" not in repo.run("eval", "--format", "pretty", "-v").out


@pytest.mark.case("reqfile:A21")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rationale: none\n", ":1: example.yaml is missing the required field `expected`"),
        ("expected: maybe\n", ":1: unknown `expected: maybe`; expected `violation` or `ok`"),
        ("expected: ok\nsplit: test\n", ":2: unknown `split: test`; expected `tune` or `holdout`"),
        ("expected: violation\nfindings: [missing.txt]\n", ":2: expected finding missing.txt is not a file of files/"),
        ("expected: violation\nfindings: [../x]\n", ":2: expected finding ../x is not a file of files/"),
        (
            "expected: ok\nfindings: [notes.txt]\n",
            ":2: `findings` name where a violation is flagged; an `ok` example has none",
        ),
        (
            "expected: ok\nknown: miss\n",
            ":2: `known: miss` does not fit `expected: ok`; a violation can be a known `miss`, an ok example a known "
            "`false_alarm`",
        ),
        (
            "expected: ok\nlabel: x\n",
            ":2: unknown key `label` in example.yaml (expected one of: expected, findings, rationale, origin, known, "
            "split)",
        ),
        ("- a\n", ":1: example.yaml must be a mapping, found a list"),
    ],
    ids=["no label", "label", "split", "finding", "outside", "ok finding", "known", "key", "list"],
)
def test_example_yaml_is_read_strictly(checked: Repo, text: str, problem: str) -> None:
    """A21, A23, A25: each problem is located, and nothing runs."""
    add_case(checked, "described", "ok-a", {"notes.txt": ""})
    checked.write(".reqfile/NO_FIXME/examples/ok-a/example.yaml", text)
    done = checked.run("eval")
    line = f"error: .reqfile/NO_FIXME/examples/ok-a/example.yaml{problem}"
    assert (done.code, done.out) == (3, "")
    assert done.err == f"{line}\n"


@pytest.mark.case("reqfile:A24")
def test_example_without_a_files_folder_is_an_error(checked: Repo) -> None:
    """Nothing else of it is shown to checks."""
    checked.write(".reqfile/NO_FIXME/examples/ok-a/example.yaml", "expected: ok\n")
    done = checked.run("eval")
    assert (done.code, done.err) == (
        3,
        "error: .reqfile/NO_FIXME/examples/ok-a: an example holds its case in files/, the only part its checks see\n",
    )
