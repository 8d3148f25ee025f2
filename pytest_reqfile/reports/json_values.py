"""What reports write as JSON, made fit for every reader of it."""

from __future__ import annotations

from pytest_reqfile.syntax.printable import visible


def encodable(value: object) -> object:
    """The same value without lone surrogates, which many readers of JSON refuse: undecodable bytes are shown."""
    if isinstance(value, str):
        return value if value.isascii() else _without_surrogates(value)
    if isinstance(value, list):
        return [encodable(item) for item in value]
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    return value


def _without_surrogates(text: str) -> str:
    return "".join(visible(char) if "\ud800" <= char <= "\udfff" else char for char in text)
