"""One loop for all grammars: tables where they reach, mask rows of engines beyond them.

Each grammar gets a table, a partial one where it does not close. A sequence that a table misses
goes on with an engine, of which only the number of a mask row crosses the bus. Nothing is looked
at on the host while all tables are whole; with a partial one, every step looks at a flag.

So that is four bytes a sequence instead of a mask. Distinct masks are few, even where states are
not: over a thousand schemas and 266,368 steps there were 7,707. So rows are sent once, and named by
number from then on.
"""

from collections.abc import Sequence

import numpy as np

from kbnf_core.config import Config, Finish
from kbnf_core.device.group import DeviceGrammars
from kbnf_core.device.need_torch import torch
from kbnf_core.device.table import TokenTable
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.recognise.closing import MOST_STATES
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


class DeviceConstraint:
    """Constrains batches to grammars over one vocabulary, each by the means that it allows.

    ``max_states``: of each table; what a grammar has beyond is left to engines. Raises what
    ``TokenTable.build`` raises, but for grammars that do not close.
    """

    def __init__(
        self,
        grammars: Sequence[Grammar],
        vocabulary: Vocabulary,
        finish: Finish | str | None = None,
        device: torch.device | str = "cpu",
        width: int | None = None,
        max_states: int = MOST_STATES,
    ) -> None:
        self.vocabulary = vocabulary
        self.grammars = list(grammars)
        self.tables = [
            TokenTable.build(each, vocabulary, finish, max_states, partial=True)
            for each in grammars
        ]
        self.group = DeviceGrammars(self.tables, device, width)
        self.rows = RowTable(vocabulary, device=device)
        self.is_whole = not any(table.is_partial for table in self.tables)

    def start(self, grammar_index: Sequence[int]) -> "DeviceBatch":
        """Return the beginnings of a batch: a sequence for each grammar number."""
        return DeviceBatch(self, list(grammar_index))

    def engine(self, number: int) -> Engine:
        """Return an engine at the beginning of a grammar's texts."""
        config = Config(finish=self.tables[number].finish)
        return Engine(self.grammars[number], self.vocabulary, config)


class DeviceBatch:
    """Sequences that are generated side by side; ``state``: int32[batch], those in the tables."""

    def __init__(self, constraint: DeviceConstraint, grammar_index: list[int]) -> None:
        self._constraint = constraint
        self._group = constraint.group
        self._index = grammar_index
        self._tokens: list[torch.Tensor] = []
        self._engines: dict[int, Engine] = {}
        self.state = constraint.group.start(grammar_index)

    @property
    def on_engines(self) -> list[int]:
        """The rows that left their tables."""
        return sorted(self._engines)

    def mask_logits_(self, logits: torch.Tensor) -> torch.Tensor:
        """Set the logits of tokens that cannot occur to minus infinity, in place; return them."""
        places = self.on_engines
        if not places:
            return self._group.mask_logits_(logits, self.state)
        own = logits[places]
        self._group.mask_logits_(logits, self.state)
        ids = [self._constraint.rows.of(self._engines[place]) for place in places]
        row_ids = torch.tensor(ids, device=logits.device)
        logits[places] = self._constraint.rows.mask_logits_(own, row_ids)
        return logits

    def advance(self, tokens: torch.Tensor) -> None:
        """Append a token to each sequence; one that cannot occur ends its sequence."""
        self.state = self._group.advance(self.state, tokens)
        if self._constraint.is_whole:
            return
        self._tokens.append(tokens.clone())
        for place, engine in self._engines.items():
            engine.accept_tokens([int(tokens[place])])
        missed = self._group.missed(self.state)
        if bool(missed.any()):
            for place in missed.nonzero()[:, 0].tolist():
                if place not in self._engines:
                    self._engines[place] = self._replayed(place)

    def is_final(self) -> torch.Tensor:
        """Return bool[batch]: the text is over."""
        final = self._group.is_final(self.state)
        for place, engine in self._engines.items():
            final[place] = engine.is_finished()
        return final

    def accepting(self) -> torch.Tensor:
        """Return bool[batch]: the text may end here."""
        accepting = self._group.accepting(self.state)
        for place, engine in self._engines.items():
            accepting[place] = engine.can_finish()
        return accepting

    def _replayed(self, place: int) -> Engine:
        engine = self._constraint.engine(self._index[place])
        engine.accept_tokens([int(tokens[place]) for tokens in self._tokens])
        return engine
