"""``python -m tests.cases ID``: the cases that show requirement ID, as a JUnit report on stdout.

What Reqfile.yaml at the root runs for each requirement of the project itself.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent


def main(identifier: str) -> int:
    """Run the cases and print their report; pytest's own output goes to stderr. The exit code is pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        chosen = ("-m", f"requirement(id='{identifier}')", "-o", "junit_family=xunit1", f"--junitxml={report}")
        command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, str(FOLDER))
        done = subprocess.run(command, stdout=sys.stderr, check=False)
        if report.exists():
            print(report.read_text("utf-8"))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
