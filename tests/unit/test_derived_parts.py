"""Which rule each part of a text belongs to."""

import pytest

from kbnf_core import Grammar
from kbnf_core.examples.coverage import Derivations, Part

STEPS = 100_000
SUM = 'start ::= term ("+" term)*; term ::= #"[0-9]+" | "(" start ")";'


def parts(grammar: str, text: str) -> list[tuple[str, str]] | None:
    """Return the parts of a text, each with its path."""
    data = text.encode()
    found = Derivations(Grammar(grammar).rules).parts(data, STEPS)
    if found is None:
        return None
    assert [part.start for part in found] == [0, *(part.end for part in found)][: len(found)]
    return [(data[part.start : part.end].decode(), ">".join(part.rules)) for part in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("1+23", [("1", "start>term"), ("+", "start"), ("23", "start>term")]),
        ("(", [("(", "start>term")]),
        (
            "(1+",
            [("(", "start>term"), ("1", "start>term>start>term"), ("+", "start>term>start")],
        ),
    ],
)
def test_texts_and_their_beginnings(text: str, wanted: list[tuple[str, str]]) -> None:
    assert parts(SUM, text) == wanted


@pytest.mark.parametrize("text", ["+", "1+)", "x"])
def test_what_begins_no_text_has_no_parts(text: str) -> None:
    assert parts(SUM, text) is None


def test_a_terminal_may_be_unfinished() -> None:
    grammar = 'start ::= word "!"; word ::= "true" | #"[0-9]{4}";'
    assert parts(grammar, "tr") == [("tr", "start>word")]
    assert parts(grammar, "12") == [("12", "start>word")]
    assert parts(grammar, "1234") == [("1234", "start>word")]


def test_recursion_of_any_depth_has_short_paths() -> None:
    grammar = 'start ::= "[" start "]" | item; item ::= "x";'
    text = "[" * 2_000 + "x"
    assert parts(grammar, text) == [("[" * 2_000, "start"), ("x", "start>item")]
    left = 'start ::= list; list ::= list "," item | item; item ::= "x"; (* kbnf: finish=eos *)'
    found = parts(left, "x" + ",x" * 500)
    assert found is not None
    assert {path for _, path in found} == {"start>list", "start>list>item"}


def test_a_cycle_of_rules_ends() -> None:
    assert parts('start ::= start | "" | a; a ::= start | "x";', "x") is not None


def test_too_much_work_is_given_up() -> None:
    grammar = Derivations(Grammar("start ::= start start | 'a';").rules)
    assert grammar.parts(b"a" * 50, 1_000) is None
    assert grammar.parts(b"a", 1_000) == (Part(0, 1, ("start",)),)
