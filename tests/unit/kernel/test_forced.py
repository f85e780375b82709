"""What must come: what every text goes on with, in the tokens that the tokenizer writes."""

from contextlib import suppress
from random import Random

import pytest

from kbnf_core import Engine, Vocabulary
from kbnf_core.kernel import Forced, Texts
from kbnf_core.mask.token_automaton import TokenAutomaton, encoded
from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.trie import longest_match

GRAMMARS = {
    "a text": """start ::= '{"name": "' ('one' | 'oneself') '"}';""",
    "nested": "start ::= '[' start ']' | '12';",
    "complete on the way": "start ::= 'ab' 'cd'?;",
    "several bytes, one token": "start ::= 'a' #'[αβ]';",
    "parts of characters": "start ::= 'nameαα' ('α' | 'β' | 'ab');",
    "a class of two bytes": "start ::= 'a' #'[xy]' 'bcd';",
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


def finder(automaton: TokenAutomaton) -> Forced:
    vocabulary = automaton.masks.vocabulary
    return Forced(automaton, Texts(vocabulary, encoded(vocabulary)))


def spelled(ids: list[int]) -> list[str]:
    return [TEXTS[each] for each in ids]


def text_of(grammar: str, finish: str, random: Random) -> bytes:
    """Return a random text, none that begins with a shorter one unless ``finish`` is "eos"."""
    engine, data = Engine(grammar, Vocabulary.bytes(), finish=finish), bytearray()
    while len(data) < 12 and not engine.is_finished():
        engine.compute_allowed_token_ids()
        ids = [i for i in engine.get_allowed_token_ids_from_last_computation() if i < 256]
        if not ids or (engine.can_finish() and random.random() < 0.5):
            return bytes(data)
        data.append(random.choice(ids))
        engine.try_accept_new_token(data[-1])
    data += engine.shortest_completion().data or b""
    return bytes(data)


@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
def test_all_texts_go_on_with_what_is_forced(finish: str) -> None:
    random = Random(1)
    foreseen = sum(
        check_a_text(grammar, finish, random) for grammar in GRAMMARS.values() for _ in range(12)
    )
    assert foreseen > 100


def check_a_text(grammar: str, finish: str, random: Random) -> int:
    """Compare what is forced all along a random text with the text; return how much it was."""
    engine, foreseen, begun = Engine(grammar, VOCABULARY, finish=finish), 0, 0
    forced = finder(engine._automaton)
    tokens = None
    # Not every text can be spelled.
    while tokens is None:
        text = text_of(grammar, finish, random)
        with suppress(VocabularyError):
            tokens = longest_match(VOCABULARY.trie, text)
    for place, token_id in enumerate(tokens):
        position, accepted = engine._position, [*engine.accepted]
        data = forced.bytes_from(position, 100)
        assert text.startswith(data, begun)
        assert forced.bytes_from(position, 2) == data[:2]
        found = forced.find(position, accepted, 100)
        assert found == [*tokens, len(TEXTS)][place : place + len(found)]
        for limit in (2, 0):
            assert forced.find(position, accepted, limit) == found[:limit]
        foreseen += len(found)
        engine.try_accept_new_token(token_id)
        begun += len(TEXTS[token_id].encode())
    assert engine.is_finished() or engine.can_finish()
    return foreseen


def test_the_last_token_ends_before_one_that_leads_on() -> None:
    automaton = Engine("start ::= 'xab' ('c' | 'd');", VOCABULARY)._automaton
    forced = finder(automaton)
    assert forced.bytes_from(automaton.beginning, 100) == b"xab"
    # "abc" begins after "x"; nothing longer begins with "b".
    assert spelled(forced.find(automaton.beginning, [], 100)) == ["x"]
    automaton = Engine("start ::= 'xab';", VOCABULARY)._automaton
    assert spelled(finder(automaton).find(automaton.beginning, [], 100)) == ["x", "ab"]


def test_a_token_by_its_name_ends_the_forced_bytes() -> None:
    automaton = Engine("""start ::= '12' #token"abc" 'ab';""", VOCABULARY)._automaton
    forced = finder(automaton)
    assert forced.bytes_from(automaton.beginning, 100) == b"12"
    assert spelled(forced.find(automaton.beginning, [], 100)) == ["12", "abc", "ab"]


def test_tokens_are_looked_for_until_there_are_two() -> None:
    engine = Engine("start ::= 'a' ('b' | 'x') | '{' 'name';", VOCABULARY)
    find = finder(engine._automaton).find
    assert find(engine._position, [], 100) == []
    assert spelled(find(engine._automaton.feed(engine._position, b"{"), [], 100)) == ["name"]
    # Under eager finish nothing comes after a text that is complete.
    engine = Engine("start ::= 'ab' 'cd'?;", VOCABULARY, finish="eager")
    position = engine._automaton.feed(engine._position, b"a")
    assert spelled(finder(engine._automaton).find(position, [], 100)) == ["b"]


def test_a_context_is_not_taken_for_another() -> None:
    automaton = Engine("start ::= ('x' | 'a') 'bc' ('12' | 'x');", VOCABULARY)._automaton
    find = finder(automaton).find
    position = automaton.feed(automaton.beginning, b"x")
    assert automaton.feed(automaton.beginning, b"a") == position
    # "abc" is one token.
    for _ in range(2):
        for context, expected in (("x", ["bc"]), ("a", [])):
            assert spelled(find(position, [TEXTS.index(context)], 100)) == expected
            assert spelled(find(position, [context.encode()], 100)) == expected


def test_what_is_remembered_is_forgotten_in_time() -> None:
    automaton = Engine("start ::= 'xbc' ('1' | '2');", Vocabulary.bytes())._automaton
    find = finder(automaton).find
    position = automaton.feed(automaton.beginning, b"x")
    for number in range(25_000):
        context = [b"abcde"[number // 5**place % 5] for place in range(7)]
        assert find(position, [*context, *b"x"], 100) == [*b"bc"]


def test_no_states_are_made_between_forced_tokens() -> None:
    text = '{"name": "one", ' * 8
    automaton = Engine(f"start ::= '{text}' ('ab' | 'x');", VOCABULARY)._automaton
    forced, states = finder(automaton), automaton.masks.states
    before = len(states)
    assert forced.bytes_from(automaton.beginning, 1_000) == text.encode()
    assert len(states) == before
