"""JUnit XML → findings named after their tests (spec reqfile.md 3.5)."""

from __future__ import annotations

import pytest

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reqfile.junit_input import FailedCase, JUnitError, junit_findings, read_junit


def suite(*cases: str) -> bytes:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuite name="s">{"".join(cases)}</testsuite>\n'.encode()


@pytest.mark.case("reqfile:Q3")
def test_failed_and_errored_cases_are_failures_named_after_their_test() -> None:
    """The first line of the message attribute; a case without a class has its name alone."""
    report = read_junit(
        suite(
            '<testcase classname="out" name="names" file="tests/o.rs" line="12">'
            '<failure message="one&#10;two">text</failure></testcase>',
            '<testcase name="alone"><error/></testcase>',
            '<testcase classname="" name="blank"><system-out/><failure message="  "/><error message="no"/></testcase>',
            '<testcase classname="c" name="fine"><skipped message="no"/><rerunFailure message="flaky"/></testcase>',
        )
    )
    assert report.cases == 4
    assert report.failed == (
        FailedCase(name="out::names", message="one", file="tests/o.rs", line=12),
        FailedCase(name="alone", message=None, file=None, line=None),
        FailedCase(name="blank", message=None, file=None, line=None),
    )


def test_findings_say_which_test_failed_and_where() -> None:
    """A line without a file is no place."""
    report = read_junit(
        suite(
            '<testcase classname="a" name="b" file="f.py" line="3"><failure message="m"/></testcase>',
            '<testcase name="c" line="3"><error/></testcase>',
        )
    )
    assert junit_findings(report, "hint", lambda file: f"at/{file}") == (
        Finding(message="test a::b failed: m", file="at/f.py", line=3, fix_hint="hint"),
        Finding(message="test c failed", fix_hint="hint"),
    )


@pytest.mark.parametrize(
    ("line", "number"),
    [("7", 7), ("007", 7), ("0", None), ("-1", None), ("1.0", None), ("", None), ("٣", None), ("9" * 5000, None)],
)
def test_only_a_whole_number_is_a_line(line: str, number: int | None) -> None:
    """Whatever else a tool writes there is left out, not an error."""
    report = read_junit(suite(f'<testcase name="a" file="f" line="{line}"><error/></testcase>'))
    assert report.failed[0].line == number


def test_suites_nest_and_a_root_of_another_name_may_hold_them() -> None:
    """The root test of spec 3.5 asks for a suite anywhere."""
    nested = b'<testsuites><testsuite><testsuite><testcase name="a"/></testsuite></testsuite><testsuite/></testsuites>'
    assert read_junit(nested).cases == 1
    assert read_junit(b'<r><testsuite><testcase name="a"/></testsuite></r>').cases == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "output is not valid JUnit XML: no element found: line 1, column 0"),
        (b"garbage", "output is not valid JUnit XML: syntax error: line 1, column 0"),
        (b"<testsuite><testcase name='a'/>", "output is not valid JUnit XML: no element found: line 1, column 31"),
        (b"<html/>", "output is not a JUnit report: no <testsuites> or <testsuite>"),
        (b"<testcase name='a'/>", "output is not a JUnit report: no <testsuites> or <testsuite>"),
        (b"<testsuites/>", "the JUnit report lists no test"),
        (b"<testsuite tests='3'></testsuite>", "the JUnit report lists no test"),
        (
            b"<?xml version='1.0' encoding='x-none'?><testsuite/>",
            "output is not valid JUnit XML: unknown encoding: x-none",
        ),
        (
            b"<?xml version='1.0' encoding='utf-7'?><testsuite/>",
            "output is not valid JUnit XML: multi-byte encodings are not supported",
        ),
    ],
)
def test_what_is_no_whole_report_with_a_test_is_refused(text: bytes, message: str) -> None:
    """A cut report lists fewer tests than ran; an empty one shows nothing."""
    with pytest.raises(JUnitError) as caught:
        read_junit(text)
    assert str(caught.value) == message
