"""Mask rows on the device: four bytes a sequence instead of a mask, for grammars that do not close.

Distinct masks are few, even where states are not: over a thousand schemas and 266,368 steps there
were 7,707. So rows are sent once, and named by number from then on.
"""

import numpy as np

from kbnf_core.device.need_torch import torch
from kbnf_core.engine import Engine
from kbnf_core.vocab.vocabulary import Vocabulary


class RowTable:
    """Keeps up to ``capacity`` rows of bits over one vocabulary on a device.

    A row number stays valid until ``capacity`` other rows were asked for: mask with it first.
    """

    def __init__(
        self, vocabulary: Vocabulary, capacity: int = 4096, device: torch.device | str = "cpu"
    ) -> None:
        self._words = (vocabulary.size + 31) // 32
        self._rows = torch.zeros((capacity, self._words), dtype=torch.int32, device=device)
        self._bits = torch.arange(32, dtype=torch.int32, device=device)
        self._free = list(range(capacity - 1, -1, -1))
        self._numbers: dict[bytes, int] = {}
        self._out = np.zeros(self._words, np.int32)
        self.sent = 0

    def of(self, engine: Engine) -> int:
        """Return the number of the row of an engine's mask; a new row is copied to the device."""
        engine.fill_bitmask(self._out)
        key = self._out.tobytes()
        number = self._numbers.pop(key, None)
        if number is None:
            number = self._send()
        # Behind all others: the least recently used row comes first.
        self._numbers[key] = number
        return number

    def _send(self) -> int:
        if not self._free:
            self._free.append(self._numbers.pop(next(iter(self._numbers))))
        number = self._free.pop()
        self._rows[number].copy_(torch.from_numpy(self._out))
        self.sent += 1
        return number

    def mask_logits_(self, logits: torch.Tensor, row_ids: torch.Tensor) -> torch.Tensor:
        """Set the logits of tokens whose bit is not set to minus infinity, in place; return them.

        ``logits``: floating point, (batch, width); ids beyond the vocabulary are not allowed.
        ``row_ids``: (batch,).
        """
        rows = self._rows[row_ids.long()]
        allowed = ((rows.unsqueeze(-1) >> self._bits) & 1).flatten(1)[:, : logits.shape[1]].bool()
        known = logits[:, : allowed.shape[1]]
        known.masked_fill_(~allowed, float("-inf"))
        logits[:, allowed.shape[1] :] = float("-inf")
        return logits
