"""A logits processor for ``generate`` of Hugging Face transformers.

::

    from kbnf_core.integrations.transformers import KbnfLogitsProcessor

    processor = KbnfLogitsProcessor(grammar, tokenizer)
    model.generate(**inputs, logits_processor=[processor])

A row's place in its grammar is found by what the row contains, not by where it is: beam search
reorders rows, and drafts are taken back. Rows that go on from none of the last calls begin a new
generation, so one processor serves any number of calls to ``generate``; a prompt that is what it
saw generated last, or one token more, goes on with that text.

Tests: tests/serving
"""

from collections import deque
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kbnf_core.batch import allocate_bitmask, fill_bitmasks
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.integrations.stepwise import fill_or_end, vocabulary_of
from kbnf_core.mask.ahead import Ahead, ahead_for
from kbnf_core.mask.bits import apply_bitmask, pack
from kbnf_core.text.errors import ConfigError, KbnfError, MissingExtraError
from kbnf_core.vocab.vocabulary import Vocabulary

try:
    from transformers import LogitsProcessor
except ImportError:
    raise MissingExtraError("kbnf_core.integrations.transformers", "transformers") from None

if TYPE_CHECKING:
    import torch

    from kbnf_core.integrations.transformers_on_device import RowsOnDevice

REMEMBERED_CALLS = 32
"""Calls whose rows are known: as many tokens of a draft can be taken back."""


class _ConstrainedRow:
    """One row: its engine, None where it is free, and whether something else ended it."""

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        self.is_over = False

    def followed_by(self, token_id: int) -> "_ConstrainedRow":
        """Return the text with one more token.

        One that cannot come, as in a beam that is given up, ends it.
        """
        other = copy(self)
        if self.engine is None or self.is_over:
            return other
        other.engine = copy(self.engine)
        other.is_over = not other.engine.accept_tokens([token_id])
        return other


