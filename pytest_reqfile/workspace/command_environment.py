"""The small environment of programs that a repository's files name or feed (seed 000 "Command predicate"; spec 4.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_reqfile.workspace.environment import Environment

_KEPT: Final = frozenset({"PATH", "HOME", "USER", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "CI"})
_SENSITIVE_NAMES: Final = frozenset(
    [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "FTP_PROXY",
        "SOCKS_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AZURE_CLIENT_ID",
        "DATABASE_URL",
        "SSH_AUTH_SOCK",
        "NPM_CONFIG_USERCONFIG",
    ]
)
_MARKERS: Final = (
    "TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIALS?|CREDS?|APIKEY|API_KEY|ACCESSKEY|ACCESS_KEY|"
    "PRIVATEKEY|PRIVATE_KEY|KEYS?|SK|BEARER|JWT|AUTH|PAT|DSN|WEBHOOK_URL|COOKIES?|SESSION"
)
_SENSITIVE: Final = re.compile(
    rf"(?:.*_)?(?:{_MARKERS})(?:_.*)?|.*(?:TOKEN|SECRET|PASSWORD|APIKEY|ACCESSKEY|PRIVATEKEY)"
)


def command_environment(environment: Environment, passed: Sequence[str]) -> Environment:
    """What a program sees of ``environment``: an allow-list, the locale, and the names that are ``passed`` on."""
    kept = {
        name: value
        for name, value in environment.variables.items()
        if name.upper() in _KEPT or (name.startswith("LC_") and not is_sensitive(name))
    }
    fixed = {"NO_COLOR": "1", "TERM": "dumb"}
    extra = {name: environment.variables[name] for name in passed if name in environment.variables}
    return Environment(variables=dict(sorted((kept | fixed | extra).items())))


def is_sensitive(name: str) -> bool:
    """Whether an environment variable is called like a credential or a proxy setting."""
    upper = name.upper()
    return upper in _SENSITIVE_NAMES or _SENSITIVE.fullmatch(upper) is not None
