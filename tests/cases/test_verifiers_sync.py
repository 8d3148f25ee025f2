"""``generated_in_sync``: a pass only where stale output would have failed (issue 4 item 2; cases A1.26 to A1.29)."""

from __future__ import annotations

import pytest

from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import RunOptions
from tests.support import Repo
from tests.support.verifiers import Workbench, flat

GENERATE = "#!/bin/sh\ntr a-z A-Z < source.txt > generated.txt\n"
SCRIPT = ("sh", "generate.sh")


@pytest.fixture
def bench(repo: Repo) -> Workbench:
    bench = Workbench(repo.root, repo.environment)
    bench.config(flat("sync", "generated_in_sync"))
    bench.write_all({"source.txt": "abc\n", "generated.txt": "ABC\n", "generate.sh": GENERATE})
    repo.commit()
    return bench


def _result(bench: Workbench, *generator: str, allow: bool = True) -> Result:
    return bench.result(RunOptions(generator=generator, allow_exec=allow))


def test_nothing_configured(bench: Workbench) -> None:
    """Without a generator nothing would be noticed, so nothing passes."""
    result = _result(bench)
    assert result.status == "error"
    assert result.message.startswith("no generator is configured, so stale output would not be noticed")


@pytest.mark.case("verifiers:A1.29")
def test_never_generated(bench: Workbench) -> None:
    """A project with a preset that nobody has generated is never in sync, whoever is asked."""
    bench.config('presets = ["claude"]\n' + flat("sync", "generated_in_sync"))
    assert _result(bench).status == "error"
    bench.write("generate.sh", "echo rules > CLAUDE.md\n")
    result = _result(bench, *SCRIPT)
    assert (result.status, result.message) == (
        "fail",
        "generated files differ from their sources: missing: CLAUDE.md (run `ai-rulez generate`)",
    )


@pytest.mark.parametrize("generator", [("ai-rulez",), SCRIPT])
def test_opt_in(bench: Workbench, generator: tuple[str, ...]) -> None:
    """A generator is a program: it needs the same opt-in as a command."""
    result = _result(bench, *generator, allow=False)
    assert result.status == "error"
    assert "pass --allow-exec" in result.message


def test_in_sync(bench: Workbench, repo: Repo) -> None:
    """The command regenerates in a copy; the project itself stays as it is."""
    assert _result(bench, *SCRIPT).status == "pass"
    assert repo.git("status", "--porcelain") == ""


def test_stale(bench: Workbench, repo: Repo) -> None:
    """Stale, missing and orphaned outputs fail, and are left alone."""
    bench.write("source.txt", "abd\n")
    result = _result(bench, *SCRIPT)
    assert (result.status, [finding.file for finding in result.findings]) == ("fail", ["generated.txt"])
    assert result.message == "generated files differ from their sources: stale: generated.txt (run `ai-rulez generate`)"
    assert (repo.root / "generated.txt").read_text() == "ABC\n"
    repo.delete("generated.txt")
    assert "missing: generated.txt" in _result(bench, *SCRIPT).message
    bench.write("generate.sh", "rm source.txt\n")
    assert "orphan: source.txt" in _result(bench, *SCRIPT).message


def test_ignored_leftovers(bench: Workbench, repo: Repo) -> None:
    """What a generator caches in ignored files is no output; an ignored output on disk is compared."""
    bench.write(".gitignore", "*.cache\n*.out\n")
    bench.write("generate.sh", f"{GENERATE}date > x.cache\necho 1 > y.out\n")
    bench.write("y.out", "1\n")
    assert _result(bench, *SCRIPT).status == "pass"


def test_failing_generator(bench: Workbench) -> None:
    """A generator that fails is an error that quotes it."""
    bench.write("generate.sh", "echo no template >&2; exit 3\n")
    result = _result(bench, *SCRIPT)
    assert (result.status, result.message) == ("error", "render generated outputs: `sh` exited 3: no template")
    assert _result(bench, "no-such-generator").message.startswith("no-such-generator could not be started: ")


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("exit 0", "pass", ""),
        (
            "echo 'stale: AGENTS.md'; echo '  missing: .claude/rules/a b.md'; exit 2",
            "fail",
            "generated files differ from their sources: stale: AGENTS.md, missing: .claude/rules/a b.md (run `ai-rulez "
            "generate`)",
        ),
        ("echo out of date; exit 2", "fail", "generated files differ from their sources: stale: out of date (run"),
        ("echo broken >&2; exit 1", "error", "render generated outputs: `ai-rulez generate --check` exited 1: broken"),
    ],
)
def test_ai_rulez(bench: Workbench, repo: Repo, script: str, status: str, message: str) -> None:
    """The installed program, in its offline check; a stand-in on PATH says what it was called with."""
    tool = repo.home / "bin/ai-rulez"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" > {repo.home}/called\n{script}\n')
    tool.chmod(0o755)
    bench.environment = bench.environment.updated({"PATH": f"{tool.parent}:{bench.environment.get('PATH')}"})
    result = _result(bench, "ai-rulez")
    assert (result.status, result.message[: len(message)]) == (status, message)
    assert (repo.home / "called").read_text() == "generate --check --offline --no-local\n"


@pytest.mark.case("verifiers:A1.28")
def test_provider_that_cannot_say(bench: Workbench) -> None:
    """An ai-rulez that is not installed is an error."""
    bench.environment = bench.environment.updated({"PATH": "/nonexistent"})
    result = bench.result(RunOptions(generator=("ai-rulez",), allow_exec=True))
    assert result.status == "error"
    assert result.message.startswith("ai-rulez could not be started: executable file not found in PATH")
