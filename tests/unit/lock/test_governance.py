"""Approvals against a policy, each status with its code (spec/lock.md 9)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.lock.governance import NOT_JUDGED, govern, judge_all
from pytest_reqfile.lock.governance_policy import Policy, read_policy
from pytest_reqfile.lock.values import Approval, Deny, Entry, ItemPin, Lock, OutputPin
from tests.support.locks import LockProject
from tests.support.repo import Repo

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
ALL = Policy(require=("all",), enforce=True)
RULE = ItemPin(kind="rule", id="tone", digest="sha256:1", path="rules/tone.md")
ONE = Lock(items=(RULE,), tree="t")
BY_KIM = Approval(
    kind="rule", id="tone", digest="sha256:1", reviewer="kim", assurance="asserted", approved_at="2026-06-01T10:00:00Z"
)


def entry(name: str, view: str = "") -> Entry:
    return Entry(name=name, source="s", commit="c", digest=f"sha256:{name}", view=view)


EVERYTHING = Lock(
    includes=(entry("inc"),),
    skills=(entry("ski"),),
    sources=(entry("src"),),
    served=(entry("ser"), entry("ser", "role:web")),
    items=(
        RULE,
        ItemPin(kind="skill", id="deploy", domain="api", digest="sha256:2"),
        ItemPin(kind="settings", id="mcp-servers", digest="sha256:3"),
    ),
    outputs=(OutputPin(path="CLAUDE.md", digest="sha256:4"), OutputPin(role="web", digest="sha256:5")),
    tree="t",
)
REMOTE = ["include:inc", "installed-skill:ski", "source:src"]
LOCAL = ["rule:tone", "skill:api/deploy", "settings:mcp-servers"]


@pytest.mark.parametrize(
    ("require", "exempt", "expected"),
    [
        (("remote",), (), REMOTE),
        (("local",), (), LOCAL),
        (("all",), (), [*LOCAL, *REMOTE, "served:ser", "served:role:web/ser", "role-output:web"]),
        (("kind:rule",), (), ["rule:tone"]),
        (("kind:skill",), (), ["skill:api/deploy", "installed-skill:ski"]),
        (("kind:installed-skill",), (), ["installed-skill:ski"]),
        (("kind:mcp_server",), (), ["settings:mcp-servers"]),
        (("kind:role-output", "kind:served"), ("served:role:*",), ["served:ser", "role-output:web"]),
        (
            ("local", "remote"),
            ("*:?eploy", "rule:*", "include:inc"),
            ["skill:api/deploy", "settings:mcp-servers", *REMOTE[1:]],
        ),
        (("local",), ("*",), []),
        ((), (), []),
    ],
)
def test_what_needs_an_approval(require: tuple[str, ...], exempt: tuple[str, ...], expected: list[str]) -> None:
    """Groups and kinds; exempt globs are of the whole reference."""
    verdicts = judge_all(EVERYTHING, Policy(require=require, exempt=exempt), NOW)
    assert [verdict.subject.ref for verdict in verdicts] == expected
    assert {verdict.code for verdict in verdicts} <= {"AR710"}


def line(lock: Lock, policy: Policy = ALL, now: datetime = NOW) -> str:
    """The one difference, as text; empty where there is none."""
    changes = govern(lock, policy, now).changes
    assert len(changes) <= 1
    return str(changes[0]) if changes else ""


def approved(*records: Approval) -> Lock:
    return replace(ONE, approvals=records)


def test_ok_missing_stale() -> None:
    """An approval is of exactly one digest; a stale one says which it was of."""
    assert line(approved(BY_KIM)) == ""
    assert line(ONE) == "approval rule tone: AR710 it has no approval"
    assert line(approved(replace(BY_KIM, id="other"))) == "approval rule tone: AR710 it has no approval"
    assert line(approved(replace(BY_KIM, domain="api"))) == "approval rule tone: AR710 it has no approval"
    older = replace(BY_KIM, digest="sha256:0", reviewer="lee", approved_at="2026-05-01T10:00:00Z")
    old = replace(BY_KIM, digest="sha256:9")
    found = govern(approved(older, old), ALL, NOW).changes[0]
    assert str(found) == "approval rule tone: AR711 changed since kim approved it"
    assert found.as_json() == {
        "scope": "approval",
        "change": "changed",
        "kind": "rule",
        "id": "tone",
        "old": "sha256:9",
        "new": "sha256:1",
        "detail": "AR711 changed since kim approved it",
    }


@pytest.mark.parametrize(
    ("expires", "expected"),
    [
        ("", ""),
        ("2026-06-15", ""),
        ("2026-06-14", "expired on 2026-06-14"),
        ("20260701", "expires on `20260701`, which is no date"),
        ("2026-02-30", "expires on `2026-02-30`, which is no date"),
        ("soon", "expires on `soon`, which is no date"),
    ],
)
def test_expiry(expires: str, expected: str) -> None:
    """AR712: valid through the day; what is no date has expired."""
    text = f"approval rule tone: AR712 the approval by kim {expected}" if expected else ""
    assert line(approved(replace(BY_KIM, expires=expires))) == text


def test_age(repo: Repo) -> None:
    """AR712: max_age bounds every approval; one whose time cannot be read is too old."""
    project = LockProject(repo, '[governance]\nrequire_approval = ["all"]\nmax_age = "2w"\nenforce = true\n')
    policy = read_policy(project.load().config)
    assert line(approved(replace(BY_KIM, approved_at="2026-06-01T12:00:00Z")), policy) == ""
    old = approved(replace(BY_KIM, approved_at="2026-06-01T11:59:59Z"))
    assert line(old, policy) == "approval rule tone: AR712 the approval by kim is older than [governance] max_age"
    for time in ("", "yesterday", "2026-06-10T10:00:00"):
        assert "AR712" in line(approved(replace(BY_KIM, approved_at=time)), policy)


def test_who_may_approve() -> None:
    """AR713; names fold case and forge prefixes; AR719 where the list is elsewhere."""
    policy = replace(ALL, approvers=("github:Kim", "@lee"))
    for name in ("kim", " KIM ", "@kim", "github:kim", "Lee"):
        assert line(approved(replace(BY_KIM, reviewer=name)), policy) == ""
    stranger = approved(replace(BY_KIM, reviewer="max"))
    assert line(stranger, policy) == "approval rule tone: AR713 max may not approve: not among [governance] approvers"
    elsewhere = replace(policy, approvers_from="CODEOWNERS")
    assert line(approved(BY_KIM), elsewhere) == ""
    assert line(stranger, elsewhere) == (
        "approval rule tone: AR719 whether max may approve is in CODEOWNERS, which is not looked up offline"
    )


def test_how_many() -> None:
    """AR714: distinct reviewers; one who is nobody, has expired or may not does not count."""
    two = replace(ALL, min_approvers=2)
    assert line(approved(BY_KIM, replace(BY_KIM, reviewer="lee")), two) == ""
    text = "approval rule tone: AR714 approved by 1 of 2 (kim)"
    assert line(approved(BY_KIM, replace(BY_KIM, reviewer="@Kim")), two) == text
    assert line(approved(BY_KIM, replace(BY_KIM, reviewer="lee", expires="2026-01-01")), two) == text
    assert line(approved(BY_KIM, replace(BY_KIM, reviewer=" ")), two) == text
    assert line(approved(replace(BY_KIM, reviewer="")), ALL) == "approval rule tone: AR714 approved by 0 of 1"


def test_how_sure() -> None:
    """AR714 below min_assurance; a signature nobody verified is an assertion (AR718)."""
    linked = replace(ALL, min_assurance="review-linked")
    assert line(approved(replace(BY_KIM, assurance="review-linked")), linked) == ""
    text = "approval rule tone: AR714 assurance is asserted, min_assurance is review-linked"
    assert line(approved(BY_KIM), linked) == text
    assert "AR714 assurance is none" in line(approved(replace(BY_KIM, assurance="")), linked)
    signed = approved(replace(BY_KIM, assurance="signed", attestation="sha256:x"))
    assert line(signed, replace(ALL, min_assurance="asserted")) == ""
    for level in ("review-linked", "signed"):
        assert "AR718 the signature of kim is not verified here" in line(signed, replace(ALL, min_assurance=level))


def test_installed_skills_by_either_name() -> None:
    """Records of installed skills say ``installed-skill`` or, as the lock's table is called, ``skill``."""
    lock = Lock(skills=(entry("ski"),), tree="t")
    for kind in ("installed-skill", "skill"):
        record = replace(BY_KIM, kind=kind, id="ski", digest="sha256:ski")
        assert line(replace(lock, approvals=(record,))) == ""
        assert govern(replace(lock, approvals=(record,)), ALL, NOW).notes == ()


