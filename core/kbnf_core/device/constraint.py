"""One loop for all grammars: tables where they reach, mask rows of engines beyond them.

Each grammar gets a table, a partial one where it does not close. A sequence that a table misses
goes on with an engine, of which only the number of a mask row crosses the bus. Nothing is looked
at on the host while all tables are whole; with a partial one, every step looks at a flag.
"""

from collections.abc import Sequence

from kbnf_core.config import Config, Finish
from kbnf_core.device.group import DeviceGrammars
from kbnf_core.device.need_torch import torch
from kbnf_core.device.rows import RowTable
from kbnf_core.device.table import TokenTable
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.recognise.closing import MOST_STATES
from kbnf_core.vocab.vocabulary import Vocabulary


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
        """Set the logits of tokens that cannot come to minus infinity, in place; return them."""
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
        """Append a token to each sequence; one that cannot come ends its sequence."""
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
