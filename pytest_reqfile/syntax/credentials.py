"""Credential-looking text: the shapes that the security scan knows, and text with such things hidden.

Seed 000 "Matching"; spec/verifiers.md 2.8; spec/airulez-project.md 7.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

MASK: Final = "[REDACTED]"

KNOWN: Final = (
    # The list of the security scan, for Python's re and for RE2 alike.
    ("AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36}\b"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    ("Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    ("Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("Stripe key", r"\b[sr]k_live_[0-9a-zA-Z]{24,}"),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", r"\bsk-(?:proj-)?[A-Za-z0-9_-]{40,}"),
    ("private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
)
"""What a credential is called, and its shape."""

SECRET_NAMES: Final = r"(?:api[_-]?key|secret|token|passwd|password|client[_-]?secret)['\"]?\s*[:=]\s*"  # noqa: S105
SECRET_VALUE: Final = r"[A-Za-z0-9/+_.=-]{20,}"  # noqa: S105

_ENVIRONMENT: Final = (
    r"""(?:os\.environ\[['"]\w+['"]\]|os\.environ\.get\(['"]\w+['"]\)|(?:os\.)?(?:getenv|Getenv|env)\(['"]\w+['"]\)"""
    r"""|process\.env\.\w+|process\.env\[['"]\w+['"]\]|\$\{\w+\}|\$\w+)(?=$|[\s'",;)}\]`])"""
)

_BEFORE_HOST: Final = re.compile(r"(?<=://)(?:.*:.*@|[^/]*@)|\A[^/@]*:(?!//).*@", re.DOTALL)


@cache
def _eager() -> re.Pattern[str]:
    return re.compile(
        "|".join(
            (
                r"bearer\s+[a-z0-9._~+/=-]{8,}",
                r"sk-[a-z0-9_-]{8,}",
                r"(?:AKIA|ASIA)[A-Z0-9]{12,}",
                r"gh[pousr]_[a-z0-9_]{20,}",  # one that follows at once begins with the end of this one
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
    return re.compile("|".join(shape for _, shape in KNOWN))


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(rf"""({SECRET_NAMES})(['"])({SECRET_VALUE})\2""", re.IGNORECASE)


def without_user(url: str) -> str:
    """A URL that is refused, as messages show it: whatever stands before an ``@`` may be a password."""
    return _BEFORE_HOST.sub("", url)


def masked(text: str) -> str:
    """``text`` with everything that looks like a credential replaced by ``[REDACTED]``."""
    text = _eager().sub(MASK, text)
    text = _strict().sub(MASK, text)
    return _quoted().sub(_masked_value, text)


def holds_known(text: str) -> bool:
    """Whether ``text`` has a credential of a known shape; prose about tokens and basic authentication has none."""
    return _strict().search(text) is not None


def _masked_value(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{MASK}{found[2]}" if is_mixed(found[3]) else found[0]


def is_mixed(value: str) -> bool:
    """Whether a value holds letters and digits, as made-up words seldom do."""
    return re.search(r"[A-Za-z]", value) is not None and re.search(r"[0-9]", value) is not None
