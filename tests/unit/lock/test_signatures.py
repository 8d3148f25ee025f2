"""Signatures over a lock, each code in its order (spec/lock.md 10): keys, and an authority of our own, all offline."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from pytest_reqfile.errors import FormatError
from pytest_reqfile.lock.signatures import Signatures, check_signatures
from pytest_reqfile.lock.signing_policy import read_signing
from pytest_reqfile.lock.statement import statement
from pytest_reqfile.lock.toptree import subject_of
from pytest_reqfile.lock.values import Approval, Lock
from tests.support.locks import LockProject
from tests.support.repo import Repo
from tests.support.signing import (
    IDENTITY,
    ISSUER,
    Authority,
    Json,
    PrivateKey,
    attestation,
    envelope_bundle,
    message_bundle,
    new_key,
    public_pem,
    text,
)

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
EARLIER = NOW - timedelta(days=2)
BY_KEY = 'key_file = "keys/cosign.pub"\n'
BY_NAME = f'identity = "{IDENTITY}"\nissuer = "{ISSUER}"\ntrusted_root = "keys/root.json"\n'
ROOT = ".ai-rulez/ai-rulez.lock.sigstore.json"


class Signed:
    """A locked project, and the signatures that a test puts beside its lock."""

    def __init__(self, repo: Repo, authority: Authority) -> None:
        self.project = LockProject(repo)
        self.project.write("rules/tone.md", "# Tone\n")
        self.lock = self.project.lock()
        self.authority = authority
        repo.write("keys/root.json", authority.trusted_root())

    @property
    def subject(self) -> str:
        return subject_of(self.lock).digest

    @property
    def statement(self) -> bytes:
        return statement(subject_of(self.lock)).encode()

    def trust(self, key: PrivateKey, file: str = "keys/cosign.pub") -> None:
        self.project.repo.write(file, public_pem(key))

    def put(self, bundle: Json | str, number: str = "") -> None:
        data = bundle if isinstance(bundle, str) else json.dumps(bundle)
        self.project.write(f"ai-rulez.lock{number}.sigstore.json", data)

    def check(self, signing: str, lock: Lock | None = None, now: datetime = NOW) -> Signatures:
        self.project.config(f'[signing]\nrequire = ["lock"]\n{signing}')
        project = self.project.load()
        return check_signatures(project.place, lock or self.lock, read_signing(project.config), now)

    def codes(self, signing: str, lock: Lock | None = None, now: datetime = NOW) -> list[str]:
        return [change.code for change in self.check(signing, lock, now).changes]


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority(since=NOW - timedelta(days=1000))


@pytest.fixture
def signed(repo: Repo, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Signed:
    """No test here may reach for the network."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return Signed(repo, authority)


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


