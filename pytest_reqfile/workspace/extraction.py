"""A commit's files written to a folder exactly as committed, and nothing outside of it (spec reqfile.md 1.6, 9).

``git archive`` would leave out what ``export-ignore`` names, a checkout would run filters and change line ends; blobs
are copied instead. Names come from another repository, so each is judged before anything is written.
"""

from __future__ import annotations

import filecmp
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, WorkspaceError
from pytest_reqfile.workspace.git import Git, TreeFile
from pytest_reqfile.workspace.hashing import is_real_folder, list_tree
from pytest_reqfile.workspace.paths import ancestors, folder_of
from pytest_reqfile.workspace.tree_listing import CommitTree, TooLargeError

MAX_FILES: Final = 200_000
MAX_BYTES: Final = 1024 * 1024 * 1024
_LISTED_FOR_EACH: Final = 4
"""Folders, submodules and links that lead out are listed besides the files that count."""
_BYTES_AT_ONCE: Final = 32 * 1024 * 1024
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_EXECUTABLE: Final = "100755"
_SYMLINK: Final = "120000"
_FORBIDDEN_NAMES: Final = frozenset({"", ".", "..", ".git"})
_HEADER: Final = "reqfile-manifest 1"


HasFolder = Callable[[str], bool]
"""Whether a real folder is at a path of a commit."""


class NoSuchPartError(WorkspaceError):
    """A commit does not have the folder that is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What of a commit is extracted, and how.

    ``choose`` picks the folder, which becomes the root; ``what`` names it where there is none. ``name`` tells this part
    of a commit from others of the same commit. ``exact`` is for what is pinned and read by those who follow no link:
    every symlink is made as it is written (else those that lead out are left out), and names that some disks take for
    one are refused. ``without`` are files of the folder itself that are no content.
    """

    name: str = ""
    what: str = ""
    choose: Callable[[HasFolder], str | None]
    max_files: int = MAX_FILES
    max_bytes: int = MAX_BYTES
    exact: bool = False
    without: frozenset[str] = frozenset()


WHOLE: Final = Part(choose=lambda _: "")
"""The whole commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedTree:
    """An extracted commit as a listing: the files it was extracted with, whatever was put beside them since."""

    root: Path
    paths: tuple[str, ...]

    def list_files(self) -> tuple[str, ...]:
        """Repository paths of its files and symlinks, in git's order."""
        return self.paths

    @classmethod
    def read(cls, root: Path, manifest: Path) -> ExtractedTree | None:
        """The tree at ``root`` if every file of its manifest is there in its full size; None otherwise."""
        try:
            header, *records = os.fsdecode(manifest.read_bytes()).removesuffix("\0").split("\0")
        except OSError:
            return None
        if header != f"{_HEADER} {len(records)}" or not root.is_dir() or root.is_symlink():
            return None
        paths = tuple(record.partition("\t")[2] for record in records)
        whole = all(_is_whole(root, record) for record in records)
        return cls(root=root, paths=paths) if whole else None


def extract_tree(git: Git, commit: str, folder: Path, part: Part = WHOLE) -> bytes:
    """Write the files of ``commit`` into the empty ``folder``; returns the manifest that ``ExtractedTree.read`` takes.

    Submodules are left out, and symlinks that lead out of the tree unless the ``part`` is ``exact``. Raises
    WorkspaceError for a name that would leave the folder, for a tree beyond its limits, and for whatever cannot be
    written.
    """
    entries = _listed(CommitTree(git=git, commit=commit), part)
    _refuse_names(commit, entries)
    if part.exact:
        _refuse_twins(commit, entries)
    sizes = git.sizes(entry.oid for entry in entries)
    if len(entries) > part.max_files or sum(sizes[entry.oid] for entry in entries) > part.max_bytes:
        raise _too_large(commit, part)
    try:
        links = _write_files(git, entries, sizes, folder)
        kept = _write_links(links, folder, every=part.exact)
    except OSError as error:
        place = os.fsdecode(error.filename2 or error.filename or folder)
        raise FileError(f"cannot write {place}: {error.strerror}") from error
    written = [entry for entry in entries if entry.is_regular or entry.path in kept]
    records = (f"{entry.mode} {sizes[entry.oid]}\t{entry.path}" for entry in written)
    return os.fsencode("\0".join((f"{_HEADER} {len(written)}", *records)) + "\0")


def _listed(tree: CommitTree, part: Part) -> tuple[TreeFile, ...]:
    """The files and symlinks that are meant."""
    folder = part.choose(tree.has_folder)
    if folder is None:
        raise NoSuchPartError(f"commit {tree.commit} has no {part.what}")
    try:
        files = tree.files(folder, _LISTED_FOR_EACH * part.max_files)
    except TooLargeError as error:
        raise TooLargeError(f"{_too_large(tree.commit, part)}; {error}") from error
    wanted = (file for file in files if file.path not in part.without)
    return tuple(file for file in wanted if file.is_regular or file.mode == _SYMLINK)


