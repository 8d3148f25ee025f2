"""Cases K and L: what applies where, and what there is (seed 004 EXPLAIN, LIST; spec reqfile.md 7.1, 7.2)."""

from __future__ import annotations

import json

import pytest

from tests.support import Repo
from tests.support.requirements import OK, command, expect, req


def _services(repo: Repo) -> None:
    repo.write("Reqfile.yaml", req(LOUD=OK))
    repo.write("services/api/Reqfile.yaml", req("product", FAST=OK))
    repo.write("services/web/Reqfile.yaml", req("product", NICE=OK))


def _block(reqfile: str, identifier: str, kind: str) -> str:
    return f"\nFrom {reqfile}:\n  {identifier} ({kind})\n    must: Be good.\n    why: Because.\n"


@pytest.mark.case("reqfile:K1")
def test_a_file_gets_the_requirements_of_its_folder_and_ancestors(repo: Repo) -> None:
    """From the root down, each with the Reqfile it comes from."""
    _services(repo)
    done = repo.run("explain", "services/api/h.py")
    blocks = _block("Reqfile.yaml", "LOUD", "code") + _block("services/api/Reqfile.yaml", "FAST", "product")
    assert (done.code, done.out) == (0, f"Requirements that apply to services/api/h.py:\n{blocks}")
    assert done.err == ""


@pytest.mark.case("reqfile:K2")
def test_a_folder_gets_its_own_requirements(repo: Repo) -> None:
    """A folder's own Reqfile applies to it."""
    _services(repo)
    texts = ("From services/web/Reqfile.yaml:\n  NICE", "LOUD")
    expect(repo.run("explain", "services/web"), 0, *texts, absent=["FAST"])


@pytest.mark.case("reqfile:K4")
def test_paths_are_relative_to_the_current_folder_and_may_not_exist_yet(repo: Repo) -> None:
    """Agents ask before they write."""
    _services(repo)
    here = "services/api"
    start = "Requirements that apply to services/api/new/m.py:\n"
    expect(repo.run("explain", "new/m.py", cwd=here), 0, start, "FAST")
    expect(repo.run("explain", ".", cwd=here), 0, "Requirements that apply to services/api:\n", "FAST")
    expect(repo.run("explain", "../web", cwd=here), 0, "NICE", absent=["FAST"])
    expect(repo.run("explain", str(repo.root)), 0, "Requirements that apply to the repository root:\n", "LOUD")
    expect(repo.run("explain", "../x"), 3, "error: ../x is outside the repository\n", stderr=True)
    (repo.home / "link").symlink_to(repo.root)
    expect(repo.run("explain", str(repo.home / "link/services/web/new.py")), 0, "to services/web/new.py:\n", "NICE")


@pytest.mark.case("reqfile:K6")
@pytest.mark.case("reqfile:K7")
def test_without_reqfiles_or_on_excluded_paths_nothing_applies(repo: Repo) -> None:
    """Said in one line, which names the config that excludes (K7)."""
    done = repo.run("explain", "src/main.rs")
    assert (done.code, done.out) == (0, "No requirements apply to src/main.rs.\n")
    repo.write(".reqfile/config.yaml", 'exclude: ["vendor/**"]\n')
    repo.write("Reqfile.yaml", req(LOUD=OK))
    done = repo.run("explain", "vendor/l.py")
    assert (done.code, done.out) == (0, "vendor/l.py is excluded by .reqfile/config.yaml; no requirements apply.\n")


@pytest.mark.case("reqfile:K9")
@pytest.mark.case("reqfile:K10")
def test_explain_shows_the_effective_block_and_its_resolved_definition(repo: Repo) -> None:
    """With its own reason, and whether its checks are inherited or set in the block (K10)."""
    repo.write("std/Reqfile.yaml", req(LOUD=OK))
    repo.write("services/api/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: LOUD, use: ../../std, why: Customers. }\n")
    own = "reqfile: 1\ncode:\n  - id: LOUD\n    use: ../../../std\n    checks:\n      - decision\n"
    repo.write("services/api/v2/Reqfile.yaml", own)
    done = repo.run("explain", "services/api/h.py")
    assert (done.code, done.out) == (
        0,
        "Requirements that apply to services/api/h.py:\n\nFrom services/api/Reqfile.yaml:\n  LOUD (code)\n"
        "    must: Be good.\n    why: Customers.\n    use: ../../std (std/Reqfile.yaml:3)\n"
        "    checks: inherited from the definition\n",
    )
    expect(
        repo.run("explain", "services/api/v2/h.py"),
        0,
        "From services/api/v2/Reqfile.yaml:\n  LOUD (code)\n    must: Be good.\n    why: Because.\n"
        "    use: ../../../std (std/Reqfile.yaml:3)\n    checks: set in this block\n",
        absent=["From services/api/Reqfile.yaml"],
    )


