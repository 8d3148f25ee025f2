"""Approvals and signatures in ``reqfile lock --check`` and in pytest, with the real program (spec/lock.md 9, 10)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_reqfile.lock.requirements import requirements_lock
from pytest_reqfile.lock.values import Approval, Deny, Lock
from tests.support.locks import LockProject
from tests.support.repo import Repo
from tests.support.signing import (
    IDENTITY,
    ISSUER,
    Authority,
    Json,
    attestation,
    envelope_bundle,
    message_bundle,
    new_key,
    public_pem,
)

LOCK = ".ai-rulez/ai-rulez.lock"
BUNDLE = ".ai-rulez/ai-rulez.lock.sigstore.json"
ENFORCED = '[governance]\nrequire_approval = ["local"]\nenforce = true\n'
BY_KEY = '[signing]\nrequire = ["lock"]\nkey_file = "keys/cosign.pub"\n'
HINT = "approve with `ai-rulez approve` what is right, or sign the lock's subject anew; `reqfile lock` does neither\n"
INSTALL = (
    "[signing] requires a signature of the lock, and verifying it needs sigstore: "
    'pip install "pytest-reqfile[sigstore]"'
)


@pytest.fixture
def project(repo: Repo) -> LockProject:
    """A project of one rule."""
    found = LockProject(repo)
    found.write("rules/tone.md", "# Tone\n")
    return found


def approve(project: LockProject, lock: Lock) -> None:
    """The lock with an approval of its rule."""
    item = next(item for item in lock.items if item.kind == "rule")
    record = Approval(
        kind="rule",
        id="tone",
        digest=item.digest,
        reviewer="kim",
        assurance="asserted",
        approved_at="2026-01-01T00:00:00Z",
    )
    project.save(replace(lock, approvals=(record,)))


def test_approvals_in_check_and_pytest(project: LockProject) -> None:
    """Missing, given, stale: text and JSON, exit codes, and the item of the lock."""
    project.config(ENFORCED)
    lock = project.lock()
    done = project.repo.run("lock", "--check")
    text = "approval rule tone: AR710 it has no approval"
    assert (done.code, done.err) == (2, HINT)
    assert done.out == f"ai-rulez.lock does not match {project.folder}:\n  {text}\n"
    ran = project.repo.pytest("-rfE", LOCK)
    assert ran.code == 1
    assert f"{LOCK}: {text}" in ran.out
    assert f"  fix: {HINT.strip()}" in ran.out
    assert "1 failed, 1 passed" in ran.out
    approve(project, lock)
    assert project.repo.run("lock", "--check").code == 0
    assert project.repo.pytest(LOCK).code == 0
    project.write("rules/tone.md", "# Changed\n")
    assert project.repo.run("lock").code == 0
    after = project.read()
    assert after is not None
    assert [record.reviewer for record in after.approvals] == ["kim"]
    done = project.repo.run("lock", "--check", "--format", "json")
    assert done.code == 2
    document = json.loads(done.out)
    assert document["in_sync"] is False
    assert document["changes"] == [
        {
            "scope": "approval",
            "change": "changed",
            "kind": "rule",
            "id": "tone",
            "old": lock.items[0].digest,
            "new": after.items[0].digest,
            "detail": "AR711 changed since kim approved it",
        }
    ]
    diff = project.repo.run("lock", "--diff")
    assert (diff.code, diff.out) == (0, "  approval rule tone: AR711 changed since kim approved it\n")


def test_approvals_that_are_not_enforced(project: LockProject) -> None:
    """A note, and in sync."""
    project.config(ENFORCED.replace("true", "false"))
    project.lock()
    done = project.repo.run("lock", "--check")
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "  note: 1 of 1 without a sufficient approval, not enforced: rule:tone (AR710 missing)"
    ]


def test_no_lock_to_approve(project: LockProject) -> None:
    """AR710 under enforce: no lock, or one without pins, also where differences are advisory."""
    project.config(f"{ENFORCED}[lock]\nenforce = false\n")
    done = project.repo.run("lock", "--check")
    line = "  approval lock ai-rulez.lock: AR710 ai-rulez.lock does not exist, so nothing in it is approved; "
    assert (done.code, f"{line}run `reqfile lock`" in done.out.splitlines()) == (2, True)
    ran = project.repo.pytest("--reqfile", "-rfE")
    assert (ran.code, f"FAILED {LOCK}::lock - approval lock" in ran.out) == (1, True)
    project.config(f"{ENFORCED.replace('true', 'false')}[lock]\nenforce = true\n")
    done = project.repo.run("lock", "--check")
    assert (done.code, "AR710" in done.out) == (2, False)
    project.config(ENFORCED)
    project.save(Lock())
    done = project.repo.run("lock", "--check")
    assert (done.code, "AR710 ai-rulez.lock pins no content" in done.out) == (2, True)


def test_a_weak_lock_does_not_weaken_approvals(project: LockProject) -> None:
    """With ``[lock] enforce = false`` changed sources are advisory, a missing approval is not."""
    project.config(f"{ENFORCED}[lock]\nenforce = false\n")
    lock = project.lock()
    ran = project.repo.pytest("-rfE", LOCK)
    assert (ran.code, f"FAILED {LOCK}::lock" in ran.out) == (1, True)
    approve(project, lock)
    project.write("rules/tone.md", "# Changed\n")
    ran = project.repo.pytest("-rA", LOCK)
    assert (ran.code, "1 passed, 1 advisory" in ran.out) == (0, True), ran.out


def test_denied_content_fails_every_check(project: LockProject) -> None:
    """AR717 in a lock that was merged by hand, with no policy at all."""
    lock = project.lock()
    project.save(replace(lock, denied=(Deny(digest=lock.items[0].digest, reason="reads keys"),)))
    done = project.repo.run("lock", "--check")
    assert done.code == 2
    assert done.out.splitlines()[1:] == ["  approval rule tone: AR717 its digest is on the deny list: reads keys"]
    assert project.repo.pytest(LOCK).code == 1


def test_a_denied_requirement_fails(repo: Repo) -> None:
    """AR717 in the lock of requirements, too; it may not be pinned anew either."""
    check = "{ command: { run: 'true', fix_hint: z } }"
    repo.write("Reqfile.yaml", f"reqfile: 1\ncode:\n  - {{ id: A, must: x, why: y, checks: [{check}] }}\n")
    assert repo.run("lock").code == 0
    file = requirements_lock(repo.root)
    lock = file.read()
    assert lock is not None
    file.write(replace(lock, denied=(Deny(digest=lock.items[0].digest),)))
    done = repo.run("lock", "--check")
    assert (done.code, done.out.splitlines()[1:]) == (
        2,
        ["  approval requirement A: AR717 its digest is on the deny list"],
    )
    assert repo.run("lock").err == "error: AR717 refusing to pin content on the deny list: requirement:A\n"


def test_the_fixture_knows(project: LockProject) -> None:
    """``reqfile_lock`` has approvals among its changes."""
    project.config(ENFORCED)
    project.lock()
    project.repo.write(
        "test_x.py",
        "def test_x(reqfile_lock):\n"
        "    assert not reqfile_lock.in_sync\n"
        "    assert [(c.scope, c.code) for c in reqfile_lock.changes] == [('approval', 'AR710')]\n",
    )
    for mode in (("-p", "no:xdist"), ("-n", "2")):
        ran = project.repo.pytest("-q", "test_x.py", *mode)
        assert ran.code == 0, ran.out


def sign(project: LockProject, bundle: Json) -> None:
    project.repo.write(BUNDLE, json.dumps(bundle))


def subject(project: LockProject) -> bytes:
    """What a release workflow signs, from the program itself."""
    file = project.repo.root.parent / "lock-subject.json"
    assert project.repo.run("lock", "--subject", "--output", str(file)).code == 0
    return file.read_bytes()


def test_a_signature_of_a_key(project: LockProject) -> None:
    """The recipe of seed 001: lock, subject, sign, check; a new lock has to be signed anew."""
    key = new_key()
    project.repo.write("keys/cosign.pub", public_pem(key))
    project.config(BY_KEY)
    project.lock()
    done = project.repo.run("lock", "--check")
    assert (done.code, done.err) == (2, HINT)
    assert done.out.splitlines()[1:] == [
        f"  lock: AR720 signature-missing: there is no {BUNDLE}: "
        "sign what `reqfile lock --subject --output FILE` writes"
    ]
    statement = subject(project)
    for bundle in (
        message_bundle(key, statement),
        envelope_bundle((key,), attestation(json.loads(statement)["subject"])),
    ):
        sign(project, bundle)
        assert project.repo.run("lock", "--check").code == 0
    ran = project.repo.pytest(LOCK)
    assert (ran.code, "2 passed" in ran.out) == (0, True)
    project.write("rules/tone.md", "# Changed\n")
    assert project.repo.run("lock").code == 0
    done = project.repo.run("lock", "--check")
    assert (done.code, "AR724 attestation-subject-mismatch" in done.out) == (2, True)
    assert project.repo.run("lock", "--diff").out.startswith("ai-rulez.lock matches")
    ran = project.repo.pytest("-rfE", LOCK)
    assert (ran.code, f"FAILED {LOCK}::lock - lock: AR724" in ran.out) == (1, True)


def test_a_signature_of_an_identity(project: LockProject) -> None:
    """Keyless, with an authority and logs of our own as the trusted root."""
    authority = Authority()
    project.repo.write("keys/root.json", authority.trusted_root())
    policy = f'[signing]\nrequire = ["lock"]\ntrusted_root = "keys/root.json"\nidentity = "{IDENTITY}"\n'
    project.config(f'{policy}issuer = "{ISSUER}"\nmax_age = "1d"\n')
    project.lock()
    sign(project, authority.sign(subject(project), datetime.now(UTC) - timedelta(hours=1)))
    done = project.repo.run("lock", "--check")
    assert (done.code, done.err) == (0, "")
    sign(project, authority.sign(subject(project), datetime.now(UTC) - timedelta(hours=25)))
    done = project.repo.run("lock", "--check")
    assert (done.code, "AR723 signature-stale" in done.out) == (2, True)


def test_without_the_extra(project: LockProject, tmp_path: Path) -> None:
    """It fails and says what to install, and tells the differences all the same; no other lock needs it."""
    blocker = (
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'sigstore', 'cryptography'}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
    )
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(blocker)
    without = {"PYTHONPATH": str(tmp_path / "site")}
    project.lock()
    assert project.repo.run("lock", "--check", env=without).code == 0
    project.repo.write("keys/cosign.pub", public_pem(new_key()))
    project.config(BY_KEY)
    project.lock()
    project.write("rules/tone.md", "# Changed\n")
    done = project.repo.run("lock", "--check", env=without)
    assert done.code == 1
    assert done.out.splitlines()[1:] == ["  source changed  rule tone (rules/tone.md)"]
    assert f"error: {INSTALL}" in done.err.splitlines()
    ran = project.repo.pytest("-rfE", LOCK, env=without)
    assert ran.code == 1
    assert f"ERROR {LOCK}::lock" in ran.out
    assert f"FAILED {LOCK}::sources" in ran.out
    assert INSTALL in ran.out


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            '[signing]\nrequire = ["lock"]\n',
            "[signing] requires a signature of the lock and names no signer whom it trusts",
        ),
        (BY_KEY, "[signing] key_file: keys/cosign.pub: cannot read: No such file or directory"),
    ],
    ids=["nobody is trusted", "no key"],
)
def test_what_cannot_be_verified(project: LockProject, config: str, text: str) -> None:
    """Exit 1: it could not be looked at, so it is not in sync either."""
    project.config(config)
    project.lock()
    sign(project, message_bundle(new_key(), subject(project)))
    done = project.repo.run("lock", "--check")
    assert (done.code, done.out, done.err) == (1, "", f"error: {text}\n")
    assert project.repo.pytest(LOCK).code == 1


@pytest.mark.parametrize("table", ["[governance]\nmin_approvers = 0\n", '[signing]\nrequire = ["locks"]\n'])
def test_a_policy_that_cannot_be_read(project: LockProject, table: str) -> None:
    """Exit 1 with its line, and errors in pytest: it must not become a policy that asks for nothing."""
    project.lock()
    project.config(table)
    done = project.repo.run("lock", "--check")
    assert (done.code, done.out, done.err.startswith("error: .ai-rulez/config.toml:4: ")) == (1, "", True)
    ran = project.repo.pytest("-q", LOCK)
    assert (ran.code, "2 errors" in ran.out, ".ai-rulez/config.toml:4: " in ran.out) == (1, True, True)
