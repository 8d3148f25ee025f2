"""``python -m pytest_reqfile`` is the command ``reqfile``."""

import sys

if __name__ == "__main__":
    # Python put the current folder first, so that a reviewed workspace could bring a ``json.py`` (seed 003).
    if not sys.flags.safe_path:
        del sys.path[0]
    from pytest_reqfile.cli import main

    sys.exit(main())
