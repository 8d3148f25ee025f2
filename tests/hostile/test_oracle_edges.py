"""The edge cases of spec oracle.md 9 that only the whole program shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import Completed, Repo
from tests.support.missions import criterion, entry, mission_text
from tests.support.neighbours import without_neighbours
from tests.support.processes import wait_until

COMMAND = (sys.executable, "-P", "-m", "pytest_reqfile", "oracle", "run")


def _offers(*words: str) -> bool:
    return shutil.which(words[0]) is not None and subprocess.run((*words, "true"), check=False).returncode == 0


def _run(repo: Repo, text: str, *before: str, sink: str = "sink", more: tuple[str, ...] = ()) -> Completed:
    """The program over a mission, started by the words ``before`` it."""
    (repo.home / "mission.json").write_text(text)
    return repo.execute(*before, *COMMAND, str(repo.home / "mission.json"), "--sink", str(repo.home / sink), *more)


def _claims(repo: Repo, sink: str = "sink") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((repo.home / sink / "worker-claims.json").read_text())
    return document


def _whole(sink: Path) -> list[str]:
    """The JSON files of a sink, each of which must be whole."""
    found = sorted(sink.rglob("*.json"))
    for path in found:
        json.loads(path.read_text())
    assert not list(sink.rglob("*.tmp"))
    return [path.name for path in found]


@pytest.fixture
def committed(repo: Repo) -> Repo:
    """A workspace with one file."""
    repo.write("a.txt", "1")
    repo.commit()
    return repo


@pytest.mark.case("oracle:9.3")
def test_an_expected_failure_is_a_passed_test(committed: Repo) -> None:
    """pytest shows passed where 1 was expected and came, failed where 1 was expected and 0 came."""
    text = mission_text(entry("exit 1", 1, check_id="came"), entry("exit 0", 1, check_id="missed"))
    (committed.home / "mission.json").write_text(text)
    done = committed.pytest(str(committed.home / "mission.json"), "-rA")
    assert done.code == 1
    assert re.search(r"^PASSED .*::oracle/came$", done.out, re.MULTILINE), done.out
    assert re.search(r"^FAILED .*::oracle/missed - expected exit code 1, found 0$", done.out, re.MULTILINE)


@pytest.mark.case("oracle:9.2")
def test_odd_ids_reach_the_claims_as_they_are(committed: Repo) -> None:
    """File names are made of slugs, so that no id leads out of the sink."""
    ids = ["../../evil", "a b/c", "ü" * 512, "CON", ".", "-rf", "x\u0000y", "same", "Same"]
    oracle = [entry("true", check_id=identifier) for identifier in ids]
    criteria = [criterion(f"AC-{number}", identifier) for number, identifier in enumerate(ids)]
    limit = {"delegation": {"return_budget_tokens": 100_000}}
    done = _run(committed, mission_text(*oracle, criteria=criteria, **limit))
    assert done.code == 0, done.out + done.err
    claims = _claims(committed)
    assert [check["checkId"] for check in claims["checks"]] == ids
    files = [path.name for path in (committed.home / "sink" / "oracle").iterdir()]
    assert len(files) == 3 * len(ids)
    assert all(re.fullmatch(r"\d\d-[A-Za-z0-9_.-]{1,80}\.(json|stdout|stderr)", name) for name in files), files
    assert not list(committed.home.rglob("evil*"))


@pytest.mark.case("oracle:9.13")
@pytest.mark.parametrize("text", ["It works.", "語" * 400, "long " * 2000])
def test_a_budget_that_fits_exactly(committed: Repo, text: str) -> None:
    """One token less is not enough; the claims are whole whatever the budget, and small ones say what is left out."""
    oracle = [entry("exit 1", check_id="C1"), entry("true", check_id="C2")]
    criteria = [criterion("AC-1", "C1", text), criterion("AC-2", "C2", text)]

    def tokens(budget: int) -> int:
        shutil.rmtree(committed.home / f"sink-{budget}", ignore_errors=True)
        limits = {"delegation": {"return_budget_tokens": 10**6}, "intent": {"limits": {"tokens": budget}}}
        done = _run(committed, mission_text(*oracle, criteria=criteria, **limits), sink=f"sink-{budget}")
        assert done.code == 3, done.out + done.err
        found = re.search(r"\((\d+) of (\d+) tokens", done.out)
        assert found
        assert int(found[2]) == budget
        return int(found[1])

    whole = tokens(100_000)
    assert tokens(whole) == whole
    assert _claims(committed, f"sink-{whole}").keys() == _claims(committed, "sink-100000").keys()
    assert tokens(whole - 1) < whole
    for budget in (1, 50):
        assert tokens(budget) > budget
        claims = _claims(committed, f"sink-{budget}")
        assert (claims["claims"], claims["checks"]) == ([], [])
        assert claims["limitations"][0].startswith("partial: omitted 2 criteria (1 fail, 1 pass); evidence ")


@pytest.mark.case("oracle:9.13")
def test_five_hundred_criteria(committed: Repo) -> None:
    """The one that failed is among those that are kept, and all are in the review evidence's receipts."""
    oracle = [entry("true", check_id="C"), entry("false", check_id="D")]
    criteria = [criterion(f"AC-{number}", "D" if number == 400 else "C", "t " * 50) for number in range(500)]
    done = _run(committed, mission_text(*oracle, criteria=criteria))
    assert done.code == 3
    claims = _claims(committed)
    assert "AC-400" in [claim["id"] for claim in claims["claims"]]
    assert re.match(
        r"partial: omitted criteria AC-\d+\.\.AC-399, AC-401\.\.AC-499 \(\d+ pass\)", claims["limitations"][0]
    )


