"""What cannot be looked at is never passed over: no permission, slips in near misses, names misread, our own crash."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support import Repo
from tests.support.projects import HEAD
from tests.support.repo import Completed
from tests.support.requirements import OK, command, expect, req, say
from tests.support.verifiers import Workbench, flat

PERMISSIONS_KEPT = "setpriv", "--bounding-set=-dac_override,-dac_read_search"
WAY_OUT = "make it readable, or leave it out with .gitignore or an `exclude` glob"


@pytest.fixture
def bound() -> tuple[str, ...]:
    """What to put before a command so that permissions mean something to it; nothing, unless we are root."""
    if os.geteuid() != 0:
        return ()
    if shutil.which(PERMISSIONS_KEPT[0]) is None:
        pytest.skip("root may read everything, and setpriv is not there to give that up")
    return PERMISSIONS_KEPT


@contextmanager
def closed(repo: Repo, folder: str, mode: int = 0o000) -> Iterator[None]:
    """The folder without the permissions it had, for a while."""
    repo.path(folder).chmod(mode)
    try:
        yield
    finally:
        repo.path(folder).chmod(0o755)


def check(repo: Repo, bound: tuple[str, ...], *argv: str) -> Completed:
    """``reqfile check`` bound to permissions."""
    return repo.execute(*bound, sys.executable, "-P", "-m", "pytest_reqfile", *(argv or ("check",)))


def run_pytest(repo: Repo, bound: tuple[str, ...], *argv: str) -> Completed:
    """pytest bound to permissions."""
    return repo.execute(*bound, sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rE", *argv)


@pytest.mark.parametrize("tracked", [False, True], ids=["untracked", "tracked"])
def test_a_folder_that_cannot_be_read_is_an_error(repo: Repo, bound: tuple[str, ...], tracked: bool) -> None:
    """git only warns of it and exits with 0; the Reqfile inside would be skipped in silence."""
    repo.write("Reqfile.yaml", req(R1=OK))
    repo.write("app/Reqfile.yaml", req(R2=say("found")))
    if tracked:
        repo.commit()
    with closed(repo, "app"):
        expect(check(repo, bound), 3, f"error  app: cannot read: Permission denied; {WAY_OUT}\n")
        assert check(repo, bound, "list").code == 3
    expect(check(repo, bound), 1, "R2  found")


def test_a_folder_that_can_only_be_listed_is_an_error(repo: Repo, bound: tuple[str, ...]) -> None:
    """Its names are known, but not what they are: no reason to take them for no files."""
    repo.write("Reqfile.yaml", req(R1=command("true", files="**/*.py")))
    repo.write("app/Reqfile.yaml", req(R2=say("found")))
    with closed(repo, "app", 0o644):
        expect(check(repo, bound), 3, "error  app/Reqfile.yaml: cannot read: Permission denied\n", "1 error.")
    repo.write("src/a.py")
    with closed(repo, "src", 0o644):
        expect(check(repo, bound), 3, "error  src/a.py: cannot read: Permission denied\n", "1 error.")
        done = run_pytest(repo, bound, "Reqfile.yaml")
    assert done.code == 1
    assert "ERROR Reqfile.yaml::R1/command-1 - Failed: src/a.py: cannot read:" in done.out


def test_unreadable_settings_are_an_error(repo: Repo, bound: tuple[str, ...]) -> None:
    """What they exclude would be checked, and by other settings."""
    repo.write("Reqfile.yaml", req(R1=OK))
    repo.write(".reqfile/config.yaml", "exclude: ['app/**']\n")
    with closed(repo, ".reqfile"):
        expect(check(repo, bound), 3, "error  .reqfile: cannot read: Permission denied")


def test_pytest_does_not_pass_checks_whose_files_it_cannot_see(repo: Repo, bound: tuple[str, ...]) -> None:
    """A check without ``files`` needs none of them."""
    repo.write("Reqfile.yaml", req(R1=[command("true", files="**/*.py"), OK]))
    repo.write("src/a.py")
    with closed(repo, "src"):
        done = run_pytest(repo, bound, "Reqfile.yaml")
        whole = run_pytest(repo, bound, "--reqfile", "Reqfile.yaml")
    assert done.code == 1
    assert f"error: its files cannot all be seen: src: cannot read: Permission denied; {WAY_OUT}" in done.out
    assert "1 passed, 1 error in" in done.out
    assert "ERROR src::load - src: cannot read: Permission denied" in whole.out, whole


def test_a_folder_that_is_left_out_need_not_be_readable(repo: Repo, bound: tuple[str, ...]) -> None:
    """Ignored by git or excluded: the data folder of another user's service stops nobody."""
    repo.write("Reqfile.yaml", req(R1=command("true", files="**/*.py")))
    repo.write("data/x.py")
    repo.write("more/x.py")
    repo.write(".gitignore", "more\n")
    repo.write(".reqfile/config.yaml", "exclude: ['data/**']\n")
    with closed(repo, "data"), closed(repo, "more"):
        expect(check(repo, bound), 0, "0 checks run, 1 with nothing to check.")


