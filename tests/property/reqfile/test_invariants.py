"""What holds for all Reqfiles, places and probabilities."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.reports.words import columns, padded, shortened
from pytest_reqfile.reqfile.places import decode_percent, repository_path
from pytest_reqfile.reqfile.plan import Candidates, Selection, plan_checks
from pytest_reqfile.reqfile.values import Thresholds
from tests.support.memory_tree import catalog_of
from tests.support.requirements import command, req, seen

names = st.text(string.ascii_letters + ".-_é ", min_size=1, max_size=6).filter(lambda name: name.strip(".") == name)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
probabilities = st.floats(0, 1)
FOLDERS = ("", "app", "app/deep", "lib")


@given(paths, st.sampled_from(FOLDERS))
def test_a_path_comes_back_however_it_is_written(path: str, folder: str) -> None:
    """Plain, with dots, percent-encoded, absolute, and as a file URL."""
    expected = f"{folder}/{path}" if folder else path
    for uri in (quote(path), quote(path, safe=""), f"./{quote(path)}", f"x/..//{quote(path)}"):
        assert repository_path(uri, root="/r o", folder=folder) == expected
    for uri in (f"/r%20o/{quote(expected)}", f"file:///r%20o/{quote(expected)}"):
        assert repository_path(uri, root="/r o", folder=folder) == expected


@given(st.text(), st.sampled_from(FOLDERS))
def test_any_text_gives_a_place(uri: str, folder: str) -> None:
    """Never an exception, never empty where something was said."""
    assert repository_path(uri, root="/repo", folder=folder) or not uri.removeprefix("file://")


@given(st.text(st.characters(codec="utf-8")))
def test_decoding_undoes_encoding_and_leaves_plain_text_alone(text: str) -> None:
    """Only ``%`` followed by two hex digits means anything."""
    assert decode_percent(quote(text)) == text
    plain = text.replace("%", "")
    assert decode_percent(plain) == plain
    assert decode_percent(f"{plain}%") == f"{plain}%"


@given(probabilities, probabilities, probabilities, probabilities)
def test_verdicts_grow_with_probability_and_thresholds_split_it_in_three(
    a: float, b: float, p: float, q: float
) -> None:
    """Equality with a threshold is uncertain; a higher probability is never judged more mildly."""
    low, high = sorted((a, b))
    thresholds = Thresholds(pass_below=low, violation_above=high)
    order = ("pass", "uncertain", "violation")
    lower, higher = sorted((p, q))
    assert order.index(thresholds.verdict(lower)) <= order.index(thresholds.verdict(higher))
    assert thresholds.verdict(low) == thresholds.verdict(high) == "uncertain"


@given(st.floats(), st.floats())
def test_thresholds_that_cross_or_leave_the_range_cannot_be(above: float, below: float) -> None:
    """The constructor refuses what cannot be, NaN included."""
    if 0 <= below <= above <= 1:
        assert Thresholds(violation_above=above, pass_below=below).verdict(above) == "uncertain"
    else:
        with pytest.raises(ValueError, match="thresholds must satisfy"):
            Thresholds(violation_above=above, pass_below=below)


globs = st.sampled_from(("**", "*", "**/*.txt", "deep/**", "{a,b}*", "nothing"))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str | bytes]:
    """Files in some folders, each of which may have a Reqfile and a config that excludes."""
    files: dict[str, str | bytes] = {}
    for at, folder in enumerate(draw(st.lists(st.sampled_from(FOLDERS), unique=True, min_size=1))):
        prefix = f"{folder}/" if folder else ""
        files[f"{prefix}Reqfile.yaml"] = req(
            **{f"R{at}": [seen(draw(globs)), command("x", files=draw(globs)), "- decision"]}
        )
        if draw(st.booleans()):
            files[f"{prefix}.reqfile/config.yaml"] = f'exclude: ["{draw(globs)}"]\n'
    for path in draw(st.lists(paths, max_size=6)):
        files.setdefault(f"{draw(st.sampled_from(FOLDERS))}/{path}".removeprefix("/"), "")
    return files


@given(trees(), st.data())
def test_a_plan_stays_within_targets_and_scope_in_byte_order(
    files: dict[str, str | bytes], data: st.DataObject
) -> None:
    """A narrowed plan stays within the full one; the order of checks never changes."""
    catalog = catalog_of(files)
    full = plan_checks(catalog, Selection())
    targets = {path for path in files if catalog.discovery.is_target(path)}
    for check in full:
        assert set(check.files) <= targets
        assert all(catalog.in_scope(check.requirement, path) for path in check.files)
        assert list(check.files) == sorted(check.files, key=str.encode)
        assert (check.state == "run") == bool(check.files)
    chosen = frozenset(data.draw(st.sets(st.sampled_from(sorted(targets))) if targets else st.just(set())))

    def changed(requirement: object) -> Candidates:
        del requirement
        return Candidates(existing=tuple(sorted(chosen, key=str.encode)))

    narrowed = plan_checks(catalog, Selection(candidates=changed))
    assert [(c.requirement.id, c.name) for c in narrowed] == [(c.requirement.id, c.name) for c in full]
    for small, large in zip(narrowed, full, strict=True):
        inside = {path for path in large.files if path in chosen}
        assert inside <= set(small.files) <= chosen


@given(st.text(), st.integers(1, 40))
def test_shortened_text_fits_and_is_a_beginning(text: str, width: int) -> None:
    """Whatever its characters; padding fills the rest."""
    short = shortened(text, width)
    assert columns(short) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))
    assert columns(padded(short, width)) == width
