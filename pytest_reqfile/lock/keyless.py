"""Signatures whose certificate tells who signed, verified by the library sigstore, offline (spec/lock.md 10)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.bundles import Bundle, Envelope
from pytest_reqfile.lock.signing_policy import Trusted
from pytest_reqfile.syntax.patterns import compile_pattern

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.verify import Verifier

# What comes with the library, as it was released: its own cache of roots is not verified when it is read offline.
_EMBEDDED: Final = "https%3A%2F%2Ftuf-repo-cdn.sigstore.dev"
_OF_THE_LOG: Final = ("log entry", "inclusion", "checkpoint", "verified time", "Timestamp Author", "Integrated time")


class RootError(ReqfileError):
    """There is no trusted root to verify with (AR725)."""


class SignatureError(ReqfileError):
    """A signature that does not hold; ``of_log`` where it is the proof of a log that is missing or wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.of_log = any(word in message for word in _OF_THE_LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """A verified certificate. ``at`` is when it began to be valid: it signed within the minutes that it was."""

    certificate: Certificate
    at: datetime

    def is_of(self, trusted: Trusted) -> bool:
        """Whether the certificate names that signer, and its issuer."""
        from sigstore.errors import VerificationError
        from sigstore.verify.policy import Identity

        regexp = trusted.identity_regexp
        names = [name for name in self.names if _matches_whole(regexp, name)] if regexp else [trusted.identity]
        for name in names:
            try:
                Identity(identity=name, issuer=trusted.issuer).verify(self.certificate)
            except VerificationError:
                continue
            return True
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """Who the certificate says it is of: mail addresses and URLs."""
        from cryptography import x509

        try:
            found = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (x509.ExtensionNotFound, ValueError):
            return ()
        mails = found.get_values_for_type(x509.RFC822Name)
        return (*mails, *found.get_values_for_type(x509.UniformResourceIdentifier))


def _matches_whole(regexp: str, text: str) -> bool:
    return compile_pattern(rf"\A(?:{regexp})\z").search(text.encode()) is not None


def open_verifier(root: Path | None) -> Verifier:
    """The verifier of a trusted root, the library's own where none is given; no network. Raises ``RootError``."""
    from sigstore.errors import Error
    from sigstore.models import TrustedRoot
    from sigstore.verify import Verifier

    try:
        if root is not None:
            return Verifier(trusted_root=TrustedRoot.from_file(str(root)))
        with as_file(files("sigstore._store").joinpath(_EMBEDDED, "trusted_root.json")) as embedded:
            return Verifier(trusted_root=TrustedRoot.from_file(str(embedded)))
    except (Error, OSError, ValueError, TypeError, ModuleNotFoundError) as error:
        raise RootError(f"the trusted root {root or 'of sigstore'} cannot be used: {_told(error)}") from error


def verify_certified(bundle: Bundle, statement: bytes, verifier: Verifier) -> Certified:
    """Verify signature, certificate and log proof, whoever signed. Raises ``SignatureError``."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.x509 import DuplicateExtension, ExtensionNotFound, InvalidVersion
    from sigstore.errors import Error

    seen = _Seen()
    try:
        _check(bundle, statement, verifier, seen)
    except (
        *(Error, InvalidSignature, UnsupportedAlgorithm, DuplicateExtension, ExtensionNotFound, InvalidVersion),
        *(ValueError, TypeError, AttributeError, OverflowError, struct.error),
    ) as error:
        raise SignatureError(_told(error)) from error
    if seen.certificate is None:
        raise SignatureError("no certificate was verified")
    return Certified(certificate=seen.certificate, at=seen.certificate.not_valid_before_utc)


class _Seen:
    """Takes note of the certificate; whether its owner may sign is judged after what was signed (spec 10)."""

    def __init__(self) -> None:
        self.certificate: Certificate | None = None

    def verify(self, cert: Certificate) -> None:
        self.certificate = cert


def _check(bundle: Bundle, statement: bytes, verifier: Verifier, seen: _Seen) -> None:
    from sigstore.hashes import Hashed
    from sigstore.models import Bundle as Read
    from sigstore_models.common.v1 import HashAlgorithm

    read = Read.from_json(bundle.raw)
    if isinstance(bundle.content, Envelope):
        verifier.verify_dsse(read, seen)
        return
    # The file that was signed may be another one: that is told apart from a signature that does not hold.
    told = bundle.content.digest
    signed: bytes | Hashed = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=told) if told else statement
    verifier.verify_artifact(signed, read, seen)


def _told(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
