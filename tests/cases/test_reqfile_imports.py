"""Requirements taken from elsewhere: cases P, A18, A19 and N9, through the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.packages import REPOSITORY, Consumer, requirements, saying, seeing, uses

Reports = list[dict[str, str]]


@pytest.fixture
def remotes(tmp_path: Path) -> Path:
    """The folder that stands for the host of all remote repositories."""
    return tmp_path / "remotes"


@pytest.fixture
def consumer(make_repo: Callable[[str], Repo], remotes: Path) -> Consumer:
    """An empty repository and the empty remote ``globex/rules``."""
    return Consumer(repo=make_repo("repo"), rules=make_repo(f"remotes/{REPOSITORY}"), remotes=remotes)


@pytest.mark.case("reqfile:A18")
def test_a_block_with_use_is_a_use_block_and_any_other_block_is_a_definition(consumer: Consumer) -> None:
    """``list`` names the location of a use block; without ``use`` the block must be complete."""
    repo = consumer.repo
    repo.write("Reqfile.yaml", requirements({"GOOD": "'true'"}))
    repo.write("app/Reqfile.yaml", uses({"X1": "../lib"}))
    repo.write("lib/Reqfile.yaml", requirements({"X1": "'true'"}))
    done = consumer.run("list")
    assert done.code == 0
    assert "From app/Reqfile.yaml:\n  X1 (code)  use: ../lib  checks: command (inherited)\n" in done.out
    assert "From lib/Reqfile.yaml:\n  X1 (code)  checks: command\n" in done.out
    repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: X1 }\n")
    done = consumer.run("check")
    assert done.code == 3
    assert "Reqfile.yaml:3: requirement X1 is missing the required field `must`" in done.out


@pytest.mark.case("reqfile:A19")
def test_a_use_block_with_must_is_an_error(consumer: Consumer) -> None:
    """What the definition says cannot be said again."""
    consumer.repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - id: X1\n    use: ./lib\n    must: Be good.\n")
    done = consumer.run("check")
    assert done.code == 3
    assert "Reqfile.yaml:5: requirement X1 is a use block, which takes `must` from its definition" in done.out


@pytest.mark.case("reqfile:N9")
def test_a_finding_of_an_imported_requirement_names_its_block_and_source(consumer: Consumer) -> None:
    """Text and JSON say which block brought the finding in, and where its definition is."""
    commit = consumer.publish(requirements({"NO_FIXME": saying("no")}))
    consumer.repo.write("app/Reqfile.yaml", uses({"NO_FIXME": f"{REPOSITORY}@{commit}"}))
    source = f"{REPOSITORY}@{commit} (Reqfile.yaml:3 at commit {commit})"
    done = consumer.run("check")
    assert done.code == 1
    assert f"  fix: h\n  from: app/Reqfile.yaml:3, use {source}\n" in done.out
    report = json.loads(consumer.run("check", "--format", "json").out)
    (finding,) = report["findings"]
    assert (finding["block"], finding["source"]) == ("app/Reqfile.yaml:3", source)
    assert "sources" not in report


@pytest.mark.case("reqfile:P1")
def test_a_use_block_resolves_to_the_definition_with_its_id_at_its_location(consumer: Consumer) -> None:
    """Of a remote, only the named requirement; of a folder, the definition and the block each have their scope."""
    commit = consumer.publish(requirements({"X": seeing("x", "**/*.txt"), "OTHER": saying("other")}))
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{commit}"}))
    consumer.repo.write("a.txt")
    done = consumer.run("check")
    assert done.code == 1
    assert "X  x a.txt" in done.out
    assert "OTHER" not in done.out
    consumer.repo.write("Reqfile.yaml", uses({"ONE_JOB": "./std"}))
    consumer.repo.write("std/Reqfile.yaml", requirements({"ONE_JOB": seeing("saw", "**/*.py")}))
    consumer.repo.write("src/a.py")
    consumer.repo.write("std/tools/b.py")
    done = consumer.run("check")
    assert done.out == (
        "ONE_JOB  saw src/a.py\n  fix: h\n  from: Reqfile.yaml:3, use ./std (std/Reqfile.yaml:3)\n"
        "ONE_JOB  saw tools/b.py\n  fix: h\n"
        "\n2 checks run, 0 with nothing to check. 2 violations, 0 advisory findings, 0 errors.\n"
    )


@pytest.mark.case("reqfile:P2")
def test_a_local_location_is_relative_to_the_folder_of_its_reqfile(consumer: Consumer) -> None:
    """``../shared`` from app/ is the root's shared/, ``./shared`` is app/shared."""
    consumer.repo.write("shared/Reqfile.yaml", requirements({"SHARED": saying("no")}))
    consumer.repo.write("app/Reqfile.yaml", uses({"SHARED": "../shared"}))
    assert consumer.run("check").code == 1
    consumer.repo.write("app/Reqfile.yaml", uses({"SHARED": "./shared"}))
    done = consumer.run("check")
    assert done.code == 3
    assert "app/Reqfile.yaml:3: `use: ./shared`: no Reqfile at or under app/shared defines SHARED" in done.out


