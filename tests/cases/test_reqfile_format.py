"""Cases A and B: what a Reqfile may say (seed 004 REQFILE_FORMAT, CHECKS_DECLARED)."""

from __future__ import annotations

import pytest

from tests.support import Repo
from tests.support.requirements import GOOD, OK, command, expect, req

LINES = GOOD.splitlines(keepends=True)
NONE_RUN = "\n\n0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n"


def _without(*numbers: int) -> str:
    return "".join(line for number, line in enumerate(LINES, 1) if number not in numbers)


def _with(number: int, text: str) -> str:
    """GOOD with line ``number`` replaced."""
    return "".join(text if at == number else line for at, line in enumerate(LINES, 1))


def _refused(repo: Repo, text: str, problem: str, *, edition: str = "0.1") -> None:
    """``check`` reports exactly this one problem on stdout and exits with 3."""
    repo.write("Reqfile.yaml", text)
    done = repo.run("check", "--edition", edition)
    assert (done.code, done.out, done.err) == (3, f"error  Reqfile.yaml:{problem}{NONE_RUN}", "")


@pytest.mark.case("reqfile:A1")
def test_a_valid_reqfile_passes(repo: Repo) -> None:
    """A product and a code requirement are both checked."""
    repo.write("Reqfile.yaml", GOOD)
    expect(repo.run("check"), 0, "2 checks run")


@pytest.mark.case("reqfile:A2")
def test_the_version_key_is_required_anywhere_in_the_file(repo: Repo) -> None:
    """Missing: at the first key of the file, line 1 of an empty one; present at the end is fine."""
    message = " a Reqfile needs a `reqfile: 1` version key"
    _refused(repo, _without(1), f"2:{message}")
    _refused(repo, "", f"1:{message}")
    repo.write("Reqfile.yaml", _without(1) + "reqfile: 1\n")
    expect(repo.run("check"), 0, "2 checks run")


@pytest.mark.case("reqfile:A4")
def test_an_unsupported_version_fails(repo: Repo) -> None:
    """Another version is not guessed at."""
    _refused(repo, _with(1, "reqfile: 2\n"), "1: unsupported Reqfile version 2; this reqfile supports version 1")


@pytest.mark.case("reqfile:A5")
@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_other_type_keys_fail(repo: Repo, edition: str) -> None:
    """``policy`` is no type of requirement; ``process`` is one in both editions (design 3)."""
    problem = "3: unknown key `policy` in the Reqfile (expected one of: reqfile, product, code, process)"
    _refused(repo, _with(3, "policy:\n"), problem, edition=edition)
    repo.write("Reqfile.yaml", _with(3, "process:\n"))
    expect(repo.run("check", "--edition", edition), 0, "2 checks run")


@pytest.mark.case("reqfile:A7")
def test_unknown_check_keys_fail(repo: Repo) -> None:
    """The key that is not known is named with those that are."""
    known = "run, fix_hint, files, pass_files, format, violation_codes, timeout, fast, thresholds, mode"
    problem = f"23: unknown key `retries` in a command check (expected one of: {known})"
    _refused(repo, GOOD + "          retries: 3\n", problem)


@pytest.mark.case("reqfile:A8")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_without(16), "15: requirement NO_FIXME is missing the required field `must`"),
        (_without(17), "15: requirement NO_FIXME is missing the required field `why`"),
        (_with(15, "  - ref: somewhere\n"), "15: a requirement is missing the required field `id`"),
        (_without(22), "21: a command check is missing the required field `fix_hint`"),
    ],
    ids=["must", "why", "id", "fix_hint"],
)
def test_missing_fields_fail(repo: Repo, text: str, problem: str) -> None:
    """At the mapping that lacks the field."""
    _refused(repo, text, problem)


@pytest.mark.case("reqfile:A9")
def test_ids_are_screaming_snake_case(repo: Repo) -> None:
    """Each wrong spelling is refused at the id; all problems of one file are told at once."""
    wrong = ("noFixme", "NO-FIXME", "_NO_FIXME", "NO__FIXME", "NO_FIXME_", "NÖ", "1ST")
    repo.write("Reqfile.yaml", req(**dict.fromkeys(wrong, OK)))
    lines = [
        f"error  Reqfile.yaml:{3 + 8 * at}: requirement id `{word}` must be SCREAMING_SNAKE_CASE\n"
        for at, word in enumerate(wrong)
    ]
    expect(repo.run("check"), 3, "".join(lines))
    for word in wrong[:2]:
        _refused(
            repo,
            _with(15, f"  - id: {word}\n"),
            f"15: requirement id `{word}` must be SCREAMING_SNAKE_CASE",
        )


