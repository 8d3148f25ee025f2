"""Remote sources that attack, hang, hide or grow, and a cache that others share, fill or damage (issue 7)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError, ReqfileError, WorkspaceError
from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.remotes import Remotes
from tests.support import Repo
from tests.support.git_server import GitServer, serve_git
from tests.support.remotes import CONTENT, Remote, Taker, source_of
from tests.support.tls import certificate, server_context
from tests.support.trees import Entry, blob, commit, tree

FILE, FOLDER, LINK = "100644", "40000", "120000"
RULE = ".ai-rulez/rules/style.md"


@pytest.fixture
def taker(make_repo: Callable[[str], Repo]) -> Taker:
    return Taker(make_repo)


@pytest.fixture
def remote(taker: Taker) -> Remote:
    return taker.remote()


def fetch(taker: Taker, remote: Remote, oid: str, **variables: str) -> Path:
    """The content of an include at a commit, by a new run."""
    fetcher = Fetcher(taker.environment.updated(variables), taker.repo.root)
    return fetcher.tree(source_of(source=remote.url), oid).folder


def inside(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def nothing_is_left(taker: Taker) -> None:
    assert not list((taker.cache / "staging").iterdir())


def test_nothing_of_a_repository_acts(taker: Taker, remote: Remote, tmp_path: Path) -> None:
    """Attributes that name filters, LFS pointers, submodules, hooks of remote and user: only bytes arrive."""
    fired = tmp_path / "fired"
    script = f"#!/bin/sh\ntouch {fired}\n"
    for hook in ("post-checkout", "pre-auto-gc", "post-update", "pre-receive", "upload-pack"):
        remote.repo.write(f".git/hooks/{hook}", script, mode=0o755)
    remote.repo.git("config", "uploadpack.packObjectsHook", f"touch {fired}")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    remote.repo.write(".ai-rulez/.gitattributes", "* filter=evil text eol=crlf ident\n")
    remote.repo.write(".lfsconfig", "[lfs]\n\turl = https://evil.invalid\n")
    remote.repo.write(".gitmodules", f'[submodule "s"]\n\tpath = .ai-rulez/s\n\turl = ext::sh -c "touch% {fired}"\n')
    remote.publish({RULE: "$Id$\n", ".ai-rulez/skills/x/assets/big.bin": pointer})
    remote.repo.git(
        "update-index", "--add", "--cacheinfo", f"160000,{remote.repo.git('rev-parse', 'HEAD')},.ai-rulez/s"
    )
    remote.repo.git("commit", "-qm", "submodule")
    template = tmp_path / "template"
    for hook in ("post-checkout", "reference-transaction"):
        (template / "hooks").mkdir(parents=True, exist_ok=True)
        (template / "hooks" / hook).write_text(script)
        (template / "hooks" / hook).chmod(0o755)
    (tmp_path / "gitconfig").write_text(
        f'[init]\n\ttemplateDir = {template}\n[filter "evil"]\n\tsmudge = touch {fired}\n\tprocess = touch {fired}\n'
    )
    folder = fetch(taker, remote, remote.repo.git("rev-parse", "HEAD"), GIT_CONFIG_GLOBAL=str(tmp_path / "gitconfig"))
    assert inside(folder) == {".gitattributes", "rules/style.md", "skills/x/assets/big.bin"}
    assert (folder / "rules/style.md").read_bytes() == b"$Id$\n"
    assert (folder / "skills/x/assets/big.bin").read_text() == pointer
    assert not fired.exists()
    nothing_is_left(taker)


def test_a_repository_inside_the_project_sends_nobody_elsewhere(taker: Taker, tmp_path: Path) -> None:
    """One that lacks objects and says where to get them: over ssh by a program of its own, or from another path."""
    inner = Remote(taker.repo)  # builds objects where the project is
    oid = inner.publish({"rules/a.md": "a"})
    fired = tmp_path / "fired"
    script = tmp_path / "ssh"
    script.write_text(f"#!/bin/sh\ntouch {fired}\n")
    script.chmod(0o755)
    bare = taker.repo.root / "bare.git"
    taker.repo.git("clone", "-q", "--bare", "--no-local", f"file://{taker.repo.root}", str(bare))
    blob_id = taker.repo.git("rev-parse", f"{oid}:rules/a.md")
    taker.repo.execute("git", f"--git-dir={bare}", "repack", "-adq")
    for pack in bare.glob("objects/pack/*.pack"):
        taken = tmp_path / pack.name
        pack.rename(taken)
        taker.repo.execute("sh", "-c", f'git --git-dir="{bare}" unpack-objects -q < "{taken}"')
    for index in bare.glob("objects/pack/*"):
        index.unlink()
    (bare / "objects" / blob_id[:2] / blob_id[2:]).unlink()
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://evil.invalid/r"),
        ("core.sshCommand", str(script)),
        ("uploadpack.packObjectsHook", str(script)),
    ):
        taker.repo.execute("git", f"--git-dir={bare}", "config", key, value)
    environment = taker.environment.without(("AI_RULEZ_ALLOW_FILE_URLS",))
    fetcher = Fetcher(environment, taker.repo.root)
    source = source_of(source="file://bare.git")
    assert fetcher.commit_of(source) == oid
    with pytest.raises(GitError, match=f"^file://bare.git: .*{blob_id}|could not fetch|missing|bad object|promisor"):
        fetcher.tree(source, oid)
    assert not fired.exists()


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "../../escaped", "a//b", "/tmp/escaped"])
def test_names_that_leave_their_folder_are_refused(taker: Taker, remote: Remote, name: str) -> None:
    """In the content and, for a whole repository, anywhere; nothing of the tree arrives."""
    planted = tree(remote.repo, [(FILE, "config", blob(remote.repo, b"bad"))])
    content: list[Entry] = [(FOLDER, "rules", tree(remote.repo, [(FILE, "a.md", blob(remote.repo, b"a"))]))]
    oid = commit(
        remote.repo, tree(remote.repo, [(FOLDER, ".ai-rulez", tree(remote.repo, [*content, (FOLDER, name, planted)]))])
    )
    with pytest.raises(WorkspaceError, match=f"^{remote.url}: commit {oid} is refused: its tree holds the unsafe path"):
        fetch(taker, remote, oid)
    assert not (taker.cache / "commits").exists()
    nothing_is_left(taker)


def test_links_that_lead_out_are_pinned_and_never_followed(taker: Taker, remote: Remote, tmp_path: Path) -> None:
    """A rule, a folder and a declaration that are links: none is read, and retargeting one changes the digest."""
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n")
    remote.publish({RULE: "# Style\n"})
    remote.repo.symlink(".ai-rulez/rules/leak.md", str(secret))
    remote.repo.symlink(".ai-rulez/context", str(tmp_path))
    remote.repo.symlink(".ai-rulez/skills", "../../../../../..")
    taker.takes(remote)
    remote.publish({})
    before = taker.lock().includes[0].digest

    def fetched(source: Source) -> Path | str:
        found = taker.fetcher().cached(source, taker.include())
        assert found is not None
        return found.folder

    project = load_project(taker.project.load().place, fetched=fetched)
    assert [item.name for item in project.items if item.origin.kind == "include"] == ["style"]
    remote.repo.delete(".ai-rulez/rules/leak.md")
    remote.repo.symlink(".ai-rulez/rules/leak.md", "/etc/passwd")
    remote.publish({})
    assert taker.lock().includes[0].digest != before


@pytest.mark.parametrize("name", [".cache_meta.json", ".cache_meta.json.tmp"])
def test_what_no_digest_covers_does_not_arrive(taker: Taker, remote: Remote, name: str) -> None:
    """The names of ai-rulez's bookkeeping are left out of digests, so a file of that name could change unseen."""
    remote.publish({RULE: "# Style\n", f".ai-rulez/{name}": "sh", f".ai-rulez/skills/{name}": "pinned"})
    taker.takes(remote)
    taker.lock()
    (cached,) = (taker.cache / "commits").iterdir()
    assert inside(cached) == {"rules/style.md", f"skills/{name}"}


