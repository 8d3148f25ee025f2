"""A changed-only run finds exactly what a full run finds in the files it selects (seed 004 SELECTION)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from pytest_reqfile.reqfile.changes import ChangeSet, change_set
from pytest_reqfile.reqfile.command import CommandContext
from pytest_reqfile.reqfile.plan import Selection, plan_checks
from pytest_reqfile.reqfile.repository import open_repository
from pytest_reqfile.reqfile.run import evaluate_checks
from pytest_reqfile.reqfile.values import Edition
from tests.support import Repo, make_template
from tests.support.blocks import block, reqfile_text, run

FOLDERS = ("", "a/", "a/b/", "c/")
FILES = tuple(f"{folder}{name}" for folder in FOLDERS for name in ("x.txt", "y.txt"))
EXCLUDES = ("", "x.txt", "**/y.txt", "b/*.txt")
# One SARIF result for each file given that holds the mark.
MARKED = (
    'printf \'{"runs": [{"results": [\'; c=; for f in "$@"; do grep -q BAD "$f" || continue; '
    'printf "$c"; c=,; printf \'{"message": {"text": "bad"}, "locations": [{"physicalLocation": '
    '{"artifactLocation": {"uri": "%s"}}}]}\' "$f"; done; printf \']}]}\'; [ -z "$c" ]; exit $?; f() { :; }; f'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a repository holds: contents of files, the reason each folder's requirement gives, its excludes."""

    files: Mapping[str, str]
    whys: Mapping[str, str]
    excludes: Mapping[str, str]

    def is_target(self, path: str) -> bool:
        """Whether no config above excludes it, worked out from the four globs by hand."""
        return path in self.files and not any(_matches(self.excludes[f], path, f) for f in FOLDERS)

    def write(self, repo: Repo) -> None:
        for path in FILES:
            if path in self.files:
                repo.write(path, self.files[path])
            elif repo.path(path).exists():
                repo.delete(path)
        for folder in FOLDERS:
            name = f"R_{folder.replace('/', '').upper() or 'TOP'}"
            check = run(MARKED, files="**/*.txt", pass_files=True, format="sarif")
            repo.write(f"{folder}Reqfile.yaml", reqfile_text(block(name, check, why=self.whys[folder])))
            glob = self.excludes[folder]
            repo.write(f"{folder}.reqfile/config.yaml", f"exclude: {json.dumps([glob] if glob else [])}\n")


def _matches(glob: str, path: str, folder: str) -> bool:
    if not glob or not path.startswith(folder):
        return False
    below = path[len(folder) :]
    return (
        below == "x.txt"
        if glob == "x.txt"
        else below.startswith("b/")
        if glob == "b/*.txt"
        else below.endswith("y.txt")
    )


def _states() -> st.SearchStrategy[State]:
    contents = st.sampled_from(["fine\n", "BAD\n", "BAD too\n"])
    return st.builds(
        State,
        files=st.dictionaries(st.sampled_from(FILES), contents, min_size=1),
        whys=st.fixed_dictionaries({folder: st.sampled_from(["Because.", "Otherwise."]) for folder in FOLDERS}),
        excludes=st.fixed_dictionaries({folder: st.sampled_from(EXCLUDES) for folder in FOLDERS}),
    )


@st.composite
def _changes(draw: st.DrawFn) -> tuple[State, State]:
    """A state and one that shares most of it, so that something is left unchanged."""
    before, other = draw(_states()), draw(_states())
    kept = draw(st.sets(st.sampled_from(FILES)))
    files = {p: t for p, t in before.files.items() if p in kept} | {
        p: t for p, t in other.files.items() if p not in kept
    }
    whys = before.whys if draw(st.booleans()) else other.whys
    excludes = before.excludes if draw(st.booleans()) else other.excludes
    return before, State(files=files, whys=whys, excludes=excludes)


def _selected(before: State, now: State, folder: str, edition: Edition) -> set[str]:
    """The files a requirement of ``folder`` must look at, from the rules and nothing else (spec 5.2, 5.3)."""
    scope = {path for path in now.files if path.startswith(folder) and now.is_target(path)}
    changed = {path for path in scope if before.files.get(path) != now.files[path]}
    related = [f for f in FOLDERS if folder.startswith(f) or f.startswith(folder)]
    if edition == "0.1":
        redefined = before.whys[folder] != now.whys[folder] or any(
            before.excludes[f] != now.excludes[f] for f in related
        )
        return scope if redefined else changed
    above = [f for f in FOLDERS if folder.startswith(f)]
    if before.whys[folder] != now.whys[folder] or any(before.excludes[f] != now.excludes[f] for f in above):
        return scope
    return changed | {path for path in scope if not before.is_target(path)}


CALM = State(
    files={"a/x.txt": "BAD\n", "a/y.txt": "BAD\n"},
    whys=dict.fromkeys(FOLDERS, "Because."),
    excludes=dict.fromkeys(FOLDERS, ""),
)


@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_findings_are_those_of_a_full_run_in_the_selected_files(
    edition: Edition, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever changed; and the change set says the same after it went to another process."""
    template = make_template(tmp_path_factory.mktemp("template"))
    seen = {"all": 0, "some": 0, "none": 0}

    @settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.generate))
    @given(_changes())
    @example((CALM, CALM))
    @example((CALM, replace(CALM, files={**CALM.files, "a/x.txt": "BAD too\n"})))
    def holds(states: tuple[State, State]) -> None:
        before, now = states
        with TemporaryDirectory() as folder:
            root = Path(folder, "repo")
            root.mkdir()
            repo = Repo(root, Path(folder, "home"), template)
            before.write(repo)
            repo.commit()
            now.write(repo)
            full, narrow, candidates = _both_runs(repo, edition)
        for place in FOLDERS:
            name = f"R_{place.replace('/', '').upper() or 'TOP'}"
            selected = _selected(before, now, place, edition)
            assert candidates[name] == tuple(sorted(selected))
            assert full[name] <= set(FILES)
            assert narrow[name] == {path for path in full[name] if path in selected}
            seen["all" if narrow[name] == full[name] else "some" if narrow[name] else "none"] += 1

    holds()
    assert min(seen.values()) > 0, f"the examples do not tell a narrowed run from a full one: {seen}"


def _both_runs(
    repo: Repo, edition: Edition
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, tuple[str, ...]]]:
    """The files with findings of a full and of a changed-only run, and what the latter looked at, by requirement."""
    repository = open_repository(repo.root, repo.environment)
    changes = change_set(repository, Selection(), "HEAD", edition)
    assert ChangeSet.from_wire(changes.to_wire()) == changes
    found: list[dict[str, set[str]]] = []
    for selection in (Selection(), changes.narrow(Selection())):
        context = CommandContext(
            root=repository.root, environment=repository.command_environment(), edition="0.4", program="reqfile"
        )
        outcomes = evaluate_checks(plan_checks(repository.catalog, selection), context, workers=2)
        assert {outcome.status for outcome in outcomes} <= {"pass", "fail", "nothing_to_check"}
        found.append({o.owner: {f.file or "" for f in o.findings} for o in outcomes})
    candidates = {
        r.id: tuple(path for path in changes.candidates(r).existing if path in FILES)
        for r in repository.catalog.requirements
    }
    return found[0], found[1], candidates
