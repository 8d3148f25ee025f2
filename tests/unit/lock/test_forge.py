"""The GitHub client against a local server that answers as GitHub does (seed 001 "Minimum release age", 1)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_reqfile.lock.forge import Forge, ForgeError, forge_token
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpTransport
from tests.support.forge import Answer, LocalForge, answer, local_forge
from tests.support.range_sources import commit

URL = "https://github.com/acme/rules"
A, B = commit("a"), commit("b")
TAG = Tag(name="v1.2.3", commit=A)
PUBLISHED = "2026-09-28T10:00:00Z"


@pytest.fixture
def server() -> Iterator[LocalForge]:
    with local_forge() as forge:
        forge.publish("v1.2.3", PUBLISHED, A)
        yield forge


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport(Environment(variables={}), seconds=0.8)
    yield made
    made.close()


@pytest.fixture
def forge(server: LocalForge, transport: HttpTransport) -> Forge:
    return _forge(server, transport)


def _forge(server: LocalForge, transport: HttpTransport, **variables: str) -> Forge:
    environment = Environment(variables={"GITHUB_API_URL": f"{server.api}/", "PATH": "", **variables})
    return Forge(environment, transport, forge_token(environment))


def _refused(forge: Forge, tag: Tag = TAG, source: str = URL) -> str:
    with pytest.raises(ForgeError) as caught:
        forge.release(source, tag)
    return str(caught.value)


def test_a_release(forge: Forge, server: LocalForge) -> None:
    """Its publish time and its commit; asked twice, it is one call for the release and one for the tag (case U30)."""
    for _ in range(2):
        release = forge.release(URL, TAG)
    assert (release.published, release.target) == (datetime(2026, 9, 28, 10, tzinfo=UTC), A)
    assert [asked.path for asked in server.asked] == [
        "/repos/acme/rules/releases/tags/v1.2.3",
        "/repos/acme/rules/commits/tags%2Fv1.2.3",
    ]
    headers = server.asked[0].headers
    assert headers["Accept"] == "application/vnd.github+json"
    assert headers["X-GitHub-Api-Version"] == "2022-11-28"
    assert headers["User-Agent"].startswith("pytest-reqfile/")
    assert "Authorization" not in headers


@pytest.mark.case("lock:U30")
def test_failures_are_asked_once_too(forge: Forge, server: LocalForge) -> None:
    """A tag without a release is not asked about again."""
    other = Tag(name="v9", commit=B)
    assert {_refused(forge, other) for _ in range(3)} == {"there is no release of v9"}
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "source",
    [
        "https://github.com/acme/rules.git",
        "https://user:secret@github.com/acme/rules/",
        "git+https://www.github.com/acme/rules",
        "ssh://git@github.com/acme/rules",
        "git@github.com:acme/rules.git",
        "HTTPS://GitHub.com/acme/rules",
    ],
)
def test_spellings_of_a_repository(forge: Forge, source: str) -> None:
    """Each leads to the same path of the API."""
    assert forge.release(source, TAG).target == A


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("https://gitlab.com/acme/rules", "the repository is not on GitHub"),
        ("https://github.com.evil.example/acme/rules", "the repository is not on GitHub"),
        ("https://github.com@evil.example/acme/rules", "the repository is not on GitHub"),
        ("file:///srv/github.com/acme/rules", "the repository is not on GitHub"),
        ("https://github.com/acme", "the source names no repository of GitHub"),
        ("https://github.com/acme/rules/../../user", "the source names no repository of GitHub"),
        ("https://github.com/../rules", "the source names no repository of GitHub"),
        ("https://github.com/acme/ru?les", "the source names no repository of GitHub"),
    ],
)
def test_other_places_are_not_asked(forge: Forge, server: LocalForge, source: str, message: str) -> None:
    """Nor is anything that only looks like GitHub, or that would leave the path."""
    assert _refused(forge, source=source) == message
    assert server.asked == []


def test_odd_tag_names_stay_one_part_of_the_path(server: LocalForge, forge: Forge) -> None:
    """Slashes, question marks and dots included."""
    for name in ("deploy/v1.2.3", "v1?x=1#y", "../../user", "é%2F"):
        server.publish(name, PUBLISHED, A)
        assert forge.release(URL, Tag(name=name, commit=A)).target == A


def test_a_branch_is_no_commit(server: LocalForge, forge: Forge) -> None:
    """Neither is a short id, nor one in capitals."""
    for number, target in enumerate(("main", A[:12], A.upper(), "")):
        name = f"v{number}"
        server.publish(name, PUBLISHED, A, target)
        assert forge.release(URL, Tag(name=name, commit=A)).target == ""


def test_a_moved_tag_is_refused(server: LocalForge, forge: Forge) -> None:
    """The forge must see the commit that the remote lists, and the release must be of it."""
    assert _refused(forge, Tag(name="v1.2.3", commit=B)) == (
        f"v1.2.3 is at {B[:12]}, but the forge has commit '{A[:12]}'"
    )
    server.publish("v2", PUBLISHED, B, A)
    assert _refused(forge, Tag(name="v2", commit=B)) == (
        f"v2 was moved: its release is of commit {A[:12]}, the tag is at {B[:12]}"
    )


def test_a_release_whose_tag_is_gone(server: LocalForge, forge: Forge) -> None:
    """The forge says that it knows no such commit, and nothing is concluded."""
    del server.tags["acme/rules", "v1.2.3"]
    assert _refused(forge) == "the forge answered with status 422: No commit found for SHA: tags/v1.2.3"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "the forge's answer is no JSON"),
        (b"[" * 100_000, "the forge's answer is no JSON"),
        (b"\xff", "the forge's answer is no JSON"),
        (b"[]", "the forge's answer has no publish time"),
        (b'{"published_at": null, "target_commitish": "main"}', "the forge's answer has no publish time"),
        (b'{"published_at": "2026-09-28T10:00:00Z"}', "the forge's answer has no publish time"),
        (
            b'{"published_at": "yesterday", "target_commitish": "main"}',
            "the forge's publish time cannot be read: 'yesterday'",
        ),
        (
            b'{"published_at": "2026-09-28T10:00:00", "target_commitish": "main"}',
            "the forge's publish time cannot be read: '2026-09-28T10:00:00'",
        ),
        (
            b'{"published_at": "0001-01-01T00:00:00+14:00", "target_commitish": "main"}',
            "the forge's publish time cannot be read: '0001-01-01T00:00:00+14:00'",
        ),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_malformed_answers(server: LocalForge, forge: Forge, body: bytes, message: str) -> None:
    """They are no release time."""
    server.behave = lambda asked: Answer(body=body) if "releases" in asked.path else None
    assert _refused(forge) == message


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            answer({"message": "API rate limit exceeded for 203.0.113.1."}, 403, X_RateLimit_Remaining="0"),
            "the forge answered with status 403: API rate limit exceeded for 203.0.113.1.",
        ),
        (
            answer({"message": "secondary\nrate limit"}, 429, Retry_After="60"),
            "the forge answered with status 429: secondary rate limit; try again in 60 seconds",
        ),
        (answer({"message": "Bad credentials"}, 401), "the forge answered with status 401: Bad credentials"),
        (Answer(status=500), "the forge answered with status 500"),
        (Answer(status=503, body=b"<html>x"), "the forge answered with status 503"),
        (answer({"message": "x" * 5000}, 502), f"the forge answered with status 502: {'x' * 200}"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_a_forge_that_refuses_is_not_asked_again(server: LocalForge, forge: Forge, said: Answer, message: str) -> None:
    """Fifty tags are one request, and each is told the same."""
    server.behave = lambda asked: said
    assert {_refused(forge, Tag(name=f"v{number}", commit=A)) for number in range(50)} == {message}
    assert len(server.asked) == 1


def test_a_forge_that_hangs_costs_one_time_limit(server: LocalForge, forge: Forge) -> None:
    """Then it is not asked again; a port where nobody listens is told in the same way."""
    server.behave = lambda asked: Answer(delay=2)
    said = {_refused(forge, Tag(name=f"v{number}", commit=A)) for number in range(50)}
    assert said == {"the forge cannot be asked: no complete answer within 0.8 seconds"}
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(server: LocalForge, forge: Forge) -> None:
    """A repository that has another address now is told, and the next tag is asked about all the same."""
    server.behave = lambda asked: answer({"message": "Moved Permanently"}, 301, Location="http://127.0.0.1:1/")
    assert _refused(forge) == "the forge answered with status 301: Moved Permanently"
    server.behave = lambda asked: None
    server.publish("v2", PUBLISHED, A)
    assert forge.release(URL, Tag(name="v2", commit=A)).target == A


@pytest.mark.case("lock:U32")
@pytest.mark.parametrize("variable", ["GITHUB_TOKEN", "GH_TOKEN"])
def test_a_token_goes_to_allowed_hosts_alone(server: LocalForge, transport: HttpTransport, variable: str) -> None:
    """The API's host must be GitHub's or one that the user names."""
    _forge(server, transport, **{variable: "t0ken"}).release(URL, TAG)
    assert {asked.headers.get("Authorization") for asked in server.asked} == {None}
    server.asked.clear()
    named = {variable: "t0ken", "AI_RULEZ_GIT_TOKEN_HOSTS": "git.example.org, 127.0.0.1"}
    _forge(server, transport, **named).release(URL, TAG)
    assert {asked.headers.get("Authorization") for asked in server.asked} == {"Bearer t0ken"}


def test_the_first_token_counts(server: LocalForge, transport: HttpTransport) -> None:
    """GITHUB_TOKEN before GH_TOKEN; one that cannot stand in a header is none."""
    allowed = {"AI_RULEZ_GIT_TOKEN_HOSTS": "127.0.0.1"}
    _forge(server, transport, GITHUB_TOKEN="one", GH_TOKEN="two", **allowed).release(URL, TAG)
    _forge(server, transport, GITHUB_TOKEN="a\r\nX: y", GH_TOKEN="", **allowed).release(URL, TAG)
    found = [asked.headers.get("Authorization") for asked in server.asked]
    assert found == ["Bearer one"] * 2 + [None] * 2


def test_gh_is_asked_for_its_token(server: LocalForge, transport: HttpTransport, tmp_path: Path) -> None:
    """Once, for the API's host; a failing gh is no token."""
    program = tmp_path / "gh"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\necho of-gh\n')
    program.chmod(0o755)
    named = {"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin", "AI_RULEZ_GIT_TOKEN_HOSTS": "127.0.0.1"}
    forge = _forge(server, transport, **named)
    forge.release(URL, TAG)
    _refused(forge, Tag(name="v9", commit=B))
    assert {asked.headers.get("Authorization") for asked in server.asked} == {"Bearer of-gh"}
    assert (tmp_path / "calls").read_text() == "auth token --hostname 127.0.0.1\n"
    program.write_text("#!/bin/sh\necho no\nexit 1\n")
    server.asked.clear()
    _forge(server, transport, **named).release(URL, TAG)
    assert {asked.headers.get("Authorization") for asked in server.asked} == {None}


def test_an_enterprise_server(server: LocalForge, transport: HttpTransport) -> None:
    """``GITHUB_SERVER_URL`` names the host of repositories; github.com is then another place."""
    forge = _forge(server, transport, GITHUB_SERVER_URL="https://git.example.org")
    assert forge.release("https://git.example.org/acme/rules", TAG).target == A
    assert _refused(forge) == "the repository is not on GitHub"