def test_the_cache_is_for_its_owner(taker: Taker, remote: Remote) -> None:
    """A private repository stays private on a machine of many."""
    remote.publish({RULE: "# Style\n"})
    taker.takes(remote)
    taker.lock()
    assert taker.cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"AI_RULEZ_MAX_CLONE_FILES": "3"}, "is too large to be a source: at most 3 files and 256 MiB"),
        ({"AI_RULEZ_MAX_CLONE_BYTES": "3000000"}, "is too large to be a source: at most 20000 files and 2 MiB"),
        ({"AI_RULEZ_MAX_CLONE_BYTES": "100000"}, "more than 0 MiB would have to be fetched"),
    ],
)
def test_a_repository_that_is_too_large(taker: Taker, remote: Remote, limits: dict[str, str], message: str) -> None:
    """Many files, a blob that packs well, a pack that is large already: refused before it is written."""
    content: dict[str, str | bytes] = {f".ai-rulez/rules/{number}.md": "x" for number in range(4)}
    oid = remote.publish({**content, ".ai-rulez/zeros": bytes(4_000_000), "noise": os.urandom(400_000)})
    with pytest.raises(WorkspaceError, match=message) as caught:
        fetch(taker, remote, oid, **limits)
    assert str(caught.value).endswith(" (AI_RULEZ_MAX_CLONE_FILES and AI_RULEZ_MAX_CLONE_BYTES set the limits)")
    assert not (taker.cache / "commits").exists()
    nothing_is_left(taker)


