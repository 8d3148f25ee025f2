"""The languages of ast-grep: their names, and the files they are told by (spec reqfile.md 4.1)."""

from __future__ import annotations

from typing import Final

_EXTENSIONS: Final = {
    "bash": "bash bats cgi command env fcgi ksh sh tmux tool zsh",
    "c": "c h",
    "cpp": "cc hpp cpp c++ hh cxx cu ino",
    "csharp": "cs",
    "css": "css",
    "dart": "dart",
    "elixir": "ex exs",
    "go": "go",
    "haskell": "hs",
    "hcl": "hcl",
    "html": "html htm xhtml",
    "java": "java",
    "javascript": "cjs js mjs jsx",
    "json": "json",
    "kotlin": "kt ktm kts",
    "lua": "lua",
    "markdown": "md markdown",
    "nix": "nix",
    "php": "php",
    "python": "py py3 pyi bzl",
    "ruby": "rb rbw gemspec",
    "rust": "rs",
    "scala": "scala sc sbt",
    "solidity": "sol",
    "swift": "swift",
    "tsx": "tsx",
    "typescript": "ts cts mts",
    "yaml": "yaml yml",
}
_ALIASES: Final = {
    "c++": "cpp",
    "cc": "cpp",
    "cs": "csharp",
    "cxx": "cpp",
    "ex": "elixir",
    "golang": "go",
    "hs": "haskell",
    "js": "javascript",
    "jsx": "javascript",
    "kt": "kotlin",
    "md": "markdown",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sol": "solidity",
    "ts": "typescript",
    "yml": "yaml",
}
_BY_EXTENSION: Final = {extension: name for name, found in _EXTENSIONS.items() for extension in found.split()}


def canonical_language(name: str) -> str | None:
    """The name that requests carry for a language's name or alias in any case; None for one ast-grep lacks.

    Others must never reach ast-grep's Python binding, which ends the process over them.
    """
    lowered = name.lower()
    language = _ALIASES.get(lowered, lowered)
    return language if language in _EXTENSIONS else None


def language_of(path: str) -> str | None:
    """The language of a file by the last extension of its name; ``.env`` is a name without one, as for ast-grep."""
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    return _BY_EXTENSION.get(extension) if stem else None
