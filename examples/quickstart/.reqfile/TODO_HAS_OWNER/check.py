"""Prints each TODO that names no owner; exits 1 if there is one."""

import re
import sys

NOBODY = re.compile(r"#.*\bTODO\b(?!\(\w+\))")

found = [
    f"{name}:{number}: {line.strip()}"
    for name in sys.argv[1:]
    for number, line in enumerate(open(name, encoding="utf-8"), start=1)
    if NOBODY.search(line)
]
print("\n".join(found))
sys.exit(bool(found))
