"""The nearest end: the fewest tokens in which a text can be over, exactly, for any grammar.

A token crosses any number of rules, so the fewest tokens of a rule say little. What can be said of
a part of a text by itself is its *exits*: after k tokens, and perhaps the beginning of one more, a
nonterminal is complete; that beginning is a node of the trie, its root where no token is begun. So
exits are sets of trie nodes, by nonterminal and k, of three kinds of beginnings:

- an item set above BOTTOM, below some nodes of the trie: what completes within the token, and
  after each place at which the token can end;
- a place at which a token ends: its pairs, each an item set and then what waits in its stack node;
- a completion in a stack node, below some nodes: the item sets that wait for it.

None depends on what lies deeper in the stack, so they are shared by all states, as walks are. A
search goes from a state to what its exits depend on, and takes each exit to all that depend on it,
in the order of k, once; it ends with the root among the exits of the state, and what it found stays
(Knuth, "A Generalization of Dijkstra's Algorithm", 1977).

Two things keep them few. A node that was an exit before is none later. And once there is an exit
with no token begun after K tokens, a node is dropped where the rest of each token below it can be
spelled by tokens of its own in as many as it is late: that way is no longer.

What is counted (``lower.counts``) has no upper bounds among exits, which are fewer so. With counts,
and with eager ends (a token may not go on after a complete text, which exits do not know of),
exits are a bound, by which states are searched (A*, Hart et al. 1968). A way that was found after
one count is tried after the others first.
"""

import heapq
from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import EndWalker, chosen_bits, rest_costs
from kbnf_core.mask.bits import Bitmask, ids_of, pack
from kbnf_core.mask.cache import LruDict
from kbnf_core.mask.finish import FinishPolicy
from kbnf_core.mask.masks import STATE, Masks
from kbnf_core.mask.slices import parts_of
from kbnf_core.recognise.closing import DistanceToEnd
from kbnf_core.recognise.states import BOTTOM
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import EngineError
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]
Exits = list[tuple[int, int]]
"""Pairs of a nonterminal and the number of a set of trie nodes."""

_Content = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]
"""The pairs and the completions of a place."""

ROOT_SET = 0
"""The number of the set that holds just the trie's root."""

_ROOT_ALONE = np.zeros(1, np.int32)

_NO_LIMIT = 1 << 60

MOST_SEARCHED = 256
"""States whose tokens one search follows before everything is looked at, count by count."""

KEPT_BYTES = 1 << 24
"""Size of the ends of tokens, and of masks, that are kept."""


class _Summary:
    """The exits of one beginning, as far as they are known: ``levels[k]`` after k tokens.

    All are known up to ``known``. ``seen``: all nodes by nonterminal. ``first``: the k with no
    token begun, by nonterminal. ``is_closed``: no more are asked for.
    ``pending``: by k what was found and is not yet among the exits, sets of nodes by nonterminal.
    ``needs``: (summary, n): its exits are some of this one n tokens later. The reverse of it is
    ``direct``; ``through`` are (summary, stack node): what waits there goes on from the exits.
    """

    __slots__ = (
        *("direct", "first", "is_closed", "is_expanded", "known", "levels", "needs", "pending"),
        *("seen", "serial", "through"),
    )
    RANK: ClassVar[int]
    """The order within a level, after what it may need of that level."""

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.is_expanded = self.is_closed = False
        self.known: float = -1
        self.levels: dict[int, Exits] = {}
        self.seen: dict[int, Nodes] = {}
        self.first: dict[int, int] = {}
        self.pending: dict[int, dict[int, list[int]]] = {}
        self.needs: list[tuple[_Summary, int]] = []
        self.direct: list[tuple[_Summary, int]] = []
        self.through: list[tuple[_Summary, int]] = []

    def expand(self, search: "_Exits") -> None:
        """Name the exits that are known at once, and what has the others."""
        raise NotImplementedError


class _Items(_Summary):
    """An item set above BOTTOM, below a set of nodes."""

    __slots__ = ("_nodes", "item_set")
    RANK = 0

    def __init__(self, serial: int, item_set: int, nodes: int) -> None:
        super().__init__(serial)
        self.item_set = item_set
        self._nodes = nodes

    def expand(self, search: "_Exits") -> None:
        ends, completions = search.walk(self.item_set, self._nodes)
        search.find(self, 0, completions)
        for place in ends:
            search.link(self, search.at(place), 1)


