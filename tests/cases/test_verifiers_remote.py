"""Verifiers and content of fetched includes and skills (seed 000 "Imported verifiers"; spec/airulez-project.md 4.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import Repo
from tests.support.remotes import Remote, Taker
from tests.support.verifiers import head, predicate

RULE = {".ai-rulez/rules/store.md": "# Store\n"}
FORBID = head("no-drop", when="*.ddl", severity="error") + predicate("forbid", regex="drop")
COMMAND = head("tool", when="*.ddl") + predicate("command", argv=["false"])


@pytest.fixture
def taker(make_repo: Callable[[str], Repo]) -> Taker:
    taker = Taker(make_repo)
    taker.repo.write("a.ddl", "drop\n")
    return taker


@pytest.fixture
def remote(taker: Taker) -> Remote:
    return taker.remote()


def results(taker: Taker, *arguments: str) -> list[tuple[str, str, str]]:
    """Name (of a declaration that cannot be used: its source), status and message of every verifier."""
    done = taker.repo.run("verifiers", "run", "--format", "json", *arguments)
    document: dict[str, Any] = json.loads(done.out)
    return [
        (found.get("name") or found["source"], found["status"], (found.get("message") or ""))
        for found in document["results"]
    ]


def test_verifiers_of_a_pinned_include_run(taker: Taker, remote: Remote) -> None:
    """Its rule is their target, and one of ours may have it, too; a branch that moves brings nothing unreviewed."""
    remote.publish({**RULE, ".ai-rulez/verifiers/db.toml": FORBID})
    taker.takes(remote)
    taker.project.write("verifiers/own.toml", head("own", when="*.ddl") + predicate("forbid", regex="grant"))
    taker.lock()
    expected = [("own", "pass"), ("no-drop", "fail")]
    assert [found[:2] for found in results(taker)] == expected
    remote.publish({".ai-rulez/verifiers/more.toml": FORBID.replace("no-drop", "more")})
    assert [found[:2] for found in results(taker)] == expected
    remote.vanish()
    assert [found[:2] for found in results(taker)] == expected


@pytest.mark.parametrize("what", ["no lock", "not in the lock", "ref edited", "not cached", "tampered", "bad lock"])
def test_what_is_not_what_the_lock_pins_is_an_error(taker: Taker, remote: Remote, what: str) -> None:
    """Nothing of it is read, and nothing passes as if it were not there."""
    remote.publish({**RULE, ".ai-rulez/verifiers/db.toml": FORBID})
    taker.takes(remote)
    taker.lock()
    lock = taker.project.folder / "ai-rulez.lock"
    (cached,) = (taker.cache / "commits").iterdir()
    reason = {
        "no lock": "not pinned: ai-rulez.lock does not exist",
        "not in the lock": "not covered by the lock",
        "ref edited": "lock is stale: source, path or ref changed since it was written",
        "not cached": "its content is not on this machine; run `reqfile lock --fetch`",
        "tampered": "cached content digest sha256:",
        "bad lock": ".ai-rulez/ai-rulez.lock:1: ",
    }[what]
    match what:
        case "no lock":
            lock.unlink()
        case "not in the lock":
            lock.write_text(lock.read_text().replace("'shared'", "'other'"))
        case "ref edited":
            taker.takes(remote, ref="main")
        case "not cached":
            cached.rename(taker.cache / "elsewhere")
        case "tampered":
            (cached / "verifiers/db.toml").write_text(FORBID.replace("drop", "dorp"))
        case _:
            lock.write_text("version = 99\n")
    ((source, status, message),) = results(taker)
    assert (source, status) == ("include:shared", "error")
    assert message.startswith(f"cannot look for its verifiers: {reason}")


def test_commands_need_trust(taker: Taker, remote: Remote) -> None:
    """A pin alone is not enough, and neither is ``--allow-exec``; with trust the command runs."""
    remote.publish({**RULE, ".ai-rulez/verifiers/tool.toml": COMMAND})
    taker.takes(remote)
    taker.lock()
    ((source, status, message),) = results(taker, "--allow-exec")
    assert (source, status) == ("tool", "error")
    assert "uses the command predicate, which a verifier imported from include" in message
    trusted = '[verifiers_settings]\ntrust_exec_from = ["shared"]\n'
    taker.takes_all(taker.entry(remote), trusted)
    assert [found[:2] for found in results(taker, "--allow-exec")] == [("tool", "fail")]
    assert [found[:2] for found in results(taker)] == [("tool", "error")]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ('local_override = "dev"\n', "is read from its local_override, which ai-rulez.lock does not pin"),
        ('source = "dev"\n', "is trusted to run commands but is not pinned in ai-rulez.lock"),
    ],
)
def test_a_pin_of_something_else_is_no_trust(taker: Taker, remote: Remote, edit: str, message: str) -> None:
    """The lock pins what was fetched; what a path holds that has its name now, nobody has looked at."""
    remote.publish({**RULE, ".ai-rulez/verifiers/tool.toml": COMMAND})
    trusted = '[verifiers_settings]\ntrust_exec_from = ["shared"]\n'
    taker.takes_all(taker.entry(remote), trusted)
    taker.lock()
    taker.repo.write("dev/rules/store.md", "# Store\n")
    taker.repo.write("dev/verifiers/tool.toml", COMMAND)
    entry = taker.entry(remote) if "source" not in edit else '[[includes]]\nname = "shared"\n'
    taker.takes_all(entry + edit, trusted)
    ((source, status, told),) = results(taker, "--allow-exec")
    assert (source, status, message in told) == ("tool", "error", True)


def test_commands_of_installed_skills_never_run(taker: Taker, remote: Remote) -> None:
    """Trust covers includes only."""
    remote.publish({**RULE, "skills/shared/SKILL.md": "# S\n", "skills/shared/verifiers/tool.toml": COMMAND})
    taker.takes_all(
        taker.entry(remote),
        taker.entry(remote, "installed_skills"),
        '[verifiers_settings]\ntrust_exec_from = ["shared"]\n',
    )
    taker.lock()
    ((source, status, message),) = results(taker, "--allow-exec")
    assert (source, status) == ("tool", "error")
    assert 'which a verifier shipped by installed skill "shared" may never use' in message


def test_pytest_collects_them(taker: Taker, remote: Remote) -> None:
    """Under config.toml, as what is declared elsewhere."""
    remote.publish({**RULE, ".ai-rulez/verifiers/db.toml": FORBID})
    taker.takes(remote)
    taker.lock()
    remote.vanish()
    done = taker.repo.pytest("-q", "--reqfile", "-rA")
    assert "FAILED .ai-rulez/config.toml::no-drop" in done.out
    assert "PASSED .ai-rulez/ai-rulez.lock::remotes" in done.out
