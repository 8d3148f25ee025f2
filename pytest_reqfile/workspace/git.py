"""git, asked only through argument lists and hardened against what surrounds it (design 4; libraries.md 2)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.environment import Environment, for_git
from pytest_reqfile.workspace.git_ahead import (
    END_OF_OPTIONS,
    PLACE,
    Ahead,
    git_command,
    merging,
    place_of,
    resolving,
    thread_options,
)
from pytest_reqfile.workspace.git_call import GitCall, GitReply, unanswered
from pytest_reqfile.workspace.spawned import PATIENCE

if TYPE_CHECKING:
    from git.cmd import Git as GitCommand

_PLAIN_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--no-relative", "--no-color", f"-O{os.devnull}")
_MOST_PATHS: Final = 500
_RAW_DIFF: Final = (
    *("diff", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all"),
    *_PLAIN_DIFF,
)
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CANNOT_START: Final = frozenset({126, 127})
_REGULAR: Final = frozenset({"100644", "100755"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """One entry of a commit's tree: ``mode`` as git writes it (``100644``, ``100755``, ``120000``, ``160000``)."""

    path: str
    mode: str
    oid: str

    @property
    def is_regular(self) -> bool:
        return self.mode in _REGULAR


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedChange:
    """A tracked path that differs from a commit.

    ``was_file`` says it was a regular file there, ``gone`` that it is no longer tracked or no longer on disk.
    """

    path: str
    was_file: bool
    gone: bool