@pytest.mark.case("reqfile:P4")
def test_a_use_block_pointing_to_another_use_block_is_an_error(consumer: Consumer) -> None:
    """Definitions are named directly, so that nobody follows chains."""
    consumer.repo.write("Reqfile.yaml", uses({"R1": "./lib"}))
    consumer.repo.write("lib/Reqfile.yaml", uses({"R1": "../def"}))
    consumer.repo.write("def/Reqfile.yaml", requirements({"R1": "'true'"}))
    done = consumer.run("check")
    assert done.code == 3
    assert (
        "Reqfile.yaml:3: `use: ./lib`: R1 in lib/Reqfile.yaml:3 is a use block, not a definition; "
        "point `use` to the folder that defines R1\n"
    ) in done.out


@pytest.mark.case("reqfile:P5")
def test_the_section_type_must_match_the_definition(consumer: Consumer) -> None:
    """A process requirement is taken under ``process``."""
    consumer.repo.write("lib/Reqfile.yaml", requirements({"REV": "'true'"}, kind="process"))
    consumer.repo.write("Reqfile.yaml", uses({"REV": "./lib"}))
    done = consumer.run("check")
    assert done.code == 3
    assert (
        "Reqfile.yaml:3: requirement REV is listed under `code`, but its definition in lib/Reqfile.yaml:3 is a process "
        "requirement; list it under `process`\n"
    ) in done.out
    consumer.repo.write("Reqfile.yaml", uses({"REV": "./lib"}, kind="process"))
    assert consumer.run("check").code == 0


@pytest.mark.case("reqfile:P7")
def test_source_discovery_honors_the_sources_exclusions(consumer: Consumer) -> None:
    """What a source excludes defines nothing, also for those who take from it."""
    consumer.rules.write(".reqfile/config.yaml", 'exclude: ["vendor/**"]\n')
    consumer.rules.write("vendor/Reqfile.yaml", requirements({"VENDORED": saying("vendored")}))
    commit = consumer.publish(requirements({"KEPT": saying("kept")}))
    location = f"{REPOSITORY}@{commit}"
    consumer.repo.write("Reqfile.yaml", uses({"KEPT": location}))
    done = consumer.run("check")
    assert done.code == 1
    assert "KEPT  kept" in done.out
    consumer.repo.write("Reqfile.yaml", uses({"VENDORED": location}))
    done = consumer.run("check")
    assert done.code == 3
    assert (
        f"`use: {location}`: no Reqfile at or under the root of {REPOSITORY} at commit {commit} defines VENDORED\n"
    ) in done.out


@pytest.mark.case("reqfile:P9")
@pytest.mark.parametrize(
    ("pin", "message"),
    [
        (
            "v1",
            "Reqfile.yaml:3: `use: globex/rules@v1` is pinned to a tag, which can move; a Reqfile pins a repository to "
            "a full commit id. `reqfile add globex/rules@v1` writes the line pinned to the commit v1 points to",
        ),
        ("3f2a9c1", "Reqfile.yaml:3: `3f2a9c1` looks like a short commit id"),
        ("HEAD", "Reqfile.yaml:3: `HEAD` is not a tag or a full commit id"),
    ],
)
def test_tags_short_ids_and_head_are_rejected_as_pins(consumer: Consumer, pin: str, message: str) -> None:
    """A Reqfile names one commit for ever."""
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{pin}"}))
    done = consumer.run("check")
    assert done.code == 3
    assert message in done.out


@pytest.mark.case("reqfile:P9")
def test_branches_are_rejected_by_add(consumer: Consumer) -> None:
    """A branch is never a pin."""
    consumer.publish(requirements({"X": "'true'"}))
    done = consumer.run("add", f"{REPOSITORY}@main")
    assert (done.code, done.out) == (3, "")
    assert "has no tag main; pin requirements to a tag or a full commit id, never a branch\n" in done.err


