"""``--reqfile-generator``: what regenerates outputs for ``generated_in_sync`` (design 2.4; issue 4 item 2)."""

from __future__ import annotations

import pytest

from pytest_reqfile.plugin import options


def generator(config: pytest.Config) -> tuple[str, ...]:
    """The words of the command; empty without one. Raises pytest.UsageError for a text that is no command."""
    text = options.value(config, "generator")
    if text is None:
        return ()
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise pytest.UsageError(
            f"{options.given_as(config, 'generator')}: expected ai-rulez, lock or a command as for a shell, found "
            f"{text!r} ({reason}); close the quote, or put a backslash before it"
        ) from None
