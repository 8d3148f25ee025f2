"""Calibration: counts, bar, digests, records, and when one lets a verdict gate (seed 000; spec/verifiers.md 6)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.errors import FileError
from pytest_reqfile.project.values import Place
from pytest_reqfile.verifiers.calibration import Labeled, Record, confusion, measure
from pytest_reqfile.verifiers.calibration_digests import examples_digest, spec_digest
from pytest_reqfile.verifiers.calibration_records import (
    open_gate,
    read_record,
    record_path,
    render_record,
    write_record,
)
from pytest_reqfile.verifiers.results import VerifierStatus
from pytest_reqfile.verifiers.values import Expectation, SpecVerifier
from tests.support.verifiers import Workbench, example, head, predicate

PROMPT = "verifier-llm/test"
ITEMS = ["No line says WRONG."]


def labeled(*pairs: tuple[Expectation, VerifierStatus]) -> tuple[Labeled, ...]:
    return tuple(Labeled(name=f"e{number}", expect=expect, got=got) for number, (expect, got) in enumerate(pairs))


def declared(*pairs: tuple[Expectation, VerifierStatus]) -> str:
    """A checklist with the examples that ``pairs`` are the labels of."""
    examples = (example(f"e{number}", expect, {"a.go": ""}) for number, (expect, _) in enumerate(pairs))
    return predicate("llm", checklist=ITEMS) + "".join(examples)


def verifier(bench: Workbench, text: str = "", **fields: object) -> SpecVerifier:
    """The only spec of the bench, an llm one unless ``text`` has another predicate."""
    bench.spec(head("x", when="*.go", **fields) + (text or predicate("llm", checklist=ITEMS)))
    declared = bench.declarations()
    assert declared.invalid == ()
    (only,) = declared.specs
    return only


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def place(bench: Workbench) -> Place:
    return bench.project().place


def measured(spec: SpecVerifier, *pairs: tuple[Expectation, VerifierStatus]) -> Record:
    return measure(spec, labeled(*pairs), prompt_version=PROMPT, model="m1", date="2027-03-04")


FAILED: tuple[Expectation, VerifierStatus] = ("fail", "fail")
PASSED: tuple[Expectation, VerifierStatus] = ("pass", "pass")
FALSE_ALARM: tuple[Expectation, VerifierStatus] = ("pass", "fail")
PERFECT = (FAILED, PASSED) * 5


@pytest.mark.case("verifiers:A11.1")
def test_a_perfect_model_meets_the_bar(bench: Workbench) -> None:
    """Five and five, all right."""
    record = measured(verifier(bench), *PERFECT)
    assert (record.status, record.misses) == ("pass", ())
    assert (record.counts.precision, record.counts.recall) == (1, 1)
    assert (record.n_items, record.positives, record.model, record.date) == (10, 5, "m1", "2027-03-04")


@pytest.mark.case("verifiers:A11.2")
def test_a_model_that_flags_everything_does_not(bench: Workbench) -> None:
    """Recall is no merit of its own."""
    record = measured(verifier(bench), *(FAILED, FALSE_ALARM) * 5)
    assert record.status == "fail"
    assert (record.counts.precision, record.counts.recall) == (0.5, 1)
    assert record.misses == ("precision 0.50 is below 0.80 (5 of 10 flagged examples were real failures)",)


@pytest.mark.case("verifiers:A11.4")
def test_few_examples_say_little(bench: Workbench) -> None:
    """Two and two, all right, are not enough."""
    record = measured(verifier(bench), *(FAILED, PASSED) * 2)
    assert (record.status, record.counts.precision, record.counts.recall) == ("fail", 1, 1)
    assert record.misses == (
        "needs at least 10 labeled examples with at least 3 expected to fail and 3 to pass (has 4: 2 fail, 2 pass)",
    )


@pytest.mark.case("verifiers:A11.5")
def test_what_has_no_verdict_is_an_error(bench: Workbench) -> None:
    """Skips and errors stand beside the four counts."""
    record = measured(verifier(bench), *(("fail", "skipped"), ("pass", "error")) * 5)
    assert record.counts.errors == 10
    assert (record.counts.tp, record.counts.fp, record.counts.fn, record.counts.tn) == (0, 0, 0, 0)
    assert record.misses == (
        "10 example(s) could not be evaluated",
        "precision 0.00 is below 0.80 (0 of 0 flagged examples were real failures)",
    )


@pytest.mark.parametrize(
    ("pairs", "passes"),
    [
        ((FAILED,) * 4 + (FALSE_ALARM,) + (PASSED,) * 5, True),  # 0.80 exactly
        ((FAILED,) * 3 + (FALSE_ALARM,) + (PASSED,) * 6, False),  # 0.75
        ((FAILED,) * 2 + (PASSED,) * 8, False),  # two that fail
        ((FAILED,) * 8 + (PASSED,) * 2, False),
        ((FAILED,) * 3 + (("not_applicable", "not_applicable"),) * 7, True),  # the absence of a fail
        ((FAILED,) + (("fail", "pass"),) * 4 + (PASSED,) * 5, True),  # recall has no bar
        ((FAILED,) * 5 + (PASSED,) * 4, False),  # nine
        ((FAILED,) * 5 + (PASSED,) * 5 + (("pass", "skipped"),), False),
    ],
)
def test_the_bar(bench: Workbench, pairs: tuple[tuple[Expectation, VerifierStatus], ...], passes: bool) -> None:
    """Precision 0.80, ten examples, three of each class, none without a verdict."""
    assert (measured(verifier(bench), *pairs).status == "pass") is passes


EXPECTATION = st.sampled_from(("pass", "fail", "not_applicable"))
GOT = st.sampled_from(("pass", "fail", "not_applicable", "skipped", "error"))


@given(st.lists(st.tuples(EXPECTATION, GOT)))
def test_every_example_is_counted_once(pairs: list[tuple[Expectation, VerifierStatus]]) -> None:
    """And rates lie in their intervals."""
    counts = confusion(pairs)
    assert counts.tp + counts.fp + counts.fn + counts.tn + counts.errors == len(pairs)
    for rate, (low, high) in (
        (counts.precision, counts.precision_interval),
        (counts.recall, counts.recall_interval),
    ):
        assert 0 <= low <= rate + 1e-9
        assert rate - 1e-9 <= high <= 1


SAME = [{"message": "other words"}, {"severity": "error"}, {"fix": "do it"}, {"description": "d"}]
OTHER = [
    (head(when="*.py") + predicate("llm", checklist=ITEMS)),
    (head(when="*.go", exclude=["gen/**"]) + predicate("llm", checklist=ITEMS)),
    (head(when="*.go") + predicate("llm", checklist=[*ITEMS, "And no line says HACK."])),
    (head(when="*.go") + predicate("llm", checklist=ITEMS, model="m9")),
    (head(when="*.go") + predicate("llm", checklist=ITEMS, max_diff_bytes=2000)),
    (head(when="*.go") + predicate("forbid", regex="WRONG")),
    (head(when="*.go") + "[verifiers.require.not]\n" + predicate("not.forbid", regex="WRONG")),
]


@pytest.mark.case("verifiers:A11.15")
def test_what_the_spec_digest_covers(bench: Workbench) -> None:
    """What is looked at and asked; not what is said about it, nor what it is called."""
    first = spec_digest(verifier(bench), PROMPT)
    for fields in SAME:
        assert spec_digest(verifier(bench, **fields), PROMPT) == first
    digests = {first}
    for text in OTHER:
        bench.spec(text)
        (spec,) = bench.declarations().specs
        digests.add(spec_digest(spec, PROMPT))
    assert len(digests) == 1 + len(OTHER)
    assert spec_digest(verifier(bench), "verifier-llm/other") not in digests


def test_the_digest_is_over_go_json(bench: Workbench) -> None:
    """Keys in their order, what is empty left out, HTML escaped (spec/verifiers.md 6.3)."""
    spec = verifier(bench, predicate("llm", checklist=["a < b"], model="m"), exclude=["x/**"])
    text = (
        '{"schema":"verifier-spec/2","require":{"llm":{"checklist":["a \\u003c b"],"model":"m"}},'
        '"when_changed":["*.go"],"exclude":["x/**"],"prompt":"verifier-llm/test"}'
    )
    assert spec_digest(spec, PROMPT) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


PUBLISHED = "verifier-llm/v1"
"""The prompt that the published vectors speak of; ours has a version of its own."""


@pytest.mark.case("verifiers:D-36")
def test_the_published_spec_digest(bench: Workbench) -> None:
    """spec/verifiers.md 12: a checklist of one item, one glob, nothing left out."""
    bench.spec(head("x", when="app/**/*.py") + predicate("llm", checklist=["Errors name the input."]))
    (spec,) = bench.declarations().specs
    assert spec_digest(spec, PUBLISHED) == "sha256:e33a9b9c9fab965943df57354023120982417b51c5a47859fae22c267f3c9034"


@pytest.mark.case("verifiers:D-36")
def test_the_published_digests_of_examples(bench: Workbench) -> None:
    """spec/verifiers.md 12: of one example, and of none."""
    spec = verifier(bench, predicate("llm", checklist=ITEMS) + example("ok", "pass", {"app/a.py": "x\n"}))
    assert examples_digest(spec.examples) == "sha256:a2e5745fb2c9851b3bb85ef6e515dac1a01dc128a89d560223597e7c7756bfd2"
    assert examples_digest(()) == "sha256:74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"


def test_every_kind_of_leaf_is_covered(bench: Workbench) -> None:
    """Any edit of a member beside the checklist is another tree."""
    members: list[dict[str, dict[str, object]]] = [
        {"regex": {"regex": "a"}},
        {"regex": {"regex": "b"}},
        {"regex": {"regex": "a", "in": "diff-added"}},
        {"forbid": {"regex": "a", "in": "any-file", "files": "*.go"}},
        {"forbid": {"regex": "a", "in": "any-file", "files": "*.c"}},
        {"file_exists": {"path": "README"}},
        {"file_exists": {"path": "README", "exists": False}},
        {"paired": {"for_each": "*.go", "requires_changed": "x"}},
        {"paired": {"for_each": "*.go", "requires_exists": "x"}},
        {"glob_count": {"files": "*.go", "min": 0}},
        {"glob_count": {"files": "*.go", "max": 0}},
        {"glob_count": {"files": "*.go", "max": 0, "exclude": ["x"]}},
        {"command": {"argv": ["true"]}},
        {"command": {"argv": ["true"], "pass_files": "args"}},
        {"command": {"argv": ["true"], "timeout_s": 5}},
        {"command": {"argv": ["true"], "expect_exit": 2}},
    ]
    digests = set()
    for member in members:
        ((kind, fields),) = member.items()
        both = "[[verifiers.require.all]]\n" + predicate(f"all.{kind}", **fields)
        both += "[[verifiers.require.all]]\n" + predicate("all.llm", checklist=ITEMS)
        digests.add(spec_digest(verifier(bench, both), PROMPT))
    assert len(digests) == len(members)


def test_examples_digest_has_no_order(bench: Workbench) -> None:
    """It covers names, files, what changed and the labels."""
    one = example("one", "fail", {"b.go": "x", "a.go": "y"})
    two = example("two", "pass", {"a.go": "z"})
    llm = predicate("llm", checklist=ITEMS)
    first = examples_digest(verifier(bench, llm + one + two).examples)
    assert examples_digest(verifier(bench, llm + two + one).examples) == first
    assert examples_digest(verifier(bench, llm + one).examples) != first
    assert examples_digest(()) == f"sha256:{hashlib.sha256(b'null').hexdigest()}"
    text = '[{"name":"two","files":{"a.go":"z"},"changed":["a.go"],"expect":"pass"}]'
    found = examples_digest(verifier(bench, llm + two).examples)
    assert found == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_record_as_a_file(bench: Workbench, place: Place) -> None:
    """Its keys in their order, whole numbers without a fraction, what is empty left out."""
    spec = verifier(bench)
    record = measured(spec, *(FAILED, FALSE_ALARM) * 2)
    write_record(place, record)
    text = (bench.root / record_path(place, "x")).read_text("utf-8")
    assert text == render_record(record)
    assert text.startswith('{\n  "schema_version": 1,\n  "verifier": "x",\n  "spec_digest": "sha256:')
    assert '\n  "precision": 0.5,\n' in text
    assert '\n  "recall": 1,\n' in text
    assert text.endswith(
        '\n  "cases": {\n    "e0": "fail",\n    "e1": "fail",\n    "e2": "fail",\n    "e3": "fail"\n  }\n}\n'
    )
    found = json.loads(text)
    assert list(found) == [
        *("schema_version", "verifier", "spec_digest", "examples_digest", "prompt_version", "model", "date"),
        *("n_items", "positives", "tp", "fp", "fn", "tn", "precision", "precision_ci", "recall", "recall_ci", "f1"),
        *("status", "misses", "cases"),
    ]
    assert read_record(place, "x") == record


def test_no_record_is_written_over_a_link(bench: Workbench, place: Place) -> None:
    """Neither the file nor its folder may be one."""
    outside = bench.write("outside.json", "mine")
    folder = bench.root / ".ai-rulez/verifiers/calibration"
    folder.mkdir(parents=True)
    (folder / "x.json").symlink_to(outside)
    record = measured(verifier(bench), *PERFECT)
    with pytest.raises(FileError, match=r"cannot write \.ai-rulez/verifiers/calibration/x\.json: a symbolic link"):
        write_record(place, record)
    assert outside.read_text("utf-8") == "mine"


def gate_of(place: Place, spec: SpecVerifier, *, prompt: str = PROMPT, model: str = "m1") -> tuple[bool, str]:
    return open_gate(place, prompt, model)(spec)


@pytest.mark.case("verifiers:A11.8")
def test_a_current_record_gates(bench: Workbench, place: Place) -> None:
    """And says what it was measured with."""
    spec = verifier(bench, declared(*PERFECT))
    write_record(place, measured(spec, *PERFECT))
    assert gate_of(place, spec) == (
        True,
        "gated: calibrated on 10 examples (2027-03-04), precision 1.00 (95% interval 0.57-1.00), recall 1.00, model m1",
    )


@pytest.mark.case("verifiers:A11.10")
def test_without_a_record_nothing_gates(bench: Workbench, place: Place) -> None:
    """The note says how to make one."""
    reason = "not calibrated: run `reqfile verifiers calibrate x` and commit the record"
    assert gate_of(place, verifier(bench)) == (False, reason)


@pytest.mark.case("verifiers:A11.13")
def test_another_model_does_not_gate(bench: Workbench, place: Place) -> None:
    """A record speaks of one model."""
    spec = verifier(bench)
    write_record(place, measured(spec, *PERFECT))
    assert gate_of(place, spec, model="m2") == (False, "calibrated for model m1, running with m2")
    assert gate_of(place, spec, model="") == (False, "calibrated for model m1, running with the default model")


def test_a_stale_record_does_not_gate(bench: Workbench, place: Place) -> None:
    """Its bar, the checklist, the examples, the prompt: the first reason is told."""
    spec = verifier(bench)
    write_record(place, measured(spec, *PERFECT))
    edited = verifier(bench, predicate("llm", checklist=["Other."]))
    since = "since it was calibrated (2027-03-04)"
    assert gate_of(place, edited) == (False, f"the checklist or llm settings changed {since}")
    labeled_anew = verifier(bench, predicate("llm", checklist=ITEMS) + example("e", "pass", {"a.go": ""}))
    assert gate_of(place, labeled_anew) == (False, f"the examples changed {since}")
    assert gate_of(place, spec, prompt="verifier-llm/new") == (False, f"the verifier prompt changed {since}")
    write_record(place, measured(spec, *(FAILED, FALSE_ALARM) * 5))
    reason = "precision 0.50 is below 0.80 (5 of 10 flagged examples were real failures)"
    assert gate_of(place, spec) == (False, f"its calibration did not meet the bar: {reason}")


def test_a_record_that_was_edited_to_pass_does_not_gate(bench: Workbench, place: Place) -> None:
    """Its own figures contradict it."""
    spec = verifier(bench)
    record = measured(spec, *(FAILED, FALSE_ALARM) * 5)
    write_record(place, replace(record, status="pass", misses=()))
    gates, reason = gate_of(place, spec)
    assert not gates
    assert "precision 0.50 is below 0.80" in reason


RIGHT = {f"e{number}": expect for number, (expect, _) in enumerate(PERFECT)}


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        (
            {"n_items": 1000, "positives": 500},
            "its figures do not add up: tp, fp, fn, tn and errors must make up n_items",
        ),
        ({"tp": 8, "fp": -3}, "its figures do not add up"),
        ({"errors": -1}, "its figures do not add up"),
        ({"n_items": 1000, "positives": 500, "tp": 500, "tn": 500}, "its figures are not those of its examples"),
        ({"tp": 10**400, "n_items": 10**400 + 5}, "its figures are not those of its examples"),
        ({"tp": 6, "tn": 4}, "its figures are not those of its examples"),
        ({"positives": 4}, "its figures are not those of its examples"),
        ({"cases": {**RIGHT, "e0": "pass"}}, "its figures are not those of its examples"),
        ({"cases": {**RIGHT, "e0": "error"}}, "its figures are not those of its examples"),
        ({"cases": {}}, "its figures are not those of its examples"),
        ({"cases": {**RIGHT, "e10": "pass"}}, "its figures are not those of its examples"),
        ({"cases": None}, "its figures are not those of its examples"),
        ({"cases": []}, "must be a mapping"),
    ],
)
def test_figures_that_nobody_measured_do_not_gate(
    bench: Workbench, place: Place, edits: dict[str, object], reason: str
) -> None:
    """What somebody wrote into a record contradicts itself, its cases, or the examples that are declared."""
    spec = verifier(bench, declared(*PERFECT))
    write_record(place, measured(spec, *PERFECT))
    assert gate_of(place, spec)[0]
    file = bench.root / record_path(place, "x")
    document = {key: value for key, value in (json.loads(file.read_text()) | edits).items() if value is not None}
    file.write_text(json.dumps(document))
    gates, note = gate_of(place, spec)
    assert not gates
    assert reason in note


def test_examples_of_one_name(bench: Workbench, place: Place) -> None:
    """The record keeps one answer for both; the figures count both, and gate."""
    pairs = (FAILED,) * 5 + (PASSED,) * 5
    examples = "".join(example("same", expect, {"a.go": f"{n}"}) for n, (expect, _) in enumerate(pairs))
    spec = verifier(bench, predicate("llm", checklist=ITEMS) + examples)
    labels = [Labeled(name="same", expect=expect, got=got) for expect, got in pairs]
    record = measure(spec, labels, prompt_version=PROMPT, model="m1", date="2027-03-04")
    write_record(place, record)
    assert gate_of(place, spec)[0]
    write_record(place, replace(record, counts=replace(record.counts, tp=6, tn=4)))
    assert not gate_of(place, spec)[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "expected a key"),
        (b"\xff", "not valid UTF-8"),
        (b"[]", "must be a mapping"),
        (b'{"schema_version": 2}', "has schema_version 2; this build reads 1"),
        (b'{"schema_version": 1}', "verifier"),
    ],
)
def test_a_record_that_cannot_be_read_does_not_gate(bench: Workbench, place: Place, text: bytes, reason: str) -> None:
    """The note names the file."""
    spec = verifier(bench)
    bench.write(".ai-rulez/verifiers/calibration/x.json", text)
    gates, note = gate_of(place, spec)
    assert not gates
    assert note.startswith("its calibration record cannot be read: .ai-rulez/verifiers/calibration/x.json")
    assert reason in note


def test_a_linked_record_is_refused(bench: Workbench, place: Place) -> None:
    """It could be anyone's."""
    spec = verifier(bench)
    elsewhere = bench.write("x.json", render_record(measured(spec, *PERFECT)))
    (bench.root / ".ai-rulez/verifiers/calibration").mkdir(parents=True)
    (bench.root / ".ai-rulez/verifiers/calibration/x.json").symlink_to(elsewhere)
    gates, note = gate_of(place, spec)
    assert not gates
    assert "a symbolic link" in note
