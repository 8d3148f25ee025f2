"""Sigstore bundles, read strictly, and those that a plain key has signed (spec/lock.md 10).

The library sigstore reads bundles with certificates only; those of ``cosign sign-blob --key`` are read here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_reqfile.errors import ReqfileError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    PublicKey: TypeAlias = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey

MEDIA_TYPE: Final = "application/vnd.dev.sigstore.bundle"
SHA2_256: Final = "SHA2_256"


class BundleError(ReqfileError):
    """A bundle that is none, or that is not what it has to be."""


class KeyFileError(ReqfileError):
    """A key that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A DSSE envelope: ``payload`` with its type, and signatures over both."""

    payload: bytes
    payload_type: str
    signatures: tuple[bytes, ...]

    @property
    def encoded(self) -> bytes:
        """What is signed: DSSE's pre-authentication encoding."""
        kind = self.payload_type.encode()
        return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A signature over a file, of which a bundle may tell the SHA-256 (empty: not told)."""

    signature: bytes
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """``key_hint`` is None where a certificate tells who signed; empty where nothing is hinted at."""

    raw: bytes
    content: Envelope | Message
    key_hint: str | None


def read_bundle(data: bytes) -> Bundle:
    """The bundle in ``data``. Raises ``BundleError``."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"no JSON: {error}") from error
    kind = _table(document, "the bundle").get("mediaType")
    if not isinstance(kind, str) or not kind.startswith(MEDIA_TYPE):
        raise BundleError("no Sigstore bundle: cosign writes one with `--new-bundle-format --bundle FILE`")
    material = _table(document.get("verificationMaterial"), "verificationMaterial")
    return Bundle(raw=data, content=_content(document), key_hint=_hint(material))


def _hint(material: Mapping[str, object]) -> str | None:
    if "publicKey" in material:
        hint = _table(material["publicKey"], "publicKey").get("hint")
        return hint if isinstance(hint, str) else ""
    if "certificate" not in material and "x509CertificateChain" not in material:
        raise BundleError("it holds neither a certificate nor a hint at a key")
    return None


def _content(document: Mapping[str, object]) -> Envelope | Message:
    if ("dsseEnvelope" in document) == ("messageSignature" in document):
        raise BundleError("it must hold either a dsseEnvelope or a messageSignature")
    if "dsseEnvelope" in document:
        return _envelope(_table(document["dsseEnvelope"], "dsseEnvelope"))
    message = _table(document["messageSignature"], "messageSignature")
    told = message.get("messageDigest")
    digest = b""
    if told is not None:
        table = _table(told, "messageDigest")
        if table.get("algorithm") != SHA2_256:
            raise BundleError(f"messageDigest: expected the algorithm {SHA2_256}, found {table.get('algorithm')!r}")
        digest = _bytes(table.get("digest"), "digest")
    return Message(signature=_bytes(message.get("signature"), "signature"), digest=digest)


def _envelope(table: Mapping[str, object]) -> Envelope:
    kind, signatures = table.get("payloadType"), table.get("signatures")
    if not isinstance(kind, str):
        raise BundleError("payloadType must be a string")
    if not isinstance(signatures, list) or not signatures:
        raise BundleError("a dsseEnvelope needs signatures")
    return Envelope(
        payload=_bytes(table.get("payload"), "payload"),
        payload_type=kind,
        signatures=tuple(_bytes(_table(one, "a signature").get("sig"), "sig") for one in signatures),
    )


def _table(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise BundleError(f"{what} must be an object")
    return value


def _bytes(value: object, what: str) -> bytes:
    try:
        return base64.b64decode(value if isinstance(value, str) else "!", validate=True)
    except (binascii.Error, ValueError) as error:
        raise BundleError(f"{what} must be base64") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A public key. ``file`` is where it was read, ``fingerprint`` the SHA-256 of its DER form in base64, as cosign's
    hints are."""

    file: str
    fingerprint: str
    value: PublicKey

    def has_signed(self, content: Envelope | Message, statement: bytes) -> bool:
        """Whether one of the signatures is of this key. A message is the one whose digest the bundle tells."""
        if isinstance(content, Envelope):
            return any(_verifies(self.value, signature, content.encoded, b"") for signature in content.signatures)
        return _verifies(self.value, content.signature, statement, content.digest)


def read_key(data: bytes, file: str) -> Key:
    """A PEM public key: ECDSA, Ed25519 or RSA. Raises ``KeyFileError``."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    try:
        value = serialization.load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{file}: expected a public key in PEM form (cosign.pub): {error}") from error
    if not isinstance(value, ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey):
        raise KeyFileError(f"{file}: expected an ECDSA, Ed25519 or RSA key")
    der = value.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Key(file=file, fingerprint=base64.b64encode(hashlib.sha256(der).digest()).decode(), value=value)


def _verifies(key: PublicKey, signature: bytes, data: bytes, digest: bytes) -> bool:
    """Whether ``key`` signed ``data``, or, where ``digest`` is given, data of that SHA-256."""
    from cryptography.exceptions import InvalidSignature

    for check in _checks(key, signature, data, digest):
        try:
            check()
        except InvalidSignature:
            continue
        return True
    return False


def _checks(key: PublicKey, signature: bytes, data: bytes, digest: bytes) -> Iterator[Callable[[], None]]:
    """The ways in which cosign signs with a key of this kind; SHA-256 for every curve."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, utils

    hashed = digest or hashlib.sha256(data).digest()
    if len(hashed) != hashes.SHA256.digest_size:
        return
    prehashed = utils.Prehashed(hashes.SHA256())
    if isinstance(key, ed25519.Ed25519PublicKey):
        yield lambda: key.verify(signature, data)
    elif isinstance(key, ec.EllipticCurvePublicKey):
        yield lambda: key.verify(signature, hashed, ec.ECDSA(prehashed))
    else:
        yield lambda: key.verify(signature, hashed, padding.PKCS1v15(), prehashed)