@pytest.mark.case("reqfile:A10")
def test_fields_must_have_the_right_type(repo: Repo) -> None:
    """Expected and found are both named, at the value."""
    _refused(repo, _with(16, "    must: [a, b]\n"), "16: `must` must be a non-empty string, found a list")
    _refused(repo, _with(1, "reqfile: one\n"), "1: `reqfile` must be an integer, found a string")


@pytest.mark.case("reqfile:A11")
def test_duplicate_keys_fail(repo: Repo) -> None:
    """The second one is reported with the line of the first."""
    text = _with(17, LINES[16] + "    why: Another reason.\n")
    _refused(repo, text, "18: duplicate key `why` (first defined at line 17)")


@pytest.mark.case("reqfile:A13")
def test_near_miss_file_names_fail(repo: Repo) -> None:
    """A Reqfile of nearly the right name would silently require nothing."""
    names = ("REQFILE.yaml", "Reqfile.yml", "reqfile.yaml", "sub/reqfile.yml")
    for name in names:
        repo.write(name, GOOD)
    lines = [f"error  {name}:1: a requirements file must be named exactly Reqfile.yaml\n" for name in names]
    expect(repo.run("check"), 3, "".join(lines), "4 errors")
    for name in names[1:]:
        repo.delete(name)
    expect(repo.run("check"), 3, lines[0], "1 error.")


@pytest.mark.case("reqfile:A15")
def test_near_miss_names_of_other_tools_files_are_ignored(repo: Repo) -> None:
    """A CI workflow named reqfile.yml is no Reqfile."""
    repo.write("Reqfile.yaml", GOOD)
    repo.write(
        ".github/workflows/reqfile.yml", "name: reqfile\non: push\njobs:\n  check:\n    runs-on: ubuntu-latest\n"
    )
    expect(repo.run("check"), 0, "2 checks run")


@pytest.mark.case("reqfile:A18")
def test_a_block_with_use_is_a_use_block_and_any_other_block_is_a_definition(repo: Repo) -> None:
    """``use`` makes the difference; a definition needs everything."""
    repo.write("Reqfile.yaml", GOOD)
    repo.write("app/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: X1, use: ../lib }\n")
    repo.write("lib/Reqfile.yaml", req(X1=OK))
    expect(
        repo.run("list"),
        0,
        "From app/Reqfile.yaml:\n  X1 (code)  use: ../lib  checks: command (inherited)\n",
        "From lib/Reqfile.yaml:\n  X1 (code)  checks: command\n",
    )
    repo.delete("app")
    repo.delete("lib")
    repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: X1 }\n")
    missing = (
        f"Reqfile.yaml:3: requirement X1 is missing the required field `{key}`" for key in ("must", "why", "checks")
    )
    expect(repo.run("check"), 3, *missing)


@pytest.mark.case("reqfile:A19")
def test_a_use_block_with_must_is_an_error(repo: Repo) -> None:
    """What is required is said by the definition alone."""
    _refused(
        repo,
        "reqfile: 1\ncode:\n  - id: X1\n    use: ./lib\n    must: Be good.\n",
        "5: requirement X1 is a use block, which takes `must` from its definition; "
        "remove `must`, or remove `use` to define the requirement here",
    )


@pytest.mark.case("reqfile:B1")
def test_a_requirement_without_checks_fails(repo: Repo) -> None:
    """A requirement nothing checks is a wish."""
    empty = req(R1=OK).split("    checks:")[0]
    _refused(
        repo,
        f"{empty}    checks: []\n",
        "7: requirement R1 declares no checks; add at least one `command` or `decision` check",
    )
    _refused(repo, empty, "3: requirement R1 is missing the required field `checks`")


@pytest.mark.case("reqfile:B2")
@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ("- lint", "unknown check `lint`; a check is either `decision` or a `command` mapping"),
        ("- script: {run: x}", "unknown check `script`; a check is either `decision` or a `command` mapping"),
        ("- 42", "a check is either `decision` or a `command` mapping"),
        (f"{OK}\n  decision:", "a check is either `decision` or a `command` mapping"),
    ],
    ids=["string", "key", "number", "both"],
)
def test_a_check_must_be_a_command_or_a_decision(repo: Repo, check: str, problem: str) -> None:
    """Nothing else is a check."""
    _refused(repo, req(R1=check), f"8: {problem}")


@pytest.mark.case("reqfile:B5")
def test_command_and_decision_checks_are_accepted(repo: Repo) -> None:
    """All four spellings are read; what judging decisions says is shown elsewhere."""
    decisions = {"B": "- decision", "C": "- decision: {mode: blocking}", "D": "- decision:\n    mode: advisory"}
    repo.write("Reqfile.yaml", req(A=OK, **decisions))
    listed = "  A (code)  checks: command\n  B (code)  checks: decision\n  C (code)  checks: decision (blocking)\n"
    expect(repo.run("list"), 0, f"{listed}  D (code)  checks: decision\n")


