"""Drafts of claims, made by hand."""

from __future__ import annotations

from pytest_reqfile.oracle.claims import Check, Claim, Draft, Unit
from pytest_reqfile.oracle.digests import Artifact
from pytest_reqfile.oracle.results import Verdict


def artifact(ref: str, letter: str = "a") -> Artifact:
    """An artifact with a digest of one letter."""
    return Artifact(ref=ref, digest="sha256:" + letter * 64, size=7)


def check(name: str, check_id: str, exit_code: int | None = 0) -> Check:
    """A check with one stream."""
    return Check(
        name=name,
        check_id=check_id,
        exit_code=exit_code,
        environment="overlay/kernel, net off",
        receipt=artifact(f"oracle/{check_id}.json"),
        streams=(artifact(f"oracle/{check_id}.stdout", "c"),),
    )


def unit(identifier: str, verdict: Verdict, *, text: str = "It works.") -> Unit:
    """A claim that cites a file, with the check of the same id."""
    claim = Claim(
        id=identifier,
        verdict=verdict,
        confidence="high",
        text=text,
        explanation="because",
        receipts=(artifact(f"oracle/{identifier}.json"),),
        cited=(artifact(f"src/{identifier}.py:1", "d"),),
    )
    return Unit(id=identifier, verdict=verdict, claim=claim, checks=(check(f"oracle/{identifier}", identifier),))


def draft(*units: Unit, observations: tuple[str, ...] = (), limitations: tuple[str, ...] = ()) -> Draft:
    """A draft of these units."""
    return Draft(
        units=units,
        observations=observations,
        limitations=limitations,
        notes=artifact("notes.json", "e"),
        review=artifact("review-evidence.json", "b"),
    )
