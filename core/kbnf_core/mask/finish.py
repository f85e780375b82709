"""The end of generation: the three ways to finish, and the nearest end in tokens.

A way to finish decides how bytes are fed, which tokens are masked, and when a text is over.

``NearestEnd`` returns in how few tokens a text can be over, and which tokens leave enough for that.
The cost of a state (``kernel/end_costs.pxi``, ``kernel/ends.pxi``) is the number of tokens of one
way to the end, so it is an upper bound of the fewest. Some token always leads to a lower cost: a
text of tokens after each of which the cost is at most the rest of its budget never gets stuck, and
is over in time. A token is refused where only a way of other tokens would have been short enough.

Where a text is over with its first complete byte, no token of that way reads past the end of
another derivation (``kernel/end_crossings.pxi``), so finishes differ little in what they cost.

No token of that way crosses a call or its return, so a vocabulary may spell texts although no state
has a cost: a byte may occur in longer tokens only. There a search over tokens decides, within
bounds.

A token can match by its bytes and by its name at once; the state after it is then the union of
both. A union costs the least of its members that have a cost, and is searched only where none has
one: so a search is asked of the union, never of a member.

Tests: tests/unit/mask
"""

import heapq
from collections.abc import Callable, Iterable
from math import inf
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from kbnf_core.config import Finish
from kbnf_core.kernel import NEVER, EndCosts, Ends, EndWalker, TokenGroups, crossing_classes
from kbnf_core.lower.tables import Ids, Tables
from kbnf_core.mask.bits import Bitmask, ids_of, pack
from kbnf_core.mask.masks import Masks, Rows
from kbnf_core.mask.slices import slice_set_of
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.collecting import weakly
from kbnf_core.text.errors import ConfigError, WorkLimitError
from kbnf_core.text.remembered import LruDict
from kbnf_core.vocab.vocabulary import Vocabulary


class FinishPolicy(Protocol):
    """The decisions of one way to finish.

    ``ends_at_bytes``: whether the text is over with the first byte that completes the start, and
    ``ends_at_tokens``: with the first token after which the start is complete.
    """

    ends_at_bytes: bool
    ends_at_tokens: bool

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Return the state after ``data`` and the number of bytes consumed; DEAD if not all."""

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the numbers of the masks that together have the tokens allowed in a state."""

    def takes_eos(self, complete: bool) -> bool:
        """Return whether the end of sequence is allowed where the start is ``complete``."""


class EagerFinish:
    """Over at the first byte that completes the start."""

    ends_at_bytes = True
    ends_at_tokens = True

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed one byte after the other; nothing may follow a complete text."""
        return states.feed_eagerly(state, data)

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the tokens that do not extend a complete text."""
        return masks.prefix_free(state)

    def takes_eos(self, complete: bool) -> bool:
        """Refuse it: the engine is finished before."""
        del complete
        return False


class TokenFinish(EagerFinish):
    """Over at the first token end at which the start is complete."""

    ends_at_bytes = False

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed all bytes, whatever is complete on the way."""
        return states.feed(state, data)

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the viable tokens."""
        return masks.viable(state)


class EosFinish:
    """Over with the end-of-sequence token only."""

    ends_at_bytes = False
    ends_at_tokens = False

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed all bytes, whatever is complete on the way."""
        return states.feed(state, data)

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the viable tokens, and the end of sequence where the start is complete."""
        return masks.viable_or_eos(state) if masks.is_complete(state) else masks.viable(state)

    def takes_eos(self, complete: bool) -> bool:
        """Allow the end of sequence where the start is complete."""
        return complete


_RULES: dict[Finish, FinishPolicy] = {
    Finish.EAGER: EagerFinish(),
    Finish.TOKEN: TokenFinish(),
    Finish.EOS: EosFinish(),
}


def finish_rule(finish: Finish) -> FinishPolicy:
    """Return the policy of ``finish``."""
    return _RULES[finish]


MOST_VISITED = 20_000_000
"""Trie nodes that one search looks at."""

MOST_REACHED = 4_000
"""States that it meets."""

MOST_WITHOUT_COSTS = 64
"""States of which the tokens are remembered that lead to states without costs."""

_costs: WeakKeyDictionary[Tables, WeakKeyDictionary[Vocabulary, dict[bytes, EndCosts]]] = (
    WeakKeyDictionary()
)


def _costs_of(masks: Masks, eager: bool) -> EndCosts:
    """Return the costs of positions in tokens, cached; ``eager``: no token reads past an end."""
    tables, vocabulary = masks.states.tables, masks.vocabulary
    by_cuts = _costs.setdefault(tables, WeakKeyDictionary()).setdefault(vocabulary, {})
    cuts = crossing_classes(tables) if eager else np.zeros(256, np.uint8)
    if cuts.tobytes() not in by_cuts:
        named = np.full(len(tables.token_terminals), NEVER, np.int64)
        for terminal in range(len(masks.terminals)):
            if masks.terminals.mask((terminal,)).any():
                named[terminal] = 1
        by_cuts[cuts.tobytes()] = EndCosts(tables, slice_set_of(vocabulary), cuts, named)
    return by_cuts[cuts.tobytes()]


