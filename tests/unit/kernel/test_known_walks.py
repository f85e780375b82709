"""Walks that grammars share: found again under another numbering, and never where they differ."""

from contextlib import suppress
from itertools import combinations, product
from random import Random

import numpy as np
import pytest

from kbnf_core import Config, Engine, Vocabulary
from kbnf_core.mask.bits import unpack, word_count
from kbnf_core.text.errors import RejectedError

BYTES = [bytes([value]) for value in range(256)]
PIECES = ["a", "b", "Z", " ", '"', '",', "\\", "\\n", "é", "漢", "x:", "]"]


def vocabulary() -> Vocabulary:
    texts = {
        "".join(each).encode() for each in (*product(PIECES, repeat=3), *product("abZ ", repeat=5))
    }
    return Vocabulary(dict(enumerate([*BYTES, *sorted(texts)])))


def allowed_after(engine: Engine, text: str) -> set[int]:
    engine.reset()
    engine.try_accept_new_bytes(text.encode())
    bits = np.zeros(word_count(engine.vocabulary.size), np.int32)
    engine.fill_bitmask(bits)
    return set(np.flatnonzero(unpack(bits.view(np.uint32), engine.vocabulary.size)).tolist())


def accepted_after(engine: Engine, text: str) -> set[int]:
    accepted = set()
    for token in engine.vocabulary.tokens:
        engine.reset()
        engine.try_accept_new_bytes(text.encode())
        with suppress(RejectedError):
            engine.try_accept_new_token(token)
            accepted.add(token)
    return accepted


def visited(engine: Engine) -> int:
    return engine._automaton.masks.visited


STRING = r"""text ::= '"' #r'([^"\\\x00-\x1f]|\\["\\nt])*' '"';"""
SPLIT = " | ".join(f"'{one}{one}{one}'" for one in "ebcdfghijklmnop")
"""Keeps bytes apart: what begins with few classes gets no name."""
SURROUNDINGS = [
    ("start ::= text | '(' start ')' | text '(' start;", ""),
    ("start ::= '[' [list] ']'; list ::= text | text ',' list | '[' text list;", "["),
    ("start ::= 'q' text 'xyz' | 'r' text #'[a-c]+' | text text;", "q"),
    ("start ::= #'[é-ü]' text ']' | text number text; number ::= #'[0-9]{1,3}';", "é"),
]


def test_a_string_is_walked_once_whatever_is_around_it() -> None:
    mine = vocabulary()
    looked = []
    for grammar, before in SURROUNDINGS:
        engine = Engine(f"{split(grammar)} {STRING}", mine, Config(finish="eos"))
        assert allowed_after(engine, before + '"') == accepted_after(engine, before + '"')
        looked.append(visited(engine))
    # What remains is what follows the string.
    assert looked[0] > 100
    assert max(looked[1:]) < looked[0] // 2


def split(grammar: str) -> str:
    return grammar.replace("start ::=", f"start ::= {SPLIT} |", 1)


def texts(random: Random) -> str:
    """Return a rule that reads much of what others read."""
    left_out = "".join(sorted(set(random.choices("abZx:é", k=random.randint(0, 2)))))
    escapes = random.choice(["", "n", 'n"'])
    escaped = rf"|\\[{escapes}]" if escapes else ""
    end = random.choice(['"', '",', "é"])
    often = random.choice(["*", "*", "+", "{0,2}"])
    more = random.choice(["", " 'a'", " [text]"])
    return rf"""text ::= '"' #r'([^"\\{left_out}]{escaped}){often}' '{end}'{more};"""


@pytest.mark.parametrize("seed", range(4))
def test_what_nearly_is_the_same_is_walked_by_itself(seed: int) -> None:
    random, mine = Random(seed), vocabulary()
    for _ in range(12):
        grammar, before = random.choice(SURROUNDINGS)
        engine = Engine(f"{split(grammar)} {texts(random)}", mine, Config(finish="eos"))
        assert allowed_after(engine, before + '"') == accepted_after(engine, before + '"')


@pytest.mark.parametrize(
    "twins",
    [
        # What is complete, which bytes lead on, where one leads.
        ("#'[^a]+ab'", "#'[^a]+ab?'"),
        ("#'[^a]+ab'", "#'[^a]+aa'"),
        ("#'([^a]+ab )*[^a]+aZ '", "#'[^a]+(ab [^a]*)*aZ '"),
    ],
)
def test_what_differs_in_one_thing_is_walked_by_itself(twins: tuple[str, str]) -> None:
    mine = vocabulary()
    for pattern in twins:
        engine = Engine(
            f"{split(SURROUNDINGS[1][0])} text ::= '\"' {pattern};", mine, Config(finish="eos")
        )
        assert allowed_after(engine, '["') == accepted_after(engine, '["')


def test_more_walks_than_are_kept() -> None:
    mine = vocabulary()
    engines = [
        Engine(
            f"{split(SURROUNDINGS[1][0])} text ::= '\"' #'[^{left_out}]+a';",
            mine,
            Config(finish="eos"),
        )
        for left_out in map("".join, combinations("abcdefghijklmnopqrstuvwx", 2))
    ]
    for engine in engines:
        allowed_after(engine, '["')
    for engine in (engines[0], engines[-1]):
        again = Engine(engine.grammar, Vocabulary(dict(mine.tokens)), Config(finish="eos"))
        assert allowed_after(engine, '["') == allowed_after(again, '["')
        assert allowed_after(again, '["') == accepted_after(again, '["')
