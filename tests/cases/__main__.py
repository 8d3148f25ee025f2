"""``python -m tests.cases ID``: the cases that show requirement ID, as a JUnit report on stdout.

What Reqfile.yaml at the root runs for each requirement of the project itself. Only modules that name a case of the
requirement are imported: all of them would take longer than most requirements' cases.
``python -m tests.cases --untested FILE…`` prints the case ids of conformance tables (``reqfile.md``, ``verifiers.md``,
``lock.md``) that no test carries, by what pytest collects.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.cases.conftest import REQUIREMENTS

FOLDER = Path(__file__).parent
_ROW = re.compile(r"^[*|] *([A-Z]\d*(?:[.-]\w+)?'?)(?=[ |])", re.MULTILINE)


def modules(identifier: str) -> list[Path]:
    """The test modules that name a case of the requirement."""
    (letter,) = (letter for letter, requirement in REQUIREMENTS.items() if requirement == identifier)
    return [file for file in sorted(FOLDER.glob("test_*.py")) if f'"reqfile:{letter}' in file.read_text("utf-8")]


def main(identifier: str) -> int:
    """Run the cases and print their report; pytest's own output goes to stderr. The exit code is pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        chosen = ("-m", f"requirement(id='{identifier}')", "-o", "junit_family=xunit1", f"--junitxml={report}")
        files = map(str, modules(identifier))
        command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, *files)
        done = subprocess.run(command, stdout=sys.stderr, check=False)
        if report.exists():
            print(report.read_text("utf-8"))
    return done.returncode


class _Carried:
    """The ``case`` marks of everything that is collected."""

    def __init__(self) -> None:
        self.cases: set[str] = set()

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self.cases.update(str(mark.args[0]) for mark in item.iter_markers("case"))


def untested(files: list[str]) -> int:
    """Print ``TABLE:ID`` for each case that no test carries; 1 if there are any."""
    carried = _Carried()
    with redirect_stdout(sys.stderr):
        code = pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", str(FOLDER.parent)], plugins=[carried])
    if code != pytest.ExitCode.OK:
        return int(code)
    tables = [Path(file) for file in files]
    known = [f"{table.stem}:{row}" for table in tables for row in _ROW.findall(table.read_text("utf-8"))]
    missing = [case for case in known if case not in carried.cases]
    print(f"{len(known) - len(missing)} of {len(known)} cases have a test", *missing, sep="\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(untested(sys.argv[2:]) if sys.argv[1] == "--untested" else main(sys.argv[1]))