SLIPS = (
    "reqfile: 1\ncode:\n  - id: A\n\tmust: tab\n",
    "reqfile: 1\ncode: [\n",
    "code: &x []\nproduct: *x\n",
    "product: []\nproduct: []\n",
    "product: []\n---\nproduct: []\n",
)


@pytest.mark.parametrize("text", SLIPS, ids=["tab", "bracket", "alias", "twice", "documents"])
def test_a_near_miss_with_a_slip_in_it_is_an_error_all_the_same(repo: Repo, text: str) -> None:
    """It holds a top-level key of ours (seed 004 REQFILE_FORMAT), whatever else is wrong with it."""
    repo.write("Reqfile.yml", text)
    expect(repo.run("check"), 3, "error  Reqfile.yml:1: a requirements file must be named exactly Reqfile.yaml\n")


def test_names_that_would_be_misread_are_an_error(repo: Repo) -> None:
    """Without UTF-8 a glob matches no name with an umlaut, and the check would have nothing to check."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    repo.write("Reqfile.yaml", req(R1=command("exit 1", files="gr?n.txt")))
    repo.write("gren.txt")
    expect(repo.run("check", env=plain), 1, "1 violation")
    repo.write("gr\u00fcn.txt")
    way_out = "expected UTF-8: set PYTHONUTF8=1 or a UTF-8 locale\n"
    expect(repo.run("check", env=plain), 3, "error  file names are read as ascii here, so no glob", way_out)
    walk = repo.pytest("-q", "-p", "no:randomly", "Reqfile.yaml", env=plain)
    assert walk.code == pytest.ExitCode.INTERRUPTED
    assert "file names are read as ascii here" in walk.out
    assert "pytest_reqfile/" not in walk.out
    whole = repo.pytest("-q", "--reqfile", env=plain)
    assert whole.code == pytest.ExitCode.USAGE_ERROR
    assert whole.err.startswith("ERROR: file names are read as ascii here")
    expect(repo.run("check", env=plain | {"PYTHONUTF8": "1"}), 1, "1 violation")


@pytest.mark.parametrize("fails", ["import yaml", "import re2"])
def test_a_crash_is_no_finding(repo: Repo, fails: str) -> None:
    """Exit 1 says that there are blocking findings (seed 004 NO_FALSE_GREEN); a broken installation is not one."""
    name = fails.split()[1]
    repo.write("Reqfile.yaml", req(R1=command("true", files="*.yaml")))
    (repo.home / f"{name}.py").write_text("raise RuntimeError('broken installation')\n")
    done = repo.run("check", env={"PYTHONPATH": str(repo.home)})
    assert done.code == 3
    assert done.err.endswith("RuntimeError: broken installation\n")


def verifiers(repo: Repo, bound: tuple[str, ...], *argv: str) -> Completed:
    """``reqfile verifiers run`` in the project ``app``, bound to permissions."""
    command = (*bound, sys.executable, "-P", "-m", "pytest_reqfile", "verifiers", "run", *argv)
    return repo.execute(*command, cwd="app")


@pytest.mark.parametrize("arguments", [(), ("--since", "main")], ids=["all", "since"])
@pytest.mark.parametrize(
    ("specs", "code", "message"),
    [
        ('when_changed = ["**/*.txt"]\n[verifiers.require.forbid]\nregex = "XXX"\n', 1, "shut"),
        ('when_changed = ["shut/*.txt"]\n[verifiers.require.regex]\nregex = "XXX"\n', 1, "shut"),
        ('[verifiers.require.glob_count]\nfiles = "*.txt"\nmax = 9\n', 1, "shut"),
        ('when_changed = ["*.txt"]\nexclude = ["shut/**"]\n[verifiers.require.forbid]\nregex = "XXX"\n', 0, ""),
        ('when_changed = ["open/*.txt"]\n[verifiers.require.forbid]\nregex = "XXX"\n', 0, ""),
        ('[verifiers.require.file_exists]\npath = "open"\n', 0, ""),
    ],
)
def test_a_rule_does_not_hold_for_what_cannot_be_read(
    repo: Repo, bound: tuple[str, ...], specs: str, code: int, message: str, arguments: tuple[str, ...]
) -> None:
    """git only warns of a folder that it cannot look into, seen from the top of the repository."""
    repo.write("app/.ai-rulez/config.toml", HEAD)
    repo.write("app/.ai-rulez/rules/r.md", "# R\n")
    repo.write("app/.ai-rulez/verifiers/t.toml", f'[[verifiers]]\nid = "x"\nrule = "r"\nseverity = "error"\n{specs}')
    repo.write("app/open/a.txt", "fine\n")
    repo.commit()
    repo.write("app/shut/b.txt", "XXX\n")
    repo.write("shut/b.txt", "of another project\n")
    with closed(repo, "app/shut"), closed(repo, "shut"):
        done = verifiers(repo, bound, *arguments)
    assert done.code == code, done.out + done.err
    assert ("cannot read directory shut: the result would be incomplete" in done.out) is bool(message)


def test_a_tracked_file_that_cannot_be_looked_at_is_read_in_vain(repo: Repo, bound: tuple[str, ...]) -> None:
    """It is in the list of what changed, so that its verifier is an error."""
    repo.write("app/.ai-rulez/config.toml", HEAD)
    repo.write("app/.ai-rulez/rules/r.md", "# R\n")
    spec = '[[verifiers]]\nid = "x"\nrule = "r"\nwhen_changed = ["*.txt"]\n[verifiers.require.forbid]\nregex = "XXX"\n'
    repo.write("app/.ai-rulez/verifiers/t.toml", spec)
    repo.commit()
    repo.write("app/shut/b.txt", "XXX\n")
    repo.git("add", "-A")
    with closed(repo, "app/shut"):
        done = verifiers(repo, bound, "--staged")
    assert (done.code, "read shut/b.txt: permission denied" in done.out) == (1, True)


@pytest.mark.case("verifiers:A2.12")
def test_verifiers_look_into_no_folder_that_cannot_be_read(repo: Repo, bound: tuple[str, ...]) -> None:
    """A finding for the verifiers that would have looked into it, silenced by an exclude that covers it (seed 000)."""
    bench = Workbench(repo.root, repo.environment)
    bench.write_all({"a.txt": "", "shut/b.txt": "", "lib/c.txt": ""})
    bench.config(
        flat("count", "glob_count", glob="*.txt", max=5)
        + flat("forbid", "forbid", glob="**/*.txt", pattern="XXX")
        + flat("covered", "glob_count", glob="*.txt", max=5, exclude=["shut/**"])
        + flat("elsewhere", "forbid", glob="lib/*.txt", pattern="XXX")
        + flat("exists", "file_exists", path="a.txt")
    )
    with closed(repo, "shut"):
        done = repo.execute(*bound, sys.executable, "-P", "-m", "pytest_reqfile", "verifiers", "run", "--format=json")
    results = {result["name"]: result for result in json.loads(done.out)["results"]}
    assert done.code == 2
    assert {name: result["status"] for name, result in results.items()} == {
        "count": "fail",
        "forbid": "fail",
        "covered": "pass",
        "elsewhere": "pass",
        "exists": "pass",
    }
    assert results["count"]["message"] == "cannot read directory shut: the result would be incomplete"
