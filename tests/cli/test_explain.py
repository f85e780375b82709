"""``kbnf explain``."""

import json

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.schemas import checked

GRAMMAR = """\
(* kbnf: finish=eos *)
start ::= "(" list? ")";
list ::= item ("," item){0,3};
item ::= #"\\\\d" | except!("x", 5) | #b'\\xff' | name;
name ::= #r"[a-z]+"+;
"""


def test_the_start_rule(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("explain", write("g.kbnf", GRAMMAR))
    assert result.status == 0
    assert result.out == (
        "g.kbnf:2:1\n"
        'start ::= "(" list? ")";\n'
        "\n"
        "one after the other:\n"
        "  - the text '('\n"
        "  - optional:\n"
        "    - list\n"
        "  - the text ')'\n"
        "\n"
        'shortest  "()"  "(0)"  "(a)"  "(x)"  "(A)"\n'
        'begins    "("\n'
        "followed  the end of the text\n"
        "used by   no rule\n"
    )
    assert result.stderr == "other rules: list, item, name\n"


def test_a_rule_and_its_regexes(kbnf: Kbnf, write: Write) -> None:
    out = kbnf("explain", write("g.kbnf", GRAMMAR), "item").out
    assert (
        "one of:\n  - what the regular expression \\d matches:\n    - a character of '0' to" in out
    )
    assert "  - a text without 'x' in it, of 5 bytes at most\n  - the bytes ff\n  - name\n" in out
    assert "\nregex     \\d\n" in out
    assert '\nfollowed  ")", ","\nused by   list\n' in out


def test_what_follows_through_recursion_and_loops(kbnf: Kbnf) -> None:
    grammar = b'start ::= a "!"? ; a ::= "x" a | b* ; b ::= "y";'
    for rule, expected in (("a", '"!", the end of the text'), ("b", '"!", "y", the end')):
        assert f"followed  {expected}" in kbnf("explain", "-", rule, stdin=grammar).out


@pytest.mark.parametrize(
    ("pattern", "seen"), [(r'#"\\d{3}"', r"\d{3}"), (r"#r'[\\/]'", r"[\\/]"), ("#'a|b'", "a|b")]
)
def test_a_pattern(kbnf: Kbnf, pattern: str, seen: str) -> None:
    result = kbnf("explain", pattern)
    assert (result.status, f"\nregex     {seen}\n" in result.out) == (0, True)


def test_codes_and_names_of_findings(kbnf: Kbnf, write: Write) -> None:
    page = kbnf("rule", "W301").out
    assert kbnf("explain", "W301").out == kbnf("explain", "never-reached-alternative").out == page
    write("W301", "start ::= 'a';")
    assert "the text 'a'" in kbnf("explain", "W301").out


def test_json(kbnf: Kbnf, write: Write) -> None:
    value = checked(
        "explain", kbnf("explain", write("g.kbnf", GRAMMAR), "name", "--format", "json").out
    )
    assert (value["rule"], value["used_by"], value["begins"]) == ("name", ["item"], [[97, 122]])
    assert [each["regex"] for each in value["regexes"]] == ["[a-z]+"]
    assert value["followed"] == {"bytes": [[41, 41], [44, 44]], "end": False}


def test_an_unknown_rule(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("explain", write("g.kbnf", GRAMMAR), "nam")
    assert (result.status, "did you mean `name`?" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    "grammar",
    ["start ::= #token[5];", 'start ::= "a" start;'],
)
def test_without_texts_of_bytes(kbnf: Kbnf, grammar: str) -> None:
    result = kbnf("explain", "-", stdin=grammar.encode())
    assert (result.status, "shortest  not known" in result.out) == (0, True)


@pytest.mark.parametrize("command", ["explain", "diagram"])
def test_a_schema_on_stdin_is_read_once(kbnf: Kbnf, command: str) -> None:
    schema = b'{"type": "object", "properties": {"flag": {"type": "boolean"}}}'
    result = kbnf(command, "-", "--from", "json-schema", stdin=schema)
    assert (result.status, "flag" in result.out) == (0, True)


def test_errors_are_findings(kbnf: Kbnf) -> None:
    result = kbnf("explain", '#"[a-"')
    assert (result.status, "E201" in result.stderr) == (1, True)
    assert kbnf("explain", "no.kbnf").status == 2


BNF = "<start>::=<except!([abc])>'.'\n<abc>::='a'|'b'\n"


def test_tokens_of_a_vocabulary_are_those_that_mask_takes(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.bnf", BNF)
    plain = kbnf("explain", grammar, "--format", "json")
    assert json.loads(plain.out)["begins"] == [[0, 96], [99, 255]]
    assert "name it with --vocab" in plain.stderr
    vocabulary = write("v.json", json.dumps({0: "c", 1: "ca", 2: "x", 3: ".", 4: "a"}))
    over = kbnf("explain", grammar, "--vocab", vocabulary, "--format", "json")
    value = json.loads(over.out)
    assert value["begins"] == [[46, 46], [99, 99], [120, 120]]
    assert {each["text"] for each in value["shortest"]} == {"..", "c.", "x."}
    assert "--vocab" not in over.stderr


def test_a_comparison_is_over_a_vocabulary(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.bnf", BNF)
    same = write("g.kbnf", "(* kbnf: finish=token *) start ::= ('x' | '.') '.';")
    vocabulary = write("v.json", json.dumps({0: "a", 1: "x", 2: "."}))
    assert kbnf("diff", grammar, same, "--vocab", vocabulary).status == 0
    result = kbnf("diff", grammar, same)
    assert result.status == 1
    assert "name it with --vocab" in result.stderr


def test_a_diagram_says_that_the_vocabulary_is_not_known(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("diagram", write("g.bnf", BNF), "-o", "out.svg")
    assert result.status == 0
    assert "W405" in result.stderr


SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "when": {"format": "date"},
    },
    "required": ["count"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("rule", ["start", "count", "name", "integer", "ws", "when"])
def test_a_schema_is_explained_as_its_text_is(kbnf: Kbnf, write: Write, rule: str) -> None:
    schema = write("a.schema.json", json.dumps(SCHEMA))
    text = write("a.kbnf", kbnf("convert", schema).out)
    ours = json.loads(kbnf("explain", schema, rule, "--format", "json").out)
    assert ours.pop("path") == f"{schema} (as KBNF)"
    theirs = json.loads(kbnf("explain", text, rule, "--format", "json").out)
    assert theirs.pop("path") == str(text)
    assert ours == theirs
