"""The documentation is true: links resolve, commands print what is shown, tables and messages are those of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pytest_reqfile import plugin
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git
from tests.support import Repo
from tests.support.pages import ROOT, PageRun, difference, page_environment, steps
from tests.support.tables import TABLES, generated_parts

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS, *sorted((ROOT / "examples").glob("*/README.md"))]
FORMAT_MODULES = ("format", "checks", "uses", "discovery", "catalog", "resolution", "settings", "decision", "labels")
_FENCE = re.compile(r"^(```+).*?^\1$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_MESSAGE = re.compile(r"^\| (`+) ?(.+?) ?\1 \|", re.MULTILINE)
_MACHINE = re.compile(r"(?<![\w.])/(?:work|root|Users)/(?!\.\.\.)[\w.-]+|/home/(?!you\b|user\b|ci\b|x\b)[\w.-]+/")
_GENERATED = re.compile(
    r"(^|/)(__pycache__|\.venv|build|dist|\.\w+_cache|\.hypothesis|\.benchmarks|[^/]+\.egg-info)/|\.pyc$"
)


def name_of(path: Path) -> str:
    """A page as it is named in the list of tests."""
    return path.relative_to(ROOT).as_posix()


def test_there_is_something_to_check() -> None:
    """The pages of the plan exist, and something in them is run."""
    names = {path.stem for path in DOCS}
    assert names >= {"index", "tutorial", "reqfile", "pytest", "command-line", "verifiers", "how-to", "differences"}
    assert names >= {"architecture", "glossary", "security"}
    assert sum(step.mark == "run" for path in DOCS for step in steps(path.read_text())) > 25


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_relative_links_resolve(path: Path) -> None:
    """Each names a file or folder, and a heading of it where it says so."""
    broken = [link for link in links(path) if not resolves(path, link)]
    assert broken == []


def test_every_page_is_in_the_index() -> None:
    """Whoever looks for a page finds it."""
    linked = {link.partition("#")[0] for link in links(ROOT / "docs" / "index.md")}
    assert {path.name for path in DOCS} - linked <= {"index.md"}


@pytest.mark.parametrize("path", [p for p in DOCS if any(steps(p.read_text()))], ids=name_of)
def test_commands_print_what_is_shown(path: Path, make_repo: Callable[[str], Repo]) -> None:
    """Each page in a repository of its own; ``python -m tests.support.pages PAGE`` writes the present output."""
    run = PageRun(make_repo("shop"), page_environment())
    for step in steps(path.read_text()):
        assert difference(step.text, run.carry_out(step)) == ""


def test_the_architecture_is_that_of_the_tree() -> None:
    """Every folder of the package is explained in sixty lines, and every module named there exists."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    package = ROOT / "pytest_reqfile"
    assert len(page.splitlines()) <= 60
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert {folder for folder in folders if not re.search(rf"^{folder}/ ", page, re.MULTILINE)} == set()
    named = set(re.findall(r"`(?:\w+/)*(\w+\*?\.py)`", page))
    assert len(named) > 15
    missing = [name for name in named if not any(any(folder.rglob(name)) for folder in (package, ROOT / "tests"))]
    assert missing == []


def test_every_marker_and_fixture_is_explained() -> None:
    """What ``--markers`` and ``--fixtures`` list of ours is on the page about pytest."""
    page = (ROOT / "docs" / "pytest.md").read_text()
    fixtures = [name for name in vars(plugin) if name.startswith("reqfile_")]
    assert len(fixtures) >= 3
    names = [marker.partition(":")[0] for marker in plugin.MARKERS] + fixtures
    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", TABLES)
def test_generated_tables_are_those_of_the_code(name: str) -> None:
    """``python -m tests.support.pages PAGE`` makes them anew."""
    found = [text for path in DOCS for part, text in generated_parts(path.read_text()) if part == name]
    assert found == [TABLES[name]()]


def test_messages_are_those_of_the_code() -> None:
    """Every constant piece of a message in the table of docs/reqfile.md is in the source."""
    source = "\0".join(texts())
    page = (ROOT / "docs" / "reqfile.md").read_text()
    shown = [match[2] for match in _MESSAGE.finditer(page[page.index("## Messages") :])]
    assert len(shown) > 60
    pieces = {piece.strip(" `") for message in shown for piece in message.split("…")}
    assert sorted(piece for piece in pieces if len(piece) > 5 and piece not in source) == []


