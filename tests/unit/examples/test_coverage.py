"""Which rules and alternatives texts use."""

import pytest

from kbnf_core import Grammar
from kbnf_core.examples.cases import Coverage, cover
from kbnf_core.text.limits import Limits


def covered(text: str, *words: str) -> tuple[Coverage, list[str], list[str]]:
    grammar = Grammar(text, finish="eos")
    assert grammar.reading.grammar is not None
    found = cover(grammar.reading.grammar, [word.encode() for word in words])
    unused = [grammar.source.slice(each.span) for each in found.unused_alternatives]
    return found, list(found.unused_rules), unused


@pytest.mark.parametrize(
    ("grammar", "words", "unused_rules", "unused"),
    [
        ("start ::= 'a' | 'b';", ["a"], [], ["'b'"]),
        ("start ::= 'a' | 'b';", ["a", "b"], [], []),
        ("start ::= 'a' b; b ::= 'b' | 'c' | '';", ["ab", "a"], [], ["'c'"]),
        ("start ::= 'a' [b]; b ::= 'b' | 'c';", ["a"], ["b"], ["'b'", "'c'"]),
        ("start ::= start 'a' | 'b';", ["b"], [], ["start 'a'"]),
        ("start ::= start 'a' | 'b';", ["baaa"], [], []),
        ("start ::= ('a' | 'b' ('c' | 'd'))*;", ["bd"], [], ["'a'", "'c'"]),
        ("start ::= 'a'; start ::= 'b' | 'c';", ["c"], [], ["'a'", "'b'"]),
        ("start ::= 'a'{2} | 'a'{3};", ["aaa"], [], ["'a'{2}"]),
        ("start ::= 'a'{2,} | 'a'{,1} 'b';", ["aaa"], [], ["'a'{,1} 'b'"]),
        ("start ::= #'a+' | #'b*' 'c';", ["bbc"], [], ["#'a+'"]),
        ("start ::= a a 'x'; a ::= '' | 'y';", ["x"], [], ["'y'"]),
        ("start ::= except!(e) | 'x' 'x'; e ::= 'x' | 'y';", ["z"], [], ["'x' 'x'"]),
        ("start ::= #token'<t>' | 'x';", ["x"], [], ["#token'<t>'"]),
        ("start ::= 'a' | 'b'; other ::= 'c' | 'd';", ["a"], [], ["'b'"]),
    ],
)
def test_coverage(
    grammar: str, words: list[str], unused_rules: list[str], unused: list[str]
) -> None:
    assert covered(grammar, *words)[1:] == (unused_rules, unused)


def test_counts() -> None:
    found, _, _ = covered("start ::= a | 'b'; a ::= 'c';", "b")
    assert (found.rules, len(found.alternatives), found.given_up) == (("start", "a"), 2, 0)


def test_texts_with_too_many_derivations_are_given_up() -> None:
    grammar = Grammar("start ::= start start | 'a';", finish="eos")
    found = cover(grammar.rules, [b"a" * 30, b"aa"], limits=Limits(work=10_000))
    assert (found.given_up, found.unused_alternatives) == (1, ())


def test_the_tree_that_is_shown_counts() -> None:
    grammar = "start ::= a | b; a ::= 'x'; b ::= 'x';"
    assert covered(grammar, "x")[1:] == (["b"], ["b"])
