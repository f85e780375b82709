"""Which dialect a Lark file is in: by its constructs, by what is asked for, or by who reads it."""

import json
import time

import pytest

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary, check
from kbnf_core.convert import from_lark
from kbnf_core.languages import LARK
from kbnf_testing.data import PATCH
from kbnf_testing.membership import Language

TEXT = PATCH.read_text("utf-8")
ADDED = "*** Begin Patch\n*** Make: a.py\n+x\n+\n*** End Patch\n"
CHANGED = "*** Begin Patch\n*** Edit: a.py\n@@ def f\n-x\n y\n+\n*** End Patch"


def test_a_file_that_lark_refuses_and_llguidance_reads_is_llguidances() -> None:
    grammar = Grammar.from_lark(TEXT)
    found = Language(grammar.to_kbnf())
    assert found.has(ADDED)
    assert found.has(CHANGED)
    assert not found.has(ADDED.replace("+x", "x"))
    (note,) = grammar.diagnostics
    assert note.code == "I421"
    assert "can be empty, which Lark refuses" in note.message
    assert TEXT[note.span.start : note.span.end] == "/(.*)/"


def test_what_says_its_dialect_has_no_note() -> None:
    marked = Grammar.from_lark(f"%llguidance {{}}\n{TEXT}")
    asked = Grammar.from_lark(TEXT, lexing="llguidance")
    assert marked.diagnostics == asked.diagnostics == ()
    plain = Grammar.from_lark(TEXT).to_kbnf()
    assert marked.to_kbnf() == asked.to_kbnf() == plain
    with pytest.raises(GrammarError, match="which Lark refuses"):
        Grammar.from_lark(TEXT, lexing="earley")


def test_what_neither_reads_is_lark_with_its_errors() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark('start: a /(.*)/ missing\na: "x"')
    assert {each.code for each in caught.value.diagnostics} == {"E101", "E421"}


@pytest.mark.parametrize("lexing", ["earley", "lalr"])
def test_conditions_of_llguidance_are_findings_under_larks_lexers(lexing: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_lark(
            'start: p::0\np::_: "X" %if is_ones([0:3])\n  | "a" p::set_bit(0)\n', lexing=lexing
        )
    assert {finding.code for finding in caught.value.diagnostics} == {"E421"}


def test_a_file_that_lark_reads_stays_larks() -> None:
    assert [each.code for each in check('start: /a+/ "b"', "x.lark")] == []
    assert from_lark('start: /a+/ "b"').exact


# Alternatives

MANY = 10_000


def options(number: int) -> str:
    return " | ".join(f'"option-{index:05d}"' for index in range(number))


@pytest.mark.parametrize(
    "rules",
    ["start: {}", "start: A\nA: {}", 'start: ({}) " " NAME\nNAME: /[a-z]+/', "start: ({})+"],
)
def test_thousands_of_texts_to_choose_from_are_one_trie(rules: str) -> None:
    text = "%llguidance {}\n" + rules.replace("{}", options(MANY))
    start = time.process_time()
    grammar = Grammar.from_lark(text)
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"option-09999")
    # At rest it takes 0.5 s; before, 256 took more than 20,000,000 steps.
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("rules", "fits", "differs"),
    [
        # The longest text is the lexeme.
        ('start: ("a" | "ab") "b"', ["abb"], ["ab", "a", "b"]),
        ('start: ("a" | "ab" | "b")+', ["ab", "aab", "ba"], [""]),
        ('start: ("if" | "else") NAME\nNAME: /[a-z]+/', ["ifx"], ["if"]),
        ('start: a "c"\na: "a" | "\\u00e9" | "\\""', ["ac", "éc", '"c'], ["c"]),
        ('start: "A"i | "b"', ["a", "A", "b"], ["B"]),
        ('start: "" | "b"', ["", "b"], ["bb"]),
    ],
)
def test_a_trie_is_what_its_texts_are(rules: str, fits: list[str], differs: list[str]) -> None:
    found = Language(from_lark(f"%llguidance {{}}\n{rules}").text)
    assert [each for each in fits if not found.has(each)] == []
    assert [each for each in differs if found.has(each)] == []


def test_a_choice_of_texts_is_written_as_one() -> None:
    written = from_lark('%llguidance {}\nstart: "a" | "b" "c" | "d"\nx: "e"').text
    assert "'a' | 'b' 'c' | 'd'" in written
    assert "'a' | 'b'" in from_lark('%llguidance {}\nstart: ("a" | "b") "c"').text
    assert LARK.write is not None


# Schemas in Lark

REFUSED = {"type": "object", "propertyNames": {"pattern": "^a"}}


@pytest.mark.parametrize(
    ("reference", "is_refused"),
    [
        (None, False),
        ("#/$defs/plain", False),
        ("#/$defs/strange", True),
        ("#/$defs/on", True),
        ("#/$defs/str%61nge", True),
        ("#", False),
        ("#strange", True),
    ],
)
def test_keywords_in_definitions_count_where_a_reference_leads(
    reference: str | None, is_refused: bool
) -> None:
    held = {} if reference is None else {"$ref": reference}
    definitions = {
        "plain": {"type": "null"},
        "strange": {**REFUSED, "$anchor": "strange"},
        "on": {"items": {"$ref": "#/$defs/strange"}},
    }
    schema = {"type": "object", "properties": {"a": held}, "$defs": definitions}
    found = {each.message for each in check(f"start: %json {json.dumps(schema)}", "x.lark")}
    assert any("Unimplemented keys" in each for each in found) == is_refused