_groups: WeakKeyDictionary[Vocabulary, TokenGroups] = WeakKeyDictionary()


def _groups_of(vocabulary: Vocabulary) -> TokenGroups:
    """Return the tokens of a vocabulary by their characters, found once."""
    cached = _groups.get(vocabulary)
    return cached or _groups.setdefault(vocabulary, TokenGroups(slice_set_of(vocabulary)))


class NearestEnd:
    """How few tokens end the texts of one token automaton, and which tokens leave enough of them.

    Numbers of tokens count the one that ends the sequence, where there is one. ``step``: the
    automaton's, without room made. A position may have a count beside its state; a state has not.
    """

    def __init__(self, masks: Masks, rule: FinishPolicy, step: Callable[[int, int], int]) -> None:
        self._masks = masks
        self._rule = rule
        self._step = step
        self._costs = _costs_of(masks, rule.ends_at_bytes)
        self._ends = Ends(masks.states, self._costs)
        self._end_cost = int(rule.takes_eos(True) and bool(masks.vocabulary.eos_token_ids))
        self._last_words = pack(sorted(masks.vocabulary.eos_token_ids), masks.vocabulary.size)
        groups = _groups_of(masks.vocabulary)
        self.walker = EndWalker(
            self._ends,
            groups,
            masks.walker,
            masks.counting,
            rule.ends_at_bytes,
            bool(masks.terminals),
            self._end_cost,
        )
        # Of states without a cost: ways that searches found, None where they found none.
        self._ways: dict[int, tuple[int, ...] | None] = {}
        # Those whose search came to its limit.
        self._cut: set[int] = set()
        self._without_costs = LruDict(weakly(self._find_without_costs), MOST_WITHOUT_COSTS)

    @property
    def estimated_bytes(self) -> int:
        """The estimated size of the cached data, in bytes."""
        size = self._costs.bytes + self._ends.bytes + self.walker.bytes
        return size + 128 * len(self._ways)

    def least(self, position: int) -> float:
        """Return a number of tokens in which a text can be over; infinite where none was found."""
        state = self._masks.counting.exact(position)
        if state < 0:
            return 0
        cost = self._cost(state)
        if cost < inf:
            return cost
        way = self._search(state)
        return inf if way is None else len(way) + self._end_cost

    def fits(self, position: int, left: int) -> bool:
        """Return whether a text can be over in ``left`` tokens."""
        if position < 0 or left < self._end_cost:
            return left >= 0 > position
        return self.least(position) <= left

    def check_budget(self, position: int, left: int) -> None:
        """Raise ``ConfigError`` if no text is known to end in ``left`` tokens, with a number."""
        if self.fits(position, left):
            return
        least = self.least(position)
        if least == inf:
            raise ConfigError(
                "no tokens of the vocabulary lead to the end of a text, in any number"
            )
        enough = "1 token is" if least == 1 else f"{least:,.0f} tokens are"
        raise ConfigError(f"budget={left} is too small: {enough} enough")

    def fitting(self, words: Bitmask, position: int, left: int) -> Bitmask:
        """Return the tokens of a mask after which a text can end within the rest of its budget."""
        if not self.walker.binds(position, left):
            return words
        if left < 1:
            return self._masks.no_words
        state, masks = self.walker.near(position), self._masks
        terminals = self._terminals_of(state)
        leads_nowhere = self.walker.leads_nowhere(state)
        if terminals:
            # A token may come by its bytes or by its name, and is late only if both ways are.
            costs = self._costs_of_names(state, terminals)
            chosen = np.zeros(masks.word_count, np.uint32)
            self.walker.add_by_bytes(state, left - 1, chosen)
            chosen |= masks.terminals.mask(terminal for terminal in costs if costs[terminal] < left)
            leads_nowhere = leads_nowhere or inf in costs.values()
        else:
            chosen = words.copy()
            self.walker.leave_out(state, left - 1, chosen)
        if leads_nowhere:
            for after, ids in self._without_costs[state]:
                if self.fits(after, left - 1):
                    chosen |= pack(ids, masks.vocabulary.size)
        if self._end_cost and masks.is_complete(state):
            chosen |= self._last_words
        chosen &= words
        return chosen

    def _costs_of_names(self, state: int, terminals: Iterable[int]) -> dict[int, float]:
        """Return the cost of the state after each token terminal, infinite where it has none."""
        step = self._masks.states.step_token
        after = {
            terminal: self._settled(step(state, frozenset((terminal,)))) for terminal in terminals
        }
        return {
            terminal: 0 if after[terminal] < 0 else self._cost(after[terminal])
            for terminal in after
        }

    def _find_without_costs(self, state: int) -> list[tuple[int, Ids]]:
        """Return the states without a cost to which tokens lead, and these."""
        result = self.leads(state).items()
        return [
            (state_after, ids)
            for state_after, ids in result
            if self._ends.least(state_after) >= NEVER
        ]

    def leads(self, state: int) -> dict[int, Ids]:
        """Return the states to which tokens lead, and these: {state: token ids, ascending}."""
        result: dict[int, Ids] = self.walker.leads(state)
        terminals, states = self._terminals_of(state), self._masks.states
        if not terminals:
            return result
        by_bytes = np.full(self._masks.vocabulary.size, DEAD, np.int32)
        for after, ids in result.items():
            by_bytes[ids] = after
        reached = by_bytes.copy()
        for matched, ids in self._masks.terminals.kinds:
            if names := matched & terminals:
                named = states.step_token(state, names)
                others, numbers = np.unique(by_bytes[ids], return_inverse=True)
                merged = [states.merge(other, named) for other in others.tolist()]
                reached[ids] = np.array(merged, np.int32)[numbers]
        ids = np.flatnonzero(reached != DEAD).astype(np.int32)
        ids = ids[np.argsort(reached[ids], kind="stable")]
        _, starts = np.unique(reached[ids], return_index=True)
        return {int(reached[group[0]]): group for group in np.split(ids, starts[1:]) if len(group)}

    def always_fits(self, state: int, left: int) -> bool:
        """Return whether a text is known at once to be over after any token from a state."""
        return self._ends.most_after(state) + self._end_cost <= left

    def way(self, position: int) -> tuple[int, ...] | None:
        """Return tokens that complete a text, few of them; None where none were found."""
        state = self._masks.counting.exact(position)
        result: list[int] = []
        while state >= 0 and not self._is_over(state):
            if self._cost(state) == inf:
                rest = self._search(state)
                return None if rest is None else (*result, *rest)
            result.append(self._first_token(state))
            state = self._masks.counting.exact(self._step(state, result[-1]))
        return tuple(result)

    def _is_over(self, state: int) -> bool:
        # Where ends come with tokens, a state is complete before the first of them only.
        return not self._rule.ends_at_tokens and self._masks.is_complete(state)

    def _is_empty(self, state: int) -> bool:
        """Return whether nothing came yet, and a text that is over may not be empty."""
        return self._rule.ends_at_tokens and state == self._masks.states.initial

    def _first_token(self, state: int) -> int:
        """Return a token that leads to a state that costs less."""
        result = self._ends.first_token(state, self._is_empty(state))
        if result >= 0:
            return result
        named = self._masks.terminals.mask(frozenset((-2 - result,)))
        return int(ids_of(named, self._masks.vocabulary.size)[0])

    def _terminals_of(self, state: int) -> frozenset[int]:
        masks = self._masks
        return masks.states.token_terminals(state) if masks.terminals else frozenset()

    def _settled(self, state: int) -> int:
        over = self._rule.ends_at_tokens and self._masks.is_complete(state)
        return ~state if over else state

    def _cost(self, state: int) -> float:
        """Return the cost of a state, infinite where it has none."""
        if self._is_over(state):
            return self._end_cost
        cost = self._ends.filled(state) if self._is_empty(state) else self._ends.least(state)
        return inf if cost >= NEVER else cost + self._end_cost

    def cannot_end(self, position: int) -> bool:
        """Return whether no tokens complete a text; False where not all states were seen."""
        return self.way(position) is None and self._masks.counting.exact(position) not in self._cut

    def _search(self, state: int) -> tuple[int, ...] | None:
        """Look for tokens that complete a text, best first; where a state has a cost, by that."""
        if state in self._ways:
            return self._ways[state]
        limit = self.walker.visited + MOST_VISITED
        reached: dict[int, tuple[int, int]] = {state: (state, -1)}
        # The least number of tokens to the end, how many came, whether the cost of the state is
        # among them, a number of its own, and the state.
        front: list[tuple[float, int, bool, int, int]] = [(0, 0, False, 0, state)]
        while front and self.walker.visited < limit and len(reached) < MOST_REACHED:
            _, taken, is_near, _, here = heapq.heappop(front)
            if is_near:
                return self._note_way(state, here, reached)
            try:
                leads = self.leads(here)
            except WorkLimitError:
                # So many states are as good as ``MOST_REACHED`` of them: the search is cut.
                front.append((0, 0, False, 0, here))
                break
            for unsettled, ids in leads.items():
                after = self._settled(unsettled)
                if after not in reached:
                    reached[after] = here, int(ids[0])
                    cost = 0 if after < 0 else self._cost(after) - self._end_cost
                    is_near = cost < inf
                    ahead = taken + 1 + (cost if is_near else 0)
                    heapq.heappush(front, (ahead, taken + 1, is_near, len(reached), after))
        if front:
            self._cut.add(state)
            self._ways[state] = None
        else:
            self._ways.update(dict.fromkeys(reached))
        return None

    def _note_way(
        self, state: int, end: int, reached: dict[int, tuple[int, int]]
    ) -> tuple[int, ...]:
        """Note the tokens from a state, by way of those that were reached, to the end."""
        way = () if end < 0 else self.way(end) or ()
        while end != state:
            end, token_id = reached[end]
            way = self._ways[end] = token_id, *way
        return way
