"""Token terminals against a vocabulary: which ids each one matches.

Masks: the tokens viable in a state, assembled from memoised walks of the trie.

A *walk* gives the tokens that are viable from an item set. Starting in a state whose only stack
node is ``BOTTOM``, the token trie and the transition table are followed side by side; dead branches
are pruned. A walk results in the tokens that stay alive, and the *completions*: trie nodes at which
a nonterminal completed into BOTTOM, so that the following bytes belong to its callers; where no
token goes on, nothing follows, and they are left out. The loop itself is in ``kernel/walk.pxi``.

The tokens of a state are those of its item sets' walks, of the walk of what they call and, for
every completion, those of walks over the residual tokens from the state of what resumes; that can
complete again, and so on down the stack (``kernel/state_masks.pxi``). Walks depend on an item set
and a set of trie nodes only, so a text of any length needs few of them.

Tests: tests/unit/mask, tests/unit/kernel/test_walks.py
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.ir import TokenTerminal
from kbnf_core.kernel import ARRAY_BYTES, Counting, MaskAssembler, Pool, Walker
from kbnf_core.mask.bits import Bitmask, pack, word_count
from kbnf_core.mask.slices import slice_set_of
from kbnf_core.recognise.states import StateTable, entry_limit, state_limit
from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import cached_property
from kbnf_core.text.remembered import LruDict
from kbnf_core.vocab.vocabulary import Vocabulary


class TokenTerminals:
    """The token terminals of one grammar, resolved in one vocabulary.

    A name is a special token, or failing that any token that spells it. A negated set matches
    every id of the vocabulary but those listed; end of sequence is left to ``finish``. Empty tokens
    match nothing. Raises VocabularyError where a name, or an id, is beyond the vocabulary.
    """

    def __init__(self, terminals: Iterable[TokenTerminal], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._ids = [self._resolve(terminal) for terminal in terminals]
        self._words = [pack(sorted(ids), vocabulary.size) for ids in self._ids]

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self) -> frozenset[int]:
        """Return the ids that any of the terminals matches."""
        return frozenset().union(*self._ids)

    def matching(self, token_id: int) -> frozenset[int]:
        """Return the numbers of the terminals that ``token_id`` matches."""
        return frozenset(i for i, ids in enumerate(self._ids) if token_id in ids)

    @cached_property
    def kinds(self) -> list[tuple[frozenset[int], npt.NDArray[np.int32]]]:
        """The ids that terminals match, by the numbers of all of these."""
        matching: dict[int, list[int]] = {}
        for terminal, ids in enumerate(self._ids):
            for token_id in ids:
                matching.setdefault(token_id, []).append(terminal)
        kinds: dict[tuple[int, ...], list[int]] = {}
        for token_id, terminals in matching.items():
            kinds.setdefault(tuple(terminals), []).append(token_id)
        return [(frozenset(matched), np.array(ids, np.int32)) for matched, ids in kinds.items()]

    def mask(self, terminals: Iterable[int]) -> Bitmask:
        """Return the ids that match any of ``terminals``."""
        words = np.zeros(word_count(self._vocabulary.size), np.uint32)
        for terminal in terminals:
            words |= self._words[terminal]
        return words

    def _resolve(self, terminal: TokenTerminal) -> frozenset[int]:
        lacking = lacking_token(terminal, self._vocabulary)
        if lacking is not None:
            raise VocabularyError(
                f"the vocabulary has no token {lacking}, which the grammar names: give the"
                " vocabulary of a model that has it"
            )
        if terminal.name is not None:
            return self._named(terminal.name)
        all_ids = self._all_ids()
        listed = {
            token_id
            for low, high in terminal.ranges
            for token_id in range(low, min(high + 1, self._vocabulary.size))
        }
        if terminal.negated:
            return all_ids - listed - self._vocabulary.eos_token_ids
        return all_ids & listed

    def _named(self, name: str) -> frozenset[int]:
        special = self._vocabulary.special_tokens.get(name)
        result = self._vocabulary.token_ids(name.encode()) if special is None else (special,)
        return frozenset(result)

    def _all_ids(self) -> frozenset[int]:
        vocabulary = self._vocabulary
        specials = vocabulary.special_tokens.values()
        # The trie contains just the tokens that are not empty.
        return frozenset(
            (*vocabulary.trie.token_ids.tolist(), *specials, *vocabulary.eos_token_ids)
        )


def lacking_token(terminal: TokenTerminal, vocabulary: Vocabulary) -> str | None:
    """Return the name, or the id, in ``terminal`` that ``vocabulary`` has no token for, or None.

    Of ids, just those from its size on; among lower ones it may have gaps, which match nothing.
    """
    name = terminal.name
    if name is not None:
        is_there = name in vocabulary.special_tokens or vocabulary.token_ids(name.encode())
        return None if is_there else repr(name)
    return next((str(low) for low, _ in terminal.ranges if low >= vocabulary.size), None)


Nodes = npt.NDArray[np.int32]


ROOT_SET = 0
"""The number of the set that contains just the trie's root."""

