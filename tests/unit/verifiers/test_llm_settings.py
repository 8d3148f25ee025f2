"""Who may turn a model on, and where code and keys may go (seed 000 "Opt-in and gated"; spec/verifiers.md 5.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError, ReqfileError, UsageError
from pytest_reqfile.verifiers.chat import Disabled, LlmOptions, open_client
from pytest_reqfile.verifiers.clients import ModelClient
from pytest_reqfile.verifiers.costs import Limits
from pytest_reqfile.verifiers.llm_settings import LlmSettings, read_llm_settings
from pytest_reqfile.verifiers.models import full_model
from pytest_reqfile.workspace.environment import Environment
from tests.support.projects import ProjectFolder

ALLOWED = LlmOptions(allowed=True)
MODEL = {"AI_RULEZ_LLM_MODEL": "openai/m"}
ON = {**MODEL, "AI_RULEZ_LLM_ALLOW_NETWORK": "1"}


class Setting:
    """A project, a home outside of it, and variables."""

    def __init__(self, folder: Path) -> None:
        self.project = ProjectFolder(folder / "project")
        self.home = folder / "home"
        self.home.mkdir()
        self.variables = {"HOME": str(self.home)}

    def user(self, text: str) -> None:
        """Write the user's own config.toml."""
        file = self.home / ".config/ai-rulez/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    @property
    def environment(self) -> Environment:
        return Environment(variables=self.variables)

    def read(self, **variables: str) -> LlmSettings:
        self.variables |= {f"AI_RULEZ_LLM_{key.upper()}": value for key, value in variables.items()}
        return read_llm_settings(self.environment, self.project.load(top=self.project.root))

    def open(self) -> ModelClient | Disabled:
        client = open_client(self.environment, self.project.load(top=self.project.root), ALLOWED)
        assert isinstance(client, ModelClient | Disabled)
        return client


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_users_file(setting: Setting) -> None:
    """The user's file turns the network on and chooses model, address, key, price and limits."""
    setting.user(
        '[llm]\nallow_network = true\nprovider = "openai"\nmodel = "m"\nbase_url = "https://models.example/v1/"\n'
        'api_key_env = "MY_KEY"\nprice_input_per_mtok = 1\nprice_output_per_mtok = 2.5\nmax_calls = 3\nfuture = 1\n'
    )
    found = setting.read()
    assert (found.allow_network, found.model, found.limits) == (True, "openai/m", Limits(max_calls=3))
    assert found.provider is not None
    assert (found.provider.base_url, found.provider.key_env) == ("https://models.example/v1", "MY_KEY")
    assert found.prices.cost("openai/m", 1_000_000, 2_000_000) == 6.0
    client = setting.open()
    assert isinstance(client, ModelClient)
    assert client.model == "openai/m"


def test_empty_settings(setting: Setting) -> None:
    """An empty text is as good as none."""
    setting.user('[llm]\nallow_network = true\nprovider = ""\nmodel = "openai/m"\nbase_url = ""\napi_key_env = ""\n')
    found = setting.read()
    assert found.provider is not None
    assert (found.model, found.provider.key_env) == ("openai/m", "OPENAI_API_KEY")


