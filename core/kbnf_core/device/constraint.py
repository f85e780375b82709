"""Many grammars in one batch: masks and steps by torch operations, and engines beyond the tables.

The tables of a group share one map of tokens to classes (tokens that no table distinguishes) and
are in one flat table, each after the other; a state is a row of it. All shapes are static and
nothing depends on values on the host, so a step can be captured in a CUDA graph or compiled by
``torch.compile`` as one graph. The torch form is the specification of faster kernels; logits in
the memory of the host are masked by the compiled kernel, outside of graphs.

On a CPU a lookup per logit costs many times the work to clear the few words of a mask that are
not all ones or zeros. So a state's row is spelt out as bits when it is seen, and kept.

A table knows the shortest way out of every state. So where so many tokens are left, those are
allowed after which the way out still fits, and no choice has to be weighed on the host.

``DeviceConstraint`` is one loop for all grammars. Each gets a table, a partial one where it does
not close. A sequence that a table misses goes on with an engine, of which only the number of a mask
row crosses the bus: four bytes a sequence instead of a mask. Nothing is looked at on the host while
all tables are whole; with a partial one, every step looks at a flag. Distinct masks are few, even
where states are not: over a thousand schemas and 266,368 steps there were 7,707. So rows are sent
once, and named by number from then on.

Tests: tests/unit/device/test_constraint.py
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kbnf_core import kernel
from kbnf_core.config import Config, Finish
from kbnf_core.device.table import DEAD, FlatTable, TokenTable
from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.mask.bits import Bitmask, word_count
from kbnf_core.recognise.closing import MOST_STATES
from kbnf_core.text.errors import MissingExtraError
from kbnf_core.text.remembered import LruDict
from kbnf_core.vocab.vocabulary import Vocabulary

try:
    import torch
except ImportError:
    raise MissingExtraError("a constraint on the device", "torch") from None

KEPT_BYTES = 2**25
"""Size of the rows that are kept."""


class HostRows:
    """Masks logits in the memory of the host; ``allowed``: bool[states, classes]."""

    def __init__(self, allowed: npt.NDArray[np.bool_], token_class: npt.NDArray[np.int32]) -> None:
        self._allowed = allowed
        self._token_class = token_class
        kept = max(1, KEPT_BYTES // (4 * word_count(len(token_class))))
        self._rows: LruDict[int, Bitmask] = LruDict(self._packed, kept)

    def takes(self, logits: torch.Tensor) -> bool:
        """Return whether these logits can be masked here; never while a graph is compiled."""
        return (
            logits.device.type == "cpu"
            and logits.dtype in (torch.float32, torch.float64)
            and logits.stride(-1) == 1
            and not torch.compiler.is_compiling()
        )

    def mask_(self, logits: torch.Tensor, state: torch.Tensor) -> None:
        """Mask as ``DeviceGrammars.mask_logits_`` does."""
        width = len(self._token_class)
        # Tensors of inference mode may be changed in it only, leaves with gradients without them.
        with torch.inference_mode():
            for row, number in zip(logits.detach().numpy(), state.tolist(), strict=True):
                kernel.apply(self._rows[number], width, row)

    def _packed(self, state: int) -> Bitmask:
        bits = np.packbits(self._allowed[state][self._token_class], bitorder="little")
        return np.pad(bits, (0, -len(bits) % 4)).view(np.uint32)


class DeviceGrammars:
    """Masks logits and advances states of a batch in which each row has one of several grammars.

    ``tables``: all over one vocabulary. ``device``: what torch calls it. ``width``: of the logits,
    at least that of the tables; ids beyond the tables' are never allowed. ``transitions``:
    int32[states, classes]. ``final``: bool[states], the text is over. Raises ``ValueError`` for
    tables over several vocabularies.
    """

    def __init__(
        self,
        tables: Sequence[TokenTable],
        device: torch.device | str = "cpu",
        width: int | None = None,
    ) -> None:
        flat = FlatTable(tables, width)
        self.width = len(flat.token_class)
        self._starts = torch.tensor(flat.starts, dtype=torch.int32, device=device)
        self._missing = flat.missing
        self.transitions = torch.from_numpy(flat.transitions).to(device)
        self._allowed = torch.from_numpy(flat.allowed).to(device)
        self._token_class = torch.from_numpy(flat.token_class).to(device)
        self._accepting = torch.from_numpy(flat.accepting).to(device)
        self.final = torch.from_numpy(flat.final).to(device)
        self._waiting = torch.from_numpy(flat.waiting).to(device)
        self._on_host = HostRows(flat.allowed, flat.token_class)

    @property
    def arrays(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The arrays of masks: bool[states, classes], and the class of each token."""
        return self._allowed, self._token_class

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        tables = (self.transitions, self._allowed, self._token_class)
        flags = (self._accepting, self.final, self._waiting)
        return sum(tensor.numel() * tensor.element_size() for tensor in (*tables, *flags))

    def start(self, grammar_index: torch.Tensor | Sequence[int]) -> torch.Tensor:
        """Return int32[batch], the first states of the grammars with these numbers."""
        return self._starts[torch.as_tensor(grammar_index, device=self._starts.device).long()]

    def mask_logits_(self, logits: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """Set the logits of tokens that cannot occur to minus infinity, in place; return them.

        ``logits``: floating point, (batch, width). Rows that are dead, missing or over keep only
        the ids that end a sequence (all, if there are none), so that no row is all minus infinity.
        """
        if self._on_host.takes(logits):
            self._on_host.mask_(logits, state)
            return logits
        mask = self._allowed[state.long()].index_select(1, self._token_class)
        return logits.masked_fill_(~mask, float("-inf"))

    def advance(self, state: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return int32[batch], the states after one token each; 0 where it cannot occur."""
        return self.transitions[state.long(), self._token_class[tokens.long()]]

    def advance_draft(
        self, state: torch.Tensor, draft: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states along a draft, int32[batch, k], and how many tokens can occur.

        ``draft``: (batch, k). The second is int64[batch]: tokens before the first rejection.
        """
        along = []
        for tokens in draft.unbind(1):
            state = self.advance(state, tokens)
            along.append(state)
        states = torch.stack(along, 1)
        return states, (states != DEAD).long().cumprod(1).sum(1)

    def missed(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: whether a state is beyond the contents of a partial table."""
        return state == self._missing

    def accepting(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: the text may end here."""
        return self._accepting[state.long()]

    def is_final(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: the text is over."""
        return self.final[state.long()]

    def waiting(self, state: torch.Tensor) -> torch.Tensor:
        """Return bool[batch]: all is free, the text that the grammar follows has not come."""
        return self._waiting[state.long()]


_ENDLESS = np.iinfo(np.int32).max
"""From where no end is known."""


class NearestEnds:
    """Masks logits of a group's sequences so that their texts are over within a number of tokens.

    ``needs``: int32[states], tokens to the nearest end, that which ends the sequence among them.
    """

    def __init__(self, group: DeviceGrammars) -> None:
        self._group = group
        over = group.final.cpu().numpy()
        needs = tokens_to_end(group.transitions.cpu().numpy(), over)
        # What fits where too few tokens are left: one step on the shortest way, or anything.
        soonest = np.where(needs == _ENDLESS, _ENDLESS, np.maximum(needs - 1, 0))
        self.needs = torch.from_numpy(needs).to(group.final.device)
        self._soonest = torch.from_numpy(soonest.astype(np.int32)).to(group.final.device)

    def mask_logits_(
        self, logits: torch.Tensor, state: torch.Tensor, left: torch.Tensor
    ) -> torch.Tensor:
        """Mask as ``DeviceGrammars.mask_logits_`` does, and leave enough of ``left`` to end.

        ``left``: int32[batch], tokens that are left to each sequence. Where they do not suffice,
        the shortest way out is taken. A sequence that waits for a text is not bounded.
        """
        group, row = self._group, state.long()
        allowed, token_class = group.arrays
        most = torch.maximum(left - 1, self._soonest[row])
        fits = self.needs[group.transitions[row].long()] <= most[:, None]
        # A dead or ended position has its own row, of ends only.
        own = group.waiting(state) | group.is_final(state) | (row == 0)
        mask = (allowed[row] & (fits | own[:, None])).index_select(1, token_class)
        return logits.masked_fill_(~mask, float("-inf"))


def tokens_to_end(
    transitions: npt.NDArray[np.int32], over: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    """Return int32[states], the fewest tokens to a state that is ``over``.

    A search from the ends backwards, over transitions sorted by what they lead to.
    """
    count = len(transitions)
    sources, classes = np.nonzero(transitions > 0)
    edges = np.unique(transitions[sources, classes].astype(np.int64) * count + sources)
    starts = np.searchsorted(edges, np.arange(count + 1) * count)
    needs = np.full(count, _ENDLESS, np.int32)
    reached = np.flatnonzero(over)
    steps = 0
    while reached.size:
        needs[reached] = steps
        steps += 1
        into = (
            np.concatenate([edges[starts[state] : starts[state + 1]] for state in reached]) % count
        )
        reached = np.unique(into[needs[into] == _ENDLESS])
    return needs


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
        # Insert at the end: the least recently used row comes first.
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
        own = logits[:, : allowed.shape[1]]
        own.masked_fill_(~allowed, float("-inf"))
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
            TokenTable.build(grammar, vocabulary, finish, max_states, partial=True)
            for grammar in grammars
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
        rows = self.on_engines
        if not rows:
            return self._group.mask_logits_(logits, self.state)
        # Before the tables mask them in place, to which these rows are unknown.
        own = logits[rows]
        self._group.mask_logits_(logits, self.state)
        ids = [self._constraint.rows.of(self._engines[row]) for row in rows]
        row_ids = torch.tensor(ids, device=logits.device)
        logits[rows] = self._constraint.rows.mask_logits_(own, row_ids)
        return logits

    def advance(self, tokens: torch.Tensor) -> None:
        """Append a token to each sequence; one that cannot occur ends its sequence."""
        self.state = self._group.advance(self.state, tokens)
        if self._constraint.is_whole:
            return
        # A copy: a captured graph writes each step's tokens into one tensor.
        self._tokens.append(tokens.clone())
        for row, engine in self._engines.items():
            engine.accept_tokens([int(tokens[row])])
        missed = self._group.missed(self.state)
        if bool(missed.any()):
            for row in missed.nonzero()[:, 0].tolist():
                if row not in self._engines:
                    self._engines[row] = self._replayed(row)

    def is_final(self) -> torch.Tensor:
        """Return bool[batch]: the text is over."""
        final = self._group.is_final(self.state)
        for row, engine in self._engines.items():
            final[row] = engine.is_finished()
        return final

    def accepting(self) -> torch.Tensor:
        """Return bool[batch]: the text may end here."""
        accepting = self._group.accepting(self.state)
        for row, engine in self._engines.items():
            accepting[row] = engine.can_finish()
        return accepting

    def _replayed(self, row: int) -> Engine:
        engine = self._constraint.engine(self._index[row])
        engine.accept_tokens([int(tokens[row]) for tokens in self._tokens])
        return engine