EMPTY_ROW = 0
"""The number of the mask in which nothing is allowed."""


class Walk(NamedTuple):
    """``row``: number of the mask of tokens reached. ``completions``: (nonterminal, node set)."""

    row: int
    completions: tuple[tuple[int, int], ...]


class WalkResults(NamedTuple):
    """The results of walks by number: sets of trie nodes, and masks."""

    node_sets: "Pool[np.int32]"
    rows: "Pool[np.uint32]"


def empty_results(vocabulary: Vocabulary) -> WalkResults:
    """Return the numbers that stand for themselves: the root alone, and the empty mask."""
    root, empty = np.zeros(1, np.int32), np.zeros(word_count(vocabulary.size), np.uint32)
    return WalkResults(
        Pool(root, numbers=vocabulary.trie.node_count), Pool(empty, slice_set_of(vocabulary))
    )


ENTRY_BYTES = 256
"""The overhead of caching a mask, besides its bits; and a walk, which names its mask by number."""

LEAST_MASKS = 100
"""Masks that may always be cached, for the same reason."""

STATE = (1 << 32) - 1
"""The bits of a position that name its state; those above are a count (``kernel/counting.pxi``)."""

WAITING = 1 << 62
"""The first position of those that wait for the grammar; ``kernel/counting.pxi`` has it, too."""


def state_at(position: int) -> int:
    """Return a position without the count beside its state; its mask is the same."""
    return position & STATE if 0 <= position < WAITING else position


Ids = npt.NDArray[np.int32]

Rows = tuple[int, ...]
"""Numbers of masks, for their union; empty where it is."""


class Viable(NamedTuple):
    """``rows``: numbers of masks; some text is possible after the tokens in any of them.

    ``completions``: numbers of the sets of trie nodes at which the start itself is complete.
    """

    rows: Rows
    completions: tuple[int, ...]


