"""Random texts of a grammar, by derivation, so that they show what the grammar allows.

Derived texts (``ir/derivations.py``) are then fed to the engine, which ends them where the
grammar's finish does, and refuses texts that the vocabulary cannot spell.

Tests: tests/unit/examples/test_sampling.py
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import TYPE_CHECKING

from kbnf_core.ir.derivations import Chunk, Derivations
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import EngineError, WorkLimitError

if TYPE_CHECKING:
    from kbnf_core.engine import Engine

ATTEMPTS = 20
"""Draws for each text that is wanted."""

MAX_WORK = 2_000_000
"""Steps of one call: parts expanded and bytes drawn."""


@dataclass(frozen=True, slots=True)
class Samples:
    """``texts``, all different, and the number of ``draws`` that it took.

    ``total`` is the number of texts in the language, None where it is infinite or not known; it is
    looked for only where fewer texts were found than wanted.
    """

    texts: tuple[bytes, ...]
    draws: int
    total: int | None


def sample_texts(
    engine: "Engine",
    number: int,
    seed: int,
    length: int,
    *,
    ascii_only: bool = False,
    without: Collection[str] = (),
) -> Samples:
    """Return up to ``number`` different texts at random, of about ``length`` choices each.

    With ``ascii_only`` those with other characters are not drawn, and none whose derivation uses a
    rule of ``without``; ``total`` is not known then.

    Special tokens are written by their names. JSON texts that repeat a name of an object are left
    out unless there are no others. None takes more tokens than the engine has left. Raises
    ``EngineError`` for a grammar whose texts are all longer than 65,536 bytes.
    """
    from kbnf_core.text.member_names import MemberNames

    if engine.grammar.is_endless:
        return Samples((), 0, 0)
    left = engine.remaining
    result: dict[bytes, None] = {}
    repeating: dict[bytes, None] = {}
    draws = 0
    random = Random(seed)  # noqa: S311 - nothing is secret here
    derivations = Derivations(engine.grammar.rules, ascii_only=ascii_only, without=without)
    for text in _draw_all(engine, derivations, random, length, number * ATTEMPTS):
        draws += 1
        if text is not None and (text.isascii() or not ascii_only):
            (repeating if MemberNames().read(text) else result)[text] = None
        if len(result) == number:
            return Samples(tuple(result), draws, None)
    engine.reset()
    engine.remaining = left
    is_whole = not (ascii_only or without)
    if not without and (left is not None or not (result or repeating or ascii_only)):
        # The drawn text needs too many tokens, or the vocabulary cannot spell it: draw tokens.
        for _ in range(1 if left is None else number * ATTEMPTS):
            drawn = engine.sample(random, length)
            draws += 1
            if drawn.is_complete:
                ends = engine.vocabulary.eos_token_ids
                tokens = [token for token in drawn.tokens if token not in ends]
                text = engine.vocabulary.decode(tokens)
                if text.isascii() or not ascii_only:
                    result[text] = None
            if len(result) == number:
                return Samples(tuple(result), draws, None)
    texts = tuple(result or repeating)[:number]
    return Samples(texts, draws, count_texts(engine, number) if is_whole else None)


def count_texts(engine: "Engine", most: int) -> int | None:
    """Return the number of texts in the language; None if it is not known to be finite.

    It is found where ``most`` texts stand for all of them, of bytes that are alike by one.
    """
    result = engine.shortest_texts(most)
    if not result.is_all:
        return None
    classes = engine.grammar.tables.classes
    sizes = Counter(int(byte_class) for byte_class in classes)
    return sum(prod(sizes[int(classes[byte])] for byte in text) for text in result.texts)


def _draw_all(
    engine: "Engine", derivations: Derivations, random: Random, length: int, draws: int
) -> Iterator[bytes | None]:
    """Yield a text a draw, None where it cannot be written or does not end as the grammar does."""
    budget, left = Budget(MAX_WORK), engine.remaining
    for _ in range(0 if derivations.is_empty else draws):
        try:
            symbols = derivations.draw(random, length, budget)
        except WorkLimitError:
            return
        engine.reset()
        engine.remaining = left
        yield _written(engine, symbols, random)


def _written(engine: "Engine", symbols: Sequence[Chunk], random: Random) -> bytes | None:
    """Return the prefix of a derived text that the engine accepts, up to where it finishes."""
    from kbnf_core.mask.masks import TokenTerminals
    from kbnf_core.vocab.trie import fewest_tokens

    vocabulary = engine.vocabulary
    text: list[bytes] = []
    for symbol in symbols:
        tokens: Sequence[int] | None
        if isinstance(symbol, bytes):
            tokens = fewest_tokens(vocabulary.trie, symbol)
        else:
            ids = sorted(TokenTerminals([symbol], vocabulary).ids())
            tokens = [random.choice(ids)] if ids else None
        for token_id in tokens or ():
            if engine.is_finished():
                break
            try:
                engine.try_accept_new_token(token_id)
            except EngineError:
                return None
            text.append(vocabulary.decode((token_id,)))
        if tokens is None:
            return None
    return b"".join(text) if engine.can_finish() else None
