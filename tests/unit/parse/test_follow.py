"""What engines know for certain of a text while it comes."""

import copy
import pickle

import pytest

from kbnf_core import ConfigError, Engine, Event, Grammar, Vocabulary
from kbnf_testing.counted import calls

LIST = Grammar(
    'start ::= "[" item { "," item } "]"; item ::= name | start; name ::= #"[a-z]+";'
    "(* kbnf: finish=eos *)"
)


def shown(events: list[Event]) -> str:
    return " ".join(
        f"{'+' if each.kind == 'open' else '-'}{each.rule}{each.offset}" for each in events
    )


def test_events_come_as_soon_as_they_are_certain() -> None:
    engine = Engine(LIST, Vocabulary.bytes())
    assert shown(engine.events()) == "+start0"
    said = []
    for byte in b"[ab,[":
        engine.try_accept_new_bytes(bytes([byte]))
        said.append(shown(engine.events()))
    assert said == ["+item1", "+name1", "", "-name3 -item3 +item4", "+start4 +item5"]
    assert engine.events() == []


def test_captures_are_the_texts_of_a_rule() -> None:
    engine = Engine(LIST, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"[ab,cd")
    assert engine.captures("name") == [b"ab"]
    engine.try_accept_new_bytes(b"e]")
    assert engine.captures("name") == [b"ab", b"cde"]
    with pytest.raises(ConfigError, match="no rule `nothing`"):
        engine.captures("nothing")


def test_at_the_end_all_events_have_come() -> None:
    engine = Engine(LIST, Vocabulary.bytes())
    events = engine.events()
    for byte in b"[a,[b,c]]":
        engine.try_accept_new_bytes(bytes([byte]))
        events += engine.events()
    engine.try_accept_new_token(256)
    assert engine.is_finished()
    assert events + engine.events() == list(LIST.parse("[a,[b,c]]").events())


def test_ambiguous_parts_are_held_back_until_the_end() -> None:
    grammar = Grammar('start ::= ws ws "a"; ws ::= #" *";')
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"  ")
    assert shown(engine.events()) == "+start0 +ws0"
    engine.try_accept_new_bytes(b"a")
    assert engine.is_finished()
    assert shown(engine.events()) == "-ws2 +ws2 -ws2 -start3"


def test_rollback_forgets_and_copies_go_on_alone() -> None:
    engine = Engine(LIST, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"[ab")
    first = engine.events()
    engine.try_accept_new_bytes(b",")
    twin = copy.copy(engine)
    assert shown(twin.events()) == "-name3 -item3 +item4"
    assert shown(engine.events()) == "-name3 -item3 +item4"
    engine.rollback()
    assert engine.events() == []
    engine.try_accept_new_bytes(b"]")
    assert shown(engine.events()) == "-name3 -item3 -start4"
    assert shown(first) == "+start0 +item1 +name1"
    assert twin.captures("name") == [b"ab"]
    engine.reset()
    assert shown(engine.events()) == "+start0"


def test_tokens_are_followed_by_id() -> None:
    grammar = Grammar(
        'start ::= #token"<call>" name #token"</call>"; name ::= #"[a-z]+"; (* kbnf: finish=eos *)'
    )
    vocabulary = Vocabulary(
        {0: b"ab", 1: b"c"}, special_tokens={"<call>": 3, "</call>": 4, "<eos>": 5}, eos_token_id=5
    )
    engine = Engine(grammar, vocabulary)
    for token in (3, 0, 1, 4):
        engine.try_accept_new_token(token)
    assert engine.captures("name") == [b"abc"]


def test_a_pickled_engine_begins_anew() -> None:
    engine = Engine(LIST, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"[a,")
    engine.events()
    again = pickle.loads(pickle.dumps(engine))  # noqa: S301 - its own
    assert again.captures("name") == [b"a"]


def test_the_end_counts_once_nothing_may_follow() -> None:
    grammar = Grammar('start ::= "a" one; one ::= "b"; (* kbnf: finish=eos *)')
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"ab")
    assert shown(engine.events()) == "+start0 +one1 -one2 -start2"


def test_what_is_certain_is_looked_for_from_the_last_place_that_all_derivations_share() -> None:
    grammar = Grammar('start ::= text? (call text?)*; text ::= except!("<e>"); call ::= "<e>" "x";')
    trace = grammar.parser.streamed_trace()
    for number in range(1, 300):
        trace.read(b"a")
        trace.certain_events()
        assert trace.front == number
        assert trace.settled >= number - 1
    trace.read(b"<e")
    trace.certain_events()
    # Here the text may have ended.
    assert trace.front == 299
    assert trace.settled >= 298
    trace.read(b">")
    assert [each.tolist() for each in trace.certain_events()] == [[~1, 2], [299, 299]]


def test_what_comes_before_a_grammar_is_looked_at_once() -> None:
    grammar = Grammar('start ::= "[" (#"[0-9]+" ",")* "]"; (* kbnf: finish=eos *)')
    tokens = {number: bytes([number]) for number in range(256)} | {300: b"k>[1,"}
    vocabulary = Vocabulary(tokens, eos_token_id=256)

    def follow(size: int) -> int:
        engine = Engine(grammar, vocabulary, after="</think>")
        engine.accept_tokens(b"x" * size + b"</thin")
        engine.try_accept_new_token(300)
        engine.accept_tokens(b"1," * size)
        engine.events()
        engine.values()

        def go_on(data: str) -> None:
            for byte in data.encode():
                engine.try_accept_new_token(byte)
                engine.events()
                engine.values()

        return calls(go_on, "1,1,1,")

    assert follow(400) < 1.3 * follow(20)


def test_the_rest_of_the_token_that_ends_what_comes_before() -> None:
    grammar = Grammar('start ::= "a"+ ";"; (* kbnf: finish=eos *)')
    tokens = {number: bytes([number]) for number in range(256)} | {300: b"-->aa", 301: b"> "}
    vocabulary = Vocabulary(tokens, eos_token_id=256)
    for before, rest in (([*b"x", 300], [b"aa"]), ([*b"--", 301], []), ([*b"-->"], [])):
        engine = Engine(grammar, vocabulary, after="-->")
        assert engine.accepted_by_grammar() == []
        assert engine.accept_tokens([*before, *b"aa"]) == len(before) + 2
        whole = [*rest, *b"aa"]
        assert [engine.accepted_by_grammar(start) for start in range(5)] == [
            whole[start:] for start in range(5)
        ]
        events = engine.events()
        engine.rollback(1)
        assert engine.accepted_by_grammar() == whole[:-1]
        assert engine.accept_tokens(b"a;") == 2
        assert events == [Event("open", "start", 0)]
        assert engine.captures("start") == [b"".join(rest) + b"aa;"]