class Git:
    """git in one repository. ``root`` is the folder every command runs in; ``env`` is cleaned by ``for_git``.

    ``ahead`` are calls that have begun in the environment of this process, ``patience`` the seconds that an answer is
    waited for: what blocks git for ever is an error, and blocks nobody else.
    """

    def __init__(self, root: Path, env: Environment, ahead: Ahead | None = None, *, patience: float = PATIENCE) -> None:
        self.root = root
        self._patience = patience
        self._ahead = ahead
        self._given = env
        self._env = for_git(env)

    def run(self, args: Sequence[str], stdin: bytes | None = None, ok_codes: tuple[int, ...] = (0,)) -> bytes:
        """What ``git ARGS`` writes on stdout, as bytes.

        Raises ``GitError`` in the words of spec/reqfile.md 2.2 on an exit code outside ``ok_codes``, or if git is
        missing. Text from people goes after ``--end-of-options``, which the message leaves out.
        """
        return _checked(args, self.ask(args, stdin), ok_codes)

    def start(self, *args: str) -> GitCall:
        """``git ARGS`` in the background, its reply for later: for what every run asks (issue 3.5)."""
        argv = git_command(self.root, args)
        begun = self._ahead.take(argv) if self._ahead is not None else None
        if begun is not None:
            return GitCall(begun, _shown(args))
        return GitCall.start(argv, self._env, _shown(args), patience=self._patience)

    def has_begun(self, *args: str) -> bool:
        """Whether ``git ARGS`` was begun ahead and nobody has asked for its answer."""
        return self._ahead is not None and self._ahead.holds(git_command(self.root, args))

    def answer(self, *args: str) -> bytes:
        """What ``git ARGS`` writes on stdout, asked directly; raises as ``run`` does."""
        return _checked(args, self.start(*args).reply())

    def finish(self, call: GitCall, args: Sequence[str]) -> bytes:
        """What the call of ``git ARGS`` wrote on stdout; raises as ``run`` does."""
        return _checked(args, call.reply())

    def line(self, *args: str) -> str:
        """The output of ``git ARGS`` as text, without the final newline."""
        return os.fsdecode(self.run(args)).removesuffix("\n")

    def git_common_dir(self) -> Path:
        """The folder shared by all worktrees of the repository, absolute."""
        found = self.answer("rev-parse", "--path-format=absolute", "--git-common-dir")
        return Path(os.fsdecode(found.removesuffix(b"\n")))

    def is_shallow(self) -> bool:
        """Whether the history was cut off when cloning, so that a merge-base may be missing."""
        return self.line("rev-parse", "--is-shallow-repository") == "true"

    def head(self) -> str | None:
        """The object id of the commit that is checked out; None before the first commit."""
        args = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return os.fsdecode(_checked(args, self.start(*args).reply(), (0, 1))).strip() or None

    def resolve(self, rev: str) -> str:
        """The object id of the commit that ``rev`` names; whatever ``rev`` says, it is never read as an option."""
        return self.line("rev-parse", "--verify", END_OF_OPTIONS, f"{rev}^{{commit}}")

    def knows(self, rev: str) -> bool:
        """Whether ``rev`` names a commit."""
        return self.start(*resolving(rev)).reply().code == 0

    def merge_base(self, base_rev: str) -> str:
        """The object id of the commit where HEAD left ``base_rev`` (spec/reqfile.md 5.2)."""
        args = merging(base_rev)
        reply = self.start(*args).reply()
        try:
            found = os.fsdecode(_checked(args, reply))
        except GitError as error:
            raise GitError(
                f"cannot find the merge-base of {base_rev} and HEAD: {error}{self._merge_base_hint(reply)}"
            ) from None
        return found.partition("\n")[0]

    def _merge_base_hint(self, reply: GitReply) -> str:
        """What a reader should know beyond git's words: git says nothing at all of two unrelated histories."""
        facts = [] if reply.err else ["they have no common ancestor"]
        if self.start("rev-parse", "--verify", "--quiet", "HEAD^{commit}").reply().code != 0:
            facts.append("this repository has no commit yet, so nothing can be compared with it")
        elif self.start("rev-parse", "--is-shallow-repository").reply().out.strip() == b"true":
            facts.append("the clone is shallow, fetch its history first: git fetch --unshallow")
        return "".join(f"; {fact}" for fact in facts)

    def default_branch(self) -> str | None:
        """The remote's default branch such as ``origin/main``; None where ``origin/HEAD`` is not set."""
        reply = self.start("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").reply()
        if reply.code not in {0, 1}:
            raise GitError(f"cannot read origin/HEAD: {reply.err}")
        return os.fsdecode(reply.out).strip() or None

    def start_changes(self, commit: str) -> GitCall:
        """Let git compare ``commit`` (an object id) with the working tree, for ``read_changes`` later."""
        return self.start(*thread_options(), *_RAW_DIFF, END_OF_OPTIONS, _object_id(commit), "--")

    def read_changes(self, call: GitCall) -> tuple[TrackedChange, ...]:
        """The answer of ``start_changes``: every path that differs, untracked ones left out; byte order.

        Committed, staged, unstaged and deleted alike; a rename is a deletion and an addition (spec/reqfile.md 5.2).
        Submodules are no files, so what happens inside of them is not looked at.
        """
        return _tracked_changes(_checked(("diff",), call.reply()))

    def before_commit(self) -> Git:
        """git with the index that is going to be committed: ``git commit -a`` and ``git commit FILE`` make one of their
        own and tell hooks so in ``GIT_INDEX_FILE``. Only an index in this repository's git folder is taken.
        """
        index = self._given.get("GIT_INDEX_FILE")
        if not index:
            return self
        file = Path(os.path.realpath(self.root / index))
        folder = os.fsdecode(self.answer("rev-parse", "--absolute-git-dir").removesuffix(b"\n"))
        if file.parent != Path(os.path.realpath(folder)) or not file.is_file():
            return self
        git = Git(self.root, self._given, patience=self._patience)
        git._env = self._env.updated({"GIT_INDEX_FILE": str(file)})
        return git

    def staged_changes(self) -> tuple[TrackedChange, ...]:
        """Every path that differs between HEAD (nothing before the first commit) and what is to be committed."""
        return _tracked_changes(self.before_commit().answer(*_RAW_DIFF, "--cached", "--"))

    def untracked(self) -> tuple[str, ...]:
        """Paths that are neither tracked nor ignored, in byte order."""
        return _paths(_fields(self.answer("ls-files", "-z", "--others", "--exclude-standard")))

    def list_files(self) -> tuple[str, ...]:
        """Tracked and untracked paths that are not ignored, byte order; some may be missing or no regular files."""
        return _paths(_fields(self.answer("ls-files", "-z", "--cached", "--others", "--exclude-standard")))

    def tree_files(self, commit: str, *, here: bool = False) -> tuple[TreeFile, ...]:
        """Every file of a commit, submodules as entries of mode ``160000``, in git's order (byte order of paths).

        With ``here`` those at or below our folder, as seen from it.
        """
        whole = () if here else ("--full-tree",)
        out = self.run(("ls-tree", "-r", "-z", *whole, END_OF_OPTIONS, _object_id(commit)))
        return tuple(map(_tree_file, os.fsdecode(out).split("\0")[:-1]))

    def blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of blobs by object id, through one process whatever their number."""
        return self._objects(oids, "blob")

    def trees(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The content of tree objects, as git stores them."""
        return self._objects(oids, "tree")

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """How many bytes objects have; raises ``GitError`` if one is missing."""
        wanted = tuple(dict.fromkeys(map(_object_id, oids)))
        if not wanted:
            return {}
        asked = "".join(f"{oid}\n" for oid in wanted).encode()
        lines = os.fsdecode(self.run(("cat-file", "--batch-check=%(objectname) %(objectsize)"), asked)).splitlines()
        found = [line.partition(" ") for line in lines]
        if any(not size.isdecimal() for _, _, size in found):
            raise GitError("git cat-file --batch-check failed: an object of the commit is missing")
        return {oid: int(size) for oid, _, size in found}

    def _objects(self, oids: Iterable[str], kind: str) -> dict[str, bytes]:
        wanted = tuple(dict.fromkeys(map(_object_id, oids)))
        if not wanted:
            return {}
        out = self.run(("cat-file", "--batch"), stdin="".join(f"{oid}\n" for oid in wanted).encode())
        return dict(_batch(out, wanted, kind))

    def hashes(self, paths: Sequence[str]) -> dict[str, str]:
        """The object ids that git would give files of the working tree, its filters and line endings applied."""
        found: list[str] = []
        for start in range(0, len(paths), _MOST_PATHS):
            found += os.fsdecode(self.answer("hash-object", "--", *paths[start : start + _MOST_PATHS])).split()
        return dict(zip(paths, found, strict=True))

    def ask(self, args: Sequence[str], stdin: bytes | None = None) -> GitReply:
        """``git ARGS`` whatever its exit code; raises ``GitError`` only if git could not be started, or never ends."""
        from pytest_reqfile.workspace.files import readable_file

        git_type, not_found = _gitpython()
        prefix = self._clean_prefix()
        with nullcontext() if stdin is None else readable_file(stdin) as stream:
            try:
                process = git_type(self.root).execute(
                    [*prefix, *git_command(self.root, args)],
                    istream=stream,
                    as_process=True,
                    shell=False,
                    env=dict(self._env.variables),
                )
            except (not_found, OSError, ValueError) as error:
                raise GitError(f"could not run git: {error.__cause__ or error}") from error
            code, out, err = _ended(process, self._patience, _shown(args))
        message = os.fsdecode(err).strip()
        if prefix and code in _CANNOT_START:
            raise GitError(f"could not run git: {message}")
        return GitReply(code=code, out=out, err=message)

    def _clean_prefix(self) -> tuple[str, ...]:
        """``env -u`` for what git must not see: GitPython only adds our variables to those of the process."""
        unwanted = sorted(name for name in Environment.current().variables if name not in self._env.variables)
        return ("env", *(word for name in unwanted for word in ("-u", name))) if unwanted else ()