@pytest.mark.parametrize("module", FORMAT_MODULES)
def test_messages_of_the_formats_are_explained(module: str) -> None:
    """Every message that a file's content can cause is in the table of docs/reqfile.md."""
    page = (ROOT / "docs" / "reqfile.md").read_text()
    shown = " ".join(re.split("[`…\\s]+", page[page.index("## Messages") :]))
    tree = ast.parse((ROOT / "pytest_reqfile" / "reqfile" / f"{module}.py").read_text())
    told = [text for call in ast.walk(tree) if isinstance(call, ast.Call) and is_refusal(call) for text in pieces(call)]
    missing = [text for text in told if " ".join(re.split("[`\\s]+", text)).strip(" :;.") not in shown]
    assert missing == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows what belongs to the repository")
def test_no_text_of_the_repository_names_this_machine() -> None:
    """No path of somebody's machine, no host of a package registry but the public one, nothing generated."""
    listed = Git(ROOT, Environment.current()).answer("ls-files", "-z").decode().split("\0")
    tracked = [path for path in listed if path and (ROOT / path).is_file()]
    assert len(tracked) > 100
    found = [f"{path}: {match[0]}" for path in tracked for match in _MACHINE.finditer(text_of(path))]
    assert found == []
    assert [path for path in tracked if _GENERATED.search(path)] == []
    assert [f"{path}: {name}" for path in tracked for name in registries() if name in text_of(path)] == []


def links(path: Path) -> Iterator[str]:
    """The targets of a page's links that are no addresses of the web."""
    for link in _LINK.findall(_FENCE.sub("", path.read_text())):
        if not urlsplit(link).scheme:
            yield link


def resolves(path: Path, link: str) -> bool:
    """Whether a link of a page leads somewhere."""
    name, _, heading = link.partition("#")
    target = path.parent / name if name else path
    if not target.exists():
        return False
    return not heading or heading in map(anchor, _HEADING.findall(_FENCE.sub("", target.read_text())))


def anchor(heading: str) -> str:
    """A heading's anchor as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def texts() -> tuple[str, ...]:
    """The texts in the package's source, with names of constants replaced by what they stand for."""
    trees = [ast.parse(path.read_text()) for path in sorted((ROOT / "pytest_reqfile").rglob("*.py"))]
    constants = {name: value for tree in trees for name, value in constants_of(tree)}
    return tuple(joined(node, constants) for tree in trees for node in ast.walk(tree) if is_text(node))


def constants_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module-level names that stand for a text or a number."""
    for node in tree.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.value, ast.Constant)
        ):
            yield node.target.id, str(node.value.value)


def is_text(node: ast.AST) -> bool:
    """Whether a node is a text, constant or not."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def joined(node: ast.AST, constants: dict[str, str]) -> str:
    """The text of a node, each value that is not known replaced by ``…``."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(joined(value, constants) for value in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return constants.get(node.value.id, "…")
    return "…"


def is_refusal(call: ast.Call) -> bool:
    """Whether a call tells a problem: ``problems.add``, ``fields.refuse``, or an error's constructor."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr in {"add", "_add", "refuse"}
    return isinstance(function, ast.Name) and function.id in {"Problem", "ValueError", "FormatError"}


def pieces(call: ast.Call) -> Iterator[str]:
    """The constant pieces of the messages given to a call."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for piece in joined(argument, dict(constants_in_use())).split("…") if is_text(argument) else ():
            if len(piece.strip()) > 5 and " " in piece.strip():
                yield piece


@cache
def constants_in_use() -> tuple[tuple[str, str], ...]:
    """The constants that messages of the formats name."""
    folder = ROOT / "pytest_reqfile" / "reqfile"
    return tuple(pair for path in sorted(folder.glob("*.py")) for pair in constants_of(ast.parse(path.read_text())))


@cache
def text_of(path: str) -> str:
    """A file's text; what is no text of ours is looked at as well as it goes."""
    return (ROOT / path).read_bytes().decode("utf-8", "replace")


def registries() -> tuple[str, ...]:
    """Where this machine takes packages from, besides the public registry: hosts, and folders for ``file:``."""
    names = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
    environment = Environment.current()
    values = [environment.get(name) or "" for name in names]
    home = Path(environment.get("HOME") or "/")
    configs = (home / ".pip/pip.conf", home / ".config/pip/pip.conf", Path("/etc/pip.conf"), home / ".npmrc")
    values += [path.read_text() for path in configs if path.is_file()]
    urls = (urlsplit(url) for value in values for url in re.findall(r"(?:https?|file)://\S+", value))
    found = {url.hostname or url.path.rstrip("/") for url in urls}
    return tuple(sorted(found - {"", "pypi.org", "registry.npmjs.org", "localhost", "127.0.0.1"}))
