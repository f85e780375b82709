"""The nearest end: the fewest tokens in which a text can be over, exactly, for any grammar.

A token crosses any number of rules, so the fewest tokens of a rule say little. What can be said of
a part of a text by itself is its *exits*: after k tokens, and perhaps the beginning of one more, a
nonterminal is complete; that beginning is a node of the trie, its root where no token is begun. So
exits are sets of trie nodes, by nonterminal and k, of three kinds of beginnings:

- an item set above BOTTOM, below some nodes of the trie: what completes within the token, and
  behind each place at which the token can end;
- a place at which a token ends: its pairs, each an item set and then what waits in its stack node;
- a completion in a stack node, below some nodes: the item sets that wait for it.

None depends on what lies deeper in the stack, so they are shared by all states, as walks are. They
are found level by level, k for k, as far as is asked for; the least k with the root among the exits
of a state is the answer (Knuth, "A Generalization of Dijkstra's Algorithm", 1977).

Two things keep them few. A node that was an exit before is none later. And once there is an exit
with no token begun after K tokens, a node is dropped where the rest of each token below it can be
spelled by tokens of its own in as many as it is late: that way is no longer.

What is counted (``lower.counts``) has no upper bounds among exits, which are fewer so. With counts,
and with eager ends (a token may not go on behind a complete text, which exits do not know of),
exits are a bound, by which states are searched (A*, Hart et al. 1968). A way that was found behind
one count is tried behind the others first.
"""