def test_every_problem_of_every_file_is_told_at_once(repo: Repo) -> None:
    """An author fixes all of them before the next run (design 4), in path and line order."""
    repo.write("Reqfile.yaml", req(r1="- lint", R2=command("true", timeout=0, format="xml")))
    repo.write("a/Reqfile.yaml", "reqfile: 3\ncode: {}\n")
    repo.write("b/.reqfile/config.yaml", "base: 3\n")
    lines = repo.run("check").out.splitlines()
    assert [line.partition(": ")[0] for line in lines if line.startswith("error")] == [
        "error  b/.reqfile/config.yaml:1",
        "error  Reqfile.yaml:3",
        "error  Reqfile.yaml:8",
        "error  Reqfile.yaml:17",
        "error  Reqfile.yaml:18",
        "error  a/Reqfile.yaml:1",
        "error  a/Reqfile.yaml:2",
    ]


@pytest.mark.parametrize(
    ("run", "where"), [(("check",), "out"), (("list",), "err"), (("explain", "."), "err")], ids=str
)
@pytest.mark.case("reqfile:R14")
def test_check_reports_on_stdout_and_other_commands_on_stderr(repo: Repo, run: tuple[str, ...], where: str) -> None:
    """``check`` puts errors into its report, the others start them with ``error: ``; all exit with 3."""
    repo.write("Reqfile.yaml", "reqfile: 2\n")
    text = "Reqfile.yaml:1: unsupported Reqfile version 2"
    expect(repo.run(*run), 3, f"error  {text}" if where == "out" else f"error: {text}", stderr=where == "err")


@pytest.mark.case("reqfile:R14")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--fats"),
        ("check", "-v", "-q"),
        ("check", "--format", "xml"),
        ("check", "--edition", "0.2"),
        ("list", "--kind", "all"),
        ("explain",),
        ("chekc",),
        (),
    ],
    ids=" ".join,
)
def test_a_bad_command_line_exits_with_2(repo: Repo, arguments: tuple[str, ...]) -> None:
    """Nothing runs; stderr says how the command is used."""
    repo.write("Reqfile.yaml", GOOD)
    expect(repo.run(*arguments), 2, "usage: reqfile", stderr=True)


def _example(repo: Repo, label: str, *, files: bool = True) -> None:
    """R1 with the one example ``case``, labeled anew."""
    repo.write("Reqfile.yaml", req(R1=OK))
    repo.write(".reqfile/R1/examples/case/example.yaml", label)
    if files:
        repo.write(".reqfile/R1/examples/case/files/notes.txt", "text\n")


LABEL = "error: .reqfile/R1/examples/case/example.yaml"


@pytest.mark.case("reqfile:A21")
def test_example_yaml_requires_expected_violation_or_ok(repo: Repo) -> None:
    """An example without a label measures nothing."""
    _example(repo, "rationale: Because.\n")
    message = f"{LABEL}:1: example.yaml is missing the required field `expected`\n"
    expect(repo.run("eval"), 3, message, stderr=True)
    _example(repo, "expected: maybe\n")
    message = f"{LABEL}:1: unknown `expected: maybe`; expected `violation` or `ok`\n"
    expect(repo.run("eval"), 3, message, stderr=True)


@pytest.mark.case("reqfile:A23")
def test_split_accepts_only_tune_or_holdout(repo: Repo) -> None:
    """Anything else would silently be tuned on."""
    _example(repo, "expected: ok\nsplit: test\n")
    message = f"{LABEL}:2: unknown `split: test`; expected `tune` or `holdout`\n"
    expect(repo.run("eval"), 3, message, stderr=True)
    for split in ("tune", "holdout"):
        _example(repo, f"expected: ok\nsplit: {split}\n")
        expect(repo.run("eval"), 0, "1 examples")


@pytest.mark.case("reqfile:A24")
def test_example_without_a_files_folder_is_an_error(repo: Repo) -> None:
    """Its checks would see nothing."""
    _example(repo, "expected: ok\n", files=False)
    expect(repo.run("eval"), 3, "an example holds its case in files/", stderr=True)


@pytest.mark.case("reqfile:A25")
def test_expected_findings_must_name_files_inside_the_files_folder(repo: Repo) -> None:
    """And an example that is fine has none."""
    _example(repo, "expected: violation\nfindings: [missing.txt]\n")
    expect(repo.run("eval"), 3, "expected finding missing.txt is not a file of files/", stderr=True)
    _example(repo, "expected: ok\nfindings: [notes.txt]\n")
    expect(repo.run("eval"), 3, "an `ok` example has none", stderr=True)
