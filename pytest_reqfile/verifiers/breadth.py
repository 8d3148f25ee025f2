"""Proposed checks that would hit ordinary code everywhere (seed 000 "Suggesting verifiers"; spec/verifiers.md 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pytest_reqfile.syntax.patterns import compile_pattern
from pytest_reqfile.verifiers.predicates import TextMatch
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.verifiers.words import go_quoted

MAX_FILES: Final = 10
_WAY_OUT: Final = 'narrow the pattern or use in = "diff-added"'
EVERYDAY: Final = (
    *("open(", "read(", "write(", "json.load(", "json.loads(", "json.dump("),
    *("File::open", "fs.readFile(", "os.Getenv(", "fmt.Sprintf("),
    *("import os", "import sys", "import json"),
    'open("data.txt")',
    "open('data.txt')",
    'handle = open("data.txt")',
    'with open("data.txt") as handle:',
    "    with open('data.txt', 'w') as handle:",
    "data = handle.read()",
    "handle.write(data)",
    "data = json.load(handle)",
    "data = json.loads(text)",
    "json.dump(data, handle)",
    'let file = File::open("data.txt")?;',
    'const text = fs.readFile("data.txt", done);',
    'home := os.Getenv("HOME")',
    'text := fmt.Sprintf("%d", count)',
)
"""Calls of standard libraries as code has them everywhere."""


def too_broad(verifier: SpecVerifier, failing_files: Callable[[TextMatch], int]) -> str:
    """Why a ``forbid`` over existing lines is refused; empty where it is not.

    ``failing_files`` counts the files of the repository in which it fails today.
    """
    match = verifier.require
    if not isinstance(match, TextMatch) or not match.forbidden or match.where == "diff-added":
        return ""
    pattern = compile_pattern(match.pattern)
    for line in EVERYDAY:
        if pattern.search(line.encode()) is not None:
            return f"it forbids a common standard-library call (it matches {go_quoted(line)}) everywhere; {_WAY_OUT}"
    files = failing_files(match)
    if files > MAX_FILES:
        return f"it fails on {files} existing files (more than {MAX_FILES}), so it is too broad; {_WAY_OUT}"
    return ""