def test_a_tree_without_end(taker: Taker, remote: Remote) -> None:
    """Ten objects that name ten to the tenth files."""
    inner = tree(remote.repo, [(FILE, str(number), blob(remote.repo, b"x")) for number in range(10)])
    for _ in range(9):
        inner = tree(remote.repo, [(FOLDER, str(number), inner) for number in range(10)])
    oid = commit(remote.repo, tree(remote.repo, [(FOLDER, ".ai-rulez", inner)]))
    started = time.monotonic()
    with pytest.raises(WorkspaceError, match="is too large to be a source"):
        fetch(taker, remote, oid)
    assert time.monotonic() - started < 30


def test_rewritten_history(taker: Taker, remote: Remote) -> None:
    """A branch is followed wherever it was moved; one that is gone is an error, and the lock stays."""
    taker.takes(remote, ref="stable")
    remote.publish(CONTENT)
    remote.repo.git("branch", "stable")
    first = taker.lock().includes[0].commit
    remote.repo.git("checkout", "-q", "--orphan", "other")
    second = remote.publish({RULE: "# Rewritten\n"})
    remote.repo.git("branch", "-f", "stable", second)
    assert taker.lock().includes[0].commit == second
    assert first != second
    before = taker.written()
    remote.repo.git("branch", "-D", "stable")
    with pytest.raises(ReqfileError, match='has no branch or tag "stable"'):
        taker.lock()
    assert taker.written() == before


@pytest.fixture
def sleeping_ssh(tmp_path: Path) -> Path:
    """An ssh that says it has begun, and then nothing for a minute."""
    script = tmp_path / "ssh"
    script.write_text(f'#!/bin/sh\ntouch "{tmp_path}/begun"\nsleep 60\n')
    script.chmod(0o755)
    return script


def test_a_remote_that_hangs_is_given_up(taker: Taker, sleeping_ssh: Path) -> None:
    """Listing and fetching alike; the failure is kept, so that ten sources of one host cost their time once."""
    environment = taker.environment.updated({"GIT_SSH": str(sleeping_ssh)})
    remotes = Remotes(environment=environment, listing_seconds=0.5, fetch_seconds=0.5)
    fetcher = Fetcher(environment, taker.repo.root, remotes=remotes)
    source = source_of(source="git@h.invalid:o/r")
    started = time.monotonic()
    silent = "git@h.invalid:o/r: git@h.invalid:o/r did not answer within 0.5 seconds"
    asks: list[Callable[[], object]] = [
        lambda: fetcher.tags(source),
        lambda: fetcher.commit_of(source),
        lambda: fetcher.tree(source, "1" * 40),
    ]
    for ask in asks * 5:
        with pytest.raises(GitError) as caught:
            ask()
        assert str(caught.value) == silent
    assert time.monotonic() - started < 15
    nothing_is_left(taker)


