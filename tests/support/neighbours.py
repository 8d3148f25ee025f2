"""Plugins of others that people run beside ours: installed with the extra ``test``, off unless a test asks for one.

pytest-randomly and pytest-sugar change every run they are in, and each of them costs every start of a pytest under
test; so pyproject.toml turns them off for this suite and ``Repo`` for the pytest it starts, by the same names.
"""

from __future__ import annotations

NEIGHBOURS = (
    "randomly",
    "rerunfailures",
    "timeout",
    "sugar",
    "html",
    "html_fixtures",
    "metadata",
    "pytest_cov",
    "pytest_github_actions_annotate_failures",
)
"""Their entry points."""

BYSTANDERS = ("anyio", "benchmark", "hypothesispytest", "platformdirs")
"""Plugins that came with libraries; without them a pytest under test starts in two thirds of the time."""


def without_neighbours(*wanted: str) -> str:
    """The value of PYTEST_ADDOPTS that turns all of them off, and the bystanders, but the wanted ones."""
    return " ".join(f"-p no:{name}" for name in (*NEIGHBOURS, *BYSTANDERS) if name not in wanted)