@pytest.mark.case("oracle:9.16")
@pytest.mark.skipif(not _offers("unshare", "-U", "--map-user=1000", "--map-group=1000"), reason="no user namespaces")
def test_a_read_only_sink_is_refused_before_anything_runs(committed: Repo) -> None:
    """Root would write anyway, so the program is somebody else."""
    somebody = ("unshare", "-U", "--map-user=1000", "--map-group=1000")
    sink = committed.home / "sink"
    sink.mkdir()
    sink.chmod(0o555)
    done = _run(committed, mission_text(entry("true")), *somebody)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: cannot use {sink} for evidence: it is not writable\n"
    below = _run(committed, mission_text(entry("true")), *somebody, sink="sink/below")
    assert (below.code, below.err) == (2, f"error: cannot use {sink}/below for evidence: Permission denied\n")


@pytest.mark.case("oracle:9.17")
@pytest.mark.parametrize("end", ["SIGTERM", "exit"])
def test_a_pytest_that_ends_at_once_leaves_no_half_file(committed: Repo, end: str) -> None:
    """SIGTERM to pytest, and ``os._exit`` in a plugin: there are no claims, or whole ones."""
    (committed.home / "ending.py").write_text("import os\ndef pytest_runtest_teardown(): os._exit(9)\n")
    last = "sleep 20" if end == "SIGTERM" else "true"
    (committed.home / "mission.json").write_text(mission_text(entry("true"), entry(last, check_id="D")))
    sink = committed.home / "sink"
    words = ("-m", "pytest", "-p", "no:cacheprovider", str(committed.home / "mission.json"))
    plugin = ("-p", "ending") if end == "exit" else ()
    process = subprocess.Popen(
        (sys.executable, "-P", *words, "--reqfile-oracle-sink", str(sink), *plugin),
        cwd=committed.root,
        env={**committed.variables, "PYTHONPATH": str(committed.home)},
        stdout=subprocess.DEVNULL,
    )
    assert wait_until((sink / "oracle" / "01-C.json").exists, 20)
    if end == "SIGTERM":
        process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == (-signal.SIGTERM if end == "SIGTERM" else 9)
    names = _whole(sink)
    assert "worker-claims.json" not in names
    assert "01-C.json" in names
    assert committed.git("status", "--porcelain", "--ignored") == ""


@pytest.mark.case("oracle:9.18")
@pytest.mark.parametrize("umask", ["000", "077", "777"])
def test_umask_and_time_zone_change_nothing(committed: Repo, umask: str) -> None:
    """Evidence is private whatever the umask; commands have one of their own; times are UTC."""
    before = ("env", "TZ=Pacific/Apia", "LC_ALL=C", "sh", "-c", f'umask {umask}; exec "$@"', "sh")
    done = _run(committed, mission_text(entry("umask; echo $LC_ALL")), *before)
    assert done.code == 0, done.out + done.err
    sink = committed.home / "sink"
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (sink, *sink.rglob("*"))}
    assert modes == {True: 0o700, False: 0o600}
    assert (sink / "oracle" / "01-C.stdout").read_text() == "0022\nC\n"
    assert re.fullmatch(
        r"[-\d]+T[:.\d]+Z", json.loads((sink / "oracle" / "01-C.json").read_text())["process"]["startedAt"]
    )


@pytest.mark.case("oracle:9.19")
@pytest.mark.parametrize("neighbour", ["rerunfailures", "timeout", "randomly"])
def test_neighbours_change_no_verdict(committed: Repo, neighbour: str) -> None:
    """A rerun hides no failure, an order is restored, a timeout of tests cuts no command short."""
    text = mission_text(
        entry("test ! -e built && touch built", check_id="build"),
        entry("test -e built", check_id="test"),
        entry("false", check_id="fails"),
    )
    (committed.home / "mission.json").write_text(text)
    words = {"rerunfailures": ("--reruns=2",), "timeout": ("--timeout=30",), "randomly": ("-p", "randomly")}[neighbour]
    done = committed.pytest(
        *(str(committed.home / "mission.json"), "--reqfile-oracle-sink", str(committed.home / "sink")),
        *words,
        env={"PYTEST_ADDOPTS": without_neighbours(neighbour)},
    )
    assert done.code == 1, done.out + done.err
    assert [(check["checkId"], check["exitCode"]) for check in _claims(committed)["checks"]] == [
        ("build", 0),
        ("test", 0),
        ("fails", 1),
    ]