def test_xdg(setting: Setting, tmp_path: Path) -> None:
    """The folder of the XDG variable goes before the one in the home."""
    setting.user("[llm]\nallow_network = true\n")
    folder = tmp_path / "xdg/ai-rulez"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[llm]\nmodel = "ollama/x"\n')
    setting.variables["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    found = setting.read()
    assert (found.allow_network, found.model) == (False, "ollama/x")


def test_variables_go_first(setting: Setting) -> None:
    """A variable beats the file; an empty one says nothing."""
    setting.user('[llm]\nallow_network = true\nmodel = "openai/m"\nmax_calls = 3\n')
    found = setting.read(model="anthropic/n", allow_network="", max_calls="5")
    assert (found.model, found.allow_network, found.limits.max_calls) == ("anthropic/n", True, 5)
    assert setting.read(allow_network="false").allow_network is False


def test_repository_only_tightens(setting: Setting) -> None:
    """Of a repository's own table only limits count, and only where they are tighter."""
    setting.project.config(
        '[llm]\nallow_network = true\nmodel = "openai/theirs"\nbase_url = "https://theirs.example"\n'
        'api_key_env = "SECRET"\nprice_input_per_mtok = 0\nprice_output_per_mtok = 0\nmax_calls = 2\nmax_tokens = 900\n'
    )
    found = setting.read(max_calls="5", max_tokens="100", max_cost_usd="1")
    assert (found.allow_network, found.model, found.provider, found.price) == (False, "", None, None)
    assert found.limits == Limits(max_calls=2, max_tokens=100, max_cost_usd=1.0)
    found = setting.read(model="openai/m", max_tokens="0")
    assert found.provider is not None
    assert (found.provider.base_url, found.provider.key_env) == ("https://api.openai.com/v1", "OPENAI_API_KEY")
    assert (found.limits.max_tokens, found.prices.own) == (900, None)


def test_a_file_in_the_repository_is_not_the_users(setting: Setting) -> None:
    """A change under review could bring it: it turns nothing on, wherever the home is said to be."""
    setting.project.write(".config/ai-rulez/config.toml", '[llm]\nallow_network = true\nmodel = "openai/m"\n')
    setting.variables["HOME"] = str(setting.project.root)
    found = setting.read()
    assert (found.allow_network, found.model) == (False, "")
    client = setting.open()
    assert isinstance(client, Disabled)
    assert client.reason.endswith("/.config/ai-rulez/config.toml lies in the repository, so it is not the user's")
    setting.variables["HOME"] = str(setting.home)
    (setting.home / ".config").symlink_to(setting.project.root / ".config")
    assert setting.read().allow_network is False


@pytest.mark.parametrize(
    ("variables", "allowed", "reason"),
    [
        ({}, False, "pass --allow-llm to evaluate llm verifiers"),
        (
            MODEL,
            True,
            "[llm] allow_network is not enabled in the user config (a repository config cannot enable it)",
        ),
        ({"AI_RULEZ_LLM_ALLOW_NETWORK": "true"}, True, "no [llm] model is configured"),
    ],
)
def test_reasons(setting: Setting, variables: dict[str, str], allowed: bool, reason: str) -> None:
    """Why no model is asked, in the order of the seed."""
    setting.variables |= variables
    project = setting.project.load(top=setting.project.root)
    assert open_client(setting.environment, project, LlmOptions(allowed=allowed)) == Disabled(reason=reason)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"max_calls": "x"}, 'AI_RULEZ_LLM_MAX_CALLS: expected a whole number, 0 or more, found "x"'),
        ({"max_tokens": "-1"}, 'AI_RULEZ_LLM_MAX_TOKENS: expected a whole number, 0 or more, found "-1"'),
        ({"max_cost_usd": "nan"}, 'AI_RULEZ_LLM_MAX_COST_USD: expected a number, 0 or more, found "nan"'),
        ({"allow_network": "yes"}, 'AI_RULEZ_LLM_ALLOW_NETWORK: expected true or false, found "yes"'),
        ({"provider": "acme"}, '[llm] provider "acme" is not known (expected one of: openai, '),
        ({"model": "gpt"}, '[llm] model "gpt": expected provider/model, the provider being one of: openai, '),
        ({"model": "openai/"}, '[llm] model "openai/": expected provider/model'),
        ({"model": "openai/a\x1bb"}, "AI_RULEZ_LLM_MODEL: expected text without control characters, found "),
        ({"model": "openai-compatible/m"}, "[llm] base_url is needed: it says where openai-compatible is reached"),
        ({"model": "openai/m", "base_url": "http://evil.example/v1"}, '[llm] base_url "http://evil.example/v1"'),
        ({"model": "openai/m", "base_url": "https://a:b@x.example"}, "expected an https:// address without user"),
        ({"model": "openai/m", "base_url": "https://x.example/?a=1"}, "expected an https:// address without user"),
        ({"model": "openai/m", "base_url": "https://x.example:99999"}, "cannot be read: "),
        ({"model": "openai/m", "base_url": "file:///etc"}, "expected an https:// address"),
    ],
)
def test_wrong_variables(setting: Setting, variables: dict[str, str], message: str) -> None:
    """What cannot be is refused before anything is sent, with the name of what is wrong."""
    with pytest.raises(UsageError) as error:
        setting.read(**variables)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[llm]\nmax_calls = 'x'\n", "config.toml:2: `max_calls` must be an integer, found a string"),
        ("[llm]\nmax_calls = -1\n", 'config.toml:2: [llm] max_calls: expected a whole number, 0 or more, found "-1"'),
        ("[llm]\nmax_cost_usd = inf\n", 'config.toml:2: [llm] max_cost_usd: expected a number, 0 or more, found "inf"'),
        ("llm = 1\n", "config.toml:1: [llm] must be a table, found an integer"),
        ("[llm\n", "config.toml:1: invalid TOML"),
    ],
)
def test_wrong_file(setting: Setting, text: str, message: str) -> None:
    """What is wrong in the user's file is told with its place."""
    setting.user(text)
    with pytest.raises(FormatError) as error:
        setting.read()
    assert message in str(error.value)


def test_unreadable_file(setting: Setting) -> None:
    """A file that is there and cannot be read is an error, not an absent one."""
    (setting.home / ".config/ai-rulez/config.toml").mkdir(parents=True)
    with pytest.raises(ReqfileError, match="cannot read"):
        setting.read()


def test_wrong_limits_of_a_repository(setting: Setting) -> None:
    """A limit that is none does not count as no limit."""
    setting.project.config("[llm]\nmax_calls = -2\n")
    with pytest.raises(FormatError, match=r"config\.toml:4: .*max_calls: expected a number, 0 or more, found -2"):
        setting.read()


@pytest.mark.parametrize(
    ("named", "full"),
    [
        ("", "openai/m"),
        ("n", "openai/n"),
        ("openai/n", "openai/n"),
        ("anthropic/n", "openai/anthropic/n"),
    ],
)
def test_a_repository_chooses_no_provider(named: str, full: str) -> None:
    """A model that a checklist names is always one of the user's provider."""
    assert full_model(named, "openai/m") == full
