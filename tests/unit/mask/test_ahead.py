"""Work ahead: it changes no mask, shows itself, and stays within its bounds."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import islice
from pathlib import Path
from random import Random
from threading import Event
from time import sleep
from typing import Any

import numpy as np
import pytest

from kbnf_core import Ahead, Compiler, Engine, Grammar, Limits, Vocabulary, allocate_bitmask
from kbnf_core.batch import BATCHES, fill_bitmasks
from kbnf_core.integrations.stepwise import Stepwise
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.mask.ahead import SWITCH
from kbnf_core.text.errors import GrammarError
from kbnf_testing.real_vocabulary import real_vocabulary

SUITE = Path(__file__).resolve().parents[2] / "data/json-schema-test-suite"
WORDS = [b'"', b'": ', b'{"', b'", "', b"true", b"null", b"[", b"], ", b"}", b"ab", b"foo", b" "]
SMALL = Vocabulary(dict(enumerate([*(bytes([b]) for b in range(256)), *WORDS]))).ending_with([1])
OBJECT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
TINY = Limits(cached_states=1, mask_bytes=1)


def schemas() -> Iterator[Any]:
    """Yield the schemas of the test suite, then the same again under other names, without end."""
    found = [
        group["schema"]
        for path in sorted(SUITE.glob("*/*.json"))
        for group in json.loads(path.read_text(encoding="utf-8"))
    ]
    Random(1).shuffle(found)
    yield from found
    while True:
        found = [{"type": "object", "properties": {"foo": each}} for each in found]
        yield from found


class _Signal:
    """In the place of a token automaton: says when the thread comes to it."""

    def __init__(self) -> None:
        self.reached = Event()
        self.unasked: set[int] = set()

    @property
    def masks(self) -> None:
        self.reached.set()
        raise AttributeError


def catch_up() -> None:
    """Wait until the thread has done what it was given before."""
    signal = _Signal()
    Ahead().put(-1, signal, 0)  # type: ignore[arg-type] # the thread asks for no more than it has
    assert signal.reached.wait(20)


def mask_of(engine: Engine) -> bytes:
    bits = allocate_bitmask(1, engine.vocabulary.size)
    engine.fill_bitmask(bits, 0)
    return bits.tobytes()


def walk(ahead: Engine, plain: Engine, random: Random, steps: int) -> None:
    """Go the same way with both, and compare masks; the way goes back and forth, and by copies."""
    for _ in range(steps):
        assert mask_of(ahead) == mask_of(plain)
        allowed = plain.get_allowed_token_ids_from_last_computation()
        if not allowed or plain.is_finished():
            plain.reset()
            ahead.reset()
            continue
        chance = random.random()
        if chance < 0.1 and plain.accepted:
            back = random.randint(1, len(plain.accepted))
            plain.rollback(back)
            ahead.rollback(back)
        elif chance < 0.2:
            ahead, plain = copy(ahead), copy(plain)
        else:
            token = random.choice(allowed)
            ahead.try_accept_new_token(token)
            plain.try_accept_new_token(token)
        if chance > 0.7:
            sleep(0.0005)


def compare(schema: Any, vocabulary: Vocabulary, seed: int, limits: Limits, steps: int) -> bool:
    try:
        grammars = [
            Grammar.read(json.dumps(schema), JSON_SCHEMA, lossy=True, limits=limits)
            for _ in range(2)
        ]
        ahead = Engine(grammars[0], vocabulary, ahead=True)
        plain = Engine(grammars[1], vocabulary)
    except GrammarError:
        return False
    walk(ahead, plain, Random(seed), steps)
    return True


@pytest.mark.parametrize("limits", [Limits(), TINY], ids=["usual limits", "tiny limits"])
def test_masks_are_the_same(limits: Limits) -> None:
    drawn = enumerate(islice(schemas(), 60))
    assert sum(compare(schema, SMALL, seed, limits, 30) for seed, schema in drawn) > 30


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(), TINY], ids=["usual limits", "tiny limits"])
def test_masks_of_a_thousand_schemas_are_the_same(limits: Limits) -> None:
    vocabulary = real_vocabulary()
    drawn = enumerate(islice(schemas(), 1_000))
    assert sum(compare(schema, vocabulary, seed, limits, 20) for seed, schema in drawn) > 600


def test_threads_share_a_grammar_and_its_work_ahead() -> None:
    grammars = [Grammar.from_json_schema(OBJECT) for _ in range(2)]
    counts = Ahead()

    def run(seed: int) -> None:
        ahead = Engine(grammars[0], SMALL, ahead=counts)
        walk(ahead, Engine(grammars[1], SMALL), Random(seed), 100)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(8)))
    catch_up()
    assert counts.positions > 0


def test_it_counts_what_it_makes_and_what_is_asked_for() -> None:
    engine = Engine(Grammar.from_json_schema(OBJECT), SMALL, ahead=True)
    catch_up()
    assert engine.ahead is not None
    made = engine.ahead.positions
    assert made > 1
    assert engine.ahead.hits == 0
    assert engine.ahead.seconds > 0
    engine.compute_allowed_token_ids()
    engine.compute_allowed_token_ids()
    assert engine.ahead.hits == 1
    engine.try_accept_new_bytes(b'{"name": "')
    engine.compute_allowed_token_ids()
    catch_up()
    assert engine.ahead.positions > made
    assert repr(engine.ahead).startswith(f"<Ahead: {engine.ahead.positions} masks made, ")


def test_known_text_costs_nothing() -> None:
    engine = Engine(Grammar.from_json_schema(OBJECT), SMALL, ahead=True)
    text = b'{"name": "a b", "age": 1}'
    for byte in text:
        engine.try_accept_new_token(byte)
    catch_up()
    assert engine.ahead is not None
    before = engine.ahead.seconds
    engine.reset()
    for byte in text:
        engine.try_accept_new_token(byte)
    catch_up()
    assert engine.ahead.seconds == before


def test_an_engine_alone_does_not_unless_it_is_told() -> None:
    assert Engine("start ::= 'a'+;", SMALL).ahead is None
    assert Engine("start ::= 'a'+;", SMALL, ahead=False).ahead is None
    shared = Ahead()
    assert Engine("start ::= 'a'+;", SMALL, ahead=shared).ahead is shared


@pytest.mark.parametrize("workers", [0, 1])
def test_grammars_of_a_compiler_do(workers: int) -> None:
    with Compiler(SMALL, workers=workers) as compiler:
        engine = Engine(compiler.json_schema(OBJECT), SMALL)
        assert compiler.ahead is not None
        assert engine.ahead is compiler.ahead
        assert copy(engine).ahead is compiler.ahead
        assert Engine(compiler.json_schema(OBJECT), SMALL, ahead=False).ahead is None
    with Compiler(SMALL, workers=workers, ahead=False) as compiler:
        assert compiler.ahead is None
        assert Engine(compiler.json_schema(OBJECT), SMALL).ahead is None


def test_engines_of_a_batch_do() -> None:
    grammar = Grammar.from_json_schema(OBJECT)
    engines = [Engine(grammar, SMALL), Engine(grammar, SMALL, ahead=False)]
    out = allocate_bitmask(3, SMALL.size)
    fill_bitmasks([*engines, None], out, ahead=False)
    assert engines[0].ahead is None
    fill_bitmasks([*engines, None], out)
    assert engines[0].ahead is BATCHES
    assert engines[1].ahead is None
    before = BATCHES.positions
    engines[0].try_accept_new_bytes(b'{"name')
    catch_up()
    assert BATCHES.positions > before


def test_hosts_of_one_sequence_do() -> None:
    host = Stepwise(Grammar.from_json_schema(OBJECT), SMALL)
    host.mask([], np.zeros(SMALL.size, np.float32))
    catch_up()
    assert host.ahead is not None
    assert host.ahead.positions > 0
    assert Stepwise("start ::= 'a'+;", SMALL, ahead=False).ahead is None


def test_the_environment_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    with Compiler(SMALL) as compiler:
        assert compiler.ahead is None
        assert Engine(compiler.json_schema(OBJECT), SMALL, ahead=True).ahead is None
    engine = Engine("start ::= 'a'+;", SMALL)
    fill_bitmasks([engine], allocate_bitmask(1, SMALL.size))
    assert engine.ahead is None
    assert Engine("start ::= 'a'+;", SMALL, ahead=Ahead()).ahead is None


def test_batches_share_the_work_of_a_position() -> None:
    """Of a hundred texts that wait none gets a millisecond's work."""
    grammars = [Grammar.from_json_schema(OBJECT) for _ in range(100)]
    alone, shared = Ahead(), Ahead()
    engine = Engine(grammars[0], SMALL, ahead=alone)
    catch_up()
    assert engine.ahead is alone
    engines = [Engine(grammar, SMALL) for grammar in grammars[1:]]
    for place, each in enumerate(engines):
        shared.put(place, each._automaton, each._position)
    catch_up()
    assert len(engines) <= shared.positions < len(engines) * alone.positions


