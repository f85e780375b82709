"""Finite automata in plain Python: see ``kernel.Automata`` for what each function does.

Tests: tests/unit/automata/test_kernel.py
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import or_

from kbnf_core.automata.kernel import DEAD, ELEMENTS_PER_STATE, Automaton, Table

__all__ = [
    "between",
    "count",
    "determinise",
    "join",
    "leave_out",
    "literals",
    "minimise",
    "over_columns",
    "product",
    "smallest",
    "spell",
]


def determinise(
    moves: Sequence[Mapping[int, tuple[int, ...]]],
    tags: Sequence[int],
    starts: Sequence[tuple[int, ...]],
    symbols: int,
    limit: int,
    stop: int,
    work: int,
) -> tuple[Table | None, int]:
    """See ``kernel.Automata``."""
    weights = [sum(map(len, row.values())) for row in moves]
    subsets = _Subsets(tags, weights, limit, stop, work, _pumps(moves, tags, symbols))
    return _determinise(moves, starts, symbols, subsets), subsets.steps


def _pumps(
    moves: Sequence[Mapping[int, tuple[int, ...]]], tags: Sequence[int], symbols: int
) -> frozenset[int]:
    """Return the states that one is back in with all tags, whichever of the symbols comes."""
    all_tags = _united(tags)
    return frozenset(
        state
        for state, row in enumerate(moves)
        if len(row) == symbols
        and all(
            state in targets and _united(tags[target] for target in targets) == all_tags
            for targets in row.values()
        )
    )


def _united(tags: Iterable[int]) -> int:
    return reduce(or_, tags, 0)


def _determinise(
    moves: Sequence[Mapping[int, tuple[int, ...]]],
    starts: Sequence[tuple[int, ...]],
    symbols: int,
    subsets: "_Subsets",
) -> Table | None:
    """Follow all subsets, after Rabin & Scott (1959)."""
    try:
        numbers = [subsets.number(start) for start in starts]
        rows: list[list[int]] = []
        for subset in subsets.members:
            row = [DEAD] * symbols
            for symbol, targets in _step(moves, subset):
                row[symbol] = subsets.number(targets)
            rows.append(row)
    except _BeyondLimitError:
        return None
    return rows, subsets.tags, numbers


def _step(
    moves: Sequence[Mapping[int, tuple[int, ...]]], subset: tuple[int, ...]
) -> list[tuple[int, tuple[int, ...]]]:
    if len(subset) == 1:
        return sorted(moves[subset[0]].items())
    gathered: dict[int, set[int]] = {}
    for state in subset:
        for symbol, targets in moves[state].items():
            if symbol in gathered:
                gathered[symbol].update(targets)
            else:
                gathered[symbol] = set(targets)
    return [(symbol, tuple(sorted(targets))) for symbol, targets in sorted(gathered.items())]


class _BeyondLimitError(Exception):
    """There are more subsets, or larger ones, than allowed."""


class _Subsets:
    """The subsets met so far, numbered; ``members`` grows while it is iterated."""

    def __init__(
        self,
        state_tags: Sequence[int],
        weights: Sequence[int],
        limit: int,
        stop: int,
        work: int,
        pumps: frozenset[int],
    ) -> None:
        self._pumps = pumps
        self._all_tags = _united(state_tags)
        self._universal: int | None = None
        self.members: list[tuple[int, ...]] = []
        self.tags: list[int] = []
        self._state_tags = state_tags
        self._limit = limit
        self._stop = stop
        self._numbers: dict[tuple[int, ...], int] = {(): DEAD}
        self._elements = 0
        self._weights = weights
        self._work = work
        self._spent = 0

    @property
    def steps(self) -> int:
        return min(self._spent, self._work + 1)

    def spend(self, steps: int) -> None:
        self._spent += steps
        if self._spent > self._work:
            raise _BeyondLimitError

    def number(self, subset: tuple[int, ...]) -> int:
        cached = self._numbers.get(subset)
        if cached is not None:
            return cached
        if self._pumps.isdisjoint(subset) or self._tag(subset) != self._all_tags:
            return self._add(subset)
        if self._universal is None:
            self._universal = self._add(subset)
        return self._universal

    def _tag(self, subset: tuple[int, ...]) -> int:
        return _united(map(self._state_tags.__getitem__, subset))

    def _add(self, subset: tuple[int, ...]) -> int:
        tag = self._tag(subset)
        if tag & self._stop:
            self._numbers[subset] = DEAD
            return DEAD
        self._elements += len(subset)
        if len(self.members) >= self._limit or self._elements > ELEMENTS_PER_STATE * self._limit:
            raise _BeyondLimitError
        self.spend(1 + sum(map(self._weights.__getitem__, subset)))
        self._numbers[subset] = len(self.members)
        self.members.append(subset)
        self.tags.append(tag)
        return len(self.members) - 1


def minimise(rows: Sequence[Sequence[int]], tags: Sequence[int], starts: Sequence[int]) -> Table:
    """See ``kernel.Automata``.

    After Hopcroft (1971): blocks of states are split by what leads into a block that is new, and of
    two parts only the smaller one is looked at again.
    """
    trimmed = _trim(rows, tags, starts)
    return _quotient(trimmed, _refined(trimmed[0], trimmed[1]))


def _refined(rows: Sequence[Sequence[int]], tags: Sequence[int]) -> list[int]:
    """Return the block of each state, and DEAD last."""
    by_tag: defaultdict[int, set[int]] = defaultdict(set)
    sources: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in rows]
    for state, row in enumerate(rows):
        by_tag[tags[state]].add(state)
        for symbol, target in enumerate(row):
            if target != DEAD:
                sources[target][symbol].append(state)
    members = list(by_tag.values())
    block = [*map(list(by_tag).index, tags), DEAD]
    pending = set(range(len(members)))
    while pending:
        entering: defaultdict[int, set[int]] = defaultdict(set)
        for state in members[pending.pop()]:
            for symbol, before in sources[state].items():
                entering[symbol].update(before)
        for states in entering.values():
            _split(states, members, block, pending)
    return block


def _split(states: set[int], members: list[set[int]], block: list[int], pending: set[int]) -> None:
    """Put the states of each block that are among some into one of their own."""
    touched: defaultdict[int, set[int]] = defaultdict(set)
    for state in states:
        touched[block[state]].add(state)
    for number, inside in touched.items():
        rest = members[number]
        if len(inside) == len(rest):
            continue
        rest -= inside
        for state in inside:
            block[state] = len(members)
        is_smaller = number in pending or len(inside) <= len(rest)
        pending.add(len(members) if is_smaller else number)
        members.append(inside)


def _trim(rows: Sequence[Sequence[int]], tags: Sequence[int], starts: Sequence[int]) -> Table:
    """Keep the states that a start reaches and that reach a tag, in breadth-first order."""
    live = _live(rows, tags)
    order: dict[int, int] = {DEAD: DEAD}
    for start in starts:
        if start in live:
            order.setdefault(start, len(order) - 1)
    queue = [state for state in order if state != DEAD]
    for state in queue:
        for target in rows[state]:
            if target not in order and target in live:
                order[target] = len(order) - 1
                queue.append(target)
    return (
        [[order.get(target, DEAD) for target in rows[state]] for state in queue],
        [tags[state] for state in queue],
        [order.get(start, DEAD) for start in starts],
    )


def _live(rows: Sequence[Sequence[int]], tags: Sequence[int]) -> set[int]:
    sources = _predecessors(rows)
    queue = [state for state, tag in enumerate(tags) if tag]
    live = set(queue)
    for state in queue:
        for source in sources[state]:
            if source not in live:
                live.add(source)
                queue.append(source)
    return live


def _predecessors(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return, for each state, the states with an edge to it."""
    sources: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row):
            if target != DEAD:
                sources[target].append(state)
    return sources