@pytest.mark.case("reqfile:P11")
def test_a_missing_commit_is_an_error_naming_the_source(consumer: Consumer) -> None:
    """A commit that the remote does not have."""
    consumer.publish(requirements({"X": "'true'"}))
    unknown = "0123456789abcdef0123456789abcdef01234567"
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{unknown}"}))
    done = consumer.run("check")
    assert done.code == 3
    assert (
        f"Reqfile.yaml:3: cannot fetch {REPOSITORY}@{unknown}: commit {unknown} is not in {consumer.remotes}"
        in done.out
    )


@pytest.mark.case("reqfile:P12")
def test_every_use_block_is_explained_with_the_commit_it_is_pinned_to(consumer: Consumer) -> None:
    """Two folders on two commits of one repository; each file is checked as its own folder says."""
    first = consumer.publish(requirements({"Q": seeing("Q1", "**/*.py")}))
    second = consumer.publish(requirements({"Q": seeing("Q2", "**/*.py")}))
    consumer.repo.write("Reqfile.yaml", uses({"Q": f"{REPOSITORY}@{first}"}))
    consumer.repo.write("services/api/Reqfile.yaml", uses({"Q": f"{REPOSITORY}@{second}"}))
    consumer.repo.write("a.py")
    consumer.repo.write("services/api/b.py")
    done = consumer.run("check")
    assert done.code == 1
    assert "Q  Q1 a.py\n" in done.out
    assert "Q  Q2 b.py\n" in done.out
    assert "source  " not in done.out
    done = consumer.run("explain", "services/api/b.py")
    assert f"    use: {REPOSITORY}@{second} (Reqfile.yaml:3 at commit {second})\n" in done.out
    assert first not in done.out


@pytest.mark.case("reqfile:P13")
def test_check_use_resolves_its_tag_on_each_run_and_the_cache_only_offline(consumer: Consumer) -> None:
    """A tag is asked for each time; the last answer counts only while the remote cannot be reached."""
    location = f"{REPOSITORY}@v1"
    consumer.publish(requirements({"X": saying("first")}), tag="v1")
    assert "X  first\n" in consumer.run("check", "--use", location).out
    second = consumer.publish(requirements({"X": saying("second")}), tag="v1")
    done = consumer.run("check", "--use", location)
    assert "X  second\n" in done.out
    assert f"source  {location} resolved to commit {second}\n" in done.out
    consumer.unpublish()
    done = consumer.run("check", "--use", location)
    assert done.code == 1
    assert "X  second\n" in done.out
    offline = "(cannot be reached: using the last resolution cached here)"
    assert f"source  {location} resolved to commit {second} {offline}\n" in done.out
    report = json.loads(consumer.run("check", "--use", location, "--format", "json").out)
    assert report["sources"] == [{"location": location, "commit": second, "offline": True}]


@pytest.mark.case("reqfile:P15")
def test_why_and_who_can_be_set_locally(consumer: Consumer) -> None:
    """A use block may give its own reason; what must hold stays the definition's."""
    consumer.repo.write("lib/Reqfile.yaml", requirements({"R1": "'true'"}))
    block = "reqfile: 1\ncode:\n  - id: R1\n    use: ./lib\n    why: Local reason.\n    who: Local people.\n"
    consumer.repo.write("Reqfile.yaml", block)
    done = consumer.run("explain", ".")
    assert "    must: Be good.\n    why: Local reason.\n" in done.out
    listed: Reports = json.loads(consumer.run("list", "--format", "json").out)["requirements"]
    (entry,) = [r for r in listed if r["reqfile"] == "Reqfile.yaml"]
    assert (entry["must"], entry["why"], entry["who"]) == ("Be good.", "Local reason.", "Local people.")


@pytest.mark.case("reqfile:P16")
def test_local_checks_replace_the_definitions_checks_entirely(consumer: Consumer) -> None:
    """The block's check runs at the root, the definition's two only in its own folder."""
    two = requirements({"R1": saying("one")}) + "      - command: { run: 'echo two; exit 1', fix_hint: h }\n"
    consumer.repo.write("lib/Reqfile.yaml", two)
    local = "    checks:\n      - command: { run: 'echo LOCAL; exit 1', fix_hint: h }\n"
    consumer.repo.write("Reqfile.yaml", f"reqfile: 1\ncode:\n  - id: R1\n    use: ./lib\n{local}")
    done = consumer.run("check")
    assert done.code == 1
    assert [done.out.count(f"R1  {word}\n") for word in ("LOCAL", "one", "two")] == [1, 1, 1]
    assert "3 checks run" in done.out


