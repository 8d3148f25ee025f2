"""Sources from remotes that attack, hang or ask, and a cache that others damage, lock, fill or share."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError, GitError, WorkspaceError
from pytest_reqfile.reqfile.sources import GitSources
from pytest_reqfile.reqfile.values import RepositoryUse
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import exclusive_lock
from pytest_reqfile.workspace.remotes import Remotes
from tests.support import Repo
from tests.support.packages import REPOSITORY, Consumer, requirements, saying, uses
from tests.support.trees import Entry, blob, commit, tree

REGULAR, FOLDER, LINK = "100644", "40000", "120000"


@pytest.fixture
def consumer(make_repo: Callable[[str], Repo], tmp_path: Path) -> Consumer:
    """An empty repository and the empty remote ``globex/rules``."""
    rules = make_repo(f"remotes/{REPOSITORY}")
    return Consumer(repo=make_repo("repo"), rules=rules, remotes=tmp_path / "remotes")


@pytest.fixture
def cache(consumer: Consumer) -> Path:
    """The folder of the sources in the consumer's cache."""
    return Path(consumer.repo.variables["REQFILE_CACHE"], "sources")


def environment(consumer: Consumer, **variables: str) -> Environment:
    return consumer.repo.environment.updated({**consumer.env, **variables})


def pinned(oid: str) -> RepositoryUse:
    return RepositoryUse(repo=REPOSITORY, ref=oid, commit=True)


def load(consumer: Consumer, oid: str, *, cached_only: bool = False) -> Path:
    """The extracted folder, by a new run."""
    return Path(GitSources(environment(consumer), cached_only=cached_only).load(pinned(oid)).root)


def published(consumer: Consumer) -> str:
    """A commit with a requirement and an asset of some size."""
    consumer.rules.write(".reqfile/X/asset", os.urandom(50_000))
    return consumer.publish(requirements({"X": saying("said")}))


def inside(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "name", ["..", ".", ".git", ".GIT", "../../escaped", "a/../../escaped", "/tmp/escaped", "a//b"]
)
def test_names_that_leave_their_folder_are_refused(consumer: Consumer, cache: Path, name: str) -> None:
    """A tree made by hand; the message names the location and nothing is written anywhere."""
    rules = consumer.rules
    entries: list[Entry] = [(REGULAR, "Reqfile.yaml", blob(rules, b"reqfile: 1\n"))]
    content = tree(rules, [(REGULAR, "config", blob(rules, b"bad"))])
    entries.append((FOLDER, name, content))
    oid = commit(rules, tree(rules, entries))
    with pytest.raises(
        WorkspaceError, match=f"cannot extract {REPOSITORY}@{oid}: .* is refused: its tree holds the unsafe"
    ):
        load(consumer, oid)
    assert not (cache / "commits").exists()
    assert inside(cache / "staging") == set()


def test_nothing_is_written_through_a_symlink_of_the_tree(consumer: Consumer, tmp_path: Path) -> None:
    """The same name twice: a symlink out of the tree, and a folder whose file would land where it points."""
    rules, outside = consumer.rules, tmp_path / "outside"
    outside.mkdir()
    link = blob(rules, os.fsencode(outside))
    for inner in ((REGULAR, "planted", blob(rules, b"planted")), (LINK, "planted", blob(rules, b"target"))):
        for order in (1, -1):
            entries: list[Entry] = [(LINK, "a", link), (FOLDER, "a", tree(rules, [inner]))][::order]
            oid = commit(rules, tree(rules, entries))
            try:
                root = load(consumer, oid)
            except FileError:
                continue
            assert not (root / "a").is_symlink()
    assert inside(outside) == set()


def test_a_relative_symlink_twice_named_does_not_lead_out(consumer: Consumer, tmp_path: Path) -> None:
    """As above, the symlink being relative so that it would be made."""
    rules = consumer.rules
    entries: list[Entry] = [
        (LINK, "a", blob(rules, b"../../../..")),
        (FOLDER, "a", tree(rules, [(LINK, "planted", blob(rules, b"x"))])),
    ]
    oid = commit(rules, tree(rules, entries))
    with pytest.raises(FileError, match=f"cannot extract {REPOSITORY}@{oid}: cannot write .*/a: File exists"):
        load(consumer, oid)
    assert not list(tmp_path.rglob("planted"))


