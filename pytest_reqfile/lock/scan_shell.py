"""Shell commands the security scan looks for: AR005 and AR006 (spec/airulez-project.md 7)."""

from __future__ import annotations

import re
from typing import Final

from pytest_reqfile.lock.scan_patterns import Shape

_BLANK: Final = r"(?:[ \t]|\\\r?\n)"
_REST: Final = r"(?:\\\r?\n|[^\n])*?"
"""The rest of a command line, which a backslash continues."""

_PATH: Final = r"(?:[\w./~-]*/)?"
_BEFORE: Final = (
    rf"(?:{_PATH}(?:sudo|doas|env|exec|command|nohup|time|busybox|xargs)(?:{_BLANK}+[^\s|&;]+){{0,4}}{_BLANK}+)?"
)
_WRAPPED: Final = r"[\"'\\({\s]*"
"""Quotes, groups and the backslash that passes over an alias: the program behind them is the same."""
_SHELL: Final = rf"(?:{_PATH}(?:ba|da|z|k|a|fi|c|tc)?sh|\$\{{?(?:SHELL|BASH)\}}?)"
_INTERPRETER: Final = rf"{_PATH}(?:python[0-9.]*|perl|ruby|node|php|lua|pwsh|osascript|tclsh|(?:bun|deno){_BLANK}+run)"
# A shell runs what it reads whatever its options are; another program only if it is not told what to run.
_READS_CODE: Final = (
    rf"(?:{_SHELL}(?:[^\w.\-]|$)|{_INTERPRETER}{_BLANK}*(?:-u{_BLANK}+)?(?:-(?:\W|$)|$|[\r\n;&)\"'`#]))"
)
_PIPED: Final = rf"[^|\n]\|&?(?:\s|\\\r?\n)*{_WRAPPED}{_BEFORE}{_WRAPPED}{_READS_CODE}"
_FETCH: Final = r"\b(?:curl|wget|aria2c|fetch|lwp-request)(?:\.exe)?"
_FETCHERS: Final = ("curl", "wget", "aria2c", "fetch", "lwp-request")
_RUNS: Final = rf"(?:\b{_SHELL}|\b{_INTERPRETER}|\beval|\bsource|(?:^|[;&|\s])\.)"
_OPTIONS: Final = rf"{_BLANK}+(?:-\w+{_BLANK}+)*"
_SUBSTITUTED: Final = rf"(?:(?:<<<|<){_BLANK}*)?[\"']?(?:\$\(|<\(|`){_BLANK}*"
_DECODE: Final = r"\b(?:base64\s+(?:-d|-D|-di|--decode)\b|xxd\s+-r\b|openssl\s[^\n|]*base64[^\n|]*\s-d\b)"

_INITIALISERS: Final = (
    r"ssh-agent|gpg-agent|keychain|direnv|pyenv|rbenv|nodenv|jenv|goenv|plenv|fnm|mise|rtx|asdf|conda|mamba|micromamba"
    r"|opam|starship|zoxide|atuin|mcfly|minikube|docker-machine|dircolors|thefuck|register-python-argcomplete|lesspipe"
    r"|luarocks|devbox|op|gh|kubectl|helm|uv|rustup|(?:/(?:opt/homebrew|home/linuxbrew/\.linuxbrew|"
    r"usr/local)/bin/)?brew"
)
# The whole substitution has to be the initialiser: anything behind it would be run, too.
_INITIALISED: Final = re.compile(
    rf"""\A\W*eval[ \t]+["']?(?:\$\(|`)[ \t]*(?:{_INITIALISERS})(?:[ \t]+[\w./=:@,+-]+)*[ \t]*(?:\)|`)["']?[ \t]*"""
    r"""(?:$|[;&|#`'")])"""
)


def _is_one_span(text: str) -> bool:
    """An odd backtick ends a code span of Markdown inside of the match: it is no one command."""
    return text.count("`") % 2 == 0


def _is_no_initialiser(text: str) -> bool:
    return _INITIALISED.match(text) is None


