"""Signatures over locks as cosign and Sigstore make them, by keys and by an authority, logs and all, of our own."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PrivateKey: TypeAlias = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
Json: TypeAlias = dict[str, object]

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
IN_TOTO = "application/vnd.in-toto+json"
IDENTITY = "https://git.example.org/acme/config/.forge/workflows/release.yml@refs/heads/main"
ISSUER = "https://token.forge.example.org"
_ISSUER_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_SCT_OID = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")


def text(data: bytes) -> str:
    """Base64, as all bytes of a bundle are written."""
    return base64.b64encode(data).decode()


def new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_pem(key: PrivateKey) -> bytes:
    """What ``cosign generate-key-pair`` writes as cosign.pub."""
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def key_id(key: PrivateKey) -> bytes:
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).digest()


def sign(key: PrivateKey, data: bytes) -> bytes:
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return key.sign(data, ec.ECDSA(hashes.SHA256()))
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(data)


def encoded(payload: bytes, kind: str = IN_TOTO) -> bytes:
    """DSSE's pre-authentication encoding."""
    return f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload


def message_bundle(key: PrivateKey, statement: bytes, material: Json | None = None) -> Json:
    """``cosign sign-blob --key``: a signature over the file that ``lock --subject --output`` writes."""
    digest = {"algorithm": "SHA2_256", "digest": text(hashlib.sha256(statement).digest())}
    return {
        "mediaType": BUNDLE,
        "verificationMaterial": material or {"publicKey": {"hint": text(key_id(key))}},
        "messageSignature": {"messageDigest": digest, "signature": text(sign(key, statement))},
    }


def envelope_bundle(keys: tuple[PrivateKey, ...], payload: bytes, material: Json | None = None) -> Json:
    """``ai-rulez sign --lock``: a DSSE envelope, signed by all ``keys``."""
    signatures = [{"sig": text(sign(key, encoded(payload)))} for key in keys]
    return {
        "mediaType": BUNDLE,
        "verificationMaterial": material or {"publicKey": {"hint": text(key_id(keys[0]))}},
        "dsseEnvelope": {"payload": text(payload), "payloadType": IN_TOTO, "signatures": signatures},
    }


def attestation(subject: str, **predicate: object) -> bytes:
    """An in-toto statement about the lock of that subject."""
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "ai-rulez.lock", "digest": {"sha256": subject.removeprefix("sha256:")}}],
        "predicateType": "https://github.com/Goldziher/ai-rulez/attestations/lock/v1",
        "predicate": {"hash_version": 1, **predicate},
    }
    return json.dumps(document).encode()


