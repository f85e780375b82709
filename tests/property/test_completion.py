"""Shortest completions and forced text, against brute force with the reference recogniser."""

import copy
from random import Random

import pytest

from kbnf_core import Config, Engine, Finish, Vocabulary
from kbnf_testing import grammar as g
from kbnf_testing import subject
from kbnf_testing.agreement import FINISHES, random_sample
from kbnf_testing.generate import Features, random_string, random_tokens
from kbnf_testing.samples import seeds
from kbnf_testing.walk import ACCEPTED, Outcome, Position, ReferenceEngine

_SEEDS = seeds(150, ordinary=50, ci=90)
_MOST_POSITIONS = 3_000
"""Positions a brute force may try before it gives up on a drawing."""

_LONGEST = 5
"""Bytes of the texts that are tried one by one."""


class _Drawn:
    """A random grammar, vocabulary and place in a text, for the engine and for the reference."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.sample = random_sample(random, Features())
        self.tokens = random_tokens(random, self.sample.alphabet)
        self.finish = random.choice(FINISHES)
        self.reference = ReferenceEngine(self.sample.recogniser, self.tokens, self.finish)
        vocabulary = subject.vocabulary_of(self.tokens)
        self.engine = Engine(self.sample.compiled, vocabulary, Config(finish=self.finish))
        self.position = Position()
        for token_id in random_string(random, self.reference, longest=3)[: random.randint(0, 3)]:
            if subject.offer(self.engine, token_id) in ACCEPTED:
                self.position = self.reference.offer(self.position, token_id)[1]

    def every_symbol(self) -> list[str]:
        """All bytes, and all tokens by their ids."""
        return [*map(chr, range(256)), *map(g.token_symbol, self.tokens.ids())]

    def viable(self, reading: str) -> bool:
        """Return whether a text can go on with ``reading``, whatever the way to finish."""
        histories = self.position.histories
        return any(self.sample.recogniser.viable(history + reading) for history in histories)


def _fewest_tokens(drawn: _Drawn, most: int) -> int | None:
    """Return how few tokens can end the text, None if not so many as ``most`` or fewer can."""
    if drawn.reference.can_finish(drawn.position):
        return 0
    seen = {drawn.position}
    level = [drawn.position]
    for count in range(1, most + 1):
        reached = [
            drawn.reference.offer(position, token_id)[1]
            for position in level
            for token_id in drawn.reference.allowed(position)
        ]
        if any(drawn.reference.can_finish(position) for position in reached):
            return count
        level = list(set(reached) - seen)
        seen.update(level)
        if len(seen) > _MOST_POSITIONS:
            pytest.skip("too many positions to try one by one")
    return None


@pytest.mark.parametrize("seed", _SEEDS)
def test_without_a_search_the_tokens_spell_the_fewest_bytes(seed: int) -> None:
    drawn = _Drawn(seed)
    quick = drawn.engine.shortest_completion(fewest=False)
    thorough = drawn.engine.shortest_completion()
    assert quick.data == thorough.data
    assert (quick.tokens is None) == (thorough.tokens is None)
    if quick.tokens is None or thorough.tokens is None:
        return
    assert len(quick.tokens) >= len(thorough.tokens)
    for token_id in quick.tokens:
        assert not drawn.engine.can_finish()
        drawn.engine.try_accept_new_token(token_id)
    assert drawn.engine.can_finish()


@pytest.mark.parametrize("seed", _SEEDS)
def test_the_tokens_end_a_text_and_none_do_where_there_are_none(seed: int) -> None:
    drawn = _Drawn(seed)
    completion = drawn.engine.shortest_completion()
    if completion.tokens is None:
        # Whether there is none at all may be more than a bounded search can tell.
        assert _fewest_tokens(drawn, most=4) is None
    else:
        least = drawn.engine._automaton.nearest_end.least(drawn.engine._position)
        ends_by_token = drawn.engine.finish is Finish.EOS and drawn.tokens.eos
        assert len(completion.tokens) <= max(0, least - bool(ends_by_token))
        for token_id in completion.tokens:
            assert not drawn.engine.can_finish()
            assert subject.offer(drawn.engine, token_id) in ACCEPTED
        assert drawn.engine.can_finish()


def _fewest_bytes(drawn: _Drawn, most: int) -> int | None:
    """Return how few bytes can end the text, None if not so many as ``most`` or fewer can."""
    if drawn.reference.can_finish(drawn.position):
        return 0
    # What no letter of the alphabet spells is all alike, but for what continues a character.
    letters = sorted({*drawn.sample.alphabet.encode(), *b"x\xc3\xa0\x80\xbf\xff\xf0\x90"})
    level = [b""]
    for count in range(1, most + 1):
        longer = [word + bytes((letter,)) for word in level for letter in letters]
        level = [word for word in longer if drawn.viable(g.word_of(word))]
        if any(_ends(drawn, word) for word in level):
            return count
        if len(level) > _MOST_POSITIONS:
            pytest.skip("too many texts to try one by one")
    return None


def _ends(drawn: _Drawn, word: bytes) -> bool:
    outcome, after = drawn.reference.offer_bytes(drawn.position, word)
    return outcome in ACCEPTED and drawn.reference.can_finish(after)


@pytest.mark.parametrize("seed", _SEEDS)
def test_no_fewer_bytes_end_a_text(seed: int) -> None:
    drawn = _Drawn(seed)
    data = drawn.engine.shortest_completion().data
    if data is None:
        assert _fewest_bytes(drawn, most=3) is None
        return
    assert _fewest_bytes(drawn, most=min(len(data), _LONGEST)) == (
        len(data) if len(data) <= _LONGEST else None
    )
    if data:
        drawn.engine.try_accept_new_bytes(data)
    assert drawn.engine.can_finish()


@pytest.mark.parametrize("seed", _SEEDS)
def test_forced_bytes_are_forced_and_all_of_them(seed: int) -> None:
    drawn = _Drawn(seed)
    forced = g.word_of(drawn.engine.forced_bytes())
    for end in range(len(forced)):
        assert _ways(drawn, forced[:end]) == [forced[end]]
        assert not drawn.engine.can_finish()
        assert subject.offer_bytes(drawn.engine, forced[end].encode("latin-1")) in ACCEPTED
    if not drawn.engine.can_finish():
        ways = _ways(drawn, forced)
        assert len(ways) != 1 or ord(ways[0]) > 0xFF


def _ways(drawn: _Drawn, before: str) -> list[str]:
    return [symbol for symbol in drawn.every_symbol() if drawn.viable(before + symbol)]


@pytest.mark.parametrize("seed", _SEEDS)
def test_forced_tokens_are_forced_and_all_of_them(seed: int) -> None:
    drawn = _Drawn(seed)
    position = drawn.position
    forced = drawn.engine.forced_tokens()
    for token_id in forced[:20]:
        assert drawn.reference.allowed(position) == [token_id]
        outcome, position = drawn.reference.offer(position, token_id)
        assert outcome in ACCEPTED
    if len(forced) <= 20 and not position.finished:
        assert len(drawn.reference.allowed(position)) != 1


@pytest.mark.parametrize("seed", _SEEDS)
def test_samples_can_come(seed: int) -> None:
    drawn = _Drawn(seed)
    sample = drawn.engine.sample(Random(seed), length=4)
    again = drawn.engine.sample(Random(seed), length=4)
    assert sample == again
    for token_id in sample.tokens:
        assert subject.offer(drawn.engine, token_id) in ACCEPTED
    assert drawn.engine.can_finish() == sample.is_complete


@pytest.mark.parametrize("seed", range(30))
def test_looking_ahead_moves_nothing(seed: int) -> None:
    drawn = _Drawn(seed)
    every_id = drawn.tokens.ids()
    before = subject.allowed(drawn.engine), subject.outcomes(copy.copy(drawn.engine), every_id)
    drawn.engine.forced_bytes()
    drawn.engine.forced_tokens()
    drawn.engine.shortest_completion()
    assert (subject.allowed(drawn.engine), subject.outcomes(drawn.engine, every_id)) == before
    assert Outcome.UNKNOWN not in before[1].values()


def _mixed(random: Random) -> str:
    """Return a grammar in which token terminals are beside bytes that the same tokens have."""
    parts = ['"a"', '"b"', '"ab"', '["a"]', '["b"]', '{"a"}', "#token[0]", "#token[1]", "x"]
    one, two, three, four = (
        " ".join(random.choices(parts, k=random.randint(1, 3))) for _ in "1234"
    )
    return f"start ::= {one} 'b' | {two} | {three}; x ::= 'a' | {four} 'b';"


@pytest.mark.parametrize("finish", FINISHES)
@pytest.mark.parametrize("seed", range(60))
def test_completions_complete_where_tokens_are_named_and_spelled(seed: int, finish: str) -> None:
    random = Random(seed)
    texts = [b"a", b"b", b"ab", b"ba", b"aab", b"bab", b"abb"]
    vocabulary = Vocabulary(dict(enumerate(random.choices(texts, k=4))), eos_token_id=9)
    engine = Engine(_mixed(random), vocabulary, Config(finish=finish))
    for _ in range(3):
        completion, sample = engine.shortest_completion(), engine.sample(random, length=2)
        if completion.tokens is not None:
            assert _fed(engine, completion.tokens).can_finish()
        assert _fed(engine, sample.tokens).can_finish() is sample.is_complete
        allowed = subject.allowed(engine)
        if allowed:
            engine.try_accept_new_token(random.choice(allowed))


def _fed(engine: Engine, tokens: tuple[int, ...]) -> Engine:
    """Return a copy that accepted the tokens."""
    twin = copy.copy(engine)
    for token_id in tokens:
        twin.try_accept_new_token(token_id)
    return twin


def test_a_token_that_only_its_id_allows_completes_nothing_by_its_bytes() -> None:
    grammar = 'start ::= #token[0] "aa" | "z" ["a"];'
    engine = Engine(grammar, Vocabulary({0: b"za"}), Config(finish="eager"))
    completion = engine.shortest_completion()
    assert (completion.data, completion.tokens) == (b"z", None)
    engine = Engine(grammar, Vocabulary({0: b"za", 1: b"aa"}), Config(finish="eager"))
    assert engine.shortest_completion().tokens == (0, 1)