def test_a_hook_around_us_is_no_concern_of_ours(consumer: Consumer) -> None:
    """Variables that git sets for hooks, and the configuration of the repository that is committed to."""
    oid = published(consumer)
    consumer.rules.git("tag", "v1")
    consumer.repo.write("app/Reqfile.yaml", uses({"X": f"{REPOSITORY}@{oid}"}))
    hook = {"GIT_DIR": str(consumer.repo.root / ".git"), "GIT_INDEX_FILE": "/nonexistent", "GIT_WORK_TREE": "/"}
    before = inside(consumer.repo.root / ".git/objects")
    consumer.repo.git("config", "url.file:///nowhere/.insteadOf", f"{consumer.remotes}/")
    assert "X  said\n" in consumer.run("check", env=hook).out
    assert f"v1 resolved to commit {oid}" in consumer.run("add", f"{REPOSITORY}@v1", "--dry-run", env=hook).out
    assert inside(consumer.repo.root / ".git/objects") == before


def test_several_processes_fetch_at_once(consumer: Consumer, cache: Path) -> None:
    """Six runs that start with an empty cache say the same and leave one sound store and nothing else."""
    commits = [published(consumer), published(consumer)]
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{commits[0]}"}))
    consumer.repo.write("app/Reqfile.yaml", uses({"X": f"{REPOSITORY}@{commits[1]}"}))
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "check")
    env = {**consumer.repo.variables, **consumer.env}
    runs = [
        subprocess.Popen(command, cwd=consumer.repo.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(6)
    ]
    ends = {(*run.communicate(timeout=60), run.returncode) for run in runs}
    ((out, err, code),) = ends
    assert (err, code) == (b"", 1)
    assert out.count(b"X  said\n") == 2
    assert inside(cache / "staging") == set()
    assert {entry.name for entry in (cache / "commits").iterdir()} == set(commits)
    fsck = consumer.repo.execute("git", f"--git-dir={cache}/objects.git", "fsck", "--no-dangling")
    assert (fsck.code, fsck.out) == (0, fsck.out)
    for oid in commits:
        assert load(consumer, oid, cached_only=True) == cache / "commits" / oid


@pytest.mark.parametrize("damage", ["file removed", "file cut", "folder removed", "manifest removed", "manifest cut"])
def test_a_damaged_tree_is_extracted_again_without_the_remote(consumer: Consumer, cache: Path, damage: str) -> None:
    """What a cleaner of temporary files or a crash has done; the commit is still in the bare store."""
    oid = published(consumer)
    root = load(consumer, oid)
    asset, manifest = root / ".reqfile/X/asset", cache / "manifests" / oid
    content = asset.read_bytes()
    match damage:
        case "file removed":
            asset.unlink()
        case "file cut":
            asset.write_bytes(content[:100])
        case "folder removed":
            shutil.rmtree(root)
        case "manifest removed":
            manifest.unlink()
        case _:
            manifest.write_bytes(manifest.read_bytes()[:-5])
    consumer.unpublish()
    assert load(consumer, oid, cached_only=True) == root
    assert asset.read_bytes() == content
    assert inside(cache / "staging") == set()


def test_an_extracted_tree_needs_no_store_and_no_writing(consumer: Consumer, cache: Path) -> None:
    """Without the bare store, without the remote, in a folder where nothing can be written."""
    oid = published(consumer)
    root = load(consumer, oid)
    shutil.rmtree(cache / "objects.git")
    consumer.unpublish()
    before = inside(cache)
    cache.chmod(0o555)
    try:
        assert load(consumer, oid) == root
    finally:
        cache.chmod(0o755)
    assert inside(cache) == before


@pytest.mark.parametrize("damage", ["packs cut", "objects removed", "HEAD cut", "a file instead"])
def test_a_damaged_store_is_fetched_anew(consumer: Consumer, cache: Path, damage: str) -> None:
    """With the remote it heals; without, the error names the location and the store stays for better times."""
    oid = published(consumer)
    root = load(consumer, oid)
    content = (root / ".reqfile/X/asset").read_bytes()
    store = cache / "objects.git"
    _damage_store(store, damage)
    (cache / "manifests" / oid).unlink()
    (root / ".reqfile/X/asset").unlink()
    consumer.rules.root.rename(consumer.rules.root.with_name("gone"))
    with pytest.raises(WorkspaceError, match=f"{REPOSITORY}@{oid}"):
        load(consumer, oid)
    consumer.rules.root.with_name("gone").rename(consumer.rules.root)
    assert load(consumer, oid) == root
    assert (root / ".reqfile/X/asset").read_bytes() == content
    assert inside(cache / "staging") == set()


def _damage_store(store: Path, damage: str) -> None:
    objects = [path for path in (store / "objects").rglob("*") if path.is_file()]
    match damage:
        case "packs cut":
            for path in objects:
                path.chmod(0o644)
                path.write_bytes(path.read_bytes()[:40])
        case "objects removed":
            for path in objects:
                path.unlink()
        case "HEAD cut":
            (store / "HEAD").write_bytes(b"")
        case _:
            shutil.rmtree(store)
            store.write_text("no folder")


def test_a_full_disk_is_told_and_leaves_nothing_wrong(consumer: Consumer, cache: Path) -> None:
    """No file may grow beyond 8 KiB; then the same run without that limit works."""
    oid = published(consumer)
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{oid}"}))
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "check")
    env = {"PYTHONDONTWRITEBYTECODE": "1", **consumer.env}
    limited = ("sh", "-c", 'ulimit -f 16; exec "$@"', "sh", *command)
    done = consumer.repo.execute(*limited, env=env)
    assert (done.code, done.err) == (3, "")
    assert f"error  Reqfile.yaml:3: cannot fetch {REPOSITORY}@{oid}: " in done.out
    assert not (cache / "commits").exists()
    assert "X  said\n" in consumer.run("check").out
    shutil.rmtree(cache / "commits")
    done = consumer.repo.execute(*limited, env=env)
    assert (done.code, done.err) == (3, "")
    assert f"error  Reqfile.yaml:3: cannot extract {REPOSITORY}@{oid}: cannot write " in done.out
    assert ": File too large\n" in done.out
    assert "X  said\n" in consumer.run("check").out
    assert inside(cache / "staging") == set()


