"""Which rules and alternatives texts use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbnf_core import Config, Engine, Grammar, Vocabulary
from kbnf_core.examples import derive
from kbnf_core.examples.coverage import Coverage, cover
from kbnf_core.examples.derive import build_graph, visited_states


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


def test_large_counts_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "MAX_STEPS", 100)
    assert covered("start ::= ('a' | 'b')*;", "ab" * 100)[0].given_up == 1


GRAMMARS = [
    "start ::= start 'a' | start 'b' start | '';",
    "start ::= ('a' start 'b')? | 'a'{2,3};",
    "start ::= x* y; x ::= 'a' | x 'b' | ''; y ::= x | #'ba*';",
    "start ::= [start] ('ab' | 'a') {'b'};",
]


@given(st.sampled_from(GRAMMARS), st.text("ab", min_size=1, max_size=7))
def test_a_text_has_a_derivation_if_the_engine_takes_it(text: str, word: str) -> None:
    grammar = Grammar(text, finish="eos")
    assert grammar.reading.grammar is not None
    engine = Engine(grammar, Vocabulary.bytes(), Config(finish="eos"))
    try:
        engine.try_accept_new_bytes(word.encode())
        taken = engine.can_finish()
    except ValueError:
        taken = False
    found = visited_states(build_graph(grammar.reading.grammar), "start", word.encode())
    assert bool(found) is taken
