"""Random texts by derivation: ``kbnf_core.examples.sampling``."""

from collections import Counter

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import count_texts, sample_texts
from kbnf_core.text.errors import EngineError

EOS = "(* kbnf: finish=eos *) "

ANSWER = EOS + (
    'start ::= "The answer to the question is as follows: " ("yes" | "no") " with confidence "'
    ' #"[0-9]{2}" "%";'
)
CALL = EOS + (
    """start ::= '{"name": "' fn '", "arguments": {' (arg (", " arg)*)? '}}';"""
    """fn ::= "get_the_weather_of_today" | "get_the_weather_of_tomorrow";"""
    """arg ::= '"city": "' #"[A-Z][a-z]+" '"' | '"days_from_now_on": ' #"[1-9]";"""
)
CSV = (
    EOS
    + 'start ::= "name,number,other\n" row+; row ::= name "," n "," n "\n"; '
    + ('name ::= #"[a-z]+"; n ::= #"0|[1-9][0-9]*";')
)


def engine_of(text: str, vocabulary: Vocabulary | None = None) -> Engine:
    return Engine(Grammar(text), vocabulary or Vocabulary.bytes())


def texts_of(text: str, number: int = 40, length: int = 32) -> tuple[bytes, ...]:
    return sample_texts(engine_of(text), number, 1, length).texts


def test_fixed_text_costs_nothing() -> None:
    texts = texts_of(ANSWER, 150)
    assert len(texts) == 150
    assert {text.split()[8] for text in texts} == {b"yes", b"no"}


def test_alternatives_are_alike_and_optional_parts_come() -> None:
    texts = texts_of(CALL)
    words = (b"today", b"tomorrow", b"city", b"days")
    counted = Counter(word for text in texts for word in words if word in text)
    assert min(counted.values()) > 10
    assert 10 < sum(b"city" in text or b"days" in text for text in texts) <= 38


def test_the_first_loop_does_not_starve_the_last_field() -> None:
    texts = texts_of(CSV)
    assert len({len(text.splitlines()) for text in texts}) > 3
    last = {text.splitlines()[-1].rsplit(b",", 1)[1] for text in texts}
    assert len(last) > 20


def test_all_are_of_the_language_and_different() -> None:
    grammar = EOS + (
        'start ::= e; e ::= e ("+" | "*") e | "(" e ")" | #"[0-9]+" | word?; '
        'word ::= except!(";"){3};'
    )
    texts = texts_of(grammar, 60)
    assert len(set(texts)) == len(texts) == 60
    engine = engine_of(grammar)
    for text in texts:
        engine.reset()
        engine.try_accept_new_bytes(text) if text else None
        assert engine.can_finish()


def test_without_choices_the_shortest_way_is_taken() -> None:
    assert texts_of(EOS + 'start ::= "a"+ | start "b" start "c" | "xyz";', 20, 0) == (b"a",)
    assert texts_of(EOS + "start ::= #'[a-z]{2,9}x';", 1, 0)[0][2:] == b"x"


def test_a_rule_that_calls_itself_comes_to_an_end() -> None:
    assert texts_of(EOS + 'start ::= start | start start | "a";', 5, 16)


def test_an_eager_grammar_ends_a_text_as_generation_does() -> None:
    assert set(texts_of('start ::= #"[ab]+";', 9)) == {b"a", b"b"}


def test_tokens_are_written_by_name_and_what_cannot_be_spelled_is_left_out() -> None:
    vocabulary = Vocabulary({0: b"a", 1: b"ab"}, special_tokens={"<x>": 2})
    grammar = EOS + 'start ::= ("a" | "ab" | "b") #token[2]?;'
    texts = sample_texts(engine_of(grammar, vocabulary), 9, 0, 32).texts
    assert set(texts) == {b"a", b"ab", b"a<x>", b"ab<x>"}


def test_json_texts_repeat_no_name() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    engine = Engine(Grammar.from_json_schema(schema), Vocabulary.bytes())
    assert len(sample_texts(engine, 20, 0, 32).texts) == 20


@pytest.mark.parametrize(
    ("grammar", "number"),
    [('start ::= "a" | "b" #"[0-9]";', 11), ('start ::= "a"*;', None), ("start ::= #'[ab]?';", 3)],
)
def test_texts_are_counted_where_they_are_few(grammar: str, number: int | None) -> None:
    assert count_texts(engine_of(EOS + grammar), 20) == number


def test_texts_beyond_any_length_are_refused() -> None:
    rules = "".join(f"r{i} ::= r{i + 1} r{i + 1};" for i in range(60))
    with pytest.raises(EngineError, match="too many to show"):
        sample_texts(engine_of(f'{EOS} start ::= r0; {rules} r60 ::= "a";'), 1, 0, 8)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('start ::= "é" | "a" #"[é-ü]*" | #"[ü]+";', {b"a"}),
        ('start ::= ("é" | r){0,2}; r ::= #"[ab]é?";', {b"a", b"b", b"aa", b"ab", b"ba", b"bb"}),
        ('start ::= "é";', set()),
        ('start ::= "é" start | r; r ::= "ü" | "z" | #"[^a-z]"{2} "é";', {b"z"}),
    ],
)
def test_only_ascii_is_drawn(text: str, wanted: set[bytes]) -> None:
    drawn = sample_texts(engine_of(f"{EOS} {text}"), 20, 0, 32, ascii_only=True)
    assert set(drawn.texts) - {b""} == wanted
    assert drawn.total is None