def test_a_cache_that_cannot_be_made_is_an_error(consumer: Consumer, tmp_path: Path) -> None:
    """A file where the cache should be; no variable that says where it should be."""
    oid = published(consumer)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot write .*file/sources"):
        GitSources(environment(consumer, REQFILE_CACHE=str(tmp_path / "file"))).load(pinned(oid))
    lost = environment(consumer).without(("REQFILE_CACHE", "XDG_CACHE_HOME", "HOME"))
    with pytest.raises(WorkspaceError, match=r"^cannot find a cache folder: set REQFILE_CACHE or HOME$"):
        GitSources(lost).load(pinned(oid))


def test_a_held_lock_is_waited_for_and_then_told(tmp_path: Path) -> None:
    """Another holder, which lets go in time or does not."""
    path = tmp_path / "a" / "lock"
    with exclusive_lock(path), pytest.raises(FileError, match=r"another process has held it for 0.1 seconds"):
        exclusive_lock(path, seconds=0.1).__enter__()
    with exclusive_lock(path, seconds=0.1):
        pass


def test_what_killed_processes_left_is_swept_after_a_day(consumer: Consumer, cache: Path) -> None:
    """An old staging folder goes with the next extraction, a young one may be in use."""
    old, young = cache / "staging/commit-old", cache / "staging/commit-young"
    for folder in (old, young):
        (folder / "half").mkdir(parents=True)
    two_days_ago = time.time() - 2 * 24 * 60 * 60
    os.utime(old, (two_days_ago, two_days_ago))
    load(consumer, published(consumer))
    assert (old.exists(), young.exists()) == (False, True)


@pytest.fixture
def silent_host() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_remote_that_hangs_is_given_up(consumer: Consumer, silent_host: str) -> None:
    """Fetching and resolving end at their limits; a tag that was resolved before is used."""
    oid = consumer.publish(requirements({"X": saying("said")}), tag="v1")
    tag = RepositoryUse(repo=REPOSITORY, ref="v1", commit=False)
    GitSources(environment(consumer)).load(tag)
    env = environment(consumer, REQFILE_GIT_BASE=silent_host)
    impatient = GitSources(env, remotes=Remotes(environment=env, listing_seconds=0.5, fetch_seconds=0.5))
    started = time.monotonic()
    source = impatient.load(tag)
    assert (source.commit, source.offline) == (oid, True)
    silent = f"{silent_host}/{REPOSITORY} did not answer within 0.5 seconds"
    with pytest.raises(GitError, match=f"cannot fetch .*: commit {'0' * 40} is not in {silent_host}/.*: {silent}"):
        impatient.load(pinned("0" * 40))
    with pytest.raises(WorkspaceError, match=f"cannot read the tags of {REPOSITORY}: .* cannot be reached: {silent}"):
        impatient.tags(REPOSITORY)
    assert time.monotonic() - started < 20


