"""What a verifier's item says: code, finding, quoted text; nothing in it forges a line (seed 000 "Output")."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.projects import HEAD

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def rulez(project: Repo) -> Repo:
    """A project with one rule."""
    project.write(".ai-rulez/config.toml", HEAD)
    project.write(".ai-rulez/rules/database.md", "# Database\n")
    return project


def spec(name: str, require: str, *, when: str = "") -> str:
    scope = f'when_changed = ["{when}"]\n' if when else ""
    return f'[[verifiers]]\nid = "{name}"\nrule = "database"\nseverity = "error"\n{scope}[verifiers.require.{require}\n'


def test_a_file_name_is_no_line_of_ours(rulez: Repo, run: Run) -> None:
    """Line breaks and escapes in the name of a file and in the quoted text are shown, not obeyed."""
    rulez.write(".ai-rulez/verifiers/t.toml", spec("no-todo", 'forbid]\nregex = "TODO.*"', when="*.txt"))
    rulez.write("a\nPASSED everything\x1b[31m.txt", "TODO \x1b[2Kx\n")
    lines = run("-n", "0").stdout.lines
    assert "a\\x0aPASSED everything\\x1b[31m.txt:1: forbidden pattern `TODO.*` matched  [TODO \\x1b[2Kx]" in lines
    assert not any(line.startswith("PASSED everything") for line in lines)


def test_codes(rulez: Repo, run: Run) -> None:
    """Each code stands where its verifier fails, is in error or is skipped; a failed command shows its own words."""
    command = 'command]\nargv = ["sh", "-c", "echo token=abcdefghij12 >&2; exit 3"]\n'
    rulez.write(".ai-rulez/verifiers/t.toml", spec("x", command) + spec("y", 'llm]\nchecklist = ["a"]', when="*.md"))
    rulez.write(".ai-rulez/verifiers/u.toml", spec("z", 'file_exists]\npath = "a"\ncolour = "red"'))
    rulez.write("a.md", "a\n")
    refused = run("-rs").stdout
    refused.fnmatch_lines(["AR9H3 x", '  enforces: rule "database"*', "error: the command predicate runs a program: *"])
    refused.fnmatch_lines(["SKIPPED*t.toml:8: AR9H4: LLM use is off (*"])
    lines = run("--reqfile-allow-exec").stdout.lines
    assert any("u.toml:7: AR9H2: invalid TOML: unknown key `colour`" in line for line in lines)
    assert "AR9H1 x" in lines
    assert "`sh` exited 3, expected 0  [[REDACTED]]" in lines


def test_a_verifier_that_asks_a_model(rulez: Repo, run: Run) -> None:
    """It is marked llm-advisory whatever its severity and wherever in the tree the model is asked, and is not fast."""
    nested = 'all]]\n[verifiers.require.all.llm]\nchecklist = ["a"]\n'
    text = spec("x", 'llm]\nchecklist = ["a"]', when="*.md") + spec("y", nested, when="*.md").replace(
        "[verifiers.require.all]]", "[[verifiers.require.all]]"
    )
    rulez.write(".ai-rulez/verifiers/t.toml", text + spec("z", 'file_exists]\npath = "a"'))
    rulez.write("a.md", "a\n")
    run("-m", "llm-advisory").assert_outcomes(skipped=2, deselected=1)
    run("-m", "fast").assert_outcomes(failed=1, deselected=2)


def test_failures_cost_no_reading_of_sources(rulez: Repo) -> None:
    """pytest formats a traceback from source files, 70 ms an item, that our words would replace."""
    refuse = "def refuse(self, *args): raise OSError('a source was read')\n"
    rulez.write("conftest.py", f"from _pytest._code import code\n{refuse}code.TracebackEntry.getsource = refuse\n")
    rulez.write(".ai-rulez/verifiers/t.toml", spec("x", 'file_exists]\npath = "a"'))
    rulez.write(".ai-rulez/verifiers/u.toml", spec("y", 'command]\nargv = ["a"]'))
    done = rulez.pytest(".ai-rulez")
    assert "1 failed, 1 error" in done.out, done.out


def test_what_cannot_be_used_is_never_left_out(rulez: Repo, run: Run) -> None:
    """A broken file or declaration costs nothing to tell: an edit hook with `-m fast` hears of it too."""
    rulez.write(".ai-rulez/verifiers/t.toml", spec("x", 'file_exists]\npath = "a"').replace("database", "nowhere"))
    rulez.write(".ai-rulez/verifiers/u.toml", "[[verifiers]]\n")
    rulez.write("Reqfile.yaml", "product: 3\n")
    run("-m", "fast").assert_outcomes(errors=3)
