"""What a token costs far into a text, for every form of recursion and for lists."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from kbnf_core import Config, Engine, Grammar, Vocabulary

POSITIONS = (100, 10_000, 100_000)
WINDOW = 1_000
"""Tokens that are timed from a position on."""

PARTS = 10
"""Of a window: the median of their means does not know when another process had its turn."""


@dataclass(frozen=True, slots=True)
class Form:
    """A grammar, and the bytes that a text of it begins with, to be repeated without end."""

    name: str
    grammar: str
    repeated: bytes


_NESTED = "item ::= 'x' | '(' item ')';"

FORMS = (
    Form("left recursion", "start ::= items ';'; items ::= 'a' | items 'a';", b"a"),
    Form("right recursion", "start ::= items ';'; items ::= 'a' | 'a' items;", b"a"),
    Form("middle recursion", f"start ::= {{ item }} ';'; {_NESTED}", b"((((((((x))))))))"),
    Form("middle recursion, never closed", f"start ::= item; {_NESTED}", b"("),
    Form("list", "start ::= '[' item { ',' item } ']'; item ::= #'[0-9]+';", b"1,"),
)


def costs(vocabulary: Vocabulary, repeats: int) -> dict[str, dict[str, float]]:
    """Return, by form, microseconds a token at each position, and the states known at the end."""
    return {form.name: _cost(form, vocabulary, repeats) for form in FORMS}


def _cost(form: Form, vocabulary: Vocabulary, repeats: int) -> dict[str, float]:
    runs = [_run(form, vocabulary) for _ in range(repeats)]
    # The least disturbed run; what a longer text costs, all of them pay.
    return {key: min(run[key] for run in runs) for key in runs[0]}


def _run(form: Form, vocabulary: Vocabulary) -> dict[str, float]:
    engine = Engine(Grammar(form.grammar), vocabulary, Config(finish="eos"))
    tokens = [vocabulary.token_ids(bytes((value,)))[0] for value in form.repeated]
    if form.name == "list":
        engine.try_accept_new_bytes(b"[")
    bits = np.zeros((vocabulary.size + 31) // 32, np.int32)
    times = np.zeros(POSITIONS[-1] + WINDOW)
    for position in range(len(times)):
        token = tokens[position % len(tokens)]
        before = perf_counter()
        engine.fill_bitmask(bits)
        engine.try_accept_new_token(token)
        times[position] = perf_counter() - before
    found = {str(at): _typical(times[at : at + WINDOW]) for at in POSITIONS}
    return found | {"states": float(len(engine._automaton.masks.states))}


def _typical(seconds: npt.NDArray[np.float64]) -> float:
    """Return the microseconds of a token in the middle one of ten parts."""
    return float(np.median(seconds.reshape(PARTS, -1).mean(axis=1)) * 1e6)