class _Asking(BaseHTTPRequestHandler):
    """Wants a password for everything."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="private"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def asking_host() -> Iterator[str]:
    """A server that answers everything with 401."""
    with HTTPServer(("127.0.0.1", 0), _Asking) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_remote_that_asks_for_a_password_is_an_error(consumer: Consumer, asking_host: str) -> None:
    """Nobody is asked, and nothing waits for an answer."""
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{'1' * 40}"}))
    done = consumer.run("check", env={"REQFILE_GIT_BASE": asking_host})
    assert done.code == 3
    assert "terminal prompts disabled" in done.out


def test_credentials_of_a_remote_are_never_shown(consumer: Consumer, asking_host: str) -> None:
    """A token in $REQFILE_GIT_BASE reaches no message."""
    base = asking_host.replace("http://", "http://someone:s3cret@")
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{'1' * 40}"}))
    for argv in (("check",), ("update",), ("add", f"{REPOSITORY}@v1"), ("check", "--use", f"{REPOSITORY}@v1")):
        done = consumer.run(*argv, env={"REQFILE_GIT_BASE": base})
        assert done.code == 3
        assert asking_host in done.out + done.err
        assert "s3cret" not in done.out + done.err
        assert "someone" not in done.out + done.err


def test_problems_inside_a_source_name_it(consumer: Consumer) -> None:
    """A source that is wrong is the source's own affair, and said to be."""
    oid = consumer.publish("reqfile: 2\n")
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{oid}"}))
    done = consumer.run("check")
    assert done.code == 3
    version = "Reqfile.yaml:1: unsupported Reqfile version 2; this reqfile supports version 1"
    assert done.out.startswith(f"error  in {REPOSITORY}@{oid}: {version}\n\n")
    added = consumer.run("add", f"{REPOSITORY}@{oid}")
    assert (added.code, added.err) == (3, f"error: in {REPOSITORY}@{oid}: {version}\n")


def test_a_symlinked_reqfile_or_config_of_a_source_is_none(consumer: Consumer) -> None:
    """Content from outside the source never defines anything (seed 004 EXCLUDE)."""
    consumer.rules.write("real/R.txt", requirements({"X": saying("linked")}))
    consumer.rules.symlink("Reqfile.yaml", "real/R.txt")
    oid = consumer.rules.commit()
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{oid}"}))
    assert f"no Reqfile at or under the root of {REPOSITORY} at commit {oid} defines X" in consumer.run("check").out


def test_owner_and_repository_cannot_climb(consumer: Consumer) -> None:
    """``a/..`` would be another folder of the host."""
    consumer.repo.write("Reqfile.yaml", uses({"X": f"a/..@{'1' * 40}"}))
    done = consumer.run("check")
    assert done.code == 3
    assert f"Reqfile.yaml:3: `use: a/..@{'1' * 40}` must be a folder" in done.out


def test_nothing_is_fetched_when_only_the_cache_counts(consumer: Consumer) -> None:
    """The error names the location; a tag is what it was last."""
    oid = consumer.publish(requirements({"X": saying("said")}), tag="v1")
    tag = RepositoryUse(repo=REPOSITORY, ref="v1", commit=False)
    for use in (pinned(oid), tag):
        with pytest.raises(WorkspaceError, match=f"^{use} is not in the cache .* `reqfile check` fetches it$"):
            GitSources(environment(consumer), cached_only=True).load(use)
    GitSources(environment(consumer)).load(tag)
    consumer.publish(requirements({"X": saying("moved")}), tag="v1")
    source = GitSources(environment(consumer), cached_only=True).load(tag)
    assert (source.commit, source.offline) == (oid, True)
    assert load(consumer, oid, cached_only=True).is_dir()
