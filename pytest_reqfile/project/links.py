"""Which symlinks of the project's own content are followed (spec/airulez-project.md 2.6)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.walk import Walk

_CREDENTIAL_NAMES: Final = frozenset(
    {
        *(".env", ".envrc", ".npmrc", ".pypirc", ".netrc", "_netrc", ".git-credentials", ".htpasswd"),
        *("credentials", "credentials.json", "secrets.json", "secrets.yaml", "secrets.yml"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "terraform.tfvars"),
    }
)
_CREDENTIAL_SUFFIXES: Final = (".pem", ".key", ".p12", ".pfx", ".keystore")
_HARMLESS_ENV: Final = (".example", ".sample", ".template", ".dist", ".defaults")


def refusal(walk: Walk, path: str) -> str | None:
    """Why the symlink at ``path`` is not followed; None if it is.

    Only own content has a walk with a border; that of includes and installed skills never follows one.
    """
    if walk.border is None:
        return "a symbolic link, which is not followed in content of others"
    try:
        target = walk.real(path)
    except FileError as error:
        return str(error).removeprefix(f"{path}: ")
    if ".git" in target.relative_to(walk.border).parts:
        return "a symbolic link into .git, which is not followed"
    if _is_credential(target):
        return f"a symbolic link to {target.name}, which may hold credentials and is not followed"
    return None


def _is_credential(target: Path) -> bool:
    name = target.name.lower()
    if name.startswith(".env."):
        return not name.endswith(_HARMLESS_ENV)
    return name in _CREDENTIAL_NAMES or name.endswith(_CREDENTIAL_SUFFIXES)
