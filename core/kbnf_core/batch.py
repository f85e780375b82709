"""Batches: the masks of many engines in the rows of one bitmask.

A bitmask has a row a text and a bit a token id: int32 words, bit ``id % 32`` of word ``id // 32``,
the layout of XGrammar and LLGuidance. ``mask.bits.apply_bitmask`` puts it on logits.

Tests: tests/unit/mask/test_ahead.py
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from kbnf_core import kernel
from kbnf_core.engine import Engine
from kbnf_core.mask.ahead import Ahead
from kbnf_core.mask.bits import as_words, check_rows, checked_tree, word_count
from kbnf_core.text.errors import VocabularyError

BATCHES = Ahead()
"""The work ahead for engines of batches without one of their own."""


def allocate_bitmask(rows: int, size: int) -> npt.NDArray[np.int32]:
    """Return int32[rows, words] for ``size`` token ids, in which everything is allowed.

    ``size`` is the width of the logits, or of the vocabulary. ``torch.from_numpy`` shares it.
    """
    return np.full((rows, word_count(size)), -1, np.int32)


def fill_bitmasks(
    engines: Sequence[Engine | None],
    out: Any,
    rows: Iterable[SupportsIndex] | None = None,
    threads: int | None = None,
    *,
    ahead: bool = True,
) -> None:
    """Write the mask of each engine into its row of ``out``, as ``Engine.fill_bitmask`` does.

    ``rows`` are those of the engines in turn, by default the first ones; without an engine (None)
    a row allows everything. With ``threads`` above one, at most one for each processor, they share
    the copying without the GIL, and are kept for the next call. What an engine remembers as its
    last computation is not changed. With ``ahead``, masks that are likely to come next are made
    while the model computes, for engines without another setting (``Engine``; ``BATCHES`` counts).
    Raises what ``fill_bitmask`` raises, and ``VocabularyError`` for engines over tokens that
    differ, before anything is written.
    """
    words = as_words(out)
    table = words if words.ndim == 2 else words.reshape(1, -1)
    if not table.flags.writeable:
        raise ValueError("this bitmask is read-only")
    texts = list(engines)
    if len(texts) > 1:
        _check_vocabularies(texts)
    indices = None if rows is None else np.fromiter(rows, np.int64)
    if indices is not None and len(indices) != len(texts):
        raise ValueError(f"{len(texts)} engines need as many rows, not {len(indices)}")
    kernel.fill_rows(table, indices, texts, threads or 1)
    if ahead:
        for engine in texts:
            # Not by its property, which takes a tenth of the time of a mask that is known.
            if engine is not None and engine._ahead is None:
                engine.look_ahead(BATCHES)


def fill_tree_bitmasks(
    engines: Sequence[Engine | None],
    out: Any,
    parents: Any,
    tokens: Any,
    rows: Iterable[SupportsIndex] | None = None,
) -> None:
    """Fill for each engine as ``Engine.fill_tree_bitmasks`` does.

    ``parents`` and ``tokens``: integers, of the shape (engines, nodes). The tree of an engine
    begins in its row of ``rows``, by default after that of the engine before it; without an
    engine (None) its rows allow everything. Raises what that method raises, and
    ``VocabularyError`` for engines over tokens that differ, before anything is written.
    """
    table = as_words(out)
    _check_vocabularies(engines)
    trees = [checked_tree(*tree) for tree in zip(parents, tokens, strict=True)]
    height = max((len(tree[0]) for tree in trees), default=0)
    firsts = range(0, height * len(engines), height) if rows is None else [index(r) for r in rows]
    if not len(engines) == len(trees) == len(firsts):
        counts = f"{len(trees)} trees in {len(firsts)} places"
        raise ValueError(f"{len(engines)} engines need as many trees, not {counts}")
    for engine, first in zip(engines, firsts, strict=True):
        check_rows(table, first, height, engine.vocabulary.size if engine else 0)
    for engine, first, tree in zip(engines, firsts, trees, strict=True):
        if engine is None:
            table[first : first + height] = -1
        else:
            engine.fill_tree_bitmasks(table, first, *tree)


def _check_vocabularies(engines: Sequence[Engine | None]) -> None:
    """Raise ``VocabularyError`` unless all engines are over the same tokens, whatever ends them."""
    used = {engine.vocabulary for engine in engines if engine is not None}
    if len(used) < 2:
        return
    bases = {vocabulary.base or vocabulary for vocabulary in used}
    if len(bases) > 1 and len({base.fingerprint for base in bases}) > 1:
        raise VocabularyError(f"the engines of a batch are over one vocabulary, not {len(bases)}")
