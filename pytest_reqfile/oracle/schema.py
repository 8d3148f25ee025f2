"""The user's own ``workerClaims`` schema, when they have AIWG (spec oracle.md 4 "Schema probing")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.oracle.claims import one_line
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.machine import read_if_there

_ROOT_VARIABLE: Final = "AIWG_ROOT"
_BELOW_ROOT: Final = "schemas/mission-v1.schema.json"
_NAME: Final = "workerclaims"
_MOST: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsSchema:
    """A schema document and the pointer to ``workerClaims`` in it."""

    path: Path
    document: Mapping[str, object]
    pointer: str

    def mismatches(self, text: str) -> tuple[str, ...]:
        """What the schema refuses in the claims ``text``, as ``/pointer: message``; none if it is valid."""
        from jsonschema.validators import validator_for

        wanted: dict[str, object] = {**self.document}
        for key in ("type", "properties", "required", "additionalProperties"):
            wanted.pop(key, None)  # those of the mission, in which the claims are only one definition
        wanted["$ref"] = self.pointer
        validator = validator_for(wanted)(wanted)
        errors = sorted(validator.iter_errors(json.loads(text)), key=lambda error: error.json_path)
        return tuple(one_line(f"{error.json_path}: {error.message}") for error in errors[:_MOST])


def find_schema(env: Environment, given: Path | None) -> tuple[ClaimsSchema | None, str | None]:
    """The schema at ``given``, else below $AIWG_ROOT; and a note where there is one that cannot be used.

    Raises ``UsageError`` for a given one that cannot be used, and where the library that validates is missing: claims
    must not look validated when they are not.
    """
    root = env.get(_ROOT_VARIABLE)
    path = given or (Path(root, _BELOW_ROOT) if root else None)
    data = read_if_there(path) if path is not None else None
    if path is None or (data is None and given is None):
        return None, None
    document = _document(path, data)
    pointer = _pointer(document)
    if pointer is None and given is None:
        return None, f"{path} has no workerClaims, so the claims were not validated against it"
    if pointer is None:
        raise UsageError(f"{path}: expected a definition `workerClaims`, found none")
    try:
        import jsonschema  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"validating claims against {path} needs jsonschema: pip install 'pytest-reqfile[aiwg]'"
        ) from error
    return ClaimsSchema(path=path, document=document, pointer=pointer), None


def _document(path: Path, data: bytes | None) -> Mapping[str, object]:
    if data is None:
        raise UsageError(f"{path}: no such file")
    try:
        document = json.loads(data)
    except ValueError as error:
        raise UsageError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise UsageError(f"{path}: expected a JSON object")
    return document


def _pointer(document: Mapping[str, object]) -> str | None:
    for section in ("$defs", "definitions"):
        definitions = document.get(section)
        for name in definitions if isinstance(definitions, dict) else ():
            if str(name).lower() == _NAME:
                return f"#/{section}/{name}"
    return None
