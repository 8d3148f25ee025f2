"""The ``command`` predicate: opt-in, no shell, a small environment, bounded (seed 000 "Command predicate"; spec 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import ProcessError
from pytest_reqfile.outcome import Finding
from pytest_reqfile.syntax.credentials import masked
from pytest_reqfile.verifiers.masking import excerpt
from pytest_reqfile.verifiers.predicates import Command
from pytest_reqfile.verifiers.results import COMMAND_NOT_RUN
from pytest_reqfile.verifiers.values import Settings, SpecVerifier
from pytest_reqfile.verifiers.verdicts import Verdict, holds, judged, refused
from pytest_reqfile.workspace.command_environment import command_environment
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.lookup import find_program
from pytest_reqfile.workspace.processes import Cancellation, CommandResult, run_command

OPT_IN_VARIABLE: Final = "AI_RULEZ_VERIFIERS_ALLOW_EXEC"
OUTPUT_LIMIT: Final = 64 * 1024
MAX_ARGUMENTS: Final = 500
MAX_ARGUMENT_BYTES: Final = 65536
GRACE_SECONDS: Final = 2.0
"""How long the output of a program that has ended may stay open through something it left behind."""
NOT_ALLOWED: Final = (
    "the command predicate runs a program: pass {flag} (or set AI_RULEZ_VERIFIERS_ALLOW_EXEC=1) to run it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One program to start: ``timeout`` in seconds, ``stdin`` empty unless given."""

    argv: tuple[str, ...]
    cwd: Path
    env: Environment
    timeout: int
    stdin: bytes | None


Run = Callable[[Request], CommandResult]
"""Starts a program and waits for it. Raises ProcessError where it cannot be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRunner:
    """How commands run: ``allowed`` is the opt-in, ``flag`` how the user's front spells it."""

    root: Path
    environment: Environment
    settings: Settings
    allowed: bool
    flag: str = "--allow-exec"
    run: Run | None = None
    cancellation: Cancellation | None = None

    def evaluate(self, verifier: SpecVerifier, command: Command, files: tuple[str, ...]) -> Verdict:
        """Whether the program exits as expected; refused or not run is an error, never a pass."""
        del verifier
        program = command.argv[0]
        if not self.allowed:
            return refused(NOT_ALLOWED.format(flag=self.flag), COMMAND_NOT_RUN)
        by_argument, by_stdin = command.pass_files == "args", command.pass_files == "stdin0"  # noqa: S105
        arguments = _as_arguments(files) if by_argument else ()
        if len(arguments) > MAX_ARGUMENTS or sum(map(_size, arguments)) > MAX_ARGUMENT_BYTES:
            message = f'{len(files)} changed files are too many to pass as arguments: use pass_files = "stdin0"'
            return refused(message, COMMAND_NOT_RUN)
        request = Request(
            argv=(*command.argv, *arguments),
            cwd=self.root,
            env=command_environment(self.environment, self.settings.command_env),
            timeout=min(command.timeout_s, self.settings.max_timeout_s),
            stdin=_nul_separated(files) if by_stdin else None,
        )
        try:
            result = self.start(request)
        except ProcessError as error:
            return refused(masked(f"{program} could not be started: {error}"), COMMAND_NOT_RUN)
        return _judge(command, result, request.timeout)

    def start(self, request: Request) -> CommandResult:
        """Run a program to its end. Raises ProcessError where it cannot be found."""
        if self.run is not None:
            return self.run(request)
        program = find_program(request.argv[0], request.cwd, self.environment)
        return run_command(
            (str(program), *request.argv[1:]),
            cwd=request.cwd,
            env=request.env,
            timeout=float(request.timeout),
            limit=OUTPUT_LIMIT,
            stdin=request.stdin,
            cancel=self.cancellation,
            grace=GRACE_SECONDS,
        )


def is_allowed(flag: bool, environment: Environment) -> bool:
    """Whether commands may run: by the option, or by ``AI_RULEZ_VERIFIERS_ALLOW_EXEC`` set to ``1`` or ``true``."""
    return flag or (environment.get(OPT_IN_VARIABLE) or "").lower() in ("1", "true")


def duration_text(seconds: int) -> str:
    """Whole seconds as Go prints a duration: ``10s``, ``2m0s``, ``1h0m0s``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _judge(command: Command, result: CommandResult, timeout: int) -> Verdict:
    program = command.argv[0]
    cut = result.dropped or result.dropped_stderr
    notes = (f"{program}: output was truncated to 64 KiB",) if cut else ()
    if result.timed_out:
        return refused(masked(f"{program} timed out after {duration_text(timeout)}"), COMMAND_NOT_RUN, notes)
    if result.launch_error is not None:
        return refused(masked(f"{program} could not be started: {result.launch_error}"), COMMAND_NOT_RUN)
    if result.cancelled:
        return refused(masked(f"{program} did not run: the run was canceled"), COMMAND_NOT_RUN)
    code = -1 if result.exit is None else result.exit
    if code == command.expect_exit:
        return holds(notes)
    message = f"`{program}` exited {code}, expected {command.expect_exit}"
    return judged([Finding(message=message, match=_first_line(result) or None)], notes)


def _first_line(result: CommandResult) -> str:
    """The first line that says something, of stderr, else of stdout."""
    for output in (result.stderr, result.stdout):
        for line in output.decode("utf-8", "replace").splitlines():
            if line.strip():
                return excerpt(line)
    return ""


def _as_arguments(files: tuple[str, ...]) -> tuple[str, ...]:
    """File names none of which reads as an option."""
    return tuple(f"./{file}" if file.startswith("-") else file for file in files)


def _nul_separated(files: tuple[str, ...]) -> bytes:
    return "".join(f"{file}\0" for file in files).encode("utf-8", "surrogateescape")


def _size(argument: str) -> int:
    return len(argument.encode("utf-8", "surrogateescape")) + 1
