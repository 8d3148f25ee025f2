"""Which items are active under a profile or role (seed 000 "Active profile and role"; spec/airulez-project.md 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_reqfile.errors import UsageError
from pytest_reqfile.project.values import (
    DEFAULT_PROFILE,
    Config,
    ContentKind,
    Item,
    Project,
    Role,
    Selector,
    find_item,
)
from pytest_reqfile.syntax.pathmatch import path_match


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The active part of a project. ``by`` and ``name`` say what chose it: ``profile "web"``, ``role "ops"``."""

    by: Literal["profile", "role"]
    name: str
    items: tuple[Item, ...]

    @property
    def label(self) -> str:
        return f'{self.by} "{self.name}"'

    def find(self, kind: ContentKind, target: str) -> Item | None:
        """The active item that ``target`` names, looked up as in ``Project.find``."""
        return find_item(self.items, kind, target)

    def is_active(self, kind: ContentKind, target: str) -> bool:
        """Whether a verifier of ``target`` is active. Ask only for targets that ``Project.find`` knows."""
        return self.find(kind, target) is not None


def select(project: Project, *, profile: str | None = None, role: str | None = None) -> Selection:
    """What ``--role``, else ``--profile``, else the configured default, else the built-in default selects.

    Raises ``UsageError`` for a profile or role that is not defined, and for a role whose ``extends`` cannot be used.
    """
    if role is not None:
        return _by_role(project, role)
    name = canonical(profile) if profile else project.config.default
    return _by_profile(project, name)


def canonical(profile: str) -> str:
    """A composed profile in one form: ``a, b,a`` is ``a,b``."""
    return ",".join(dict.fromkeys(_parts(profile)))


def _parts(profile: str) -> list[str]:
    return [part for text in profile.split(",") if (part := text.strip())]


def _by_profile(project: Project, name: str) -> Selection:
    config = project.config
    names = _parts(name) or [DEFAULT_PROFILE]
    if names == [DEFAULT_PROFILE] and config.profile(DEFAULT_PROFILE) is None and not config.profiles:
        return Selection(by="profile", name=DEFAULT_PROFILE, items=project.items)
    domains: set[str] = set()
    for part in names:
        found = config.profile(part)
        if found is not None:
            domains.update(found.domains)
        elif part != DEFAULT_PROFILE:
            raise UsageError(f'profile "{part}" is not defined{_defined(p.name for p in config.profiles)}')
    chosen = _of_domains(project, domains)
    items = (item for item in chosen if not item.profiles or not set(names).isdisjoint(item.profiles))
    return Selection(by="profile", name=",".join(names), items=tuple(items))


def _by_role(project: Project, name: str) -> Selection:
    role = flattened(project.config, name)
    items = (item for item in _of_domains(project, set(role.domains)) if _keeps(role.selectors.get(item.kind), item))
    return Selection(by="role", name=name, items=tuple(items))


def _of_domains(project: Project, domains: set[str]) -> Iterator[Item]:
    """Root content, the domains that belong to every profile, and ``domains``."""
    wanted = {"", *domains, *(domain.name for domain in project.domains if domain.always)}
    return (item for item in project.items if item.domain in wanted)


def flattened(config: Config, name: str) -> Role:
    """The role with its parent's part in it (spec/airulez-project.md 3.3); one level, no more."""
    role = config.role(name)
    if role is None:
        raise UsageError(f'role "{name}" is not defined{_defined(r.name for r in config.roles)}')
    if role.extends is None:
        return role
    parent = config.role(role.extends)
    if parent is None:
        raise UsageError(f'role "{name}" extends "{role.extends}", which is not defined')
    if parent.extends is not None:
        raise UsageError(
            f'role "{name}" extends "{parent.name}", which extends "{parent.extends}": one level is the limit'
        )
    kinds = dict.fromkeys((*parent.selectors, *role.selectors))
    return Role(
        name=role.name,
        declared=role.declared,
        domains=tuple(dict.fromkeys((*parent.domains, *role.domains))),
        selectors={kind: _joined(parent.selectors.get(kind), role.selectors.get(kind)) for kind in kinds},
        extends=role.extends,
        pin=role.pin,
    )


def _joined(parent: Selector | None, child: Selector | None) -> Selector:
    """Exclusions add up; inclusions do where both have some, since none means everything."""
    if parent is None or child is None:
        return parent or child or Selector()
    both = parent.include and child.include
    include = tuple(dict.fromkeys((*parent.include, *child.include))) if both else ()
    return Selector(include=include, exclude=tuple(dict.fromkeys((*parent.exclude, *child.exclude))))


def _keeps(selector: Selector | None, item: Item) -> bool:
    if selector is None:
        return True
    if any(_matches(pattern, item) for pattern in selector.exclude):
        return False
    return not selector.include or any(_matches(pattern, item) for pattern in selector.include)


def _matches(pattern: str, item: Item) -> bool:
    return path_match(pattern, f"{item.domain}/{item.id}" if "/" in pattern else item.id)


def _defined(names: Iterator[str]) -> str:
    known = ", ".join(names)
    return f" (defined: {known})" if known else " (none is defined)"