class _Resumed(_Summary):
    """A completion in a stack node, below a set of nodes."""

    __slots__ = ("_done", "_nodes", "_waiting")
    RANK = 1

    def __init__(
        self, serial: int, waiting: list[tuple[int, int]], done: frozenset[int], nodes: int
    ) -> None:
        super().__init__(serial)
        self._waiting = waiting
        self._done = done
        self._nodes = nodes

    def expand(self, search: "_Exits") -> None:
        search.find(self, 0, [(each, self._nodes) for each in self._done])
        for stack_node, item_set in self._waiting:
            search.link_through(self, stack_node, search.of_items(item_set, self._nodes))


class _Place(_Summary):
    """A place at which a token ends."""

    __slots__ = ("_completions", "_pairs")
    RANK = 2

    def __init__(
        self, serial: int, pairs: tuple[tuple[int, int], ...], completions: tuple[int, ...]
    ) -> None:
        super().__init__(serial)
        self._pairs = pairs
        self._completions = completions

    def expand(self, search: "_Exits") -> None:
        search.find(self, 0, [(each, ROOT_SET) for each in self._completions])
        for stack_node, item_set in self._pairs:
            search.link_through(self, stack_node, search.of_items(item_set, ROOT_SET))


_costs: WeakKeyDictionary[Vocabulary, npt.NDArray[np.int16]] = WeakKeyDictionary()


def _costs_of(vocabulary: Vocabulary) -> npt.NDArray[np.int16]:
    """Return what ``rest_costs`` says of a vocabulary."""
    found = _costs.get(vocabulary)
    if found is None:
        found = _costs.setdefault(vocabulary, rest_costs(parts_of(vocabulary)))
    return found