EXECUTED: Final = (
    Shape(
        code="AR005",
        what="a download run by an interpreter",
        regex=rf"(?m){_FETCH}{_BLANK}+[^\n|]*?[./:$]{_REST}{_PIPED}",
        words=_FETCHERS,
        accepts=lambda text: _is_one_span(text.rstrip("`")),
    ),
    Shape(
        code="AR005",
        what="a download run by an interpreter",
        regex=rf"(?m){_RUNS}{_OPTIONS}{_SUBSTITUTED}{_FETCH}|^[ \t]*\$\([ \t]*{_FETCH}{_BLANK}",
        words=_FETCHERS,
    ),
    Shape(
        code="AR005",
        what="a download run by an interpreter",
        regex=r"(?:^|[^\w.])(?:exec|eval)\s*\([^\n]{0,120}?\b(?:requests\.(?:get|post)|httpx\.(?:get|post)|urlopen|fetch)\s*\(",
        words=("exec", "eval"),
    ),
    Shape(
        code="AR005",
        what="eval of dynamic text",
        regex=r"""(?m)(?:^|[;&|({\s`"'])eval[ \t]+["']?(?:\$[({A-Za-z_@*0-9]|`[^`\n]*[ \t$|])[^\n]*""",
        words=("eval",),
        accepts=_is_no_initialiser,
    ),
    Shape(
        code="AR005",
        what="decoded text run by an interpreter",
        regex=rf"(?m){_DECODE}{_REST}{_PIPED}",
        words=("base64", "xxd"),
        accepts=lambda text: _is_one_span(text.rstrip("`")),
    ),
    Shape(
        code="AR005",
        what="decoded text run by an interpreter",
        regex=rf"(?m){_RUNS}{_OPTIONS}{_SUBSTITUTED}[^\n)`]*{_DECODE}",
        words=("base64", "xxd"),
    ),
    Shape(
        code="AR005",
        what="decoded text run by an interpreter",
        regex=r"\b(?:exec|eval|system|popen|run|Function)\s*\(\s*(?:[\w.]+\(\s*){0,2}(?:(?:base64|__import__\([\"']base64[\"']\))\.)?(?:b64decode|atob)\s*\(",
        words=("b64decode", "atob"),
    ),
    Shape(
        code="AR005",
        what="a download run by PowerShell",
        regex=r"(?i)\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|curl|wget)\b[^\n|]*\|\s*(?:iex|invoke-expression)\b"
        r"|\b(?:iex|invoke-expression)\b[^\n]*\b(?:downloadstring|iwr|irm|invoke-webrequest|invoke-restmethod|"
        r"frombase64string)\b|\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*\s-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{20,}",
        words=("iex", "invoke-expression", "powershell", "pwsh"),
    ),
)

_HOME: Final = r"(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|/home/[\w.-]+|/Users/[\w.-]+|/root|expanduser\([\"']~)"
_CREDENTIALS: Final = (
    r"(?:\.ssh|\.aws|\.gnupg|\.netrc|\.git-credentials|\.pypirc|\.npmrc|\.kube/config|\.docker/config\.json|\.azure|"
    r"\.config/gcloud|\.config/gh|\.vault-token)\b"
)
_READS: Final = (
    r"(?:\b(?:cat|less|more|head|tail|strings|cp|scp|rsync|tar|zip|base64|xxd|od|grep|awk|sed|find|ls|source)\b[^\n]*?[\s\"'=]"
    r"|\b(?i:read|open|upload|send|print|dump|collect|steal|exfiltrat)\w*\b[^\n]{0,60}?[\s\"'`(/]"
    r"|@|<[ \t]*)[\"'`]?"
)
_SYSTEM: Final = r"(?:/etc|/usr|/bin|/sbin|/lib|/lib64|/boot|/opt|/var/spool/cron|/Library|/System)"
_TARGET: Final = rf"[\"']?(?:(?:~|\$HOME|\$\{{HOME\}})/|{_SYSTEM}/)[\w./-]*"
ACCESS: Final = (
    Shape(
        code="AR006",
        what="credentials are read",
        regex=rf"{_READS}(?:{_HOME}/{_CREDENTIALS}|\.netrc\b)[\w./-]*",
        words=(
            *(".ssh", ".aws", ".gnupg", ".netrc", ".git-credentials", ".pypirc", ".npmrc", ".kube", ".docker"),
            *(".azure", ".config/g", ".vault-token"),
        ),
    ),
    Shape(
        code="AR006",
        what="a file of the home folder or the system is written",
        # A blank in front tells a redirection from a quotation and from markup.
        regex=rf"(?m)(?:[ \t][0-9&]?>>?|\b(?:echo|cat|printf)\b[^\n<>]*>>?)[ \t]*{_TARGET}"
        rf"|\btee[ \t]+(?:-a[ \t]+|--append[ \t]+)?{_TARGET}"
        rf"|\b(?:cp|mv|install|ln)[ \t]+[^\n|;&(][^\n|;&]*[ \t]"
        rf"(?:{_SYSTEM}/\S*|[\"']?(?:~|\$HOME)/\.\w*(?:rc|profile|login))"
        rf"|\b(?:sed[ \t]+-i\S*|dd[ \t]+[^\n]*of=)[^\n|;&]*{_TARGET}",
        words=(">", "tee", "cp", "mv", "install", "ln", "sed", "dd"),
    ),
    Shape(
        code="AR006",
        what="everybody may write",
        regex=r"\bchmod\s+(?:-\w+\s+)*(?:0?777|(?:a|ugo)[+=]rwx)\b",
        words=("chmod",),
    ),
)