class Masks:
    """The masks of one grammar's states over one vocabulary; shared by engines."""

    def __init__(
        self, states: StateTable, vocabulary: Vocabulary, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.states = states
        self.vocabulary = vocabulary
        self.terminals = TokenTerminals(states.tables.token_terminals, vocabulary)
        self.word_count = word_count(vocabulary.size)
        self.mask_capacity = max(1, limits.mask_bytes // (4 * self.word_count + ENTRY_BYTES))
        self.walk_capacity = max(1, limits.mask_bytes // ENTRY_BYTES)
        self.state_limit = state_limit(limits)
        self.entry_limit = entry_limit(limits)
        self.byte_limit = max(limits.mask_bytes, LEAST_MASKS * (4 * self.word_count + ARRAY_BYTES))
        self.results = empty_results(vocabulary)
        rows = self.results.rows
        self.walker = Walker(states, slice_set_of(vocabulary))
        self.counting = Counting(states, vocabulary.trie.max_depth)
        self.unions: LruDict[Rows, Bitmask] = LruDict(
            lambda numbers: _frozen(rows.unite(numbers)), self.mask_capacity
        )
        self.no_words = _frozen(np.zeros(self.word_count, np.uint32))
        self.assembler = MaskAssembler(self)

    @property
    def is_full(self) -> bool:
        """Whether the table or the masks reached their limit and must be reset."""
        return self.assembler.holds_more_than(1)

    @property
    def is_half_full(self) -> bool:
        """Whether half of the limit is reached, so that nothing should be computed ahead."""
        return self.assembler.holds_more_than(1 / 2)

    @property
    def estimated_bytes(self) -> int:
        """The memory of masks and of the data that make them."""
        result = self.results.rows.bytes + self.results.node_sets.bytes + self.assembler.bytes
        row = 4 * self.word_count + ENTRY_BYTES
        # Where token terminals are, ``plain_tokens`` is a copy.
        copied = 4 * self.vocabulary.size if self.terminals else 0
        return result + row + self.unions.bytes_with(row) + copied

    @property
    def visited(self) -> int:
        """The trie nodes visited by all walks: the cost of cold masks."""
        return self.walker.visited

    @property
    def walk_count(self) -> int:
        """The number of walks made."""
        return self.assembler.walk_count

    @cached_property
    def plain_tokens(self) -> tuple[Ids, Ids, npt.NDArray[np.uint8]]:
        """Starts and ends of the tokens' bytes by id, int32[size], and the bytes, uint8.

        A token that is more, or less, than its bytes has an end like its start: a special one,
        one that ends the sequence, one that a token terminal matches.
        """
        spelled = self.vocabulary.spellings
        starts, ends = spelled.starts[:-1], spelled.starts[1:]
        if self.terminals:
            odd = sorted(self.terminals.ids())
            ends = ends.copy()
            ends[odd] = starts[odd]
        return starts, ends, spelled.blob

    def is_complete(self, state: int) -> bool:
        """Return whether the start is complete in a state; also before the first byte."""
        empty = state == self.states.initial and self.states.tables.start_is_nullable
        return empty or self.states.explorer.completes(state)

    def walk(self, item_set: int, nodes: int = ROOT_SET) -> Walk:
        """Return the walk of an item set below the nodes of a set."""
        with self.states.lock:
            return Walk(*self.assembler.walk(item_set, nodes))

    def viable(self, state: int) -> Rows:
        """Return the viable tokens: those that keep the text a viable prefix."""
        if self.assembler.is_plain:
            return self.assembler.rows_of(state)
        return self._find_viable(state).rows

    def viable_or_eos(self, state: int) -> Rows:
        """Return the viable tokens and those that end the sequence."""
        return _without_empty((*self.viable(state), self._eos_row))

    def prefix_free(self, state: int) -> Rows:
        """Return the viable tokens that do not extend a complete text."""
        if self.assembler.is_plain:
            return self.assembler.prefix_free(state)
        return self.cut_off(*self._find_viable(state), state)

    def cut_off(self, rows: Rows, completions: tuple[int, ...], state: int) -> Rows:
        """Return a union of masks without the tokens below the nodes of some sets.

        A token that a token terminal of ``state`` names stays: it is one step, whatever its bytes.
        """
        if not completions:
            return rows
        nodes = np.concatenate([self.results.node_sets[completion] for completion in completions])
        below = pack(self._ids_below(nodes), self.vocabulary.size)
        named = self.terminals.mask(self._token_terminals(state))
        return _without_empty((self.results.rows.number(self.union(rows) & ~below | named),))

    def union(self, rows: Rows) -> Bitmask:
        """Return the union of masks, by their numbers; many states share one."""
        return self.unions[rows] if rows else self.no_words

    def _token_terminals(self, state: int) -> frozenset[int]:
        return self.states.token_terminals(state) if self.terminals else frozenset()

    @cached_property
    def _eos_row(self) -> int:
        ids = sorted(self.vocabulary.eos_token_ids)
        return self.results.rows.number(pack(ids, self.vocabulary.size))

    def _ids_below(self, nodes: Nodes) -> Nodes:
        """Return the tokens that end below any of some nodes; there may be one for each token."""
        trie = self.vocabulary.trie
        nodes = np.sort(nodes, kind="stable")
        # A subtree is a range of nodes, and one within another subtree adds nothing.
        behind = np.maximum.accumulate(trie.skip[nodes])
        outer = nodes[np.append(True, nodes[1:] >= behind[:-1])]
        begins, ends = trie.token_start[outer + 1], trie.token_start[trie.skip[outer]]
        lengths = ends - begins
        offsets = np.repeat(ends - np.cumsum(lengths), lengths)
        result: Nodes = trie.token_ids[offsets + np.arange(len(offsets))]
        return result

    def _find_viable(self, state: int) -> Viable:
        with self.states.lock:
            rows, completions = self.assembler.gather(state)
            terminals = self._token_terminals(state)
            if terminals:
                rows = (*rows, self.results.rows.number(self.terminals.mask(terminals)))
            return Viable(rows, completions)


def _without_empty(rows: Rows) -> Rows:
    return tuple(row for row in rows if row != EMPTY_ROW)


def _frozen(words: Bitmask) -> Bitmask:
    words.setflags(write=False)
    return words
