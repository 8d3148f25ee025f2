"""Whose signatures over a lock count: ``[signing]`` of config.toml (spec/lock.md 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal, get_args

from pytest_reqfile.lock.governance import read_time
from pytest_reqfile.lock.governance_policy import optional_age
from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.project.values import Config
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.patterns import PatternError, compile_pattern
from pytest_reqfile.workspace.paths import normalised

LogUse = Literal["required", "optional", "off"]
_SUBJECTS: Final = ("lock", "served", "skill")
_MAX_SIGNERS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """One who may sign: a certificate's ``identity`` (or a whole match of ``identity_regexp``) from ``issuer``, or the
    holder of the key whose public half is in ``key_file``. ``since`` and ``until`` bound when it may have signed."""

    identity: str = ""
    identity_regexp: str = ""
    issuer: str = ""
    key_file: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def covers(self, at: datetime) -> bool:
        """Whether a signature of that time counts."""
        return (self.since is None or self.since <= at) and (self.until is None or at <= self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningPolicy:
    """``require`` names what must be signed; ``trust`` are the signers of locks, ``threshold`` how many it takes.

    ``trusted_root`` is empty for the one that comes with sigstore. Paths are relative to the project.
    """

    require: tuple[str, ...] = ()
    max_age: timedelta | None = None
    tlog: LogUse = "off"
    trusted_root: str = ""
    min_hash_version: int = 0
    trust: tuple[Trusted, ...] = ()
    threshold: int = 1

    @property
    def requires_lock(self) -> bool:
        return "lock" in self.require


def read_signing(config: Config) -> SigningPolicy:
    """The policy of a project; one that requires nothing where there is no table. Raises ``FormatError``."""
    declared = config.tables.get("signing")
    if declared is None:
        return SigningPolicy()
    problems = Problems(declared.path)
    fields = loose_fields(declared.node, "[signing]", problems)
    trust = tuple(_trusts(fields))
    by_identity = any(not one.key_file for one in trust)
    uses: tuple[LogUse, ...] = get_args(LogUse)
    policy = SigningPolicy(
        require=_required(fields),
        max_age=optional_age(fields, "max_age"),
        tlog=fields.choice(
            "tlog",
            uses,
            "required" if by_identity else "off",
            f"unknown tlog `{{x}}` (expected one of: {', '.join(uses)})",
        ),
        trusted_root=_file(fields, "trusted_root"),
        min_hash_version=fields.integer("min_hash_version", 0),
        trust=trust,
        threshold=_threshold(fields.optional_mapping("thresholds"), problems),
    )
    problems.raise_if_any()
    return policy


def _required(fields: Fields) -> tuple[str, ...]:
    subjects = fields.string_or_strings("require")
    for subject in subjects:
        if subject not in _SUBJECTS:
            fields.refuse("require", f"unknown `{subject}` in require (expected one of: {', '.join(_SUBJECTS)})")
    return subjects


def _threshold(node: Node | None, problems: Problems) -> int:
    if node is None:
        return 1
    fields = loose_fields(node, "[signing.thresholds]", problems)
    count = fields.integer("lock", 1)
    if not 1 <= count <= _MAX_SIGNERS:
        fields.refuse("lock", f"the threshold of lock must be 1 to {_MAX_SIGNERS}, found {count}")
    return count


def _trusts(signing: Fields) -> Iterator[Trusted]:
    """The shorthands of the table itself, and its ``[[signing.trust]]`` entries that speak of locks."""
    if any(key in signing for key in ("identity", "identity_regexp", "key_file")):
        yield _trusted(signing)
    for node in signing.optional_list("trust"):
        fields = loose_fields(node, "an entry of [[signing.trust]]", signing.problems)
        subject = fields.optional_string("subject") or "lock"
        trusted = _trusted(fields)
        if subject == "lock" and "source" not in fields:
            yield trusted


def _trusted(fields: Fields) -> Trusted:
    found = Trusted(
        identity=fields.optional_string("identity") or "",
        identity_regexp=fields.optional_string("identity_regexp") or "",
        issuer=fields.optional_string("issuer") or "",
        key_file=_file(fields, "key_file"),
        since=_time(fields, "valid_from", time.min),
        until=_time(fields, "valid_until", time.max),
    )
    given = [name for name in (found.identity, found.identity_regexp, found.key_file) if name]
    if fields.usable and len(given) != 1:
        fields.refuse(None, f"{fields.what} needs one of identity, identity_regexp and key_file, found {len(given)}")
    elif fields.usable and not found.key_file and not found.issuer:
        # Whoever runs an issuer of identities can give out any name.
        fields.refuse(None, f"{fields.what} names an identity and needs the issuer that vouches for it")
    _check_regexp(fields, found.identity_regexp)
    return found


def _check_regexp(fields: Fields, regexp: str) -> None:
    try:
        compile_pattern(regexp)
    except PatternError as error:
        fields.refuse("identity_regexp", f"identity_regexp `{regexp}` cannot be read: {error}")


def _file(fields: Fields, key: str) -> str:
    """A path inside of the project, without `.` and `..`."""
    path = fields.optional_string(key) or ""
    plain = normalised(path)
    if path and not plain:
        fields.refuse(key, f"`{key}` must be a path inside of the project, found `{path}`")
    return plain or ""


def _time(fields: Fields, key: str, at: time) -> datetime | None:
    """A date (``at`` that time of the day, UTC) or a time, as TOML has them or as text."""
    node = fields.node(key)
    if node is None:
        return None
    value: object = node.value
    if isinstance(value, str):
        value = read_time(value) or _date(value)
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, at, UTC)
    fields.refuse(key, f"`{key}` must be a date or a time with its offset, found {node.describe()}")
    return None


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
