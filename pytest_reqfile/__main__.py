"""``python -m pytest_reqfile`` is the command ``reqfile``."""

import sys

from pytest_reqfile.cli import main

if __name__ == "__main__":
    sys.exit(main())
