"""Reqfile.yaml as nodes → blocks, with every problem located (seed 004 REQFILE_FORMAT, CHECKS_DECLARED; spec 1.1)."""

from __future__ import annotations

import re
from typing import Final

from pytest_reqfile.errors import FormatError
from pytest_reqfile.outcome import Location
from pytest_reqfile.reqfile.checks import read_check
from pytest_reqfile.reqfile.uses import read_use
from pytest_reqfile.reqfile.values import KINDS, Block, Check, DecisionCheck, Kind, Reqfile, Use
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.yaml import read_yaml, top_level_keys

FORMAT_VERSION: Final = 1
VERSION_MESSAGE: Final = "a Reqfile needs a `reqfile: 1` version key"
TOP_LEVEL_KEYS: Final = ("reqfile", *KINDS)
BLOCK_KEYS: Final = ("id", "use", "ref", "must", "why", "who", "checks")
_ID: Final = re.compile(r"[A-Z](?:_?[A-Z0-9])*")


def parse_reqfile(text: str, path: str) -> Reqfile:
    """The Reqfile in ``text``. Raises FormatError with every problem of the file."""
    root = read_yaml(text, path)
    problems = Problems(path)
    if root.kind == "null":
        problems.add(1, VERSION_MESSAGE)
        problems.raise_if_any()
    fields = Fields(root, "the Reqfile", TOP_LEVEL_KEYS, problems)
    if root.kind == "mapping":
        _read_version(fields, root, problems)
    blocks = tuple(
        block
        for kind in KINDS
        for node in fields.optional_list(kind)
        if (block := _read_block(node, kind, path, problems)) is not None
    )
    _refuse_repeated_ids(blocks, problems)
    problems.raise_if_any()
    return Reqfile(path=path, blocks=blocks)


def declares_requirements(text: str, path: str) -> bool:
    """Whether a file of a near-miss name is meant as a Reqfile: it has one of its top-level keys (spec 1.5).

    Of what is no YAML only the version key counts, which is nobody else's: a Reqfile with a slip is one all the same.
    """
    try:
        root = read_yaml(text, path)
    except FormatError:
        keys, is_whole = top_level_keys(text)
        return not keys.isdisjoint(TOP_LEVEL_KEYS if is_whole else TOP_LEVEL_KEYS[:1])
    return root.kind == "mapping" and any(root.get(key) is not None for key in TOP_LEVEL_KEYS)


def _read_version(fields: Fields, root: Node, problems: Problems) -> None:
    if root.get("reqfile") is None:
        problems.add(root.line, VERSION_MESSAGE)
        return
    before = len(problems)
    version = fields.integer("reqfile")
    if version != FORMAT_VERSION and len(problems) == before:
        message = f"unsupported Reqfile version {version}; this reqfile supports version {FORMAT_VERSION}"
        fields.refuse("reqfile", message)


def _read_block(node: Node, kind: Kind, path: str, problems: Problems) -> Block | None:
    fields = Fields(node, "a requirement", BLOCK_KEYS, problems)
    if node.kind != "mapping":
        return None
    identifier = _read_id(fields)  # without one the block is still read, so that all its problems are told
    if identifier:
        fields.relabel(f"requirement {identifier}")
    if "use" in fields:
        return _read_use_block(fields, identifier, kind, path, problems)
    must = fields.string("must")
    ref = fields.optional_string("ref")
    why = fields.string("why")
    who = fields.optional_string("who")
    checks = _read_checks(fields, problems)
    if fields.failed or not checks:
        return None
    location = Location(path=path, line=node.line)
    return Block(id=identifier, kind=kind, location=location, must=must, ref=ref, why=why, who=who, checks=checks)


def _read_use_block(fields: Fields, identifier: str, kind: Kind, path: str, problems: Problems) -> Block | None:
    use = _read_use(fields, kind)
    for key in ("must", "ref"):
        if key in fields:
            fields.refuse(
                key,
                f"{fields.what} is a use block, which takes `{key}` from its definition; "
                f"remove `{key}`, or remove `use` to define the requirement here",
            )
    why = fields.optional_string("why")
    who = fields.optional_string("who")
    checks = _read_checks(fields, problems) if "checks" in fields else None
    if fields.failed or use is None or checks == ():
        return None
    location = Location(path=path, line=fields.mapping_line)
    return Block(
        id=identifier,
        kind=kind,
        location=location,
        use=use,
        use_line=fields.line("use"),
        why=why,
        who=who,
        checks=checks,
    )


def _read_use(fields: Fields, kind: Kind) -> Use | None:
    text = fields.string("use")
    if not text.strip():
        return None
    try:
        use = read_use(text)
    except ValueError as error:
        fields.refuse("use", str(error))
        return None
    if kind == "product":
        fields.refuse(
            "use",
            f"{fields.what} is a product requirement, which describes this repository's own product; "
            "only code and process requirements can be taken with `use`",
        )
    return use


def _read_id(fields: Fields) -> str:
    """The id; empty (and a problem) where it is missing or misspelled."""
    identifier = fields.string("id")
    if not identifier or _ID.fullmatch(identifier):
        return identifier
    fields.refuse("id", f"requirement id `{identifier}` must be SCREAMING_SNAKE_CASE")
    return ""


def _read_checks(fields: Fields, problems: Problems) -> tuple[Check, ...]:
    nodes = fields.list("checks")
    if not nodes:
        if fields.kind_of("checks") == "list":
            message = f"{fields.what} declares no checks; add at least one `command` or `decision` check"
            fields.refuse("checks", message)
        return ()
    found = tuple(read_check(node, problems) for node in nodes)
    checks = tuple(check for check in found if check is not None)
    decisions = [check for check in checks if isinstance(check, DecisionCheck)]
    for extra in decisions[1:]:
        problems.add(extra.line, f"{fields.what} declares more than one decision check")
    return checks if len(checks) == len(found) else ()


def _refuse_repeated_ids(blocks: tuple[Block, ...], problems: Problems) -> None:
    first: dict[str, int] = {}
    for block in blocks:
        line = block.location.line
        if block.id in first:
            message = f"requirement id {block.id} appears twice in this Reqfile (first at line {first[block.id]})"
            problems.add(line, message)
        first.setdefault(block.id, line)
