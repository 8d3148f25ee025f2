"""Remote sources are brought to the cache by commit, as they were committed (spec/lock.md 6.1, 6.2)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError, ReqfileError, UsageError, WorkspaceError
from pytest_reqfile.lock.cached_content import find_cached
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Answers, Fetcher, OfflineError
from pytest_reqfile.lock.remotes import is_full_commit, tree_kind
from pytest_reqfile.lock.resolving import entry_of
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.project.values import SourceTable
from tests.support import Repo
from tests.support.remotes import CONTENT, Remote, Taker, source_of


@pytest.fixture
def taker(make_repo: Callable[[str], Repo]) -> Taker:
    return Taker(make_repo)


@pytest.fixture
def remote(taker: Taker) -> Remote:
    return taker.remote()


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


@pytest.mark.parametrize(
    ("table", "keys", "tree", "expected"),
    [
        ("includes", {}, ".ai-rulez/rules/a.md rules/b.md", "rules/a.md"),
        ("includes", {"path": "x"}, ".ai-rulez/rules/a.md x/.ai-rulez/rules/b.md", "rules/a.md"),
        ("includes", {"path": "x"}, "rules/a.md x/.ai-rulez/rules/b.md", "rules/b.md"),
        ("includes", {"path": "x"}, "rules/a.md x/skills/s/SKILL.md", "skills/s/SKILL.md"),
        ("includes", {"path": "x"}, "agents/a.md x/y", "agents/a.md x/y"),
        ("includes", {"path": "./x/"}, "x/context/c.md y", "context/c.md"),
        ("includes", {}, "rules/a.md y", "rules/a.md y"),
        ("includes", {"format": "okf", "path": "x"}, ".ai-rulez/rules/a.md x/y", "y"),
        ("includes", {"format": "okf"}, "a b/c", "a b/c"),
        ("installed_skills", {}, "skills/shared/SKILL.md skills/other/SKILL.md", "SKILL.md"),
        (
            "installed_skills",
            {"path": "d"},
            "d/SKILL.md d/scripts/x.sh skills/shared/SKILL.md",
            "SKILL.md scripts/x.sh",
        ),
        ("skill_sources", {}, "a/SKILL.md b/SKILL.md", "a/SKILL.md b/SKILL.md"),
        ("skill_sources", {"path": "a"}, "a/SKILL.md b/SKILL.md", "SKILL.md"),
    ],
)
def test_the_content_folder(
    taker: Taker, remote: Remote, table: SourceTable, keys: dict[str, str], tree: str, expected: str
) -> None:
    """Which part of a repository is taken; nothing else is written to this machine."""
    commit = remote.publish(dict.fromkeys(tree.split(), "x"))
    found = taker.fetcher().tree(source_of(table, source=remote.url, **keys), commit)
    assert files(found.folder) == set(expected.split())
    assert found.commit == commit


@pytest.mark.parametrize(
    ("table", "keys", "tree", "what"),
    [
        ("includes", {}, "a", "content (expected .ai-rulez, or one of the folders rules, context, skills, agents)"),
        ("includes", {}, "rules", "content (expected .ai-rulez, or one of the folders rules, context, skills, agents)"),
        ("includes", {"path": "../x"}, "rules/a.md", 'folder "../x" inside of it'),
        ("installed_skills", {"name": "../../x"}, "x/SKILL.md", 'folder "skills/../../x" inside of it'),
        ("skill_sources", {"path": "a\0"}, "a/SKILL.md", 'folder "a\0" inside of it'),
        ("installed_skills", {}, "skills/other/SKILL.md", 'folder "skills/shared"'),
        ("skill_sources", {"path": "a"}, "a", 'folder "a"'),
    ],
)
def test_no_content_folder(
    taker: Taker, remote: Remote, table: SourceTable, keys: dict[str, str], tree: str, what: str
) -> None:
    """A repository that does not hold what is asked for."""
    commit = remote.publish({tree: "x"})
    with pytest.raises(WorkspaceError) as caught:
        taker.fetcher().tree(source_of(table, source=remote.url, **keys), commit)
    assert str(caught.value) == f"{remote.url}: commit {commit} has no {what}"


def test_a_link_is_no_content_folder(taker: Taker, remote: Remote) -> None:
    """Neither a link inside the repository nor one that leads out stands for a folder."""
    remote.repo.write("real/rules/a.md")
    remote.repo.symlink(".ai-rulez", "real")
    remote.repo.symlink("rules", "/etc")
    commit = remote.publish({})
    with pytest.raises(WorkspaceError, match="has no content"):
        taker.fetcher().tree(source_of(source=remote.url), commit)


def test_ids_by_sha_256(taker: Taker, tmp_path: Path) -> None:
    """Such a repository is told as what it is: it has a default branch, and tags."""
    place = tmp_path / "sha256"
    taker.repo.git("init", "-q", "--object-format=sha256", str(place))
    for arguments in (("commit", "-q", "--allow-empty", "-m", "x"), ("tag", "v1.0.0")):
        taker.repo.git("-C", str(place), *arguments)
    url, fetcher = f"file://{place}", taker.fetcher()
    told = f"{url}: it names commits by SHA-256, which a lock cannot record here"
    with pytest.raises(GitError) as caught:
        fetcher.commit_of(source_of(source=url))
    assert str(caught.value) == told
    (tag,) = fetcher.tags(source_of(source=url))
    with pytest.raises(GitError) as caught:
        fetcher.tree(source_of(source=url), tag.commit)
    assert str(caught.value) == told


@pytest.mark.case("lock:K6")
@pytest.mark.parametrize(
    ("ref", "full"),
    [("a1" * 20, True), ("A1" * 20, False), ("a" * 39, False), ("a" * 41, False), ("a" * 64, False), ("main", False)],
)
def test_full_commit_ids(ref: str, full: bool) -> None:
    """40 lower-case digits and nothing else."""
    assert is_full_commit(ref) is full


def test_refs(taker: Taker, remote: Remote) -> None:
    """A branch before a tag of the same name, tags peeled, HEAD without a ref, a full id without asking."""
    first = remote.publish(CONTENT, "v1", annotated=True)
    second = remote.publish({"a": "b"})
    remote.repo.git("branch", "release/1.x", first)
    remote.repo.git("tag", "both", first)
    remote.repo.git("branch", "both", second)
    remote.repo.git("branch", "x/main", first)

    def commit_of(ref: str) -> str:
        return taker.fetcher().commit_of(source_of(source=remote.url, **({"ref": ref} if ref else {})))

    assert [commit_of(ref) for ref in ("", "main", "v1", "release/1.x", "both")] == [
        second,
        second,
        first,
        first,
        second,
    ]
    remote.repo.git("switch", "-q", "release/1.x")
    assert commit_of("") == first
    with pytest.raises(GitError) as caught:
        commit_of("nowhere")
    assert str(caught.value) == f'{remote.url}: it has no branch or tag "nowhere"'
    odd = ("main\n", "main\0", "main\x7f", "m" * 300_000)
    for strange in ("-u", "--upload-pack=touch x", "ma?n", "[m]ain", "refs/heads/main", "HEAD", "\u2028main", *odd):
        with pytest.raises(GitError, match="it has no branch or tag"):
            commit_of(strange)
    with pytest.raises(GitError, match=r"\(a commit id is written in lower case\)"):
        commit_of(first.upper())
    remote.vanish()
    assert commit_of(first) == first
    with pytest.raises(GitError, match="does not appear to be a git repository"):
        commit_of("main")


@pytest.mark.case("lock:T15")
def test_tags(taker: Taker, remote: Remote) -> None:
    """Of a real repository, and asked once a run whatever the spelling of its URL."""
    first = remote.publish(CONTENT, "v1.0.0")
    remote.tag("v1.1.0", annotated=True)
    remote.tag("deploy/v2.0.0")
    fetcher = taker.fetcher()
    tags = fetcher.tags(source_of(source=remote.url))
    tag_object = remote.repo.git("rev-parse", "v1.1.0")
    assert tags == (
        Tag(name="deploy/v2.0.0", commit=first),
        Tag(name="v1.0.0", commit=first),
        Tag(name="v1.1.0", commit=first, tag_object=tag_object),
    )
    second = remote.publish({"a": "b"}, "v1.0.0")
    remote.delete_tag("v1.1.0")
    assert fetcher.tags(source_of(source=f"git+{remote.url}/")) == tags
    assert taker.fetcher().tags(source_of(source=remote.url)) == (
        Tag(name="deploy/v2.0.0", commit=first),
        Tag(name="v1.0.0", commit=second),
    )


def test_a_failure_is_remembered_too(taker: Taker, remote: Remote) -> None:
    """A remote that is away costs its time once a run."""
    remote.vanish()
    fetcher = taker.fetcher()
    with pytest.raises(ReqfileError) as first:
        fetcher.tags(source_of(source=remote.url))
    remote.return_()
    with pytest.raises(ReqfileError) as second:
        fetcher.tags(source_of(source=remote.url))
    assert str(first.value) == str(second.value)


def test_a_failure_is_that_of_one_spelling(taker: Taker, remote: Remote) -> None:
    """Credentials, or another way to the repository, may do what the first did not; an answer is everybody's."""
    remote.publish(CONTENT, "v1.0.0")
    broken = taker.repo.root / "bin/ssh"
    taker.repo.write("bin/ssh", "#!/bin/sh\nexit 1\n", mode=0o755)
    environment = taker.environment.updated({"GIT_SSH": str(broken)})
    fetcher = Fetcher(environment, taker.repo.root)
    for url in ("git@localhost:r", "ssh://git@localhost/r"):
        with pytest.raises(GitError, match=f"^{url}: "):
            fetcher.tags(source_of(source=url))
    config = taker.repo.write("gitconfig", f'[url "{remote.url}"]\n\tinsteadOf = https://localhost/r\n')
    fetcher = Fetcher(environment.updated({"GIT_CONFIG_GLOBAL": str(config)}), taker.repo.root)
    with pytest.raises(GitError):
        fetcher.tags(source_of(source="git@localhost:r"))
    tags = fetcher.tags(source_of(source="https://localhost/r"))
    assert fetcher.tags(source_of(source="git@localhost:r")) == tags


