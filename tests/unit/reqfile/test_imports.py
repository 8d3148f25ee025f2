"""Additions, updates and trials on trees in memory: which blocks, which messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from pytest_reqfile.errors import FormatError, UsageError, WorkspaceError
from pytest_reqfile.reqfile.additions import Addition, addition_text, plan_addition, read_offer
from pytest_reqfile.reqfile.catalog import Catalog, load_catalog
from pytest_reqfile.reqfile.discovery import Discovery, discover
from pytest_reqfile.reqfile.sources import Source
from pytest_reqfile.reqfile.trials import Trials
from pytest_reqfile.reqfile.updates import Updates, plan_updates, updates_text
from pytest_reqfile.reqfile.values import RepositoryUse
from tests.support.packages import requirements, uses

OLD, NEW = "1" * 40, "2" * 40
PRODUCT_AND_CODE = requirements({"F": "'true'"}, kind="product") + requirements({"N": "'true'"}).removeprefix(
    "reqfile: 1\n"
)


@dataclass(frozen=True)
class Files:
    """A tree that is a mapping."""

    files: Mapping[str, str]

    @property
    def listed(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def is_regular(self, path: str) -> bool:
        return path in self.files

    def read_text(self, path: str) -> str:
        return self.files[path]


@dataclass
class Remote:
    """Loads every location as the same files at commit OLD, or not at all; remembers what was asked for."""

    files: Mapping[str, str] | None = None
    offline: bool = False
    asked: list[str] = field(default_factory=list)

    def load(self, use: RepositoryUse) -> Source:
        self.asked.append(str(use))
        if self.files is None:
            raise WorkspaceError(f"cannot fetch {use}: nobody is there")
        return Source(use=use, commit=OLD, root="/src", discovery=discover(Files(self.files)), offline=self.offline)


def here(**files: str) -> Discovery:
    return discover(Files({path.replace("__", "/"): text for path, text in files.items()}))


def add(discovery: Discovery, location: str, *ids: str, folder: str = "", remote: Remote | None = None) -> Addition:
    offer = read_offer(location, folder, discovery, remote or Remote())
    return plan_addition(offer, ids, folder, discovery)


def test_add_takes_each_section_in_the_order_asked_for() -> None:
    """Ids once, code before process, the commit in the file and the tag beside it."""
    parts = (requirements({"A": "'true'", "B": "'true'"}), requirements({"P": "'true'"}, kind="process"))
    remote = Remote({"Reqfile.yaml": parts[0], "p/Reqfile.yaml": parts[1]})
    addition = add(discover(Files({})), "o/r@v1", "P", "B", "A", "B", remote=remote)
    assert [block.id for block in addition.definitions] == ["B", "A", "P"]
    pin = f"use: o/r@{OLD} }}  # v1\n"
    code = f"code:\n  - {{ id: B, {pin}  - {{ id: A, {pin}"
    assert addition.new_text == f"reqfile: 1\n\n{code}\nprocess:\n  - {{ id: P, {pin}"


def test_add_of_a_commit_has_no_comment_and_says_when_it_is_offline() -> None:
    """A tag that could not be asked for now is said to be the last resolution."""
    remote = Remote({"Reqfile.yaml": requirements({"N": "'true'"})})
    addition = add(discover(Files({})), f"o/r@{OLD}", remote=remote)
    assert f"use: o/r@{OLD} }}\n" in addition.new_text
    assert addition_text(addition, dry_run=True).startswith(f"o/r@{OLD} resolved to commit {OLD}.\n")
    remote.offline = True
    text = addition_text(add(discover(Files({})), "o/r@v1", remote=remote), dry_run=True)
    last = "(cannot be reached: using the last resolution cached here)"
    assert text.startswith(f"o/r@v1 resolved to commit {OLD} {last}.\n")


def test_add_shows_every_check_it_brings() -> None:
    """Commands of several lines and decisions with where their question stands."""
    checks = (
        "      - command:\n          run: |\n            one\n            two\n          fix_hint: h\n"
        "      - decision: { mode: blocking }\n"
    )
    definition = f"reqfile: 1\ncode:\n  - id: N\n    must: m\n    why: w\n    checks:\n{checks}"
    text = addition_text(add(here(**{"lib__Reqfile.yaml": definition}), "./lib"), dry_run=False)
    decision = "N  decision (blocking): asks Jev the question of lib/.reqfile/N/decision.yaml"
    assert f"\n  N  command: one\n    two\n  {decision}\n" in text


def test_add_of_a_place_that_offers_nothing_says_so() -> None:
    """Product requirements are no offer; nothing is written then."""
    discovery = here(**{"lib__Reqfile.yaml": requirements({"F": "'true'"}, kind="product")})
    addition = add(discovery, "./lib")
    assert (addition.definitions, addition_text(addition, dry_run=False)) == (
        (),
        "./lib is lib; it defines no code or process requirement.\n",
    )


@pytest.mark.parametrize(
    ("location", "ids", "messages"),
    [
        (
            "./lib",
            ("NOPE", "F"),
            ("./lib defines no requirement NOPE", "F is a product requirement, which describes its"),
        ),
        ("./app", (), ("app/Reqfile.yaml already has MINE; edit or remove it there",)),
        ("../x", (), ("../x is outside the repository",)),
        ("lib", (), ("`use: lib` must be a folder relative to this Reqfile (./std) or a repository pinned to a tag",)),
        (
            "./twice",
            ("T",),
            ("`use: ./twice`: T is defined twice, in twice/Reqfile.yaml:3 and twice/x/Reqfile.yaml:3",),
        ),
    ],
)
def test_add_refuses(location: str, ids: tuple[str, ...], messages: tuple[str, ...]) -> None:
    """All that is wrong at once, and nothing is planned."""
    discovery = here(
        **{
            "lib__Reqfile.yaml": PRODUCT_AND_CODE,
            "app__Reqfile.yaml": requirements({"MINE": "'true'"}),
            "twice__Reqfile.yaml": requirements({"T": "'true'"}),
            "twice__x__Reqfile.yaml": requirements({"T": "'true'"}),
        }
    )
    folder = "app" if location == "./app" else ""
    with pytest.raises(UsageError) as refused:
        add(discovery, "." if folder else location, *ids, folder=folder)
    found = refused.value.messages
    assert len(found) == len(messages)
    assert all(text.startswith(start) for text, start in zip(found, messages, strict=True))


def test_add_refuses_a_reqfile_that_nothing_reads() -> None:
    """Excluded, or inside a .reqfile folder."""
    discovery = here(**{"lib__Reqfile.yaml": PRODUCT_AND_CODE, ".reqfile__config.yaml": 'exclude: ["gen/**"]\n'})
    with pytest.raises(
        UsageError, match=r"^gen/Reqfile.yaml is excluded by .reqfile/config.yaml; no requirement in it"
    ):
        add(discovery, "../lib", folder="gen")
    with pytest.raises(UsageError, match=r"^.reqfile/X/Reqfile.yaml is inside a .reqfile folder; no requirement in it"):
        add(discovery, "../../lib", folder=".reqfile/X")


def test_add_to_a_file_that_cannot_take_lines_shows_them() -> None:
    """What to write by hand."""
    discovery = here(**{"Reqfile.yaml": "reqfile: 1\ncode: []\n", "lib__Reqfile.yaml": PRODUCT_AND_CODE})
    with pytest.raises(UsageError) as refused:
        add(discovery, "./lib")
    text = str(refused.value)
    assert text.startswith("Reqfile.yaml could not take the use blocks (Reqfile.yaml:")
    assert text.endswith("); add them by hand:\n\ncode:\n  - { id: N, use: ./lib }\n")


def test_add_refuses_a_source_with_problems() -> None:
    """The source's own problems, named after it."""
    with pytest.raises(FormatError, match=r"^in o/r@v1: Reqfile.yaml:1: unsupported Reqfile version 2"):
        add(discover(Files({})), "o/r@v1", remote=Remote({"Reqfile.yaml": "reqfile: 2\n"}))


