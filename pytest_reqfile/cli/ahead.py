"""What git can begin with for a command line that nobody has read yet (issues 3.5 and 4.7).

A wrong guess costs git's work and nothing else. Imports nothing, as the modules of workspace/ that it uses.
"""

from __future__ import annotations

from pytest_reqfile.workspace.git_ahead import Ahead, begin_listing, begin_since

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PROJECT_FILES = (".ai-rulez/config.toml", ".config/ai-rulez/config.toml")
_SINCE = "--since"


def begin_ahead(words: Sequence[str]) -> Ahead | None:
    """git at work for the command line ``words``; None where it is asked nothing that could be guessed."""
    if "-h" in words or "--help" in words:
        return None
    if words[:1] == ["check"]:
        return begin_listing()
    revision = _revision(words) if words[:2] == ["verifiers", "run"] else ""
    return begin_since(revision, _PROJECT_FILES) if revision else None


def _revision(words: Sequence[str]) -> str:
    """What ``--since`` names; empty where it names nothing."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if word == _SINCE:
            return following.strip()
        if word.startswith(f"{_SINCE}="):
            return word.removeprefix(f"{_SINCE}=").strip()
    return ""
