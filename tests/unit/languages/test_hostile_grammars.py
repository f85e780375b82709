"""Grammars of other tools that are too large, too deep or circular: one message each, in time."""

import json

import pytest

from kbnf_core import Grammar, GrammarError, check
from kbnf_core.languages import ANTLR, EBNF, TREE_SITTER, Language
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.files import Imports

LONG = "a" * 10_000_000
DEEP = 5_000
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
        (ANTLR, "grammar A; s : X EOF; " + "X : 'x' -> more; " * 2, "E451"),
        (TREE_SITTER, tree_sitter("?").replace('"?"', '{"type":"FIELD","content":' * DEEP), "E001"),
        (TREE_SITTER, tree_sitter({"type": "SEQ", "members": [EXTERNAL] * DEEP}), "E451"),
        (EBNF, f"s = {'(' * DEEP}'a'{')' * DEEP};", "E012"),
        (EBNF, f"<s> ::= {'{ ' * DEEP}a{' }' * DEEP}", "E012"),
        (EBNF, f"s = '{LONG}", "E004"),
    ],
)
def test_one_message(language: Language, text: str, code: str) -> None:
    findings = check(text, language=language)
    assert [each.code for each in findings if each.severity is Severity.ERROR] == [code]


def test_imports_in_a_circle() -> None:
    files = {"a.g4": "grammar a; import b; s : t;", "b.g4": "grammar b; import a; t : 'x';"}
    imports = Imports(files.get)
    assert not check(files["a.g4"], "a.g4", imports=imports)
