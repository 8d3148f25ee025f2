"""Which files are Reqfiles, configs and targets (seed 004 EXCLUDE; spec reqfile.md 1.5, 2.2 to 2.5)."""

from __future__ import annotations

import pytest

from pytest_reqfile.reqfile.discovery import Discovery, discover, in_reqfile_folder, is_config_like, is_reqfile_like
from tests.support.memory_tree import MemoryTree
from tests.support.requirements import OK, req

NAMED = "a requirements file must be named exactly Reqfile.yaml"
CONFIG = "a config file must be named exactly .reqfile/config.yaml"


def found(files: dict[str, str | bytes], *special: str) -> Discovery:
    return discover(MemoryTree(files, frozenset(special)))


def test_a_bad_file_hides_no_other() -> None:
    """Problems of configs come first, then those of Reqfiles in path order; good Reqfiles are kept."""
    discovery = found(
        {
            "Reqfile.yaml": "reqfile: 2\n",
            "a/.reqfile/config.yaml": "x: 1\n",
            "a/Reqfile.yaml": req(GOOD=OK),
            "b/Reqfile.yaml": b"\xff",
            "c/REQFILE.YML": "code: []\n",
            "c/reqfile.yml": b"\xff",
            "d/.reqfile/Config.yml": "",
        }
    )
    assert [str(problem) for problem in discovery.problems] == [
        "a/.reqfile/config.yaml:1: unknown key `x` in the config (expected one of: base, exclude, decision)",
        f"d/.reqfile/Config.yml:1: {CONFIG}",
        "Reqfile.yaml:1: unsupported Reqfile version 2; this reqfile supports version 1",
        "b/Reqfile.yaml: not valid UTF-8",
        f"c/REQFILE.YML:1: {NAMED}",
        "c/reqfile.yml: not valid UTF-8",
    ]
    assert [reqfile.path for reqfile in discovery.reqfiles] == ["a/Reqfile.yaml"]


def test_targets_are_regular_files_outside_of_reqfile_folders_and_exclusions() -> None:
    """``candidates`` are the same without asking what kind of file each is."""
    discovery = found(
        {
            ".reqfile/config.yaml": 'exclude: ["vendor/**", "x/.reqfile/A/old"]\n',
            "a.py": "",
            "vendor/b.py": "",
            "x/.reqfile/A/decision.yaml": "",
            "x/.reqfile/A/old": "",
            "x/reqfile/c.py": "",
        },
        "link.py",
    )
    every = discovery.tree.listed
    assert [path for path in every if discovery.is_target(path)] == ["a.py", "x/reqfile/c.py"]
    assert discovery.candidates == ("a.py", "link.py", "x/reqfile/c.py")
    assert [path for path in every if discovery.is_asset(path)] == [
        ".reqfile/config.yaml",
        "x/.reqfile/A/decision.yaml",
    ]


def test_an_excluded_config_is_never_read() -> None:
    """Configs are read shallowest first; a near miss is looked at when all exclusions are known."""
    discovery = found(
        {
            ".reqfile/config.yaml": 'exclude: ["lib/**"]\n',
            "app/.reqfile/CONFIG.yaml": "",
            "app/.reqfile/config.yaml": 'exclude: [".reqfile/C*"]\n',
            "lib/.reqfile/config.yaml": "[",
            "lib/deep/.reqfile/config.yml": "",
        }
    )
    assert discovery.problems == ()
    assert [config.folder for config in discovery.settings.configs] == ["", "app"]


def test_what_is_no_regular_file_is_neither_read_nor_a_problem() -> None:
    """A symlinked Reqfile is silently none (spec 1.1), nor is one that git lists but the disk has lost."""
    discovery = found({}, "Reqfile.yaml", "sub/reqfile.yml", ".reqfile/config.yaml", ".reqfile/config.yml")
    assert (discovery.reqfiles, discovery.problems, discovery.settings.configs) == ((), (), ())


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        (".reqfile/x", True),
        ("a/.reqfile/x", True),
        ("a/.reqfile", False),
        ("a.reqfile/x", False),
        (".reqfiles/x", False),
    ],
)
def test_a_reqfile_folder_is_named_exactly_so(path: str, inside: bool) -> None:
    """A component, not a part of a name."""
    assert in_reqfile_folder(path) == inside


def test_names_that_are_nearly_right() -> None:
    """In any case, with either ending; inside ``.reqfile/`` nothing is a Reqfile."""
    assert [
        is_reqfile_like(p) for p in ("Reqfile.yaml", "a/rEQFILE.yMl", "xReqfile.yaml", ".reqfile/A/Reqfile.yaml")
    ] == [
        True,
        True,
        False,
        False,
    ]
    assert [
        is_config_like(p)
        for p in (".reqfile/config.yaml", "a/.reqfile/CONFIG.YML", "a/config.yml", "a/.reqfile/b/config.yml")
    ] == [
        True,
        True,
        False,
        False,
    ]
