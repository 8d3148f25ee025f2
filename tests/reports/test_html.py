"""The HTML page: golden file, nothing from outside, everything to read (issue 5; design 2.4)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reports.html import html_report
from pytest_reqfile.reports.html_style import STYLE
from pytest_reqfile.reports.run_report import run_report
from tests.support.reports import every_kind, item, outcome, read_html


def test_every_kind_of_outcome(golden: Callable[[str, str], None]) -> None:
    """The whole page, byte by byte, and well formed."""
    text = html_report(every_kind())
    page = read_html(text)
    assert page.tags.count("h1") == 1
    assert "Requirements: 4 failed, 3 errors" in page.text
    golden("report.html", text)


def test_it_reads_without_colour() -> None:
    """Each status is a word, each table has headers with a scope, the page its language."""
    text = html_report(every_kind())
    assert '<html lang="en">' in text
    assert text.count("<th ") == text.count("scope=")
    for word in ("failed", "error", "advisory", "passed", "nothing to check", "left for a full run", "skipped"):
        assert f">{word}</span>" in text


def test_text_from_outside_is_text() -> None:
    """Markup is shown, control characters too."""
    bad = "<script>alert(1)</script>\x1b[2J\udcff"
    found = Finding(message=bad, file=f"{bad}.py", line=1, fix_hint=bad)
    page = read_html(html_report(run_report("<b>", [item(outcome(title=bad, why=bad, findings=(found,)))])))
    assert page.text.count("<script>alert(1)</script>\\x1b[2J\\xff") == 5


def test_a_run_that_ended_early_says_so_first() -> None:
    """An alert above everything else."""
    text = html_report(run_report("1", [], stopped="<interrupted>"))
    assert '<p class="stopped" role="alert">The run ended early' in text
    assert "&lt;interrupted&gt;" in text
    assert "This run looked at nothing." in read_html(text).text


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(theme: int) -> None:
    """WCAG AA (4.5) at least for every colour of text, 7 for what failed and for running text."""
    block = STYLE.split(":root {")[theme + 1]
    colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]+)", block.split("}")[0]))
    paper = _luminance(colours["paper"])

    def contrast(name: str) -> float:
        bright, dark = sorted((paper, _luminance(colours[name])), reverse=True)
        return (bright + 0.05) / (dark + 0.05)

    assert {name: contrast(name) for name in ("ink", "bad", "warn", "good", "none") if contrast(name) < 7} == {}
    assert contrast("soft") >= 4.5
