"""Which commands are refused before they run, and which weaken their own answer (spec oracle.md 5.4).

Reading the text is a courtesy to its author, not a boundary: that is the isolation.
"""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from typing import Final

from pytest_reqfile.oracle.mission import Command

_START: Final = (
    r"(?:^|[;&|(\n`{!]|\b(?:if|then|elif|else|while|until|do|exec|env|time|command|nohup|xargs|timeout\s+\S+)\s)\s*"
    r"(?:-\S+\s+)*(?:[A-Za-z_]\w*=\S*\s+)*(?:[\w./~$-]*/)?"
)
"""Where a command may begin in a shell text: after options of what starts it and assignments, with or without path."""
_END: Final = r"(?=\s|$|[;&|)])"


def _begins(words: str) -> re.Pattern[str]:
    return re.compile(_START + words + _END)


_REFUSED: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("it holds a NUL byte", re.compile("\0")),
    (
        "it holds an unfilled placeholder",
        re.compile(r"(?:^|\s)<[A-Za-z][\w .-]*>(?=\s|$)|\{\{[^{}]*\}\}|\$\{\w+:?\?[^{}]*\}"),
    ),
    ("it asks for privileges", _begins(r"(?:sudo|su|doas|pkexec)")),
    (
        "it installs",
        _begins(
            r"(?:(?:python[\d.]*\s+-m\s+)?pip[\d.]*\s+install|uv\s+(?:add|sync|pip\s+install)|poetry\s+(?:add|install)"
            r"|(?:npm|pnpm|yarn|bun)\s+(?:install|add|ci|i)|yarn(?:\s+--(?!version|help)\S+)*(?=\s*(?:$|[;&|)]))"
            r"|(?:apt|apt-get|dnf|yum|apk|brew)\s+(?:-\S+\s+)*(?:install|add)"
            r"|cargo\s+(?:install|add)|gem\s+install|go\s+install|pipx\s+install)"
        ),
    ),
    (
        "it changes a repository",
        _begins(
            r"(?:git\s+(?:(?:-[Cc]\s+\S+|-\S+)\s+)*(?:commit|push|pull|reset|checkout|switch|restore|merge|rebase"
            r"|tag\s+(?!-l|-n|-v|--list|--verify|--contains|--merged|--points-at)\S+|stash(?!\s+(?:list|show))"
            r"|clean(?!\s+(?:-\w*n|--dry-run))"
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
    ("it leaves the sandbox", _begins(r"(?:unshare|nsenter|mount|umount|chroot|pivot_root)")),
)

_MASKS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("`|| true` hides its exit code", re.compile(r"\|\|\s*\{?\s*(?:(?:/\S+/)?true|:|exit\s+0)(?=\s|$|[;&)])")),
    ("`|| echo` hides its exit code", re.compile(r"\|\|\s*(?:echo|printf)\b[^;&|\n]*(?=$|[;|\n)])")),
    ("`set +e` hides failures", re.compile(r"\bset\s+\+(?:\w*e|o\s+errexit)")),
    ("it ends in the background", re.compile(r"(?<!&)&\s*$")),
)
_LAST: Final = re.compile(r"(?:;|\n)\s*(?:(?:/\S+/)?true|:|exit\s+0|(?:echo|printf)\b[^;&|\n>]*)\s*;?\s*(?:#[^\n]*)?$")
_STOPS: Final = re.compile(r"\bset\s+-(?:\w*e|o\s+errexit)")
_CONDITION: Final = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_LONGEST_WORD: Final = 131_071
"""Bytes that Linux takes for one argument."""
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh"})
_PIPE: Final = re.compile(r"(?<![|>])\|(?!\|)")
_PIPEFAIL: Final = re.compile(r"(?:^|\s)-\w*o\s+pipefail")
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.")


def refusal(command: Command) -> str | None:
    """Why the command is unsafe to run, naming the rule; None if it may run."""
    if not command or (isinstance(command, str) and not command.strip()):
        return "it is empty"
    if any(len(os.fsencode(word)) > _LONGEST_WORD for word in ((command,) if isinstance(command, str) else command)):
        return f"it is longer than a command can be ({_LONGEST_WORD} bytes)"
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
    text = _without_conditions(_unquoted(command if isinstance(command, str) else _inner_script(command) or ""))
    found = [rule for rule, pattern in _MASKS if pattern.search(text)]
    if _LAST.search(text.rstrip()) and not _STOPS.search(text):
        found.append("it ends with a command that always succeeds")
    if _PIPE.search(text) and not _PIPEFAIL.search(text):
        found.append("only the last command of a pipeline counts")
    return tuple(found)


def _without_conditions(text: str) -> str:
    """``|`` within ``[[ ]]`` is no pipeline. What is not closed is left, so that each bracket is looked at once."""
    closed = text.rfind("]]") + 2 if "]]" in text else 0
    return _CONDITION.sub("", text[:closed]) + text[closed:]


def _texts_of(command: tuple[str, ...]) -> tuple[str, str]:
    script = _inner_script(command)
    if script is not None:
        return script, _unquoted(script)
    joined = shlex.join(command)
    return joined, joined


def _inner_script(command: tuple[str, ...]) -> str | None:
    """What ``bash -c`` and the like would run, also where another program starts them; after its options as ``set``."""
    shells = (number for number, word in enumerate(command) if word.rpartition("/")[2] in _SHELLS)
    words = command[next(shells, len(command)) + 1 :]
    for number, (word, after) in enumerate(pairwise(words)):
        if re.fullmatch(r"-\w*c", word):
            options = [option for option in (*words[:number], word.removesuffix("c")) if option != "-"]
            return f"set {' '.join(options)};\n{after}" if options else after
    return None


def _unquoted(text: str) -> str:
    """The text with quoted parts blanked: what only stands in a string is not run."""
    return _QUOTED.sub("''", text)
