"""Commits of other repositories kept on this machine, each extracted to a folder (spec reqfile.md 1.6).

::

    objects.git/      what was fetched; no references, never pruned
    commits/<sha>/    the extracted tree of a commit; of a part of it ``<sha>-<name of the part>``
    manifests/<sha>   what the extracted tree must hold, so that a damaged one is noticed
    tags              ``owner/repo tag sha`` lines: the last resolution of each tag
    lock              held for a moment while one of these is replaced

Several processes may use it at once: everything is made aside and renamed into place.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, GitError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.extraction import WHOLE, ExtractedTree, Part, extract_tree, is_same_tree
from pytest_reqfile.workspace.files import exclusive_lock, remove_folder, write_atomic
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.git_call import GitReply

_TAG_LINE_FIELDS: Final = 3
_FOR_ITS_OWNER: Final = 0o700
"""What a private repository holds is not for others on this machine (spec/lock.md 6.2)."""
_STALE_SECONDS: Final = 24 * 60 * 60
_MAX_TAGS_BYTES: Final = 16 * 1024 * 1024


class BareStore(Git):
    """git on a bare repository that is named outright: neither its owner nor ``safe.bareRepository`` matters then."""

    def ask(self, args: Sequence[str], stdin: bytes | None = None) -> GitReply:
        return super().ask(("--git-dir=.", *args), stdin)


class SourceStore:
    """The store below ``folder``, which is made when something is first put there. Nothing here uses the network.

    Commits are full object ids. Raises FileError and GitError.
    """

    def __init__(self, folder: Path, environment: Environment) -> None:
        self.folder = folder
        self.objects = folder / "objects.git"
        self._environment = environment

    def extracted(self, commit: str) -> ExtractedTree | None:
        """The extracted tree of ``commit`` if it is here and whole; None otherwise."""
        return ExtractedTree.read(self._tree(commit), self._manifest(commit))

    def kept(self, commit: str, part: Part) -> Path | None:
        """The folder of an extracted part as it is now, whatever has been done to it; None if it is not here."""
        folder = self._tree(commit, part)
        return folder if folder.is_dir() and not folder.is_symlink() else None

    def has_commit(self, commit: str) -> bool:
        """Whether the bare store holds the commit."""
        return self.objects.is_dir() and _has(self._git(self.objects), commit)

    def is_sound(self, commit: str) -> bool:
        """Whether git finds nothing wrong with the bare store (or there is none yet), and the commit, if there, whole.

        Reads all of it. A fetch that was cut short may leave a commit whose files are missing.
        """
        fsck = ("fsck", "--no-dangling", "--no-progress", *((commit,) if self.has_commit(commit) else ()))
        return not self.objects.exists() or self._git(self.objects).ask(fsck).code == 0

    def receive(self, fetch: Callable[[Path], None], commit: str) -> bool:
        """Let ``fetch(store)`` bring the commit in; whether the store holds it then."""
        if not self.objects.is_dir():
            with self._staging("objects") as staged:
                self._make_bare(staged)
                self._install(staged, self.objects, replace=False)
        fetch(self.objects)
        return self.has_commit(commit)

    def receive_anew(self, fetch: Callable[[Path], None], commit: str) -> bool:
        """As ``receive``, in a new bare store, which replaces the damaged one once it holds the commit."""
        with self._staging("objects") as staged:
            self._make_bare(staged)
            fetch(staged)
            if not _has(self._git(staged), commit):
                return False
            self._install(staged, self.objects, replace=True)
            return True

    def receive_part(self, fetch: Callable[[Path], None], commit: str, part: Part) -> Path | None:
        """Extract a part of what ``fetch(store)`` brings into a bare store that is gone afterwards.

        Whatever is here of it is replaced unless it is the same to the last byte, so that nobody who reads it meanwhile
        is disturbed. None where the commit was not brought in.
        """
        place = self._tree(commit, part)
        with self._staging("objects") as store, self._staging("commit") as staged:
            self._make_bare(store)
            fetch(store)
            if not _has(self._git(store), commit):
                return None
            extract_tree(self._git(store), commit, staged, part)
            with self._locked():
                if not is_same_tree(place, staged):
                    self._replace(staged, place)
        return place

    def extract(self, commit: str) -> ExtractedTree:
        """Extract a commit the bare store holds; a tree that another process extracted meanwhile is taken as it is."""
        with self._staging("commit") as staged:
            manifest = extract_tree(self._git(self.objects), commit, staged)
            with self._locked():
                if self.extracted(commit) is None:
                    self._replace(staged, self._tree(commit))
                    write_atomic(self._manifest(commit), manifest, parents=True)
        tree = self.extracted(commit)
        if tree is None:
            raise FileError(f"cannot write {self._tree(commit)}: it changed while it was written")
        return tree

    def known_tag(self, repo: str, tag: str) -> str | None:
        """The commit that the tag pointed to when it was last resolved here."""
        return self._tags().get((repo, tag))

    def remember_tag(self, repo: str, tag: str, commit: str) -> None:
        """Keep a resolution for the time when the remote cannot be reached."""
        if self.known_tag(repo, tag) == commit:
            return
        with self._locked():
            tags = self._tags() | {(repo, tag): commit}
            lines = sorted(f"{repo} {tag} {oid}\n" for (repo, tag), oid in tags.items())
            write_atomic(self.folder / "tags", os.fsencode("".join(lines)))

    def _tags(self) -> dict[tuple[str, str], str]:
        """Lines that are not whole are left out: they only cost a resolution that was kept for bad times."""
        try:
            with (self.folder / "tags").open("rb") as stream:
                text = os.fsdecode(stream.read(_MAX_TAGS_BYTES))
        except OSError:
            return {}
        fields = (line.split(" ") for line in text.split("\n"))
        return {(f[0], f[1]): f[2] for f in fields if len(f) == _TAG_LINE_FIELDS and is_commit(f[2])}

    def _tree(self, commit: str, part: Part = WHOLE) -> Path:
        return self.folder / "commits" / _name(commit, part)

    def _manifest(self, commit: str) -> Path:
        return self.folder / "manifests" / commit

    def _git(self, store: Path) -> Git:
        return BareStore(store, self._environment)

    def _make_bare(self, folder: Path) -> None:
        Git(folder, self._environment).run(("init", "--quiet", "--bare", "--template=", "--object-format=sha1"))

    def _install(self, staged: Path, place: Path, *, replace: bool) -> None:
        with self._locked():
            if replace or not place.exists():
                self._replace(staged, place)

    def _replace(self, staged: Path, place: Path) -> None:
        """Move a staged folder to its place; what stood there is moved away first, then removed."""
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            old = staged.with_name(f"{staged.name}.old")
            with suppress(FileNotFoundError):
                place.rename(old)
            staged.rename(place)
        except OSError as error:
            raise FileError(f"cannot write {place}: {error.strerror}") from error
        if old.is_dir() and not old.is_symlink():
            remove_folder(old)
        else:
            old.unlink(missing_ok=True)

    @contextmanager
    def _staging(self, purpose: str) -> Iterator[Path]:
        """A new folder beside the final places, gone afterwards unless it was moved to one of them."""
        staged = self.folder / "staging" / f"{purpose}-{os.urandom(8).hex()}"
        try:
            self.folder.mkdir(mode=_FOR_ITS_OWNER, parents=True, exist_ok=True)
            staged.mkdir(parents=True)
            _sweep(staged.parent)
        except OSError as error:
            raise FileError(f"cannot write {staged}: {error.strerror}") from error
        try:
            yield staged
        finally:
            remove_folder(staged)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with exclusive_lock(self.folder / "lock"):
            yield


def _sweep(staging: Path) -> None:
    """Remove what processes that were killed have left behind; nothing takes a day to be extracted."""
    for entry in tuple(staging.iterdir()):
        with suppress(OSError):
            if time.time() - entry.lstat().st_mtime > _STALE_SECONDS:
                remove_folder(entry)


def _has(git: Git, commit: str) -> bool:
    try:
        return git.ask(("cat-file", "-e", f"{commit}^{{commit}}")).code == 0
    except GitError:
        return False


def _name(commit: str, part: Part) -> str:
    """Raises ValueError for what is no object id: nothing else becomes the name of a folder."""
    if not is_commit(commit):
        raise ValueError(f"expected a full object id, found {commit!r}")
    return f"{commit}-{part.name}" if part.name else commit


def is_commit(text: str) -> bool:
    """Whether ``text`` is a full object id, in the only spelling git writes."""
    return len(text) == 40 and not set(text) - set("0123456789abcdef")
