"""``reqfile verifiers suggest`` as a process, against a local model service (cases/verifiers.md A17; seed 000)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.verifiers.suggest import write_suggestions
from pytest_reqfile.verifiers.suggestions import Suggestion
from pytest_reqfile.verifiers.values import Target
from tests.support import Completed, Repo
from tests.support.models import Models
from tests.support.suggestions import proposal, reply
from tests.support.verifiers import Workbench, head, predicate

WRITTEN = ".ai-rulez/verifiers/suggested-store.toml"
SECRET = "sk-zyxwvutsrqponmlkjihgfedcba0123456789zyxwvuts"


class Bench(Workbench):
    """Fixture P with two Go files, one of them with two HACK comments."""

    def __init__(self, repo: Repo, models: Models) -> None:
        super().__init__(repo.root, repo.environment)
        self.repo = repo
        self.variables = models.variables()
        self.write("src/a.go", "package a // private\n")
        self.write("src/old.go", "// HACK one\nvar x int\n// HACK two\n")
        self.write("README", "demo\n")

    def suggest(self, *arguments: str, item: str = "store", allow: bool = True, **variables: str) -> Completed:
        env = {**self.variables, **{f"AI_RULEZ_LLM_{key.upper()}": value for key, value in variables.items()}}
        allowed = ("--allow-llm",) if allow else ()
        return self.repo.run("verifiers", "suggest", item, *allowed, *arguments, env=env)

    @property
    def written(self) -> Path:
        return self.root / WRITTEN


@pytest.fixture
def bench(repo: Repo, models: Models) -> Bench:
    models.says(reply(proposal()))
    return Bench(repo, models)


@pytest.mark.case("verifiers:A17.1")
@pytest.mark.case("verifiers:A17.11")
@pytest.mark.case("verifiers:A17.12")
def test_a_dry_run(bench: Bench, models: Models) -> None:
    """One call with the rule and the layout; the candidate is printed as TOML, and nothing is written."""
    bench.spec(head("undo", when="*.x") + predicate("forbid", regex="x"))
    done = bench.suggest()
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:5] == [
        'Verifier suggestions for rule "store" (.ai-rulez/rules/store.md)',
        "",
        "# 1. no-hack",
        "# The rule forbids them.",
        "# findings in the repository today: 2 (src/old.go); examples: verified",
    ]
    assert "[verifiers.require.forbid]" in lines
    assert lines[-2].startswith("llm: 1 call(s), 0 from cache, ")
    assert lines[-1] == f"Dry run: nothing was written. Re-run with --write to save what is usable to {WRITTEN}."
    assert not bench.written.exists()
    (heard,) = models.heard
    assert heard.body["temperature"] == 0
    assert b"additionalProperties" not in heard.raw
    for part in (
        "Each change needs an undo part.",
        "<<<DATA ",
        "directories: src\n",
        "extensions: .go\n",
        "existing verifiers: undo\n",
    ):
        assert part in heard.user
    assert b"private" not in heard.raw
    assert b"HACK" not in heard.raw


def test_json(bench: Bench) -> None:
    """The same as a document."""
    document = json.loads(bench.suggest("--format", "json").out)
    assert list(document) == ["schema_version", "target", "proposals", "notes", "llm"]
    assert document["notes"][0].startswith("replay: a root commit changes nothing that was there, so ")
    assert document["target"] == {"kind": "rule", "id": "store", "path": ".ai-rulez/rules/store.md"}
    (one,) = document["proposals"]
    assert list(one) == ["id", "rationale", "hits", "hit_files", "replay", "examples", "toml"]
    assert (one["hits"], one["hit_files"], one["examples"]) == (2, ["src/old.go"], "verified")
    assert document["llm"]["calls"] == 1


@pytest.mark.case("verifiers:A17.12")
def test_write(bench: Bench, models: Models) -> None:
    """A new file, which loads and passes its self-tests; it is never overwritten, and nothing is paid for then."""
    done = bench.suggest("--write")
    assert done.code == 0
    assert done.out.endswith(f"Wrote 1 proposal(s) to {WRITTEN}. Review them, then run `reqfile verifiers test`.\n")
    text = bench.written.read_text("utf-8")
    assert text.startswith("# Suggested by `reqfile verifiers suggest`")
    tested = bench.repo.run("verifiers", "test")
    assert (tested.code, tested.out.splitlines()[-1]) == (0, "2 of 2 examples passed")
    again = bench.suggest("--write")
    assert (again.code, again.out) == (1, "")
    assert again.err == f"error: {WRITTEN} already exists; it is never overwritten\n"
    assert (bench.written.read_text("utf-8"), len(models.heard)) == (text, 1)


def test_no_write_through_a_link(bench: Bench, models: Models) -> None:
    """Neither the file nor its folder may be one."""
    elsewhere = bench.root / "elsewhere"
    elsewhere.mkdir()
    (bench.root / ".ai-rulez/verifiers").symlink_to(elsewhere)
    done = bench.suggest("--write")
    assert done.code == 1
    assert "cannot write" in done.err
    assert (list(elsewhere.iterdir()), models.heard) == ([], [])


@pytest.mark.case("verifiers:A17.14")
def test_only_rejected(bench: Bench, models: Models) -> None:
    """There is nothing to write, so not even the folder is made."""
    models.says(reply(proposal(regex="("), proposal(predicate="command")))
    done = bench.suggest("--write")
    assert done.code == 0
    assert "Rejected:\n  no-hack: forbid: invalid regex: missing ): (\n" in done.out
    assert '  no-hack-2: unknown predicate "command"\n' in done.out
    assert done.err == "warning: no usable proposal, so nothing was written\n"
    assert not (bench.root / ".ai-rulez/verifiers").exists()


@pytest.mark.case("verifiers:A17.14")
def test_nothing_usable_is_not_written(bench: Bench) -> None:
    """Below the command it is an error."""
    rejected = Suggestion(id="x", rationale="", rejected="no")
    target = Target(kind="rule", id="store")
    with pytest.raises(FileError, match="no usable proposal, so nothing was written"):
        write_suggestions(bench.project().place, target, [one for one in (rejected,) if one.usable])
    assert not (bench.root / ".ai-rulez/verifiers").exists()


def test_names_and_characters_that_are_not_sent(bench: Bench, models: Models) -> None:
    """Of the item what people see of it, of the layout and the verifiers no name that must not leave; by the bytes."""
    hidden = "\u200b\u202e\ufe00\u3164\U000e0041\u2065"
    bench.write(".ai-rulez/rules/seen.md", f"# S\n\nEach change{hidden} needs\tan undo part.\n")
    bench.write(f"{SECRET}/a.go")
    bench.write("x\u3164y/a.go")
    bench.write(f"a.{SECRET}")
    bench.write("b.x\ufe00")
    bench.spec(head(SECRET, when="*.x") + predicate("forbid", regex="x"), "secret.toml")
    done = bench.suggest(item="seen")
    assert done.code == 0, done
    (heard,) = models.heard
    assert "Each change needs\tan undo part." in heard.user
    assert SECRET.encode() not in heard.raw
    text = json.dumps(heard.body, ensure_ascii=False)
    assert not set(hidden) & set(text)
    bench.write(f".ai-rulez/rules/{SECRET}.md", "# S\n\nBe good.\n")
    done = bench.suggest(item=SECRET)
    assert (done.code, len(models.heard)) == (1, 1)
    assert done.err.startswith("error: the name of the rule looks like it holds a credential, so it is not sent")


def test_a_dry_run_writes_nothing(bench: Bench) -> None:
    """Neither in the project nor into its repository."""
    bench.repo.commit("all")

    def state() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in bench.root.rglob("*") if file.is_file()}

    before = state()
    assert bench.suggest().code == 0
    assert bench.suggest("--estimate", allow=False).code == 0
    assert state() == before


@pytest.mark.case("verifiers:A17.6")
def test_too_many(bench: Bench, models: Models) -> None:
    """Those beyond the number asked for are dropped, and counted."""
    models.says(reply(proposal(), proposal(), proposal()))
    done = bench.suggest("--max-proposals", "2")
    assert "# 2. no-hack-2\n" in done.out
    assert "no-hack-3" not in done.out
    assert "note: 1 proposal(s) beyond --max-proposals 2 were dropped\n" in done.out
    assert bench.suggest("--max-proposals", "0").code == 1


def test_nothing_proposed(bench: Bench, models: Models) -> None:
    """The model's reason is told, in one harmless line."""
    models.says(reply(skipped_reason="It needs\njudgement.\x1b[31m"))
    done = bench.suggest()
    assert done.code == 0
    assert "No verifier proposed: It needs judgement.\\x1b[31m\n" in done.out
    models.says(reply())
    assert "No verifier proposed: the model proposed nothing\n" in bench.suggest("--max-proposals", "4").out