@pytest.mark.parametrize("commit", ["", "main", "--upload-pack=x", "+refs/heads/*:refs/heads/*", "../../x", "A" * 40])
def test_only_commits_are_fetched(taker: Taker, remote: Remote, commit: str) -> None:
    """Whatever an edited lock says is one."""
    remote.publish(CONTENT)
    with pytest.raises(GitError) as caught:
        taker.fetcher().tree(source_of(source=remote.url), commit)
    assert str(caught.value) == f'{remote.url}: "{commit}" is no commit id'


def test_projects_of_a_run_share_what_remotes_say(taker: Taker, remote: Remote) -> None:
    """Each repository is asked once, however many projects take from it."""
    source = source_of(source=remote.url)
    commit = remote.publish(CONTENT, "v1")
    answers: Answers = {}
    first = Fetcher(taker.environment, taker.repo.root, answers=answers)
    said = first.tags(source), first.commit_of(source), first.tree(source, commit)
    remote.vanish()
    second = Fetcher(taker.environment, taker.repo.root / "other", answers=answers)
    assert (second.tags(source), second.commit_of(source), second.tree(source, commit)) == said


def test_a_tree_is_fetched_once_a_run(taker: Taker, remote: Remote) -> None:
    """And by every run, so that it is what the commit holds; offline nobody is asked."""
    source = source_of(source=remote.url)
    commit = remote.publish(CONTENT)
    fetcher = taker.fetcher()
    tree = fetcher.tree(source, commit)
    (tree.folder / "rules/style.md").write_text("# STYLE\n")
    assert fetcher.tree(source, commit) == tree
    assert (tree.folder / "rules/style.md").read_text() == "# STYLE\n"
    assert taker.fetcher().tree(source, commit) == tree
    assert (tree.folder / "rules/style.md").read_text() == "# Style\n"
    (tree.folder / "rules/planted.md").write_text("# Obey\n")
    taker.fetcher().tree(source, commit)
    assert files(tree.folder) == {"rules/style.md"}
    kept = tree.folder.stat()
    taker.fetcher().tree(source, commit)
    assert tree.folder.stat().st_ctime_ns == kept.st_ctime_ns, "what is the same is not replaced: others may read it"
    remote.vanish()
    with pytest.raises(GitError):
        taker.fetcher().tree(source, commit)
    offline = taker.fetcher(offline=True)
    for ask in (offline.tags, offline.commit_of, lambda one: offline.tree(one, commit)):
        with pytest.raises(OfflineError, match=f"^{remote.url} is not asked offline$"):
            ask(source)


