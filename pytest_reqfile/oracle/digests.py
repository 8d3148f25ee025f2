"""Digests in the spelling of the contract (seed 003 "refs and digests"; spec oracle.md 7)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

_PREFIX = "sha256:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A piece of evidence: ``ref`` is a path below the sink, a ``file:line`` of the workspace, or a URL.

    ``digest`` is ``sha256:`` and 64 hex digits, of exactly the bytes referred to.
    """

    ref: str
    digest: str
    size: int

    @property
    def hex(self) -> str:
        return self.digest.removeprefix(_PREFIX)


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_digest(data: bytes) -> str:
    """The digest as ``WorkerArtifact`` spells it."""
    return _PREFIX + sha256_hex(data)


def canonical_json(value: object) -> bytes:
    """RFC 8785 form of a value made of objects, lists, strings, integers, booleans and nulls."""
    return json.dumps(_sorted(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogateescape")


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _sorted(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        }
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    if isinstance(value, float):
        raise TypeError("canonical_json takes no floats: their form is not ours to decide")
    return value
