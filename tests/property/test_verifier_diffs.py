"""The diff parser against git itself: new lines are exactly those it adds."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_reqfile.verifiers.changes import Scope, load_changes
from pytest_reqfile.verifiers.diffs import covers, parse_patch
from pytest_reqfile.verifiers.tree import Tree
from tests.support import Repo

LINES = st.sampled_from(
    ["a", "b", "++ b/x", "-- a/x", "@@ -1 +1 @@", "+++ b/other", "diff --git a/x b/x", "", " ", "\\ No newline"]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)
NAMES = st.text('ab "\\\t\né/', min_size=1, max_size=8).filter(
    lambda name: all(part.strip() and part not in (".", "..") for part in name.split("/"))
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, repo_template: object) -> Repo:
    """One repository for all examples: each writes the same files anew."""
    folder = tmp_path_factory.mktemp("diffs")
    (folder / "repo").mkdir()
    return Repo(folder / "repo", folder / "home", repo_template)  # type: ignore[arg-type]


def _lines(text: str) -> list[str]:
    """As git counts them: the last one may lack its line end."""
    return text.removesuffix("\n").split("\n") if text else []


def _rebuilt(old: list[str], new: list[str], added: tuple[tuple[int, int], ...]) -> bool:
    """Whether the lines of ``new`` that are not new are a subsequence of ``old``, in order."""
    kept = [line for number, line in enumerate(new, 1) if not covers(added, number)]
    rest = iter(old)
    return all(any(line == other for other in rest) for line in kept)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES, old=TEXTS, new=TEXTS)
def test_new_lines(shared: Repo, name: str, old: str, new: str) -> None:
    """What is not new was there before, in the same order; and git counts as many new lines as we do."""
    shared.git("rm", "-rqf", "--ignore-unmatch", ".")
    shared.git("clean", "-ffdxq")
    shared.write(name, old)
    base = shared.commit()
    shared.write(name, new)
    tree = Tree(shared.root, shared.workspace_git())
    changes = load_changes(tree, Scope(kind="since", revision=base), with_lines=True)
    if old == new:
        assert changes.changes == ()
        return
    (change,) = changes.changes or ()
    assert (change.path, change.status) == (name, "M")
    assert change.added is not None
    assert _rebuilt(_lines(old), _lines(new), change.added)
    counted = int(shared.git("diff", "-M", "--numstat", base, "--").split("\t")[0])
    assert sum(last - first + 1 for first, last in change.added) == counted


@given(data=st.binary(max_size=300))
def test_anything(data: bytes) -> None:
    """Bytes that are no patch end in an answer, not in a crash."""
    patch = parse_patch(BytesIO(data))
    assert isinstance(patch.binary, tuple)
