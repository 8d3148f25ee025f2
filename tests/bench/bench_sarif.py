"""5,000 results: our serialiser against jschema-to-python (issue 5 item 1), which is in the extra ``bench``.

Run with ``python -m pytest tests/bench/bench_sarif.py``.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

import sarif_om

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reports import sarif
from pytest_reqfile.reports.run_report import RunReport, run_report
from pytest_reqfile.reports.sarif import sarif_report
from pytest_reqfile.reports.sarif_document import SCHEMA, sarif_text
from tests.support.reports import item, outcome, read_sarif

RESULTS = 5000


def _report() -> RunReport:
    findings = tuple(
        Finding(message=f"finding {n}", file=f"src/file{n % 300}.py", line=n + 1, column=3, fix_hint="Fix it.")
        for n in range(RESULTS)
    )
    return run_report("1.2.3", [item(outcome(findings=findings))], started=1_767_322_000.0, seconds=1.0)


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def test_writing_takes_a_tenth_of_the_usual_serialiser(monkeypatch: Any) -> None:
    """And writes the same JSON."""
    runs: list[sarif_om.Run] = []

    def keep(run: sarif_om.Run, results: Iterable[sarif_om.Result]) -> str:
        run.results = list(results)
        runs.append(run)
        return sarif_text(run)

    monkeypatch.setattr(sarif, "sarif_text", keep)
    report = _report()
    text = sarif_report(report).text
    log = sarif_om.SarifLog(runs=runs[:1], version="2.1.0", schema_uri=SCHEMA)
    to_json = importlib.import_module("jschema_to_python.to_json").to_json
    usual = _seconds(lambda: to_json(log))
    ours = min(_seconds(lambda: sarif_text(runs[0])) for _ in range(3))
    whole = min(_seconds(lambda: sarif_report(report)) for _ in range(3))
    print(f"\nobjects to text: {ours:.3f} s, jschema-to-python {usual:.3f} s; outcomes to text: {whole:.3f} s")
    assert len(read_sarif(text)["results"]) == RESULTS
    assert json.loads(to_json(log)) == json.loads(text)
    assert ours <= usual / 10
