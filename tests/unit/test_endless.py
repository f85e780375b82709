"""Grammars without any finite text: what can go on for ever is viable, and nothing else."""

import pytest

from kbnf_core import Config, Engine, Grammar, Vocabulary, check, convert
from kbnf_core.diff import Relation, compare
from kbnf_core.examples.sampling import Samples, sample_texts
from kbnf_core.lint import LintOptions
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
    assert engine.shortest_completion() == Completion(None, None)
    assert engine.forced_bytes(5) == b"ababa"
    assert not engine.can_finish()


def test_check_warns_once() -> None:
    assert [each.code for each in check("start ::= 'a' start | 'b' start;")] == ["W308"]


@pytest.mark.parametrize(
    ("grammar", "tokens", "codes"),
    [
        ("start ::= 'a' start;", ["a"], ["W308"]),
        ("start ::= 'a' start;", ["b"], ["E601", "W308", "W603"]),
        ("start ::= 'ab' 'c' start | 'b' start;", ["ab"], ["E601", "W308", "W603"]),
        ("start ::= 'ab' 'c' start | 'b' start;", ["ab", "b"], ["W308", "W603"]),
        # Ever new states: the search ends where that is far enough.
        ("start ::= '(' start ')';", ["("], ["W308"]),
    ],
    ids=repr,
)
def test_check_with_a_vocabulary_agrees(grammar: str, tokens: list[str], codes: list[str]) -> None:
    vocabulary = Vocabulary(dict(enumerate(each.encode() for each in tokens)))
    found = check(grammar, options=LintOptions(vocabulary=vocabulary))
    assert [each.code for each in found] == codes


def test_there_is_no_sample() -> None:
    engine = Engine("start ::= 'a' start | 'b' tail; tail ::= 'c' tail;", _BYTES)
    assert sample_texts(engine, 5, seed=0, length=8) == Samples((), 0, 0)


EQUAL, SUBSET, DIFFERENT = Relation.EQUAL, Relation.SUBSET, Relation.DIFFERENT


@pytest.mark.parametrize(
    ("old", "new", "relation", "witness"),
    [
        ("start ::= 'a' start;", "start ::= 'a' x; x ::= 'aa' x;", EQUAL, None),
        ("start ::= 'a' start;", "start ::= 'a' start | 'b' start;", SUBSET, b"b"),
        ("start ::= 'a' start;", "start ::= 'b' start;", DIFFERENT, b"b"),
        ("start ::= {'a'} x; x ::= x;", "start ::= 'a' start;", EQUAL, None),
        ("start ::= #'a*b+' x; x ::= x;", "start ::= 'a' start | y; y ::= 'b' y;", EQUAL, None),
        ("start ::= '(' start ')';", "start ::= '(' start;", EQUAL, None),
        ("start ::= ('a'{2,3} 'b') start;", "start ::= ('aa' 'b') start;", DIFFERENT, None),
        ("start ::= #token[3] 'a' start;", "start ::= #token[3] start;", DIFFERENT, None),
    ],
    ids=repr,
)
def test_viable_prefixes_are_compared(
    old: str, new: str, relation: Relation, witness: bytes | None
) -> None:
    found = compare(Grammar(old), Grammar(new))
    if relation is DIFFERENT and witness is None:
        assert found.relation in (DIFFERENT, SUBSET, Relation.SUPERSET)
    else:
        assert (found.relation, found.new_only.data) == (relation, witness)
    assert found.of_prefixes
    assert found.notes == ("no text of either ever ends, so their viable prefixes are compared",)


def test_nothing_of_an_endless_grammar_is_a_text_of_another() -> None:
    found = compare(Grammar("start ::= 'a' start;"), Grammar("start ::= 'ab';"))
    assert (found.relation, found.new_only.data, found.of_prefixes) == (SUBSET, b"ab", False)
    assert found.notes == ("no text of the first ever ends",)


@pytest.mark.parametrize(
    ("grammar", "gbnf"),
    [
        ("start ::= 'a' start;", 'root ::= "a" root\n'),
        ("start ::= start 'b' | 'a' start;", 'root ::= "a" root\n'),
        (
            "start ::= 'a' x 'b'; x ::= 'c' x | dead; dead ::= dead;",
            'root ::= "a" x\nx ::= "c" x\n',
        ),
        ("start ::= word start | 'b' dead; word ::= 'a'+; dead ::= dead 'c';", None),
        ("start ::= #'a*b' #e'.*c' start;", None),
    ],
    ids=repr,
)
def test_gbnf_keeps_it(grammar: str, gbnf: str | None) -> None:
    converted = convert.to_gbnf(grammar)
    assert converted.exact
    assert gbnf in (None, converted.text)
    found = compare(Grammar(grammar), Grammar.from_gbnf(converted.text))
    assert (found.relation, found.of_prefixes) == (EQUAL, True)


@pytest.mark.parametrize(
    ("grammar", "lark"),
    [
        ("start ::= 'a' start;", 'start: "a" start\n'),
        ("start ::= 'ab' start | 'c' start;", 'start: "ab" start | "c" start\n'),
        ("start ::= {'a'} dead; dead ::= dead 'b';", None),
        ("start ::= 'x' list dead; list ::= 'a' list | 'b'; dead ::= dead;", None),
        ("start ::= list start; list ::= 'a' list | 'b';", None),
        ("start ::= 'ab' tail; tail ::= 'c'+ tail;", None),
        ("start ::= #'[a-z]+' ' ' start;", '%llguidance {}\nstart: /[a-z]+/ " " start\n'),
    ],
    ids=repr,
)
def test_lark_keeps_it(grammar: str, lark: str | None) -> None:
    converted = convert.to_lark(grammar)
    assert converted.exact
    assert lark in (None, converted.text)
    found = compare(Grammar(grammar), Grammar.from_lark(converted.text))
    assert (found.relation, found.of_prefixes) == (EQUAL, True)


def test_a_pattern_that_loops_before_a_dead_end_is_no_lark() -> None:
    with pytest.raises(GrammarError, match=r"E105.* can be written in Lark"):
        convert.to_lark("start ::= #'a*b' dead; dead ::= dead 'b';")


LOOPS_BEFORE_A_DEAD_END = [
    "start ::= {'a'} dead; dead ::= dead 'b';",
    "start ::= #'a*b' dead; dead ::= dead 'b';",
    "start ::= 'x' {'a'} dead | 'y' start; dead ::= dead 'b';",
    "start ::= 'x' #'a*b' dead | 'y' start; dead ::= dead 'b';",
    "start ::= 'x' {'a' | 'bc'} dead | #'[a-z]+' ' ' start; dead ::= dead 'b';",
    "start ::= 'x' list 'z' dead; list ::= 'k' list | 'm' {'l'} | ''; dead ::= dead 'b';",
]


@pytest.mark.parametrize("grammar", LOOPS_BEFORE_A_DEAD_END)
@pytest.mark.parametrize("to_lark", [False, True])
def test_what_loops_before_a_dead_end_is_kept(grammar: str, to_lark: bool) -> None:
    if to_lark and "*b" in grammar:
        with pytest.raises(GrammarError, match=r"E105.* can be written in Lark"):
            convert.to_lark(grammar)
        return
    converted = convert.to_lark(grammar) if to_lark else convert.to_gbnf(grammar)
    read = Grammar.from_lark if to_lark else Grammar.from_gbnf
    assert converted.exact
    found = compare(Grammar(grammar), read(converted.text))
    assert (found.relation, found.of_prefixes) == (EQUAL, True)
