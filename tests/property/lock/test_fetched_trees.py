"""Whatever a repository holds, its content is digested as that of a checkout (spec/lock.md 2.4, 6.1)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher
from tests.support import Repo
from tests.support.remotes import ALLOWED, source_of

NAMES = st.sampled_from(["a", "b.md", "c.sh", "d e", ".hidden", "é", "\udcff", "-x", "new\nline", "z.bin"])
FOLDERS = st.sampled_from(["", "rules", "rules/deep/er", "skills/s", "skills/s/scripts", ".github", "other"])
CONTENTS = st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"a\r\nb\r\n", b"\xef\xbb\xbfx\n", b"x" * 5000]))
ENTRY = st.one_of(
    st.tuples(st.just("file"), CONTENTS),
    st.tuples(st.just("executable"), CONTENTS),
    st.tuples(st.just("link"), st.sampled_from([b"a", b"../x", b"/etc/passwd", b"nowhere/at/all", b"."])),
)
TREES = st.dictionaries(st.tuples(FOLDERS, NAMES), ENTRY, max_size=12)


@pytest.fixture
def env(make_repo: Callable[[str], Repo]) -> Repo:
    """A repository whose variables the others use, too."""
    repo = make_repo("base")
    repo.variables |= ALLOWED
    return repo


def build(base: Repo, tree: dict[tuple[str, str], tuple[str, bytes]], folder: Path) -> None:
    """A repository of these entries; a name that is a folder already stays one."""
    shutil.copytree(base.root / ".git", folder / ".git")
    for (parent, name), (kind, content) in tree.items():
        place = folder / parent / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to(content.decode())
            continue
        place.write_bytes(content)
        place.chmod(0o755 if kind == "executable" else 0o644)
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules/always.md").write_text("# Always\n")
    base.git("-C", str(folder), "add", "-A", "-f")
    base.git("-C", str(folder), "commit", "-qm", "tree")


@given(tree=TREES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fetched_content_is_that_of_a_checkout(env: Repo, tree: dict[tuple[str, str], tuple[str, bytes]]) -> None:
    """Names, modes, links and bytes of any kind."""
    with tempfile.TemporaryDirectory() as made:
        folder, clone = Path(made, "remote"), Path(made, "clone")
        folder.mkdir()
        build(env, tree, folder)
        env.git("clone", "-q", f"file://{folder}", str(clone))
        environment = env.environment.updated({"REQFILE_CACHE": str(Path(made, "cache"))})
        fetcher, source = Fetcher(environment, env.root), source_of(source=f"file://{folder}")
        found = fetcher.tree(source, fetcher.commit_of(source))
        assert Hasher().directory("include", found.folder) == Hasher().directory("include", clone)
