"""What a grammar remembers over long random use stays within a bound that its limits give."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kbnf_core import Config, Engine, Limits, Vocabulary
from kbnf_core import engine as engine_module
from kbnf_core.mask import masks
from kbnf_core.recognise import states

GRAMMARS = {
    "ambiguous": (
        'start ::= s ";"; s ::= "x" | s "+" s | "(" s ")" | "a" s "a" | "b" s "b";',
        b"x+();ab",
    ),
    "nested": (
        'start ::= v; v ::= "[" [v {"," v}] "]" | "{" [k {"," k}] "}" | #"[0-9]{1,9}";'
        ' k ::= s ":" v; s ::= #"\\"[a-z]{0,40}\\"";',
        b'[]{},:"az019',
    ),
    "wide": (
        'start ::= p; p ::= {"a" | "b" | "c"} (q | r) p | "."; q ::= "a" q "b" | "c";'
        ' r ::= "b" r "a" | "c" r r | "c";',
        b"abc.",
    ),
}
LIMITS = Limits(cached_states=200, cached_steps=400, mask_bytes=100_000)


@dataclass(frozen=True)
class _Counts:
    """How much is remembered of each kind."""

    states: int
    grown: int
    shared: int
    memos: int
    steps: int


def _vocabulary(random: Random, letters: bytes, size: int) -> Vocabulary:
    tokens = {number: bytes([letter]) for number, letter in enumerate(letters)}
    while len(tokens) < size:
        length = random.randint(2, 5)
        tokens[len(tokens)] = bytes(random.choice(letters) for _ in range(length))
    return Vocabulary(tokens, eos_token_id=size)


def _count(engine: Engine) -> _Counts:
    automaton = engine._automaton
    known = automaton.masks
    memos = (known.unions, automaton.words)
    return _Counts(
        len(known.states),
        known.states.grown,
        known.results.rows.added_bytes + known.results.node_sets.added_bytes,
        max(len(known.assembler), *(len(memo.entries()) for memo in memos)),
        len(automaton.after.entries()),
    )


def _step(engine: Engine, random: Random, longest: int) -> None:
    engine.compute_allowed_token_ids()
    ids = engine.get_allowed_token_ids_from_last_computation()
    if not ids or len(engine.accepted) >= longest:
        engine.reset()
        return
    engine.try_accept_new_token(random.choice(ids))


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_remembered_is_bounded_by_the_limits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "LEAST_STATES", 1)
    monkeypatch.setattr(masks, "LEAST_MASKS", 1)
    random = Random(1)
    grammar, letters = GRAMMARS[name]
    vocabulary = _vocabulary(random, letters, 120)
    engine = Engine(grammar, vocabulary, Config(finish="eos", limits=LIMITS))
    # What one call adds comes on top: a walk meets a state for each node, more for each exit.
    once = 4 * len(vocabulary.trie.byte)
    carried = engine_module.KEPT_POSITIONS + 1
    capacity = engine._automaton.masks.mask_capacity
    assert capacity < 400
    tables = [engine._automaton.masks.states]
    for _ in range(12_000):
        _step(engine, random, longest=300)
        counts = _count(engine)
        assert counts.states <= LIMITS.cached_states + carried + once
        assert counts.grown <= states.MEMBERS_PER_STATE * (LIMITS.cached_states + once)
        assert counts.shared <= LIMITS.mask_bytes + 2_000 * once
        assert counts.memos <= capacity + 2
        assert counts.steps <= LIMITS.cached_steps + 2
        if engine._automaton.masks.states is not tables[-1]:
            tables.append(engine._automaton.masks.states)
    assert len(tables) > 2


def test_large_states_count_for_more_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with few states, each of many parts, is begun anew as well."""
    monkeypatch.setattr(states, "LEAST_STATES", 1)
    monkeypatch.setattr(states, "MEMBERS_PER_STATE", 1)
    grammar, letters = GRAMMARS["ambiguous"]
    vocabulary = _vocabulary(Random(2), letters, 60)
    limits = Limits(cached_states=400)
    engine = Engine(grammar, vocabulary, Config(finish="eos", limits=limits))
    first = engine._automaton.masks.states
    for _ in range(400):
        engine.try_accept_new_bytes(b"(")
        if engine._automaton.masks.states is not first:
            break
    assert engine._automaton.masks.states is not first
    assert len(first) <= limits.cached_states
    assert engine._automaton.masks.states.grown < first.grown
    engine.try_accept_new_bytes(b"x)")


def _resident() -> float:
    """Return the process's memory in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("name", ["ambiguous", "nested"])
def test_memory_reaches_a_plateau(name: str) -> None:
    random = Random(3)
    grammar, letters = GRAMMARS[name]
    limits = Limits(cached_states=20_000, cached_steps=20_000, mask_bytes=2**22)
    vocabulary = _vocabulary(random, letters, 3_000)
    engine = Engine(grammar, vocabulary, Config(finish="eos", limits=limits))
    seen = []
    for _ in range(20):
        for _ in range(20_000):
            _step(engine, random, longest=3_000)
        seen.append(_resident())
    assert np.max(seen[10:]) <= 1.1 * np.max(seen[:10]), seen
