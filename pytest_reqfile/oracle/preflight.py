"""Whether the program a command starts with exists, before a shell turns its absence into an exit code (spec 5.5)."""

from __future__ import annotations

import re
from typing import Final

_ASSIGNMENTS: Final = re.compile(r"\s*(?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|[^\s'\"`();&|<>])*\s+)*")
_SETS_PATH: Final = re.compile(r"(?:^|\s)PATH=")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_.+-]+(?=\s|$|[;&|<>])")
_OF_THE_SHELL: Final = frozenset(
    """
    if then elif else fi case esac for select while until do done in function time coproc
    alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable
    eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
    pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask
    unalias unset wait .
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)


def first_program(command: str) -> str | None:
    """The word a shell would look up on PATH first; None if it is a builtin, a path, or anything less plain."""
    start = _ASSIGNMENTS.match(command)
    if start is not None and _SETS_PATH.search(start.group()):
        return None
    word = _PLAIN_WORD.match(command, start.end() if start else 0)
    if word is None or word.group() in _OF_THE_SHELL:
        return None
    return word.group()