def _quotient(table: Table, block: list[int]) -> Table:
    rows, tags, starts = table
    representative = {block[state]: state for state in reversed(range(len(rows)))}
    number = {name: index for index, name in enumerate(representative)}
    number[DEAD] = DEAD
    return _trim(
        [[number[block[target]] for target in rows[state]] for state in representative.values()],
        [tags[state] for state in representative.values()],
        [number[block[start]] for start in starts],
    )


def smallest(
    rows: Sequence[Sequence[int]], tags: Sequence[int], start: int, classes: bytes
) -> Automaton:
    """See ``kernel.Automata``."""
    result, kept, _ = minimise(rows, tags, [start])
    columns = list(zip(*result, strict=True)) or [()] * (max(classes) + 1)
    keys = [columns[number] for number in classes]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    merged = bytes(map(numbers.__getitem__, keys))
    return merged, [list(row) for row in zip(*numbers, strict=True)], [tag != 0 for tag in kept]


def literals(words: Sequence[bytes], classes: bytes, limit: int) -> Automaton | None:
    """See ``kernel.Automata``."""
    children: list[dict[int, int]] = [{}]
    ends = set()
    for word in words:
        node = 0
        for symbol in word.translate(classes):
            node = children[node].setdefault(symbol, len(children))
            if node == len(children):
                children.append({})
        ends.add(node)
    rows = [[edges.get(symbol, DEAD) for symbol in range(max(classes) + 1)] for edges in children]
    result = smallest(rows, [int(node in ends) for node in range(len(children))], 0, classes)
    return None if len(result[1]) > limit else result


