"""A full table is begun anew in mid-generation: nothing that can be asked changes."""

import copy
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from kbnf_core import AcceptTokenResult, Config, Engine, Grammar, Limits, Vocabulary
from kbnf_core import engine as engine_module
from kbnf_core.recognise import states
from kbnf_core.text.errors import EngineError

GRAMMARS = {
    "nested": "start ::= value ';'; value ::= '[' [value { ',' value }] ']' | #'[0-9]+';",
    "sums": "start ::= s ';'; s ::= a | s '+' a; a ::= 'x' | '(' s ')';",
    "ambiguous": "start ::= items ';'; items ::= 'a' | items ',' items;",
    "counted": "start ::= 'a'{3,60} ';';",
    "palindromes": "start ::= p ';'; p ::= 'c' | 'a' p 'a' | 'b' p 'b';",
    "token terminal": "start ::= { 'a' | #token'<eot>' } ';';",
}
SMALL = [20, 30]
VOCABULARY = Vocabulary(
    {
        **{value: bytes([value]) for value in range(256)},
        **dict(enumerate([b"[[", b"]]", b",[", b"x+", b"))", b"aa", b"ab", b"a,", b"12"], 256)),
    },
    special_tokens={"<eot>": 300},
    eos_token_id=301,
)


@pytest.fixture(autouse=True)
def _no_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables be as small as the tests want them, and engines take few places along."""
    monkeypatch.setattr(states, "LEAST_STATES", 1)
    monkeypatch.setattr(engine_module, "KEPT_POSITIONS", 3)


def engine_with(grammar: str, cached_states: int, finish: str = "eos") -> Engine:
    limits = Limits(cached_states=cached_states)
    return Engine(grammar, VOCABULARY, Config(finish=finish, limits=limits))


def allowed(engine: Engine) -> list[int]:
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def generate(grammar: str, finish: str, seed: int, length: int = 40) -> list[int]:
    """Return allowed tokens at random, chosen with an engine that never forgets."""
    engine, random = engine_with(grammar, 10**6, finish), Random(seed)
    ids: list[int] = []
    while len(ids) < length and not engine.is_finished():
        ids.append(random.choice(allowed(engine)))
        engine.try_accept_new_token(ids[-1])
    return ids


@pytest.mark.parametrize("finish", ["eos", "token", "eager"])
@pytest.mark.parametrize("cached_states", SMALL)
@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_masks_and_results_do_not_change(grammar: str, cached_states: int, finish: str) -> None:
    for seed in range(3):
        small = engine_with(grammar, cached_states, finish)
        large = engine_with(grammar, 10**6, finish)
        for token_id in generate(grammar, finish, seed):
            assert allowed(small) == allowed(large)
            results = {e.try_accept_new_token(token_id) for e in (small, large)}
            assert len(results) == 1
            assert small.can_finish() == large.can_finish()
            if results == {AcceptTokenResult.Finished}:
                assert small.is_finished()
        assert allowed(small) == allowed(large)


def test_the_table_is_replaced_and_stays_small() -> None:
    engine = engine_with(GRAMMARS["sums"], 50)
    tables = []
    for _ in range(300):
        allowed(engine)
        engine.try_accept_new_token(ord("("))
        tables.append(engine._automaton.masks.states)
        # What the engine itself can be rolled back to is carried over.
        assert len(tables[-1]) <= 50 + len(engine.accepted) + 50
    assert len(set(map(id, tables))) > 1


@pytest.mark.parametrize("cached_states", SMALL)
@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_rollback_works_across_it(grammar: str, cached_states: int) -> None:
    ids = generate(grammar, "eos", seed=9)
    small, large = engine_with(grammar, cached_states), engine_with(grammar, 10**6)
    before = []
    for token_id in ids:
        before.append(allowed(large))
        small.try_accept_new_token(token_id)
        large.try_accept_new_token(token_id)
    for mask in reversed(before):
        small.rollback()
        assert allowed(small) == mask
    assert small.accepted == ()
    with pytest.raises(EngineError):
        small.rollback()


def test_copies_made_before_it_go_on_by_themselves() -> None:
    grammar = Grammar(GRAMMARS["nested"], limits=Limits(cached_states=30))
    engine = Engine(grammar, VOCABULARY, Config(finish="eos"))
    engine.try_accept_new_bytes(b"[1,[")
    twin = copy.copy(engine)
    before = allowed(twin)
    for _ in range(50):
        engine.try_accept_new_token(ord("["))
        allowed(engine)
    assert allowed(twin) == before
    twin.try_accept_new_bytes(b"]];")
    assert allowed(twin) == [301]
    engine.reset()
    assert allowed(engine) == allowed(Engine(grammar, VOCABULARY, Config(finish="eos")))


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_threads_share_a_grammar(grammar: str) -> None:
    shared = Grammar(grammar)
    texts = [generate(grammar, "eos", seed) for seed in range(12)]

    def follow(engine: Engine, ids: list[int]) -> list[list[int]]:
        found = []
        for token_id in ids:
            found.append(allowed(engine))
            engine.try_accept_new_token(token_id)
        return [*found, allowed(engine)]

    def together(ids: list[int]) -> list[list[int]]:
        return follow(Engine(shared, VOCABULARY, Config(finish="eos")), ids)

    expected = [follow(engine_with(grammar, 10**6), ids) for ids in texts]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(together, texts)) == expected


def test_an_engine_may_move_to_a_table_that_is_full_by_then() -> None:
    limits = Limits(cached_states=30)
    shared = Grammar("start ::= item; item ::= 'x' | '(' item ')';", limits=limits)
    one, other = (Engine(shared, VOCABULARY, Config(finish="eos")) for _ in range(2))
    other.try_accept_new_bytes(b"((")
    first = one._automaton.masks.states
    while one._automaton.masks.states is first:
        one.try_accept_new_token(ord("("))
    while len(one._automaton.masks.states) < 30:
        one.try_accept_new_token(ord("("))
    other.try_accept_new_bytes(b"(x)))")
    assert other.can_finish()


def test_a_step_is_taken_where_others_fill_every_fresh_table() -> None:
    """However often other threads fill the table first, a call renews it once and goes on."""
    engine = engine_with(GRAMMARS["nested"], 1)
    assert engine._automaton.masks.is_full
    engine.try_accept_new_bytes(b"[[1")
    assert 257 in allowed(engine)
    engine.try_accept_new_token(257)
    assert engine.update_logits(ord(";"), np.zeros(302))[1] is AcceptTokenResult.Ongoing
    engine.try_accept_new_token(301)
    assert engine.is_finished()
    assert allowed(engine) == []


def test_explanations_go_on_past_a_full_table() -> None:
    """The table of explanations is begun anew too, also in the middle of a long text."""
    small, large = (engine_with(GRAMMARS["sums"], size) for size in (20, 10**6))
    for engine in (small, large):
        for _ in range(100):
            engine.try_accept_new_bytes(b"(x+")
    for what in (ord("x"), b"((x)))", ")", 301):
        assert small.why(what) == large.why(what)
    for engine in (small, large):
        engine.try_accept_new_bytes(b"x" + b")" * 100 + b";")
        engine.try_accept_new_token(301)
    for what in (ord("x"), ")", 301):
        assert small.why(what) == large.why(what)
    # What is in use does not count: a table may know it, and the steps of one call.
    assert len(small._why._states) < 20 + 120
