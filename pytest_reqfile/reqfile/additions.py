"""``reqfile add``: which requirements of a location a Reqfile takes, and what that brings in (spec reqfile.md 7.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_reqfile.errors import FormatError, Problem, UsageError
from pytest_reqfile.reqfile.discovery import REQFILE_NAME, Discovery, in_reqfile_folder
from pytest_reqfile.reqfile.pins import UseLine, insert_use_lines, sections_text
from pytest_reqfile.reqfile.resolution import blocks_below
from pytest_reqfile.reqfile.sources import SourceLoader
from pytest_reqfile.reqfile.uses import read_location
from pytest_reqfile.reqfile.values import KINDS, Block, CommandCheck, FolderUse, Kind, Use
from pytest_reqfile.workspace.paths import folder_of, joined, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a location defines. ``use`` and ``tag`` are how a Reqfile takes it, ``resolved`` says where it led."""

    location: str
    resolved: str
    use: str
    tag: str | None
    definitions: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Use blocks for the Reqfile at ``path``, and the definitions they take, by section; none when nothing is on offer.

    ``new_text`` is the Reqfile with them.
    """

    path: str
    offer: Offer
    definitions: tuple[Block, ...]
    sections: Mapping[Kind, tuple[UseLine, ...]]
    new_text: str


def read_offer(location: str, folder: str, discovery: Discovery, loader: SourceLoader) -> Offer:
    """What is defined at ``location``, a folder being relative to the repository folder ``folder``.

    Raises UsageError, FormatError with the source's problems, or WorkspaceError.
    """
    try:
        use: Use = read_location(location, f"`use: {location}`")
    except ValueError as error:
        raise UsageError(str(error)) from error
    if isinstance(use, FolderUse):
        below = joined(folder, use.path)
        if below is None:
            raise UsageError(f"{location} is outside the repository")
        blocks = tuple(blocks_below(discovery, below))
        resolved, taken, tag = f"{location} is {shown(below)}", location, None
    else:
        source = loader.load(use)
        if source.discovery.problems:
            raise FormatError(Problem(message=f"in {use}: {problem}") for problem in source.discovery.problems)
        blocks = tuple(blocks_below(source.discovery, ""))
        offline = " (cannot be reached: using the last resolution cached here)" if source.offline else ""
        resolved, taken = f"{use} resolved to commit {source.commit}{offline}", f"{use.repo}@{source.commit}"
        tag = None if use.commit else use.ref
    definitions = tuple(block for block in blocks if block.use is None)
    return Offer(location=location, resolved=resolved, use=taken, tag=tag, definitions=definitions)


def plan_addition(offer: Offer, ids: Sequence[str], folder: str, discovery: Discovery) -> Addition:
    """The use blocks for ``ids`` (every code and process requirement on offer without any) in the folder's Reqfile.

    Raises UsageError for what cannot be taken, FormatError where the Reqfile's text cannot take them.
    """
    path = joined(folder, REQFILE_NAME) or REQFILE_NAME
    _refuse_unseen(path, discovery)
    chosen = _chosen(offer, ids, path, discovery)
    by_kind = {kind: tuple(block for block in chosen if block.kind == kind) for kind in KINDS}
    sections = {
        kind: tuple(UseLine(id=block.id, use=offer.use, tag=offer.tag) for block in blocks)
        for kind, blocks in by_kind.items()
        if blocks
    }
    definitions = tuple(block for blocks in by_kind.values() for block in blocks)
    text = discovery.tree.read_text(path) if path in _own_ids(discovery) else ""
    try:
        new_text = insert_use_lines(text, path, sections)
    except FormatError as error:
        by_hand = sections_text(sections)
        raise UsageError(f"{path} could not take the use blocks ({error}); add them by hand:\n\n{by_hand}") from error
    return Addition(path=path, offer=offer, definitions=definitions, sections=sections, new_text=new_text)


def addition_text(addition: Addition, *, dry_run: bool) -> str:
    """What was (or would be) added, every command that comes with it, and what to do next."""
    if not addition.definitions:
        return f"{addition.offer.resolved}; it defines no code or process requirement.\n"
    ids = ",".join(block.id for block in addition.definitions)
    lines = [
        f"{addition.offer.resolved}.",
        "",
        f"{'Add' if dry_run else 'Added'} to {addition.path}:",
        "",
        sections_text(addition.sections),
        "Their checks will run, in the folder of that Reqfile:",
        *(line for block in addition.definitions for line in _check_lines(block)),
        "",
        "Then measure them on their examples and check this code:",
        f"  reqfile eval --only {ids}",
        f"  reqfile check --only {ids}",
    ]
    return "\n".join(lines) + "\n"


def _check_lines(block: Block) -> Iterator[str]:
    for check in block.checks or ():
        if isinstance(check, CommandCheck):
            run = check.run.rstrip("\n").replace("\n", "\n    ")
            yield f"  {block.id}  {check.label}: {run}"
        else:
            place = joined(folder_of(block.location.path), f".reqfile/{block.id}/decision.yaml")
            yield f"  {block.id}  {check.label}: asks Jev the question of {place}"


def _chosen(offer: Offer, ids: Sequence[str], path: str, discovery: Discovery) -> tuple[Block, ...]:
    offered: defaultdict[str, list[Block]] = defaultdict(list)
    for block in offer.definitions:
        offered[block.id].append(block)
    importable = [block.id for block in offer.definitions if block.kind != "product"]
    wanted = tuple(dict.fromkeys(ids or importable))
    present = _own_ids(discovery).get(path, frozenset())
    refusals = [_refusal(identifier, offered[identifier], offer, path, present) for identifier in wanted]
    problems = [refusal for refusal in refusals if refusal is not None]
    if problems:
        raise UsageError(*problems)
    return tuple(offered[identifier][0] for identifier in wanted)


def _refusal(
    identifier: str, definitions: Sequence[Block], offer: Offer, path: str, present: frozenset[str]
) -> str | None:
    """Why the requirement cannot be taken, or None."""
    if identifier in present:
        return f"{path} already has {identifier}; edit or remove it there"
    if not definitions:
        return f"{offer.location} defines no requirement {identifier}"
    if len(definitions) > 1:
        first, second = (block.location for block in definitions[:2])
        return f"`use: {offer.location}`: {identifier} is defined twice, in {first} and {second}"
    if definitions[0].kind == "product":
        return (
            f"{identifier} is a product requirement, which describes its own repository's product; "
            "only code and process requirements can be taken with `use`"
        )
    return None


def _own_ids(discovery: Discovery) -> dict[str, frozenset[str]]:
    return {reqfile.path: frozenset(block.id for block in reqfile.blocks) for reqfile in discovery.reqfiles}


def _refuse_unseen(path: str, discovery: Discovery) -> None:
    """A Reqfile that nothing reads would take the blocks and never run them (seed 004 REQFILE_FORMAT, why)."""
    excluder = discovery.settings.excluder(path)
    if excluder is not None:
        raise UsageError(f"{path} is excluded by {excluder.path}; no requirement in it would apply")
    if in_reqfile_folder(path):
        raise UsageError(f"{path} is inside a .reqfile folder; no requirement in it would apply")
