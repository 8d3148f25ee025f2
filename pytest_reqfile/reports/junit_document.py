"""JUnit XML as a document that holds to the Jenkins schema, whatever its texts are (libraries.md 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal
from xml.etree import ElementTree

from pytest_reqfile.syntax.printable import visible

if TYPE_CHECKING:
    import junit_xml

VerdictKind = Literal["failure", "error", "skipped"]
_COUNTED: Final = ("tests", "failures", "errors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why a case is no pass. ``message`` is the attribute, ``text`` the body; ``type`` is a code, or its kind."""

    kind: VerdictKind
    message: str
    text: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test case; ``output`` is its ``<system-out>``."""

    name: str
    classname: str
    seconds: float = 0.0
    verdict: Verdict | None = None
    output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases under one name, with properties of the suite: the schema knows none of a case."""

    name: str
    cases: tuple[Case, ...]
    properties: Mapping[str, str] = field(default_factory=dict)


def junit_text(name: str, suites: Sequence[Suite], *, count_skipped: bool = False) -> str:
    """The document with an XML declaration, indented by two spaces, with a final newline.

    ``count_skipped`` puts the number of skipped cases on the root, which the Jenkins schema does not know.
    """
    elements = [_suite_element(suite) for suite in suites]
    counted = (*_COUNTED, "skipped") if count_skipped else _COUNTED
    root = ElementTree.Element("testsuites", {"name": visible(name)})
    for key in counted:
        root.set(key, str(sum(int(element.get(key, "0")) for element in elements)))
    root.set("time", _seconds(case.seconds for suite in suites for case in suite.cases))
    root.extend(elements)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite_element(suite: Suite) -> ElementTree.Element:
    import junit_xml

    properties = {visible(key): visible(value) for key, value in suite.properties.items()}
    built = junit_xml.TestSuite(visible(suite.name), [_case(case) for case in suite.cases], properties=properties)
    element: ElementTree.Element = built.build_xml_doc()
    element.attrib.pop("disabled", None)  # not in the schema
    element.set("time", _seconds(case.seconds for case in suite.cases))
    for case, child in zip(suite.cases, element.findall("testcase"), strict=True):
        child.set("time", _seconds((case.seconds,)))
    return element


def _case(case: Case) -> junit_xml.TestCase:
    import junit_xml

    built = junit_xml.TestCase(visible(case.name), visible(case.classname), stdout=visible(case.output) or None)
    verdict = case.verdict
    if verdict is None:
        return built
    # A verdict without any text would vanish from the document.
    message, text = visible(verdict.message) or verdict.kind, visible(verdict.text) or None
    match verdict.kind:
        case "failure":
            built.add_failure_info(message, text, visible(verdict.type) or None)
        case "error":
            built.add_error_info(message, text, visible(verdict.type) or None)
        case "skipped":
            built.add_skipped_info(message, text)
    return built


def _seconds(values: Iterable[float]) -> str:
    return f"{sum(values):.3f}"
