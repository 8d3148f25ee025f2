"""``verifiers suggest``: one question, and what is left of the answer (seed 000 "Suggesting verifiers"; spec 7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_reqfile.errors import FileError, UsageError
from pytest_reqfile.project.values import Place, Project
from pytest_reqfile.verifiers.chat import ChatError, Client, LlmOptions
from pytest_reqfile.verifiers.clients import caps_of
from pytest_reqfile.verifiers.costs import LlmUsage, Spending, usage_of, worst_case
from pytest_reqfile.verifiers.estimates import cost_words
from pytest_reqfile.verifiers.hunks import fault_of
from pytest_reqfile.verifiers.layout import layout_of
from pytest_reqfile.verifiers.llm_settings import LlmSettings
from pytest_reqfile.verifiers.proposals import read_proposals
from pytest_reqfile.verifiers.replay import replay_all
from pytest_reqfile.verifiers.replies import UnusableReplyError
from pytest_reqfile.verifiers.run import VerifierRun
from pytest_reqfile.verifiers.suggest_prompt import Asked, ask_about, suggestion_request
from pytest_reqfile.verifiers.suggestions import Suggestion, check_proposals
from pytest_reqfile.verifiers.values import Target, TargetKind
from pytest_reqfile.workspace.files import create_new
from pytest_reqfile.workspace.walk import Walk

DEFAULT_MOST: Final = 5
DEFAULT_REPLAY: Final = 10
DEFAULT_MODEL: Final = "the default model"
_FILE_HEADER: Final = (
    "# Suggested by `reqfile verifiers suggest`: review each one, then run `reqfile verifiers test`.\n"
    "# Whoever commits them owns them.\n\n"
)
_NOT_OF_A_NAME: Final = re.compile(r"[^a-z0-9._-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked for: up to ``most`` verifiers for one item, replayed over the last ``replay`` merged changes."""

    kind: TargetKind
    name: str
    most: int = DEFAULT_MOST
    replay: int = DEFAULT_REPLAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested:
    """What came of it. ``skipped_reason`` is the model's, where it proposed nothing; ``usage`` what the call used."""

    target: Target
    suggestions: tuple[Suggestion, ...]
    skipped_reason: str = ""
    notes: tuple[str, ...] = ()
    usage: LlmUsage | None = None

    @property
    def usable(self) -> tuple[Suggestion, ...]:
        return tuple(one for one in self.suggestions if one.usable)


def question(run: VerifierRun, project: Project, wanted: Wanted) -> Asked:
    """What would be sent. Raises UsageError where the item does not exist or must not be sent."""
    return ask_about(project, wanted.kind, wanted.name, layout_of(run.tree.repository, project.place.folder))


def suggest(run: VerifierRun, project: Project, wanted: Wanted, client: Client) -> Suggested:
    """Ask, and check what comes back. Raises UsageError where nothing may be asked or the answer is of no use."""
    asked = question(run, project, wanted)
    try:
        reply = client.ask(suggestion_request(asked, known_ids(run), wanted.most))
    except ChatError as error:
        raise UsageError(str(error) if error.kind == "cost" else f"model call failed: {error}") from error
    try:
        found = read_proposals(reply.text)
    except UnusableReplyError as error:
        raise UsageError(f"the model's reply was unusable: {error}") from error
    notes = []
    if (more := len(found.proposals) - wanted.most) > 0:
        notes.append(f"{more} proposal(s) beyond --max-proposals {wanted.most} were dropped")
    target = Target(kind=wanted.kind, id=wanted.name, path=asked.item.path)
    checked = check_proposals(found.proposals[: wanted.most], run, project, target)
    suggestions, replayed = replay_all(checked, run, wanted.replay)
    return Suggested(
        target=target,
        suggestions=suggestions,
        skipped_reason=found.skipped_reason if not found.proposals else "",
        notes=(*notes, *replayed),
        usage=usage_of(reply),
    )


def known_ids(run: VerifierRun) -> tuple[str, ...]:
    """The names of all verifiers that are declared, but for one that must not be sent."""
    declared = run.declarations
    names = (*(flat.name for flat in declared.flat), *(spec.id for spec in declared.specs))
    return tuple(name for name in names if fault_of(name) is None)


def estimate(run: VerifierRun, project: Project, wanted: Wanted, settings: LlmSettings, options: LlmOptions) -> str:
    """What a call would be, in words; nothing is sent. Raises UsageError as ``suggest`` does before it asks."""
    asked = question(run, project, wanted)
    request = suggestion_request(asked, known_ids(run), wanted.most)
    worst = worst_case(request, settings.model, settings.prices)
    cost = cost_words(worst.cost_usd)
    try:
        caps_of(settings, options).admit(worst, Spending())
    except ChatError:
        cost += f"; a real run would be refused by {options.cost_flag} ${options.max_cost_usd:.2f}"
    size, layout = len(asked.text.encode()), asked.layout
    return (
        f"estimate: 1 call to {settings.model or DEFAULT_MODEL}, about {worst.prompt_tokens} prompt tokens, {cost} "
        f"(nothing was sent). It would send the {wanted.kind} text ({size} bytes) and the repository layout: "
        f"{len(layout.folders)} directory names and {len(layout.extensions)} file extensions."
    )


def file_for(place: Place, target: Target) -> str:
    """Where ``--write`` puts the candidates, as a project path."""
    return f"{place.folder}/verifiers/suggested-{_NOT_OF_A_NAME.sub('-', target.id)}.toml"


def refuse_existing(place: Place, target: Target) -> None:
    """Raise FileError where something is in the place of the file, or a link on the way to it."""
    path = file_for(place, target)
    walk = Walk(place.root)
    if walk.kind(path.rpartition("/")[0]) not in {None, "folder"}:
        raise FileError(f"cannot write {path}: a symbolic link or a file is in the place of its folder")
    if walk.kind(path) is not None:
        raise FileError(f"{path} already exists; it is never overwritten")


def write_suggestions(place: Place, target: Target, usable: Sequence[Suggestion]) -> str:
    """Put usable candidates into their new file; returns its project path. Raises FileError."""
    if not usable:
        raise FileError("no usable proposal, so nothing was written")
    refuse_existing(place, target)
    path = file_for(place, target)
    text = _FILE_HEADER + "\n".join(one.toml for one in usable)
    create_new(place.root / path, text.encode("utf-8", "surrogateescape"))
    return path


def with_cap(suggested: Suggested, max_cost_usd: float) -> Suggested:
    """The same with the cap of the run beside what was used."""
    if suggested.usage is None:
        return suggested
    return replace(suggested, usage=replace(suggested.usage, max_cost_usd=max_cost_usd))
