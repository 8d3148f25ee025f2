"""Which commands are refused before they run, and which weaken their own answer (spec oracle.md 5.4).

Reading the text is a courtesy to its author, not a boundary: that is the isolation.
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Final

from pytest_reqfile.oracle.mission import Command

_START: Final = r"(?:^|[;&|(\n]|\b(?:then|do|else|exec|env|time|xargs)\s)\s*(?:[A-Za-z_]\w*=\S*\s+)*"
"""Where a command may begin in a shell text, assignments before it included."""
_END: Final = r"(?=\s|$|[;&|)])"


def _begins(words: str) -> re.Pattern[str]:
    return re.compile(_START + words + _END)


_REFUSED: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("it holds a NUL byte", re.compile("\0")),
    (
        "it holds an unfilled placeholder",
        re.compile(r"(?:^|\s)<[A-Za-z][\w .-]*>(?=\s|$)|\{\{[^}]*\}\}|\$\{\w+:?\?[^}]*\}"),
    ),
    ("it asks for privileges", _begins(r"(?:sudo|su|doas|pkexec)")),
    (
        "it installs",
        _begins(
            r"(?:(?:python[\d.]*\s+-m\s+)?pip[\d.]*\s+install|uv\s+(?:add|sync|pip\s+install)|poetry\s+(?:add|install)"
            r"|(?:npm|pnpm|yarn|bun)\s+(?:install|add|ci|i)|yarn|(?:apt|apt-get|dnf|yum|apk|brew)\s+(?:-\S+\s+)*(?:install|add)"
            r"|cargo\s+(?:install|add)|gem\s+install|go\s+install|pipx\s+install)"
        ),
    ),
    (
        "it changes a repository",
        _begins(
            r"(?:git\s+(?:-\S+\s+(?:\S+=\S+\s+)?)*(?:commit|push|pull|reset|checkout|switch|restore|merge|rebase|tag\s+\S+|stash|clean"
            r"|cherry-pick|revert|am|gc|update-ref|branch\s+-[dDmM]|config\s+(?!--get|--list|-l)\S+\s+\S+)"
            r"|(?:gh|tea|glab)\s+\w+\s+(?:merge|create|close|delete|edit))"
        ),
    ),
    (
        "it changes something over the network",
        _begins(
            r"(?:(?:curl|wget)\s[^;&|\n]*(?:-X\s*(?:POST|PUT|DELETE|PATCH)|--request[ =](?:POST|PUT|DELETE|PATCH)"
            r"|--data\S*|--post\S*|\s-d\s?|--upload-file|\s-T\s?|\s-F\s)[^;&|\n]*|ssh|scp|sftp|rsync\s[^;&|\n]*\w:\S*"
            r"|(?:docker|podman)\s+push|npm\s+publish|twine\s+upload)"
        ),
    ),
    ("it leaves the sandbox", _begins(r"(?:\S*/)?(?:unshare|nsenter|mount|umount|chroot|pivot_root)")),
)

_MASKS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("`|| true` hides its exit code", re.compile(r"\|\|\s*(?:true|:|exit\s+0)(?=\s|$|[;&)])")),
    ("it ends with a command that always succeeds", re.compile(r"(?:;|\n)\s*(?:true|:|exit\s+0|exit)\s*;?\s*$")),
    ("`set +e` hides failures", re.compile(r"\bset\s+\+(?:\w*e|o\s+errexit)")),
    ("it ends in the background", re.compile(r"(?<!&)&\s*$")),
)
_PIPE: Final = re.compile(r"(?<![|>])\|(?!\|)")
_PIPEFAIL: Final = re.compile(r"\bset\s+-\w*o\s+pipefail|\bset\s+-o\s+pipefail|-o\s+pipefail")
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.")


def refusal(command: Command) -> str | None:
    """Why the command is unsafe to run, naming the rule; None if it may run."""
    if not command or (isinstance(command, str) and not command.strip()):
        return "it is empty"
    if not isinstance(command, str) and any("\0" in word for word in command):
        return "it holds a NUL byte"
    texts = (command, _unquoted(command)) if isinstance(command, str) else _texts_of(command)
    placeholders = texts[0]
    for rule, pattern in _REFUSED:
        if pattern.search(placeholders if "placeholder" in rule or "NUL" in rule else texts[-1]):
            return rule
    return None


def masks(command: Command) -> tuple[str, ...]:
    """Constructs by which a failing command may still end well, so that its answer says less (spec 5.8 "low")."""
    text = _unquoted(command if isinstance(command, str) else _inner_script(command) or "")
    found = [rule for rule, pattern in _MASKS if pattern.search(text)]
    if _PIPE.search(text) and not _PIPEFAIL.search(text):
        found.append("only the last command of a pipeline counts")
    return tuple(found)


def _texts_of(command: tuple[str, ...]) -> tuple[str, str]:
    script = _inner_script(command)
    if script is not None:
        return script, _unquoted(script)
    joined = shlex.join(command)
    return joined, joined


def _inner_script(command: tuple[str, ...]) -> str | None:
    """What ``bash -c`` and the like would run."""
    shell = command[0].rpartition("/")[2] in {"sh", "bash", "dash", "zsh"}
    pairs = pairwise(command) if shell else ()
    return next((after for word, after in pairs if re.fullmatch(r"-\w*c", word)), None)


def _unquoted(text: str) -> str:
    """The text with quoted parts blanked: what only stands in a string is not run."""
    return _QUOTED.sub("''", text)
