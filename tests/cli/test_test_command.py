"""``kbnf test``."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

import kbnf_cli
from kbnf_testing.command import Kbnf, Write

GRAMMARS = Path(__file__).resolve().parents[2] / "grammars"
SCHEMA = json.loads(
    (Path(kbnf_cli.__file__).parent / "schemas" / "test.schema.json").read_text(encoding="utf-8")
)
GRAMMAR = 'start ::= "a" | "b" "c";\n'


@pytest.fixture
def grammar(write: Write) -> Path:
    """Write a grammar, two of whose seven examples fail and one of which is skipped."""
    write(
        "g.examples.toml",
        """
        accept = ["a", "b", "bc"]
        reject = [{ text = "", why = "empty" }, { text = "a", why = "wrong" }]
        next = [{ after = "b", allowed = ["c"], rejected = ["cc"] }]
        """,
    )
    return write("g.kbnf", GRAMMAR)


FAILURES = """\
g.kbnf: 2 failed, 1 skipped, 4 passed
  failed accept accept[1] "b": it is not complete: more has to follow
  failed reject reject[1] "a" (wrong): it is accepted
  skipped next next[0].rejected[0] "cc" after "b": the vocabulary has no token b'cc'
"""


@pytest.mark.parametrize("arguments", [("g.kbnf",), (".",), ()])
def test_text(kbnf: Kbnf, grammar: Path, arguments: tuple[str, ...]) -> None:
    result = kbnf("test", *arguments)
    assert (result.status, result.out) == (1, FAILURES)


def test_json(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("test", "--format", "json", "--coverage", grammar)
    value = json.loads(result.out)
    Draft202012Validator(SCHEMA).validate(value)
    assert result.status == 1
    assert value["summary"] == {"errors": 0, "failed": 2, "passed": 4, "skipped": 1}
    assert value["grammars"][0]["cases"][1]["offset"] == 1
    assert value["grammars"][0]["coverage"]["unused_alternatives"] == []
    assert kbnf("test", "--format", "json", "--coverage", grammar).out == result.out


def test_junit(kbnf: Kbnf, grammar: Path, write: Write) -> None:
    write("bad.kbnf", "start ::= b;")
    result = kbnf("test", "--format", "junit", ".")
    root = ElementTree.fromstring(result.stdout)  # noqa: S314 - our own
    counts = [
        [suite.get(key) for key in ("name", "tests", "failures", "skipped")] for suite in root
    ]
    assert counts == [["bad.kbnf", "1", "1", "0"], ["g.kbnf", "7", "2", "1"]]
    failed = root.findall("./testsuite/testcase/failure")
    assert [each.get("message") for each in failed] == [
        "bad.kbnf:1:11: E101 the nonterminal `b` is not defined",
        "it is not complete: more has to follow",
        "it is accepted",
    ]


def test_examples_in_comments_and_coverage(kbnf: Kbnf) -> None:
    text = f"{GRAMMAR}(* kbnf: accept 'a' *) (* kbnf: reject 'b' *)"
    result = kbnf("test", "-", "--coverage", "--stdin-filename", "x.kbnf", stdin=text.encode())
    assert (result.status, result.out) == (
        0,
        "x.kbnf: 2 passed\n  used: 1 of 1 rules, 1 of 2 alternatives\n"
        '  unused alternative of start: "b" "c" at x.kbnf:1:17\n',
    )


def test_a_vocabulary(kbnf: Kbnf, write: Write) -> None:
    write("g.kbnf", GRAMMAR)
    write("g.examples.toml", "next = [{ allowed = ['bc', 0], rejected = ['ca', 2] }]")
    vocabulary = write("v.json", '{"0": "a", "1": "bc", "2": "ca"}')
    assert kbnf("test", "--vocab", vocabulary).out == "g.kbnf: 4 passed\n"


@pytest.mark.parametrize(("options", "status"), [((), 0), (("--start", "b"), 1)])
def test_start(kbnf: Kbnf, write: Write, options: tuple[str, ...], status: int) -> None:
    write("g.kbnf", "start ::= 'a'; b ::= 'b'; (* kbnf: accept 'a' *)")
    assert kbnf("test", *options).status == status


def test_finish(kbnf: Kbnf, write: Write) -> None:
    write("g.kbnf", "start ::= 'a'+; (* kbnf: accept 'aa' *)")
    assert kbnf("test").status == 1
    assert kbnf("test", "--finish", "eos").status == 0


def test_recorded_sessions_are_named(kbnf: Kbnf, write: Write) -> None:
    write("g.kbnf", f"{GRAMMAR}(* kbnf: accept 'a' *)")
    for name in ("g.play.jsonl", "g.second.play.jsonl", "gg.play.jsonl"):
        write(name, "{}")
    result = kbnf("test")
    assert (result.status, result.out) == (0, "g.kbnf: 1 passed\n")
    notes = result.stderr.splitlines()
    assert [each.partition(":")[0] for each in notes] == [
        "g.play.jsonl is not run",
        "g.second.play.jsonl is not run",
    ]
    assert all("`:assert`" in each and "`kbnf play g.kbnf < SCRIPT`" in each for each in notes)


def test_a_grammar_with_errors_fails(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("test", write("g.kbnf", "start ::= b;"))
    assert result.status == 1
    assert result.out.startswith("g.kbnf: error\nerror[E101]")


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ("accept = [", "g.examples.toml: "),
        ("accept = [1]", "g.examples.toml: accept[0] is not a text or a table"),
        (b"\xff", "cannot read g.examples.toml: it is not UTF-8"),
    ],
)
def test_malformed_examples(kbnf: Kbnf, write: Write, examples: str | bytes, message: str) -> None:
    write("g.kbnf", GRAMMAR)
    write("g.examples.toml", examples)
    result = kbnf("test")
    assert (result.status, result.out) == (2, "")
    assert result.stderr.startswith(f"error: {message}")


def test_no_examples_at_all(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("test", write("g.kbnf", GRAMMAR))
    assert result.status == 0
    assert "no examples" in result.stderr


def test_grammars_of_this_project(kbnf: Kbnf) -> None:
    result = kbnf("test", GRAMMARS)
    assert result.status == 0
    assert len(result.out.splitlines()) == len(list(GRAMMARS.glob("*.kbnf")))


def test_coverage_counts_the_rules_of_the_author(kbnf: Kbnf, write: Write) -> None:
    text = 'start: "a" x\n%ignore WS\nWS: " "+\nx: "b" | "c" last?\nlast: "d"\n'
    grammar = write("h.lark", text)
    write("h.examples.toml", '[[accept]]\ntext = "a b"\n')
    assert kbnf("test", "--coverage", grammar, write("none.gbnf", 'root ::= "a"\n')).out == (
        "h.lark: 1 passed\n"
        "  used: 2 of 3 rules, 1 of 2 alternatives\n"
        "  unused rule: last\n"
        '  unused alternative of x: "c" last? at h.lark:4:10\n'
        "none.gbnf: no examples\n"
    )