@pytest.mark.case("verifiers:A17.7")
@pytest.mark.parametrize("text", ["No.", '{"proposals": []}', reply(proposal(more=1)), reply() + " {}"])
def test_unusable_replies(bench: Bench, models: Models, text: str) -> None:
    """Prose, or anything missing or additional: exit 1."""
    models.says(text)
    done = bench.suggest()
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: the model's reply was unusable: ")


@pytest.mark.case("verifiers:A17.8")
@pytest.mark.case("verifiers:A17.21")
def test_refusals(bench: Bench, models: Models) -> None:
    """Each with exit 1 and its reason, before anything is sent."""
    bench.write(".ai-rulez/rules/secret.md", f"# S\n\nUse {SECRET}.\n")
    bench.write(".ai-rulez/rules/split.md", f"# S\n\nUse {SECRET[:9]}\u200b{SECRET[9:]}.\n")
    off = "LLM use is off (pass --allow-llm to evaluate llm verifiers)"
    refusals = (
        (bench.suggest(allow=False), off),
        (bench.suggest(allow_network="0"), "LLM use is off ([llm] allow_network is not enabled in the user config"),
        (bench.suggest(item="ghost"), 'the rule "ghost" does not exist'),
        (bench.suggest("--estimate", item="ghost"), 'the rule "ghost" does not exist'),
        (bench.suggest("--kind", "skill"), 'the skill "store" does not exist'),
        (bench.suggest("--kind", "hook"), 'unknown --kind "hook"'),
        (bench.suggest(item="secret"), 'the rule "secret" contains credential-looking text, so it is not sent'),
        (bench.suggest(item="split"), 'the rule "split" contains credential-looking text, so it is not sent'),
        (bench.suggest("--write", "--estimate"), "--write and --estimate cannot be combined: an estimate calls"),
        (bench.suggest("--max-cost", "0.001"), "the worst-case cost $"),
    )
    for done, reason in refusals:
        assert (done.code, done.out) == (1, ""), reason
        assert done.err.startswith(f"error: {reason}")
        assert SECRET not in done.err
    assert models.heard == []