class _Exits:
    """The summaries of one table and vocabulary.

    A search goes from a summary to what it needs, and has it ``offset`` tokens later. So exits of k
    tokens are looked for at the time k + ``offset``; and as nothing is needed later than it is
    wanted, one pass over time, by a heap, meets each exit once. A summary takes part from when on
    more is wanted of it than is known.
    """

    def __init__(self, masks: Masks, walker: EndWalker, unbounded: Callable[[int], int]) -> None:
        self._masks = masks
        self._unbounded = unbounded
        self._costs = _costs_of(masks.vocabulary)
        self._most_cost = int(self._costs.max())
        self._walker = walker
        self._sets: list[Nodes] = [_ROOT_ALONE]
        self._numbers = {_ROOT_ALONE.tobytes(): ROOT_SET}
        self._items: dict[tuple[int, int], _Items] = {}
        self._places: dict[int, _Place] = {}
        self._contents: dict[_Content, _Place] = {}
        self._resumed: dict[tuple[int, int, int], _Resumed] = {}
        self._made = 0
        # Of the search: (time, level, rank, reverse serial, summary) of what is to be looked at;
        # the offsets of what was reached, and of it what takes part.
        self._front: list[tuple[float, float, int, int, _Summary]] = []
        self._offsets: dict[_Summary, int] = {}
        self._active: set[_Summary] = set()

    def fewest(self, state: int, most: float) -> float:
        """Return the fewest tokens after which the start is complete.

        Infinite if there is no number; what is more than ``most`` may be any number above it.
        """
        return self.fewest_of([state], most)[0]

    def fewest_of(self, states: Sequence[int], most: float) -> list[float]:
        """Return the same for several states, which one search finds."""
        goals, start = [self.at(each) for each in states], self._masks.states.tables.start
        left = [each for each in dict.fromkeys(goals) if start not in each.first]
        time: float = 0
        for goal in left:
            self._reach(goal, 0)
        while left and self._front and self._front[0][0] <= most:
            time, level, _, _, summary = heapq.heappop(self._front)
            self._look_at(summary, level)
            while left and start in left[-1].first:
                left.pop()
        if left:
            time = self._front[0][0] if self._front else inf
        for summary, offset in self._offsets.items():
            summary.known = max(summary.known, time - 1 - offset)
        self._front.clear()
        self._offsets.clear()
        self._active.clear()
        return [each.first.get(start, time) for each in goals]

    def _reach(self, summary: _Summary, offset: int) -> None:
        """Ask for the exits of a summary, each so many tokens later."""
        if summary.known < inf and self._offsets.get(summary, inf) > offset:
            self._offsets[summary] = offset
            self._push(summary, summary.known + 1)

    def _push(self, summary: _Summary, level: float) -> None:
        time = self._offsets[summary] + level
        heapq.heappush(self._front, (time, level, summary.RANK, -summary.serial, summary))

    def _look_at(self, summary: _Summary, level: float) -> None:
        if summary.is_closed:
            return
        if summary not in self._active:
            self._active.add(summary)
            for each in summary.pending:
                self._push(summary, each)
            offset = self._offsets[summary]
            for needed, later in summary.needs:
                self._reach(needed, offset + later)
            if not summary.is_expanded:
                summary.is_expanded = True
                summary.expand(self)
        elif level in summary.pending:
            self._settle(summary, int(level))

    def find(self, summary: _Summary, level: int, exits: Exits) -> None:
        """Add to what was found at a level of a summary."""
        if summary.is_closed or not exits:
            return
        if level not in summary.pending:
            summary.pending[level] = {}
            if summary in self._active:
                self._push(summary, level)
        found = summary.pending[level]
        for nonterminal, nodes in exits:
            found.setdefault(nonterminal, []).append(nodes)

    def link(self, summary: _Summary, needed: _Summary, later: int) -> None:
        """Take the exits of another summary so many tokens later."""
        summary.needs.append((needed, later))
        needed.direct.append((summary, later))
        for level, exits in needed.levels.items():
            self.find(summary, level + later, exits)
        if summary in self._active:
            self._reach(needed, self._offsets[summary] + later)

    def link_through(self, summary: _Summary, stack_node: int, inner: _Summary) -> None:
        """Take the exits of what is within a stack node, and then of what waits there."""
        if stack_node == BOTTOM:
            self.link(summary, inner, 0)
            return
        summary.needs.append((inner, 0))
        inner.through.append((summary, stack_node))
        for level, exits in inner.levels.items():
            self._resume(summary, stack_node, level, exits)
        if summary in self._active:
            self._reach(inner, self._offsets[summary])

    def _resume(self, summary: _Summary, stack_node: int, level: int, exits: Exits) -> None:
        for nonterminal, nodes in exits:
            self.link(summary, self._resumed_at(stack_node, nonterminal, nodes), level)

    def of_items(self, item_set: int, nodes: int) -> _Items:
        """Return the summary of an item set above BOTTOM."""
        item_set = self._unbounded(item_set)
        found = self._items.get((item_set, nodes))
        if found is None:
            self._made += 1
            found = self._items[item_set, nodes] = _Items(self._made, item_set, nodes)
        return found

    def at(self, place: int) -> _Place:
        """Return the summary of a place, ``~item_set`` for one that is above BOTTOM."""
        found = self._places.get(place)
        if found is None:
            pairs, completions = self._walker.place(place)
            content = tuple((node, self._unbounded(items)) for node, items in pairs), completions
            found = self._contents.get(content)
            if found is None:
                self._made += 1
                found = self._contents[content] = _Place(self._made, *content)
            self._places[place] = found
        return found

    def _resumed_at(self, stack_node: int, nonterminal: int, nodes: int) -> _Resumed:
        """Return the summary of a completion above BOTTOM."""
        key = stack_node, nonterminal, nodes
        found = self._resumed.get(key)
        if found is None:
            self._made += 1
            waiting, done = self._waiting(stack_node, nonterminal)
            found = self._resumed[key] = _Resumed(self._made, waiting, done, nodes)
        return found

    def _waiting(
        self, stack_node: int, nonterminal: int
    ) -> tuple[list[tuple[int, int]], frozenset[int]]:
        """Return what resumes, and what completes into BOTTOM at once."""
        states = self._masks.states
        pairs: dict[tuple[int, int], None] = {}
        done: set[int] = set()
        met = {(stack_node, nonterminal)}
        stack = list(met)
        while stack:
            for outer, item_set in states.stack.waiting(*stack.pop()):
                pairs[outer, item_set] = None
                for completed in states.items.completions(item_set):
                    if outer == BOTTOM:
                        done.add(completed)
                    elif (outer, completed) not in met:
                        met.add((outer, completed))
                        stack.append((outer, completed))
        return list(pairs), frozenset(done)

    def walk(self, item_set: int, nodes: int) -> tuple[list[int], Exits]:
        """Return the places at which tokens end, and what completes within one."""
        ends, completions = self._walker.from_item_set(item_set, self._sets[nodes])
        # What is named by its id begins where no other token does.
        if self._sets[nodes][0] == 0 and self._masks.terminals:
            states = self._masks.states
            state = self._walker.own_place(item_set)
            for terminal in states.token_terminals(state):
                named = frozenset((terminal,))
                if self._masks.terminals.mask(named).any():
                    ends.append(states.step_token(state, named))
        return ends, [(nonterminal, self._number(found)) for nonterminal, found in completions]

    def _number(self, nodes: Nodes) -> int:
        key = nodes.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._sets)
            self._sets.append(nodes)
        return number

    def _settle(self, summary: _Summary, level: int) -> None:
        """Make exits of what was found: of the nodes those that are new and worth going on from."""
        exits: Exits = []
        for nonterminal, numbers in summary.pending.pop(level).items():
            nodes = self._united(numbers)
            seen = summary.seen.get(nonterminal)
            if seen is not None:
                nodes = np.setdiff1d(nodes, seen, assume_unique=True)
            if len(nodes) and nodes[0] == 0:
                summary.first[nonterminal] = level
            first = summary.first.get(nonterminal)
            if first is not None:
                late = level + 1 - first
                nodes = nodes[(self._costs[nodes] > late) | (nodes == 0)]
            if len(nodes):
                summary.seen[nonterminal] = nodes if seen is None else np.union1d(seen, nodes)
                exits.append((nonterminal, self._number(nodes)))
        if exits:
            summary.levels.setdefault(level, []).extend(exits)
            for other, later in summary.direct:
                self.find(other, level + later, exits)
            for other, stack_node in summary.through:
                self._resume(other, stack_node, level, exits)
        if isinstance(summary, _Items) and summary.first:
            self._close(summary, level)

    def _close(self, summary: _Items, level: int) -> None:
        """Ask for no more once all that can come is late, or note when that will be."""
        reports = self._masks.states.items.reports(summary.item_set)
        if reports <= summary.first.keys():
            last = max(summary.first[each] for each in reports) + self._most_cost - 1
            if level >= last:
                summary.is_closed, summary.known = True, inf
                summary.pending.clear()
                summary.needs.clear()
            elif last not in summary.pending:
                summary.pending[last] = {}
                self._push(summary, last)

    def _united(self, numbers: list[int]) -> Nodes:
        distinct = set(numbers)
        if len(distinct) == 1:
            return self._sets[numbers[0]]
        return np.unique(np.concatenate([self._sets[each] for each in distinct]))