@pytest.mark.case("oracle:9.19")
def test_last_failed_leaves_the_rest_blocked(committed: Repo) -> None:
    """What ``--lf`` deselected was not run, and the claims say so."""
    text = mission_text(entry("true", check_id="A"), entry("false", check_id="B"))
    (committed.home / "mission.json").write_text(text)
    cache = ("-p", "cacheprovider", "-o", f"cache_dir={committed.home / 'cache'}")
    words = (sys.executable, "-P", "-m", "pytest", str(committed.home / "mission.json"), *cache)
    assert committed.execute(*words).code == 1
    done = committed.execute(*words, "--lf", "--reqfile-oracle-sink", str(committed.home / "sink"))
    assert done.code == 1, done.out + done.err
    assert [check["exitCode"] for check in _claims(committed)["checks"]] == [None, 1]
    assert "oracle command without a criterion A: blocked: was not run" in _claims(committed)["limitations"]


@pytest.mark.case("oracle:9.20")
@pytest.mark.skipif(os.geteuid() != 0 or not _offers("unshare", "-m"), reason="only root may hide bash")
def test_without_bash_it_is_sh_and_said(committed: Repo) -> None:
    """Bashisms would fail falsely, so the confidence is less."""
    hide = 'for f in /bin/bash /usr/bin/bash; do mount --bind /dev/null "$f" || exit 1; done; exec "$@"'
    done = _run(
        committed,
        mission_text(entry('test -z "$BASH_VERSION"'), criteria=[criterion()]),
        *("env", "PATH=/usr/bin:/bin", "unshare", "-m", "sh", "-c", hide, "sh"),
    )
    assert done.code == 0, done.out + done.err
    claims = _claims(committed)
    assert claims["claims"][0]["text"].startswith("[pass] (confidence: medium) ")
    assert "C: run by sh, since there is no bash" in claims["limitations"]


@pytest.mark.case("oracle:9.20")
@pytest.mark.skipif(not _offers("unshare", "-Ur"), reason="no user namespaces")
def test_without_namespaces_it_is_a_copy(committed: Repo) -> None:
    """Most containers; what is asked for by name and cannot be had is blocked, with the reason."""
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all --no-new-privs "$@"'
    before = ("unshare", "-Ur", "sh", "-c", forbid, "sh")
    done = _run(committed, mission_text(entry("echo x >> a.txt"), criteria=[criterion()]), *before)
    assert done.code == 0, done.out + done.err
    assert _claims(committed)["checks"][0]["environment"].startswith("copy/detect-only, net on; ")
    assert "C: isolation is detect-only" in _claims(committed)["limitations"]
    assert committed.path("a.txt").read_text() == "1"
    asked = _run(committed, mission_text(entry("true")), *before, sink="other", more=("--isolation", "overlay"))
    assert asked.code == 4
    assert f"blocked oracle/C: no isolation for {committed.root}: overlay: unshare" in asked.out


@pytest.mark.case("oracle:9.9")
@pytest.mark.skipif(not _offers("unshare", "-U", "--map-user=1000", "--map-group=1000"), reason="no user namespaces")
def test_an_ordinary_user_has_the_same_isolation(committed: Repo) -> None:
    """Through a user namespace of their own, in which they stay who they are."""
    text = mission_text(entry("test $(id -u) = 1000 && echo x >> a.txt && ! touch /etc/new"), criteria=[criterion()])
    done = _run(committed, text, "unshare", "-U", "--map-user=1000", "--map-group=1000")
    assert done.code == 0, done.out + done.err
    assert _claims(committed)["checks"][0]["environment"].startswith("overlay/kernel, net off; ")
    assert committed.path("a.txt").read_text() == "1"


@pytest.mark.case("oracle:9.10")
@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="root reads everything")
def test_what_cannot_be_read_is_blocked(committed: Repo, *, folder: bool) -> None:
    """Root without its powers, or anybody: what was not looked at was not verified."""
    place = committed.path("locked")
    place.mkdir() if folder else place.touch()
    place.chmod(0)
    powerless = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all") if os.geteuid() == 0 else ()
    done = _run(committed, mission_text(entry("true")), *powerless)
    place.chmod(0o700)
    assert done.code == 4, done.out + done.err
    assert "locked" in done.out.splitlines()[0]
    assert "Permission denied" in done.out.splitlines()[0]
