"""``load_project``: config, content, imports and declarations of one project, in one call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_reqfile.project.values import Place, Project, Source

Fetched = Callable[[Source], Path | str]
"""The folder with the content of a git source on this machine, or why there is none (as text for people)."""


def load_project(place: Place, *, local: bool = False, fetched: Fetched | None = None) -> Project:
    """The project at ``place``.

    ``local`` merges ``config.local.toml`` (never for the lock, spec 1.4). ``fetched`` finds the trees of git sources;
    without it they are ``unavailable``. Raises ``FormatError`` with every problem of the configuration; problems of
    single content files are in ``Project.problems`` instead.
    """
    raise NotImplementedError
