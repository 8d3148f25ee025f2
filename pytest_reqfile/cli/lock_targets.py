"""Which locks ``reqfile lock`` is about: of ai-rulez projects, and of a repository's requirements (issue 6.4)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_reqfile.cli.lock_around import Surroundings
from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.requirements import REQFILE_LOCK, requirements_lock
from pytest_reqfile.project.places import find_project, project_at, project_folders
from pytest_reqfile.project.values import Place
from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.program import current_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The projects, in order, and whether the requirements of the repository are meant, too."""

    places: tuple[Place, ...]
    requirements: bool

    @property
    def are_several(self) -> bool:
        return len(self.places) + self.requirements > 1


def find_targets(arguments: argparse.Namespace, around: Surroundings) -> Targets:
    """What the command is about.

    The project of the current folder (with ``-r`` all of the repository). The requirements where they are asked for,
    have a lock already, or are all there is. One statement is signed at a time: that of the requirements where they
    are asked for, else that of the project. Raises ``UsageError`` where there is nothing.
    """
    places = tuple(_places(arguments, around))
    about_entries = bool(arguments.names or arguments.kind or arguments.role or arguments.roles)
    requirements = not about_entries and _means_requirements(arguments, around, has_project=bool(places))
    if arguments.requirements and around.root is None:
        raise UsageError("--requirements: not inside a git repository")
    if not places and not requirements:
        raise UsageError(f"nothing to lock: no .ai-rulez project and no Reqfile.yaml in or above {current_folder()}")
    if arguments.subject and not arguments.recursive and places and requirements:
        return Targets(places=() if arguments.requirements else places, requirements=arguments.requirements)
    return Targets(places=places, requirements=requirements)


def _places(arguments: argparse.Namespace, around: Surroundings) -> Iterator[Place]:
    if not arguments.recursive:
        place = find_project(current_folder(), top=around.root, user_config=around.user_config())
        if place is not None:
            yield place
        return
    root = around.root
    if root is None:
        raise UsageError("--recursive: not inside a git repository")
    here = canonical(current_folder())
    for folder in project_folders(around.listed):
        if (root / folder).is_relative_to(here):
            place = project_at(root / folder, top=root)
            if place is not None:
                yield place


def _means_requirements(arguments: argparse.Namespace, around: Surroundings, *, has_project: bool) -> bool:
    if around.root is None:
        return False
    if arguments.requirements or requirements_lock(around.root).walk.kind(REQFILE_LOCK) is not None:
        return True
    return not has_project and any(path.rpartition("/")[2] == "Reqfile.yaml" for path in around.listed)
