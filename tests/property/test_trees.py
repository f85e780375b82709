"""Draft trees and boundaries against single tokens, played one after the other."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary, allocate_bitmask, fill_tree_bitmasks
from kbnf_core.text.errors import ConfigError, EngineError, VocabularyError
from kbnf_core.text.limits import Limits
from kbnf_testing.samples import seeds
from kbnf_testing.trees import Case

BYTES = Vocabulary.bytes()
DIGITS = Grammar("start ::= #'[0-9]+' ';';", finish="eos")


@pytest.mark.parametrize("draw", [Case.drawn, Case.counted])
@pytest.mark.parametrize("seed", seeds(400, ordinary=60, ci=200))
def test_the_rows_of_a_tree_are_those_of_its_tokens_one_by_one(
    seed: int, draw: Callable[[Random], Case]
) -> None:
    case = draw(Random(seed))
    trees = []
    for tree in case.trees(10):
        case.compare(tree)
        trees.append(tree)
    case.compare_batch([case._tree() for _ in range(3)])
    assert len(trees) == 10


def test_a_tree_that_overflows_the_table_is_right() -> None:
    # Every depth is a state, and a path of the tree has more than the table may hold.
    grammar = Grammar("start ::= '[' [start] ']';", finish="eos", limits=Limits(cached_states=1))
    engine = Engine(grammar, BYTES)
    depth = 3_000
    out = allocate_bitmask(2 * depth, BYTES.size)
    parents = np.arange(2 * depth) - 1
    tokens = np.array([0, *[ord("[")] * depth, *[ord("]")] * (depth - 1)])
    engine.accept_tokens(b"[")
    engine.fill_tree_bitmasks(out, 0, parents, tokens)
    assert engine.accepted == (ord("["),)
    assert (out[1:depth] == out[1]).all()
    assert (out[depth + 1 : -1] == out[depth + 1]).all()
    engine.accept_tokens(tokens[1:].tolist())
    last = allocate_bitmask(1, BYTES.size)
    engine.fill_bitmask(last)
    assert (out[-1] == last).all()


@pytest.mark.parametrize(
    ("parents", "tokens", "message"),
    [
        ([-1, 1], [0, 0], "before it"),
        ([-2], [0], "before it"),
        ([0], [0], "before it"),
        ([-1, 0], [0], "a parent and a token"),
        ([[-1]], [[0]], "a parent and a token"),
        ([-1, 0, 1, 2], [0, 0, 0, 0], "no rows"),
    ],
)
def test_what_is_no_tree_is_refused_before_anything_is_written(
    parents: object, tokens: object, message: str
) -> None:
    out = np.full((3, 9), 5, np.int32)
    with pytest.raises(ValueError, match=message):
        Engine(DIGITS, BYTES).fill_tree_bitmasks(out, 0, parents, tokens)
    with pytest.raises(ValueError, match="too short"):
        Engine(DIGITS, BYTES).fill_tree_bitmasks(out[:, :2].copy(), 0, [-1], [0])
    with pytest.raises(ValueError, match="rows 3 to 3"):
        fill_tree_bitmasks([Engine(DIGITS, BYTES), None], out, [[-1]] * 2, [[0]] * 2, rows=[0, 3])
    with pytest.raises(ValueError, match="as many trees"):
        fill_tree_bitmasks([None], out, [[-1]] * 2, [[0]] * 2)
    other = Vocabulary({0: b"1"})
    with pytest.raises(VocabularyError):
        fill_tree_bitmasks(
            [Engine(DIGITS, BYTES), Engine(DIGITS, other)], out, [[-1]] * 2, [[0]] * 2
        )
    assert (out == 5).all()


def test_without_an_engine_the_rows_of_a_tree_allow_everything() -> None:
    out = np.zeros((4, 9), np.int32)
    fill_tree_bitmasks([None, Engine(DIGITS, BYTES)], out, [[-1, 0]] * 2, [[0, 65]] * 2, [2, 0])
    assert (out[2:] == -1).all()
    assert out[0].any()
    assert not out[1].any()


def test_a_boundary_is_kept_over_copies_pickles_rollbacks_and_resets() -> None:
    import copy
    import pickle

    engine = Engine(DIGITS, BYTES, after="so:")
    assert engine.after == "so:"
    assert engine.is_waiting()
    assert engine.accept_tokens(b"soso:12") == 7
    assert not engine.is_waiting()
    for other in (copy.copy(engine), pickle.loads(pickle.dumps(engine))):  # noqa: S301 - our own
        assert other.accepted == engine.accepted
        other.rollback(2)
        assert not other.is_waiting()
        other.rollback(1)
        assert other.is_waiting()
        assert other.accept_tokens(b"x so:1") == 6
        other.reset()
        assert other.is_waiting()
        assert other.after == "so:"
    assert engine.accept_tokens(b";") == 1
    assert engine.can_finish()


def test_the_end_of_the_sequence_ends_nothing_before_the_grammar() -> None:
    engine = Engine(DIGITS, BYTES, after="so:")
    assert engine.accept_tokens([256, 256]) == 0
    assert not engine.can_finish()
    assert not engine.is_finished()


def test_what_is_asked_before_the_grammar_has_an_answer() -> None:
    from random import Random

    engine = Engine(DIGITS, BYTES, after="so:")
    assert engine.forced_bytes() == b""
    assert engine.forced_tokens() == []
    assert engine.prepare() > 0
    why = engine.why("x")
    assert why.allowed
    assert why.reason == "all but an end is free until 'so:' has come"
    for ask in (engine.shortest_completion, lambda: engine.sample(Random(1))):
        with pytest.raises(EngineError, match="begins after 'so:'"):
            ask()
    with pytest.raises(EngineError, match="begins after 'so:'"):
        engine.shortest_texts(1)
    engine.accept_tokens(b"so:1")
    assert engine.shortest_completion().data == b";"
    assert not engine.why("x").allowed
    assert engine.why("2").allowed


def test_the_rest_of_a_token_belongs_to_the_grammar() -> None:
    vocabulary = Vocabulary(
        {0: b"</t>12", 1: b"</t>?", 2: b"3", 3: b";", 4: b"</t"}, eos_token_id=5
    )
    engine = Engine(DIGITS, vocabulary, after="</t>")
    assert engine.accept_tokens([0, 3, 5]) == 3
    assert engine.is_finished()
    assert engine.why(0).reason == "the text is over: nothing can follow"
    engine.reset()
    # The grammar does not take what is after the text here: it begins after that.
    assert engine.accept_tokens([1, 2, 3, 5]) == 4
    engine.reset()
    engine.accept_tokens([0, 2])
    assert engine.shortest_completion().data == b";"


def test_a_token_may_be_waited_for_by_its_id() -> None:
    vocabulary = Vocabulary({0: b"1", 1: b";"}, special_tokens={"</t>": 2}, eos_token_id=3)
    engine = Engine(DIGITS, vocabulary, after=2)
    assert engine.accept_tokens([0, 1, 3]) == 2
    assert engine.accept_tokens([2, 0, 1, 3]) == 4
    assert engine.is_finished()
    with pytest.raises(ConfigError, match="token 9"):
        Engine(DIGITS, vocabulary, after=9)


def test_a_boundary_survives_a_table_that_is_renewed() -> None:
    grammar = Grammar("start ::= '[' [start] ']';", finish="eos", limits=Limits(cached_states=1))
    engine = Engine(grammar, BYTES, after="so:")
    assert engine.accept_tokens(b"and so:" + 3_000 * b"[") == 3_007
    assert engine.accept_tokens(3_000 * b"]") == 3_000
    engine.rollback(6_001)
    assert engine.is_waiting()
    assert engine.accept_tokens(b"so:[]") == 2 + 3 or engine.accepted
    engine.rollback(len(engine.accepted))
    assert engine.accept_tokens(b"so:[]") == 5


def test_what_came_before_the_grammar_is_in_no_event_and_no_value() -> None:
    vocabulary = Vocabulary(
        {each: bytes((each,)) for each in range(256)} | {300: b"so:[1"}, eos_token_id=256
    )
    grammar = Grammar("start ::= '[' n {',' n} ']'; n ::= #'[0-9]+';", finish="eos")
    plain = Engine(grammar, vocabulary)
    plain.accept_tokens(b"[12,3]")
    wanted = plain.events()
    engine = Engine(grammar, vocabulary, after="so:")
    assert engine.accept_tokens(b"[7] and ") == 8
    # A text begins in any case.
    assert engine.events() == wanted[:1]
    assert (engine.captures("n"), engine.values()) == ([], None)
    assert engine.accept_tokens([300, *b"2,3]"]) == 5
    assert engine.events() == wanted[1:]
    assert engine.captures("n") == [b"12", b"3"]
    assert engine.values() == [12, 3]
    engine.rollback(5)
    assert (engine.captures("n"), engine.values()) == ([], None)
