"""What is counted as memory, beside what the allocator has given out, in a process of its own."""

import ctypes
import gc
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbnf_core import Compiler, Engine, KbnfError, Vocabulary, load_vocabulary

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY = ROOT / "tests/data/vocab/rwkv_vocab_v20230424.json"

USES = ["masks", "budget", "drafts", "events"]
SCHEMAS = 24


def schemas() -> Iterator[Any]:
    """Yield different schemas with strings, numbers, lists and nested objects."""
    for number in range(SCHEMAS):
        item = {
            "type": "object",
            "properties": {
                f"name_{number}": {"type": "string", "maxLength": 20 + number},
                f"at_{number}": {"type": "string", "format": "date-time"},
                f"kind_{number}": {"enum": [f"one_{number}", "two", "three"]},
                "count": {"type": "integer", "minimum": number},
            },
            "required": [f"name_{number}", "count"],
        }
        yield {
            "type": "object",
            "properties": {f"items_{number}": {"type": "array", "items": item}, "first": item},
            "required": ["first"],
        }


class _Info(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def allocated() -> int:
    """Return the bytes that the allocator has given out."""
    gc.collect()
    mallinfo2 = ctypes.CDLL("libc.so.6").mallinfo2
    mallinfo2.restype = _Info
    found = mallinfo2()
    return int(found.uordblks + found.hblkhd)


def use(engine: Engine, how: str, rng: random.Random, rows: Any) -> None:
    """Write a random text of 60 tokens at most."""
    for _ in range(60):
        engine.fill_bitmask(rows[0])
        bits = np.unpackbits(rows[0].view(np.uint8), bitorder="little")
        ids = np.flatnonzero(bits)
        if not len(ids) or engine.is_finished():
            return
        token = int(ids[rng.randrange(len(ids))])
        if how == "drafts":
            engine.fill_draft_bitmask(rows, 0, [token, *map(int, ids[:2])])
        if token in engine.vocabulary.eos_token_ids:
            return
        engine.try_accept_new_token(token)
        if how == "events":
            engine.events()


def main(how: str) -> None:
    """Print what was allocated for the grammars of a compiler, and what it counts."""
    vocabulary: Vocabulary = load_vocabulary(VOCABULARY)
    rows, rng = np.zeros((4, (vocabulary.size + 31) // 32), np.int32), random.Random(1)
    compiler = Compiler(vocabulary, ahead=False)
    for index, schema in enumerate([{"type": "object"}, *schemas()]):
        grammar = compiler.json_schema(schema)
        for _ in range(3):
            budget = 300 if how == "budget" else None
            use(Engine(grammar, vocabulary, budget=budget), how, rng, rows)
        if index == 0:
            # What all grammars share is there now.
            before, counted = allocated(), compiler.bytes
    del grammar
    sys.stdout.write(json.dumps([allocated() - before, compiler.bytes - counted]))


@pytest.mark.parametrize("how", USES)
def test_bytes_are_those_of_the_allocator(how: str) -> None:
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("the allocator does not say what it has given out")
    done = subprocess.run(
        [sys.executable, __file__, how],
        env={**os.environ, "PYTHONMALLOC": "malloc"},
        capture_output=True,
        text=True,
        check=True,
    )
    taken, counted = json.loads(done.stdout)
    assert 1 / 2 <= counted / taken <= 2, (counted, taken)


def test_what_a_grammar_has_taken_is_given_back() -> None:
    """No circle keeps it until a collector runs."""
    vocabulary = Vocabulary.bytes()
    engine = Engine(Compiler(vocabulary).json_schema(True), vocabulary, budget=300, ahead=False)
    engine.compute_allowed_token_ids()
    engine.forced_tokens()
    automaton = engine._automaton
    gc.disable()
    try:
        import weakref

        alive = weakref.ref(automaton.masks)
        del engine, automaton
        assert alive() is None
    finally:
        gc.enable()


def test_a_refusal_has_a_size() -> None:
    compiler = Compiler(Vocabulary.bytes())
    with pytest.raises(KbnfError):
        compiler.json_schema({"type": "nothing"})
    assert compiler.bytes > 4_000


if __name__ == "__main__":
    main(sys.argv[1])
