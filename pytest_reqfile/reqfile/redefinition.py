"""Requirements that changed since the base are checked on more than what changed (seed 004 SELECTION; spec 5.3).

The two editions differ: 0.1 widens a requirement to its whole scope, 0.4 compares blocks file by file.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.reqfile.catalog import Catalog, load_catalog
from pytest_reqfile.reqfile.commit_tree import CommitTree
from pytest_reqfile.reqfile.discovery import REQFILE_NAME, Tree, in_reqfile_folder, is_declaration
from pytest_reqfile.reqfile.fingerprints import Fingerprints
from pytest_reqfile.reqfile.format import parse_reqfile
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.scopes import Scopes
from pytest_reqfile.reqfile.settings import CONFIG_NAME
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.workspace.paths import contains, folder_of, name_of

_CHANGED: Final = "changed"
"""Stands for the content of a changed asset: no object id, so it differs from what it was."""


class _NoTree:
    """The repository before its first commit."""

    listed: tuple[str, ...] = ()

    def is_regular(self, path: str) -> bool:
        del path
        return False

    def read_text(self, path: str) -> str:
        raise KeyError(path)


def _tree_at(repository: Repository, commit: str | None) -> Tree:
    return CommitTree(repository.git, commit) if commit is not None else _NoTree()


class WholeRequirement:
    """Edition 0.1: a requirement whose Reqfile, files or settings changed is checked on its whole scope."""

    def __init__(self, repository: Repository, commit: str | None, changed: frozenset[str]) -> None:
        self._repository = repository
        self._commit = commit
        self._changed = frozenset(filter(is_declaration, changed))
        self._config_folders = tuple(_config_folder(p) for p in self._changed if _is_live_config(p))

    def widened(self, requirement: Requirement, scopes: Scopes) -> tuple[str, ...]:
        """Every target in scope, or nothing."""
        return scopes.targets(requirement) if self._is_redefined(requirement) else ()

    def touches_examples(self, requirement: Requirement) -> bool:
        """Examples are among the files that make a requirement what it is."""
        return self._is_redefined(requirement)

    def _is_redefined(self, requirement: Requirement) -> bool:
        folder = requirement.folder
        return (
            any(contains(above, folder) or contains(folder, above) for above in self._config_folders)
            or any(reqfile in self._changed for reqfile, _ in _places(requirement))
            or _own_files_changed(requirement, self._changed)
            or any(f != folder and contains(folder, f) for f in self._vanished.get(requirement.id, ()))
        )

    @cached_property
    def _vanished(self) -> dict[str, set[str]]:
        """Folders that had a block of an id and have none now, so that files there fall to a block further up."""
        catalog = self._repository.catalog
        here = {(requirement.id, requirement.folder) for requirement in catalog.requirements}
        found: dict[str, set[str]] = {}
        for path in sorted(path for path in self._changed if name_of(path) == REQFILE_NAME):
            for identifier in self._ids_before(path):
                if (identifier, folder_of(path)) not in here:
                    found.setdefault(identifier, set()).add(folder_of(path))
        return found

    def _ids_before(self, path: str) -> tuple[str, ...]:
        """The ids of a Reqfile at the commit. What it said cannot be known where it was invalid: any id."""
        if in_reqfile_folder(path) or not self._before.is_regular(path):
            return ()
        try:
            return tuple(block.id for block in parse_reqfile(self._before.read_text(path), path).blocks)
        except ReqfileError:
            return tuple(requirement.id for requirement in self._repository.catalog.requirements)

    @cached_property
    def _before(self) -> Tree:
        return _tree_at(self._repository, self._commit)


def _places(requirement: Requirement) -> tuple[tuple[str, str], ...]:
    """The Reqfiles, with their folders, that say what the requirement is: its own, and a folder's it is taken from."""
    own = (requirement.location.path, requirement.folder)
    imported = requirement.imported
    if imported is None or imported.commit is not None:
        return (own,)
    return (own, (imported.definition.path, folder_of(imported.definition.path)))


def _own_files_changed(requirement: Requirement, changed: frozenset[str]) -> bool:
    """Whether a file of the requirement's own, examples included, is among ``changed``."""
    places = (f"{folder}/.reqfile" if folder else ".reqfile" for _, folder in _places(requirement))
    folders = tuple(f"{place}/{requirement.id}/" for place in places)
    return any(path.startswith(folders) for path in changed)


def _is_live_config(path: str) -> bool:
    """A config that sets something for targets; one inside of an example is the example's."""
    return (path == CONFIG_NAME or path.endswith(f"/{CONFIG_NAME}")) and not in_reqfile_folder(_config_folder(path))


def _config_folder(path: str) -> str:
    return folder_of(folder_of(path))


class BlockComparison:
    """Edition 0.4: a file is looked at again if the block that applies to it is not the one that did."""

    def __init__(self, repository: Repository, commit: str | None, changed: frozenset[str]) -> None:
        self._repository = repository
        self._commit = commit
        self._changed = changed

    def widened(self, requirement: Requirement, scopes: Scopes) -> tuple[str, ...]:
        """The targets in scope to which another block applied, or which were no targets."""
        if self._before.problems:
            return scopes.targets(requirement)
        folders: dict[str, bool] = {}
        found: list[str] = []
        for path in scopes.targets(requirement):
            folder = folder_of(path)
            if folder not in folders:
                folders[folder] = self._differs(requirement, folder)
            if folders[folder] or path in self._new_targets:
                found.append(path)
        return tuple(found)

    def touches_examples(self, requirement: Requirement) -> bool:
        """Examples are no part of a block's fingerprint, so they are looked for besides."""
        if self._before.problems or _own_files_changed(requirement, self._changed):
            return True
        return self._differs(requirement, requirement.folder)

    def _differs(self, requirement: Requirement, folder: str) -> bool:
        nearest = self._before.nearest_folder(requirement.id, folder)
        if nearest is None:
            return True
        before = self._blocks_before[requirement.id, nearest]
        return self._prints_before.of(before) != self._prints_now.of(requirement)

    @cached_property
    def _before(self) -> Catalog:
        tree = _tree_at(self._repository, self._commit)
        return load_catalog(tree, self._repository.root, self._repository, self._repository.trials)

    @cached_property
    def _blocks_before(self) -> dict[tuple[str, str], Requirement]:
        return {(requirement.id, requirement.folder): requirement for requirement in self._before.requirements}

    @cached_property
    def _new_targets(self) -> frozenset[str]:
        """Targets that were none: an exclusion was lifted."""
        discovery = self._before.discovery
        return frozenset(p for p in self._repository.catalog.discovery.candidates if not discovery.is_target(p))

    @cached_property
    def _prints_before(self) -> Fingerprints:
        return Fingerprints(self._before, self._content_before)

    @cached_property
    def _prints_now(self) -> Fingerprints:
        return Fingerprints(
            self._repository.catalog,
            lambda path: _CHANGED if path in self._changed else self._content_before(path),
        )

    def _content_before(self, path: str) -> str:
        """git says of every path whether it changed, with its filters and line endings applied: nothing is hashed."""
        tree = self._before.discovery.tree
        return tree.object_id(path) if isinstance(tree, CommitTree) else _CHANGED
