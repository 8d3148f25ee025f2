"""Where a key may go (design 2.6)."""

from __future__ import annotations

import pytest

from pytest_reqfile.reqfile.asking import unusual_choice
from pytest_reqfile.reqfile.endpoints import EndpointError, MissingKeyError, endpoint_of
from pytest_reqfile.reqfile.settings import DecisionSettings
from pytest_reqfile.workspace.environment import Environment


def environment(**variables: str) -> Environment:
    return Environment(variables={"K": "key-1", **variables})


def settings(endpoint: str, variable: str = "K") -> DecisionSettings:
    return DecisionSettings(endpoint=endpoint, api_key_env=variable)


@pytest.mark.parametrize(
    ("endpoint", "allowed"),
    [
        ("https://openrouter.ai/api/v1", ""),
        ("https://OpenRouter.AI/api/v1//", ""),
        ("https://api.typesafe.ai/v1", ""),
        ("http://127.0.0.1:8000/v1", ""),
        ("http://localhost/v1", ""),
        ("http://[::1]:80/v1", ""),
        ("https://gateway.example/v1", "other.example, gateway.example"),
        ("https://gateway.example:8443/v1", "gateway.example"),
        ("https://gateway.example:8443/v1", "Gateway.example:8443"),
    ],
)
def test_default_hosts_this_machine_and_allowed_hosts_get_the_key(endpoint: str, allowed: str) -> None:
    """Slashes at the end are no part of the address."""
    found = endpoint_of(settings(endpoint), environment(REQFILE_ALLOW_ENDPOINTS=allowed))
    assert (found.url, found.key) == (f"{endpoint.rstrip('/')}/systemone", "key-1")
    assert "key-1" not in repr(found)


@pytest.mark.parametrize(
    ("endpoint", "allowed"),
    [
        ("https://gateway.example/v1", ""),
        ("https://gateway.example/v1", "example"),
        ("https://gateway.example:8443/v1", "gateway.example:443"),
        ("https://openrouter.ai.evil.example/v1", ""),
        ("https://127.0.0.1.evil.example/v1", ""),
        ("https://openrouter.ai:443@evil.example/v1", "evil.example"),
        ("http://gateway.example/v1", "gateway.example"),
        ("http://openrouter.ai/v1", ""),
        ("https://openrouter.ai/v1?key=1", ""),
        ("https://openrouter.ai/v1#x", ""),
        ("https://openrouter.ai\\@evil.example/", ""),
        ("https://openrouter.ai /v1", ""),
        ("//openrouter.ai/v1", ""),
        ("ftp://openrouter.ai/v1", ""),
        ("https://openrouter.ai:port/v1", ""),
        ("https://", ""),
    ],
)
def test_anything_else_gets_nothing(endpoint: str, allowed: str) -> None:
    """Also what only looks like a host we know."""
    with pytest.raises(EndpointError) as caught:
        endpoint_of(settings(endpoint), environment(REQFILE_ALLOW_ENDPOINTS=allowed))
    assert "key-1" not in str(caught.value)


@pytest.mark.parametrize("key", ["key\n", " key", "ke\ty", "ke\x7fy", "k\u00e9y", "a b"])
def test_a_key_with_unusual_characters_is_refused_without_being_shown(key: str) -> None:
    """A line break at its end is what files leave; in a header it would start another one."""
    with pytest.raises(EndpointError) as caught:
        endpoint_of(settings("https://openrouter.ai/v1"), Environment(variables={"K": key}))
    assert str(caught.value) == "K cannot be a key: it holds a space, a line break or another unusual character"


def test_a_variable_without_value_is_missing_whatever_the_endpoint() -> None:
    """What to set is told before where it may go."""
    with pytest.raises(MissingKeyError, match=r"^K is not set; decision checks call Jev with it$"):
        endpoint_of(settings("https://evil.example/"), Environment(variables={"K": ""}))


def test_only_what_differs_from_the_default_is_told() -> None:
    """A model of its own is nobody's business."""
    assert unusual_choice(DecisionSettings(model="m", concurrency=2)) is None
    assert unusual_choice(DecisionSettings(api_key_env="AWS_SECRET")) == (
        ".reqfile/config.yaml sends code to https://openrouter.ai/api/v1 with the key in AWS_SECRET "
        "(by default https://openrouter.ai/api/v1 with OPENROUTER_API_KEY)"
    )