@pytest.mark.case("reqfile:L1")
def test_every_requirement_is_listed_with_its_type_and_checks(repo: Repo) -> None:
    """From anywhere in the repository; ``--kind`` lists one type."""
    repo.write("Reqfile.yaml", req(A=[OK, "- decision", OK], B="- decision: {mode: blocking}"))
    repo.write("services/api/Reqfile.yaml", req("product", C=OK))
    repo.write("services/web/Reqfile.yaml", req("product", D=OK))
    done = repo.run("list", cwd="services/api")
    products = (
        "From services/api/Reqfile.yaml:\n  C (product)  checks: command\n\n"
        "From services/web/Reqfile.yaml:\n  D (product)  checks: command\n\n"
    )
    assert (done.code, done.out) == (
        0,
        "From Reqfile.yaml:\n  A (code)  checks: command, decision\n  B (code)  checks: decision (blocking)\n\n"
        f"{products}4 requirements: 2 product, 2 code.\n",
    )
    assert repo.run("list", "--kind", "product").out == f"{products}2 product requirements.\n"
    assert repo.run("list", "--kind", "process").out == "No process requirements in this repository.\n"


@pytest.mark.case("reqfile:L4")
def test_invalid_reqfiles_are_config_errors(repo: Repo) -> None:
    """A list that leaves one out would look complete."""
    repo.write("Reqfile.yaml", req(A=OK))
    repo.write("app/Reqfile.yaml", "reqfile: 2\n")
    message = "error: app/Reqfile.yaml:1: unsupported Reqfile version 2; this reqfile supports version 1\n"
    expect(repo.run("list"), 3, message, stderr=True)


@pytest.mark.case("reqfile:L5")
@pytest.mark.case("reqfile:L6")
def test_list_shows_use_blocks_with_their_source(repo: Repo) -> None:
    """As text, and as JSON (L6)."""
    repo.write("std/Reqfile.yaml", req(X="- decision") + req("process", Y=OK).split("\n", 1)[1])
    repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: X, use: ./std }\nprocess:\n  - { id: Y, use: ./std }\n")
    own = "\n".join(f"      {line}" for line in command("true").split("\n"))
    repo.write("app/Reqfile.yaml", f"reqfile: 1\ncode:\n  - id: X\n    use: ../std\n    checks:\n{own}\n")
    done = repo.run("list")
    assert (done.code, done.out) == (
        0,
        "From Reqfile.yaml:\n  X (code)  use: ./std  checks: decision (inherited)\n"
        "  Y (process)  use: ./std  checks: command (inherited)\n\n"
        "From app/Reqfile.yaml:\n  X (code)  use: ../std  checks: command (set here)\n\n"
        "From std/Reqfile.yaml:\n  X (code)  checks: decision\n  Y (process)  checks: command\n\n"
        "5 requirements: 0 product, 3 code, 2 process.\n",
    )
    listed = json.loads(repo.run("list", "--format", "json", "--kind", "code").out)["requirements"]
    used = {"use": "./std", "definition": "std/Reqfile.yaml:3", "commit": None, "checks_inherited": True}
    assert listed[0] == {
        "reqfile": "Reqfile.yaml",
        "line": 3,
        "id": "X",
        "kind": "code",
        "must": "Be good.",
        "why": "Because.",
        "who": "Us.",
        "ref": None,
        "checks": ["decision"],
        "imported": used,
    }
    assert [entry["imported"] and entry["imported"]["use"] for entry in listed] == ["./std", "../std", None]
