"""Budgets of tokens, against a search through all texts, and over a real vocabulary."""

import copy
import pickle
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.kernel import crossing_classes
from kbnf_core.text.errors import ConfigError, LateError
from kbnf_core.text.limits import Limits
from kbnf_testing.budgets import Case, GivenUpError, allowed
from kbnf_testing.real_vocabulary import real_vocabulary
from kbnf_testing.samples import seeds

BYTES = Vocabulary.bytes()
DIGITS = Grammar("start ::= #'[0-9]{2,}' ';';", finish="eos")


@pytest.mark.parametrize("seed", seeds(600, ordinary=60, ci=150))
def test_a_budget_is_kept(seed: int) -> None:
    try:
        Case.drawn(Random(seed)).compare()
    except GivenUpError:
        pytest.skip("too many positions to try one by one")


@pytest.mark.parametrize("seed", seeds(600, ordinary=60, ci=150))
def test_a_budget_is_kept_after_a_text(seed: int) -> None:
    try:
        Case.drawn(Random(seed), waits=True).compare()
    except GivenUpError:
        pytest.skip("too many positions to try one by one")


@pytest.mark.parametrize("seed", seeds(600, ordinary=40, ci=100))
def test_a_budget_is_kept_where_something_is_counted(seed: int) -> None:
    try:
        Case.counted(Random(seed)).compare()
    except GivenUpError:
        pytest.skip("too many positions to try one by one")


@pytest.mark.parametrize("seed", seeds(1200, ordinary=40, ci=150))
def test_a_budget_is_kept_where_tokens_could_read_past_the_end(seed: int) -> None:
    try:
        Case.crossed(Random(seed)).compare()
    except GivenUpError:
        pytest.skip("too many positions to try one by one")


@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
@pytest.mark.parametrize("named", ["#token[0,0] 'bb' x | y", "y | #token[^1] 'bb' x"])
def test_what_a_token_costs_by_name_and_by_bytes_is_asked_of_both_at_once(
    finish: str, named: str
) -> None:
    # `ab` and `bbb` cross the text of a rule: after `ab` by its name, only a search finds a way
    # (`bbb`), while by its bytes there is a cost (`ccc`), which goes before a search.
    grammar = Grammar(
        f"start ::= {named} | 'cc'; x ::= 'b' | '(' x ')'; y ::= 'a' z; z ::= 'bccc' | '(' z ')';"
    )
    vocabulary = Vocabulary({0: b"ab", 1: b"c", 2: b"bbb"}, eos_token_id=3)
    for seed in range(3):
        case = Case(Random(seed), grammar, grammar, vocabulary)
        case.settings["finish"] = finish
        case.free = Engine(grammar, vocabulary, finish=finish)
        assert case.compare() > 0


def test_what_is_left_is_counted_given_back_and_carried() -> None:
    engine = Engine(DIGITS, BYTES, budget=6)
    assert engine.remaining == engine.budget == 6
    assert engine.accept_tokens(b"1234") == 4
    assert engine.remaining == 2
    with pytest.raises(LateError, match=r"token 53 b'5' is not allowed here.* in the 2 tokens"):
        engine.try_accept_new_token(ord("5"))
    with pytest.raises(LateError, match="the bytes b'5'"):
        engine.try_accept_new_bytes(b"5")
    for other in (copy.copy(engine), pickle.loads(pickle.dumps(engine))):  # noqa: S301 - our own
        assert (other.remaining, other.budget) == (2, 6)
        other.rollback(3)
        assert other.remaining == 5
        other.reset()
        assert other.remaining == 6
    assert engine.accept_tokens([ord(";"), 256]) == 2
    assert (engine.is_finished(), engine.remaining) == (True, 0)
    engine.rollback(1)
    assert engine.remaining == 1


def test_what_is_left_can_be_set() -> None:
    engine = Engine(DIGITS, BYTES)
    assert engine.remaining is None
    engine.accept_tokens(b"1")
    engine.remaining = 3
    assert engine.accept_tokens(b"23;") == 1
    with pytest.raises(ConfigError, match="budget=1 is too small: 2 tokens are enough"):
        engine.remaining = 1
    assert engine.remaining == 2
    engine.remaining = None
    assert engine.accept_tokens(b"23;") == 3


