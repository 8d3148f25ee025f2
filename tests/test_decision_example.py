"""``examples/decision`` does what its page says, with the stand-in that it brings."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.repo import Completed

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "decision"
PAGE = (FOLDER / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def shop(repo: Repo) -> Repo:
    """A copy of the example, its stand-in on a free port, so that runs do not meet."""
    repo.execute("cp", "-r", f"{FOLDER}/.", ".")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    for path in ("stand_in.py", ".reqfile/config.yaml"):
        text = repo.path(path).read_text("utf-8")
        assert "8799" in text
        repo.write(path, text.replace("8799", port))
    repo.variables["EXAMPLE_PORT"] = port
    return repo


def beside(shop: Repo, *arguments: str) -> Completed:
    """A module run beside the stand-in; the port of this run is shown as that of the page."""
    done = shop.execute(sys.executable, "stand_in.py", sys.executable, "-P", "-m", *arguments)
    port = shop.variables["EXAMPLE_PORT"]
    return Completed(code=done.code, out=done.out.replace(port, "8799"), err=done.err.replace(port, "8799"))


def test_check_prints_what_the_page_shows(shop: Repo) -> None:
    """Fresh, and from the cache."""
    for _ in range(2):
        done = beside(shop, "pytest_reqfile", "check")
        assert (done.code, done.err + done.out) == (0, BLOCKS[0])
    assert (
        "3 units (3 cached) · stand-in-1.0" in beside(shop, "pytest_reqfile", "check", "-v", "--format", "pretty").out
    )


def test_eval_measures_what_the_page_shows(shop: Repo) -> None:
    """Both labeled examples are as labeled."""
    done = beside(shop, "pytest_reqfile", "eval")
    assert (done.code, done.out) == (0, BLOCKS[1])


def test_pytest_shows_the_check_and_its_examples(shop: Repo) -> None:
    """One advisory item and two examples that pass; none of them without what a model judges."""
    done = beside(shop, "pytest", "-p", "no:cacheprovider", "-rA")
    assert done.code == 0, done.out
    assert "2 passed, 1 advisory in" in done.out
    assert "PASSED Reqfile.yaml::ERRORS_ARE_TOLD/examples/violation-dropped" in done.out
    assert beside(shop, "pytest", "-p", "no:cacheprovider", "-m", "not llm-advisory", "-k", "decision").code == 5


def test_it_fails_the_run_once_it_is_blocking_and_never_passes_without_a_model(shop: Repo) -> None:
    """As the page says."""
    assert shop.run("check").code == 3
    shop.write(
        "Reqfile.yaml", shop.path("Reqfile.yaml").read_text().replace("- decision", "- decision: { mode: blocking }")
    )
    done = beside(shop, "pytest_reqfile", "check")
    assert done.code == 1
    assert done.out.startswith("ERRORS_ARE_TOLD  shop/orders.py:18  p=0.95")
