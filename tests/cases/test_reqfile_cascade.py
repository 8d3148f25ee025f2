"""Cases C, D and E: folders, settings and exclusions (seed 004 CASCADE, CONFIG_CASCADE, EXCLUDE; spec reqfile.md 2)."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.requirements import OK, command, expect, req, say, seen

BOTH = pytest.mark.parametrize("edition", ["0.1", "0.4"])


def _write(repo: Repo, *paths: str) -> None:
    for path in paths:
        repo.write(path, "text\n")


@pytest.mark.case("reqfile:C1")
def test_a_requirement_targets_only_files_under_its_folder(repo: Repo) -> None:
    """Files are named as seen from the folder of the Reqfile."""
    repo.write("Reqfile.yaml", req(TOP=seen("**/*.txt")))
    repo.write("app/Reqfile.yaml", req(SUB=seen("**/*.txt")))
    _write(repo, "top.txt", "app/inner.txt", "app/deep/nested.txt", "lib/other.txt")
    expect(
        repo.run("check"),
        1,
        "TOP  saw app/deep/nested.txt app/inner.txt lib/other.txt top.txt\n",
        "SUB  saw deep/nested.txt inner.txt\n",
    )


@pytest.mark.case("reqfile:C3")
def test_commands_run_from_the_folder_of_their_reqfile(repo: Repo) -> None:
    """Whatever folder the program is started in."""
    repo.write("app/Reqfile.yaml", req(SUB=command('echo "in $(basename "$PWD")"; exit 1')))
    repo.path("app/deep").mkdir()
    expect(repo.run("check"), 1, "SUB  in app\n")
    expect(repo.run("check", cwd="app/deep"), 1, "SUB  in app\n")


@pytest.mark.case("reqfile:C4")
@pytest.mark.case("reqfile:C4'")
@BOTH
def test_two_definitions_of_an_id_are_an_error_naming_both_files(repo: Repo, edition: str) -> None:
    """The text is that of 0.4 in both editions (design 3)."""
    repo.write("Reqfile.yaml", req(SAME=OK))
    repo.write("app/Reqfile.yaml", req(SAME=OK))
    message = "requirement SAME is also defined in Reqfile.yaml; define it once and take it elsewhere with `use`"
    expect(repo.run("check", "--edition", edition), 3, f"error  app/Reqfile.yaml:3: {message}\n\n0 checks run")


@pytest.mark.case("reqfile:C5")
@pytest.mark.case("reqfile:C5'")
@BOTH
def test_two_blocks_of_an_id_in_one_reqfile_are_an_error(repo: Repo, edition: str) -> None:
    """At the second block, with the line of the first."""
    text = req(SAME=OK)
    repo.write("Reqfile.yaml", text + text.split("code:\n")[1])
    message = "requirement id SAME appears twice in this Reqfile (first at line 3)"
    expect(repo.run("check", "--edition", edition), 3, f"error  Reqfile.yaml:11: {message}\n")


@pytest.mark.case("reqfile:C7")
def test_the_nearest_block_with_an_id_applies_and_shadows_farther_ones(repo: Repo) -> None:
    """One judgement per file and id; ``explain`` shows the same."""
    repo.write("Reqfile.yaml", req(S=seen("**/*.txt")))
    repo.write("app/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: S, use: .. }\n")
    _write(repo, "top.txt", "lib/other.txt", "app/inner.txt", "app/deep/nested.txt")
    expect(repo.run("check"), 1, "S  saw lib/other.txt top.txt\n", "S  saw deep/nested.txt inner.txt\n")
    explained = repo.run("explain", "app/inner.txt")
    expect(explained, 0, "From app/Reqfile.yaml:\n  S (code)\n", absent=["From Reqfile.yaml:"])


@pytest.mark.case("reqfile:D7")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "base: main\nexclud: []\n",
            "2: unknown key `exclud` in the config (expected one of: base, exclude, decision)",
        ),
        (
            "decision:\n  modle: x\n",
            "2: unknown key `modle` in decision (expected one of: model, api_key_env, endpoint, concurrency)",
        ),
        ("decision:\n  concurrency: 0\n", "2: `concurrency` must be at least 1"),
        ("exclude: gen/**\n", "1: `exclude` must be a list, found a string"),
        (
            "exclude:\n  - ok\n  - 'a/['\n",
            "2: invalid `exclude` glob: error parsing glob 'a/[': unclosed character class",
        ),
    ],
    ids=["key", "decision-key", "concurrency", "type", "glob"],
)
def test_an_invalid_config_names_its_file_and_line(repo: Repo, text: str, problem: str) -> None:
    """Also where no Reqfile stands next to it."""
    repo.write("Reqfile.yaml", req(R1=OK))
    repo.write("app/.reqfile/config.yaml", text)
    expect(repo.run("check"), 3, f"error  app/.reqfile/config.yaml:{problem}")


@pytest.mark.case("reqfile:D8")
def test_a_near_miss_config_name_fails(repo: Repo) -> None:
    """Whatever it holds: settings that are silently not read look like settings; excluded ones are left alone."""
    names = (".reqfile/CONFIG.yaml", "app/.reqfile/config.yml")
    for name in names:
        repo.write(name, "[")
    message = ":1: a config file must be named exactly .reqfile/config.yaml\n"
    expect(repo.run("check"), 3, *(f"error  {name}{message}" for name in names))
    repo.write(".reqfile/config.yaml", 'exclude: ["**/.reqfile/config.yml", ".reqfile/C*"]\n')
    expect(repo.run("check"), 0, "0 checks run")


@pytest.mark.case("reqfile:E1")
def test_targets_are_tracked_and_untracked_files_but_never_ignored_ones(repo: Repo) -> None:
    """What git lists."""
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    repo.write(".gitignore", "build/\n*.log.txt\n")
    _write(repo, "tracked.txt", "gone.txt")
    repo.commit()
    repo.delete("gone.txt")
    _write(repo, "untracked.txt", "build/out.txt", "debug.log.txt")
    expect(repo.run("check"), 1, "saw tracked.txt untracked.txt\n")


@pytest.mark.case("reqfile:E3")
def test_config_globs_exclude_targets(repo: Repo) -> None:
    """Each glob matches the whole path."""
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    repo.write(".reqfile/config.yaml", 'exclude: ["vendor/**", "**/*.generated.txt"]\n')
    _write(repo, "a.txt", "vendor/lib.txt", "src/api.generated.txt", "src/b.txt")
    expect(repo.run("check"), 1, "saw a.txt src/b.txt\n")


@pytest.mark.case("reqfile:E4")
def test_excluded_paths_are_not_searched_for_reqfiles(repo: Repo) -> None:
    """Nor for configs, nor is what git ignores or a ``.reqfile`` folder holds."""
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    repo.write(".reqfile/config.yaml", 'exclude: ["tests/fixtures/**"]\n')
    repo.write("tests/fixtures/Reqfile.yaml", "reqfile: 9\n")
    repo.write("tests/fixtures/sub/reqfile.yml", "reqfile: 1\n")
    repo.write("tests/fixtures/.reqfile/config.yaml", "no: such key\n")
    repo.write("tests/fixtures/other/.reqfile/config.yml", "")
    repo.write(".gitignore", "build/\n")
    repo.write("build/Reqfile.yaml", "reqfile: 9\n")
    repo.write(".reqfile/SEEN/Reqfile.yaml", "reqfile: 9\n")
    _write(repo, "a.txt")
    expect(repo.run("check"), 1, "saw a.txt\n", "1 violation, 0 advisory findings, 0 errors.")


@pytest.mark.case("reqfile:E5")
def test_a_nested_config_excludes_paths_relative_to_its_folder(repo: Repo) -> None:
    """And cannot take back what a config above it excludes."""
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    repo.write("app/.reqfile/config.yaml", 'exclude: ["gen/**"]\n')
    _write(repo, "app/gen/out.txt", "app/src.txt", "gen/top.txt")
    expect(repo.run("check"), 1, "saw app/src.txt gen/top.txt\n")
    repo.write(".reqfile/config.yaml", 'exclude: ["app/*.txt"]\n')
    repo.write("app/.reqfile/config.yaml", "exclude: []\n")
    expect(repo.run("check"), 1, "saw app/gen/out.txt gen/top.txt\n")


@pytest.mark.case("reqfile:E7")
def test_symlinks_are_never_targets(repo: Repo) -> None:
    """Their content could come from outside the repository; neither are files behind a linked folder."""
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    outside = repo.home / "secret.txt"
    outside.write_text("secret\n")
    _write(repo, "real.txt")
    repo.symlink("secret.txt", str(outside))
    repo.symlink("alias.txt", "real.txt")
    repo.symlink("folder", str(repo.home))
    repo.symlink("sub/Reqfile.yaml", "../Reqfile.yaml")
    expect(repo.run("check"), 1, "saw real.txt\n", "1 check run")


@pytest.mark.case("reqfile:R1")
def test_reqfiles_are_ordered_by_the_bytes_of_their_path(repo: Repo) -> None:
    """Neither by depth nor by alphabet."""
    for folder, identifier in (("", "ROOT"), ("Docs/", "DOCS"), ("app/", "APP"), ("Zoo/é/", "E"), ("Zoo/z/", "Z")):
        repo.write(f"{folder}Reqfile.yaml", req(**{identifier: say("x")}))
    order = ["DOCS", "ROOT", "Z", "E", "APP"]
    done = repo.run("check")
    assert [line.split("  ")[0] for line in done.out.splitlines() if line.endswith("  x")] == order
    listed = repo.run("list").out.splitlines()
    assert [line.split()[0] for line in listed if line.startswith("  ")] == order


@pytest.mark.case("reqfile:R2")
def test_exclude_globs_match_whole_paths(repo: Repo) -> None:
    """A folder's name alone or a leading slash excludes nothing; classes, braces and dot files work."""
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    repo.write(".reqfile/config.yaml", 'exclude: ["vendor", "/lib/**", "{one,two}.txt", "[x-z]?.txt", "dots/*"]\n')
    _write(repo, "vendor/x.txt", "lib/x.txt", "one.txt", "two.txt", "three.txt", "x1.txt", "a1.txt", "dots/.hidden.txt")
    expect(repo.run("check"), 1, "saw a1.txt lib/x.txt three.txt vendor/x.txt\n")


