"""How the text of a Reqfile or config becomes values: parsed, or remembered from an earlier run."""

from __future__ import annotations

from typing import Protocol

from pytest_reqfile.reqfile.settings import Config
from pytest_reqfile.reqfile.values import Reqfile


class Parser(Protocol):
    """Makes values of texts. Both methods raise FormatError with every problem of the file."""

    def reqfile(self, text: str, path: str) -> Reqfile:
        """The Reqfile in ``text``."""

    def config(self, text: str, path: str) -> Config:
        """The config in ``text``."""


class DirectParser:
    """Parses every time. YAML and the format are imported at the first text."""

    def reqfile(self, text: str, path: str) -> Reqfile:
        from pytest_reqfile.reqfile.format import parse_reqfile

        return parse_reqfile(text, path)

    def config(self, text: str, path: str) -> Config:
        from pytest_reqfile.reqfile.settings import parse_config

        return parse_config(text, path)
