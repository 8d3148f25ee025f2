"""One constraint in the text of config.toml, and nothing else (spec/lock.md 6.10; case W18)."""

from __future__ import annotations

import pytest

from pytest_reqfile.lock.config_patch import PatchError, with_constraint

TEXT = """\
version = "5.0" # not this one
[[includes]]
name = "other"
version = "^1.2"

[[includes]]
name = "core"
# version = "^1.2"
version = "^1.2"
"""


def _refused(text: str, name: str = "core", constraint: str = "^2.0") -> str:
    with pytest.raises(PatchError) as caught:
        with_constraint(text, "includes", name, constraint)
    return str(caught.value)


def test_the_right_entry_of_several() -> None:
    """By name, within the table; comments and other entries that look the same stay."""
    text = f"x = nan\n{TEXT}"
    patched = with_constraint(TEXT, "includes", "core", "^2.0")
    assert with_constraint(text, "includes", "core", "^2.0") == f"x = nan\n{patched}"
    assert patched == TEXT[: TEXT.rindex("^1.2")] + '^2.0"\n'
    assert with_constraint(TEXT, "includes", "other", "^2.0").index("^2.0") < TEXT.index("core")


@pytest.mark.case("lock:W16")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('version = "^1.2"', 'version = "^2.0"'),
        ("version = '^1.2'", "version = '^2.0'"),
        ("version='^1.2'# why", "version='^2.0'# why"),
        ('\t version\t =  "^1.2"   # "^1.2"', '\t version\t =  "^2.0"   # "^1.2"'),
        ('"version" = "^1.2"', '"version" = "^2.0"'),
        ('version = "\\u005e1.2"', 'version = "^2.0"'),
        ('ref = "^1.2"', 'ref = "^2.0"'),
        ('ref = "main"\nversion = "^1.2"', 'ref = "main"\nversion = "^2.0"'),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("table", ["includes", "installed_skills", "skill_sources"])
def test_layouts_are_kept(before: str, after: str, ending: str, table: str) -> None:
    """Indentation, spacing, quotes, trailing comment and line ends."""
    frame = '# é\n[[{table}]] # first\nname = "core"\n{line}\n\n[lock] # next\nenforce = true'
    old, new = (frame.format(table=table, line=line).replace("\n", ending) for line in (before, after))
    assert with_constraint(old, table, "core", "^2.0") == new  # type: ignore[arg-type]


def test_tables_that_stand_apart() -> None:
    """Entries of one table need not follow each other."""
    text = '[[includes]]\nname = "a"\nversion = "1"\n[[skill_sources]]\nname = "core"\nversion = "1"\n'
    text += '[[includes]]\nname = "core"\nversion = "1"\n[x]\ny = 1\n'
    patched = with_constraint(text, "includes", "core", "^2.0")
    assert patched == text.replace('version = "1"\n[x]', 'version = "^2.0"\n[x]')


@pytest.mark.case("lock:W18")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace('"core"', '"more"'), 'no [[includes]] entry named "core" in config.toml; edit it by hand'),
        (TEXT.replace('"other"', '"core"'), '2 [[includes]] entries are named "core" in config.toml; edit it by hand'),
        ('includes = [{name = "core", version = "^1"}]\n', 'no [[includes]] entry named "core" in config.toml'),
        ("", 'no [[includes]] entry named "core" in config.toml'),
        ("includes = 3\n", 'no [[includes]] entry named "core" in config.toml'),
        (
            '[[includes]]\nname = "core"\n',
            'the [[includes]] entry named "core" has no constraint in config.toml; edit it by hand',
        ),
        ('[[includes]]\nname = "core"\nversion = 1\n', 'the [[includes]] entry named "core" has no constraint'),
        (
            '[[includes]]\nname = "core"\nversion = """^1"""\n',
            'the constraint of "core" spans lines in config.toml; edit it by hand',
        ),
        ("[[includes]\n", "config.toml cannot be rewritten: config.toml:1: invalid TOML: "),
    ],
)
def test_what_must_be_edited_by_hand(text: str, message: str) -> None:
    """Whatever is not exactly one plain value of one table."""
    assert _refused(text).startswith(message)


@pytest.mark.parametrize("constraint", ["", "  ", 'a"b', "a'b", "a\\b", "a\rb", "a\nb"])
def test_constraints_that_could_end_the_string(constraint: str) -> None:
    """They are refused before anything is read."""
    assert _refused(TEXT, constraint=constraint) == f"the constraint {constraint!r} cannot be written to config.toml"
