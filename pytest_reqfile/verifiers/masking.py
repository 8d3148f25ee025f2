"""Credential-looking text, hidden before anybody sees it (seed 000 "Matching"; spec/verifiers.md 2.8).

First an eager list of shapes, then the stricter list of the security scan, then quoted assignments of long values.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytest_reqfile.verifiers.words import sanitized

MASK: Final = "[REDACTED]"
EXCERPT_LENGTH: Final = 120

_ENVIRONMENT: Final = (
    r"""(?:os\.environ\[['"]\w+['"]\]|os\.environ\.get\(['"]\w+['"]\)|(?:os\.)?(?:getenv|Getenv|env)\(['"]\w+['"]\)"""
    r"""|process\.env\.\w+|process\.env\[['"]\w+['"]\]|\$\{\w+\}|\$\w+)(?=$|[\s'",;)}\]`])"""
)


@cache
def _eager() -> re.Pattern[str]:
    return re.compile(
        "|".join(
            (
                r"bearer\s+[a-z0-9._~+/=-]{8,}",
                r"sk-[a-z0-9_-]{8,}",
                r"(?:AKIA|ASIA)[A-Z0-9]{12,}",
                r"gh[pousr]_[a-z0-9]{20,}",
                r"github_pat_[a-z0-9_]{20,}",
                r"glpat-[a-z0-9_-]{16,}",
                r"AIza[a-z0-9_-]{30,}",
                r"xox[baprs]-[a-z0-9-]{10,}",
                r"eyJ[a-z0-9_-]{8,}\.eyJ[a-z0-9_-]{8,}\.[a-z0-9_-]+",
                r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
                r"(?:basic|digest)\s+[a-z0-9+/=_-]{12,}",
                rf"""(?:api[_-]?key|token|secret|authorization)['"]?\s*[:=]\s*['"]?(?!{_ENVIRONMENT})[^\s'",}}]{{8,}}""",
            )
        ),
        re.IGNORECASE,
    )


@cache
def _strict() -> re.Pattern[str]:
    return re.compile(
        "|".join(
            (
                r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
                r"\bgh[pousr]_[A-Za-z0-9]{36}\b",
                r"\bnpm_[A-Za-z0-9]{36}\b",
                r"\bgithub_pat_[A-Za-z0-9_]{22,}",
                r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
                r"\bAIza[0-9A-Za-z_-]{35}",
                r"\b[sr]k_live_[0-9a-zA-Z]{24,}",
                r"\bsk-ant-[A-Za-z0-9_-]{20,}",
                r"\bsk-(?:proj-)?[A-Za-z0-9_-]{40,}",
                r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
                r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
            )
        )
    )


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(
        r"""((?:api[_-]?key|secret|token|passwd|password|client[_-]?secret)['"]?\s*[:=]\s*)(['"])([A-Za-z0-9/+_.=-]{20,})\2""",
        re.IGNORECASE,
    )


def masked(text: str) -> str:
    """``text`` with everything that looks like a credential replaced by ``[REDACTED]``."""
    text = _eager().sub(MASK, text)
    text = _strict().sub(MASK, text)
    return _quoted().sub(_masked_value, text)


def _masked_value(found: re.Match[str]) -> str:
    value = found[3]
    mixed = re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value)
    return f"{found[1]}{found[2]}{MASK}{found[2]}" if mixed else found[0]


def excerpt(text: str) -> str:
    """The first line of ``text`` as findings quote it: masked, at most 120 characters, nothing unprintable."""
    line = masked(text.partition("\n")[0].strip())
    return sanitized(line if len(line) <= EXCERPT_LENGTH else line[:EXCERPT_LENGTH] + "...")