def test_a_budget_below_the_least_names_it() -> None:
    with pytest.raises(ConfigError, match="budget=3 is too small: 4 tokens are enough"):
        Engine(DIGITS, BYTES, budget=3)
    with pytest.raises(ConfigError, match="no tokens of the vocabulary lead to the end"):
        Engine(DIGITS, Vocabulary({0: b"1"}), budget=100)


def test_waiting_uses_nothing_up_but_the_last_token_may_take_too_much() -> None:
    grammar = Grammar("start ::= 'a' | 'bcdefg';", finish="eos")
    tokens = {i: bytes((i,)) for i in range(256)} | {300: b"]a", 301: b"]b"}
    engine = Engine(grammar, Vocabulary(tokens, eos_token_id=256), after="]", budget=2)
    assert engine.accept_tokens(b"some") == 4
    assert engine.remaining == 2
    assert engine.validate_tokens([256]) == 0
    assert engine.validate_tokens([300, 256]) == 2
    assert engine.validate_tokens([301]) == 0
    engine.compute_allowed_token_ids()
    refused = engine.get_disallowed_token_ids_from_last_computation()
    assert 301 in refused
    assert 300 not in refused
    assert engine.accept_tokens([ord("]"), ord("b")]) == 1
    assert engine.accept_tokens([ord("a"), 256]) == 2
    assert engine.is_finished()


def test_a_bound_before_the_grammar_goes_with_a_budget() -> None:
    grammar = Grammar("start ::= 'a' | 'bcdefg';", finish="eos")
    tokens = {i: bytes((i,)) for i in range(256)} | {300: b"]a", 301: b"]b", 302: b"]]b"}
    vocabulary = Vocabulary(tokens, eos_token_id=256)
    engine = Engine(grammar, vocabulary, after="]]", after_tokens=0, budget=2)
    assert allowed(engine) == [ord("]")]
    engine.try_accept_new_token(ord("]"))
    # After `]]]b` the grammar begins: it takes no `]`.
    assert allowed(engine) == [ord("]"), 300, 302]


def test_trees_and_forced_tokens_keep_to_the_budget() -> None:
    engine = Engine(DIGITS, BYTES, budget=5)
    out = np.zeros((4, 9), np.int32)
    engine.fill_tree_bitmasks(out, 0, [-1, 0, 1, 2], [0, *b"123"])
    rows = [np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")) for row in out]
    assert [len(row) for row in rows] == [10, 10, 11, 1]
    assert engine.remaining == 5
    whole = Vocabulary({0: b"ab", 1: b"a", 2: b"b", 3: b"abab"}, eos_token_id=4)
    forced = Engine(Grammar("start ::= 'abab';", finish="eos"), whole, budget=2)
    assert forced.forced_tokens() in ([], [3])
    assert forced.sample(Random(1)).tokens[:1] == (3,)


def test_samples_end_in_time() -> None:
    engine = Engine(Grammar("start ::= '[' [start] ']';", finish="eos"), BYTES, budget=9)
    for seed in range(20):
        drawn = engine.sample(Random(seed), 100)
        assert drawn.is_complete
        assert len(drawn.tokens) <= 9


def test_a_budget_survives_a_table_that_is_renewed() -> None:
    grammar = Grammar("start ::= '[' [start] ']';", finish="eos", limits=Limits(cached_states=1))
    engine = Engine(grammar, BYTES, budget=4_001)
    assert engine.accept_tokens(3_000 * b"[") == 2_000
    assert engine.accept_tokens(2_000 * b"]") == 2_000
    assert engine.remaining == 1
    assert engine.accept_tokens([256]) == 1


def test_the_fewest_tokens_of_a_schema_over_a_real_vocabulary() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    vocabulary = real_vocabulary()
    grammar = Grammar.from_json_schema(schema)
    least = Engine(grammar, vocabulary).shortest_completion()
    assert least.tokens is not None
    budget = len(least.tokens)
    with pytest.raises(ConfigError, match=r"budget=0 is too small: (\d+) tokens are enough"):
        Engine(grammar, vocabulary, budget=0)
    random = Random(3)
    engine = Engine(grammar, vocabulary, budget=budget + 8)
    for _ in range(10):
        engine.reset()
        while not engine.is_finished():
            engine.compute_allowed_token_ids()
            allowed = engine.get_allowed_token_ids_from_last_computation()
            engine.try_accept_new_token(random.choice(allowed))
        assert len(engine.accepted) <= budget + 8


OPEN: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "city": {"type": "string"}},
    "required": ["name", "city"],
}
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "items": {"type": "array", "items": OPEN, "minItems": 1, "maxItems": 9},
        "total": {"type": "number"},
    },
    "required": ["id", "items", "total"],
}