KEYS: dict[str, Callable[[], PrivateKey]] = {
    "p256": new_key,
    "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "rsa": rsa_key,
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys(signed: Signed, kind: str) -> None:
    """A blob signature and an attestation of a key that is trusted vouch; those of any other key do not."""
    key = KEYS[kind]()
    signed.trust(key)
    for bundle in (message_bundle(key, signed.statement), envelope_bundle((key,), attestation(signed.subject))):
        signed.put(bundle)
        assert signed.check(BY_KEY) == Signatures()
    other = KEYS[kind]()
    for bundle in (message_bundle(other, signed.statement), envelope_bundle((other,), attestation(signed.subject))):
        signed.put(bundle)
        assert signed.codes(BY_KEY) == ["AR722"]


def test_identities(signed: Signed) -> None:
    """A certificate of the one who may sign, from the issuer that vouches for it, in both kinds of bundle."""
    for bundle in (
        signed.authority.sign(signed.statement, EARLIER),
        signed.authority.attest(attestation(signed.subject), EARLIER),
    ):
        signed.put(bundle)
        assert signed.check(BY_NAME) == Signatures()
        pattern = BY_NAME.replace(f'identity = "{IDENTITY}"', "identity_regexp = '''https://git.example.org/acme/.*'''")
        assert signed.check(pattern) == Signatures()


def test_no_signature(signed: Signed) -> None:
    """AR720, with the way to one."""
    changes = signed.check(BY_NAME).changes
    assert [str(change) for change in changes] == [
        f"lock: AR720 signature-missing: there is no {ROOT}: sign what `reqfile lock --subject --output FILE` writes"
    ]


def test_what_is_no_bundle(signed: Signed) -> None:
    """AR721 for anything that is not read as one, cosign's old form included; never a traceback."""
    key = new_key()
    signed.trust(key)
    good = message_bundle(key, signed.statement)
    envelope = envelope_bundle((key,), attestation(signed.subject))
    digest = {"messageDigest": {"algorithm": "SHA2_512", "digest": text(b"x")}, "signature": text(b"y")}
    for bad in (
        *("", "[]", "null", "{", "[" * 100_000, '{"base64Signature": "x", "cert": "y", "rekorBundle": {}}'),
        *(dict(good, mediaType=7), dict(good, verificationMaterial=[]), dict(good, verificationMaterial={})),
        *(dict(good, messageSignature={"signature": "not base64!"}), dict(good, messageSignature=digest)),
        *(dict(good, dsseEnvelope=envelope["dsseEnvelope"]), dict(envelope, dsseEnvelope={"payload": text(b"x")})),
        dict(envelope, dsseEnvelope={"payload": text(b"x"), "payloadType": "t", "signatures": []}),
        dict(good, verificationMaterial={"certificate": {"rawBytes": text(b"no certificate")}}),
        dict(good, verificationMaterial={"certificate": {"rawBytes": 7}, "tlogEntries": "x"}),
        dict(good, verificationMaterial={"x509CertificateChain": {"certificates": []}}),
    ):
        signed.put(bad)
        codes = signed.codes(BY_KEY)
        assert codes in (["AR721"], ["AR726"]), bad


def test_a_signature_that_does_not_hold(signed: Signed) -> None:
    """AR721: another signature of the key that is hinted at, another authority, another payload."""
    key = new_key()
    signed.trust(key)
    bundle = message_bundle(key, signed.statement)
    forged = dict(bundle, messageSignature=dict(_part(bundle, "messageSignature"), signature=text(b"0" * 70)))
    signed.put(forged)
    assert signed.codes(BY_KEY) == ["AR721"]
    attested = envelope_bundle((key,), attestation("sha256:" + "0" * 64))
    swapped = dict(_part(attested, "dsseEnvelope"), payload=text(attestation(signed.subject)))
    signed.put(dict(attested, dsseEnvelope=swapped))
    assert signed.codes(BY_KEY) == ["AR721"]
    signed.put(Authority(since=NOW - timedelta(days=1000)).sign(signed.statement, EARLIER))
    assert signed.codes(BY_NAME) == ["AR721"]
    keyless = signed.authority.attest(attestation("sha256:" + "0" * 64), EARLIER)
    signed.put(dict(keyless, dsseEnvelope=dict(_part(keyless, "dsseEnvelope"), payload=text(b"{}"))))
    assert signed.codes(BY_NAME) == ["AR721"]


def _part(bundle: Json, key: str) -> Json:
    part = bundle[key]
    assert isinstance(part, dict)
    return part


def test_the_proof_of_the_log(signed: Signed) -> None:
    """AR726: no entry, an altered one, and a key's signature where a proof is required."""
    bundle = signed.authority.sign(signed.statement, EARLIER)
    material = _part(bundle, "verificationMaterial")
    signed.put(dict(bundle, verificationMaterial=dict(material, tlogEntries=[])))
    assert signed.codes(BY_NAME) == ["AR726"]
    other = signed.authority.sign(signed.statement, EARLIER)
    entries = _part(other, "verificationMaterial")["tlogEntries"]
    signed.put(dict(bundle, verificationMaterial=dict(material, tlogEntries=entries)))
    assert signed.codes(BY_NAME) == ["AR726"]
    assert isinstance(entries, list)
    proof = dict(entries[0]["inclusionProof"], rootHash=text(b"0" * 32))
    altered = dict(material, tlogEntries=[dict(entries[0], inclusionProof=proof)])
    signed.put(dict(bundle, verificationMaterial=altered))
    assert signed.codes(BY_NAME) == ["AR726"]
    key = new_key()
    signed.trust(key)
    signed.put(message_bundle(key, signed.statement))
    assert signed.codes(BY_KEY + 'tlog = "required"\n') == ["AR726"]
    assert signed.codes(BY_KEY + 'tlog = "optional"\n') == []


def test_another_subject(signed: Signed) -> None:
    """AR724: the lock changed after it was signed, in its pins or its approvals; it comes before the signer (AR722)."""
    key = new_key()
    signed.trust(key)
    record = Approval(kind="rule", id="tone", digest="d", reviewer="kim", assurance="asserted", approved_at="")
    changed = (
        replace(signed.lock, items=()),
        replace(signed.lock, approvals=(record,)),
        replace(signed.lock, scope="skills"),
        replace(signed.lock, outputs_pinned=False),
    )
    by_key = (message_bundle(key, signed.statement), envelope_bundle((key,), attestation(signed.subject)))
    by_name = (
        signed.authority.sign(signed.statement, EARLIER, identity="https://other.example.org"),
        signed.authority.attest(attestation(signed.subject), EARLIER, identity="https://other.example.org"),
    )
    for signing, bundles in ((BY_KEY, by_key), (BY_NAME, by_name)):
        for bundle in bundles:
            signed.put(bundle)
            for lock in changed:
                assert signed.codes(signing, lock) == ["AR724"]
    same = replace(signed.lock, tree="sha256:edited", ai_rulez_version="9")
    signed.put(by_key[0])
    assert signed.codes(BY_KEY, same) == []


def test_another_attestation(signed: Signed) -> None:
    """AR724: what is attested is not a lock, not this one, not alone, or hashed by another scheme."""
    key = new_key()
    signed.trust(key)
    good = json.loads(attestation(signed.subject))
    others: tuple[Json, ...] = (
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "https://example.org/other"},
        {"predicate": None},
        {"predicate": {"hash_version": 2}},
        {"predicate": {}},
        {"subject": []},
        {"subject": None},
        {"subject": [{"name": "other", "digest": good["subject"][0]["digest"]}]},
        {"subject": [*good["subject"], {"name": "ai-rulez.lock", "digest": {"sha256": "0"}}]},
    )
    for changes in others:
        signed.put(envelope_bundle((key,), json.dumps({**good, **changes}).encode()))
        assert signed.codes(BY_KEY) == ["AR724"], changes
    for payload in (b"\xff", b"[]", b"["):
        signed.put(envelope_bundle((key,), payload))
        assert signed.codes(BY_KEY) == ["AR724"]
    signed.put(message_bundle(key, signed.statement))
    assert signed.codes(BY_KEY + "min_hash_version = 2\n") == ["AR724"]