class KbnfLogitsProcessor(LogitsProcessor):
    """Constrains what ``generate`` appends to grammars.

    ``grammar``: what ``Grammar.from_any`` takes (text, a ``Grammar``, a JSON Schema as a dict, a
    pydantic class, a ``Path``), or a list with one for each prompt of the batch, None where one is
    free. ``tokenizer``: that of the model, a ``Vocabulary``, or what ``load_vocabulary`` takes.
    ``eos`` overrides the ids
    that end a sequence. ``after``: a text to wait for, as ``"</think>"``; until then all is free
    but ends, for at most ``after_tokens`` tokens (``Engine``).
    ``budget``: the tokens, the end among them, in which each constrained text is over. Only tokens
    count: the end of a JSON text may repeat a name. ``device``: constrain by tables on the device
    of the scores, so that no mask is copied and no token waited for. Rows of grammars that do not
    close are masked as without it; ``on_device`` lists which have a table. ``ahead``: let a thread
    of the process make the masks that are likely to come next while the model computes
    (``Engine``); the attribute counts. ``canonical``: allow the tokens alone that the tokenizer
    would write itself (``Engine``).

    Raises what ``Engine`` and ``Vocabulary.of`` raise, and ``ConfigError`` where no id ends a
    sequence.
    """

    def __init__(
        self,
        grammar: object,
        tokenizer: object,
        *,
        eos: int | Sequence[int] | None = None,
        budget: int | None = None,
        after: str | None = None,
        after_tokens: int | None = None,
        device: bool = False,
        ahead: bool = True,
        canonical: bool = False,
    ) -> None:
        if device and canonical:
            raise ConfigError("tables on the device know no canonical tokens: leave `device` out")
        if device and after_tokens is not None:
            raise ConfigError(
                "tables on the device do not count `after_tokens`: leave `device` out"
            )
        self.ahead: Ahead | None = ahead_for(ahead)
        vocabulary = vocabulary_of(tokenizer)
        vocabulary = vocabulary if eos is None else vocabulary.ending_with(eos)
        if not vocabulary.eos_token_ids:
            raise ConfigError("this tokenizer names no id that ends a sequence: give `eos=`")
        several = grammar if isinstance(grammar, list | tuple) else [grammar]
        grammars = [None if item is None else Grammar.from_any(item) for item in several]
        self._device_rows = (
            _rows_on_device(grammars, vocabulary, after or "", budget) if device else None
        )
        taken = self.on_device or [False] * len(grammars)
        on_host = [None if t else item for item, t in zip(grammars, taken, strict=True)]
        self._beginnings = [
            _ConstrainedRow(
                None
                if item is None
                else Engine(
                    item,
                    vocabulary,
                    after=after,
                    after_tokens=after_tokens,
                    budget=budget,
                    ahead=self.ahead or False,
                    canonical=canonical or None,
                )
            )
            for item in on_host
        ]
        self._host_is_free = not any(on_host)
        self._vocabulary = vocabulary
        self._ends = pack(sorted(vocabulary.eos_token_ids), vocabulary.size).view(np.int32)
        self._calls: deque[dict[tuple[int, ...], _ConstrainedRow]] = deque(maxlen=REMEMBERED_CALLS)

    @property
    def on_device(self) -> list[bool]:
        """Whether each grammar is a table on the device; empty without ``device``."""
        return [] if self._device_rows is None else list(self._device_rows.taken)

    def __call__(
        self, input_ids: "torch.LongTensor", scores: "torch.FloatTensor"
    ) -> "torch.FloatTensor":
        """Return the scores, those of tokens that cannot occur at minus infinity."""
        masked: Any = scores
        if self._device_rows is not None:
            masked = self._device_rows.mask(input_ids, scores)
            if self._host_is_free:
                return cast("torch.FloatTensor", masked)
        return self._mask_on_host(input_ids, masked)

    def _mask_on_host(
        self, input_ids: "torch.LongTensor", scores: "torch.FloatTensor"
    ) -> "torch.FloatTensor":
        rows: list[list[int]] = input_ids.tolist()
        texts = self._texts(rows)
        bitmask = allocate_bitmask(len(rows), self._vocabulary.size)
        try:
            fill_bitmasks([text.engine for text in texts], bitmask)
        except (KbnfError, MemoryError):
            # One by one, so that only the row at fault is closed.
            for index, text in enumerate(texts):
                engine = text.engine
                text.is_over |= engine is not None and not fill_or_end(engine, bitmask, index)
        for row, text in zip(bitmask, texts, strict=True):
            if text.is_over:
                row[:] = self._ends
        constrained = [index for index, text in enumerate(texts) if text.engine is not None]
        # Of a tensor of torch it returns one, which its type does not say.
        return cast("torch.FloatTensor", apply_bitmask(scores.clone(), bitmask, rows=constrained))

    def _texts(self, rows: list[list[int]]) -> list[_ConstrainedRow]:
        """Return the texts of the rows; those of one prompt are together."""
        count = len(self._beginnings)
        if len(rows) % count:
            raise ConfigError(
                f"got {count} grammars for {len(rows)} rows; it is one for each prompt"
            )
        share = len(rows) // count
        keys = [(index // share, *row) for index, row in enumerate(rows)]
        kept_texts = [self._find(key) for key in keys]
        if not all(kept_texts):
            self._calls.clear()
        begun = [copy(self._beginnings[key[0]]) for key in keys]
        texts = [kept or text for kept, text in zip(kept_texts, begun, strict=True)]
        self._calls.append(dict(zip(keys, texts, strict=True)))
        return texts

    def _find(self, key: tuple[int, ...]) -> _ConstrainedRow | None:
        for call in reversed(self._calls):
            if key in call:
                return call[key]
            if key[:-1] in call:
                return call[key[:-1]].followed_by(key[-1])
        return None


def _rows_on_device(
    grammars: Sequence[Grammar | None], vocabulary: Vocabulary, after: str, budget: int | None
) -> "RowsOnDevice":
    from kbnf_core.integrations.transformers_on_device import RowsOnDevice

    return RowsOnDevice(grammars, vocabulary, after, budget)