def _too_large(commit: str, part: Part) -> TooLargeError:
    limits = f"at most {part.max_files} files and {part.max_bytes // 1024**2} MiB"
    return TooLargeError(f"commit {commit} is too large to be a source: {limits}")


def _refuse_names(commit: str, entries: Iterable[TreeFile]) -> None:
    """git itself writes none of these; a tree that holds one was made by hand, to escape from where it is put."""
    for entry in entries:
        if _FORBIDDEN_NAMES.intersection(entry.path.lower().split("/")):
            raise WorkspaceError(f"commit {commit} is refused: its tree holds the unsafe path {entry.path!r}")


def _refuse_twins(commit: str, entries: Iterable[TreeFile]) -> None:
    """Where a disk takes two names for one, only one of their files would be there: no digest could hold everywhere."""
    spelled: dict[str, str] = {}
    for entry in entries:
        for path in (entry.path, *ancestors(folder_of(entry.path))[:-1]):
            first = spelled.setdefault(unicodedata.normalize("NFC", path.casefold()), path)
            if first != path:
                raise WorkspaceError(
                    f"commit {commit} is refused: its tree holds {first!r} and {path!r}, which are one on some disks"
                )


def _write_files(
    git: Git, entries: Iterable[TreeFile], sizes: dict[str, int], folder: Path
) -> tuple[tuple[str, bytes], ...]:
    """Write the regular files; the symlinks are returned with their targets, to be made when all files are there."""
    links: list[tuple[str, bytes]] = []
    for batch in _batches(entries, sizes):
        contents = git.blobs(entry.oid for entry in batch)
        for entry in batch:
            if entry.is_regular:
                _write_file(folder / entry.path, contents[entry.oid], executable=entry.mode == _EXECUTABLE)
            else:
                links.append((entry.path, contents[entry.oid]))
    return tuple(links)


def _batches(entries: Iterable[TreeFile], sizes: dict[str, int]) -> Iterator[list[TreeFile]]:
    batch: list[TreeFile] = []
    held = 0
    for entry in entries:
        if batch and held + sizes[entry.oid] > _BYTES_AT_ONCE:
            yield batch
            batch, held = [], 0
        batch.append(entry)
        held += sizes[entry.oid]
    yield batch


def _write_file(path: Path, content: bytes, *, executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, _NEW_FILE, 0o777 if executable else 0o666)  # the umask applies
    with open(descriptor, "wb") as stream:
        stream.write(content)


def _write_links(links: Iterable[tuple[str, bytes]], folder: Path, *, every: bool) -> frozenset[str]:
    """Make the symlinks that stay inside the tree, wherever their chain leads, or ``every`` one that can be made.

    Returns the paths of those that were kept.
    """
    usable = [
        (path, target) for path, target in links if target and b"\0" not in target and (every or target[:1] != b"/")
    ]
    for path, _ in usable:  # all folders before the first link: none is ever made through one
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    for path, target in usable:
        os.symlink(target, os.fsencode(folder / path))
    border = Path(os.path.realpath(folder))
    outside = [path for path, _ in usable if not every and not _leads_into(border, folder / path)]
    for path in outside:
        (folder / path).unlink()
    return frozenset(path for path, _ in usable).difference(outside)


def _leads_into(border: Path, link: Path) -> bool:
    return Path(os.path.realpath(link)).is_relative_to(border)


def _is_whole(root: Path, record: str) -> bool:
    facts, _, path = record.partition("\t")
    mode, _, size = facts.partition(" ")
    try:
        found = os.lstat(root / path)
    except (OSError, ValueError):
        return False
    if mode == _SYMLINK:
        return stat.S_ISLNK(found.st_mode)
    executable = mode != _EXECUTABLE or bool(found.st_mode & stat.S_IXUSR)
    return stat.S_ISREG(found.st_mode) and str(found.st_size) == size and executable


def is_same_tree(one: Path, other: Path) -> bool:
    """Whether two folders hold the same to the last byte: names, links, execute bits of owners, contents."""
    try:
        if not is_real_folder(one):
            return False
        entries = list_tree(one)
        return entries == list_tree(other) and all(_is_same(one, other, *entry) for entry in entries)
    except (OSError, FileError):
        return False


def _is_same(one: Path, other: Path, path: str, kind: str) -> bool:
    first, second = one / path, other / path
    if kind == "link":
        return os.readlink(first) == os.readlink(second)
    modes = (os.lstat(file).st_mode & stat.S_IXUSR for file in (first, second))
    return kind == "file" and len(set(modes)) == 1 and filecmp.cmp(first, second, shallow=False)
