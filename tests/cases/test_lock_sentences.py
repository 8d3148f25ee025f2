"""Sentences of seed 001 that no case has, through the program."""

from __future__ import annotations

import re

import pytest

from pytest_reqfile.lock.digest import file_leaf, tree_digest
from tests.support.locks import LockProject
from tests.support.repo import Repo

LOCK = ".ai-rulez/ai-rulez.lock"


@pytest.fixture
def project(repo: Repo) -> LockProject:
    return LockProject(repo).base()


def test_what_is_not_pinned_at_its_source(project: LockProject) -> None:
    """ "Declared configuration that is not pinned at the source": profiles, include configuration, scopes, plugins and
    marketplaces, the machine-local overlay. Digests of content pin none of it, with ``include_outputs = false`` nothing
    does."""
    project.lock()
    first = (project.folder / "ai-rulez.lock").read_bytes()
    project.config(
        '[profiles]\nweb = ["api"]\n[[scopes]]\nname = "app"\npath = "app"\n'
        '[plugin]\nname = "p"\n[marketplace]\nname = "m"\n'
    )
    project.write("config.local.toml", "[profiles]\nmine = []\n")
    project.write("local/rules/mine.md", "# Mine\n")
    assert project.repo.run("lock", "--check").code == 0
    assert project.repo.run("lock").code == 0
    assert (project.folder / "ai-rulez.lock").read_bytes() == first


@pytest.mark.parametrize("hashes", ["none", "content", "full"])
@pytest.mark.parametrize("timestamp", [False, True])
def test_the_header_does_not_count(project: LockProject, hashes: str, timestamp: bool) -> None:
    """ "The digests are the same under every [header] hashes mode and whether or not [header] timestamp is on"."""
    project.write(".generated-manifest.json", '{"files": ["CLAUDE.md"]}')
    project.config(f'[header]\nhashes = "{hashes}"\ntimestamp = {str(timestamp).lower()}\n')
    lines = ["<!--", "ai-rulez" + (" | Generated: 2026-01-02" if timestamp else "")]
    lines += ["Content-Hash: blake3:aa"] * (hashes != "none") + ["Source-Hash: blake3:bb"] * (hashes == "full")
    project.repo.write("CLAUDE.md", "\n".join([*lines, "-->", "", "Body", ""]))
    assert project.repo.run("lock").code == 0
    lock = project.read()
    assert lock is not None
    rendered = file_leaf("CLAUDE.md", b"<!--\nai-rulez\n-->\n\nBody\n")
    assert [pin.digest for pin in lock.outputs] == [tree_digest("output", [rendered])]
    project.repo.write("CLAUDE.md", project.repo.path("CLAUDE.md").read_text().replace("Body", "Other"))
    assert "  output changed  output CLAUDE.md\n" in project.repo.run("lock", "--check").out


def test_the_subject_is_what_a_lock_means(project: LockProject) -> None:
    """ "Line endings and key order do not matter, and a pin edited by hand changes the subject"."""
    project.lock()
    subject = project.repo.run("lock", "--subject").out
    text = project.repo.path(LOCK).read_text()
    head, *blocks = text.split("\n\n[[")
    shuffled = [
        "\n".join([name, *reversed(keys)]) for name, *keys in (block.rstrip("\n").split("\n") for block in blocks)
    ]
    for other in (
        text.replace("\n", "\r\n"),
        text.replace("'", '"'),
        "\n\n[[".join([head, *reversed(shuffled)]) + "\n",
        re.sub(r"(?m)^#.*\n", "", text),
    ):
        assert other != text
        project.repo.write(LOCK, other)
        assert project.repo.run("lock", "--subject").out == subject
        assert project.repo.run("lock", "--check").code == 0
    assert project.repo.run("lock").code == 0
    assert project.repo.path(LOCK).read_text() == text
    lock = project.read()
    assert lock is not None
    project.repo.write(LOCK, text.replace(lock.items[0].digest, f"sha256:{'0' * 64}"))
    refused = project.repo.run("lock", "--subject")
    assert (refused.code, refused.out) == (2, "")
