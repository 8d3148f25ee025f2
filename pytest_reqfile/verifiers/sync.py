"""``generated_in_sync``: a pass only where stale output would have failed it (spec/airulez-project.md 6)."""

from __future__ import annotations

import re
from typing import Final

from pytest_reqfile.errors import FileError, ProcessError
from pytest_reqfile.verifiers.command import CommandRunner, Request
from pytest_reqfile.verifiers.flat import Drift, SyncError
from pytest_reqfile.verifiers.masking import excerpt
from pytest_reqfile.verifiers.tree import SKIPPED_FOLDERS, Tree
from pytest_reqfile.workspace.bulk import list_folder
from pytest_reqfile.workspace.command_environment import command_environment
from pytest_reqfile.workspace.copies import copied_files, same_bytes
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import CommandResult

AI_RULEZ: Final = "ai-rulez"
TIMEOUT: Final = 300
_ITEM: Final = re.compile(r"^\W*(missing|edited|stale|orphan|blocked)\b[\s:]+(\S.*?)\s*$")
_DRIFTED: Final = 2
NO_GENERATOR: Final = (
    "no generator is configured, so stale output would not be noticed: set the generator "
    '("ai-rulez", or a command that regenerates the files)'
)


def no_generator(profile: str) -> tuple[str, ...]:
    """The answer where nothing is configured: an error, never a pass."""
    del profile
    raise SyncError(NO_GENERATOR)


def drift_of(generator: tuple[str, ...], tree: Tree, runner: CommandRunner) -> Drift:
    """How drift is found with ``generator``: ``("ai-rulez",)``, a command with its arguments, or () for none.

    Both start a program, so they need the same opt-in as a ``command`` predicate.
    """
    if not generator:
        return no_generator
    if generator == (AI_RULEZ,):
        return lambda profile: _checked(profile, runner)
    return lambda profile: _regenerated(profile, generator, tree, runner)


def _checked(profile: str, runner: CommandRunner) -> tuple[str, ...]:
    """What the installed ai-rulez says in its offline check."""
    arguments = ("generate", "--check", "--offline", "--no-local", *(("--profile", profile) if profile else ()))
    result = _run((AI_RULEZ, *arguments), runner)
    output = (result.stdout + result.stderr).decode("utf-8", "replace")
    if result.exit == 0:
        return ()
    if result.exit != _DRIFTED:
        raise SyncError(f"render generated outputs: `ai-rulez generate --check` {_end(result)}{_detail(output)}")
    found = [f"{match[1]}: {match[2]}" for line in output.splitlines() if (match := _ITEM.match(line))]
    return tuple(found) or (f"stale: {excerpt(output.strip()) or 'generated files'}",)


def _regenerated(profile: str, generator: tuple[str, ...], tree: Tree, runner: CommandRunner) -> tuple[str, ...]:
    """What differs after the command has run in a scratch copy of the project."""
    if profile:
        raise SyncError(f"the generator command cannot be told to render the profile {profile}")
    _refuse_unless_allowed(runner)
    with copied_files(tree.root, tree.repository) as copy:
        before = list_folder(copy, SKIPPED_FOLDERS).files
        result = _run(
            generator,
            runner,
            Request(argv=generator, cwd=copy, env=_environment(runner), timeout=_timeout(runner), stdin=None),
        )
        if result.exit != 0:
            output = (result.stderr + result.stdout).decode("utf-8", "replace")
            raise SyncError(f"render generated outputs: `{generator[0]}` {_end(result)}{_detail(output)}")
        after = list_folder(copy, SKIPPED_FOLDERS).files
        gone = [f"orphan: {path}" for path in sorted(set(before) - set(after))]
        different = [path for path in after if not same_bytes(copy / path, tree.root / path)]
        new = [path for path in different if path not in set(before)]
        ignored = _ignored(new, tree)
        stale = [f"stale: {path}" for path in different if path not in set(new)]
        missing = [f"missing: {path}" for path in new if path not in ignored]
    return (*stale, *missing, *gone)


def _ignored(paths: list[str], tree: Tree) -> frozenset[str]:
    """Those of ``paths`` that git ignores: what a generator caches is no output."""
    if not paths or tree.git is None or not tree.in_git:
        return frozenset()
    listed = "\0".join(paths).encode("utf-8", "surrogateescape")
    out = tree.git.run(("check-ignore", "-z", "--no-index", "--stdin"), stdin=listed, ok_codes=(0, 1))
    return frozenset(out.decode("utf-8", "surrogateescape").split("\0")) - {""}


def _refuse_unless_allowed(runner: CommandRunner) -> None:
    if not runner.allowed:
        raise SyncError(
            f"the generator is a program: pass {runner.flag} (or set AI_RULEZ_VERIFIERS_ALLOW_EXEC=1) to run it"
        )


def _run(argv: tuple[str, ...], runner: CommandRunner, request: Request | None = None) -> CommandResult:
    _refuse_unless_allowed(runner)
    request = request or Request(
        argv=argv, cwd=runner.root, env=_environment(runner), timeout=_timeout(runner), stdin=None
    )
    try:
        return runner.start(request)
    except (ProcessError, FileError) as error:
        raise SyncError(f"{argv[0]} could not be started: {error}") from None


def _environment(runner: CommandRunner) -> Environment:
    return command_environment(runner.environment, runner.settings.command_env)


def _timeout(runner: CommandRunner) -> int:
    return min(TIMEOUT, runner.settings.max_timeout_s)


def _end(result: CommandResult) -> str:
    if result.launch_error is not None:
        return f"could not be started: {result.launch_error}"
    if result.timed_out:
        return "timed out"
    return "was killed" if result.exit is None else f"exited {result.exit}"


def _detail(output: str) -> str:
    text = excerpt(output.strip())
    return f": {text}" if text else ""