def update(text: str, tags: Mapping[str, Mapping[str, str]]) -> Updates:
    def tags_of(repo: str) -> Mapping[str, str]:
        if repo not in tags:
            raise WorkspaceError(f"{repo} cannot be reached")
        return tags[repo]

    return plan_updates(here(**{"Reqfile.yaml": text}), tags_of)


def test_update_looks_at_every_pin_whatever_fails() -> None:
    """Moved, kept, without a release and unreachable, each said; the reachable ones are written."""
    text = "reqfile: 1\ncode:\n" + "".join(
        f"  - {{ id: {name}, use: o/{name.lower()}@{OLD} }}  # v1\n"
        for name in ("MOVED", "KEPT", "NAMES", "GONE", "LOST")
    ).replace("o/lost", "o/gone")
    updates = update(text, {"o/moved": {"v2": NEW}, "o/kept": {"v1": OLD}, "o/names": {"nightly": NEW}})
    assert updates_text(updates, dry_run=False) == (
        "Moved:\n  Reqfile.yaml:3  o/moved  v1 -> v2\n\n"
        "Up to date:\n  Reqfile.yaml:4  o/kept  v1, the latest release\n"
        "  Reqfile.yaml:5  o/names  no release tag; left as pinned\n"
    )
    assert [str(problem) for problem in updates.problems] == ["Reqfile.yaml:6: o/gone cannot be reached"]
    assert updates.texts == {"Reqfile.yaml": text.replace(f"o/moved@{OLD} }}  # v1", f"o/moved@{NEW} }}  # v2")}


