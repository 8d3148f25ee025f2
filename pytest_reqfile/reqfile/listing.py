"""The texts of ``reqfile list`` and ``reqfile explain`` (seed 004 LIST, EXPLAIN; spec reqfile.md 7.1, 7.2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.values import KINDS, Kind, Requirement
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.paths import folder_of, shown


def list_text(catalog: Catalog, kind: Kind | None) -> str:
    """Every requirement grouped by Reqfile with the types of its checks, then how many there are."""
    chosen = _of_kind(catalog, kind)
    if not chosen:
        return f"No {kind + ' ' if kind else ''}requirements in this repository.\n"
    lines: list[str] = []
    for path, requirements in groupby(chosen, key=lambda r: r.location.path):
        lines += [f"From {_name(path)}:", *(_list_line(requirement) for requirement in requirements), ""]
    return "\n".join([*lines, _count_line(chosen, kind)]) + "\n"


def list_json(catalog: Catalog, kind: Kind | None) -> str:
    """The same as JSON, with everything a requirement says but its commands."""
    return json.dumps({"requirements": [_as_json(r) for r in _of_kind(catalog, kind)]}, indent=2) + "\n"


def explain_text(catalog: Catalog, path: str, *, is_folder: bool) -> str:
    """The requirements that apply to a repository path, from the root down, each with the Reqfile it comes from."""
    excluder = catalog.settings.excluder(path) if path else None
    if excluder is not None:
        return f"{_name(path)} is excluded by {_name(excluder.path)}; no requirements apply.\n"
    applying = catalog.applying_to(path if is_folder else folder_of(path))
    if not applying:
        return f"No requirements apply to {_name(shown(path))}.\n"
    lines = [f"Requirements that apply to {_name(shown(path))}:"]
    for reqfile, requirements in groupby(applying, key=lambda r: r.location.path):
        lines += ["", f"From {_name(reqfile)}:", *(line for r in requirements for line in _explain_lines(r))]
    return "\n".join(lines) + "\n"


def _of_kind(catalog: Catalog, kind: Kind | None) -> tuple[Requirement, ...]:
    return tuple(r for r in catalog.requirements if kind in {None, r.kind})


def _list_line(requirement: Requirement) -> str:
    imported = requirement.imported
    use = f"  use: {imported.use}" if imported else ""
    origin = (" (inherited)" if imported.checks_inherited else " (set here)") if imported else ""
    return f"  {requirement.id} ({requirement.kind}){use}  checks: {', '.join(check_types(requirement))}{origin}"


def check_types(requirement: Requirement) -> tuple[str, ...]:
    """The distinct types of a requirement's checks in declaration order."""
    return tuple(dict.fromkeys(check.label for check in requirement.checks))


def _count_line(requirements: Sequence[Requirement], kind: Kind | None) -> str:
    if kind is not None:
        return f"{len(requirements)} {kind} requirements."
    counts = {k: sum(r.kind == k for r in requirements) for k in KINDS}
    parts = [f"{counts[k]} {k}" for k in KINDS if k != "process" or counts[k]]
    return f"{len(requirements)} requirements: {', '.join(parts)}."


def _as_json(requirement: Requirement) -> dict[str, object]:
    imported = requirement.imported
    return {
        "reqfile": requirement.location.path,
        "line": requirement.location.line,
        "id": requirement.id,
        "kind": requirement.kind,
        "must": requirement.must,
        "why": requirement.why,
        "who": requirement.who,
        "ref": requirement.ref,
        "checks": list(check_types(requirement)),
        "imported": None
        if imported is None
        else {
            "use": str(imported.use),
            "definition": str(imported.definition),
            "commit": imported.commit,
            "checks_inherited": imported.checks_inherited,
        },
    }


def _explain_lines(requirement: Requirement) -> Iterator[str]:
    yield f"  {requirement.id} ({requirement.kind})"
    yield f"    must: {_text(requirement.must)}"
    yield f"    why: {_text(requirement.why)}"
    yield from _import_lines(requirement)


def _name(path: str) -> str:
    """A path on one line, whatever its characters."""
    return visible(path, kept=frozenset())


def _text(written: str) -> str:
    """What a Reqfile says; further lines are indented, so that none reads as a line of ours."""
    return visible(written.rstrip().replace("\n", "\n      "))


def _import_lines(requirement: Requirement) -> Iterable[str]:
    imported = requirement.imported
    if imported is None:
        return ()
    checks = "inherited from the definition" if imported.checks_inherited else "set in this block"
    return (f"    use: {imported}", f"    checks: {checks}")
