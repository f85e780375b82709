"""What is counted means what it means with a state for each count: masks, ends, everything else.

The judge is the same grammar with all counts as states, which other tests compare with the
definition of the language. Bounds are small here, and counted from 2 on, so that tokens reach them.
"""

import copy
import pickle
from pathlib import Path
from random import Random

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, compile_artifact, load_artifact
from kbnf_core.recognise.closing import DistanceToEnd
from kbnf_core.recognise.states import StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import EmptyGrammarError, GrammarError, RejectedError
from kbnf_testing.acceptance import FINISHES, accepted_by, mask_of
from kbnf_testing.counts import counted_grammar, counting_vocabulary
from kbnf_testing.real_vocabulary import real_vocabulary
from kbnf_testing.samples import seeds

LEAST = "kbnf_core.lower.counts.LEAST"
_BUDGET = Budget(10**9)


def both(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Grammar, Grammar] | None:
    """Return a grammar that counts from 2 on, and one that does not.

    None for one that is empty, or too much work.
    """
    found = []
    for least in (2, 10**9):
        monkeypatch.setattr(LEAST, least)
        try:
            found.append(Grammar(text))
            found[-1].tables  # noqa: B018 - built here
        except EmptyGrammarError:
            return None
        except GrammarError as error:
            # Optional parts within optional parts, some with and some without a count.
            if error.diagnostics[0].code != "E107":
                raise
            return None
    return found[0], found[1]