def test_update_without_anything_to_move_says_why() -> None:
    """No pin at all, none with a release, and a tag that itself has moved."""
    assert updates_text(update(uses({"X": "./lib"}), {}), dry_run=False) == "No Reqfile pins a repository.\n"
    pinned = uses({"X": f"o/r@{OLD}"})
    text = updates_text(update(pinned, {"o/r": {}}), dry_run=False)
    assert text.startswith("No pinned repository has a newer release.\n")
    moved_tag = update(pinned.replace(" }", " }  # v1"), {"o/r": {"v1": NEW}})
    assert moved_tag.moves == (f"  Reqfile.yaml:3  o/r  {'1' * 12} -> v1",)


def test_update_leaves_alone_what_only_looks_like_a_pin() -> None:
    """A comment and a text; a pin on another line than its key is told, not passed over."""
    text = (
        f"reqfile: 1\n# use: o/r@{OLD}\ncode:\n  - id: A\n    use: ./lib\n    why: |\n      use: o/r@{OLD}\n"
        f"  - id: B\n    use:\n      o/r@{OLD}\n"
    )
    updates = update(text, {"o/r": {"v2": NEW}})
    assert (updates.moves, updates.texts) == ((), {})
    (problem,) = updates.problems
    assert str(problem) == "Reqfile.yaml:10: the pin of B is not on one line with its `use`; move it by hand"


def catalog(files: Mapping[str, str], trials: Trials, remote: Remote | None = None) -> Catalog:
    return load_catalog(Files(files), "/repo", remote or Remote(), trials)


def try_out(*locations: str, cwd: str = "/repo", only: frozenset[str] | None = None) -> Trials:
    return Trials(locations=locations, cwd=cwd, only=only)


def test_what_is_tried_stands_at_the_root_and_last() -> None:
    """Code and process requirements, narrowed by ``--only``; a folder's own definitions do not clash."""
    files = {"Reqfile.yaml": requirements({"OWN": "'true'"}), "z/lib/Reqfile.yaml": PRODUCT_AND_CODE}
    tried = catalog(files, try_out("./lib", cwd="/repo/z"))
    assert tried.problems == ()
    assert [(r.id, r.folder) for r in tried.requirements] == [("OWN", ""), ("F", "z/lib"), ("N", "z/lib"), ("N", "")]
    last = tried.requirements[-1]
    assert (str(last.location), str(last.imported), last.assets) == (
        "--use:1",
        "./z/lib (z/lib/Reqfile.yaml:12)",
        "/repo/z/lib/.reqfile/N",
    )


@pytest.mark.parametrize(
    ("trials", "problem"),
    [
        (try_out("../x"), "--use ../x: outside the repository"),
        (try_out("/elsewhere"), "--use /elsewhere: outside the repository"),
        (try_out("./none"), "--use ./none: no code or process requirement to try there"),
        (try_out("./lib", only=frozenset({"F"})), "--use ./lib: no code or process requirement to try there"),
        (
            try_out("o/r@HEAD"),
            "--use: `HEAD` is not a tag or a full commit id; pin requirements to a tag (v1.0.0) or a",
        ),
        (try_out("o/r@v1"), "cannot fetch o/r@v1: nobody is there"),
        (try_out("."), "--use .: OWN is already required here; try it with --only on other ids, or edit the Reqfile"),
        (try_out("./lib", "./lib"), "--use ./lib: N is already required here"),
        (try_out("./used"), "--use ./used: USED is already required here"),
    ],
)
def test_what_cannot_be_tried_is_a_problem(trials: Trials, problem: str) -> None:
    """One problem of the second stage each; the requirements of the repository stay."""
    files = {
        "Reqfile.yaml": requirements({"OWN": "'true'"}),
        "lib/Reqfile.yaml": PRODUCT_AND_CODE,
        "used/Reqfile.yaml": requirements({"USED": "'true'"}),
        "app/Reqfile.yaml": uses({"USED": "../used"}),
    }
    tried = catalog(files, trials)
    (found,) = tried.stages[1]
    assert str(found).startswith(problem)
    assert {"OWN", "N"} <= {requirement.id for requirement in tried.requirements}


def test_a_source_is_asked_for_once_and_each_block_says_what_is_wrong() -> None:
    """Two blocks of one location that cannot be fetched: one attempt, two problems."""
    remote = Remote()
    blocks = uses({"A": f"o/r@{OLD}", "B": f"o/r@{OLD}"})
    found = load_catalog(Files({"Reqfile.yaml": blocks}), "/repo", remote)
    assert [str(problem) for problem in found.problems] == [
        f"Reqfile.yaml:{line}: cannot fetch o/r@{OLD}: nobody is there" for line in (3, 4)
    ]
    assert remote.asked == [f"o/r@{OLD}"]