def test_cached(taker: Taker, remote: Remote) -> None:
    """The content of a pin as it is now, never fetched; an entry that names no commit finds nothing."""
    source = source_of(source=remote.url)
    commit = remote.publish(CONTENT)
    find = find_cached(taker.environment)
    tree = taker.fetcher().tree(source, commit)
    entry = entry_of(source, tree, "sha256:x")
    assert find(source, entry) == tree
    assert taker.fetcher().cached(source, entry) == tree
    (tree.folder / "rules/style.md").unlink()
    assert find(source, entry) == tree
    for strange in ("", "main", "../../x", commit.upper(), f"{commit}/../x"):
        assert find(source, type(entry)(name="a", source="b", commit=strange, digest="")) is None
    assert find_cached(taker.environment.without(("REQFILE_CACHE", "HOME", "XDG_CACHE_HOME")))(source, entry) is None


def test_digest_is_that_of_a_checkout(taker: Taker, remote: Remote) -> None:
    """What ai-rulez digests after ``git clone``: links, modes, empty files, nested folders."""
    remote.repo.write("rules/run.sh", "#!/bin/sh\r\n", mode=0o755)
    remote.repo.symlink("rules/out", "/etc/passwd")
    remote.repo.symlink("rules/in", "run.sh")
    remote.repo.symlink("links", "rules")
    commit = remote.publish({"rules/a.md": "a\r\n", "skills/s/SKILL.md": "", "skills/s/x.bin": bytes(range(256))})
    source = source_of(source=remote.url)
    clone = taker.repo.root / "clone"
    taker.repo.git("clone", "-q", remote.url, str(clone))
    tree = taker.fetcher().tree(source, commit)
    kind = tree_kind(source)
    assert Hasher().directory(kind, tree.folder) == Hasher().directory(kind, clone)
    assert os.readlink(tree.folder / "rules/out") == "/etc/passwd"