@pytest.mark.case("reqfile:R3")
def test_files_of_other_repositories_are_never_targets(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    """A submodule's and a nested repository's requirements are their own."""
    other = make_repo("other")
    _write(other, "inner.txt")
    other.commit()
    repo.write("Reqfile.yaml", req(SEEN=seen("**/*.txt")))
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "module")
    repo.git("clone", "-q", str(other.root), "nested")
    _write(repo, "a.txt")
    expect(repo.run("check"), 1, "saw a.txt\n")


@pytest.mark.case("reqfile:R3")
def test_names_that_are_not_utf_8_are_targets(repo: Repo) -> None:
    """Leaving them out would pass what was not looked at: a gap of the original that is closed (design 3, spec 9)."""
    name = os.fsdecode(b"bad\xff.txt")
    repo.write(name, "text\n")
    repo.write("Reqfile.yaml", req(SEEN=command('f() { cat "$@"; exit 1; }; f', files="bad?.txt", pass_files=True)))
    expect(repo.run("check"), 1, "SEEN  text\n")


@pytest.mark.case("reqfile:R5")
def test_a_near_miss_that_is_no_yaml_is_ignored_and_one_that_is_no_text_is_not(repo: Repo) -> None:
    """What cannot be read may be a Reqfile."""
    repo.write("reqfile.yml", "{ not: [yaml\n")
    expect(repo.run("check"), 0, "0 checks run")
    repo.write("reqfile.yml", b"\xff\xfe")
    expect(repo.run("check"), 3, "error  reqfile.yml: not valid UTF-8\n")
    repo.delete("reqfile.yml")
    repo.write("Reqfile.yaml", b"reqfile: 1\n# \xff\n")
    expect(repo.run("check"), 3, "error  Reqfile.yaml: not valid UTF-8\n")


