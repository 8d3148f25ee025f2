"""``python -m tests``: lint, types, every test and the project's own requirements; stops at the first that fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
# One more than there are processors: tests also wait, for deadlines, processes and disks, a fifth of their time.
WORKERS = str((os.cpu_count() or 1) + 1)
STEPS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("mypy",),
    # Tests linked to a requirement of Reqfile.yaml are run by that requirement, in the last step.
    ("pytest", "-n", WORKERS, "--dist", "worksteal", "-q", "-m", "not requirement"),
    ("pytest_reqfile", "check"),
)


def main() -> int:
    """Run the steps with this interpreter; its tools come first on PATH, as in an activated environment."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A job that a script puts into the background ignores Ctrl-C, and so would every process the tests interrupt.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    # Hundreds of tests start a process; without compiled modules each would compile the package anew.
    env = {**os.environ, "PATH": path}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    for step in STEPS:
        print(f"== {' '.join(step)}", flush=True)
        done = subprocess.run((sys.executable, "-m", *step), check=False, cwd=ROOT, env=env)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
