"""``load_project``: config, content, imports and declarations of one project, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.project.config import CheckedConfig, check_config
from pytest_reqfile.project.content import read_content
from pytest_reqfile.project.declarations import read_declarations
from pytest_reqfile.project.imports import Imported, import_all
from pytest_reqfile.project.links import refusal
from pytest_reqfile.project.overlay import overlay, shared_only
from pytest_reqfile.project.places import LOCAL_NAME
from pytest_reqfile.project.rubrics import read_rubrics
from pytest_reqfile.project.values import Config, Fetched, Item, Origin, Place, Project
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.workspace.walk import Walk

MAX_CONFIG_BYTES: Final = 1024 * 1024


def load_project(place: Place, *, local: bool = False, fetched: Fetched | None = None) -> Project:
    """The project at ``place``.

    ``local`` merges ``config.local.toml`` (never for the lock, spec 1.4). ``fetched`` finds the content folders of git
    sources; without it they are ``unavailable``. Raises ``FormatError`` with every problem of the configuration;
    problems of single content files are in ``Project.problems`` instead.
    """
    walk = Walk(place.root, border=place.top)
    checked = load_config(place, local=local)
    config = checked.config
    own = Origin(kind="project", name="", tree=walk, folder=place.folder)
    content = read_content(own)
    imported = import_all(place, config, content, fetched)
    rubrics, rubric_problems = read_rubrics(own)
    return Project(
        place=place,
        config=config,
        own=own,
        items=imported.items,
        domains=imported.domains,
        declarations=(*read_declarations(own), *imported.declarations),
        origins=imported.origins,
        rubrics=rubrics,
        unavailable=imported.unavailable,
        problems=(*content.problems, *imported.problems, *rubric_problems),
        notes=(*checked.notes, *imported.notes, *_doubtful(config, imported)),
    )


def load_config(place: Place, *, local: bool = False) -> CheckedConfig:
    """Only the configuration of the project at ``place``; raises ``FormatError`` with every problem of it."""
    walk = Walk(place.root, border=place.top)
    shared = shared_only(_read(walk, place.config), place.config)
    # The shared file is judged alone first: what is wrong with it is told there, not where the local file changes it.
    checked = check_config(shared)
    path = f"{place.folder}/{LOCAL_NAME}"
    if not local or walk.kind(path) is None:
        return checked
    return check_config(overlay(shared, _read(walk, path), path))


def _read(walk: Walk, path: str) -> Node:
    """The document at ``path``; a symlink is followed where the content's own are (spec/airulez-project.md 1.1)."""
    try:
        reason = refusal(walk, path) if walk.kind(path) == "link" else None
        if reason is not None:
            raise FormatError([Problem(path=path, message=reason)])
        data = walk.read(path, MAX_CONFIG_BYTES)
    except FileError as error:
        raise FormatError([Problem(path=path, message=str(error).removeprefix(f"{path}: "))]) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise FormatError([Problem(path=path, line=line, message="not valid UTF-8")]) from None
    return read_toml(text, path)


def _doubtful(config: Config, imported: Imported) -> Iterator[Problem]:
    """What may be meant otherwise: domains nobody declares, ids that differ in case only or are skill and command."""
    known = {domain.name for domain in imported.domains}
    if not imported.unavailable and not config.builtins.in_use:
        for profile in config.profiles:
            for domain in profile.domains:
                if domain not in known:
                    message = f"profile `{profile.name}` lists the domain `{domain}`, which does not exist"
                    yield Problem(path=profile.location.path, line=profile.location.line, message=message)
    taken: dict[tuple[str, str], Item] = {}
    for item in imported.items:
        if item.kind in {"skill", "command"}:
            first = taken.setdefault((item.domain, item.id.casefold()), item)
            if first is not item:
                message = f'{item.kind} "{item.id}" has the name of {first.kind} "{first.id}" in {first.path}'
                yield Problem(path=item.path, message=message)
