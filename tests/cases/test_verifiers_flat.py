"""Flat verifiers, case by case (cases/verifiers.md A1 and A2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.outcome import Location
from pytest_reqfile.verifiers.documents import compare
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.flat_format import FIELDS_OF_TYPE
from pytest_reqfile.verifiers.outcomes import gates, outcome_of
from pytest_reqfile.verifiers.results import Result, flat_result
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.values import CustomCheck, FlatVerifier, KeyCheck
from pytest_reqfile.workspace.processes import Cancellation
from tests.support.verifiers import Workbench, flat

TREE: dict[str, str | bytes] = {
    "GUIDE.md": "# Guide\n",
    "lib/a.go": "package a\n// XXX(me)\n",
    "lib/b.go": "package b\n",
    "lib/third/c.go": "package c\n",
    "node_modules/dep/i.js": "XXX",
    "app.json": '{"engines":{"bun":">=1.1"},"closed":true,"count":7,"rows":[{"id":"q"}]}',
    "set.yaml": "x:\n  y: howdy\n",
    "set.toml": '[unit]\nlabel = "k"\n',
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def _case(identifier: str, status: str, message: str, kind: str, **fields: object) -> object:
    mark = pytest.mark.case(f"verifiers:{identifier}")
    return pytest.param(kind, fields, status, message, marks=mark, id=identifier)


@pytest.mark.parametrize(
    ("kind", "fields", "status", "message"),
    [
        _case("A1.1", "pass", "", "file_exists", path="GUIDE.md"),
        _case("A1.2", "fail", "NOTICE", "file_exists", path="NOTICE"),
        _case("A1.4", "fail", "GUIDE.md", "file_absent", path="GUIDE.md"),
        _case("A1.5", "pass", "3 file(s)", "glob_count", glob="lib/**/*.go", min=3, max=3),
        _case("A1.7", "fail", "3", "glob_count", glob="lib/**/*.go", max=2),
        _case("A1.9", "pass", "0 file(s)", "glob_count", glob="**/*.js", max=0),
        _case("A1.10", "pass", "2 file(s)", "regex", glob="lib/*.go", pattern="(?m)^package "),
        _case("A1.12", "fail", "no files", "regex", glob="*.zig", pattern="x"),
        _case("A1.14", "fail", "lib/a.go:2", "forbid", glob="lib/*.go", pattern="XXX"),
        _case("A1.16", "pass", "", "key_equals", path="app.json", key="engines.bun", equals=">=1.1"),
        _case("A1.18", "pass", "", "key_equals", path="app.json", key="count", equals="7"),
        _case("A1.19", "pass", "", "key_equals", path="app.json", key="rows.0.id", equals="q"),
        _case("A1.21", "pass", "", "key_equals", path="set.toml", key="unit.label", equals="k"),
        _case("A1.22", "fail", ">=1.1", "key_equals", path="app.json", key="engines.bun", equals=">=2"),
        _case("A1.24", "fail", "gone.json", "key_equals", path="gone.json", key="a", equals="1"),
    ],
)
def test_predicate(bench: Workbench, kind: str, fields: dict[str, object], status: str, message: str) -> None:
    """One flat verifier over the tree of A1."""
    bench.write_all(TREE)
    bench.config(flat("v", kind, **fields))
    result = bench.result()
    assert (result.status, result.code, result.target, result.type) == (status, "", None, kind)
    assert message in result.message


@pytest.mark.case("verifiers:A1.25")
def test_unsupported_document() -> None:
    """A file that is neither JSON, YAML nor TOML says so, past validation."""
    check = KeyCheck(path="GUIDE.md", key="a", segments=("a",), equals="1")
    assert compare(check, b"# Guide\n") == "GUIDE.md: unsupported format (use .json, .yaml, .yml or .toml)"


class TestMessages:
    """The exact words of the failures (spec/verifiers.md 1.7)."""

    @pytest.mark.parametrize(
        ("entry", "message", "findings"),
        [
            (
                flat("v", "file_exists", path="NOTICE"),
                "NOTICE does not exist",
                [("NOTICE", None, "file does not exist", None)],
            ),
            (
                flat("v", "file_absent", path="GUIDE.md"),
                "GUIDE.md exists",
                [("GUIDE.md", None, "file exists but must not", None)],
            ),
            (
                flat("v", "glob_count", glob="lib/*.go", max=1),
                "2 file(s) match lib/*.go, expected at most 1: lib/a.go, lib/b.go",
                [(f"lib/{name}.go", None, "matches lib/*.go but more files match than allowed", None) for name in "ab"],
            ),
            (flat("v", "glob_count", glob="*.zig", min=1), "0 file(s) match *.zig, expected at least 1", []),
            (
                flat("v", "regex", glob="lib/*.go", pattern="XXX"),
                'pattern "XXX" not found in lib/b.go',
                [("lib/b.go", None, 'pattern "XXX" not found', None)],
            ),
            (
                flat("v", "forbid", glob="lib/*.go", pattern="XXX\\("),
                'forbidden pattern "XXX\\\\(" at lib/a.go:2',
                [("lib/a.go", 2, 'forbidden pattern "XXX\\\\("', "XXX(")],
            ),
            (
                flat("v", "key_equals", path="app.json", key="closed", equals="no"),
                'app.json: closed is "true", expected "no"',
                [("app.json", None, "key check failed", None)],
            ),
            (flat("v", "key_equals", path="gone.json", key="a", equals="1"), "gone.json does not exist", []),
        ],
    )
    def test_failure(
        self, bench: Workbench, entry: str, message: str, findings: list[tuple[str, int | None, str, str | None]]
    ) -> None:
        """A failing verifier and its findings."""
        bench.write_all(TREE)
        bench.config(entry)
        result = bench.result()
        assert (result.status, result.message) == ("fail", message)
        assert [(f.file, f.line, f.message, f.match) for f in result.findings] == findings


class TestGeneratedInSync:
    """The provider of drift is handed in; it is told the profile."""

    @staticmethod
    def _result(bench: Workbench, items: tuple[str, ...]) -> tuple[Result, list[str]]:
        asked: list[str] = []

        def drift(profile: str) -> tuple[str, ...]:
            asked.append(profile)
            return items

        bench.config("[profiles]\np = []\n\n" + flat("v", "generated_in_sync", profile="p"))
        return bench.result(RunOptions(drift=drift)), asked

    @pytest.mark.case("verifiers:A1.26")
    def test_no_drift(self, bench: Workbench) -> None:
        """Nothing differs: pass."""
        result, asked = self._result(bench, ())
        assert (result.status, asked) == ("pass", ["p"])

    def test_drift(self, bench: Workbench) -> None:
        """What differs is named, ten of it."""
        result, _ = self._result(bench, tuple(f"stale: f{number}.md" for number in range(12)))
        assert result.status == "fail"
        assert result.message.startswith("generated files differ from their sources: stale: f0.md, stale: f1.md")
        assert result.message.endswith("stale: f9.md and 2 more (run `ai-rulez generate`)")
        assert [finding.file for finding in result.findings] == [f"f{number}.md" for number in range(10)]

    def test_profile_of_the_run(self, bench: Workbench) -> None:
        """``--profile`` fills in for an entry that names none."""
        asked: list[str] = []

        def drift(profile: str) -> tuple[str, ...]:
            asked.append(profile)
            return ()

        bench.config("[profiles]\np = []\n\n" + flat("v", "generated_in_sync"))
        bench.result(RunOptions(drift=drift, profile="p"))
        bench.result(RunOptions(drift=drift))
        assert asked == ["p", ""]


@pytest.mark.case("verifiers:A1.34")
def test_every_type_is_evaluated(bench: Workbench) -> None:
    """Each type that config.toml may name has a result of its own."""
    fields: dict[str, dict[str, object]] = {
        "file_exists": {"path": "x"},
        "file_absent": {"path": "x"},
        "glob_count": {"glob": "*", "min": 0},
        "regex": {"glob": "*.md", "pattern": "x"},
        "forbid": {"glob": "*.md", "pattern": "x"},
        "key_equals": {"path": "x.json", "key": "k", "equals": "v"},
        "generated_in_sync": {},
    }
    assert set(fields) == set(FIELDS_OF_TYPE)
    bench.config("".join(flat(kind, kind, **fields[kind]) for kind in fields))
    assert [result.type for result in bench.results()] == list(fields)


def _licence(verifier: FlatVerifier, evidence: Evidence) -> Result:
    """What an embedding program may want to know."""
    named = "MIT" in evidence.tree.root.joinpath("LICENSE").read_text()
    return flat_result(verifier, "pass" if named else "fail", "the licence is MIT")


@pytest.mark.case("verifiers:A1.35")
def test_a_type_of_the_embedding_program(bench: Workbench) -> None:
    """Its predicate decides, as one of ours would."""
    bench.write("LICENSE", "MIT License\n")
    run = bench.open(RunOptions(custom={"licence": _licence}))
    verifier = FlatVerifier(name="v", check=CustomCheck(type="licence"), declared=Location(path="here", line=1))
    run.prepare((verifier,))
    (result,) = run.evaluate((verifier,))
    assert (result.type, result.status, result.message) == ("licence", "pass", "the licence is MIT")
    assert outcome_of(result).status == "pass"


@pytest.mark.case("verifiers:A1.33")
def test_a_type_that_nobody_knows(bench: Workbench) -> None:
    """Past the validation of config.toml it could not be evaluated, which is never a pass."""
    verifier = FlatVerifier(name="v", check=CustomCheck(type="command"), declared=Location(path="here", line=1))
    (result,) = bench.open().evaluate((verifier,))
    assert (result.status, result.message) == ("error", 'unknown verifier type "command"')
    assert outcome_of(result).status == "error"


class TestReport:
    """Several verifiers in one run."""

    ORDER = (
        flat("w-warn", "file_exists", path="gone", severity="warning")
        + flat("ok", "file_exists", path="GUIDE.md")
        + flat("e-err", "file_exists", path="gone")
    )

    @pytest.mark.case("verifiers:A1.30")
    def test_declaration_order(self, bench: Workbench) -> None:
        """Results come in the order of declarations."""
        bench.write_all(TREE)
        bench.config(self.ORDER)
        results = bench.results()
        assert [(r.name, r.status, r.severity) for r in results] == [
            ("w-warn", "fail", "warning"),
            ("ok", "pass", "error"),
            ("e-err", "fail", "error"),
        ]

    @pytest.mark.case("verifiers:A1.31")
    def test_by_name(self, bench: Workbench) -> None:
        """Only the named one, which fails a strict run only."""
        bench.config(self.ORDER)
        run = bench.open()
        (chosen,) = run.select(["w-warn"])
        (result,) = run.results(chosen)
        assert outcome_of(result).status == "advisory"
        assert outcome_of(result, "warning").status == "fail"
        assert not gates(result.severity, "error")


class TestHardening:
    """What cannot be looked at is never a pass (A2)."""

    @pytest.mark.case("verifiers:A2.1")
    def test_many_matches(self, bench: Workbench) -> None:
        """Ten places are named, and that there are more."""
        bench.write("a.log", "FIX\n" * 500)
        bench.config(flat("v", "forbid", glob="*.log", pattern="FIX"))
        result = bench.result()
        assert "a.log:1," in result.message
        assert result.message.endswith("a.log:10 and more")
        assert len(result.findings) == 10

    @pytest.mark.parametrize(
        ("kind", "pattern", "name"),
        [
            pytest.param("forbid", "FIX", "huge.txt", marks=pytest.mark.case("verifiers:A2.3")),
            pytest.param("forbid", "FIX", "raw.dat", marks=pytest.mark.case("verifiers:A2.4")),
            pytest.param("regex", "zzz", "raw.dat", marks=pytest.mark.case("verifiers:A2.6")),
            pytest.param("regex", "FIX", "huge.txt", marks=pytest.mark.case("verifiers:A2.8")),
        ],
    )
    def test_not_fully_checked(self, bench: Workbench, kind: str, pattern: str, name: str) -> None:
        """A binary or huge file is an error that names it."""
        bench.write("huge.txt", b"a" * (5 << 20) + b"\nFIX\n")
        bench.write("raw.dat", b"abc\0FIX")
        bench.config(flat("v", kind, glob=name, pattern=pattern))
        result = bench.result()
        expected = f"1 file(s) could not be fully checked (binary or over 5 MiB): {name}"
        assert (result.status, result.code, result.message) == ("error", "", expected)

    def test_match_in_the_first_part(self, bench: Workbench) -> None:
        """A match inside the limit counts, for both kinds."""
        bench.write("huge.txt", b"FIX\n" + b"a" * (5 << 20))
        bench.config(
            flat("r", "regex", glob="huge.txt", pattern="FIX") + flat("f", "forbid", glob="huge.txt", pattern="FIX")
        )
        regex, forbid = bench.results()
        assert (regex.status, regex.message) == ("pass", "1 file(s)")
        assert forbid.message == (
            'forbidden pattern "FIX" at huge.txt:1; 1 file(s) were not fully checked (binary or over 5 MiB)'
        )

    @pytest.mark.case("verifiers:A2.10")
    def test_violation_beside_a_binary(self, bench: Workbench) -> None:
        """A violation that was found still fails."""
        bench.write_all({"a.txt": "FIX\n", "b.dat": b"\0"})
        bench.config(flat("v", "forbid", glob="*", pattern="FIX"))
        result = bench.result()
        assert result.status == "fail"
        assert "not fully checked" in result.message

    @pytest.mark.case("verifiers:A2.11")
    def test_canceled(self, bench: Workbench) -> None:
        """A canceled run has an error for each verifier."""
        bench.config(flat("a", "file_exists", path="x") + flat("b", "file_absent", path="x"))
        cancellation = Cancellation()
        cancellation.cancel()
        run = bench.open(cancellation=cancellation)
        results = tuple(run.evaluate(run.select()))
        assert [(r.status, r.message) for r in results] == [("error", "not run: the run was canceled")] * 2

    @pytest.mark.case("verifiers:A2.12")
    @pytest.mark.skipif(os.getuid() == 0, reason="root reads every folder")
    def test_unreadable_folder(self, bench: Workbench) -> None:
        """A folder that cannot be read fails the verifiers that would have looked into it."""
        bench.write("a.txt")
        bench.write("shut/b.txt")
        (bench.root / "shut").chmod(0)
        try:
            bench.config(
                flat("all", "glob_count", glob="*.txt", max=5)
                + flat("without", "glob_count", glob="*.txt", max=5, exclude=["shut/**"])
                + flat("elsewhere", "glob_count", glob="lib/*.txt", max=5)
                + flat("exists", "file_exists", path="a.txt")
            )
            results = bench.results()
        finally:
            (bench.root / "shut").chmod(0o755)
        assert [r.status for r in results] == ["fail", "pass", "pass", "pass"]
        assert results[0].message == "cannot read directory shut: the result would be incomplete"

    @pytest.mark.case("verifiers:A2.13")
    def test_hostile_name(self, bench: Workbench) -> None:
        """A file name cannot move the cursor."""
        bench.write("bad\x1b[31mred\nline.txt", "FIX")
        bench.config(flat("v", "forbid", glob="*.txt", pattern="FIX"))
        outcome = outcome_of(bench.result())
        message = str(outcome.details["message"])
        assert "\x1b" not in message
        assert "\n" not in message
        assert r"\x1b" in message


JSON = '{"wide":98765432109876543210,"r":2.0,"none":null,"blank":"","deps":{"left.pad":"1.2.0"},"m":{"n":[{"o":"w"}]}}'
YAML = "none: null\nblank: ''\n2: two\nat: 2023-05-06T07:08:09Z\nt: ~\nb: yes\nf: 1.0\no: 0x10\n"
DATES = "d: 2024-01-02\nq: '2024-01-02'\ns: 2024-1-2 3:04:05.60\nz: 2024-01-02t03:04:05+02:00\nn: 2024-02-30\n"
TOML = "at = 2023-05-06T07:08:09Z\nday = 2023-05-06\nn = 4\nf = 1e3\ng = 1.50\nt = 03:04:05\nh = 0.500\n"


def _key(identifier: str, path: str, key: str, equals: str, message: str | None = None) -> object:
    marks = [pytest.mark.case(f"verifiers:{identifier}")] if identifier[0] in "AD" else []
    return pytest.param(path, key, equals, message, marks=marks, id=identifier)


@pytest.mark.parametrize(
    ("path", "key", "equals", "message"),
    [
        _key("A2.20", "p.json", "wide", "98765432109876543210"),
        _key("spelling", "p.json", "r", "2.0"),
        _key("A2.22", "p.json", "none", "", 'p.json: none is null, expected ""'),
        _key("A2.24", "p.json", "blank", ""),
        _key("A2.25", "p.json", "nope", "", "p.json has no key nope"),
        _key("A2.26", "p.json", "deps.left\\.pad", "1.2.0"),
        _key("A2.28", "p.json", "deps.left.pad", "1.2.0", "p.json has no key deps.left.pad"),
        _key("A2.29", "p.json", "m.n[0].o", "w"),
        _key("index", "p.json", "m.n[1].o", "w", "p.json has no key m.n[1].o"),
        _key("map", "p.json", "m", "w", "p.json: m is not a scalar value"),
        _key("into-scalar", "p.json", "r.s", "w", "p.json has no key r.s"),
        _key("A2.30", "c.yaml", "none", "", 'c.yaml: none is null, expected ""'),
        _key("tilde", "c.yaml", "t", "~", 'c.yaml: t is null, expected "~"'),
        _key("A2.32", "c.yaml", "blank", ""),
        _key("A2.33", "c.yaml", "2", "two"),
        _key("A2.34", "c.yaml", "at", "2023-05-06T07:08:09Z"),
        _key("D-26b", "c.yaml", "b", "yes"),
        _key("D-26f", "c.yaml", "f", "1"),
        _key("D-26o", "c.yaml", "o", "16"),
        _key("D-26", "d.yaml", "d", "2024-01-02T00:00:00Z"),
        _key("yaml-date", "d.yaml", "d", "2024-01-02"),
        _key("other-date", "d.yaml", "d", "2024-01-03", 'd.yaml: d is "2024-01-02", expected "2024-01-03"'),
        _key("quoted-date", "d.yaml", "q", "2024-01-02T00:00:00Z", 'd.yaml: q is "2024-01-02", expected '),
        _key("yaml-time", "d.yaml", "s", "2024-01-02T03:04:05.6Z"),
        _key("yaml-offset", "d.yaml", "z", "2024-01-02T03:04:05+02:00"),
        _key("no-date", "d.yaml", "n", "2024-02-30"),
        _key("date-key", "d.yaml", "2024-01-02", "key"),
        _key("toml-date", "c.toml", "day", "2023-05-06T00:00:00Z", 'c.toml: day is "2023-05-06", expected '),
        _key("A2.36", "c.toml", "day", "2023-05-06"),
        _key("toml-at", "c.toml", "at", "2023-05-06T07:08:09Z"),
        _key("toml-int", "c.toml", "n", "4"),
        _key("toml-exponent", "c.toml", "f", "1000"),
        _key("toml-float", "c.toml", "g", "1.5"),
        _key("toml-time", "c.toml", "t", "03:04:05"),
        _key("toml-half", "c.toml", "h", "0.5"),
        _key("D-27", "tail.json", "a", "1"),
        _key("empty", "empty.json", "a", "1", "empty.json does not parse: "),
    ],
)
def test_key_equals(bench: Workbench, path: str, key: str, equals: str, message: str | None) -> None:
    """The value at a key as text."""
    bench.write_all(
        {
            "p.json": JSON,
            "c.yaml": YAML,
            "d.yaml": f"{DATES}2024-01-02: key\n",
            "c.toml": TOML,
            "tail.json": '{"a":1} trailing',
            "empty.json": "",
        }
    )
    bench.config(flat("v", "key_equals", path=path, key=key, equals=equals))
    result = bench.result()
    assert result.status == ("pass" if message is None else "fail"), result.message
    assert result.message.startswith(message or "")


def test_key_equals_large_file(bench: Workbench) -> None:
    """A file beyond the limit is an error, not a failure."""
    bench.write("p.json", JSON)
    bench.config(
        "[verifiers_settings]\nmax_file_bytes = 10\n" + flat("v", "key_equals", path="p.json", key="r", equals="2.0")
    )
    result = bench.result()
    assert (result.status, result.message) == ("error", "p.json is over 10 bytes and cannot be parsed")


@pytest.mark.parametrize(
    ("kind", "path", "status", "message"),
    [
        pytest.param("file_exists", "good", "pass", "", marks=pytest.mark.case("verifiers:A2.40")),
        pytest.param("file_exists", "dead", "fail", "dead does not exist", marks=pytest.mark.case("verifiers:A2.42")),
        pytest.param(
            "file_exists", "out", "error", "out resolves outside the project", marks=pytest.mark.case("verifiers:A2.44")
        ),
        pytest.param(
            "file_absent",
            "outdir/missing",
            "error",
            "outdir/missing resolves outside the project",
            marks=pytest.mark.case("verifiers:A2.46"),
        ),
        pytest.param("file_exists", "indir/in.txt", "pass", "", marks=pytest.mark.case("verifiers:A2.47")),
        pytest.param("file_absent", "real.txt/x", "pass", "", marks=pytest.mark.case("verifiers:A2.48")),
        pytest.param("file_absent", "dead", "pass", ""),
        pytest.param("file_exists", "loop", "error", "resolve loop: "),
    ],
)
def test_symlinks(tmp_path: Path, kind: str, path: str, status: str, message: str) -> None:
    """A probe follows symlinks, but never beyond the project."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    bench = Workbench(tmp_path / "project")
    bench.write("real.txt")
    bench.write("dir/in.txt")
    links = {"good": "real.txt", "dead": "nowhere", "out": str(outside / "secret"), "outdir": str(outside)}
    for name, target in (links | {"indir": "dir", "loop": "loop"}).items():
        (bench.root / name).symlink_to(target)
    bench.config(flat("v", kind, path=path))
    result = bench.result()
    assert result.status == status
    assert result.message.startswith(message)


@pytest.mark.case("verifiers:D-2")
def test_line_ends_as_they_are(bench: Workbench) -> None:
    """Flat patterns see the bytes of the file: ``$`` is not before a carriage return."""
    bench.write("a.txt", b"end\r\n")
    bench.config(flat("v", "regex", glob="a.txt", pattern="(?m)^end$"))
    assert bench.result().status == "fail"


def test_declared_where(bench: Workbench) -> None:
    """A flat result knows its line in config.toml."""
    bench.config(flat("v", "file_exists", path="x"))
    assert bench.result().declared == Location(path=".ai-rulez/config.toml", line=3)