@pytest.mark.case("reqfile:R6")
def test_a_config_inside_an_example_is_read_as_a_config(repo: Repo) -> None:
    """Settings live in any folder (seed 004 CONFIG_CASCADE); ``exclude`` keeps an invalid one from being read."""
    repo.write("Reqfile.yaml", req(R1=OK))
    inner = ".reqfile/R1/examples/x/files/.reqfile/config.yaml"
    repo.write(inner, "no: such key\n")
    expect(repo.run("check"), 3, f"error  {inner}:1: unknown key `no` in the config")
    repo.write(".reqfile/config.yaml", 'exclude: [".reqfile/*/examples/**"]\n')
    expect(repo.run("check"), 0, "1 check run")


@pytest.mark.case("reqfile:R15")
def test_a_log_inside_the_repository_is_a_target_of_the_next_run(repo: Repo) -> None:
    """It is an untracked file like any other; .gitignore keeps it out."""
    repo.write("Reqfile.yaml", req(SEEN=seen("*.jsonl")))
    expect(repo.run("check", "--log", "run.jsonl"), 0, "1 with nothing to check")
    expect(repo.run("check", "--log", "run.jsonl"), 1, "SEEN  saw run.jsonl\n")
    repo.write(".gitignore", "*.jsonl\n")
    expect(repo.run("check"), 0, "1 with nothing to check")