@dataclass
class Authority:
    """A certificate authority with its two logs, as a trusted root describes them."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    ct: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    rekor: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    since: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(days=4000))

    def __post_init__(self) -> None:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "local authority")])
        builder = _builder(name, name, self.key, self.since, self.since + timedelta(days=9000))
        usage = _usage(key_cert_sign=True)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.certificate = builder.add_extension(usage, critical=True).sign(self.key, hashes.SHA256())

    def trusted_root(self) -> str:
        """The document that ``[signing] trusted_root`` names."""
        valid: Json = {"start": self.since.isoformat().replace("+00:00", "Z")}
        chain = [{"rawBytes": text(self.certificate.public_bytes(serialization.Encoding.DER))}]
        authority: Json = {
            "subject": {"organization": "local", "commonName": "local authority"},
            "uri": "https://ca.example.org",
            "certChain": {"certificates": chain},
            "validFor": valid,
        }
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [_log(self.rekor, valid)],
                "certificateAuthorities": [authority],
                "ctlogs": [_log(self.ct, valid)],
                "timestampAuthorities": [],
            }
        )

    def sign(self, statement: bytes, at: datetime, identity: str = IDENTITY, issuer: str = ISSUER) -> Json:
        """A keyless ``cosign sign-blob`` at a time."""
        key = new_key()
        leaf = self.leaf(key, at, identity, issuer)
        bundle = message_bundle(key, statement, material={})
        body: Json = {
            "apiVersion": "0.0.1",
            "kind": "hashedrekord",
            "spec": {
                "data": {"hash": {"algorithm": "sha256", "value": hashlib.sha256(statement).hexdigest()}},
                "signature": {
                    "content": _at(bundle, "messageSignature", "signature"),
                    "publicKey": {"content": _pem(leaf)},
                },
            },
        }
        bundle["verificationMaterial"] = self._material(leaf, "hashedrekord", body, at)
        return bundle

    def attest(self, payload: bytes, at: datetime, identity: str = IDENTITY, issuer: str = ISSUER) -> Json:
        """A keyless ``ai-rulez sign --lock`` at a time."""
        key = new_key()
        leaf = self.leaf(key, at, identity, issuer)
        bundle = envelope_bundle((key,), payload, material={})
        signatures = _at(bundle, "dsseEnvelope", "signatures")
        assert isinstance(signatures, list)
        body: Json = {
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "payloadHash": {"algorithm": "sha256", "value": hashlib.sha256(payload).hexdigest()},
                "envelopeHash": {"algorithm": "sha256", "value": "0" * 64},
                "signatures": [{"signature": signatures[0]["sig"], "verifier": _pem(leaf)}],
            },
        }
        bundle["verificationMaterial"] = self._material(leaf, "dsse", body, at)
        return bundle

    def leaf(self, key: ec.EllipticCurvePrivateKey, at: datetime, identity: str, issuer: str) -> x509.Certificate:
        """A certificate of ten minutes for an identity, with the promise of the certificate log in it."""
        start = at.replace(microsecond=0)
        builder = _builder(x509.Name([]), self.certificate.subject, key, start, start + timedelta(minutes=10))
        aki = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        san = x509.SubjectAlternativeName([x509.UniformResourceIdentifier(identity)])
        builder = builder.add_extension(aki, critical=False).add_extension(san, critical=True)
        builder = builder.add_extension(_usage(key_cert_sign=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
        builder = builder.add_extension(x509.UnrecognizedExtension(_ISSUER_OID, issuer.encode()), critical=False)
        bare = builder.sign(self.key, hashes.SHA256()).tbs_certificate_bytes
        promise = x509.UnrecognizedExtension(_SCT_OID, self._promise(bare, start))
        return builder.add_extension(promise, critical=False).sign(self.key, hashes.SHA256())

    def _promise(self, bare: bytes, at: datetime) -> bytes:
        """RFC 6962: a signed certificate timestamp, in its list, in an octet string."""
        millis = int(at.timestamp() * 1000)
        entry = key_id(self.key) + len(bare).to_bytes(3, "big") + bare
        signature = sign(self.ct, struct.pack(">BBQH", 0, 0, millis, 1) + entry + b"\0\0")
        sct = b"\0" + key_id(self.ct) + struct.pack(">QHBBH", millis, 0, 4, 3, len(signature)) + signature
        listed = struct.pack(">HH", len(sct) + 2, len(sct)) + sct
        assert len(listed) < 256
        length = bytes([len(listed)]) if len(listed) < 128 else b"\x81" + bytes([len(listed)])
        return b"\x04" + length + listed

    def _material(self, leaf: x509.Certificate, kind: str, body: Json, at: datetime) -> Json:
        entry = self._entry(kind, json.dumps(body, separators=(",", ":"), sort_keys=True).encode(), at)
        raw = text(leaf.public_bytes(serialization.Encoding.DER))
        return {"certificate": {"rawBytes": raw}, "tlogEntries": [entry]}

    def _entry(self, kind: str, body: bytes, at: datetime) -> Json:
        """The first and only entry of the log, with its promise and its proof."""
        second = int(at.timestamp())
        log = key_id(self.rekor)
        promised: Json = {"body": text(body), "integratedTime": second, "logID": log.hex(), "logIndex": 0}
        canonical = json.dumps(promised, separators=(",", ":"), sort_keys=True).encode()
        root = hashlib.sha256(b"\0" + body).digest()
        note = f"rekor.example.org\n1\n{text(root)}\n"
        signed = text(log[:4] + sign(self.rekor, note.encode()))
        proof: Json = {
            "logIndex": "0",
            "rootHash": text(root),
            "treeSize": "1",
            "hashes": [],
            "checkpoint": {"envelope": f"{note}\n— rekor.example.org {signed}\n"},
        }
        return {
            "logIndex": "0",
            "logId": {"keyId": text(log)},
            "kindVersion": {"kind": kind, "version": "0.0.1"},
            "integratedTime": str(second),
            "inclusionPromise": {"signedEntryTimestamp": text(sign(self.rekor, canonical))},
            "inclusionProof": proof,
            "canonicalizedBody": text(body),
        }


def _at(document: object, *keys: str) -> object:
    for key in keys:
        assert isinstance(document, dict)
        document = document[key]
    return document


def _pem(certificate: x509.Certificate) -> str:
    return text(certificate.public_bytes(serialization.Encoding.PEM))


def _log(key: ec.EllipticCurvePrivateKey, valid: Json) -> Json:
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    public: Json = {"rawBytes": text(der), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": valid}
    log: Json = {"baseUrl": "https://log.example.org", "hashAlgorithm": "SHA2_256", "publicKey": public}
    return {**log, "logId": {"keyId": text(key_id(key))}}


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, since: datetime, until: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(since).not_valid_after(until)
    ski = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return builder.add_extension(ski, critical=False)


def _usage(*, key_cert_sign: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not key_cert_sign,
        key_cert_sign=key_cert_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