def test_ctrl_c_while_fetching(taker: Taker, remote: Remote, sleeping_ssh: Path) -> None:
    """At once, without a half-written lock, without anything in the cache, without a process that goes on."""
    remote.publish(CONTENT)
    taker.takes(remote)
    taker.lock()
    before = taker.written()
    taker.project.config('[[includes]]\nname = "shared"\nsource = "git@h.invalid:o/r"\n')
    process = subprocess.Popen(
        (sys.executable, "-P", "-m", "pytest_reqfile", "lock"),
        cwd=taker.repo.root,
        env={**taker.repo.variables, "GIT_SSH": str(sleeping_ssh)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    begun = sleeping_ssh.with_name("begun")
    deadline = time.monotonic() + 30
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode not in {0, 1}
    assert b"Traceback" not in err
    assert taker.written() == before
    nothing_is_left(taker)
    listing = subprocess.run(("ps", "-eo", "args"), capture_output=True, text=True, check=True).stdout
    assert str(sleeping_ssh) not in listing


def test_several_processes_lock_at_once(taker: Taker, remote: Remote) -> None:
    """Six with an empty cache: each succeeds, with the same bytes, and nothing else is left."""
    remote.publish({**CONTENT, **{f".ai-rulez/rules/{number}.md": f"{number}" for number in range(40)}}, "v1.0.0")
    taker.takes_all(taker.entry(remote, version="^1"), taker.entry(remote, "skill_sources", name="acme"))
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "lock")
    runs = [
        subprocess.Popen(
            command, cwd=taker.repo.root, env=taker.repo.variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(6)
    ]
    ends = {(*run.communicate(timeout=90), run.returncode) for run in runs}
    ((_, err, code),) = ends
    assert (err, code) == (b"", 0)
    assert taker.project.lines() == []
    assert len(list((taker.cache / "commits").iterdir())) == 2
    nothing_is_left(taker)


@pytest.mark.parametrize("damage", ["a file instead", "a link instead", "emptied", "a file more", "a file less"])
def test_a_damaged_cache_heals(taker: Taker, remote: Remote, tmp_path: Path, damage: str) -> None:
    """What somebody did to it never reaches a pin, nor is anything outside of it touched."""
    remote.publish({**CONTENT, ".ai-rulez/rules/b.md": "b"})
    taker.takes(remote)
    lock = taker.lock()
    (cached,) = (taker.cache / "commits").iterdir()
    elsewhere = tmp_path / "elsewhere"
    match damage:
        case "a file instead":
            shutil.rmtree(cached)
            cached.write_text("x")
        case "a link instead":
            cached.rename(elsewhere)
            (elsewhere / "rules/b.md").write_text("evil")
            cached.symlink_to(elsewhere)
        case "emptied":
            shutil.rmtree(cached)
            cached.mkdir()
        case "a file more":
            (cached / "rules/c.md").write_text("evil")
        case _:
            (cached / "rules/b.md").unlink()
    assert taker.lock() == lock
    assert inside(cached) == {"rules/style.md", "rules/b.md"}
    assert not cached.is_symlink()
    if damage == "a link instead":
        assert inside(elsewhere) == {"rules/style.md", "rules/b.md"}
    assert taker.project.lines() == []


def test_a_full_disk(taker: Taker, remote: Remote) -> None:
    """No file may grow beyond 8 KiB: told, the lock untouched; then the same run works."""
    remote.publish({**CONTENT, ".ai-rulez/rules/large.md": os.urandom(30_000).hex()})
    taker.takes(remote)
    limited = ("sh", "-c", 'ulimit -f 16; exec "$@"', "sh", sys.executable, "-P", "-m", "pytest_reqfile", "lock")
    done = taker.repo.execute(*limited, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[1].startswith(f'      include "shared": {remote.url}: ')
    assert taker.project.read() is None
    assert not (taker.cache / "commits").exists()
    assert taker.run().code == 0
    nothing_is_left(taker)


def test_a_cache_that_cannot_be_written(taker: Taker, remote: Remote) -> None:
    """A file where it should be, or no place for one: an error, and the lock stays."""
    remote.publish(CONTENT)
    taker.takes(remote)
    taker.lock()
    before = taker.written()
    remote.publish({RULE: "# New\n"})
    shutil.rmtree(taker.cache)
    taker.cache.write_text("no folder")
    done = taker.run()
    assert (done.code, taker.written()) == (1, before)
    assert f"cannot write {taker.cache}" in done.err
    check = taker.run("--check")
    assert (check.code, "note: include shared not cached" in check.out) == (0, True)


@pytest.fixture
def server(taker: Taker, tmp_path: Path) -> Iterator[GitServer]:
    """git over https, which the taker's git trusts."""
    folder = tmp_path / "tls"
    folder.mkdir()
    cert, key = certificate(folder)
    taker.repo.variables |= {"GIT_SSL_CAINFO": str(cert)}
    with serve_git(tmp_path, server_context(cert, key)) as made:
        yield made


def over_https(taker: Taker, server: GitServer, path: str = "/remote/.git") -> None:
    """The include comes from the server."""
    taker.project.config(f'[[includes]]\nname = "shared"\nsource = "{server.url}{path}"\nversion = "^1"\n')


def basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def test_a_token_reaches_the_host_that_its_owner_names(
    taker: Taker, remote: Remote, server: GitServer, tmp_path: Path
) -> None:
    """All that git asks there carries it; no list of processes, no message and no file does."""
    remote.publish(CONTENT, "v1.0.0")
    server.demands = basic("x-access-token", "t0ken")
    over_https(taker, server)
    shims = tmp_path / "bin"
    shims.mkdir()
    (shims / "git").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{tmp_path}/argv"\nexec {shutil.which("git")} "$@"\n'
    )
    (shims / "git").chmod(0o755)
    env = {"PATH": f"{shims}:{os.environ['PATH']}", "AI_RULEZ_GIT_TOKEN": "t0ken"}
    refused = taker.run(env=env)
    assert refused.code == 1
    assert server.authorizations == {None}
    done = taker.run(env={**env, "AI_RULEZ_GIT_TOKEN_HOSTS": server.host})
    assert (done.code, done.err) == (0, "")
    assert server.authorizations == {None, server.demands}
    argv = (tmp_path / "argv").read_text()
    assert "fetch" in argv
    written = [
        path.read_bytes()
        for path in (*taker.cache.rglob("*"), taker.project.folder / "ai-rulez.lock")
        if path.is_file()
    ]
    for text in (argv, refused.err, done.out, *(data.decode("utf-8", "replace") for data in written)):
        assert "t0ken" not in text
        assert server.demands.removeprefix("Basic ") not in text


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "GH_TOKEN"])
def test_github_tokens_reach_no_other_host(taker: Taker, remote: Remote, server: GitServer, name: str) -> None:
    """Not even one that the user names for their own token."""
    remote.publish(CONTENT, "v1.0.0")
    over_https(taker, server)
    done = taker.run(env={name: "t0ken", "AI_RULEZ_GIT_TOKEN_HOSTS": server.host})
    assert done.code == 0
    assert server.authorizations == {None}


