"""Masks are what can be accepted, token by token, over random classes and a real vocabulary.

What is compared, and with what, is in ``kbnf_testing.class_masks``; a chunk is a few hundred masks.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.mask.slices import LEAST_TOKENS
from kbnf_testing.acceptance import FINISHES, START, Acceptance, Prefixes, accepted_by, mask_of
from kbnf_testing.class_masks import ClassMasks
from kbnf_testing.real_vocabulary import real_vocabulary
from kbnf_testing.samples import seeds

GRAMMARS_A_CHUNK = 8


@pytest.fixture(scope="module")
def masks() -> ClassMasks:
    return ClassMasks(real_vocabulary())


@pytest.mark.parametrize("chunk", seeds(400, ordinary=3, ci=9))
def test_masks_are_what_can_be_accepted(masks: ClassMasks, chunk: int) -> None:
    random = Random(chunk)
    before = masks.compared
    for _ in range(GRAMMARS_A_CHUNK):
        masks.compare_engines(random)
    assert masks.compared > before + 4 * GRAMMARS_A_CHUNK


@pytest.mark.parametrize("chunk", seeds(200, ordinary=3, ci=10))
def test_what_is_made_ahead_is_what_can_be_accepted(
    masks: ClassMasks, chunk: int, tmp_path: Path
) -> None:
    masks.compare_made_ahead(Random(f"ahead {chunk}"), tmp_path)


def few() -> Vocabulary:
    """Too few tokens for slices."""
    tokens = {i: real_vocabulary().tokens[1000 + i] for i in range(LEAST_TOKENS - 1)}
    return Vocabulary(tokens, eos_token_id=LEAST_TOKENS)


def repeated() -> Vocabulary:
    """Each token three times, in another order."""
    tokens = [real_vocabulary().tokens[1000 + 17 * i] for i in range(4_000)]
    return Vocabulary(dict(enumerate([*tokens, *tokens[::-1], *tokens])), eos_token_id=90_000)


def beyond_ascii() -> Vocabulary:
    """No token with a byte of ASCII, but all other bytes, and a text may end by two ids."""
    tokens = {i: data for i, data in real_vocabulary().tokens.items() if min(data) >= 0x80}
    return Vocabulary(tokens, eos_token_id=[2, 3])


def pieces() -> Vocabulary:
    """Characters that begin or end within a token."""
    characters = "éñ漢字你好。🙂😀а€ก\u2028"
    cut = {
        (a + b).encode()[i:j]
        for a, b in product(characters, repeat=2)
        for i in (0, 1, 2)
        for j in (None, -1, -2)
    }
    whole = {data + b" x" * k for data in cut for k in (0, 1, 2)} | {
        b" x" * 50,
        b" x" * 200,
        b"\xff",
    }
    tokens = sorted(whole | {bytes([value]) for value in range(256)})
    padding = [f"{number:x}".encode() for number in range(0x1000, 0x1000 + LEAST_TOKENS)]
    return Vocabulary(dict(enumerate([*tokens, *padding])), eos_token_id=60_000)


@pytest.mark.parametrize("make", [few, repeated, beyond_ascii, pieces])
@pytest.mark.parametrize("chunk", seeds(100, ordinary=1, ci=1))
def test_vocabularies_of_other_shapes(
    make: Callable[[], Vocabulary], chunk: int, tmp_path: Path
) -> None:
    masks, random = ClassMasks(make()), Random(f"{make.__name__} {chunk}")
    for _ in range(GRAMMARS_A_CHUNK):
        masks.compare_engines(random)
    masks.compare_made_ahead(random, tmp_path)


@pytest.mark.parametrize(
    ("grammar", "prefix"),
    [
        (r'start ::= #r"[^\x00-\x7f]+" "é"?;', "漢"),
        ("start ::= except!('你好', 5) '你好';", "你"),
    ],
)
def test_the_judge_is_acceptance(grammar: str, prefix: str) -> None:
    vocabulary = real_vocabulary()
    acceptance = Acceptance(Grammar(grammar), Prefixes(vocabulary))
    for finish in FINISHES:
        place = acceptance.after(START, prefix.encode())
        if finish != "eos" and acceptance.is_complete(place):
            continue
        engine = Engine(grammar, vocabulary, finish=finish)
        engine.try_accept_new_bytes(prefix.encode())
        flags = acceptance.allowed(place, finish)
        assert accepted_by(engine, range(vocabulary.size)) == flags.nonzero()[0].tolist()
        assert mask_of(engine).tolist() == flags.tolist()