import heapq
from collections.abc import Callable
from functools import cached_property
from math import inf
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

    ``seen``: all nodes by nonterminal. ``first``: the k with no token begun, by nonterminal.
    ``is_closed``: there are no exits beyond these levels.
    """

    __slots__ = ("first", "is_closed", "levels", "seen")

    def __init__(self) -> None:
        self.is_closed = False
        self.levels: list[Exits] = []
        self.seen: dict[int, Nodes] = {}
        self.first: dict[int, int] = {}

    def gather(self, search: "_Exits", level: int) -> "_Gathered":
        """Return the exits of a level as they are found, or the levels that have to come first."""
        raise NotImplementedError


class _Gathered:
    """Exits found, sets of nodes by nonterminal, and the summaries and levels that lack."""

    __slots__ = ("found", "missing")

    def __init__(self) -> None:
        self.found: dict[int, list[int]] = {}
        self.missing: list[tuple[_Summary, int]] = []

    def add(self, summary: _Summary, level: int) -> None:
        """Take the exits of another summary."""
        if len(summary.levels) <= level:
            if not summary.is_closed:
                self.missing.append((summary, level))
            return
        for nonterminal, nodes in summary.levels[level]:
            self.found.setdefault(nonterminal, []).append(nodes)

    def add_through(self, search: "_Exits", stack_node: int, inner: _Summary, level: int) -> None:
        """Take the exits of what is within a stack node, and then of what waits there."""
        if stack_node == BOTTOM:
            self.add(inner, level)
            return
        if len(inner.levels) <= level and not inner.is_closed:
            self.missing.append((inner, level))
            return
        for within in range(min(level + 1, len(inner.levels))):
            for nonterminal, nodes in inner.levels[within]:
                self.add(search.resumed(stack_node, nonterminal, nodes), level - within)


class _Items(_Summary):
    """An item set above BOTTOM, below a set of nodes."""

    __slots__ = ("_completions", "_ends", "_nodes", "item_set")

    def __init__(self, item_set: int, nodes: int) -> None:
        super().__init__()
        self.item_set = item_set
        self._nodes = nodes
        self._ends: list[int] | None = None
        self._completions: Exits = []

    def gather(self, search: "_Exits", level: int) -> _Gathered:
        gathered = _Gathered()
        if self._ends is None:
            self._ends, self._completions = search.walk(self.item_set, self._nodes)
        if level == 0:
            for nonterminal, nodes in self._completions:
                gathered.found.setdefault(nonterminal, []).append(nodes)
            return gathered
        for place in self._ends:
            gathered.add(search.at(place), level - 1)
        return gathered


class _Place(_Summary):
    """A place at which a token ends."""

    __slots__ = ("_completions", "_pairs")

    def __init__(self, pairs: tuple[tuple[int, int], ...], completions: tuple[int, ...]) -> None:
        super().__init__()
        self._pairs = pairs
        self._completions = completions

    def gather(self, search: "_Exits", level: int) -> _Gathered:
        gathered = _Gathered()
        if level == 0:
            gathered.found = {each: [ROOT_SET] for each in self._completions}
        for stack_node, item_set in self._pairs:
            inner = search.of_items(item_set, ROOT_SET)
            gathered.add_through(search, stack_node, inner, level)
        return gathered


class _Resumed(_Summary):
    """A completion in a stack node, below a set of nodes."""

    __slots__ = ("_done", "_nodes", "_waiting")

    def __init__(self, waiting: list[tuple[int, int]], done: frozenset[int], nodes: int) -> None:
        super().__init__()
        self._waiting = waiting
        self._done = done
        self._nodes = nodes

    def gather(self, search: "_Exits", level: int) -> _Gathered:
        gathered = _Gathered()
        if level == 0:
            gathered.found = {each: [self._nodes] for each in self._done}
        for stack_node, item_set in self._waiting:
            inner = search.of_items(item_set, self._nodes)
            gathered.add_through(search, stack_node, inner, level)
        return gathered


_costs: WeakKeyDictionary[Vocabulary, npt.NDArray[np.int16]] = WeakKeyDictionary()


def _costs_of(vocabulary: Vocabulary) -> npt.NDArray[np.int16]:
    """Return what ``rest_costs`` says of a vocabulary."""
    found = _costs.get(vocabulary)
    if found is None:
        found = _costs.setdefault(vocabulary, rest_costs(parts_of(vocabulary)))
    return found


class _Exits:
    """The summaries of one table and vocabulary."""

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
        # How much was found, beginnings and exits, and the greatest level that was looked for.
        self._found = 0
        self._deepest = 0

    def fewest(self, state: int, most: float) -> float:
        """Return the fewest tokens after which the start is complete, not fewer than one.

        Infinite if there is no number; what is more than ``most`` may be any number above it.
        """
        summary = self.at(state)
        start = self._masks.states.tables.start
        level, idle, found = 1, 0, self._found
        # What is known goes on by itself for so many tokens, before anything new comes of it.
        patience = self._deepest + 2
        while start not in summary.first and level <= most:
            self._advance(summary, level)
            level += 1
            idle = idle + 1 if self._found == found else 0
            found = self._found
            if idle > patience:
                return inf
        return summary.first.get(start, most + 1)

    def of_items(self, item_set: int, nodes: int) -> _Items:
        """Return the summary of an item set above BOTTOM."""
        item_set = self._unbounded(item_set)
        found = self._items.get((item_set, nodes))
        if found is None:
            self._found += 1
            found = self._items[item_set, nodes] = _Items(item_set, nodes)
        return found

    def at(self, place: int) -> _Place:
        """Return the summary of a place, ``~item_set`` for one that is above BOTTOM."""
        found = self._places.get(place)
        if found is None:
            pairs, completions = self._walker.place(place)
            content = tuple((node, self._unbounded(items)) for node, items in pairs), completions
            found = self._contents.get(content)
            if found is None:
                self._found += 1
                found = self._contents[content] = _Place(*content)
            self._places[place] = found
        return found

    def resumed(self, stack_node: int, nonterminal: int, nodes: int) -> _Resumed:
        """Return the summary of a completion above BOTTOM."""
        key = stack_node, nonterminal, nodes
        found = self._resumed.get(key)
        if found is None:
            self._found += 1
            found = self._resumed[key] = _Resumed(*self._waiting(stack_node, nonterminal), nodes)
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

    def _advance(self, summary: _Summary, level: int) -> None:
        """Find the exits of a summary up to a level, and of all that they depend on."""
        stack = [(summary, level)]
        while stack:
            current, wanted = stack[-1]
            reached = len(current.levels)
            if reached > wanted or current.is_closed:
                stack.pop()
                continue
            gathered = current.gather(self, reached)
            if gathered.missing:
                stack.extend(gathered.missing)
            else:
                self._settle(current, gathered.found)

    def _settle(self, summary: _Summary, found: dict[int, list[int]]) -> None:
        """Add a level: of the nodes found, those that are new and worth going on from."""
        level = len(summary.levels)
        exits: Exits = []
        for nonterminal, numbers in found.items():
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
                self._found += 1
        summary.levels.append(exits)
        if isinstance(summary, _Items) and summary.first:
            reports = self._masks.states.items.reports(summary.item_set)
            if reports <= summary.first.keys():
                late = level + 1 - max(summary.first[each] for each in reports)
                summary.is_closed = late >= self._most_cost
        self._deepest = max(self._deepest, level)

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
            ends, _ = self._ends[state]
            chosen = [self.fits(self._settled(each), left - 1) for each in ends]
        row = self._rows[state, bytes(chosen)]
        odd = [each for each in self._odd(state) if self._leaves(state, each, left - 1)]
        if not odd:
            return row
        return row | pack(odd, self._masks.vocabulary.size)

    def _state_near(self, position: int) -> int:
        """Return the state without its count where enough came, else the one that is counted.

        From the former a text is as soon over, but where the upper bound is met before.
        """
        if position > STATE and self._counting.room(position):
            return position & STATE
        return self._counting.exact(position)

    def _chosen_far(self, state: int, left: int, room: int) -> list[bool] | None:
        """Return for each end of a token whether a text can be over in ``left`` tokens from there.

        ``state`` stands for one with a count, behind which so many repetitions have room. None if
        they may be too few.
        """
        if not room or self._masks.states.token_terminals(state):
            return None
        chosen: list[bool] = []
        for each in self._ends[state][0]:
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
        ends, _ = self._ends[state]
        for number, each in enumerate(ends):
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
        if not (self._counting.is_needed or self._rule.ends_at_bytes):
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
            ends = [(self._settled(each), k) for k, each in enumerate(self._ends[here][0])]
            ends += [(self._step(here, each), ~each) for each in self._odd(here)]
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