def test_who_may_sign(signed: Signed) -> None:
    """AR722: another identity, another issuer, a pattern that fits a part only, a time that is over."""
    signed.put(signed.authority.sign(signed.statement, EARLIER))
    name, issuer = f'identity = "{IDENTITY}"\n', f'issuer = "{ISSUER}"\n'
    root = 'trusted_root = "keys/root.json"\n'
    for signing in (
        f'identity = "https://other.example.org"\n{issuer}{root}',
        f'{name}issuer = "https://other.example.org"\n{root}',
        f'identity_regexp = "acme"\n{issuer}{root}',
        f"{name}{issuer}{root}valid_until = 2026-06-12\n",
        f'{name}{issuer}{root}valid_from = "2026-06-14T00:00:00Z"\n',
        f'{root}[[signing.trust]]\nsubject = "skill"\n{name}{issuer}[[signing.trust]]\n{BY_KEY}',
    ):
        if BY_KEY in signing:
            signed.trust(new_key())
        assert signed.codes(signing) == ["AR722"], signing
    assert signed.codes(f"{name}{issuer}{root}valid_until = 2026-06-13\nvalid_from = 2026-06-13\n") == []


def test_age(signed: Signed) -> None:
    """AR723: too old, in the future, or no time at all where an age is asked for."""
    key = new_key()
    signed.trust(key)
    signed.put(signed.authority.sign(signed.statement, EARLIER))
    assert signed.codes(BY_NAME + 'max_age = "3d"\n') == []
    assert signed.codes(BY_NAME + 'max_age = "1d"\n') == ["AR723"]
    signed.put(message_bundle(key, signed.statement))
    assert signed.codes(BY_KEY + 'max_age = "1d"\n') == ["AR723"]
    for ahead, codes in ((4, []), (6, ["AR723"])):
        issued = (NOW + timedelta(minutes=ahead)).isoformat()
        signed.put(envelope_bundle((key,), attestation(signed.subject, issued_at=issued)))
        assert signed.codes(BY_KEY) == codes
    tomorrow = (NOW + timedelta(days=1)).isoformat()
    signed.put(signed.authority.attest(attestation(signed.subject, issued_at=tomorrow), EARLIER))
    assert signed.codes(BY_NAME) == ["AR723"]
    # A certificate's time is vouched for; what the signer writes beside it cannot make the signature younger.
    signed.put(signed.authority.attest(attestation(signed.subject, issued_at=NOW.isoformat()), EARLIER))
    assert signed.codes(BY_NAME + 'max_age = "1d"\n') == ["AR723"]


