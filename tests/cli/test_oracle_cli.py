"""``reqfile oracle run`` as a process (design 2.5; issue 10)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import Completed, Repo
from tests.support.missions import criterion, entry, mission_text


def run(repo: Repo, text: str, *more: str) -> Completed:
    """The command over a mission beside the repository; the sink is ``home/sink``."""
    (repo.home / "mission.json").write_text(text)
    return repo.run("oracle", "run", "../repo.home/mission.json", "--sink", str(repo.home / "sink"), *more)


def claims(repo: Repo) -> dict[str, Any]:
    """The claims in the sink."""
    document: dict[str, Any] = json.loads((repo.home / "sink" / "worker-claims.json").read_text())
    return document


@pytest.mark.parametrize(
    ("oracle", "code", "last"),
    [
        ([entry("true")], 0, "oracle: pass"),
        ([entry("exit 1", 1)], 0, "oracle: pass"),
        ([entry("true"), entry("false")], 3, "oracle: fail"),
        ([entry("false"), entry("nonesuch-x")], 3, "oracle: fail"),
        ([entry("true"), entry("nonesuch-x")], 4, "oracle: blocked"),
        ([], 4, "oracle: blocked"),
    ],
)
def test_exit_codes(repo: Repo, oracle: list[object], code: int, last: str) -> None:
    """0 all pass, 3 fail, 4 blocked; fail wins."""
    done = run(repo, mission_text(*oracle, criteria=[criterion()] if oracle else []))
    assert (done.code, done.out.splitlines()[-1], done.err) == (code, last, "")


def test_partial_is_4(repo: Repo) -> None:
    """All passed, but the claims could not say so of each within the budget."""
    criteria = [criterion(f"AC-{number}", f"C{number}") for number in range(20)]
    oracle = [entry("true", check_id=f"C{number}") for number in range(20)]
    done = run(repo, mission_text(*oracle, criteria=criteria, delegation={"return_budget_tokens": 700}))
    assert (done.code, done.out.splitlines()[-1]) == (4, "oracle: partial")
    assert "left out for the budget" in done.out
    assert str(claims(repo)["limitations"][0]).startswith("partial: omitted criteria AC-")
    assert len(json.loads((repo.home / "sink" / "review-evidence.json").read_text())["oracleResults"]) == 20


def test_the_text_for_people(repo: Repo) -> None:
    """One line per item and criterion, the cost, the verdict."""
    done = run(repo, mission_text(entry("exit 2"), criteria=[criterion()], mustNotRegress=["as before"]))
    *lines, cost, verdict = done.out.splitlines()
    assert lines == [
        "fail    oracle/C: expected exit code 0, found 2",
        "blocked guard/guard-1: mustNotRegress 'as before' has no executable check",
        "fail    criterion AC-1 (high)",
    ]
    assert cost.startswith(f"claims: {repo.home.resolve()}/sink/worker-claims.json (")
    assert cost.endswith(" of 1000 tokens)")
    assert verdict == "oracle: fail"


def test_a_bad_mission_is_2_and_blocks_its_criteria(repo: Repo) -> None:
    """All problems with their places, nothing run, and claims that say so."""
    text = '{"verificationOracle": [{"command": "touch ran", "expectedExitCode": true}],\n'
    text += '"acceptanceCriteria": [{"id": "AC-1", "text": "x", "checkId": "oracle-1"}]}'
    done = run(repo, text)
    problem = "../repo.home/mission.json:1: `expectedExitCode` must be an integer in 0..255, found a boolean"
    assert (done.code, done.err) == (2, f"error: {problem}\n")
    document = claims(repo)
    assert [claim["text"] for claim in document["claims"]] == ["[blocked] (confidence: high) AC-1: x — oracle-invalid"]
    assert document["limitations"] == [f"invalid mission: {problem}"]
    assert [check["exitCode"] for check in document["checks"]] == [None]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("delegation", "do it", "`delegation` must be an object, found a string"),
        ("intent", ["tokens"], "`intent` must be an object, found a list"),
        ("intent", {"limits": [5]}, "`intent.limits` must be an object, found a list"),
        ("acceptance", [criterion()], "`acceptance` must be an object, found a list"),
        ("spec", 1, "`spec` must be an object, found an integer"),
    ],
)
def test_what_holds_keys_must_be_an_object(repo: Repo, key: str, value: object, problem: str) -> None:
    """A limit or a criterion in a shape we do not know must not go unseen."""
    done = run(repo, json.dumps({**json.loads(mission_text(entry("true"))), key: value}))
    assert (done.code, problem in done.err) == (2, True), done.err
    assert done.out.startswith("blocked oracle/C: ")


def test_nothing_claimed_is_said(repo: Repo) -> None:
    """Criteria under another key would look like a mission without any."""
    done = run(repo, mission_text(entry("true"), acceptancecriteria=[criterion()]))
    assert done.code == 0
    assert claims(repo)["limitations"] == ["the mission has no acceptanceCriteria, so nothing is claimed"]


def test_a_program_that_an_earlier_command_made_is_found(repo: Repo) -> None:
    """Looked for where the command runs; one that is nowhere is a prerequisite all the same."""
    path = {"PATH": f"{repo.root}/bin:/usr/bin:/bin"}
    made = entry("mkdir bin; printf 'exit 0' > bin/made; chmod +x bin/made", check_id="make")
    oracle = (made, entry("made", check_id="use", env=path), entry("unmade", check_id="miss", env=path))
    prefix = entry(f"PATH={repo.root}/bin:$PATH made", check_id="prefix")
    done = run(repo, mission_text(*oracle, prefix, criteria=[criterion()]))
    assert [line[:7] for line in done.out.splitlines()[:4]] == ["pass   ", "pass   ", "blocked", "pass   "], done.out
    assert "blocked oracle/miss: needs `unmade`, which is not on PATH" in done.out


def test_a_duplicate_key_is_a_bad_mission(repo: Repo) -> None:
    """Which of the two was meant nobody can say."""
    done = run(repo, '{"verificationOracle": ["true"],\n"verificationOracle": ["false"]}')
    assert done.code == 2
    assert "mission.json:2: duplicate key `verificationOracle` (first defined at line 1)" in done.err
    assert claims(repo)["claims"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("../repo.home/none.json", "--sink", "../s"), "../repo.home/none.json: no such mission"),
        (("../repo.home/mission.json", "--sink", "sink"), "is inside the reviewed workspace"),
        (("../repo.home/mission.json", "--sink", "../s", "--workspace", "none"), "expected a folder, found none"),
        (("../repo.home/mission.json", "--sink", "../s", "--schema", "none"), "none: no such file"),
        (("../repo.home/mission.json", "--sink", "../s", "--timeout", "0"), "expected seconds in 0..3600, found 0"),
        (("../repo.home/mission.json",), "the following arguments are required: --sink"),
        ((), "the following arguments are required: MISSION, --sink"),
    ],
)
def test_what_cannot_be_asked_is_2(repo: Repo, arguments: tuple[str, ...], message: str) -> None:
    """Before anything runs."""
    (repo.home / "mission.json").write_text(mission_text(entry("true")))
    done = repo.run("oracle", "run", *arguments)
    assert (done.code, message in done.err) == (2, True), done.err


def test_the_workspace_is_the_repository_of_the_folder(repo: Repo) -> None:
    """From a folder below its top; or the one named; or a folder without git."""
    repo.write("sub/x")
    repo.write("top")
    text = mission_text(entry("test -f top"))
    (repo.home / "m.json").write_text(text)
    sink = ("--sink", str(repo.home / "sink"))
    assert repo.run("oracle", "run", str(repo.home / "m.json"), *sink, cwd="sub").code == 0
    away = repo.run("oracle", "run", "m.json", *sink, "--workspace", str(repo.root), cwd=repo.home)
    assert away.code == 0
    (repo.home / "top").write_text("")
    outside = {"GIT_CEILING_DIRECTORIES": str(repo.home.parent)}
    sink = ("--sink", str(repo.home.parent / "sink"))
    plain = repo.run("oracle", "run", str(repo.home / "m.json"), *sink, cwd=repo.home, env=outside)
    assert plain.code == 0, plain.err


def test_options_reach_the_run(repo: Repo) -> None:
    """Isolation, allowed checks, passed variables, time, required codes."""
    oracle = [
        entry('test "$TOKEN" = t', check_id="E"),
        entry("sleep 30", check_id="T"),
        entry("git tag x", check_id="A"),
        {"command": "true", "checkId": "D"},
    ]
    more = ("--isolation", "copy", "--allow", "A", "--pass-env", "TOKEN", "--timeout", "0.8", "--require-exit-codes")
    (repo.home / "mission.json").write_text(mission_text(*oracle))
    arguments = ("oracle", "run", str(repo.home / "mission.json"), "--sink", str(repo.home / "sink"), *more)
    done = repo.run(*arguments, env={"TOKEN": "t"})
    assert [line.split()[0] for line in done.out.splitlines()[:4]] == ["pass", "blocked", "pass", "blocked"]
    assert json.loads((repo.home / "sink" / "oracle" / "01-E.json").read_text())["isolation"]["mode"] == "copy"
    assert repo.git("tag") == ""


def test_standard_forms(repo: Repo) -> None:
    """An unsigned in-toto statement about the very commit, and CTRF."""
    head = repo.commit()
    run(repo, mission_text(entry("true"), entry("false", check_id="F")), "--statement", "--ctrf")
    statement = json.loads((repo.home / "sink" / "attestation" / "test-result.intoto.json").read_text())
    assert statement["subject"] == [{"name": "workspace", "digest": {"gitCommit": head}}]
    assert (statement["predicate"]["passedTests"], statement["predicate"]["failedTests"]) == (["C"], ["F"])
    ctrf = json.loads((repo.home / "sink" / "ctrf.json").read_text())
    assert (ctrf["results"]["summary"]["passed"], ctrf["results"]["summary"]["failed"]) == (1, 1)


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["apiVersion"],
    "$defs": {
        "workerClaims": {
            "type": "object",
            "additionalProperties": False,
            "required": ["claims", "checks"],
            "properties": {
                "claims": {"type": "array", "items": {"properties": {"evidence": {"items": {"required": ["uri"]}}}}},
                "checks": {"type": "array"},
                "observations": {"type": "array"},
                "limitations": {"type": "array"},
            },
        }
    },
}


def test_the_users_schema_chooses_the_profile(repo: Repo) -> None:
    """The first spelling that validates is taken, whether the schema is named or found below $AIWG_ROOT."""
    text = mission_text(entry("true"), criteria=[criterion()])
    schema = repo.home / "aiwg" / "schemas" / "mission-v1.schema.json"
    schema.parent.mkdir(parents=True)
    schema.write_text(json.dumps(SCHEMA))
    assert run(repo, text, "--schema", str(schema)).code == 0
    assert set(claims(repo)["claims"][0]["evidence"][0]) >= {"uri", "sha256"}
    (repo.home / "m.json").write_text(text)
    arguments = ("oracle", "run", str(repo.home / "m.json"), "--sink", str(repo.home / "other"))
    assert repo.run(*arguments, env={"AIWG_ROOT": str(repo.home / "aiwg")}).code == 0
    found = json.loads((repo.home / "other" / "worker-claims.json").read_text())
    assert "uri" in found["claims"][0]["evidence"][0]


def test_a_schema_mismatch_is_told_and_never_passes(repo: Repo) -> None:
    """The file is written all the same; no key is dropped to fit."""
    strict = json.loads(json.dumps(SCHEMA))
    strict["$defs"]["workerClaims"]["required"].append("status")
    path = repo.home / "schema.json"
    path.write_text(json.dumps(strict))
    done = run(repo, mission_text(entry("true"), criteria=[criterion()]), "--schema", str(path))
    assert done.code == 4
    assert "error: the claims do not fit the schema: $: 'status' is a required property" in done.err
    assert len(claims(repo)["claims"]) == 1


def test_an_older_schema_without_claims_is_no_obstacle(repo: Repo, tmp_path: Path) -> None:
    """mission-v1 had no workerClaims at first; a note says that nothing was validated."""
    schema = tmp_path / "aiwg" / "schemas" / "mission-v1.schema.json"
    schema.parent.mkdir(parents=True)
    schema.write_text('{"$defs": {"extensions": {}}}')
    (repo.home / "m.json").write_text(mission_text(entry("true")))
    arguments = ("oracle", "run", str(repo.home / "m.json"), "--sink", str(repo.home / "sink"))
    done = repo.run(*arguments, env={"AIWG_ROOT": str(tmp_path / "aiwg")})
    assert (done.code, done.err.strip()) == (
        0,
        f"{schema} has no workerClaims, so the claims were not validated against it",
    )


def test_ids_and_texts_cannot_move_the_cursor(repo: Repo) -> None:
    """What a mission says is shown, never obeyed."""
    nasty = "\x1b[2J\u202eevil\r\n[pass]"
    done = run(repo, mission_text(entry("false", check_id=nasty), criteria=[criterion(nasty, nasty, nasty)]))
    assert done.code == 3
    assert all(line.isprintable() for line in done.out.splitlines())
    assert "\x1b" not in done.out


def test_the_example_does_what_it_says(repo: Repo, tmp_path: Path) -> None:
    """examples/oracle: passes as it is, fails as soon as the promise is broken."""
    example = Path(__file__).parents[2] / "examples" / "oracle"
    shutil.copytree(example, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__"))
    project = tmp_path / "example" / "project"
    arguments = ("oracle", "run", "mission.json", "--workspace", "project", "--sink", str(tmp_path / "sink"))
    done = repo.run(*arguments, cwd=tmp_path / "example")
    assert done.code == 0, done.out
    readme = (example / "README.md").read_text()
    shown = [line for line in done.out.splitlines() if line.startswith("pass    ") and "criterion" not in line]
    assert len(shown) == 4
    assert all(line in readme for line in shown)
    assert sorted(path.name for path in project.iterdir()) == ["slug.py", "test_slug.py"]
    text = (project / "slug.py").read_text()
    (project / "slug.py").write_text(text.replace('raise ValueError("a title needs a letter or a digit")', 'return ""'))
    again = repo.run(*arguments, cwd=tmp_path / "example")
    assert again.code == 3
    assert "fail    oracle/refusal: expected exit code 1, found 0" in again.out
    assert f"{tmp_path}/sink/run-2/worker-claims.json" in again.out
