"""A logits processor for ``generate`` of Hugging Face transformers.

::

    from kbnf_core.integrations.transformers import KbnfLogitsProcessor

    processor = KbnfLogitsProcessor(grammar, tokenizer)
    model.generate(**inputs, logits_processor=[processor])

A row's place in its grammar is found by what the row holds, not by where it stands: beam search
reorders rows, and drafts are taken back. Rows that go on from none of the last calls begin a new
generation, so one processor serves any number of calls to ``generate``; a prompt that is what it
saw generated last, or one token more, goes on with that text.
"""

from collections import deque
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from kbnf_core.batch import allocate_bitmask, fill_bitmasks
from kbnf_core.config import Finish
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.integrations.stepwise import vocabulary_of
from kbnf_core.mask.ahead import Ahead, ahead_for
from kbnf_core.mask.bits import apply_bitmask, pack
from kbnf_core.text.errors import ConfigError, EngineError, MissingExtraError
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

MARGIN = 32
"""Tokens before the end of a budget at which choices begin to be weighed."""

CHOICES = 16
"""Best tokens that are weighed."""


class _Text:
    """One row: its engine, the text that it waits for, and the tokens that are left to it."""

    def __init__(self, engine: Engine | None, after: bytes, left: int | None) -> None:
        self.engine = engine
        self.left = left
        self.is_over = False
        self._after = after
        self._seen = b""
        self._closing: tuple[int, ...] | None = None

    @property
    def constrained(self) -> Engine | None:
        """The engine, where it has a say."""
        return None if self._after else self.engine

    def followed_by(self, token_id: int) -> "_Text":
        """Return the text with one more token.

        One that cannot come, as in a beam that is given up, ends it.
        """
        other = copy(self)
        if self.engine is None or self.is_over:
            return other
        other.engine = copy(self.engine)
        if self._after:
            other._wait(token_id)
            return other
        if other.left is not None:
            other.left -= 1
            # What is left of a way to the end is one too; another may cost more tokens.
            goes_on = (self._closing or ())[:1] == (token_id,)
            other._closing = self._closing[1:] if self._closing and goes_on else None
        other.is_over = not other.engine.accept_tokens([token_id])
        return other

    def _wait(self, token_id: int) -> None:
        assert self.engine is not None  # noqa: S101 - a free text does not wait
        self._seen += self.engine.vocabulary.bytes_or_name(token_id)
        before, found, rest = self._seen.partition(self._after)
        self._seen = before[-len(self._after) :]
        if found:
            self._after = b""
            try:
                self.engine.try_accept_new_bytes(rest)
            except EngineError:
                # A blank in the same token, say: the grammar begins behind it.
                return

    def closing(self) -> tuple[int, ...]:
        """Return tokens that end the text soon; none where it is complete, or none are known.

        Their number is what counts, so in a JSON text they may repeat a name.
        """
        assert self.engine is not None  # noqa: S101 - asked of constrained texts
        if self._closing is None:
            found = self.engine.shortest_completion(fewest=False, repeats=True)
            self._closing = found.tokens or ()
        return self._closing

    def _soonest(self) -> tuple[int, ...]:
        """Return the first token of a way to the end, which repeats no name if that fits."""
        assert self.engine is not None  # noqa: S101 - asked of constrained texts
        tokens = self.engine.shortest_completion(fewest=False).tokens or ()
        fits = len(tokens) + (self.engine.finish is Finish.EOS) <= (self.left or 0)
        return tokens[:1] if fits else self.closing()[:1]

    def needs(self) -> int:
        """Return how many tokens end the text; 0 where none are known to."""
        assert self.engine is not None  # noqa: S101 - asked of constrained texts
        if self.engine.is_finished():
            return 0
        return len(self.closing()) + (self.engine.finish is Finish.EOS)

    def choices(self, best: list[int]) -> list[int] | None:
        """Return the tokens, of ``best``, that leave enough of the budget; None for any."""
        engine = self.constrained
        if self.left is None or engine is None or self.is_over or engine.is_finished():
            return None
        if self.left > 2 * self.needs() + MARGIN:
            return None
        fitting = [token_id for token_id in best if self._leaves_enough(token_id)]
        return fitting or list(self._soonest()) or sorted(engine.vocabulary.eos_token_ids)

    def _leaves_enough(self, token_id: int) -> bool:
        after = self.followed_by(token_id)
        return not after.is_over and after.needs() <= (after.left or 0)


