"""How ``WorkerArtifact`` is spelled: seed 003 has refs and digests, AIWG's schemas other words (spec oracle.md 4)."""

from __future__ import annotations

from typing import Final, Literal

from pytest_reqfile.oracle.digests import Artifact

Profile = Literal["seed", "mission", "dataset"]
PROFILES: Final[tuple[Profile, ...]] = ("seed", "mission", "dataset")
"""In the order they are tried against a schema."""

_KIND: Final = "oracle-evidence"
_MEDIA_TYPES: Final = {"json": "application/json", "stdout": "text/plain", "stderr": "text/plain"}


def worker_artifact(artifact: Artifact, profile: Profile) -> dict[str, object]:
    """The artifact as the profile has it."""
    if profile == "seed":
        return {"ref": artifact.ref, "digest": artifact.digest}
    if profile == "dataset":
        return {"kind": _KIND, "reference": artifact.ref, "digest": artifact.digest}
    return {
        "id": artifact.ref,
        "kind": _KIND,
        "uri": artifact.ref,
        "sha256": artifact.hex,
        "mediaType": _MEDIA_TYPES.get(artifact.ref.rpartition(".")[2], "application/octet-stream"),
        "sizeBytes": artifact.size,
    }
