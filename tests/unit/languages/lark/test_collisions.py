"""W424: terminals that match one text, where Lark's strict mode refuses them."""

import pytest

from kbnf_core.convert import from_lark

COLLIDING = [
    ("start: A | B\nA: /[a-z]+/\nB: /[a-f0-9]+/", "`B` and `A` both match 'a'"),
    ("start: A | B\nA: /z(?=9)/\nB: /[a-z]+/", "`B` and `A` both match 'z' before '9'"),
    ("start: A | B\nA: /(?<!x)[ab]/\nB: /b|c/", "both match 'b'"),
    ("start: A | B\nA: /[α-ω]+/\nB: /\\w/", "both match 'α'"),
    ("start: A B?\nA: /x+/\nB: / x/\n%ignore / +x?/", "both match ' x'"),
]
APART = [
    "start: A | B\nA: /[a-z]+/\nB: /[0-9]+/",
    'start: A | B\nA: /[a-z]+/\nB: "if"',
    "start: A | B\nA.2: /[a-z]+/\nB: /[a-f0-9]+/",
    'start: A "b" | B "c"\nA: /a(?=b)/\nB: /a(?=c)/',
    'start: A "," B\nA: /[a-z]+/\nB: /[a-f0-9]+/',
    "start: A | B\nA: /a|ab/\nB: /ab/",
]


IGNORED = [
    ('start: WORD+\nWORD: /[a-z ]+/\n%ignore " "', '`WORD` matches the ignored `" "`, too'),
    ('start: A "\\n" | A\nA: /a/\n%ignore /\\s+/', 'the ignored `/\\s+/` matches `"\\n"`, too'),
]
"""What Lark's lexer drops, or does not, whatever the grammar seems to say."""


def collisions(grammar: str, lexing: str = "lalr") -> list[str]:
    notes = from_lark(grammar, lexing=lexing).notes
    return [note.message for note in notes if note.code == "W424"]


def is_refused_by_lark(grammar: str) -> bool:
    """Tell whether Lark's strict mode refuses the terminals."""
    import lark

    try:
        lark.Lark(grammar, parser="lalr", strict=True)
    except lark.exceptions.LexError:
        return True
    return False


@pytest.mark.parametrize(("grammar", "said"), IGNORED)
def test_a_string_and_a_pattern_of_which_one_is_ignored(grammar: str, said: str) -> None:
    (message,) = collisions(grammar)
    assert said in message
    assert (
        collisions(grammar.replace("%ignore /", "%ignore B\nB.1: /").replace("WORD:", "WORD.1:"))
        == []
    )


@pytest.mark.parametrize(("grammar", "said"), COLLIDING)
def test_a_collision_has_an_example(grammar: str, said: str) -> None:
    (message,) = collisions(grammar)
    assert said in message


@pytest.mark.parametrize("grammar", APART)
def test_terminals_that_no_text_has_in_common(grammar: str) -> None:
    assert collisions(grammar) == []


@pytest.mark.parametrize("grammar", [grammar for grammar, _ in COLLIDING[:2]] + APART[:5])
def test_strict_mode_of_lark_says_the_same(grammar: str) -> None:
    assert bool(collisions(grammar)) == is_refused_by_lark(grammar)


def test_where_interegular_falls_short() -> None:
    # It has no look-behind, reads classes as ASCII, and alternation without its order.
    assert not is_refused_by_lark(COLLIDING[2][0])
    assert not is_refused_by_lark(COLLIDING[3][0])
    assert is_refused_by_lark(APART[5])


def test_other_lexings_have_no_collisions() -> None:
    assert collisions(COLLIDING[0][0], "earley") == []