def test_credentials_do_not_follow_a_redirect(taker: Taker, remote: Remote, server: GitServer, tmp_path: Path) -> None:
    """With a password or token a redirect is an error; without one git goes where it is sent."""
    remote.publish(CONTENT, "v1.0.0")
    with serve_git(tmp_path, server_context(tmp_path / "tls/cert.pem", tmp_path / "tls/key.pem")) as other:
        server.moved_to = other.url
        over_https(taker, server, "/moved/remote/.git")
        done = taker.run(env={"AI_RULEZ_GIT_TOKEN": "t0ken", "AI_RULEZ_GIT_TOKEN_HOSTS": server.host})
        assert (done.code, other.connections) == (1, 0)
        assert "(credentials do not follow a redirect: give the source the URL that it leads to)" in done.err
        assert server.authorizations == {basic("x-access-token", "t0ken")}
        password = server.url.replace("https://", "https://me:s3cret@")
        taker.project.config(
            f'[[includes]]\nname = "shared"\nsource = "{password}/moved/remote/.git"\nversion = "^1"\n'
        )
        assert (taker.run().code, other.connections) == (1, 0)
        over_https(taker, server, "/moved/remote/.git")
        assert taker.run().code == 0
        assert other.authorizations == {None}


def test_a_server_that_asks_for_a_password(taker: Taker, remote: Remote, server: GitServer) -> None:
    """Nobody is asked; the one in the URL is used, and locked nowhere."""
    remote.publish(CONTENT, "v1.0.0")
    server.demands = basic("me", "s3cret")
    over_https(taker, server)
    started = time.monotonic()
    done = taker.run(env={"GIT_ASKPASS": "", "SSH_ASKPASS": ""})
    assert (done.code, time.monotonic() - started < 20) == (1, True)
    assert f'include "shared": {server.url}/remote/.git: fatal: could not read Username' in done.err
    password = server.url.replace("https://", "https://me:s3cret@")
    taker.project.config(f'[[includes]]\nname = "shared"\nsource = "{password}/remote/.git"\nversion = "^1"\n')
    assert taker.run().code == 0
    assert taker.include().source == f"{server.url}/remote/.git"
    assert b"s3cret" not in taker.written()


