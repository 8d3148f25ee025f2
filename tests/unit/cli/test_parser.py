"""The grammar of the command line (design 2.5)."""

from __future__ import annotations

import pytest

from pytest_reqfile import __version__
from pytest_reqfile.cli.parser import build_parser
from pytest_reqfile.cli.session import edition_of
from pytest_reqfile.errors import UsageError
from pytest_reqfile.workspace.environment import Environment


def edition(*argv: str, **variables: str) -> str:
    return edition_of(build_parser().parse_args(argv), Environment(variables=variables))


def test_the_edition_is_taken_before_and_after_the_command_and_from_the_environment() -> None:
    """The nearest to the command wins; 0.1 is the default, and an empty variable is none."""
    assert edition("check") == "0.1"
    assert edition("check", REQFILE_EDITION="0.4") == "0.4"
    assert edition("check", REQFILE_EDITION="") == "0.1"
    assert edition("--edition", "0.4", "check") == "0.4"
    assert edition("check", "--edition", "0.4") == "0.4"
    assert edition("--edition", "0.4", "check", "--edition", "0.1") == "0.1"
    assert edition("--edition", "0.1", "check", REQFILE_EDITION="0.4") == "0.1"


def test_a_variable_that_names_no_edition_is_refused() -> None:
    """With the ones there are."""
    with pytest.raises(UsageError, match=r"^REQFILE_EDITION must be one of 0\.1, 0\.4, found '0\.5'$"):
        edition("check", REQFILE_EDITION="0.5")


def test_options_are_not_abbreviated() -> None:
    """An option added later must not change what a script means today."""
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(["check", "--fas"])
    assert caught.value.code == 2


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """``reqfile {version}`` (spec 7)."""
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(["--version"])
    assert (caught.value.code, capsys.readouterr().out) == (0, f"reqfile {__version__}\n")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("test", "--help"), "The older name of `reqfile eval`."),
        (("lock", "--help"), "instead of writing the lock:"),
        (("lock", "--help"), "`reqfile lock update` moves the pins of version ranges"),
    ],
)
def test_help_says_what_a_command_is_for(argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Also of an older name, and of a command that is not in the list of commands."""
    with pytest.raises(SystemExit):
        build_parser(argv).parse_args(argv)
    assert said in " ".join(capsys.readouterr().out.split())


def test_only_what_is_required_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """``reqfile add`` takes ids, and does without."""
    with pytest.raises(SystemExit):
        build_parser().parse_args(["add"])
    assert capsys.readouterr().err.endswith("the following arguments are required: LOCATION\n")
    assert build_parser().parse_args(["add", "./std"]).ids == []
