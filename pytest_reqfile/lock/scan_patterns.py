"""What the security scan looks for: shapes of text with their codes (spec/airulez-project.md 7).

Patterns are RE2, so that no text can make them slow. Ours, not ai-rulez's: verdicts differ at the edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.lock.scan_settings import ScanCode
from pytest_reqfile.syntax.credentials import KNOWN, SECRET_NAMES, SECRET_VALUE, is_mixed


def anything(text: str) -> bool:
    """Accepts every match."""
    del text
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """``words`` are lower-case texts of which every match holds one (none: any text may match).

    ``accepts`` looks again at the matched text. ``hides`` says that the text is not to be quoted.
    """

    code: ScanCode
    what: str
    regex: str
    words: tuple[str, ...] = ()
    accepts: Callable[[str], bool] = anything
    hides: bool = False


_PLACEHOLDERS: Final = ("example", "placeholder", "xxxx", "your", "changeme", "dummy", "redacted", "....", "1234567890")


def _is_real(text: str) -> bool:
    """Documentation shows keys that are none, such as the one that ends in EXAMPLE."""
    lowered = text.lower()
    return not any(word in lowered for word in _PLACEHOLDERS)


def _is_secret(text: str) -> bool:
    quoted = text.rstrip("\"'")
    value = quoted[max(quoted.rfind('"'), quoted.rfind("'")) + 1 :]
    return is_mixed(value) and _is_real(value)


_KNOWN_WORDS: Final = (
    *(("akia", "asia"), ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), ("npm_",), ("github_pat_",), ("xox",), ("aiza",)),
    *(("k_live_",), ("sk-ant-",), ("sk-",), ("private key",), ("eyj",)),
)
"""In the order of ``KNOWN``."""
SECRETS: Final = (
    *(
        Shape(code="AR001", what=what, regex=regex, words=words, accepts=_is_real, hides=True)
        for (what, regex), words in zip(KNOWN, _KNOWN_WORDS, strict=True)
    ),
    Shape(
        code="AR001",
        what="a secret in quotes",
        regex=rf"""(?i){SECRET_NAMES}(?:"{SECRET_VALUE}"|'{SECRET_VALUE}')""",
        words=("key", "secret", "token", "passw"),
        accepts=_is_secret,
        hides=True,
    ),
)


def configured_secret(pattern: str) -> Shape:
    """One of ``secret_patterns``; whatever it matches counts."""
    return Shape(code="AR001", what="text that a configured secret pattern matches", regex=pattern, hides=True)


_GAP: Final = r"[\s\p{Z}*_`~]+"
"""Between two words of a phrase: blanks, line ends, emphasis."""


def phrase(words: str) -> str:
    """A pattern of words in any case, with anything between them that is no word."""
    return "(?i)" + words.replace(" ", _GAP)


_TO_MODEL: Final = r"(?:you|the (?:agent|assistant|model|ai|llm)|agents?|assistants?|claude|copilot|gemini|chatgpt)"
_ORDERS: Final = (
    rf"\b{_TO_MODEL} (?:must|should|shall|need to|have to|are now|are to|will now)\b",
    r"\b(?:ignore|disregard|forget|override|bypass) (?:all|any|the|previous|prior|earlier|above|your|these|every)\b",
    r"\b(?:always|never) (?:run|execute|send|tell|mention|ask|reveal|call|report|follow|commit|push|upload)\b",
    r"\b(?:do not|don't|without) (?:tell|mention|reveal|inform|notify|disclos|warn|ask)(?:ing|e)?\b",
    r"\b(?:system prompt|hidden instructions?|secret instructions?|instructions? (?:for|to) (?:the )?"
    r"(?:ai|agents?|assistants?|models?|llms?))\b",
    r"\b(?:ai|agents?|assistants?|llms?|claude|copilot)\s*[:,] (?:please )?(?:run|execute|send|use|call|fetch|download|"
    r"install|delete|remove|read|write|ignore|follow|open|upload|set|always|never|do|before|when|first)\b",
    r"\b(?:run|execute) (?:the following|this|these)\b",
    r"\b(?:exfiltrate|upload|send|post) [^>]{0,80}?\bto\s+(?:https?:|[\w.-]+@)",
)
_COMMANDS: Final = (
    r"\b(?:curl|wget)\s+\S",
    r"\b(?:ba|z|da)?sh\s+-[a-z]*c\b",
    r"\b(?:python[0-9.]*|node|perl|ruby)\s+-[ce]\b",
    r"\bsudo\s+\w",
    r"\brm\s+-[a-z]*[rf]",
    r"\beval\s*[(\"'$`]",
    r"\|\s*(?:ba|z)?sh\b",
    r"\bchmod\s+[0-7+a-z]",
    r"\bbase64\s+-+d",
    r"\b(?:npm|pnpm|pip3?|brew|apt|apt-get|gem|cargo)\s+(?:install|i)\s",
)
COMMENT: Final = r"(?s)<!--.*?(?:-->|\z)"
"""An HTML comment; one that is never closed hides everything behind it."""
IN_COMMENT: Final = f"(?i)(?:{'|'.join((*(order.replace(' ', _GAP) for order in _ORDERS), *_COMMANDS))})"

_EARLIER: Final = (
    r"(?:all |any |every |the |of |your |my |these |those |such |other )*"
    r"(?:previous|prior|earlier|above|preceding|foregoing|existing|original|initial|system|developer|safety|current)"
)
_INSTRUCTIONS: Final = (
    r"(?:system |safety |user )?(?:instructions?|prompts?|rules|guidelines?|directives?|messages|constraints?|"
    r"restrictions?|policies|guardrails?)"
)
_PHRASES: Final = (
    (
        "text that overrides earlier instructions",
        rf"\b(?:ignore|disregard|forget|override|bypass|overrule|do not follow|stop following) {_EARLIER} "
        rf"(?:and {_EARLIER} )?{_INSTRUCTIONS}\b",
        ("ignore", "disregard", "forget", "override", "bypass", "overrule", "follow"),
    ),
    (
        "text that overrides earlier instructions",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all) "
        r"(?:above|before this|you (?:were|have been|are) told|you know|prior to this)",
        ("ignore", "disregard", "forget"),
    ),
    (
        "text that overrides earlier instructions",
        r"\byou are (?:now (?:in )?(?:dan\b|an? unrestricted|unrestricted|jailbroken|developer mode|god mode|root\b)|"
        r"no longer (?:bound|restricted|limited|required to follow))",
        ("you",),
    ),
    (
        "text that overrides earlier instructions",
        r"\byour (?:new|real|actual|true) (?:instructions?|task|goal|purpose|objective) (?:is|are)\b",
        ("your",),
    ),
    (
        "text that hides actions from the user",
        r"\b(?:do not|don't|never|must not|should not) (?:ever )?"
        r"(?:tell|inform|notify|alert|warn|mention|reveal|disclose|show|report|admit) "
        r"(?:(?:this|it|that|these|them|any of this|anything) (?:to )?)?(?:to )?(?:the |your )?"
        r"(?:user|human|operator|developer|reviewer)s?(?: (?:about|of|what you|that you|anything)\b|\s*[.!;,\n]|\s*\z)",
        ("user", "human", "operator", "developer", "reviewer"),
    ),
    (
        "text that hides actions from the user",
        r"\b(?:hide|conceal|keep) (?:\w+ ){1,4}?(?:secret |hidden )?from "
        r"(?:the |your )?(?:user|human|operator|reviewer)s?\b",
        ("hide", "conceal", "keep"),
    ),
    (
        "text that hides actions from the user",
        r"\bwithout (?:the )?(?:user|human|operator|developer)(?:'s|’s)? "
        r"(?:knowing|noticing|knowledge|being aware|seeing)\b",
        ("without",),
    ),
    (
        "text that asks for the system prompt",
        r"\b(?:reveal|print|output|repeat|show|leak|send|disclose) (?:me )?(?:your|the) "
        r"(?:full |entire |hidden |secret )*(?:system|developer|initial) (?:prompt|message|instructions)\b",
        ("system", "developer", "initial"),
    ),
)
_MARKERS: Final = ("<|im_start|>", "<|im_end|>", "[inst]", "[/inst]", "<<sys>>")
PHRASES: Final = (
    *(Shape(code="AR004", what=what, regex=phrase(regex), words=words) for what, regex, words in _PHRASES),
    Shape(
        code="AR004",
        what="a marker of a model's prompt format",
        regex=r"(?i)<\|im_(?:start|end)\|>|\[/?INST\]|<</?SYS>>",
        words=_MARKERS,
    ),
)


def _is_encoded(text: str) -> bool:
    """Letters of both cases and digits, of many kinds: no ruler, no path, no word."""
    return (
        any(map(str.isupper, text))
        and any(map(str.islower, text))
        and any(map(str.isdigit, text))
        and len(set(text)) >= 16
    )


BLOBS: Final = (
    Shape(
        code="AR009",
        what="encoded text of 200 characters or more",
        regex=r"[A-Za-z0-9+/]{200,}={0,2}|[A-Za-z0-9_-]{200,}={0,2}|(?:[A-Za-z0-9+/]{60,}\r?\n[ \t]*){3,}",
        accepts=_is_encoded,
    ),
)
