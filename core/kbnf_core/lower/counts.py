"""Counts: a repetition with large bounds is a loop and a number, not a state for each count.

A string of at most 100,000 characters is in one of a few states, those of one character, and has
so many characters left. So a repetition whose bounds are large is built as the automaton of what it
repeats, once, with three symbols of its own around it:

    begin -enter-> head,  head -(what is repeated)-> end,  end -again-> head,  head -exit-> behind

They are letters like any other while the automaton of the rule is made deterministic and minimal;
what comes before, within and behind the repetition is never mixed. Then ``fold`` takes them out:

- the states within are the *rows* of a ``Loop``. Its first row is the one at which a repetition
  ends: it can do what the head can and, where there were enough, what comes behind can;
- where some must come (``low``), there is a second set of rows, *below*: there nothing ends;
- what enters the loop can do what its head can.

In the tables a loop is an ordinary cycle, as if there were no bounds. The recogniser counts: a step
from outside of the loop is the first, one to its first row ends one more, and the last one leads
*behind* (``kernel/items.pxi``). A state that is counted is a row and a count, made when it is met.

**Where a count does not matter.** So far from ``low`` and ``high`` that no token gets there, a
state does what its row does, which does not count. So all of them are that row, and the engine
keeps the number beside the state (``kernel/counting.pxi``): a text of any length meets a few states,
and one mask serves. As many states differ, near either bound, as the longest token has bytes.

Not everything can be counted: where it is open whether a repetition ends (what may follow begins
like what is repeated, or what is repeated is a beginning of itself), many counts are possible at
once, and only an automaton with a state for each is deterministic. There ``fold`` gives up, and the
rule is built anew with every count a state.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kbnf_core.errors import KbnfError
from kbnf_core.ir import Call, Counted, Grammar, Node, Repeat, children, rebuild
from kbnf_core.lower.analyse import Analysis
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.lower.nfa import Bounds

LEAST = 128
"""The bound from which on a repetition is counted; tokens are seldom as long."""

Rows = list[list[tuple[int, int]]]
"""By state: (symbol, target)."""


class UncountableError(KbnfError):
    """A nonterminal in which several counts may be possible at once. Internal."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A repetition in an automaton: its bounds, and states.

    ``rows``: those within, the one at which a repetition ends first. ``below``: the same where more
    must come; empty where ``low`` is 0 or 1. ``behind``: the state after ``high``.
    """

    low: int
    high: int | None
    rows: tuple[int, ...]
    below: tuple[int, ...]
    behind: int

    def moved(self, by: int) -> "Loop":
        """Return the loop of an automaton whose states are numbered from ``by`` on."""
        rows, below = ([by + row for row in each] for each in (self.rows, self.below))
        return replace(self, rows=tuple(rows), below=tuple(below), behind=by + self.behind)


@compiled
def has_count(nodes: Iterable[Node], least: int) -> bool:
    """Tell whether a repetition has a bound of at least so many."""
    return any(type(node) is Repeat and max(node.low, node.high or 0) >= least for node in nodes)


def mark_counts(grammar: Grammar, analysis: Analysis, left_out: set[str]) -> Grammar:
    """Return the grammar with ``Counted`` for all repetitions to count, none within another.

    Where there are none, that is ``grammar`` itself. Those of ``left_out`` are not counted.
    """
    rules: dict[str, Node] = {}
    for name, body in grammar.rules.items():
        if name in analysis.reachable and has_count(analysis.nodes[name], LEAST):
            body = body if name in left_out else _Marker(name, rules, analysis).mark(body)
        rules[name] = body
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
            if isinstance(whole, Repeat) and max(whole.low, whole.high or 0) >= LEAST:
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


def fold(
    name: str, rows: Rows, accepting: list[bool], first_symbol: int, bounds: list[Bounds]
) -> tuple[Rows, list[bool], list[Loop]]:
    """Take the symbols of counts out of an automaton; state 0 is its start.

    The bounds numbered k have the symbols from ``first_symbol + 3 * k`` on: enter, again, exit.
    Returns states and edges by symbol, trimmed, whether they accept, and the loops. Raises
    UncountableError.
    """
    folder = _Folder(name, rows, accepting, first_symbol)
    return folder.fold(bounds)


class _Folder:
    def __init__(self, name: str, rows: Rows, accepting: list[bool], first: int) -> None:
        self._name = name
        self._first = first
        # What reads something, and where the symbols of counts lead, by kind.
        self._rows: Rows = [[edge for edge in row if edge[0] < first] for row in rows]
        self._enter, self._again, self._exit = (
            [self._special(row, kind) for row in rows] for kind in range(3)
        )
        self._accepting = list(accepting)

    def _special(self, row: list[tuple[int, int]], kind: int) -> list[tuple[int, int]]:
        """Return (number of bounds, target) for the edges of one kind."""
        first = self._first
        return [((s - first) // 3, to) for s, to in row if s >= first and (s - first) % 3 == kind]

    def _require(self, condition: object) -> None:
        if not condition:
            raise UncountableError(self._name)

    def fold(self, bounds: list[Bounds]) -> tuple[Rows, list[bool], list[Loop]]:
        """See ``fold``."""
        ends: dict[int, list[int]] = {}
        for state, again in enumerate(self._again):
            for _, head in again:
                self._require(len(again) == 1 and not self._rows[state])
                self._require(not self._enter[state] and not self._exit[state])
                ends.setdefault(head, []).append(state)
        heads = sorted(ends)
        self._require(all(not self._enter[h] and len(self._exit[h]) == 1 for h in heads))
        entered = {head for enter in self._enter for _, head in enter}
        self._require(entered.issubset(heads))
        # While heads still have no more than what is repeated begins with.
        bodies = {head: self._within(head, ends[head]) for head in heads}
        loops = {head: self._loop(head, bodies[head], ends[head], bounds) for head in heads}
        for state, enter in enumerate(self._enter):
            for _, head in enter:
                self._open(state, head, loops[head])
        return self._trimmed(list(loops.values()))

    def _within(self, head: int, ends: list[int]) -> list[int]:
        """Return the states between a head and the ends of what it repeats."""
        found: dict[int, None] = {}
        work = [to for _, to in self._rows[head]]
        while work:
            state = work.pop()
            if state in ends or state in found:
                continue
            self._require(not self._accepting[state] and state != head)
            self._require(not self._enter[state] and not self._exit[state])
            self._require(not self._again[state])
            found[state] = None
            work += [to for _, to in self._rows[state]]
        return list(found)

    def _loop(self, head: int, body: list[int], ends: list[int], bounds: list[Bounds]) -> Loop:
        """Make the rows of a loop: those that there are, and those below."""
        number, behind = self._exit[head][0]
        low, high = bounds[number]
        self._require(not self._enter[behind] and not self._again[behind])
        self._require(not self._exit[behind] and not self._accepting[head])
        starts = {symbol for symbol, _ in self._rows[head]}
        self._require(starts.isdisjoint(symbol for symbol, _ in self._rows[behind]))
        rows = (ends[0], *body)
        same = dict.fromkeys(ends, ends[0])
        unit = [(symbol, same.get(to, to)) for symbol, to in self._rows[head]]
        for state in body:
            self._rows[state] = [(symbol, same.get(to, to)) for symbol, to in self._rows[state]]
        below: tuple[int, ...] = ()
        if low > 1:
            below = tuple(range(len(self._rows), len(self._rows) + len(rows)))
            twin = dict(zip(rows, below, strict=True))
            for row in (unit, *(self._rows[state] for state in body)):
                self._rows.append([(symbol, twin[to]) for symbol, to in row])
                self._accepting.append(False)
        self._rows[ends[0]] = [*unit, *self._rows[behind]]
        self._accepting[ends[0]] = self._accepting[behind]
        self._rows[head] = unit
        return Loop(low, high, rows, below, behind)

    def _open(self, state: int, head: int, loop: Loop) -> None:
        """Let a state begin what is repeated."""
        self._rows[state] = [*self._rows[state], *self._rows[head]]
        if loop.low == 0:
            self._rows[state] += self._rows[loop.behind]
            self._accepting[state] |= self._accepting[loop.behind]

    def _trimmed(self, loops: list[Loop]) -> tuple[Rows, list[bool], list[Loop]]:
        order = {0: 0}
        work = [0]
        while work:
            state = work.pop()
            more = [to for _, to in self._rows[state]]
            for loop in loops:
                if state == loop.rows[0]:
                    more += [loop.behind, *loop.rows, *loop.below]
            for each in more:
                if each not in order:
                    order[each] = len(order)
                    work.append(each)
        rows = [sorted({(s, order[to]) for s, to in self._rows[state]}) for state in order]
        accepting = [self._accepting[state] for state in order]
        kept = [
            Loop(
                loop.low,
                loop.high,
                tuple(order[row] for row in loop.rows),
                tuple(order[row] for row in loop.below),
                order[loop.behind],
            )
            for loop in loops
            if loop.rows[0] in order
        ]
        return rows, accepting, kept