@pytest.mark.parametrize("chunk", seeds(400, ordinary=4, ci=20))
def test_tables_that_count_have_the_same_language(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, loops = Random(chunk), 0
    for _ in range(12):
        grammars = both(counted_grammar(random, 8), monkeypatch)
        if grammars is None:
            continue
        counting, plain = (StateTable(grammar.tables) for grammar in grammars)
        loops += len(counting.tables.loops.low)
        lengths = [DistanceToEnd(states, 1) for states in (counting, plain)]
        for _ in range(12):
            here, there = counting.initial, plain.initial
            for _ in range(50):
                where = grammars[0].source.text
                classes = plain.live_classes(there)
                assert counting.live_classes(here) == classes, where
                assert bool(counting.completions(here)) == bool(plain.completions(there)), where
                left = lengths[1].length(there, _BUDGET)
                assert lengths[0].length(here, _BUDGET) == left, where
                if not classes:
                    break
                byte_class = random.choice(classes)
                here, there = counting.step(here, byte_class), plain.step(there, byte_class)
    assert loops


class Pair:
    """An engine that counts and one that does not, at the same place."""

    def __init__(self, grammars: tuple[Grammar, Grammar], vocabulary: Vocabulary, finish: str):
        self.engines = [Engine(grammar, vocabulary, finish=finish) for grammar in grammars]

    def compare(self) -> list[int]:
        """Compare everything that can be seen; return the tokens that can come."""
        one, other = self.engines
        flags = [mask_of(engine) for engine in self.engines]
        where = f"{one.grammar.source.text}\n{one.finish} after {one.accepted}"
        assert flags[0].tolist() == flags[1].tolist(), where
        assert one.is_finished() == other.is_finished(), where
        assert one.can_finish() == other.can_finish(), where
        assert one.forced_bytes(64) == other.forced_bytes(64), where
        if not one.is_finished():
            data = [engine.shortest_completion(fewest=False).data for engine in self.engines]
            assert [len(each or b"") for each in data] == [len(data[0] or b"")] * 2, where
        return [] if one.is_finished() else flags[0].nonzero()[0].tolist()

    def accept(self, token: int) -> None:
        """Accept a token that can come."""
        for engine in self.engines:
            engine.try_accept_new_token(token)

    def judge(self, random: Random) -> None:
        """Compare the mask of the one that counts with what it accepts."""
        one = self.engines[0]
        if not one.is_finished():
            ids = range(one.vocabulary.size)
            assert accepted_by(one, ids) == mask_of(one).nonzero()[0].tolist()
            assert accepted_by(copy.copy(one), ids) == mask_of(one).nonzero()[0].tolist()
        if random.random() < 0.3:
            self.engines[0] = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own

    def move(self, random: Random, allowed: list[int], hold: bytes) -> None:
        """Go on, back, or by bytes that are no token."""
        one = self.engines[0]
        if random.random() < 0.1:
            count = random.randrange(len(one.accepted) + 1)
            for engine in self.engines:
                engine.rollback(count)
            return
        if random.random() < 0.1:
            for data in (hold * random.randrange(1, 9), hold):
                outcomes = [_bytes(engine, data) for engine in self.engines]
                assert outcomes[0] == outcomes[1]
            return
        held = [each for each in allowed if (one.vocabulary.token(each) or b"").startswith(hold)]
        self.accept(random.choice(held if held and random.random() < 0.8 else allowed))


def _bytes(engine: Engine, data: bytes) -> bool:
    if engine.is_finished():
        return False
    try:
        engine.try_accept_new_bytes(data)
    except RejectedError:
        return False
    return True


@pytest.mark.parametrize("chunk", seeds(600, ordinary=5, ci=8))
def test_masks_near_and_far_from_bounds(
    chunk: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    random, far = Random(f"masks {chunk}"), 0
    tried = 0
    while tried < 6 or not far:
        grammars = both(counted_grammar(random, random.choice((6, 40))), monkeypatch)
        if grammars is None:
            continue
        tried += 1
        vocabulary = counting_vocabulary(random, random.choice((2, 5, 9)))
        if random.random() < 0.3:
            compile_artifact(grammars[0], None, tmp_path / "a.kbnfc")
            grammars = load_artifact(tmp_path / "a.kbnfc"), grammars[1]
        for finish in FINISHES:
            pair = Pair(grammars, vocabulary, finish)
            hold = random.choice((b"a", b"b", b"c", b",", "é".encode()))
            for step in range(40):
                allowed = pair.compare()
                far += pair.engines[0]._position >> 32 > 0
                if step % 7 == 0:
                    pair.judge(random)
                if not allowed or allowed == [vocabulary.size - 1]:
                    break
                pair.move(random, allowed, hold)
    assert far


REAL = 300
"""Characters at most in the strings of the tests over a real vocabulary."""

TEXT = Grammar.from_json_schema(f'{{"type": "string", "maxLength": {REAL}}}')
LEFT = (REAL, 120, 77, 76, 75, 40, 9, 3, 1, 0)
"""Characters left, near the bound and far from it; the longest token has 76 bytes."""


@pytest.mark.parametrize("left", LEFT)
def test_what_is_too_long_is_refused(left: int) -> None:
    vocabulary = real_vocabulary()
    engine = Engine(TEXT, vocabulary)
    engine.try_accept_new_bytes(b'"' + (REAL - left) * "é".encode())
    allowed = mask_of(engine)
    wrong = [
        data
        for token, data in vocabulary.tokens.items()
        if (length := _length(data)) is not None and allowed[token] != (length <= left)
    ]
    assert not wrong
    assert allowed[_id(vocabulary, b'"')]


def _length(data: bytes) -> int | None:
    """Return how many characters of a string a token has; None where escapes or parts are in it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if set(text) & {'"', "\\", "\x7f"} or min(text) < " " else len(text)


def _id(vocabulary: Vocabulary, data: bytes) -> int:
    return next(token for token, each in vocabulary.tokens.items() if each == data)


@pytest.mark.parametrize(
    "left", [77, 5, *(pytest.param(each, marks=pytest.mark.ci) for each in (78, 76, 75, 30, 1))]
)
def test_masks_are_what_can_be_accepted(left: int) -> None:
    engine = Engine(TEXT, real_vocabulary())
    engine.try_accept_new_bytes(b'"' + (REAL - left) * b"a")
    ids = range(engine.vocabulary.size)
    assert mask_of(engine).nonzero()[0].tolist() == accepted_by(engine, ids)


def test_a_bound_costs_nothing() -> None:
    """States, walks and tables are those of any bound, however long the text."""
    vocabulary, found = real_vocabulary(), set()
    for bound in (2_000, 60_000):
        text = f'{{"type": "array", "items": {{"type": "string", "maxLength": {bound}}}}}'
        engine = Engine(Grammar.from_json_schema(text), vocabulary)
        for data in (b'["', *[b"many words, more words; "] * 60, b'","', *[b"an\\n"] * 60):
            engine.try_accept_new_bytes(data)
            mask_of(engine)
        masks = engine._automaton.masks
        found.add((len(masks.states), masks.visited, masks.states.tables.state_count))
    assert len(found) == 1
    states, visited, _ = found.pop()
    assert states < 120
    assert visited < 20_000


@pytest.mark.parametrize("size", [129, 130, 131, 200])
def test_a_count_is_not_carried_from_a_string_to_the_array_it_is_in(size: int) -> None:
    schema = {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 130}
    engine = Engine(Grammar.from_json_schema(schema, whitespace="compact"), Vocabulary.bytes())
    data = b"[" + b",".join([b'"a"'] * size) + b"]"
    assert engine.accept_tokens(data) == len(data) - (size < 130)


@pytest.mark.parametrize("text", ["text", "except!('</a>', 300)"])
def test_bytes_of_a_bounded_exception_are_counted(text: str) -> None:
    grammar = Grammar(f"start ::= '<' {text} '</a>!'; text ::= except!('</a>', 300);")
    assert grammar.tables.loops.high.tolist() == [300]
    assert len(grammar.tables.accepting) < 40
    engine = Engine(grammar, Vocabulary.bytes())
    assert engine.accept_tokens(b"<" + b"</ab" * 75 + b"<") == 302
    assert engine.accept_tokens(b"x") == 0
    assert engine.accept_tokens(b"/a>!") == 4
    assert engine.is_finished()


def test_bytes_are_states_where_several_counts_are_possible_at_once() -> None:
    grammar = Grammar("start ::= (except!('x', 130) 'y')+ '!';")
    assert not len(grammar.tables.loops.high)
    assert Engine(grammar, Vocabulary.bytes()).accept_tokens(b"a" * 129 + b"yyy") == 132
