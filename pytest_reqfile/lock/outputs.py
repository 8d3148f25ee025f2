"""Generated files as they are on disk, without the lines that differ between equal renderings (spec/lock.md 4.2 f.).

ai-rulez pins what it renders in memory; without its generator this is the nearest thing. Unlike ``ai-rulez lock
--check`` ours is therefore red for a generated file that somebody edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.digest import file_leaf, mode_of, tree_digest
from pytest_reqfile.lock.values import OutputPin
from pytest_reqfile.project.manifest import read_manifest
from pytest_reqfile.project.values import Project
from pytest_reqfile.workspace.paths import name_of
from pytest_reqfile.workspace.walk import Walk

_PREFIXES: Final = (b"<!--", b"-->", b"//", b"#", b";", b"/*", b"*/")
_HASH_LINES: Final = (b"Content-Hash: ", b"Source-Hash: ")
_STAMP: Final = re.compile(rb"(?: \| )?Generated: [^\n]*")
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_MARKDOWN: Final = (".md", ".markdown", ".mdx", ".mdc", ".html")
_COMMENTS: Final = (b"#", b"//", b";", b"/*", b"*")
_FENCE: Final = b"---"
_SETTINGS: Final = (".json", ".jsonc", ".toml", ".yaml", ".yml")
_FOUND: Final = {"folder": "folder", "link": "symbolic link", "other": "special file"}
_SERVED_LINES: Final = 40
GONE: Final = "it is not on disk; run `ai-rulez generate`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The pins of the generated files on disk.

    ``missing`` are files that the list names and nothing is there, ``left_out`` settings documents that users may have
    a part in: they are pinned only where the lock pins them already. ``unread`` are files that cannot be looked at,
    each with the reason. ``listed`` says where the list comes from.
    """

    pins: tuple[OutputPin, ...]
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    listed: str


def pin_outputs(project: Project, pinned: Iterable[OutputPin]) -> Outputs:
    """Pin the files that the generator's manifest names, or if there is none, those that the lock ``pinned``.

    Raises ``FormatError`` for a manifest that cannot be read.
    """
    known = frozenset(output.path for output in pinned)
    manifest = read_manifest(project)
    stamped = has_stamp(project)
    pins: list[OutputPin] = []
    missing: list[str] = []
    left_out: list[str] = []
    unread: list[tuple[str, str]] = []
    for path in sorted(set(manifest.files if manifest is not None else known)):
        if _is_local(path):
            continue
        if path not in known and is_settings_document(path):
            left_out.append(path)
            continue
        try:
            pin = _pin(project.own.tree, path, stamped)
        except FileError as error:
            unread.append((path, str(error).removeprefix(f"{path}: ")))
            continue
        if pin is None:
            missing.append(path)
        else:
            pins.append(pin)
    return Outputs(
        pins=tuple(pins),
        missing=tuple(missing),
        left_out=tuple(left_out),
        unread=tuple(unread),
        listed=manifest.path if manifest is not None else "the lock",
    )


def _pin(tree: Walk, path: str, stamped: bool) -> OutputPin | None:
    kind = tree.kind(path)
    if kind is None:
        return None
    if kind != "file":
        raise FileError(f"{path}: expected a regular file, found a {_FOUND[kind]}; run `ai-rulez generate`")
    data = rendering(path, tree.read(path), stamped=stamped)
    leaf = file_leaf(path, data, mode_of(tree.is_executable(path)))
    return OutputPin(path=path, digest=tree_digest("output", [leaf]))


def has_stamp(project: Project) -> bool:
    """``[header] timestamp = true``: the only way a rendering has one."""
    header = project.config.tables.get("header")
    timestamp = header.node.get("timestamp") if header is not None else None
    return timestamp is not None and timestamp.value is True


def _is_local(path: str) -> bool:
    """Outputs of one machine, such as ``CLAUDE.local.md``, are never pinned."""
    return ".local." in name_of(path)


def is_settings_document(path: str) -> bool:
    """A data file at the project's top or directly in a tool's folder, such as ``.claude/settings.json``.

    Users may own a part of it, and it may hold resolved secrets; from its bytes alone that cannot be told.
    """
    return path.lower().endswith(_SETTINGS) and path.count("/") <= 1


def rendering(path: str, data: bytes, *, stamped: bool = False) -> bytes:
    """The bytes that were rendered, from those on disk: the header's hash lines (and the stamp) taken out.

    Only the frontmatter, a banner ``<!-- … -->`` at the start or right behind it, and (outside of Markdown) a leading
    comment block are a header; the body is never touched.
    """
    lines = _LINE.findall(data)
    markdown = path.lower().endswith(_MARKDOWN)
    start = _frontmatter_end(lines)
    end = _banner_end(lines, start)
    if end == start and start == 0 and not markdown:
        end = _comment_block_end(lines)
    kept = [line for line in lines[:start] if not _is_hash_line(line, bare=False)]
    kept += [line for line in lines[start:end] if not _is_hash_line(line, bare=True)]
    if stamped:
        kept = [_STAMP.sub(b"\r" if line.endswith(b"\r\n") else b"", line) for line in kept]
    return b"".join([*kept, *lines[end:]])


def served_text(data: bytes) -> bytes:
    """A served file without what changes while the skill does not: comment lines of its first 40 (spec/lock.md 2.9)."""
    lines = _LINE.findall(data)
    kept = [_served_line(line) for line in lines[:_SERVED_LINES]]
    return b"".join([*kept, *lines[_SERVED_LINES:]])


def _served_line(line: bytes) -> bytes:
    text = line.strip()
    if not text.startswith(_PREFIXES):
        return line
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    if text.strip().startswith(_HASH_LINES):
        return b""
    return _STAMP.sub(b"", line)


def _frontmatter_end(lines: list[bytes]) -> int:
    """The number of lines of the frontmatter with its fences; 0 where there is none."""
    if not lines or lines[0].rstrip() != _FENCE:
        return 0
    return next((number + 1 for number in range(1, len(lines)) if lines[number].rstrip() == _FENCE), 0)


def _banner_end(lines: list[bytes], start: int) -> int:
    """Where a banner that begins at ``start``, blank lines apart, ends; ``start`` where there is none."""
    first = next((number for number in range(start, len(lines)) if lines[number].strip()), len(lines))
    if first == len(lines) or not lines[first].lstrip().startswith(b"<!--"):
        return start
    return next((number + 1 for number in range(first, len(lines)) if b"-->" in lines[number]), start)


def _comment_block_end(lines: list[bytes]) -> int:
    """The number of lines at the start that are comments, up to the first blank one."""
    return next((n for n, line in enumerate(lines) if not line.strip().startswith(_COMMENTS)), len(lines))


def _is_hash_line(line: bytes, *, bare: bool) -> bool:
    text = line.strip()
    stripped = text
    for prefix in _PREFIXES:
        stripped = stripped.removeprefix(prefix)
    return stripped.strip().startswith(_HASH_LINES) and (bare or stripped != text)
