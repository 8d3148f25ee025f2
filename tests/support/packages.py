"""Repositories that requirements are taken from, as the cases of section P have them: ``globex/rules``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.repo import Completed, Repo

REPOSITORY = "globex/rules"


def requirements(commands: Mapping[str, str], kind: str = "code") -> str:
    """A Reqfile whose requirements each run one command; the first one's id stands on line 3."""
    blocks = (
        f"  - id: {identifier}\n    must: Be good.\n    why: Because.\n    who: Us.\n    checks:\n"
        f"      - command:\n          run: {run}\n          fix_hint: h\n"
        for identifier, run in commands.items()
    )
    return f"reqfile: 1\n{kind}:\n" + "".join(blocks)


def uses(locations: Mapping[str, str], kind: str = "code") -> str:
    """A Reqfile of use blocks, one line each from line 3 on."""
    return f"reqfile: 1\n{kind}:\n" + "".join(
        f"  - {{ id: {identifier}, use: {location} }}\n" for identifier, location in locations.items()
    )


def saying(label: str) -> str:
    """A command with one violation, whose message is the label."""
    return f"echo {label}; exit 1"


def seeing(label: str, glob: str) -> str:
    """A command with one violation: the label and the files it was given (the fixture SEEN of the cases)."""
    return f'\'f() {{ echo "{label} $*"; exit 1; }}; f\'\n          files: "{glob}"\n          pass_files: true'


@dataclass(slots=True, kw_only=True)
class Consumer:
    """A repository that takes requirements from ``globex/rules``, whose remote is ``rules``."""

    repo: Repo
    rules: Repo
    remotes: Path
    env: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.env = {"REQFILE_GIT_BASE": str(self.remotes)}

    def run(self, *argv: str, cwd: str = "", env: Mapping[str, str] | None = None) -> Completed:
        """``reqfile ARGV`` with the remotes of this test."""
        return self.repo.run(*argv, cwd=cwd, env={**self.env, **(env or {})})

    def publish(self, reqfile: str, tag: str | None = None) -> str:
        """Commit the text as the Reqfile of ``globex/rules``; the commit's id."""
        self.rules.write("Reqfile.yaml", reqfile)
        commit = self.rules.commit()
        if tag is not None:
            self.rules.git("tag", "-f", tag)
        return commit

    def unpublish(self) -> None:
        """Make the remote unreachable."""
        self.rules.root.rename(self.rules.root.with_name("gone"))