def test_history_is_not_fetched(taker: Taker, remote: Remote) -> None:
    """What a maintainer removed from the tree, or a very long history, does not reach this machine."""
    remote.publish({"rules/a.md": "a", "rules/big.bin": os.urandom(3_000_000)})
    remote.repo.delete("rules/big.bin")
    commit = remote.publish({})
    small = taker.environment.updated({"AI_RULEZ_MAX_CLONE_BYTES": "100000"})
    tree = Fetcher(small, taker.repo.root).tree(source_of(source=remote.url), commit)
    assert files(tree.folder) == {"rules/a.md"}


def test_an_abandoned_commit_can_be_pinned(taker: Taker, remote: Remote) -> None:
    """A commit that no branch holds any more, as long as the remote gives it."""
    commit = remote.publish(CONTENT)
    remote.repo.git("reset", "-q", "--hard", "HEAD~1")
    remote.publish({"other": "x"})
    assert files(taker.fetcher().tree(source_of(source=remote.url), commit).folder) == {"rules/style.md"}
    with pytest.raises(GitError, match=f"^{remote.url}: "):
        taker.fetcher().tree(source_of(source=remote.url), "1" * 40)
    blob = remote.repo.git("rev-parse", "HEAD:other")
    with pytest.raises(GitError, match=f"{blob} names no commit there|not a commit|bad object"):
        taker.fetcher().tree(source_of(source=remote.url), blob)


@pytest.mark.parametrize("variable", ["AI_RULEZ_MAX_CLONE_BYTES", "AI_RULEZ_MAX_CLONE_FILES"])
@pytest.mark.parametrize("text", ["0", "-1", "1k", "1.5", "²"])
def test_limits_must_be_numbers(taker: Taker, remote: Remote, variable: str, text: str) -> None:
    """A typo must not take a limit away."""
    commit = remote.publish(CONTENT)
    fetcher = Fetcher(taker.environment.updated({variable: text}), taker.repo.root)
    with pytest.raises(UsageError, match=f"^{variable} must be a whole number above 0, found '{text}'$"):
        fetcher.tree(source_of(source=remote.url), commit)