class KbnfLogitsProcessor(LogitsProcessor):
    """Constrains what ``generate`` appends to grammars.

    ``grammar``: what ``Grammar.from_any`` takes (text, a ``Grammar``, a JSON Schema as a dict, a
    pydantic class, a ``Path``), or a list with one for each prompt of the batch, None where one is
    free. ``tokenizer``: that of the model, a ``Vocabulary``, or what ``load_vocabulary`` takes.
    ``eos`` overrides the ids
    that end a sequence. ``after``: a text to wait for, as ``"</think>"``; until then all is free.
    ``budget``: tokens, the end among them, in which the constrained text is complete: towards
    the end the best tokens are weighed by their shortest completions, and the soonest end is
    taken where none fits. It is passed only where more than that is needed from the beginning, or
    one token commits the text to more than is left. Only tokens count: the end of a JSON text may
    repeat a name where another one does not fit, and on the device. ``device``: constrain by tables
    on the device of the scores, so that no mask is copied and no token waited for; there all tokens
    are weighed, from the first one on. Rows of grammars that do not close are masked as without it;
    ``on_device`` tells which have a table. ``ahead``: let a thread of the process make the masks
    that are likely to come next while the model computes (``Engine``); the attribute counts.

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
        device: bool = False,
        ahead: bool = True,
    ) -> None:
        self.ahead: Ahead | None = ahead_for(ahead)
        vocabulary = vocabulary_of(tokenizer)
        vocabulary = vocabulary if eos is None else vocabulary.ending_with(eos)
        if not vocabulary.eos_token_ids:
            raise ConfigError("this tokenizer names no id that ends a sequence: give `eos=`")
        several = grammar if isinstance(grammar, list | tuple) else [grammar]
        grammars = [None if each is None else Grammar.from_any(each) for each in several]
        self._device_rows = (
            _rows_on_device(grammars, vocabulary, after or "", budget) if device else None
        )
        taken = self.on_device or [False] * len(grammars)
        on_host = [None if t else each for each, t in zip(grammars, taken, strict=True)]
        self._beginnings = [
            _Text(None, b"", None)
            if each is None
            else _Text(
                Engine(each, vocabulary, ahead=self.ahead or False),
                (after or "").encode(),
                budget,
            )
            for each in on_host
        ]
        self._host_is_free = not any(on_host)
        self._vocabulary = vocabulary
        self._ends = pack(sorted(vocabulary.eos_token_ids), vocabulary.size).view(np.int32)
        self._calls: deque[dict[tuple[int, ...], _Text]] = deque(maxlen=REMEMBERED_CALLS)

    @property
    def on_device(self) -> list[bool]:
        """Whether each grammar is a table on the device; empty without ``device``."""
        return [] if self._device_rows is None else list(self._device_rows.taken)

    def __call__(
        self, input_ids: "torch.LongTensor", scores: "torch.FloatTensor"
    ) -> "torch.FloatTensor":
        """Return the scores, those of tokens that cannot come at minus infinity."""
        masked: Any = scores
        if self._device_rows is not None:
            masked = self._device_rows.mask(input_ids, scores)
            if self._host_is_free:
                return masked  # type: ignore[no-any-return] # one tensor class for another
        return self._mask_on_host(input_ids, masked)

    def _mask_on_host(
        self, input_ids: "torch.LongTensor", scores: "torch.FloatTensor"
    ) -> "torch.FloatTensor":
        rows: list[list[int]] = input_ids.tolist()
        texts = self._texts(rows)
        bitmask = allocate_bitmask(len(rows), self._vocabulary.size)
        fill_bitmasks([text.constrained for text in texts], bitmask)
        for row, text in zip(bitmask, texts, strict=True):
            if text.is_over:
                row[:] = self._ends
        free = [place for place, text in enumerate(texts) if text.constrained is None]
        constrained = [place for place in range(len(rows)) if place not in set(free)]
        masked: Any = apply_bitmask(scores.clone(), bitmask, rows=constrained)
        self._close_in_time(masked, texts)
        result: torch.FloatTensor = masked
        return result

    def _close_in_time(self, masked: "torch.Tensor", texts: list[_Text]) -> None:
        for row, text in zip(masked, texts, strict=True):
            if text.left is None:
                continue
            values, ids = row.topk(min(CHOICES, len(row)))
            best = [i for i, v in zip(ids.tolist(), values.tolist(), strict=True) if v > -np.inf]
            chosen = text.choices(best)
            if chosen is not None:
                kept = row[chosen].clone()
                row.fill_(-np.inf)
                row[chosen] = kept

    def _texts(self, rows: list[list[int]]) -> list[_Text]:
        """Return the texts of the rows; those of one prompt stand together."""
        count = len(self._beginnings)
        if len(rows) % count:
            raise ConfigError(f"{count} grammars are for as many prompts, not for {len(rows)} rows")
        share = len(rows) // count
        keys = [(place // share, *row) for place, row in enumerate(rows)]
        found = [self._find(key) for key in keys]
        if not all(found):
            self._calls.clear()
        texts = [known or self._beginnings[key[0]] for known, key in zip(found, keys, strict=True)]
        self._calls.append(dict(zip(keys, texts, strict=True)))
        return texts

    def _find(self, key: tuple[int, ...]) -> _Text | None:
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
