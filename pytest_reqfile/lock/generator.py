"""Role outputs by the one program that can render them, in a scratch copy of the project (spec/lock.md 4.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pytest_reqfile.errors import ProcessError
from pytest_reqfile.lock.digest import file_leaf, mode_of, tree_digest
from pytest_reqfile.lock.outputs import has_stamp, rendering
from pytest_reqfile.lock.roles import RenderRole, RoleFiles
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.manifest import read_manifest
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.resources import GitView
from pytest_reqfile.project.values import Project
from pytest_reqfile.workspace.bulk import list_folder, regular_files
from pytest_reqfile.workspace.command_environment import command_environment
from pytest_reqfile.workspace.copies import copied_files
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.paths import below, relative_to_root
from pytest_reqfile.workspace.processes import CommandResult, run_command

TIMEOUT: Final = 300.0
_SKIPPED: Final = frozenset({".git"})
_MERGED: Final = ".claude/settings.json"


def render_with(program: str, project: Project, environment: Environment, view: GitView | None) -> RenderRole:
    """Renders with ``program generate --role NAME``.

    The program is started because the user named it; it sees no key or token, as what it renders comes from files that
    others may write. What it returns raises ``ProcessError`` where it fails.
    """
    files = _files(project, view)

    def render(role: str) -> RoleFiles:
        with copied_files(project.place.root, files) as copy:
            argv = (program, "generate", "--role", role, "--offline", "--no-local")
            result = run_command(argv, cwd=copy, env=command_environment(environment, ()), timeout=TIMEOUT)
            if result.exit != 0:
                raise ProcessError(f"cannot render role {role}: {program} {_end(result)}")
            return _rendered(copy)

    return render


def _rendered(copy: Path) -> RoleFiles:
    """What the manifest in the copy names, and the part of a merged document that is the generator's."""
    place = project_at(copy)
    project = load_project(place) if place is not None else None
    manifest = read_manifest(project) if project is not None else None
    if project is None or manifest is None:
        raise ProcessError("cannot render roles: the generator left no .generated-manifest.json")
    tree, stamped = project.own.tree, has_stamp(project)
    found: dict[str, tuple[tuple[bytes, bytes], str]] = {}
    for path in {*manifest.files, _MERGED}:
        if tree.kind(path) == "file":
            leaf = file_leaf(path, rendering(path, tree.read(path), stamped=stamped), mode_of(tree.is_executable(path)))
            found[path] = leaf, tree_digest("output", [leaf])
    return found


def _files(project: Project, view: GitView | None) -> tuple[str, ...]:
    root = project.place.root
    if view is None:
        return list_folder(root, _SKIPPED).files
    folder = relative_to_root(view.git.root, root)
    if folder is None:
        return list_folder(root, _SKIPPED).files
    inside = (below(path, folder) for path in view.git.list_files())
    return regular_files(root, [path for path in inside if path is not None])


def _end(result: CommandResult) -> str:
    if result.launch_error is not None:
        return f"could not be started: {result.launch_error}"
    if result.timed_out:
        return f"took longer than {TIMEOUT:g} seconds"
    said = (result.stderr or result.stdout).decode("utf-8", "replace").strip().partition("\n")[0]
    return f"exited {result.exit}" + (f": {said}" if said else "")