def nearest_repository(folder: Path) -> Path:
    """The folder at or above ``folder`` that holds a ``.git``; ``folder`` itself where none does. Starts no process."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def is_inside_repository(folder: Path) -> bool:
    """Whether ``folder`` or one above it holds a ``.git``. Starts no process."""
    return (nearest_repository(folder) / ".git").exists()


def refuse_unanswered(folder: Path, error: GitError) -> None:
    """Raise ``error`` where ``folder`` is in a repository all the same: what git ignores there nobody else can tell."""
    if is_inside_repository(folder):
        raise GitError(f"{error}; there is a .git in {nearest_repository(folder)}, so git must be asked") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlace:
    """Where a repository is: its canonical top folder, and the git folder that all of its worktrees share."""

    root: Path
    git_folder: Path


def find_repository(cwd: Path, env: Environment, ahead: Ahead | None = None) -> RepositoryPlace:
    """The repository that holds ``cwd``.

    Raises ``GitError`` "not inside a git repository" where there is none (also in a bare one); a repository that git
    refuses to read because somebody else owns it keeps git's own words, which say what to do.
    """
    reply = Git(cwd, env, ahead).start(*PLACE).reply()
    if reply.code != 0 and "dubious ownership" in reply.err:
        raise GitError(f"git rev-parse --show-toplevel failed: {reply.err}")
    root, git_folder = place_of(reply.code, reply.out)
    if not root:
        raise GitError("not inside a git repository")
    # The git folder is relative to where git was asked.
    return RepositoryPlace(root=Path(root), git_folder=Path(cwd, git_folder))


def discover_root(cwd: Path, env: Environment, ahead: Ahead | None = None) -> Path:
    """The top folder that ``find_repository`` finds."""
    return find_repository(cwd, env, ahead).root


def _gitpython() -> tuple[type[GitCommand], type[Exception]]:
    """GitPython, imported where first needed; importing it runs git, and fails where there is none."""
    try:
        from git.cmd import Git as Command
        from git.exc import GitCommandNotFound
    except ImportError as error:
        first = str(error).strip().partition("\n")[0]
        raise GitError(f"could not run git: {first} (is git installed and on PATH?)") from error
    return Command, GitCommandNotFound


def _ended(process: GitCommand.AutoInterrupt, patience: float, shown: str) -> tuple[int, bytes, bytes]:
    """Waited for here: GitPython's own limit is a thread that holds up the end of a program that was interrupted."""
    from subprocess import TimeoutExpired

    try:
        out, err = process.communicate(timeout=patience)
    except TimeoutExpired:
        process.kill()
        raise unanswered(shown) from None
    return process.returncode, out, err


