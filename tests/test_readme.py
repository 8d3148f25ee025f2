"""README.md: its commands are those that are run, and what it shows is what they print."""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml

from tests.support import Repo
from tests.support.pages import ROOT, PageRun, Step, difference, page_environment

README = (ROOT / "README.md").read_text()
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    """The README's fenced blocks of a language."""
    return [text for found, text in _BLOCK.findall(README) if found == language]


def test_the_test_command_is_the_one_of_ci() -> None:
    """.ci/run runs exactly what the README tells contributors to run, once."""
    command = blocks("sh")[1].strip()
    assert "\n" not in command
    assert (ROOT / ".ci" / "run").read_text().splitlines().count(command) == 1


def test_the_first_command_shows_what_it_prints(make_repo: Callable[[str], Repo]) -> None:
    """The last part of the first command, in a copy of the quickstart: everything below pytest's header."""
    command = blocks("sh")[0].strip()
    assert command.endswith("cp -r examples/quickstart/. ../shop && cd ../shop && pytest")
    shop = make_repo("shop")
    shop.execute("cp", "-r", f"{ROOT}/examples/quickstart/.", ".")
    step = Step(mark="run", argument="", text="$ pytest\n", start=0, end=0)
    printed = PageRun(shop, page_environment()).carry_out(step)
    shown = blocks("text")[0]
    assert difference(shown, printed[printed.index(shown.splitlines()[0]) :]) == ""


def test_the_file_it_shows_is_one_of_the_quickstart() -> None:
    """The requirement under "One file" is the quickstart's, so that it is known to work."""
    shown = yaml.safe_load(blocks("yaml")[0])
    quickstart = yaml.safe_load((ROOT / "examples/quickstart/Reqfile.yaml").read_text())
    assert shown["code"][0] in quickstart["code"]
