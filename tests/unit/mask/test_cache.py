"""The bounded memo: it computes once, keeps what is used, and forgets the rest.

And what a grammar, its tables and its masks take goes with their last user.
"""

import gc
import json
import string
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import pytest

from kbnf_core import Config, Engine, Grammar, Limits, Vocabulary
from kbnf_core.text.remembered import LruDict


def doubled(capacity: int) -> tuple[LruDict[int, int], list[int]]:
    """Return a memo of doubles, and the keys that it computed."""
    computed: list[int] = []

    def double(key: int) -> int:
        computed.append(key)
        return 2 * key

    return LruDict(double, capacity), computed


def test_what_is_kept_is_not_computed_again() -> None:
    memo, computed = doubled(10)
    assert [memo[3], memo[4], memo[3]] == [6, 8, 6]
    assert computed == [3, 4]
    assert memo.entries() == {3: 6, 4: 8}


@pytest.mark.parametrize("capacity", [0, 1, 2, 3, 10, 101])
def test_it_never_keeps_more_than_its_capacity(capacity: int) -> None:
    memo, _ = doubled(capacity)
    for key in range(500):
        assert memo[key] == 2 * key
        assert len(memo.entries()) <= max(2, capacity)


def test_what_is_used_all_the_time_stays() -> None:
    memo, computed = doubled(20)
    for key in range(1, 1000):
        assert memo[0] == 0
        assert memo[key] == 2 * key
    assert computed.count(0) == 1


def test_what_was_used_last_is_kept() -> None:
    memo, computed = doubled(20)
    for key in range(1000):
        _ = memo[key]
    computed.clear()
    for key in range(990, 1000):
        _ = memo[key]
    assert computed == []


def test_an_error_is_not_remembered() -> None:
    answers = iter([ZeroDivisionError, 7])

    def compute(key: str) -> object:
        answer = next(answers)
        if answer is ZeroDivisionError:
            raise ZeroDivisionError
        return answer

    memo: LruDict[str, object] = LruDict(compute, 4)
    with pytest.raises(ZeroDivisionError):
        _ = memo["x"]
    assert memo.entries() == {}
    assert memo["x"] == 7


def test_threads_may_share_it() -> None:
    memo, _ = doubled(8)

    def use(offset: int) -> bool:
        return all(memo[key % 37] == 2 * (key % 37) for key in range(offset, offset + 3000))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(16)))


TOKENS = Vocabulary({value: bytes([value]) for value in range(256)}, eos_token_id=256)
TOOL = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TOOLS = {"anyOf": [TOOL | {"title": "one"}, TOOL | {"title": "two", "minProperties": 1}]}


@pytest.mark.parametrize("schema", [TOOL, TOOLS], ids=["one", "several"])
def test_no_pass_of_the_collector_is_needed_to_free_masks(schema: object) -> None:
    gc.disable()
    try:
        grammar = Grammar.from_json_schema(json.dumps(schema))
        engine = Engine(grammar, TOKENS, Config())
        engine.compute_allowed_token_ids()
        automaton, table = engine._automaton, engine._automaton.masks.states
        assert automaton.words[automaton.beginning].any()
        assert automaton.masks.union(automaton.masks.viable(automaton.beginning)).any()
        alive = [ref(each) for each in (grammar, automaton, automaton.masks, table)]
        del engine, grammar, automaton, table
        assert [each() for each in alive] == [None] * 4
    finally:
        gc.enable()


def test_walks_are_kept_by_what_they_take_and_not_by_the_masks_that_they_name() -> None:
    wide = Vocabulary({value: bytes([value]) for value in range(256)}, eos_token_id=8_000)
    text = 3 * string.ascii_letters
    engine = Engine(f'start ::= "{text}";', wide, Config(limits=Limits(mask_bytes=2**16)))
    for letter in text:
        engine.compute_allowed_token_ids()
        engine.try_accept_new_bytes(letter.encode())
    masks = engine._automaton.masks
    assert len(masks.assembler) == masks.walk_count > 2 * masks.mask_capacity