def test_not_enforced() -> None:
    """One note that counts and names; nothing fails."""
    found = govern(EVERYTHING, replace(ALL, enforce=False), NOW)
    assert (found.changes, found.judged) == ((), 9)
    assert found.notes == (
        "9 of 9 without a sufficient approval, not enforced: rule:tone (AR710 missing), "
        "skill:api/deploy (AR710 missing), settings:mcp-servers (AR710 missing), include:inc (AR710 missing), "
        "installed-skill:ski (AR710 missing), source:src (AR710 missing), served:ser (AR710 missing), "
        "served:role:web/ser (AR710 missing), role-output:web (AR710 missing)",
    )


def test_denied() -> None:
    """AR717, whatever the policy says, an approval too."""
    lock = replace(approved(BY_KIM), denied=(Deny(digest="sha256:1", reason="reads keys"), Deny(digest="sha256:7")))
    text = "approval rule tone: AR717 its digest is on the deny list: reads keys"
    assert line(lock, Policy()) == text
    assert line(lock) == text
    assert line(replace(lock, denied=(Deny(digest="sha256:1"),)), Policy()) == text.removesuffix(": reads keys")


def test_notes() -> None:
    """Orphans (AR715), what is not judged here, and a policy that asks for nothing are said."""
    gone = approved(BY_KIM, replace(BY_KIM, id="gone"))
    assert govern(gone, ALL, NOW).notes == ("AR715 approval of rule:gone by kim: it is not pinned",)
    assert govern(approved(BY_KIM), replace(ALL, forbid_self_approval=True), NOW).notes == (NOT_JUDGED,)
    assert govern(ONE, Policy(enforce=True), NOW).notes == (
        "[governance] enforce is on, but require_approval asks for nothing",
    )
    assert govern(ONE, Policy(), NOW).notes == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('require_approval = ["everything"]', "unknown `everything` in require_approval"),
        ('require_approval = ["kind:"]', "unknown `kind:` in require_approval"),
        ("min_approvers = 0", "min_approvers must be 1 to 100, found 0"),
        ('min_approvers = "2"', "`min_approvers` must be an integer, found a string"),
        ('min_assurance = "sure"', "unknown min_assurance `sure` (expected one of: asserted, review-linked, signed)"),
        ('max_age = "1 year"', 'invalid max_age "1 year"'),
        ('enforce = "yes"', "`enforce` must be true or false, found a string"),
    ],
)
def test_bad_policies(repo: Repo, text: str, message: str) -> None:
    """A policy that cannot be read stops the check; it must not become one that asks for less."""
    project = LockProject(repo, f"[governance]\n{text}\n")
    with pytest.raises(FormatError, match=r"^\.ai-rulez/config\.toml:4: ") as caught:
        read_policy(project.load().config)
    assert message in str(caught.value)


def test_a_whole_policy(repo: Repo) -> None:
    """Every key."""
    project = LockProject(
        repo,
        '[governance]\nrequire_approval = ["remote", "kind:hook"]\nexempt = ["rule:*"]\nmin_approvers = 2\n'
        'approvers = ["kim"]\napprovers_from = ["CODEOWNERS"]\nmin_assurance = "signed"\n'
        'forbid_self_approval = true\nmax_age = "0"\nenforce = true\n',
    )
    assert read_policy(project.load().config) == Policy(
        require=("remote", "kind:hook"),
        exempt=("rule:*",),
        min_approvers=2,
        approvers=("kim",),
        approvers_from="CODEOWNERS",
        min_assurance="signed",
        forbid_self_approval=True,
        enforce=True,
    )