def test_thresholds(signed: Signed) -> None:
    """AR728: two who signed, not one twice; a bundle that does not count is a note where others are enough."""
    one, two = new_key(), new_key()
    signed.trust(one, "keys/1.pub")
    signed.trust(two, "keys/2.pub")
    signed.trust(one, "keys/3.pub")
    trust = "".join(f'[[signing.trust]]\nkey_file = "keys/{number}.pub"\n' for number in (1, 2, 3))
    both = f"{trust}[signing.thresholds]\nlock = 2\n"
    signed.put(message_bundle(one, signed.statement))
    assert signed.codes(both) == ["AR728"]
    signed.put(envelope_bundle((one,), attestation(signed.subject)), ".1")
    assert signed.codes(both) == ["AR728"]
    signed.put(message_bundle(two, b"something else"), ".2")
    assert signed.codes(both) == ["AR724", "AR728"]
    found = signed.check(trust)
    assert (found.changes, len(found.notes)) == ((), 1)
    assert found.notes[0].startswith("ai-rulez.lock.2.sigstore.json: AR724 attestation-subject-mismatch: ")
    signed.put(message_bundle(two, signed.statement), ".2")
    assert signed.check(both) == Signatures()
    for number in (".1", ".2"):
        signed.project.repo.delete(f".ai-rulez/ai-rulez.lock{number}.sigstore.json")
    signed.put(envelope_bundle((one, two), attestation(signed.subject)))
    assert signed.check(both) == Signatures()


def test_many_bundles(signed: Signed) -> None:
    """Sixteen are looked at, and a note says that there are more."""
    key = new_key()
    signed.trust(key)
    for number in range(1, 19):
        signed.put(message_bundle(key, signed.statement), f".{number}")
    assert signed.check(BY_KEY).notes == ("2 more bundle(s) were not looked at",)


