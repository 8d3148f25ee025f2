"""The rules of design 4 and 6 that a program can check, as functions from source text to complaints."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

PACKAGE: Final = "pytest_reqfile"
LONGEST_FUNCTION: Final = 60
LONGEST_FILE: Final = 400

FRONTS: Final = frozenset({"plugin", "cli"})
SUBJECTS: Final = frozenset({"reqfile", "verifiers", "lock", "oracle", "project", "reports"})
_LAYERS: Final = {
    **dict.fromkeys(FRONTS, 4),
    **dict.fromkeys(SUBJECTS, 3),
    "outcome": 2,
    "rates": 2,
    "syntax": 1,
    "workspace": 1,
    "errors": 0,
    "": 0,  # the package itself: its version
}
_SIDEWAYS: Final = frozenset({("verifiers", "project"), ("lock", "project")})
_ENTRY_POINTS: Final = {"__main__": 5}
_OUTSIDE_MODULES: Final = frozenset(
    {"subprocess", "socket", "time", "http", "urllib", "tempfile", "shutil", "fcntl", "multiprocessing", "sqlite3"}
)
_PURE_PARTS: Final = frozenset({"urllib.parse", "http.HTTPStatus"})
_OUTSIDE_OF_OS: Final = frozenset({"fsencode", "fsdecode", "fspath", "path", "sep", "linesep", "PathLike", "devnull"})
_OUTSIDE_OF_PATH: Final = frozenset(
    {"join", "normpath", "basename", "dirname", "split", "splitext", "commonpath", "isabs"}
)
_BARE_PATH_METHODS: Final = frozenset(
    {
        *("read_text", "read_bytes", "open", "exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "iterdir"),
        *("mkdir", "rmdir", "unlink", "touch", "readlink", "resolve", "expanduser", "cwd", "home"),
    }
)
"""Methods by which a ``pathlib.Path`` reaches the disk without a positional argument; a call that has one, such as
``snapshot.read_text(path)`` or ``git.resolve(rev)``, is one of ours."""
_PATH_METHODS: Final = frozenset({"write_text", "write_bytes", "rglob", "chmod", "rename", "symlink_to", "hardlink_to"})
_CLOCKS: Final = frozenset({"datetime.now", "datetime.utcnow", "datetime.today", "date.today"})
_STANDARD_STREAMS: Final = frozenset({"sys.stdin", "sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of the package: ``name`` is dotted without the package (``reqfile.config``, ``errors``, ``""``)."""

    name: str
    source: str

    @property
    def part(self) -> str:
        """The folder or top-level module it belongs to."""
        return self.name.partition(".")[0]

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


def complaints(module: Module) -> list[str]:
    """Everything wrong with one module, in line order."""
    tree = module.tree
    found = [
        *_imports(module, tree),
        *_outside_world(module, tree),
        *_printing(module, tree),
        *([] if module.part == "plugin" else broad_excepts(tree)),
        *_sizes(module, tree),
    ]
    return [f"{module.name or PACKAGE}:{line}: {text}" for line, text in sorted(found)]


def imported(module: Module, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Absolute dotted names that a module imports, anywhere in it, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, f"{PACKAGE}.relative-import"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _imports(module: Module, tree: ast.Module) -> Iterator[tuple[int, str]]:
    for line, name in imported(module, tree):
        top, _, rest = name.partition(".")
        if top in {"pytest", "_pytest", "pluggy", "xdist"} and module.part != "plugin":
            yield line, f"imports {top}, which only plugin/ may"
        if top == PACKAGE:
            yield from ((line, text) for text in _arrow(module, rest.partition(".")[0]))


def _arrow(module: Module, target: str) -> Iterator[str]:
    if target == "relative-import":
        yield "imports relatively; write the absolute name"
        return
    own, other = module.part, target if target in _LAYERS else ""
    if own == other:
        return
    if own not in _LAYERS and own not in _ENTRY_POINTS:
        yield f"belongs to no part of design 4: {own}"
        return
    height, below = _ENTRY_POINTS.get(own, _LAYERS.get(own, 0)), _LAYERS[other]
    if below > height:
        yield f"imports {other}, which is above {own or PACKAGE}"
    elif below == height and (own, other) not in _SIDEWAYS:
        yield f"imports {other}, which is beside {own}"


def _outside_world(module: Module, tree: ast.Module) -> Iterator[tuple[int, str]]:
    if module.part == "workspace":
        return
    for line, name in imported(module, tree):
        top = name.partition(".")[0]
        pure = any(name == part or name.startswith(f"{part}.") for part in _PURE_PARTS)
        if (top in _OUTSIDE_MODULES and not pure) or top == "git":
            yield line, f"imports {name}, which only workspace/ may"
        if top == "os" and name.count(".") == 1 and name.partition(".")[2] not in _OUTSIDE_OF_OS:
            yield line, f"imports {name}, which only workspace/ may"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield from ((node.lineno, text) for text in _attribute(node))
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, text) for text in _call(node))


def _attribute(node: ast.Attribute) -> Iterator[str]:
    owner = ast.unparse(node.value)
    if (owner == "os" and node.attr not in _OUTSIDE_OF_OS) or (
        owner == "os.path" and node.attr not in _OUTSIDE_OF_PATH
    ):
        yield f"uses {owner}.{node.attr}, which only workspace/ may"


def _call(node: ast.Call) -> Iterator[str]:
    called = node.func
    text = ast.unparse(called)
    bare = isinstance(called, ast.Attribute) and called.attr in _BARE_PATH_METHODS and not node.args
    path = isinstance(called, ast.Attribute) and called.attr in _PATH_METHODS
    clock = any(text == each or text.endswith(f".{each}") for each in _CLOCKS)
    if bare or path or clock or text in {"open", "input", "io.open"}:
        yield f"calls {text}(), which only workspace/ may"


def _printing(module: Module, tree: ast.Module) -> Iterator[tuple[int, str]]:
    if module.part == "cli":
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield node.lineno, "prints, which only cli/ may"
        if isinstance(node, ast.Attribute) and ast.unparse(node) in _STANDARD_STREAMS:
            yield node.lineno, f"uses {ast.unparse(node)}, which only cli/ may"


def broad_excepts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Handlers that swallow whatever comes; plugin/ may have a single one, at the item boundary (design 6.5)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and not _ends_in_raise(node):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(each is None or ast.unparse(each) in {"Exception", "BaseException"} for each in caught):
                yield node.lineno, "catches everything"


def _ends_in_raise(handler: ast.ExceptHandler) -> bool:
    """Cleaning up and passing the exception on is no broad except."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _sizes(module: Module, tree: ast.Module) -> Iterator[tuple[int, str]]:
    lines = module.source.count("\n")
    if lines > LONGEST_FILE:
        yield lines, f"has {lines} lines, more than {LONGEST_FILE}: split it by noun"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                yield node.lineno, f"{node.name} has {length} lines, more than {LONGEST_FUNCTION}"
