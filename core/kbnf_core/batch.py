"""Batches: the masks of many engines in the rows of one bitmask.

A bitmask has a row a text and a bit a token id: int32 words, bit ``id % 32`` of word ``id // 32``,
the layout of XGrammar and LLGuidance. ``mask.logits.apply_bitmask`` puts it on logits.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from threading import Thread
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from kbnf_core.engine import Engine
from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import Bitmask, as_words, word_count


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
) -> None:
    """Write what each engine allows into its row of ``out``, as ``Engine.fill_bitmask`` does.

    ``rows`` are those of the engines in turn, by default the first ones; without an engine (None)
    a row allows everything. Masks that are not cached yet are computed first, one by one; the
    copying is done without the GIL, by ``threads`` threads, by default one. What an engine
    remembers as its last computation is not changed. Raises what ``fill_bitmask`` raises, before
    anything is written.
    """
    words = as_words(out)
    table = words if words.ndim == 2 else words.reshape(1, -1)
    if not table.flags.writeable:
        raise ValueError("this bitmask is read-only")
    everything = np.full(table.shape[1], 2**32 - 1, np.uint32)
    masks = [everything if engine is None else engine._row_words() for engine in engines]
    places = np.arange(len(masks)) if rows is None else np.fromiter(rows, np.int64)
    _check(table, places, masks)
    _fill(table, places.astype(np.int64), masks, max(1, threads or 1))


def _check(table: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], masks: list[Bitmask]) -> None:
    if len(rows) != len(masks):
        raise ValueError(f"{len(masks)} engines need as many rows, not {len(rows)}")
    longest = max(map(len, masks), default=0)
    if table.shape[1] < longest:
        raise ValueError(f"a bitmask of {table.shape[1]} words is too short for {longest}")
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(table):
        raise ValueError(f"the bitmask has {len(table)} rows; {rows.max()} is not one of them")


def _fill(
    table: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], masks: list[Bitmask], threads: int
) -> None:
    cuts = [len(masks) * part // threads for part in range(threads + 1)]
    *others, mine = [(table, rows[a:b], masks[a:b]) for a, b in pairwise(cuts)]
    helpers = [Thread(target=KERNEL.fill_rows, args=part) for part in others]
    for helper in helpers:
        helper.start()
    KERNEL.fill_rows(*mine)
    for helper in helpers:
        helper.join()
