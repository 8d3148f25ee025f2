"""Replies kept on this machine: an unchanged change costs nothing again (seed 000 "Cache and cost"; spec 5.6)."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, WorkspaceError
from pytest_reqfile.verifiers.chat import ChatRequest, Usage
from pytest_reqfile.verifiers.models import Provider
from pytest_reqfile.verifiers.providers import Answered, token_count
from pytest_reqfile.workspace.environment import Environment, cache_folder
from pytest_reqfile.workspace.kept_replies import KeptReplies
from pytest_reqfile.workspace.paths import canonical

FOLDER: Final = "llm-replies"
_FORMAT: Final = 1


class ReplyCache:
    """Replies by everything that made them. What cannot be read, or was damaged, is as good as absent."""

    def __init__(self, folder: Path | None) -> None:
        self._kept = KeptReplies(folder) if folder is not None else None

    @classmethod
    def of_user(cls, environment: Environment, repository: Path) -> ReplyCache:
        """The one of the user; one that keeps nothing where there is no folder for caches outside ``repository``.

        A key is made of what everybody knows: a change could bring along the reply that lets it pass.
        """
        try:
            folder = cache_folder(environment) / FOLDER
        except WorkspaceError:
            return cls(None)
        return cls(None if canonical(folder).is_relative_to(repository) else folder)

    def find(self, key: str) -> Answered | None:
        """What is kept under ``key``."""
        data = self._kept.read(key) if self._kept is not None else None
        try:
            found: object = json.loads(data) if data is not None else None
        except (ValueError, RecursionError):
            return None
        return _answered(found, key)

    def keep(self, key: str, answered: Answered) -> None:
        """Keep a reply; where that is impossible it is not kept."""
        if self._kept is None:
            return
        usage = answered.usage or Usage()
        document = {
            "format": _FORMAT,
            "key": key,
            "text": answered.text,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        }
        with suppress(FileError):
            self._kept.write(key, json.dumps(document).encode())


def reply_key(provider: Provider, model: str, request: ChatRequest) -> str:
    """What a reply is kept under: where it came from and everything that was asked, the prompt's version too."""
    document = {
        "format": _FORMAT,
        "endpoint": [provider.protocol, provider.base_url],
        "model": model,
        "messages": [[message.role, message.content] for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "schema": [request.schema_name, request.schema],
        "prompt": request.prompt_version,
    }
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _answered(found: object, key: str) -> Answered | None:
    if not isinstance(found, dict) or (found.get("format"), found.get("key")) != (_FORMAT, key):
        return None
    text = found.get("text")
    prompt, completion = token_count(found.get("prompt_tokens")), token_count(found.get("completion_tokens"))
    if not isinstance(text, str) or prompt is None or completion is None:
        return None
    return Answered(text=text, usage=Usage(prompt_tokens=prompt, completion_tokens=completion))
