"""``generated_in_sync`` with the lock as its generator (issue 6.3)."""

from __future__ import annotations

import json

import pytest

from tests.support.locks import LockProject
from tests.support.repo import Repo

CONFIG = '[[verifiers]]\nname = "fresh"\ntype = "generated_in_sync"\nseverity = "error"\n'


@pytest.fixture
def project(repo: Repo) -> LockProject:
    """A project whose generated files are pinned."""
    found = LockProject(repo, CONFIG).base()
    for path in ("CLAUDE.md", "AGENTS.md"):
        repo.write(path, "x\n")
    found.write(".generated-manifest.json", '{"files": ["CLAUDE.md", "AGENTS.md"]}')
    return found


def _result(project: LockProject, config: str = "") -> tuple[int, str]:
    """Exit code and all findings of the verifier."""
    if config:
        project.config(config)
    done = project.repo.run("verifiers", "run", "--generator", "lock", "--format", "json")
    document = json.loads(done.out)
    (verifier,) = document["results"]
    texts = [finding["message"] for finding in verifier.get("findings", ())]
    return done.code, "\n".join(
        [str(verifier.get("message", "")), *texts, *(f.get("file", "") for f in verifier.get("findings", ()))]
    )


def test_in_sync_with_the_lock(project: LockProject) -> None:
    """Neither sources nor outputs have changed since both were pinned."""
    project.lock()
    assert _result(project)[0] == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [("edited", "CLAUDE.md"), ("gone", "CLAUDE.md"), ("new", "more.md"), ("source", "rules/tone.md")],
)
def test_what_has_changed_since(project: LockProject, change: str, word: str) -> None:
    """An edited, missing or unpinned output, and a source under unchanged outputs: each fails and is named."""
    project.lock()
    if change == "edited":
        project.repo.write("CLAUDE.md", "y\n")
    elif change == "gone":
        project.repo.delete("CLAUDE.md")
    elif change == "new":
        project.repo.write("more.md", "z\n")
        project.write(".generated-manifest.json", '{"files": ["CLAUDE.md", "AGENTS.md", "more.md"]}')
    else:
        project.write("rules/tone.md", "new\n")
    code, text = _result(project)
    assert code == 2
    assert word in text


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (CONFIG, "the lock pins no outputs: run `ai-rulez generate`, then `reqfile lock`"),
        (CONFIG + '[lock]\nscope = "x"\n', 'invalid lock scope "x"'),
    ],
)
def test_what_cannot_be_told(project: LockProject, config: str, reason: str) -> None:
    """Without a lock nothing passes."""
    project.config(config)
    done = project.repo.run("verifiers", "run", "--generator", "lock")
    assert done.code in {1, 2}
    assert reason in done.out + done.err


def test_another_profile(project: LockProject) -> None:
    """The pins are of one profile, and speak for no other."""
    project.lock()
    code, text = _result(project, CONFIG + 'profile = "web"\n[profiles]\nweb = []\n')
    assert code != 0
    assert 'the lock pins outputs of profile "", not of "web"' in text


def test_in_pytest(project: LockProject) -> None:
    """The same by an option of the run."""
    project.lock()
    arguments = ("-rA", ".ai-rulez/config.toml", "--reqfile-generator", "lock")
    assert "PASSED .ai-rulez/config.toml::fresh" in project.repo.pytest(*arguments).out
    project.repo.write("CLAUDE.md", "y\n")
    assert "FAILED .ai-rulez/config.toml::fresh" in project.repo.pytest(*arguments).out