IN_A_PROCESS = """
import os, sys, time
sys.path[:0] = {path!r}
from kbnf_core import Engine, Grammar, Vocabulary
vocabulary = Vocabulary({{n: bytes([n]) for n in range(256)}})
engine = Engine("start ::= ('a' | 'b' start 'c' | #'[x-z]{{3,50}}')*;", vocabulary, ahead=True)
for _ in range(400):
    engine.try_accept_new_bytes(b"b")
"""

FORKED = """
for turn in range(20):
    child = os.fork()
    if not child:
        engine.try_accept_new_bytes(b"bax")
        engine.compute_allowed_token_ids()
        right = engine.get_allowed_token_ids_from_last_computation() == [120, 121, 122]
        made = engine.ahead.positions
        end = time.monotonic() + 20
        while engine.ahead.positions == made and time.monotonic() < end:
            engine.try_accept_new_bytes(b"y" if turn else b"z")
            time.sleep(0.01)
        os._exit(0 if right and engine.ahead.positions > made else 1)
    assert os.waitpid(child, 0)[1] == 0
    engine.try_accept_new_bytes(b"a")
print("done")
"""


def run_alone(code: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", IN_A_PROCESS.format(path=sys.path) + code]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_the_process_ends_whatever_the_thread_is_at() -> None:
    done = run_alone("print('done')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_begins_a_thread_of_its_own() -> None:
    done = run_alone(FORKED)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
