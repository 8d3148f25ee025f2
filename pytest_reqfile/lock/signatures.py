"""Signatures beside the lock, judged in the order of spec/lock.md 10: AR720 to AR728. Never uses the network.

What the machine saw before is not kept, so an older lock with its own valid signature passes (AR727 is not judged).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pytest_reqfile.errors import FileError, ReqfileError
from pytest_reqfile.lock.bundles import Bundle, BundleError, Envelope, Key, KeyFileError, read_bundle, read_key
from pytest_reqfile.lock.changes import Change
from pytest_reqfile.lock.file import LOCK_NAME
from pytest_reqfile.lock.governance import read_time
from pytest_reqfile.lock.keyless import RootError, SignatureError, open_verifier, verify_certified
from pytest_reqfile.lock.signing_policy import SigningPolicy, Trusted
from pytest_reqfile.lock.statement import statement
from pytest_reqfile.lock.toptree import HASH_VERSION, Subject, subject_of
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.values import Place
from pytest_reqfile.workspace.walk import Walk

if TYPE_CHECKING:
    from sigstore.verify import Verifier

SIDECAR: Final = f"{LOCK_NAME}.sigstore.json"
INSTALL: Final = (
    "[signing] requires a signature of the lock, and verifying it needs sigstore: "
    'pip install "pytest-reqfile[sigstore]"'
)
IN_TOTO: Final = "application/vnd.in-toto+json"
STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://github.com/Goldziher/ai-rulez/attestations/lock/v1"
MAX_BUNDLES: Final = 16
_MORE: Final = re.compile(rf"{re.escape(LOCK_NAME)}\.([1-9][0-9]{{0,3}})\.sigstore\.json", re.ASCII)
_MAX_BYTES: Final = 1 << 20
_AHEAD: Final = timedelta(minutes=5)
_NAMES: Final = {
    "AR720": "signature-missing",
    "AR721": "signature-invalid",
    "AR722": "signer-not-trusted",
    "AR723": "signature-stale",
    "AR724": "attestation-subject-mismatch",
    "AR726": "tlog-proof-missing",
    "AR728": "signature-threshold-not-met",
}


class RefusedError(ReqfileError):
    """A bundle that vouches for nothing, with the code that says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Signatures:
    """``errors`` are what could not be looked at; ``notes`` never fail a check."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signed:
    """A bundle whose signature holds. ``signers`` are who may have signed, with a name for each that is theirs alone.

    ``at`` is when it was signed, None where nothing vouches for a time.
    """

    signers: tuple[tuple[str, Trusted], ...]
    at: datetime | None = None
    who: str = ""


def check_signatures(place: Place, lock: Lock, policy: SigningPolicy, now: datetime) -> Signatures:
    """Whether enough of those who may have signed what ``lock`` pins."""
    if not policy.trust:
        return Signatures(errors=("[signing] requires a signature of the lock and names no signer whom it trusts",))
    if not _is_installed():
        return Signatures(errors=(INSTALL,))
    try:
        return _Check(place, subject_of(lock), policy, now).run()
    except (FileError, KeyFileError) as error:
        return Signatures(errors=error.messages)
    except RootError as error:
        return Signatures(errors=(f"AR725 trusted-root-unavailable: {error}",))


def _is_installed() -> bool:
    try:
        return all(import_module(name) for name in ("cryptography", "sigstore"))
    except ImportError:
        return False


class _Check:
    """One look at the bundles of a lock."""

    def __init__(self, place: Place, subject: Subject, policy: SigningPolicy, now: datetime) -> None:
        self._walk = Walk(place.root, border=place.root)
        self._folder = place.folder
        self._subject = subject
        self._statement = statement(subject).encode()
        self._policy = policy
        self._now = now
        self._keys = tuple((self._key(one.key_file), one) for one in policy.trust if one.key_file)

    def run(self) -> Signatures:
        names = self._bundles()
        if not names:
            text = f"there is no {self._folder}/{SIDECAR}: sign what `reqfile lock --subject --output FILE` writes"
            return Signatures(changes=(signature_change("AR720", text),))
        signers: set[str] = set()
        refusals: list[tuple[str, RefusedError]] = []
        for name in names[:MAX_BUNDLES]:
            try:
                signers |= self._vouchers(self._walk.read(f"{self._folder}/{name}", _MAX_BYTES))
            except RefusedError as refused:
                refusals.append((name, refused))
        notes = [f"{len(names) - MAX_BUNDLES} more bundle(s) were not looked at"] if len(names) > MAX_BUNDLES else []
        if len(signers) >= self._policy.threshold:
            notes += [f"{name}: {_text(refused)}" for name, refused in refusals]
            return Signatures(notes=tuple(notes))
        changes = [signature_change(refused.code, f"{name}: {refused}") for name, refused in refusals]
        if signers or not changes:
            text = f"signed by {len(signers)} of {self._policy.threshold} ({', '.join(sorted(signers))})"
            changes.append(signature_change("AR728", text))
        return Signatures(changes=tuple(changes), notes=tuple(notes))

    def _bundles(self) -> list[str]:
        """The sidecar, then those with a number."""
        found = {entry.name for entry in self._walk.entries(self._folder) if entry.kind != "folder"}
        numbered = sorted((int(match[1]), name) for name in found if (match := _MORE.fullmatch(name)))
        return [*([SIDECAR] if SIDECAR in found else []), *(name for _, name in numbered)]

    def _vouchers(self, data: bytes) -> set[str]:
        """Who signed, of those who may. Raises ``RefusedError`` with the first reason why it does not count."""
        try:
            bundle = read_bundle(data)
        except BundleError as error:
            raise RefusedError("AR721", str(error)) from error
        signed = self._by_key(bundle) if bundle.key_hint is not None else self._by_certificate(bundle)
        claimed = self._check_subject(bundle)
        if not signed.signers:
            raise RefusedError("AR722", f"it was signed by {signed.who}, whom [signing] does not trust")
        at = signed.at or claimed
        self._check_age(at)
        self._check_ahead(claimed)
        covering = {name for name, trusted in signed.signers if trusted.covers(at or self._now)}
        if not covering:
            raise RefusedError(
                "AR722", f"{signed.signers[0][0]} may not have signed at that time (valid_from, valid_until)"
            )
        return covering

    def _by_key(self, bundle: Bundle) -> _Signed:
        found = [(key, one) for key, one in self._keys if key.has_signed(bundle.content, self._statement)]
        if not found:
            known = any(bundle.key_hint in {"", key.fingerprint} for key, _ in self._keys)
            if known:
                raise RefusedError("AR721", "the signature does not hold")
            raise RefusedError("AR722", "it was signed with a key that [signing] does not name")
        if self._policy.tlog == "required":
            raise RefusedError(
                "AR726", 'the log proof of a key\'s signature cannot be verified; set [signing] tlog = "off"'
            )
        return _Signed(signers=tuple((f"key {key.fingerprint}", one) for key, one in found))

    def _by_certificate(self, bundle: Bundle) -> _Signed:
        try:
            found = verify_certified(bundle, self._statement, self._verifier)
        except SignatureError as error:
            raise RefusedError("AR726" if error.of_log else "AR721", str(error)) from error
        name = found.names[0] if found.names else "a certificate without a name"
        signers = [
            (f"{name} ({one.issuer})", one) for one in self._policy.trust if not one.key_file and found.is_of(one)
        ]
        return _Signed(signers=tuple(signers), at=found.at, who=name)

    @cached_property
    def _verifier(self) -> Verifier:
        path = self._policy.trusted_root
        try:
            return open_verifier(self._walk.real(path) if path else None)
        except FileError as error:
            raise RootError(str(error)) from error

    def _key(self, path: str) -> Key:
        try:
            data = self._walk.read(path, _MAX_BYTES)
        except FileError as error:
            raise KeyFileError(f"[signing] key_file: {error}") from error
        return read_key(data, path)

    def _check_subject(self, bundle: Bundle) -> datetime | None:
        """That the signature is over this lock; when it says it was made."""
        if self._policy.min_hash_version > HASH_VERSION:
            found = f"[signing] min_hash_version is {self._policy.min_hash_version}, the lock's is {HASH_VERSION}"
            raise RefusedError("AR724", found)
        if isinstance(bundle.content, Envelope):
            return self._check_attestation(bundle.content)
        told = bundle.content.digest
        if told and told != hashlib.sha256(self._statement).digest():
            raise RefusedError("AR724", f"it signs another statement than that of {self._subject.digest}")
        return None

    def _check_attestation(self, envelope: Envelope) -> datetime | None:
        document = _attestation(envelope)
        predicate = document.get("predicate")
        if not isinstance(predicate, dict):
            raise RefusedError("AR724", "its predicate must be an object")
        digests = list(_digests(document.get("subject")))
        wanted = self._subject.digest.removeprefix("sha256:")
        if digests != [wanted]:
            raise RefusedError(
                "AR724", f"it attests sha256:{', '.join(digests) or '?'}, the lock is {self._subject.digest}"
            )
        if predicate.get("hash_version") != HASH_VERSION:
            raise RefusedError(
                "AR724", f"its hash_version is {predicate.get('hash_version')!r}, the lock's {HASH_VERSION}"
            )
        issued = predicate.get("issued_at")
        return read_time(issued) if isinstance(issued, str) else None

    def _check_age(self, at: datetime | None) -> None:
        if at is None and self._policy.max_age is not None:
            raise RefusedError("AR723", "nothing says when it was signed, and [signing] max_age asks for it")
        if at is not None and self._policy.max_age is not None and self._now - at > self._policy.max_age:
            raise RefusedError("AR723", f"it was signed on {at.date()}, longer ago than [signing] max_age")
        self._check_ahead(at)

    def _check_ahead(self, at: datetime | None) -> None:
        if at is not None and at - self._now > _AHEAD:
            raise RefusedError("AR723", f"it says that it was signed in the future, at {at.isoformat()}")


def _attestation(envelope: Envelope) -> dict[str, object]:
    """The in-toto statement of an envelope."""
    if envelope.payload_type != IN_TOTO:
        raise RefusedError("AR724", f"expected a payload of {IN_TOTO}, found {envelope.payload_type!r}")
    try:
        document = json.loads(envelope.payload)
    except (ValueError, RecursionError) as error:
        raise RefusedError("AR724", f"its payload is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("_type") != STATEMENT:
        raise RefusedError("AR724", f"expected a payload of type {STATEMENT}")
    if document.get("predicateType") != PREDICATE:
        raise RefusedError("AR724", f"expected the predicate {PREDICATE}, found {document.get('predicateType')!r}")
    return document


def _digests(subjects: object) -> Iterator[str]:
    """The SHA-256 of every subject that is a lock."""
    for one in subjects if isinstance(subjects, list) else ():
        digest = one.get("digest") if isinstance(one, dict) and one.get("name") == LOCK_NAME else None
        if isinstance(digest, dict) and isinstance(digest.get("sha256"), str):
            yield digest["sha256"]


def _text(refused: RefusedError) -> str:
    return f"{refused.code} {_NAMES[refused.code]}: {refused}"


def signature_change(code: str, text: str) -> Change:
    """What is wrong with the signatures of a lock, as a difference of the lock itself."""
    return Change(scope="lock", change="changed", detail=f"{code} {_NAMES[code]}: {text}", code=code)
