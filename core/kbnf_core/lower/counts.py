"""Counts: a repetition with large bounds is a loop and a number, not a state for each count.

A string of at most 100,000 characters is in one of a few states, those of one character, and has
so many characters left. So a repetition whose bounds are large is built as the automaton of what it
repeats, once, with three symbols of its own around it:

    begin -enter-> head,  head -(what is repeated)-> end,  end -again-> head,  head -exit-> after

They are letters like any other while the automaton of the rule is made deterministic and minimal;
what comes before, within and after the repetition is never mixed. Then ``fold`` takes them out.
The states within become three blocks of states:

- *rows*: where a repetition may end, it can begin anew, or what comes after can come;
- rows *below*, while more must come (``low``): it can begin anew;
- rows of the *last* repetition (``high``): what comes after can come.

The first two are cycles, as if there were no bounds. The recogniser counts: each edge that begins
what is repeated is one more, and the number says which block it leads to (``kernel/items.pxi``). A
state that is counted is a row and a number, and is made when it is met.

**Where a count does not matter.** So far from ``low`` and ``high`` that no token gets there, a
state does what its row does, which does not count. So all of them are that row, and an engine keeps
the number beside its state (``kernel/counting.pxi``): a text of any length meets a few states,
and one mask serves. As many states differ, near either bound, as the longest token has bytes.

Not everything can be counted: where it stays open whether a repetition ends (what may follow reads
as much as what is repeated, or what is repeated goes on like that), many counts are possible at
once, and only an automaton with a state for each is deterministic. There ``fold`` gives up, and the
rule is built anew with every count a state. A few bytes in common, as those with which characters
of different sets begin, do not matter: until they are read there are two items.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kbnf_core.automata.kernel import Column
from kbnf_core.ir import Call, Counted, Grammar, Node, Regular, Repeat, children, rebuild
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.lower.facts import Analysis
from kbnf_core.lower.nfa import Bounds
from kbnf_core.text.errors import KbnfError

LEAST = 128
"""The bound from which on a repetition is counted; tokens are seldom as long."""

MANY = 4_096
"""States of all copies of an automaton from which on these are counted, whatever the bound."""

MOST = 2**30
"""Bounds beyond which nothing is counted: counts are 32 bits."""

Row = list[tuple[int, int]]
"""(symbol, target)"""

Rows = list[Row]
"""By state."""


class UncountableError(KbnfError):
    """A nonterminal in which several counts may be possible at once. Internal."""


class Loop(NamedTuple):
    """A repetition in an automaton: its bounds, and states.

    ``rows``: those within. ``below``: the same where more must come; empty where ``low`` is 0 or 1.
    ``last``: what each row is in the last repetition, where one can begin there, else -1.
    ``begins``: (state, row): states, no others lead to them, with which a repetition begins: each
    stands for a row, or for one below.
    """

    low: int
    high: int | None
    rows: tuple[int, ...]
    below: tuple[int, ...]
    last: tuple[int, ...]
    begins: tuple[tuple[int, int], ...]

    def renumbered(self, number: Callable[[int], int]) -> "Loop":
        """Return the loop in an automaton that has other numbers for its states."""
        rows, below = (tuple(number(row) for row in each) for each in (self.rows, self.below))
        last = tuple(number(row) if row >= 0 else row for row in self.last)
        begins = tuple((number(state), number(row)) for state, row in self.begins)
        return Loop(self.low, self.high, rows, below, last, begins)


@compiled
def with_counts(
    names: Iterable[str], nodes: Mapping[str, list[Node]], least: int, many: int
) -> list[str]:
    """Return the rules with a repetition that ``is_large``."""
    return [name for name in names if any(is_large(each, least, many) for each in nodes[name])]


def is_large(node: Node, least: int, many: int) -> bool:
    """Tell whether the bound of a repetition, or what it repeats so often, is large."""
    if not isinstance(node, Repeat):
        return False
    bound, body = max(node.low, node.high or 0), node.body
    return bound >= least or (isinstance(body, Regular) and bound * body.dfa.state_count >= many)


def mark_counts(grammar: Grammar, analysis: Analysis, left_out: set[str]) -> Grammar:
    """Return the grammar with ``Counted`` for all repetitions to count, none within another.

    Where there are none, that is ``grammar`` itself. Those of ``left_out`` are not counted.
    """
    names = (name for name in analysis.order if name in grammar.rules and name not in left_out)
    counted = set(with_counts(names, analysis.nodes, LEAST, MANY))
    if not counted:
        return grammar
    rules: dict[str, Node] = {}
    for name, body in grammar.rules.items():
        rules[name] = _Marker(name, rules, analysis).mark(body) if name in counted else body
    same = all(rules.get(name) is body for name, body in grammar.rules.items())
    return grammar if same else Grammar(grammar.start, rules)


class _Marker:
    """Marks what one rule counts; what counts within is a rule of its own."""

    def __init__(self, name: str, rules: dict[str, Node], analysis: Analysis) -> None:
        self._name = name
        self._rules = rules
        self._analysis = analysis
        self._inner = 0

    def mark(self, root: Node) -> Node:
        """Return the body with its counts marked."""
        # By part: what it is now, its facts, whether it holds a count.
        values: list[tuple[Node, bool, bool]] = []
        for node, facts in self._analysis.within(root):
            first = len(values) - len(children(node))
            parts = values[first:]
            whole = rebuild(node, [part for part, _, _ in parts])
            counts = any(part[2] for part in parts)
            if (
                isinstance(whole, Repeat)
                and is_large(whole, LEAST, MANY)
                and max(whole.low, whole.high or 0) < MOST
            ):
                _, is_solid, is_nested = parts[0]
                if is_solid:
                    body = self._call(whole.body) if is_nested else whole.body
                    whole, counts = Counted(body, whole.low, whole.high, whole.span), True
            values[first:] = [(whole, facts.filled and not facts.nullable, counts)]
        return values.pop()[0]

    def _call(self, body: Node) -> Call:
        self._inner += 1
        name = f"{self._name}#of{self._inner}"
        self._rules[name] = body
        return Call(name, body.span)


@compiled
def fold(
    name: str,
    source: Column,
    symbol: Column,
    target: Column,
    accepting: bytes,
    first_symbol: int,
    bounds: list[Bounds],
) -> tuple[Column, Column, Column, bytes, list[Loop]]:
    """Take the symbols of counts out of an automaton; state 0 is its start.

    The bounds numbered k have the symbols from ``first_symbol + 3 * k`` on: enter, again, exit.
    Returns the edges by state and symbol, trimmed, what accepts, and the loops. Raises
    UncountableError.
    """
    rows: Rows = [[] for _ in accepting]
    columns = (memoryview(column).cast("i") for column in (source, symbol, target))
    for here, *edge in zip(*columns, strict=True):
        rows[here].append((edge[0], edge[1]))
    folder = _Folder(name, rows, list(map(bool, accepting)), first_symbol)
    rows, flags, loops = folder.fold(bounds)
    edges = [(here, *edge) for here, row in enumerate(rows) for edge in row]
    found = [array("i", [edge[column] for edge in edges]).tobytes() for column in range(3)]
    return found[0], found[1], found[2], bytes(flags), loops


class _Folder:
    def __init__(self, name: str, rows: Rows, accepting: list[bool], first: int) -> None:
        self._name = name
        self._first = first
        # What reads something, and where the symbols of counts lead, by kind.
        self._rows: Rows = [[edge for edge in row if edge[0] < first] for row in rows]
        self._enter, self._again, self._exit = (
            [self._special(row, kind) for row in rows] for kind in range(3)
        )
        self._accepting = accepting

    def _special(self, row: Row, kind: int) -> list[tuple[int, int]]:
        """Return (number of bounds, target) for the edges of one kind."""
        first = self._first
        return [((s - first) // 3, to) for s, to in row if s >= first and (s - first) % 3 == kind]

    def _require(self, condition: object) -> None:
        if not condition:
            raise UncountableError(self._name)

    def fold(self, bounds: list[Bounds]) -> tuple[Rows, list[bool], list[Loop]]:
        heads = sorted({head for again in self._again for _, head in again})
        found = {head: self._loop(head, bounds) for head in heads}
        for state, enter in enumerate(self._enter):
            for _, head in enter:
                self._require(head in found)
                loop, first, behind = found[head]
                self._rows[state] = [*self._rows[state], *first]
                if loop.low == 0:
                    self._rows[state] += self._rows[behind]
                    self._accepting[state] |= self._accepting[behind]
        return self._trimmed([loop for loop, _, _ in found.values()])

    def _loop(self, head: int, bounds: list[Bounds]) -> tuple[Loop, Row, int]:
        """Make the rows of a loop. Returns it, with what it begins with, and what is after."""
        self._require(len(self._exit[head]) == 1)
        self._require(not (self._enter[head] or self._again[head] or self._accepting[head]))
        (number, behind) = self._exit[head][0]
        self._require(not (self._enter[behind] or self._again[behind] or self._exit[behind]))
        low, high = bounds[number]
        first, within = self._rows[head], self._within(head)
        self._check_ends(head, within, behind)
        inner = {to for state in within for _, to in self._rows[state]}
        below = self._copy(within) if low > 1 else {}
        last = self._copy(within)
        begins: list[tuple[int, int]] = []
        rows = {state: state for state in within}
        ends = [state for state in within if self._again[state]]
        openings = [self._opening(first, block, inner, begins) for block in (rows, below) if block]
        for state in ends:
            self._extend(last[state], self._rows[behind])
            self._accepting[last[state]] |= self._accepting[behind]
            if below:
                self._extend(below[state], openings[1])
        for state in ends:
            self._extend(state, [*openings[0], *self._rows[behind]])
            self._accepting[state] = self._accepting[behind]
        targets = {to for _, to in first}
        loop = Loop(
            low,
            high,
            tuple(within),
            tuple(below.values()),
            tuple(last[state] if state in targets else -1 for state in within),
            tuple(begins),
        )
        return loop, openings[0], behind

    def _within(self, head: int) -> list[int]:
        """Return the states between a head and what comes after."""
        found: dict[int, None] = {}
        work = [to for _, to in self._rows[head]]
        while work:
            state = work.pop()
            if state in found:
                continue
            self._require(not self._accepting[state] and state != head)
            self._require(not self._enter[state] and not self._exit[state])
            self._require(all(to == head for _, to in self._again[state]))
            found[state] = None
            work += [to for _, to in self._rows[state]]
        return list(found)

    def _check_ends(self, head: int, within: list[int], behind: int) -> None:
        """Require that it is soon clear whether a repetition goes on, begins anew or ends.

        It may end in the same way as it goes on (a comma or a bracket after a space), but not for
        as long as the next one lasts, nor as far as something else is counted: then both counts
        would be possible.
        """
        for state in (head, *within):
            # What is counted is in one place at a time.
            symbols = [symbol for symbol, _ in self._rows[state]]
            self._require(len(set(symbols)) == len(symbols))
        # What goes on inside, or comes after, beside what may begin anew.
        work = [(head, behind)]
        for state in within:
            if self._again[state]:
                work += [(state, head), (state, behind)]
        seen = set(work)
        for inside, outside in work:
            for symbol, to in self._rows[inside]:
                for other, there in self._rows[outside]:
                    if symbol == other and (to, there) not in seen:
                        self._require(not (self._again[to] or self._enter[there]))
                        self._require(not (self._again[there] or self._exit[there]))
                        seen.add((to, there))
                        work.append((to, there))

    def _copy(self, states: list[int]) -> dict[int, int]:
        """Add copies of states, whose edges are among themselves."""
        first = len(self._rows)
        twin = {state: first + i for i, state in enumerate(states)}
        for state in states:
            self._rows.append([(symbol, twin[to]) for symbol, to in self._rows[state]])
            self._accepting.append(False)
        return twin

    def _opening(
        self, first: Row, block: dict[int, int], inner: set[int], begins: list[tuple[int, int]]
    ) -> Row:
        """Return what begins a repetition in a block; notes the states that it leads to."""
        standing: dict[int, int] = {}
        for _, to in first:
            if to not in standing:
                standing[to] = block[to]
                if to in inner:
                    standing[to] = len(self._rows)
                    self._rows.append([])
                    self._accepting.append(False)
                begins.append((standing[to], block[to]))
        return [(symbol, standing[to]) for symbol, to in first]

    def _extend(self, state: int, row: Row) -> None:
        self._rows[state] = [*self._rows[state], *row]

    def _trimmed(self, loops: list[Loop]) -> tuple[Rows, list[bool], list[Loop]]:
        for loop in loops:
            for state, row in loop.begins:
                self._rows[state], self._accepting[state] = self._rows[row], self._accepting[row]
        order = {0: 0}
        work = [0]
        entered = {row: loop for loop in loops for row in loop.rows}
        while work:
            state = work.pop()
            more = [to for _, to in self._rows[state]]
            if state in entered:
                loop = entered[state]
                more += [*loop.rows, *loop.below, *(row for row in loop.last if row >= 0)]
                more += [each for each, _ in loop.begins]
            for each in more:
                if each not in order:
                    order[each] = len(order)
                    work.append(each)
        rows = [sorted({(s, order[to]) for s, to in self._rows[state]}) for state in order]
        accepting = [self._accepting[state] for state in order]
        kept = [loop.renumbered(order.__getitem__) for loop in loops if loop.rows[0] in order]
        return rows, accepting, kept
