"""Configurations beside the text they must give: ``X.toml`` (perhaps with ``X.local``) and ``X.txt``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.project.load import load_config
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.values import Config, Declared

FOLDER = Path(__file__).parent
BAD = sorted((FOLDER / "bad").glob("*.toml"))
GOOD = sorted((FOLDER / "good").glob("*.toml"))


def _load(root: Path, file: Path) -> tuple[Config, list[str]]:
    folder = root / ".ai-rulez"
    folder.mkdir()
    (folder / "config.toml").write_bytes(file.read_bytes())
    local = file.with_suffix(".local")
    if local.exists():
        (folder / "config.local.toml").write_bytes(local.read_bytes())
    place = project_at(root)
    assert place is not None
    checked = load_config(place, local=local.exists())
    return checked.config, [str(note) for note in checked.notes]


def _expected(file: Path) -> str:
    return file.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_bad(file: Path, tmp_path: Path) -> None:
    """Every problem, at its file and line, in the words beside the file."""
    with pytest.raises(FormatError) as caught:
        _load(tmp_path, file)
    assert f"{caught.value}\n" == _expected(file)


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_good(file: Path, tmp_path: Path) -> None:
    """What the configuration means, as text, and the warnings about it."""
    config, notes = _load(tmp_path, file)
    assert "".join(f"{line}\n" for line in (*_described(config), *notes)) == _expected(file)


def test_no_file_is_forgotten() -> None:
    """Each expectation belongs to a configuration and the other way round."""
    texts = sorted(FOLDER.glob("*/*.txt"))
    assert texts == sorted(file.with_suffix(".txt") for file in (*BAD, *GOOD))
    assert len(texts) >= 12


def _described(config: Config) -> list[str]:
    lines = [f"{config.name}, default {config.default}, builtins {config.builtins.all} {config.builtins.packs}"]
    lines += [f"profile {p.name}: {', '.join(p.domains)} at {p.location}" for p in config.profiles]
    for role in config.roles:
        parts = [f"{kind} +{selector.include} -{selector.exclude}" for kind, selector in role.selectors.items()]
        lines.append(
            f"role {role.name} extends {role.extends} pin {role.pin}: {role.domains} {parts} {_at(role.declared)}"
        )
    for source in (*config.includes, *config.installed_skills, *config.skill_sources):
        words = f"{source.source} path {source.path!r} ref {source.ref!r} version {source.version!r}"
        rest = f"git {source.is_git} {source.merge_strategy} {source.kinds} {source.profiles}"
        lines.append(f"{source.table} {source.name}: {words} {rest} {_at(source.declared)}")
    lines += [f"hook {hook.id} {hook.scripts} {_at(hook.declared)}" for hook in config.hooks]
    for verifier in config.verifiers:
        keys = [f"{entry.key}@{entry.line}" for entry in verifier.node.entries]
        lines.append(f"verifier {' '.join(keys)} {_at(verifier)}")
    lines.append(str(config.lock))
    lines += [f"{key} {declared.node.kind} {_at(declared)}" for key, declared in config.tables.items()]
    return lines


def _at(declared: Declared) -> str:
    return f"at {declared.location}" + (f" over {declared.overrides}" if declared.overrides else "")