@pytest.mark.parametrize(
    "grammar",
    [
        pytest.param(lambda: Grammar.from_json_schema(OPEN), id="an open object"),
        pytest.param(lambda: Grammar.from_json_schema(ORDER), id="an order"),
        pytest.param(lambda: Grammar.from_json_schema({"anyOf": [OPEN, ORDER]}), id="either"),
        pytest.param(lambda: Grammar('start ::= "hello "{3,9};'), id="a repetition"),
        pytest.param(lambda: Grammar('start ::= #"[a-z]{20,60}";'), id="letters"),
        pytest.param(lambda: Grammar('start ::= #"[a-z]{200,600}";'), id="counted letters"),
    ],
)
def test_budgets_count_tokens_where_a_text_could_go_on_after_its_end(
    grammar: Callable[[], Grammar],
) -> None:
    least = {}
    for finish in ("eager", "token", "eos"):
        engine = Engine(grammar(), real_vocabulary(), finish=finish)
        completion = engine.shortest_completion()
        assert completion.tokens is not None
        with pytest.raises(
            ConfigError, match=r"budget=0 is too small: \d+ tokens are enough"
        ) as refused:
            engine.remaining = 0
        least[finish] = int(re.findall(r"(\d+) tokens are enough", str(refused.value))[0])
        ends = finish == "eos"
        assert least[finish] - ends <= 1.3 * len(completion.tokens) + 3
        engine.remaining = least[finish]
    assert least["eager"] == least["token"] == least["eos"] - 1


@pytest.mark.parametrize(
    ("text", "crossing"),
    [
        ('start ::= "hello "{3,9};', b""),
        ('start ::= #"[a-z]{20,60}" | "(" start ")";', b""),
        ("start ::= '{' [member {',' member}] '}'; member ::= 'a:' start | 'b:' start;", b""),
        (
            "start ::= '{' [member {',' member}] '}'; member ::= ('a' | key) ':' start;"
            " key ::= 'b' | 'a' key 'a';",
            b"}",
        ),
        ("start ::= 'x' | '(' start ')' | start '+' start;", b"x)"),
        ("start ::= x | y; x ::= 'ab' | '(' x ')'; y ::= 'abc' | '(' y ')';", b"bc)"),
    ],
)
def test_tokens_end_where_two_derivations_can(text: str, crossing: bytes) -> None:
    tables = Grammar(text).tables
    classes = np.flatnonzero(crossing_classes(tables))
    assert {*classes} == {tables.classes[byte] for byte in crossing}


def test_nothing_is_walked_while_enough_is_left() -> None:
    engine = Engine(Grammar(DIGITS.source.text, finish="eos"), BYTES, budget=1_000)
    for byte in b"1234567890" * 50:
        engine.compute_allowed_token_ids()
        engine.try_accept_new_token(byte)
    assert engine._automaton.nearest_end.walker.visited == 0


def test_logits_are_masked_within_the_budget() -> None:
    vocabulary = Vocabulary.bytes()
    engine = Engine("start ::= #'a*' 'b';", vocabulary, budget=2)
    for expected in ([ord("a"), ord("b")], [ord("b")]):
        logits = engine.mask_logits(np.zeros(vocabulary.size, np.float32))
        assert np.flatnonzero(np.isfinite(logits)).tolist() == expected
        engine.try_accept_new_token(expected[0])
    assert engine.is_finished()
