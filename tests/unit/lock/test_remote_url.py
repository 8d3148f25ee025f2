"""Where a source is fetched from, what is refused, and where credentials go (spec/lock.md 6.2)."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.remote_url import RemotePlace, place_of
from pytest_reqfile.workspace.environment import Environment


def place(text: str, root: Path = Path("/project"), /, **variables: str) -> RemotePlace:
    return place_of(text, root, Environment(variables=variables))


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://h.example/o/r", "https://h.example/o/r"),
        ("HTTPS://h.example:8443/o/r.git", "https://h.example:8443/o/r.git"),
        ("git+https://h.example/o/r", "https://h.example/o/r"),
        ("https://me:secret@h.example/r", "https://h.example/r"),
        ("https://secret@h.example/r", "https://h.example/r"),
        ("ssh://git@h.example:22/o/r", "ssh://git@h.example:22/o/r"),
        ("git+ssh://git@h.example/o/r", "ssh://git@h.example/o/r"),
        ("ssh://git:secret@h.example/o/r", "ssh://git@h.example/o/r"),
        ("git@h.example:o/r.git", "git@h.example:o/r.git"),
        ("https://[::1]/r", "https://[::1]/r"),
    ],
)
def test_urls(text: str, url: str) -> None:
    """Schemes in any case, ``git+`` left out, passwords never in what git is called with or what is shown."""
    found = place(text)
    assert found.url == url
    assert "secret" not in f"{found.url}{found.shown}{found.key}{found!r}"


@pytest.mark.parametrize(
    "text",
    [
        "http://h/r",
        "git://h/r",
        "ext::sh -c touch% x",
        "https:///r",
        "https://h",
        "ssh://-oProxyCommand=x/r",
        "ssh://-oProxyCommand=x@h/r",
        "-oProxyCommand=x@h:r",
        "git@-oProxyCommand=x:r",
        "https://h/r\n",
        "https://h/\x1b[2Jr",
        "https://a:b@c:d@h/r",
        "--upload-pack=touch x",
        "file://",
        "file:///r%00",
        "https://h/%1b[2Jr",
    ],
)
def test_what_is_not_fetched(text: str) -> None:
    """Unprotected, another protocol, a host or user that is an option, control characters, nonsense."""
    with pytest.raises(UsageError):
        place(text)


@pytest.mark.case("lock:X54")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:secret@more:secret@h/r", "https://h/r"),
        ("https://me:secret/secret@h/r", "https://h/r"),
        ("https:///me:secret@h/r", "https://h/r"),
        ("https://secret@h", "https://h"),
        ("me:secret@h:r", "h:r"),
        ("https:me:secret@h/r", "h/r"),
        ("https://h x/r@v1", "https://h x/r@v1"),
        ("git@-oX:r", "git@-oX:r"),
    ],
)
def test_what_is_refused_is_shown_without_its_password(text: str, shown: str) -> None:
    """Also one with the characters that end it, which is why the URL cannot be read."""
    with pytest.raises(UsageError) as refused:
        place(text)
    assert str(refused.value) == f"{shown} is not fetched: expected https://, ssh:// or user@host:path"


def test_one_repository_in_several_spellings() -> None:
    """Its tags are listed once; ``.git`` makes another."""
    texts = ("https://h/r", "https://h/r/", "git@h:r", "ssh://git@h/r", "git+https://h/r", "https://u:p@h/r")
    assert {place(text).key for text in texts} == {"https://h/r"}
    assert place("https://h/r.git").key == "https://h/r.git"


def test_file_urls(tmp_path: Path) -> None:
    """Inside the project, also relative to it; outside only where the user allows it."""
    root = tmp_path.resolve() / "project"
    (root / "in").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    inside = f"file://{root}/in"
    for text in ("file://in", "file://./in", inside, f"file://{root}/x/../in", f"git+file://{root}/i%6E"):
        assert place(text, root).url == inside
    outside = f"file://{tmp_path.resolve()}/out"
    for text in ("file://../out", outside, f"file://{root}/../out", "file://link/out", f"file://{root}/%2e%2e/out"):
        with pytest.raises(UsageError, match="lies outside the project; set AI_RULEZ_ALLOW_FILE_URLS=1 to allow"):
            place(text, root)
        for other in ("0", "", "true"):
            with pytest.raises(UsageError):
                place(text, root, AI_RULEZ_ALLOW_FILE_URLS=other)
        assert place(text, root, AI_RULEZ_ALLOW_FILE_URLS="1").url == outside


def header(found: RemotePlace) -> str | None:
    """The user and password that git is told to send."""
    settings = dict(found.settings)
    key = next((key for key in settings if key.endswith(".extraHeader")), None)
    if key is None:
        return None
    host = found.url.split("/")[2]
    assert key == f"http.https://{host}/.extraHeader"
    assert settings[f"http.https://{host}/.followRedirects"] == "false"
    return b64decode(settings[key].removeprefix("Authorization: Basic ")).decode()


OWN, GITHUB, GH = {"AI_RULEZ_GIT_TOKEN": "own"}, {"GITHUB_TOKEN": "github"}, {"GH_TOKEN": "gh"}
HOSTS = {"AI_RULEZ_GIT_TOKEN_HOSTS": "a.example, b.example:8443,"}


@pytest.mark.parametrize(
    ("url", "variables", "sent"),
    [
        ("https://github.com/o/r", {}, None),
        ("https://github.com/o/r", GITHUB | GH, "x-access-token:github"),
        ("https://github.com/o/r", GH, "x-access-token:gh"),
        ("https://GitHub.com:443/o/r", GH, "x-access-token:gh"),
        ("https://github.com/o/r", OWN | GITHUB, "x-access-token:own"),
        ("https://github.com/o/r", OWN | GITHUB | HOSTS, "x-access-token:github"),
        ("https://github.com/o/r", OWN | HOSTS, None),
        ("https://a.example/r", OWN | HOSTS, "x-access-token:own"),
        ("https://a.example/r", GITHUB | GH | HOSTS, None),
        ("https://a.example:8443/r", OWN | HOSTS, None),
        ("https://b.example:8443/r", OWN | HOSTS, "x-access-token:own"),
        ("https://b.example/r", OWN | HOSTS, None),
        ("https://x.a.example/r", OWN | HOSTS, None),
        ("https://a.example.evil/r", OWN | HOSTS, None),
        ("https://github.com.evil/r", OWN | GITHUB, None),
        ("https://evil/github.com/r", OWN | GITHUB, None),
        ("https://me:p%40ss@a.example/r", OWN | HOSTS, "me:p@ss"),
        ("https://me:pass@evil.example/r", OWN, "me:pass"),
        ("https://me@evil.example/r", OWN, None),
        ("ssh://git@github.com/o/r", OWN | GITHUB, None),
        ("git@github.com:o/r", OWN | GITHUB, None),
    ],
)
def test_tokens(url: str, variables: dict[str, str], sent: str | None) -> None:
    """A token goes to the hosts its owner names, exactly; what a file names gets its own password at most."""
    assert header(place(url, **variables)) == sent


def test_a_user_alone() -> None:
    """The credential helpers of this machine are told who is meant."""
    assert place("https://me@h.example/r").settings == (("credential.https://h.example.username", "me"),)
