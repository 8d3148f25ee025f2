"""A workspace in which commands can change nothing that matters (spec oracle.md 5.3, 5.5).

The strongest mode the machine offers is found by trying: an overlay over the reviewed folder itself, all else
read-only, no network and processes of its own (Linux); the same with the reviewed folder read-only; a full copy.
Whatever the mode, a write to the reviewed folder is seen.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pytest_reqfile.errors import FileError, UsageError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import remove_folder
from pytest_reqfile.workspace.locked_folder import locked_folder
from pytest_reqfile.workspace.manifest import Manifest, look_again, take_manifest
from pytest_reqfile.workspace.mounts import mounts_below, service_sockets
from pytest_reqfile.workspace.processes import Cancellation, CommandResult, run_command
from pytest_reqfile.workspace.tree_copy import copy_tree, outer_git_folders

Mode = Literal["overlay", "readonly-namespace", "copy", "external"]
Enforcement = Literal["kernel", "detect-only", "asserted"]
Network = Literal["off", "on"]
Request = Literal["auto", "overlay", "readonly-namespace", "copy", "external"]

_INIT: Final = Path(__file__).with_name("sandbox_init.py")
_TEMPORARY_FOLDERS: Final = ("/tmp", "/var/tmp")  # noqa: S108 - covered, not used
_PROBE_SECONDS: Final = 20.0
_INDEX_FILES: Final = frozenset({"index", "index.lock"})
_PREFIX: Final = "reqfile-oracle-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What holds for the commands of one workspace; goes into every receipt."""

    mode: Mode
    enforced: Enforcement
    network: Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A folder commands see a disposable version of: the reviewed one, and its git data where that is elsewhere."""

    lower: Path
    upper: Path
    work: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedRun:
    """How one command ended inside. ``prevented`` says why nothing was run, ``not_started`` why its program was not,
    ``no_folder`` why it could not be run in its folder.

    ``writes`` are paths it wrote to in the disposable workspace; ``changed`` are paths of the reviewed workspace that
    differ from when the workspace was prepared, and must be empty.
    """

    result: CommandResult
    prevented: str | None = None
    not_started: str | None = None
    no_folder: str | None = None
    writes: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """One way to isolate: what the init process is told besides the command."""

    isolation: Isolation
    user: bool = False
    private: bool = False


@dataclass(slots=True, kw_only=True)
class IsolatedWorkspace:
    """A prepared workspace: ``root`` is the reviewed folder, ``folder`` where commands find it.

    Commands run one after the other and see what earlier ones wrote. Made by ``isolated_workspace``.
    """

    root: Path
    folder: Path
    isolation: Isolation
    _scratch: Path
    _setup: _Setup
    _areas: tuple[Area, ...]
    _private_tmp: bool
    _watched: tuple[tuple[str, Path], ...]
    _baseline: tuple[Manifest, ...]

    @property
    def home(self) -> str:
        """An empty home folder for commands."""
        return f"{self.temporary}/home"

    @property
    def temporary(self) -> str:
        """A folder for temporary files, as commands see it."""
        return _TEMPORARY_FOLDERS[0] if self._private_tmp else str(self._scratch / "tmp")

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout: float,
        limit: int,
        cancel: Cancellation | None = None,
    ) -> IsolatedRun:
        """Run ``argv`` in the folder ``cwd`` (relative to the workspace) with exactly ``env``."""
        before = self._written()
        plan = self._plan(argv, cwd, env)
        run = self._execute(plan, timeout, limit, cancel)
        writes = before.changed(self._written())
        return IsolatedRun(
            result=run.result,
            prevented=run.prevented,
            not_started=run.not_started,
            no_folder=run.no_folder,
            writes=tuple(path for path in writes if path != "."),
            changed=self.changed(),
        )

    def changed(self) -> tuple[str, ...]:
        """Paths of the reviewed workspace that differ from when this one was prepared; outer git data by full path."""
        found: list[str] = []
        for (label, path), before in zip(self._watched, self._baseline, strict=True):
            found += (label + name for name in before.changed(look_again(path)))
        return tuple(found)

    def is_bookkeeping(self, path: str) -> bool:
        """Whether a changed ``path`` is git's index, or a folder of git data where a lock came and went.

        Looking at a repository writes so much: ``git status`` does.
        """
        return any(
            _is_bookkeeping(path.removeprefix(label), before, is_git=bool(label))
            for (label, _), before in zip(self._watched, self._baseline, strict=True)
            if path.startswith(label)
        )

    def _written(self) -> Manifest:
        """The disposable side: overlay uppers, or the copy. Read-only and external workspaces have none."""
        if not self._areas:
            return Manifest(entries={})
        return look_again(self._areas[0].upper)

    def _plan(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> dict[str, object]:
        overlays = self._areas if self.isolation.mode == "overlay" else ()
        return {
            "argv": list(argv),
            "cwd": os.path.join(self.folder, cwd),
            "environment": dict(env),
            "root": str(self.root),
            "folder": str(self.folder),
            "overlays": [
                {"lower": str(a.lower), "upper": str(a.upper), "work": str(a.work), "mounts": mounts_below(a.lower)}
                for a in overlays
            ],
            "private": self._setup.private,
            "hidden": service_sockets() if self._setup.private else [],
            "writable": [] if self._private_tmp else [str(self._scratch / "tmp")],
            "tmp": str(self._scratch / "tmp") if self._private_tmp else None,
            "temporary_folders": [folder for folder in _TEMPORARY_FOLDERS if os.path.isdir(folder)],
            "network": self.isolation.network,
            "user": self._setup.user,
            "uid": os.geteuid(),
            "gid": os.getegid(),
            "parent": os.getpid(),
        }

    def _execute(self, plan: dict[str, object], timeout: float, limit: int, cancel: Cancellation | None) -> IsolatedRun:
        token = secrets.token_hex(8)
        plan_path, status = self._scratch / f"plan-{token}.json", self._scratch / f"status-{token}.json"
        try:
            descriptor = os.open(plan_path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with open(descriptor, "w", encoding="utf-8") as stream:
                json.dump({**plan, "status": str(status)}, stream)
        except OSError as error:
            reason = f"cannot write to the scratch space in {self._scratch.parent}: {error.strerror}"
            return IsolatedRun(result=CommandResult(launch_error=reason), prevented=reason)
        result = run_command(
            (sys.executable, "-I", "-S", str(_INIT), str(plan_path)),
            cwd=Path("/"),
            env=Environment(variables={"PATH": os.defpath}),
            timeout=timeout,
            limit=limit,
            cancel=cancel,
        )
        plan_path.unlink(missing_ok=True)  # it holds the values of variables
        return _read_status(result, status)


def _is_bookkeeping(name: str, before: Manifest, *, is_git: bool) -> bool:
    inside = is_git or name.partition("/")[0] == ".git"
    return inside and (name.rpartition("/")[2] in _INDEX_FILES or before.is_folder(name))


def _read_status(result: CommandResult, status: Path) -> IsolatedRun:
    try:
        told = json.loads(status.read_text(encoding="utf-8") or "{}")
    except (OSError, ValueError):
        told = {}
    lost = told.get("lost")
    return IsolatedRun(
        result=result,
        prevented=told.get("setup") or lost,
        not_started=told.get("spawn"),
        no_folder=told.get("folder"),
    )


@contextmanager
def isolated_workspace(
    root: Path, env: Environment, request: Request = "auto", *, scratch_base: Path | None = None
) -> Iterator[IsolatedWorkspace]:
    """The strongest isolation there is for ``root``, or the one asked for; nothing of it is left afterwards.

    ``external`` runs in ``root`` itself: whoever asks for it asserts that it is isolated already. Raises
    ``UsageError`` with the reasons where what was asked for cannot be had, ``FileError`` where ``root`` cannot be read.
    """
    root = Path(os.path.realpath(root))
    base = Path(os.path.realpath(scratch_base or tempfile.gettempdir()))
    if base.is_relative_to(root):
        raise UsageError(f"no isolation for {root}: temporary files would lie in it; set TMPDIR to a folder elsewhere")
    with locked_folder(_PREFIX, base) as scratch:
        _make_home(scratch)
        watched = _watched(root)
        baseline = tuple(take_manifest(path) for _, path in watched)
        _refuse_pipes_for_git(watched, baseline)
        refusals: list[str] = []
        for setup in _candidates(request):
            try:
                workspace = _prepare(root, env, setup, scratch, watched, baseline)
                refusal = _refusal(workspace)
            except OSError as error:
                refusal = f"cannot use {error.filename}: {error.strerror}"
            if refusal is None:
                yield workspace
                return
            refusals.append(f"{setup.isolation.mode}: {refusal}")
        raise UsageError(f"no isolation for {root}: {'; '.join(dict.fromkeys(refusals))}")


def _refuse_pipes_for_git(watched: tuple[tuple[str, Path], ...], baseline: tuple[Manifest, ...]) -> None:
    """git would wait for ever for a pipe in place of its data, or of a ``.gitignore``."""
    for (label, path), manifest in zip(watched, baseline, strict=True):
        for name in manifest.pipes():
            if label or name.startswith(".git/") or name.rpartition("/")[2].startswith(".git"):
                raise FileError(f"{path}/{name}: a pipe where git reads a file, which would never end")


def _make_home(scratch: Path) -> None:
    try:
        (scratch / "tmp" / "home").mkdir(parents=True)
    except OSError as error:
        raise FileError(f"cannot use {scratch} as scratch space: {error.strerror}") from error


def _watched(root: Path) -> tuple[tuple[str, Path], ...]:
    outer = outer_git_folders(root)
    return (("", root),) if outer is None else (("", root), (f"{outer.common}/", outer.common))


def _candidates(request: Request) -> tuple[_Setup, ...]:
    """Every way to satisfy the request, strongest first."""
    linux = sys.platform == "linux"
    users = (False, True) if os.geteuid() == 0 else (True,)
    kernel_modes: tuple[Mode, ...] = ("overlay", "readonly-namespace") if linux else ()
    found = [
        _Setup(isolation=Isolation(mode=mode, enforced="kernel", network="off"), user=user, private=True)
        for mode in kernel_modes
        for user in users
    ]
    weak: tuple[tuple[Mode, Enforcement], ...] = (("copy", "detect-only"), ("external", "asserted"))
    for mode, enforced in weak:
        found += (
            _Setup(isolation=Isolation(mode=mode, enforced=enforced, network="off"), user=u) for u in users if linux
        )
        found.append(_Setup(isolation=Isolation(mode=mode, enforced=enforced, network="on")))
    wanted = [s for s in found if request in (s.isolation.mode, "auto")]
    return tuple(s for s in wanted if request == "external" or s.isolation.mode != "external")


def _prepare(
    root: Path,
    env: Environment,
    setup: _Setup,
    scratch: Path,
    watched: tuple[tuple[str, Path], ...],
    baseline: tuple[Manifest, ...],
) -> IsolatedWorkspace:
    mode = setup.isolation.mode
    folder, areas = root, tuple[Area, ...]()
    if mode == "overlay":
        areas = tuple(_area(path, scratch / f"area-{number}") for number, (_, path) in enumerate(watched))
    elif mode == "copy":
        folder = scratch / "copy" / "tree"
        if not folder.exists():
            (scratch / "copy").mkdir()
            copy_tree(root, scratch / "copy", env)
        areas = (Area(lower=root, upper=folder, work=folder),)
    return IsolatedWorkspace(
        root=root,
        folder=folder,
        isolation=setup.isolation,
        _scratch=scratch,
        _setup=setup,
        _areas=areas,
        _private_tmp=setup.private and not _leads_below_temporary(env, root),
        _watched=watched,
        _baseline=baseline,
    )


def _area(lower: Path, folder: Path) -> Area:
    """Empty folders: a failed try of another mode may have left marks in them."""
    if folder.exists():
        remove_folder(folder)
    (folder / "upper").mkdir(parents=True)
    (folder / "work").mkdir()
    (folder / "upper").chmod(lower.stat().st_mode & 0o7777)
    return Area(lower=lower, upper=folder / "upper", work=folder / "work")


def _leads_below_temporary(env: Environment, root: Path) -> bool:
    """Whether programs the commands need lie below /tmp, which then stays visible and read-only."""
    needed = [*(env.get("PATH") or "").split(os.pathsep), env.get("VIRTUAL_ENV") or "", sys.prefix, sys.base_prefix]
    outside = (os.path.realpath(path) for path in needed if path.startswith("/"))
    return any(
        path.startswith(f"{folder}/") and path != str(root) and not path.startswith(f"{root}/")
        for path in outside
        for folder in _TEMPORARY_FOLDERS
    )


def _refusal(workspace: IsolatedWorkspace) -> str | None:
    """Why the machine does not offer this isolation; None if a command ran in it and could not write outside."""
    outside = workspace._scratch / "probe"
    script = '(: >"$1") 2>/dev/null && exit 3; exit 0' if workspace.isolation.enforced == "kernel" else ":"
    run = workspace._execute(
        workspace._plan(("sh", "-c", script, "sh", str(outside)), "", {"PATH": os.defpath}),
        _PROBE_SECONDS,
        4096,
        None,
    )
    reason = run.prevented or run.not_started or run.no_folder
    if reason is not None or run.result.exit == 0:
        return reason
    if run.result.exit is not None:
        return "a command could write outside of it"
    return f"a probe did not end well ({signal.Signals(run.result.signal).name if run.result.signal else 'timeout'})"