@pytest.mark.case("reqfile:P17")
def test_reqfile_assets_points_to_the_definitions_folder_for_inherited_checks(consumer: Consumer) -> None:
    """Inherited checks find the files of their definition, remote or local."""
    consumer.rules.write(".reqfile/R1/marker", "from the source\n")
    commit = consumer.publish(requirements({"R1": "'cat \"$REQFILE_ASSETS/marker\"; exit 1'"}))
    consumer.repo.write("Reqfile.yaml", uses({"R1": f"{REPOSITORY}@{commit}"}))
    assert "R1  from the source\n" in consumer.run("check").out
    consumer.repo.delete("Reqfile.yaml")
    consumer.repo.write("lib/Reqfile.yaml", requirements({"R1": "'echo \"$REQFILE_ASSETS\"; exit 1'"}))
    consumer.repo.write("app/Reqfile.yaml", uses({"R1": "../lib"}))
    done = consumer.run("check", "--only", "R1")
    assert done.out.count(f"R1  {consumer.repo.root}/lib/.reqfile/R1\n") == 2


@pytest.mark.case("reqfile:P19")
def test_local_assets_other_than_examples_with_inherited_checks_are_an_error(consumer: Consumer) -> None:
    """Two sets of files for one set of checks would hide which one counts."""
    commit = consumer.publish(requirements({"X": "'true'"}))
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{commit}"}))
    consumer.repo.write(".reqfile/X/examples/ok/files/a.txt")
    assert consumer.run("check").code == 0
    consumer.repo.write(".reqfile/X/decision.yaml", "units: []\n")
    done = consumer.run("check")
    assert done.code == 3
    assert (
        "Reqfile.yaml:3: requirement X takes its checks from its definition, whose files are in its own .reqfile/X/, "
        "so .reqfile/X/ may only hold examples/; found .reqfile/X/decision.yaml. "
        "Set `checks` here to use local files, or move the file\n"
    ) in done.out


@pytest.mark.case("reqfile:P20")
def test_two_worktrees_with_different_local_assets_never_affect_each_other(consumer: Consumer, tmp_path: Path) -> None:
    """Runs in two worktrees at once are equal to runs alone, each with the assets of its own worktree."""
    command = '\'cat "$REQFILE_ASSETS/limit"; echo "$REQFILE_ASSETS"; exit 1\''
    consumer.repo.write("lib/Reqfile.yaml", requirements({"R1": "'true'"}))
    local = f"    checks:\n      - command:\n          run: {command}\n          fix_hint: h\n"
    consumer.repo.write("Reqfile.yaml", f"reqfile: 1\ncode:\n  - id: R1\n    use: ./lib\n{local}")
    consumer.repo.write(".reqfile/R1/limit", "0.9\n")
    consumer.repo.commit()
    other = tmp_path.resolve() / "other"
    consumer.repo.git("worktree", "add", "-q", str(other), "-b", "other")
    (other / ".reqfile/R1/limit").write_text("0.6\n")
    folders = (str(consumer.repo.root), str(other))
    alone = [consumer.run("check", cwd=folder) for folder in folders]
    for done, folder, limit in zip(alone, folders, ("0.9", "0.6"), strict=True):
        assert f"R1  {limit}\n    {folder}/.reqfile/R1\n" in done.out
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda folder: consumer.run("check", cwd=folder), folders * 10))
    assert together == alone * 10