def test_what_cannot_be_looked_at(signed: Signed) -> None:
    """Errors, not differences: nobody to trust, no key, no root (AR725), a link out of the project."""
    key = new_key()
    signed.put(message_bundle(key, signed.statement))
    assert signed.check("").errors == ("[signing] requires a signature of the lock and names no signer whom it trusts",)
    assert signed.check(BY_KEY).errors == (
        "[signing] key_file: keys/cosign.pub: cannot read: No such file or directory",
    )
    signed.project.repo.write("keys/cosign.pub", "no key")
    assert signed.check(BY_KEY).errors[0].startswith("keys/cosign.pub: expected a public key in PEM form")
    outside = signed.project.repo.root.parent / "out.pub"
    outside.write_bytes(public_pem(key))
    signed.project.repo.delete("keys/cosign.pub")
    signed.project.repo.symlink("keys/cosign.pub", str(outside))
    assert signed.check(BY_KEY).errors[0].endswith("a symbolic link that leads out of the repository")
    signed.put(signed.authority.sign(signed.statement, EARLIER))
    for content in ("", "{}", "no JSON", '{"mediaType": "x"}'):
        signed.project.repo.write("keys/root.json", content)
        assert signed.check(BY_NAME).errors[0].startswith("AR725 trusted-root-unavailable: ")
    signed.project.repo.delete("keys/root.json")
    assert signed.check(BY_NAME).errors[0].startswith("AR725 trusted-root-unavailable: ")


def test_what_is_no_file(signed: Signed, tmp_path: Path) -> None:
    """A bundle that is a pipe, too large or a link out is an error and blocks nothing; a folder is no bundle."""
    signed.trust(new_key())
    place = signed.project.folder / "ai-rulez.lock.sigstore.json"
    os.mkfifo(place)
    assert signed.check(BY_KEY).errors == (f"{ROOT}: cannot read: not a regular file",)
    place.unlink()
    signed.put(" " * ((1 << 20) + 1))
    assert signed.check(BY_KEY).errors[0].startswith(f"{ROOT}: cannot read: ")
    place.unlink()
    (tmp_path / "out.json").write_text("{}")
    place.symlink_to(tmp_path / "out.json")
    assert signed.check(BY_KEY).errors[0].endswith("a symbolic link that leads out of the repository")
    place.unlink()
    place.mkdir()
    assert signed.codes(BY_KEY) == ["AR720"]


def test_the_root_of_the_library(signed: Signed) -> None:
    """Without trusted_root the library's own is used, offline: our authority is not in it."""
    signed.put(signed.authority.sign(signed.statement, EARLIER))
    assert signed.codes(BY_NAME.replace('trusted_root = "keys/root.json"\n', "")) == ["AR721"]


@pytest.mark.parametrize(
    ("signing", "message"),
    [
        ('identity = "x"\n', "[signing] names an identity and needs the issuer that vouches for it"),
        ('identity = "x"\nkey_file = "k"\n', "[signing] needs one of identity, identity_regexp and key_file, found 2"),
        ("[[signing.trust]]\n", "needs one of identity, identity_regexp and key_file, found 0"),
        ('key_file = "../k"\n', "`key_file` must be a path inside of the project, found `../k`"),
        ('identity_regexp = "("\nissuer = "x"\n', "identity_regexp `(` cannot be read"),
        ('key_file = "k"\nvalid_from = "soon"\n', "`valid_from` must be a date or a time with its offset"),
        ('key_file = "k"\nmax_age = "1y"\n', 'invalid max_age "1y": expected a whole number with h, d or w'),
        ('key_file = "k"\ntlog = "maybe"\n', "unknown tlog `maybe` (expected one of: required, optional, off)"),
        ('key_file = "k"\n[signing.thresholds]\nlock = 0\n', "the threshold of lock must be 1 to 16, found 0"),
    ],
)
def test_bad_policies(signed: Signed, signing: str, message: str) -> None:
    """What cannot be meant is a problem at its line, not a signature that passes."""
    with pytest.raises(FormatError, match=r"^\.ai-rulez/config\.toml:\d+: ") as caught:
        signed.check(signing)
    assert message in str(caught.value)
