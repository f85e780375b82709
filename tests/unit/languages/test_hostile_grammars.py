"""Grammars of other tools that are too large, too deep or circular: one message each, in time."""

import json

import pytest

from kbnf_core import Grammar, GrammarError, check
from kbnf_core.languages import ANTLR, EBNF, TREE_SITTER, Language
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.files import Imports

LONG = "a" * 10_000_000
DEEP = 5_000
CODES = [f"CODE{number}" for number in range(DEEP)]
EXTERNALS = [{"type": "SYMBOL", "name": name} for name in CODES]
EXTERNAL = {"type": "SYMBOL", "name": "code"}


def tree_sitter(rule: object) -> str:
    return json.dumps({"name": "g", "rules": {"s": rule}, "externals": [EXTERNAL]})


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (ANTLR, f"grammar A; s : X EOF; X : '{LONG}';"),
        (TREE_SITTER, tree_sitter({"type": "STRING", "value": LONG})),
        (EBNF, f"s = '{LONG}';"),
    ],
)
def test_a_text_of_ten_megabytes_has_too_many_states(language: Language, text: str) -> None:
    grammar = Grammar.read(text, language)
    with pytest.raises(GrammarError) as raised:
        grammar.status("b")
    assert [finding.code for finding in raised.value.diagnostics] == ["E106"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (ANTLR, f"grammar A; s : 'a'; @members {{ {LONG} }}"),
        (EBNF, f"s = 'a'; (* {LONG} *)"),
    ],
)
def test_ten_megabytes_of_code_and_comments(language: Language, text: str) -> None:
    assert Grammar.read(text, language).status("a") == "fits"


@pytest.mark.parametrize(
    ("language", "text", "code"),
    [
        (ANTLR, f"grammar A; s : {'(' * DEEP}'a'{')' * DEEP};", "E012"),
        (ANTLR, f"grammar A; s : 'a'; /* {LONG}", "E001"),
        (ANTLR, f"grammar A; @members {{{LONG}", "E010"),
        (ANTLR, "grammar A; s : X EOF; " + "X : 'x' -> more; " * 100, "E451"),
        (ANTLR, f"grammar A; s : {' '.join(CODES)}; tokens {{ {', '.join(CODES)} }}", "E451"),
        (TREE_SITTER, tree_sitter("?").replace('"?"', '{"type":"FIELD","content":' * DEEP), "E001"),
        (TREE_SITTER, tree_sitter({"type": "SEQ", "members": [EXTERNAL] * DEEP}), "E451"),
        (TREE_SITTER, tree_sitter({"type": "SEQ", "members": EXTERNALS}), "E451"),
        (TREE_SITTER, tree_sitter({"type": "SEQ", "members": [{"type": "NEW"}] * DEEP}), "E451"),
        (EBNF, "s = " + " | ".join(f"? {name} ?" for name in CODES) + ";", "E451"),
        (EBNF, "s = " + "('(', s, ')') - 'x' | " * 50 + "'y';", "E451"),
        (EBNF, f"s = {'(' * DEEP}'a'{')' * DEEP};", "E012"),
        (EBNF, f"<s> ::= {'{ ' * DEEP}a{' }' * DEEP}", "E012"),
        (EBNF, f"s = '{LONG}", "E004"),
    ],
)
def test_one_message(language: Language, text: str, code: str) -> None:
    findings = check(text, language=language)
    assert [each.code for each in findings if each.severity is Severity.ERROR] == [code]


def test_many_findings_of_a_kind_are_one_that_names_the_next_ones() -> None:
    source = tree_sitter({"type": "SEQ", "members": [*EXTERNALS, *EXTERNALS]})
    [finding] = [each for each in check(source, language=TREE_SITTER) if each.code == "E451"]
    assert finding.message == "`CODE0` is scanned by code"
    assert finding.span.start == source.index('{"type": "SYMBOL"')
    names = ", ".join(f"`{name}`" for name in CODES[1:6])
    assert finding.notes == (f"and 9,999 more of this kind: {names} and 4994 more",)


def test_what_is_left_out_is_not_written_twice() -> None:
    source = f"s = ? one ? | ? {'two ' * 100_000}? | 'a';"
    findings = check(source, language=EBNF)
    assert [each.code for each in findings] == ["E451", "E451"]
    assert max(len(each.message) for each in findings) < 120


def test_a_few_findings_of_a_kind_are_at_their_places() -> None:
    source = "s = ? one ? | ? two ? | ? one ? | 'a';"
    findings = [each for each in check(source, language=EBNF) if each.code == "E451"]
    assert [each.span.start for each in findings] == [4, 14, 24]


def test_many_losses_of_a_kind_are_one() -> None:
    source = "grammar A; s : " + "{code()}? 'a' " * DEEP + "EOF;"
    grammar = Grammar.read(source, ANTLR, lossy=True)
    assert [loss.code for loss in grammar.losses] == ["W451"]
    assert grammar.losses[0].notes == ("and 4,999 more of this kind",)


def test_imports_in_a_circle() -> None:
    files = {"a.g4": "grammar a; import b; s : t;", "b.g4": "grammar b; import a; t : 'x';"}
    imports = Imports(files.get)
    assert not check(files["a.g4"], "a.g4", imports=imports)
