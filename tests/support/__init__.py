"""Typed helpers behind the fixtures of the root conftest.py."""

from tests.support.repo import Completed, Repo, git_environment, make_template

__all__ = ["Completed", "Repo", "git_environment", "make_template"]