def test_no_other_protocol_is_spoken(taker: Taker, remote: Remote, tmp_path: Path) -> None:
    """Whatever the user's configuration turns a URL into, and never more than the user allows."""
    remote.publish(CONTENT, "v1.0.0")
    config = tmp_path / "gitconfig"
    config.write_text('[url "ext::sh -c touch% fired "]\n\tinsteadOf = https://h.invalid/\n')
    environment = taker.environment.updated({"GIT_CONFIG_GLOBAL": str(config)})
    with pytest.raises(GitError, match="transport 'ext' not allowed"):
        Fetcher(environment, taker.repo.root).tags(source_of(source="https://h.invalid/r"))
    strict = taker.environment.updated({"GIT_ALLOW_PROTOCOL": "https"})
    with pytest.raises(GitError, match="transport 'file' not allowed"):
        Fetcher(strict, taker.repo.root).tags(source_of(source=remote.url))
    assert Remotes(environment=taker.environment, protocols=("file",)).tags(remote.url)


def test_pytest_asks_no_remote(taker: Taker, remote: Remote, server: GitServer) -> None:
    """Neither for content that is not here, nor for tags though the configuration wants them verified."""
    remote.publish(CONTENT, "v1.0.0")
    source = f'[[includes]]\nname = "shared"\nsource = "{server.url}/remote/.git"\nversion = "^1"\n'
    taker.project.config(source + "[lock]\nverify_tags = true\n")
    assert taker.run().code == 0
    server.requests.clear()
    server.connections = 0
    assert taker.repo.pytest("-q", "--reqfile", "-n", "2").code == 0
    shutil.rmtree(taker.cache)
    done = taker.repo.pytest("-q", "--reqfile", "-rA")
    assert "include shared not cached, so its content was not compared" in done.out
    assert "AR9H2: include:shared: cannot look for its verifiers: its content is not on this machine" in done.out
    taker.project.config(source.replace("^1", "^2"))
    done = taker.repo.pytest("-q", "--reqfile", "-rA")
    assert "FAILED .ai-rulez/ai-rulez.lock::remotes - remote include shared: " in done.out
    assert taker.run("--check").code == 2
    assert taker.run("--diff").code == 0
    assert (server.connections, server.requests) == (0, [])
