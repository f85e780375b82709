"""Grammars without any finite text: what can go on for ever is viable, and nothing else."""

import pytest

from kbnf_core import Config, Engine, Grammar, Vocabulary, check, convert
from kbnf_core.mask.completion import Completion
from kbnf_core.text.errors import EmptyGrammarError, GrammarError, RejectedError

_BYTES = Vocabulary.bytes()


@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
@pytest.mark.parametrize(
    ("grammar", "viable", "others"),
    [
        ("start ::= 'a' start;", ["a", "aaaa"], ["b", "ab"]),
        ("start ::= 'ab' start | 'c' start;", ["aba", "cab"], ["aa", "b"]),
        ("start ::= 'a' start 'b' | start 'c';", ["aa"], ["ab", "c", "ac"]),
        ("start ::= {'a'} dead; dead ::= dead 'b';", ["aaa"], ["b", "ab"]),
        ("start ::= #'a*b+' dead; dead ::= dead;", ["aab", "bb"], ["ba"]),
        ("start ::= #'(ab)*c' dead; dead ::= dead;", ["aba"], ["c", "abc"]),
        ("start ::= 'x' list dead; list ::= 'a' list | 'b'; dead ::= dead;", ["xaa"], ["xb"]),
        ("start ::= list start; list ::= 'a' list | 'b';", ["aabab", "b"], ["c"]),
        ("start ::= 'ab' tail; tail ::= 'c'+ tail;", ["ab", "abcc"], ["aa", "abd"]),
        ("start ::= ('a' start){2,3} | 'b' start?;", ["ab"], []),
    ],
    ids=repr,
)
def test_viable(grammar: str, finish: str, viable: list[str], others: list[str]) -> None:
    read = Grammar(grammar, finish=finish)
    for text in viable:
        engine = Engine(read, _BYTES)
        engine.try_accept_new_bytes(text.encode())
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        assert allowed
        for token in allowed:
            engine.try_accept_new_token(token)
            engine.rollback()
    for text in others:
        with pytest.raises(RejectedError):
            Engine(read, _BYTES).try_accept_new_bytes(text.encode())


@pytest.mark.parametrize(
    "grammar",
    [
        "start ::= start 'a';",
        "start ::= start;",
        "start ::= 'a' x; x ::= '' x;",
        "start ::= 'a' x; x ::= x 'b';",
        "start ::= dead start; dead ::= dead 'a';",
        "start ::= ('a' dead){3}; dead ::= dead;",
        # The empty text ends, and is nothing to generate.
        "start ::= '' | 'a' tail; tail ::= 'b' tail;",
        "start ::= ('a' x)?; x ::= 'b' x;",
        "start ::= {'a' start dead}; dead ::= 'b' dead;",
    ],
)
def test_nothing_goes_on(grammar: str) -> None:
    with pytest.raises(EmptyGrammarError):
        Grammar(grammar)


def test_there_is_no_end() -> None:
    engine = Engine("start ::= 'ab' start;", _BYTES, Config(finish="eos"))
    assert engine.shortest_completion() == Completion(None, None, True)
    assert engine.forced_bytes(5) == b"ababa"
    assert not engine.can_finish()


def test_check_warns_once() -> None:
    assert [each.code for each in check("start ::= 'a' start | 'b' start;")] == ["W308"]


@pytest.mark.parametrize("converter", [convert.to_gbnf, convert.to_lark])
def test_other_languages_cannot_keep_it(converter: object) -> None:
    assert callable(converter)
    with pytest.raises(GrammarError, match="E105"):
        converter("start ::= 'a' start;")