def product(
    left: Automaton, right: Automaton, is_in_both: bool, limit: int, work: int
) -> tuple[Automaton | None, int]:
    """See ``kernel.Automata``."""
    classes = join((left[0], right[0]))
    bytes_ = [classes.index(number) for number in range(max(classes) + 1)]
    first, second = (
        [[row[own[byte]] for byte in bytes_] for row in rows] for own, rows, _ in (left, right)
    )
    if not first:
        return (bytes(256), [], []), 0
    # The row and the flag of DEAD, -1, are the last ones.
    second.append([DEAD] * len(bytes_))
    ends = [*right[2], False]
    pairs = {(0, 0 if right[2] else DEAD): 0}
    rows: list[list[int]] = []
    queue = list(pairs)
    for number, (here, there) in enumerate(queue, 1):
        if number * len(bytes_) > work:
            return None, work + 1
        row: list[int] = []
        for pair in zip(first[here], second[there], strict=True):
            if pair[0] == DEAD or (is_in_both and pair[1] == DEAD):
                row.append(DEAD)
                continue
            if pair not in pairs:
                pairs[pair] = len(queue)
                queue.append(pair)
            row.append(pairs[pair])
        rows.append(row)
        if len(queue) > limit:
            return None, 0
    tags = [int(left[2][here] and ends[there] == is_in_both) for here, there in queue]
    return smallest(rows, tags, 0, classes), len(rows) * len(bytes_)


def spell(
    rows: Sequence[Sequence[int]],
    tags: Sequence[int],
    start: int,
    classes: bytes,
    letters: Sequence[Mapping[int, int]],
    symbols: Sequence[int],
    limit: int,
) -> Automaton | None:
    """See ``kernel.Automata``; what reads a part of a text is hash-consed by what it leads to."""
    roots: list[list[tuple[int, int]]] = []
    nodes: dict[tuple[tuple[int, int], ...], int] = {}
    for row in rows:
        numbers: list[int] = []
        for symbol, edges in zip(symbols[:-1], letters[:-1], strict=True):
            node = tuple([(byte, numbers[to]) for byte, to in edges.items() if numbers[to] != DEAD])
            if symbol != DEAD:
                numbers.append(row[symbol])
            else:
                numbers.append(nodes.setdefault(node, len(rows) + len(nodes)) if node else DEAD)
        roots.append([(byte, numbers[to]) for byte, to in letters[-1].items()])
        if len(rows) + len(nodes) > limit:
            return None
    table = [[DEAD] * (max(classes) + 1) for _ in range(len(rows) + len(nodes))]
    for line, leaving in zip(table, (*roots, *nodes), strict=True):
        for byte, to in leaving:
            line[byte] = to
    return smallest(table, [*tags, *([0] * len(nodes))], start, classes)