def _tracked_changes(out: bytes) -> tuple[TrackedChange, ...]:
    """``:MODE MODE OID OID STATUS``, the path, and so on; a path in conflict (U) has an entry of its own besides."""
    words = os.fsdecode(out).split("\0")
    found: dict[str, TrackedChange] = {}
    for facts, path in zip(words[:-1:2], words[1::2], strict=True):
        was_file = facts.endswith("U") or facts[1:7] in _REGULAR
        known = found.get(path)
        gone = facts.endswith("D") and known is None
        found[path] = TrackedChange(path=path, was_file=was_file or (known is not None and known.was_file), gone=gone)
    return tuple(found[path] for path in sorted(found, key=os.fsencode))


def _checked(args: Sequence[str], reply: GitReply, ok_codes: tuple[int, ...] = (0,)) -> bytes:
    if reply.code not in ok_codes:
        raise GitError(f"git {_shown(args)} failed: {reply.err or f'exit code {reply.code}'}")
    return reply.out


def _shown(args: Sequence[str]) -> str:
    return " ".join(arg for arg in args if arg != END_OF_OPTIONS)


def _object_id(text: str) -> str:
    if not _OBJECT_ID.fullmatch(text):
        raise ValueError(f"expected a full object id, found {text!r}; resolve the revision first")
    return text


def _fields(out: bytes) -> set[bytes]:
    return set(out.split(b"\0")) - {b""}


def _paths(found: set[bytes]) -> tuple[str, ...]:
    """Decoded at once: a repository has tens of thousands of paths."""
    return tuple(os.fsdecode(b"\0".join(sorted(found))).split("\0")) if found else ()


def _tree_file(entry: str) -> TreeFile:
    facts, _, path = entry.partition("\t")
    mode, _, oid = facts.split(" ")
    return TreeFile(path=path, mode=mode, oid=oid)


def _batch(out: bytes, wanted: Sequence[str], expected: str) -> Iterator[tuple[str, bytes]]:
    """The answers of ``cat-file --batch``: ``OID TYPE SIZE``, the content, a newline; or ``OID missing``."""
    at = 0
    for oid in wanted:
        end = out.index(b"\n", at)
        kind, _, size = os.fsdecode(out[at:end]).partition(" ")[2].partition(" ")
        if kind != expected:
            raise GitError(f"git cat-file --batch failed: expected the {expected} {oid}, found {kind or 'nothing'}")
        start, at = end + 1, end + 2 + int(size)
        yield oid, out[start : at - 1]
