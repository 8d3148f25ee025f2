"""Settings of a folder, key by key, and exclusions that add up (seed 004 CONFIG_CASCADE, EXCLUDE)."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.settings import DecisionSettings, Settings, parse_config


def settings(**configs: str) -> Settings:
    """Keys are folders (``root`` for the root, ``_`` between names), shallowest first."""
    folders = {"" if name == "root" else name.replace("_", "/"): text for name, text in configs.items()}
    paths = {f"{folder}/.reqfile/config.yaml".removeprefix("/"): text for folder, text in folders.items()}
    return Settings(configs=tuple(parse_config(text, path) for path, text in paths.items()))


@pytest.mark.case("reqfile:D2")
def test_each_key_comes_from_the_nearest_config_that_sets_it() -> None:
    """A config that sets one key takes none of the others away."""
    found = settings(
        root="base: main\ndecision: { endpoint: http://x/v1, api_key_env: K_ROOT, concurrency: 2 }\n",
        app="decision: { model: m-app-2.0 }\n",
        app_deep="base: release\ndecision: { concurrency: 4 }\n",
    )
    assert found.decision("app/deep/er") == DecisionSettings(
        model="m-app-2.0", api_key_env="K_ROOT", endpoint="http://x/v1", concurrency=4
    )
    assert found.decision("lib").model == "~typesafe/jev-latest"
    assert [found.base(folder) for folder in ("", "lib", "app", "app/deep", "app/deeper")] == [
        "main",
        "main",
        "main",
        "release",
        "main",
    ]


def test_without_a_config_there_are_defaults_and_no_base() -> None:
    """The defaults of spec 1.2."""
    for found in (Settings(), settings(root=""), settings(root="exclude: []\ndecision: {}\n")):
        assert found.base("a") is None
        assert found.decision("a") == DecisionSettings(
            model="~typesafe/jev-latest",
            api_key_env="OPENROUTER_API_KEY",
            endpoint="https://openrouter.ai/api/v1",
            concurrency=16,
        )


def test_exclusions_add_up_and_name_their_config() -> None:
    """Globs see paths relative to their config's folder; the outermost config that excludes is named."""
    found = settings(root='exclude: ["app/x"]\n', app='exclude: ["gen/**", "x"]\n')
    assert [
        config.path if (config := found.excluder(path)) else None
        for path in ("app/gen/a", "app/x", "gen/a", "app", "y")
    ] == [
        "app/.reqfile/config.yaml",
        ".reqfile/config.yaml",
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]\n", "1: the config must be a mapping, found a list"),
        ("base: ''\n", "1: `base` must be a non-empty string, found a string"),
        ("exclude: [1]\n", "1: `exclude` must be a non-empty string, found an integer"),
        (
            "exclude: ['{a']\n",
            "1: invalid `exclude` glob: error parsing glob '{a': unclosed alternate group; missing '}'",
        ),
        ("decision: x\n", "1: decision must be a mapping, found a string"),
        ("decision:\n  concurrency: many\n", "2: `concurrency` must be an integer, found a string"),
        ("decision:\n  concurrency: -3\n", "2: `concurrency` must be at least 1"),
        ("decision:\n  model: 5\n", "2: `model` must be a non-empty string, found an integer"),
    ],
)
def test_a_config_that_is_wrong(text: str, expected: str) -> None:
    """At the value, or the list of a glob."""
    with pytest.raises(FormatError) as caught:
        parse_config(text, ".reqfile/config.yaml")
    assert caught.value.messages[0].startswith(f".reqfile/config.yaml:{expected}")


def test_every_problem_of_a_config_is_told() -> None:
    """In line order."""
    with pytest.raises(FormatError) as caught:
        parse_config("x: 1\nbase: 2\ndecision:\n  y: 3\n  concurrency: 0\n", ".reqfile/config.yaml")
    assert [problem.line for problem in caught.value.problems] == [1, 2, 4, 5]