class NearestEnd:
    """How few tokens end the texts of one token automaton, and which tokens leave enough of them.

    Numbers of tokens count the one that ends the sequence, where there is one. ``step``: the
    automaton's, without room made. A position may have a count beside its state; a state has not.
    """

    def __init__(self, masks: Masks, rule: FinishPolicy, step: Callable[[int, int], int]) -> None:
        self._masks = masks
        self._counting = masks.counting
        self._rule = rule
        self._step = step
        parts = parts_of(masks.vocabulary)
        self._walker = EndWalker(masks.states, parts, rule.ends_at_bytes)
        # By state: how many tokens it takes, or what does not suffice; tokens that do, where a
        # search found them; bounds.
        self._needs: dict[int, float] = {}
        self._too_few: dict[int, float] = {}
        self._ways: dict[int, tuple[int, ...]] = {}
        self._bounds: dict[int, float] = {}
        self._spelled: dict[int, float] = {}
        trie = masks.vocabulary.trie
        self._longest = trie.max_depth
        self._token_ids = trie.token_ids
        kept = max(4, KEPT_BYTES // (4 * len(self._token_ids) + 1))
        self._end_states: dict[int, list[int]] = {}
        self._ends: LruDict[int, tuple[list[int], Nodes]] = LruDict(self._find_ends, kept)
        kept = max(4, KEPT_BYTES // (4 * masks.word_count + 1))
        self._rows: LruDict[tuple[int, bytes], Bitmask] = LruDict(self._find_row, kept)
        self._end_cost = int(rule.takes_eos(True) and bool(masks.vocabulary.eos_token_ids))

    def least(self, position: int) -> float:
        """Return the fewest tokens in which a text is over; infinite where none lead there."""
        return self._need(self._counting.exact(position), inf)

    def fits(self, position: int, left: int) -> bool:
        """Tell whether a text can be over in ``left`` tokens."""
        if position < 0 or left < self._end_cost:
            return left >= 0 > position
        if self._spelled_left(self._state_near(position)) <= left:
            return True
        return self._need(self._counting.exact(position), left) <= left

    def fitting(self, words: Bitmask, position: int, left: int) -> Bitmask:
        """Return the tokens of a mask after which a text can be over in what is left then."""
        if left < 1:
            return self._masks.no_words
        state = self._state_near(position)
        if self.is_bounded(state, left - 1):
            return words
        chosen = None
        if position > STATE:
            chosen = self._chosen_far(state, left - 1, self._counting.room(position))
        if chosen is None:
            state = self._counting.exact(position)
            ends = self._ends_of(state)
            self._look_at_all(ends, left - 1)
            chosen = [self.fits(self._settled(each), left - 1) for each in ends]
        if all(chosen):
            # The mask without named tokens and ends would be the same, and those are looked at.
            odd = [each for each in self._odd(state) if not self._leaves(state, each, left - 1)]
            return words & ~pack(odd, self._masks.vocabulary.size) if odd else words
        row = self._rows[state, bytes(chosen)]
        odd = [each for each in self._odd(state) if self._leaves(state, each, left - 1)]
        if not odd:
            return row
        return row | pack(odd, self._masks.vocabulary.size)

    def _look_at_all(self, ends: Sequence[int], left: int) -> None:
        """Let one search find what is asked next of the ends of tokens, one by one."""
        near = (self._state_near(each) for each in map(self._settled, ends) if each >= 0)
        unknown = [each for each in near if self._is_open(each, left)]
        if len(unknown) > 1:
            self._exits.fewest_of(unknown, left - self._end_cost)

    def _is_open(self, state: int, left: int) -> bool:
        """Tell whether only a search can say if a text can be over in ``left`` tokens."""
        return (
            state not in self._needs
            and self._too_few.get(state, -1) < left
            and not self._may_end(state)
            and self._spelled_left(state) > left
        )

    def _state_near(self, position: int) -> int:
        """Return the state without its count where enough came, else the one that is counted.

        From the former a text is as soon over, but where the upper bound is met before.
        """
        if position > STATE and self._counting.room(position):
            return position & STATE
        return self._counting.exact(position)

    def _chosen_far(self, state: int, left: int, room: int) -> list[bool] | None:
        """Return for each end of a token whether a text can be over in ``left`` tokens from there.

        ``state`` stands for one with a count, after which so many repetitions have room. None if
        they may be too few.
        """
        if not room or self._masks.states.token_terminals(state):
            return None
        chosen: list[bool] = []
        for each in self._ends_of(state):
            after = self._settled(each)
            chosen.append(self.fits(after, left))
            if chosen[-1] and after >= 0 and self._spelled_left(after) > left:
                way = self._ways.get(after)
                if way is None or self._longest + self._bytes_of(way) > room:
                    return None
        return chosen

    def _bytes_of(self, way: tuple[int, ...]) -> int:
        return sum(len(self._masks.vocabulary.token(each) or b"") for each in way)

    def is_bounded(self, state: int, left: int) -> bool:
        """Tell whether it is known at once that after any token the rest fits in ``left``."""
        found = self._bounds.get(state)
        if found is None:
            above = self._bytes_left.most_above(state, Budget(_NO_LIMIT))
            found = self._bounds[state] = above + self._most_open + self._end_cost
        return found <= left

    def way(self, position: int) -> tuple[int, ...] | None:
        """Return the fewest tokens that complete a text, None where none do."""
        state = self._counting.exact(position)
        left = self._need(state, inf) - self._end_cost
        if left == inf:
            return None
        found: list[int] = []
        while left > 0:
            left -= 1
            token_id, state = self._nearer(state, left + self._end_cost)
            found.append(token_id)
        return tuple(found)

    def _nearer(self, state: int, need: float) -> tuple[int, int]:
        """Return a token, and the state after it, from which so many tokens end the text."""
        for number, each in enumerate(self._ends_of(state)):
            if self._need(self._settled(each), need) <= need:
                token_id = self._token_to(state, number)
                return token_id, self._step(state, token_id)
        for token_id in self._odd(state):
            after = self._step(state, token_id)
            if self._need(after, need) <= need:
                return token_id, after
        raise AssertionError("no token leads nearer to the end")

    def _token_to(self, state: int, number: int) -> int:
        """Return a token that leads from a state to its end with a number."""
        return int(self._token_ids[int((self._ends[state][1] == number).argmax())])

    def _settled(self, state: int) -> int:
        over = self._rule.ends_at_tokens and self._masks.is_complete(state)
        return ~state if over else state

    def _may_end(self, state: int) -> bool:
        # Where ends come with tokens, a state is complete before the first of them only.
        return not self._rule.ends_at_tokens and self._masks.is_complete(state)

    def _odd(self, state: int) -> list[int]:
        """Return the tokens that can come by their ids: named ones, and the end of sequence."""
        masks = self._masks
        terminals = masks.states.token_terminals(state) if masks.terminals else frozenset()
        named = ids_of(masks.terminals.mask(terminals), masks.vocabulary.size).tolist()
        ends = self._rule.takes_eos(masks.is_complete(state))
        return [*named, *sorted(masks.vocabulary.eos_token_ids)] if ends else named

    def _leaves(self, state: int, token_id: int, left: int) -> bool:
        return self.fits(self._step(state, token_id), left)

    def _ends_of(self, state: int) -> list[int]:
        """Return the states in which tokens end, which are kept when their tokens are not."""
        found = self._end_states.get(state)
        if found is None:
            found = self._end_states[state] = self._ends[state][0]
        return found

    def _find_ends(self, state: int) -> tuple[list[int], Nodes]:
        of_token = np.empty(len(self._token_ids), np.int32)
        return self._walker.from_state(state, of_token), of_token

    def _find_row(self, key: tuple[int, bytes]) -> Bitmask:
        state, chosen = key
        words = np.zeros(self._masks.word_count, np.uint32)
        flags = np.frombuffer(chosen, np.uint8)
        chosen_bits(self._ends[state][1], self._token_ids, flags, words)
        words.setflags(write=False)
        return words

    def _need(self, state: int, most: float) -> float:
        """Return the least number of tokens, or any above ``most`` for one that is."""
        if state < 0:
            return 0
        known = self._needs.get(state)
        if known is not None:
            return known
        if self._may_end(state):
            return self._end_cost
        if most <= self._too_few.get(state, -1):
            return most + 1
        found = self._find_need(state, most - self._end_cost) + self._end_cost
        if found <= most:
            self._needs[state] = found
        else:
            self._too_few[state] = most
        return found

    def _find_need(self, state: int, most: float) -> float:
        if not (self._has_bounds or self._rule.ends_at_bytes):
            return self._exits.fewest(state, most)
        bound = self._least_from(state, most)
        if bound > most:
            return bound
        free = self._counting.without_bound(state) if self._counting.room(state) else state
        if free != state:
            # Without the upper bound it takes no more, and mostly the same tokens do.
            least = self._need(free, most + self._end_cost) - self._end_cost
            if least > most or self._ends_with(state, self._ways.get(free)):
                return least
        found = self._searched(state, most)
        return self._bounded_exits.fewest(state, most) if found is None else found

    def _ends_with(self, state: int, way: tuple[int, ...] | None) -> bool:
        """Tell whether tokens end the text, and note them if they do."""
        if way is None:
            return False
        position = state
        for token_id in way:
            try:
                position = self._step(position, token_id)
            except EngineError:
                return False
        if position >= 0 and not self._may_end(position):
            return False
        self._ways[state] = way
        return True

    def _searched(self, state: int, most: float) -> float | None:
        """Return the fewest tokens, and note the ways; None where there is too much to look at.

        With eager ends there is no limit.
        """
        front = [(self._least_from(state, most), 0, state)]
        # By state: how many tokens lead there, from where, and which: an end of ``_ends`` by its
        # number, or the complement of an id.
        reached: dict[int, tuple[int, int, int]] = {state: (0, state, 0)}
        met: set[int] = set()
        while front:
            bound, taken, here = heapq.heappop(front)
            if bound > most or bound == inf:
                return bound
            if here < 0 or here in self._needs or self._may_end(here):
                self._note_way(state, here, reached)
                return bound
            if here in met:
                continue
            if len(met) >= MOST_SEARCHED and not self._rule.ends_at_bytes:
                return None
            met.add(here)
            count = 1 - taken
            ends = [(self._settled(each), k) for k, each in enumerate(self._ends_of(here))]
            ends += [(self._step(here, each), ~each) for each in self._odd(here)]
            self._exits.fewest_of(
                [each for each, _ in ends if each >= 0 and each not in self._needs], most - count
            )
            for after, by in ends:
                if after in met or reached.get(after, (inf,))[0] <= count:
                    continue
                rest = self._least_from(after, most - count)
                if count + rest <= most and rest < inf:
                    reached[after] = count, here, by
                    heapq.heappush(front, (count + rest, -count, after))
        return inf

    def _note_way(self, state: int, end: int, reached: dict[int, tuple[int, int, int]]) -> None:
        """Note the tokens from a state to an end, or to where they are known."""
        way = () if end < 0 or self._may_end(end) else self._ways.get(end)
        need = self._need(end, inf) if end >= 0 else 0
        while end != state:
            _, before, by = reached[end]
            token_id = ~by if by < 0 else self._token_to(before, by)
            if way is not None:
                way = self._ways[before] = token_id, *way
            need += 1
            self._needs[before] = need
            end = before

    def _least_from(self, state: int, most: float) -> float:
        """Return a bound of the tokens before the end of sequence; the number where it is known."""
        if state < 0 or self._may_end(state):
            return 0
        known = self._needs.get(state)
        if known is not None:
            return known - self._end_cost
        return self._exits.fewest(state, most)

    def _spelled_left(self, state: int) -> float:
        """Return how many tokens of one byte end the text, and the end of sequence."""
        found = self._spelled.get(state)
        if found is None:
            found = 0 if self._may_end(state) else self._bytes_left.length(state, Budget(_NO_LIMIT))
            self._spelled[state] = found
        return found + self._end_cost

    @cached_property
    def _has_bounds(self) -> bool:
        """Whether something that is counted has an upper bound, which exits do not know of."""
        return bool((self._masks.states.tables.loops.high >= 0).any())

    @cached_property
    def _exits(self) -> _Exits:
        return _Exits(self._masks, self._walker, self._counting.unbounded_items)

    @cached_property
    def _bounded_exits(self) -> _Exits:
        return _Exits(self._masks, self._walker, lambda item_set: item_set)

    @cached_property
    def _bytes_left(self) -> DistanceToEnd:
        """Lengths in bytes that are tokens, a token terminal counting as much as one."""
        masks = self._masks
        trie = masks.vocabulary.trie
        single = trie.children(0)
        single = single[trie.token_start[single] < trie.token_start[single + 1]]
        byte = np.full(masks.states.tables.class_count, inf)
        byte[masks.states.tables.classes[trie.byte[single]]] = 1
        terminals = range(len(masks.terminals))
        token = 1.0 if all(masks.terminals.mask((each,)).any() for each in terminals) else inf
        return DistanceToEnd(masks.states, byte, token=token)

    @cached_property
    def _most_open(self) -> float:
        return self._bytes_left.most_open(self._longest)