@pytest.mark.case("reqfile:P22")
def test_add_writes_the_use_blocks_pinned_to_the_commit_with_the_tag_as_a_comment(consumer: Consumer) -> None:
    """The exact text of the answer and of the file; no command has run, and nothing is added twice."""
    touch = f"touch {consumer.repo.root}/marker"
    parts = [
        requirements({name: touch}, kind=kind) for kind, name in (("product", "F"), ("code", "N"), ("process", "V"))
    ]
    commit = consumer.publish(parts[0] + "".join(part.removeprefix("reqfile: 1\n") for part in parts[1:]), tag="v1")
    consumer.repo.write("app/keep.txt")
    done = consumer.run("add", f"{REPOSITORY}@v1", "N", "V", cwd="app")
    sections = (
        f"code:\n  - {{ id: N, use: {REPOSITORY}@{commit} }}  # v1\n"
        f"\nprocess:\n  - {{ id: V, use: {REPOSITORY}@{commit} }}  # v1\n"
    )
    assert done.err == ""
    assert done.out == (
        f"{REPOSITORY}@v1 resolved to commit {commit}.\n\nAdded to app/Reqfile.yaml:\n\n{sections}\n"
        f"Their checks will run, in the folder of that Reqfile:\n  N  command: {touch}\n  V  command: {touch}\n\n"
        "Then measure them on their examples and check this code:\n"
        "  reqfile eval --only N,V\n  reqfile check --only N,V\n"
    )
    assert done.code == 0
    assert consumer.repo.path("app/Reqfile.yaml").read_text() == f"reqfile: 1\n\n{sections}"
    assert not consumer.repo.path("marker").exists()
    assert consumer.run("check").code == 0
    again = consumer.run("add", f"{REPOSITORY}@v1", "N", cwd="app")
    assert (again.code, again.out) == (3, "")
    assert again.err == "error: app/Reqfile.yaml already has N; edit or remove it there\n"
    product = consumer.run("add", f"{REPOSITORY}@v1", "F", cwd="app")
    assert product.code == 3
    assert "F is a product requirement, which describes its own repository's product" in product.err
    assert consumer.repo.path("app/Reqfile.yaml").read_text() == f"reqfile: 1\n\n{sections}"


@pytest.mark.case("reqfile:P24")
def test_add_dry_run_shows_the_use_blocks_and_writes_nothing(consumer: Consumer) -> None:
    """Everything that is not a product requirement, from a tag and from a folder."""
    both = requirements({"F": "'true'"}, kind="product")
    both += requirements({"N": "'true'"}).removeprefix("reqfile: 1\n")
    commit = consumer.publish(both, tag="v1")
    done = consumer.run("add", f"{REPOSITORY}@v1", "--dry-run")
    assert done.code == 0
    assert "\nAdd to Reqfile.yaml:\n" in done.out
    assert f"  - {{ id: N, use: {REPOSITORY}@{commit} }}  # v1\n" in done.out
    assert "F" not in done.out.replace("Reqfile", "")
    assert not consumer.repo.path("Reqfile.yaml").exists()
    consumer.repo.write("lib/Reqfile.yaml", requirements({"L": "'true'"}))
    consumer.repo.write("app/keep.txt")
    done = consumer.run("add", "../lib", "--dry-run", cwd="app")
    assert done.code == 0
    assert done.out.startswith("../lib is lib.\n")
    assert "\ncode:\n  - { id: L, use: ../lib }\n" in done.out
    assert not consumer.repo.path("app/Reqfile.yaml").exists()


@pytest.mark.case("reqfile:P25")
def test_update_moves_use_blocks_to_their_latest_release_tag(consumer: Consumer) -> None:
    """The highest version wins, shown first, written then, and nothing is left to move."""
    old = consumer.publish(requirements({"X": saying("old")}), tag="v1.9.0")
    new = consumer.publish(requirements({"X": saying("new")}), tag="v1.10.0")
    consumer.publish(requirements({"X": saying("nightly")}), tag="nightly")
    text = f"reqfile: 1\ncode:\n  - {{ id: X, use: {REPOSITORY}@{old} }}  # v1.9.0\n"
    consumer.repo.write("Reqfile.yaml", text)
    done = consumer.run("update", "--dry-run")
    assert done.code == 0
    assert "Would move:\n  Reqfile.yaml:3  globex/rules  v1.9.0 -> v1.10.0\n" in done.out
    assert consumer.repo.path("Reqfile.yaml").read_text() == text
    done = consumer.run("update")
    assert "Moved:\n  Reqfile.yaml:3  globex/rules  v1.9.0 -> v1.10.0\n" in done.out
    moved = text.replace(old, new).replace("v1.9.0", "v1.10.0")
    assert consumer.repo.path("Reqfile.yaml").read_text() == moved
    assert "X  new\n" in consumer.run("check").out
    done = consumer.run("update")
    assert "Every pinned repository is at its latest release.\n" in done.out
    assert "  Reqfile.yaml:3  globex/rules  v1.10.0, the latest release\n" in done.out