def count(
    targets: Sequence[Sequence[int]],
    shortest: Sequence[int],
    longest: Sequence[int | None],
    low: int,
    high: int,
    stops: Container[int],
    most: int,
    work: int,
) -> tuple[tuple[list[tuple[int, int]], list[list[tuple[int, int]]]] | None, int]:
    """See ``kernel.Automata``."""

    def counted(state: int, reached: int) -> tuple[int, int]:
        farthest = longest[state]
        is_short = high < 0 or (farthest is not None and reached + farthest <= high)
        return (state, -1 if reached + shortest[state] >= low and is_short else reached)

    states = [counted(0, 0)]
    numbers = {states[0]: 0}
    rows: list[list[tuple[int, int]]] = []
    steps = 0
    for state, reached in states:
        steps += 1 + len(targets[state])
        if steps > work:
            return None, work + 1
        row: list[tuple[int, int]] = []
        for edge, to in enumerate(() if state in stops else targets[state]):
            if high >= 0 and reached + 1 + shortest[to] > high:
                continue
            after = counted(to, reached + 1)
            if after[1] >= 0 and after not in numbers:
                numbers[after] = len(states)
                states.append(after)
            row.append((edge, numbers[after] if after[1] >= 0 else -1 - to))
        rows.append(row)
        if len(states) > most:
            return None, steps
    return (states, rows), steps


def between(rows: Sequence[Sequence[int]], accepting: Sequence[bool]) -> Sequence[Sequence[int]]:
    """See ``kernel.Automata``."""
    end, dead = len(rows), [DEAD] * len(rows[0])
    marked = [[*row, end if ends else DEAD] for row, ends in zip(rows, accepting, strict=True)]
    return [*marked, [*dead, DEAD], [*dead, 0]]


def over_columns(rows: Sequence[Sequence[int]], columns: bytes) -> list[list[int]]:
    """See ``kernel.Automata``."""
    return [[row[column] for column in columns] for row in rows]


def leave_out(rows: list[list[int]], words: Sequence[bytes]) -> list[list[int]]:
    """Return an automaton without some words; see ``kernel.Automata``.

    A node of the words' trie does what the state beside it does, but for the symbols that stay in
    the trie. Nodes that leave out the same are one.
    """
    children, beside = _trie_beside(rows, [word for word in words if _leads_on(rows, word)])
    whole = [*rows]
    states: dict[tuple[int, ...], int] = {}
    minimal = [DEAD] * len(children)
    for node in reversed(range(len(children))):
        if not children[node]:
            # A word ends here.
            continue
        edges = [(symbol, minimal[below]) for symbol, below in sorted(children[node].items())]
        key = (beside[node], *chain.from_iterable(edges))
        if key not in states:
            row = rows[beside[node]].copy()
            for symbol, target in edges:
                row[symbol] = target
            states[key] = len(whole)
            whole.append(row)
        minimal[node] = states[key]
    if children[0]:
        # Nothing comes back to the start, so that it takes the place of the first state.
        whole[0] = whole.pop()
    return whole


def _leads_on(rows: list[list[int]], word: bytes) -> bool:
    state = 0
    for symbol in word:
        state = rows[state][symbol]
        if state == DEAD:
            return False
    return True


def _trie_beside(
    rows: list[list[int]], words: Iterable[bytes]
) -> tuple[list[dict[int, int]], list[int]]:
    """Return the trie of some words, and the state that each node's text leads to."""
    children: list[dict[int, int]] = [{}]
    beside = [0]
    for word in words:
        node = 0
        for symbol in word:
            below = children[node].setdefault(symbol, len(children))
            if below == len(children):
                children.append({})
                beside.append(rows[beside[node]][symbol])
            node = below
    return children, beside


def join(parts: Sequence[bytes]) -> bytes:
    """Return the coarsest classes that refine all the given ones; see ``kernel.Automata``."""
    keys = list(zip(*parts, strict=True)) or [()] * 256
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return bytes(map(numbers.__getitem__, keys))