@pytest.mark.case("verifiers:A17.9")
@pytest.mark.case("verifiers:A17.21")
def test_estimate(bench: Bench, models: Models) -> None:
    """Names what would be sent, with its bound; nothing is, and no permission is needed."""
    done = bench.suggest("--estimate", allow=False)
    assert done.code == 0
    first, _, text = done.out.split("\n", 2)
    assert first == 'Verifier suggestions for rule "store" (.ai-rulez/rules/store.md)'
    assert text.startswith("estimate: 1 call to openai/m1, about ")
    assert "(nothing was sent). It would send the rule text (" in text
    assert text.endswith("bytes) and the repository layout: 1 directory names and 1 file extensions.\n")
    assert models.heard == []
    document = json.loads(bench.suggest("--estimate", "--format", "json", allow=False).out)
    assert (document["proposals"], document["estimate"]) == (None, text.rstrip("\n"))


@pytest.mark.case("verifiers:A17.18")
def test_replay(bench: Bench) -> None:
    """The commits that a candidate would have flagged are named."""
    bench.repo.commit("adds a hack")
    bench.write("src/c.go", "package c\n")
    bench.repo.commit("adds c")
    done = bench.suggest()
    assert "# replay: would have flagged 1 of 2 merged diff(s) (" in done.out
    assert " adds a hack)\n" in done.out
    assert "# replay:" not in bench.suggest("--replay", "0").out


def test_a_dead_service(bench: Bench) -> None:
    """Is told, without the key."""
    done = bench.suggest(base_url="http://127.0.0.1:9/v1")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: model call failed: ")
