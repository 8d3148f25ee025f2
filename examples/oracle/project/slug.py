"""Slugs for page addresses."""

import re


def slug(title: str) -> str:
    """``title`` in lower case with hyphens between its words."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    if not words:
        raise ValueError("a title needs a letter or a digit")
    return "-".join(words)