@pytest.mark.case("reqfile:P27")
def test_sources_are_cached_per_user_by_commit_and_shared_across_repositories(
    consumer: Consumer, make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    """What one repository fetched serves the next one, also when the remote is gone."""
    commit = consumer.publish(requirements({"X": saying("cached")}))
    cache = tmp_path / "cache"
    env = {"REQFILE_CACHE": str(cache)}
    consumer.repo.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{commit}"}))
    assert "X  cached\n" in consumer.run("check", env=env).out
    assert (cache / "sources/commits" / commit / "Reqfile.yaml").is_file()
    assert not (consumer.repo.root / ".git/reqfile/sources").exists()
    shutil.rmtree(consumer.rules.root)
    second = make_repo("second")
    second.write("Reqfile.yaml", uses({"X": f"{REPOSITORY}@{commit}"}))
    assert "X  cached\n" in second.run("check", env={**consumer.env, **env}).out


@pytest.mark.case("reqfile:P28")
def test_check_use_runs_a_location_for_one_run_without_writing_anything(consumer: Consumer) -> None:
    """What is tried runs beside what is required, and may not be required already."""
    commit = consumer.publish(requirements({"N": "'true'"}), tag="v1")
    own = requirements({"OWN": saying("own")})
    consumer.repo.write("Reqfile.yaml", own)
    done = consumer.run("check", "--use", f"{REPOSITORY}@v1", "--only", "N")
    assert done.code == 0
    assert done.out == (
        f"source  {REPOSITORY}@v1 resolved to commit {commit}\n"
        "\n1 check run, 0 with nothing to check. 0 violations, 0 advisory findings, 0 errors.\n"
    )
    assert consumer.repo.path("Reqfile.yaml").read_text() == own
    consumer.repo.write("Reqfile.yaml", requirements({"N": "'true'"}))
    done = consumer.run("check", "--use", f"{REPOSITORY}@v1", "--only", "N")
    assert done.code == 3
    assert f"--use {REPOSITORY}@v1: N is already required here; try it with --only on other ids" in done.out


@pytest.mark.case("reqfile:P29")
def test_check_use_takes_a_local_folder_so_authors_try_unpublished_packages(consumer: Consumer, tmp_path: Path) -> None:
    """A folder inside the repository, seen from the current folder; its requirements then apply to the whole of it."""
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    consumer.repo.write("vendor/draft/Reqfile.yaml", requirements({"DRAFT": seeing("saw", "**/*.txt")}))
    consumer.repo.write("a.txt")
    done = consumer.run("check", "--use", str(outside))
    assert done.code == 3
    assert f"--use {outside}: outside the repository" in done.out
    for cwd, location in (("", "./vendor/draft"), ("vendor", "./draft"), ("vendor/draft", ".")):
        done = consumer.run("check", "--use", location, cwd=cwd)
        assert done.code == 1
        assert "DRAFT  saw a.txt\n" in done.out
        assert "from: --use:1, use ./vendor/draft (vendor/draft/Reqfile.yaml:3)\n" in done.out


@pytest.mark.case("reqfile:H23")
@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_a_changed_pin_rechecks_the_whole_scope(consumer: Consumer, edition: str) -> None:
    """Unchanged files may fail what the new commit asks."""
    first = consumer.publish(requirements({"Q": seeing("Q1", "**/*.py")}))
    second = consumer.publish(requirements({"Q": seeing("Q2", "**/*.py")}))
    for path in ("a.py", "lib/b.py"):
        consumer.repo.write(path)
    consumer.repo.write("Reqfile.yaml", uses({"Q": f"{REPOSITORY}@{first}"}))
    consumer.repo.commit()
    consumer.repo.branch("feature")
    done = consumer.run("check", "--changed", "main", "--edition", edition)
    assert (done.code, "1 with nothing to check" in done.out) == (0, True)
    consumer.repo.write("Reqfile.yaml", uses({"Q": f"{REPOSITORY}@{second}"}))
    done = consumer.run("check", "--changed", "main", "--edition", edition)
    assert done.code == 1
    assert "Q  Q2 a.py lib/b.py\n" in done.out


@pytest.mark.parametrize("layout", ["example.yaml", "folder name"])
def test_eval_use_measures_a_package_on_its_own_examples(consumer: Consumer, layout: str) -> None:
    """Spec 5.4, 6.2: what is tried for one run brings its examples from the extracted source."""
    rules = consumer.rules
    if layout == "example.yaml":
        rules.write(".reqfile/X/examples/bad/example.yaml", "expected: violation\n")
        rules.write(".reqfile/X/examples/bad/files/a.txt", "FIXME\n")
    else:
        rules.write(".reqfile/X/examples/violation-bad/a.txt", "FIXME\n")
    consumer.publish(requirements({"X": "'! grep -r FIXME --include=*.txt .'"}), tag="v1")
    done = consumer.run("eval", "--use", f"{REPOSITORY}@v1")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("X  asserted: 1 examples, 1 as labeled\n")
