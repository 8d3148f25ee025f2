"""The one place a verification may write to (seed 003 "designated final-output and evidence sink"; spec 4, 5.2)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.oracle.digests import Artifact, sha256_digest
from pytest_reqfile.workspace.evidence import holds_any, make_once, make_private_folder, read_evidence, write_private
from pytest_reqfile.workspace.paths import canonical

CLAIMS: Final = "worker-claims.json"
REVIEW: Final = "review-evidence.json"
RECEIPTS: Final = "oracle"
NOTES: Final = "notes.json"
ENVIRONMENT: Final = "environment.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """An evidence folder of one run; folders get mode 0700 and files 0600, since output may hold secrets."""

    folder: Path

    def write(self, ref: str, data: bytes) -> Artifact:
        """Put ``data`` at ``ref`` below the folder, complete or not at all."""
        write_private(self.folder / ref, data)
        return Artifact(ref=ref, digest=sha256_digest(data), size=len(data))

    def write_json(self, ref: str, value: object) -> Artifact:
        """As ``write``; indented, since people read evidence."""
        return self.write(
            ref, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
        )

    def read(self, ref: str) -> bytes:
        return read_evidence(self.folder / ref)

    def artifact(self, ref: str) -> Artifact | None:
        """What is at ``ref`` now; None where there is nothing."""
        try:
            data = self.read(ref)
        except OSError:
            return None
        return Artifact(ref=ref, digest=sha256_digest(data), size=len(data))

    def holds(self, artifact: Artifact) -> bool:
        """Whether it is still what was written; without the kernel's protection a command could rewrite it."""
        return self.artifact(artifact.ref) == artifact


def open_sink(folder: Path, root: Path) -> Sink:
    """A sink at ``folder``, or at ``folder``/run-N if that holds a run already: nothing is ever overwritten.

    Raises ``UsageError`` for a folder inside the reviewed workspace ``root``, and one that cannot be written.
    """
    real, reviewed = canonical(folder), canonical(root)
    if real == reviewed or real.is_relative_to(reviewed):
        raise UsageError(f"the sink {folder} is inside the reviewed workspace {root}; choose a folder outside of it")
    number = 1
    chosen = real
    while holds_any(chosen, (CLAIMS, REVIEW)) or not _is_ours(chosen):
        number += 1
        chosen = real / f"run-{number}"
    return Sink(folder=chosen)


def _is_ours(folder: Path) -> bool:
    """Makes ``folder`` and the place of its receipts, which only the first of several runs can."""
    make_private_folder(folder)
    return make_once(folder / RECEIPTS)
