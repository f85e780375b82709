"""What must come, by both kernels over one automaton: the same bytes and the same tokens."""

from random import Random
from typing import cast

import pytest

from kbnf_core import Engine, Vocabulary
from kbnf_core.kernel import numpy_kernel
from kbnf_core.kernel.interface import Forced, Kernel
from kbnf_core.mask.forced import encoded
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.vocab.trie import longest_match

NUMPY = cast(Kernel, numpy_kernel)

GRAMMARS = {
    "a text": """start ::= '{"name": "' ('one' | 'oneself') '"}';""",
    "nested": "start ::= '[' start ']' | '12';",
    "complete on the way": "start ::= 'ab' 'cd'?;",
    "several bytes, one token": "start ::= 'a' #'[αβ]';",
    "parts of characters": "start ::= 'nameαα' ('α' | 'β' | 'ab');",
    "a class of two bytes": "start ::= 'a' #'[xy]' 'bcd';",
    "a token by its name": """start ::= 'ab' #token"abc" '12' 'ab';""",
    "a list": """start ::= '{' ('"name": "one' #'[a-c]'+ '"')+ '}';""",
}
TEXTS = (
    *("a", "b", "ab", "abc", "abcd", "{", '{"', "name", '":', '": ', '"', "one", "onese"),
    *("bc", "[[", "12]", "12", "α", "αβ", "x", "xy", "yb", "cd", "d", "c", "[", "]", "}", ":", " "),
)


def make_vocabulary() -> Vocabulary:
    listed = {place: text.encode() for place, text in enumerate(TEXTS)}
    vocabulary = Vocabulary(listed, eos_token_id=len(TEXTS))
    vocabulary._encode = lambda text: longest_match(vocabulary.trie, text.encode())
    return vocabulary


VOCABULARY = make_vocabulary()


def finder(kernel: Kernel, automaton: TokenAutomaton) -> Forced:
    vocabulary = automaton.masks.vocabulary
    return kernel.forced(automaton, kernel.texts(vocabulary, encoded(vocabulary)))


def spelled(ids: list[int]) -> list[str]:
    return [TEXTS[each] for each in ids]


@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_kernels_agree(compiled: Kernel, grammar: str, finish: str) -> None:
    engine = Engine(grammar, VOCABULARY, finish=finish)
    one, other = (finder(kernel, engine._automaton) for kernel in (compiled, NUMPY))
    random = Random(1)
    for _ in range(60):
        position, accepted = engine._position, [*engine.accepted]
        for limit in (100, 2, 0):
            found = one.find(position, accepted, limit)
            assert other.find(position, accepted, limit) == found
            assert len(found) <= limit
            data = one.bytes_from(position, limit)
            assert other.bytes_from(position, limit) == data
        engine.compute_allowed_token_ids()
        ids = engine.get_allowed_token_ids_from_last_computation()
        if not ids or len(accepted) > 20:
            engine.reset()
        elif ids[0] < len(TEXTS) and random.random() < 0.2:
            engine.try_accept_new_bytes(TEXTS[ids[0]].encode())
        else:
            engine.try_accept_new_token(random.choice(ids))


def test_the_last_token_ends_before_one_that_leads_on(kernel: Kernel) -> None:
    automaton = Engine("start ::= 'xab' ('c' | 'd');", VOCABULARY)._automaton
    forced = finder(kernel, automaton)
    assert forced.bytes_from(automaton.beginning, 100) == b"xab"
    # "abc" begins after "x"; nothing longer begins with "b".
    assert spelled(forced.find(automaton.beginning, [], 100)) == ["x"]
    automaton = Engine("start ::= 'xab';", VOCABULARY)._automaton
    assert spelled(finder(kernel, automaton).find(automaton.beginning, [], 100)) == ["x", "ab"]


def test_tokens_are_looked_for_until_there_are_two(kernel: Kernel) -> None:
    engine = Engine("start ::= 'a' ('b' | 'x') | '{' 'name';", VOCABULARY)
    find = finder(kernel, engine._automaton).find
    assert find(engine._position, [], 100) == []
    assert spelled(find(engine._automaton.feed(engine._position, b"{"), [], 100)) == ["name"]
    # Under eager finish nothing comes after a text that is complete.
    engine = Engine("start ::= 'ab' 'cd'?;", VOCABULARY, finish="eager")
    position = engine._automaton.feed(engine._position, b"a")
    assert spelled(finder(kernel, engine._automaton).find(position, [], 100)) == ["b"]


def test_a_context_is_not_taken_for_another(kernel: Kernel) -> None:
    automaton = Engine("start ::= ('x' | 'a') 'bc' ('12' | 'x');", VOCABULARY)._automaton
    find = finder(kernel, automaton).find
    position = automaton.feed(automaton.beginning, b"x")
    assert automaton.feed(automaton.beginning, b"a") == position
    # "abc" is one token.
    for _ in range(2):
        for context, expected in (("x", ["bc"]), ("a", [])):
            assert spelled(find(position, [TEXTS.index(context)], 100)) == expected
            assert spelled(find(position, [context.encode()], 100)) == expected


def test_what_is_remembered_is_forgotten_in_time(compiled: Kernel) -> None:
    automaton = Engine("start ::= 'xbc' ('1' | '2');", Vocabulary.bytes())._automaton
    find = finder(compiled, automaton).find
    position = automaton.feed(automaton.beginning, b"x")
    for number in range(25_000):
        context = [b"abcde"[number // 5**place % 5] for place in range(7)]
        assert find(position, [*context, *b"x"], 100) == [*b"bc"]


def test_no_states_are_made_between_forced_tokens(compiled: Kernel) -> None:
    text = '{"name": "one", ' * 8
    automaton = Engine(f"start ::= '{text}' ('ab' | 'x');", VOCABULARY)._automaton
    forced, states = finder(compiled, automaton), automaton.masks.states
    before = len(states)
    assert forced.bytes_from(automaton.beginning, 1_000) == text.encode()
    assert len(states) == before
