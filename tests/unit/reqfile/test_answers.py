"""The cache of answers: its form is the original's, and several processes share it (spec reqfile.md 4.5)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.reqfile.answers import Answers, AnswersError, answer_key, answers_of, parse_answers, render_answers
from pytest_reqfile.reqfile.numbers import shortest
from tests.support import Repo


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reqfile" / "jev-cache"


def opened(path: Path) -> Answers:
    answers = Answers(path)
    answers.load()
    return answers


def test_a_key_is_made_of_everything_the_model_saw() -> None:
    """The first 16 hex digits of SHA-256 of model, state, id and question, line by line."""
    key = answer_key("m", '{"unit":"é"}', "ID", '{"type":"noul"}')
    assert key == hashlib.sha256('m\n{"unit":"é"}\nID\n{"type":"noul"}'.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.05, "0.05"), (1.0, "1"), (0.0, "0"), (1e-7, "0.0000001"), (0.1 + 0.2, "0.30000000000000004"), (5e-324, None)],
)
def test_numbers_are_the_shortest_that_read_back_without_exponent(number: float, text: str | None) -> None:
    """As Rust writes them."""
    assert text is None or shortest(number) == text
    assert float(shortest(number)) == number
    assert "e" not in shortest(number)


def test_the_file_is_read_as_it_is_written() -> None:
    """Sorted; blank lines mean nothing, and the last of a key wins."""
    assert parse_answers(b"b 0.5\n\na 1\r\n \na 0.25\nc .5\nd 1e-3\n", "f") == {
        "b": 0.5,
        "a": 0.25,
        "c": 0.5,
        "d": 0.001,
    }
    assert render_answers({"b": 0.5, "a": 1.0}) == b"a 1\nb 0.5\n"


@pytest.mark.parametrize(
    "line", ["a", "a b c", "a  0.5", " 0.5", "a 0.5 ", "a 1.01", "a -0", "a nan", "a inf", "a 0,5", "a 1_0", "a 0x1"]
)
def test_a_line_that_says_something_else_is_an_error(path: Path, line: str) -> None:
    """Where it is, what it says, and what to do."""
    path.parent.mkdir()
    path.write_text(f"0 0.5\n{line}\n")
    with pytest.raises(AnswersError) as caught:
        opened(path)
    assert str(caught.value) == f'{path}: invalid line 2: "{line}"; delete the file to rebuild it'
    assert path.read_text() == f"0 0.5\n{line}\n"


def test_a_cache_that_cannot_be_read_is_an_error(path: Path) -> None:
    """A folder in its place, or a symlink that leads somewhere."""
    path.mkdir(parents=True)
    with pytest.raises(AnswersError, match=f"^cannot read the Jev cache {path}: not a regular file$"):
        opened(path)
    path.rmdir()
    path.symlink_to("/dev/null")
    with pytest.raises(AnswersError, match=f"^cannot read the Jev cache {path}: a symbolic link$"):
        opened(path)


def test_what_other_processes_wrote_meanwhile_stays(path: Path) -> None:
    """Also when a full run prunes: somebody uses it."""
    first, second = opened(path), opened(path)
    first.put("a", 0.1)
    first.save(prune=True)
    second.put("b", 0.2)
    second.save(prune=True)
    assert path.read_text() == "a 0.1\nb 0.2\n"


def test_pruning_drops_what_was_there_and_was_not_used(path: Path) -> None:
    """Without pruning nothing is dropped, and a file that stays the same is not written."""
    path.parent.mkdir()
    path.write_text("a 0.1\nb 0.2\nc 0.3\n")
    before = path.stat().st_mtime_ns, path.stat().st_ino
    answers = opened(path)
    assert (answers.get("a"), answers.get("z")) == (0.1, None)
    answers.save(prune=False)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    answers.put("d", 1.0)
    answers.save(prune=True)
    assert path.read_text() == "a 0.1\nd 1\n"


def test_a_file_broken_meanwhile_is_not_overwritten(path: Path) -> None:
    """What somebody wrote there is theirs to look at."""
    answers = opened(path)
    answers.put("a", 0.5)
    path.parent.mkdir()
    path.write_text("nonsense\n")
    with pytest.raises(FileError, match=f"^cannot write the Jev cache {path}: .*invalid line 1"):
        answers.save(prune=False)
    assert path.read_text() == "nonsense\n"


def test_worktrees_share_the_cache_of_their_repository(repo: Repo) -> None:
    """It lies in the folder that is common to them."""
    repo.git("worktree", "add", "-q", str(repo.home / "other"))
    assert answers_of(repo.workspace_git()).path == repo.path(".git/reqfile/jev-cache")
    other = Repo.__new__(Repo)
    other.root, other.variables = (repo.home / "other").resolve(), repo.variables
    assert answers_of(other.workspace_git()).path == repo.path(".git/reqfile/jev-cache")
