"""Counts: a repetition with large bounds is a loop and a number, not a state for each count.

A string of at most 100,000 characters is in one of a few states, those of one character, and has
so many characters left. So a repetition whose bounds are large is built as the automaton of what it
repeats, once, with three symbols of its own around it:

    begin -enter-> head,  head -(body)-> end,  end -again-> head,  head -exit-> after

Texts of an automaton of at most so many bytes (``except!`` with a bound) are such a loop, too, in
which each byte is repeated; it has a head, and a state after the byte, for each state.

They are letters like any other while the automaton of the rule is made deterministic and minimal;
the states before, within and after the repetition are never merged. Then ``fold`` takes them out.
The states within become three blocks of states:

- *rows*: where a repetition may end, it can begin again, or the continuation can occur;
- rows *below*, while more must come (``low``): it can begin again;
- rows of the *last* repetition (``high``): the continuation can occur.

The first two are cycles, as if there were no bounds. The recogniser counts: each edge that begins
another round adds one, and the number says which block it leads to (``kernel/items.pxi``). A state
that is counted is a row and a number, and is made when it is seen.

**Where a count does not matter.** So far from ``low`` and ``high`` that no token gets there, a
state does what its row does, which does not count. So all of them are that row, and an engine keeps
the number beside its state (``kernel/counting.pxi``): a text of any length meets a few states,
and one mask serves. As many states differ, near either bound, as the longest token has bytes.

Not everything can be counted: where it stays open whether a repetition ends (the text after it may
read the same as another round, or a round goes on like its end), many counts are possible at once,
and only an automaton with a state for each is deterministic. There ``fold`` gives up, and the rule
is built anew with every count a state. A few bytes in common, as those with which characters of
different sets begin, do not matter: until they are read there are two items. Nor does the text
after a count of single bytes, as long as it counts nothing itself.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from collections.abc import Callable
from typing import NamedTuple

from kbnf_core.ir import Call, Counted, GrammarRules, Node, Regular, Repeat, children, rebuild
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import Analysis
from kbnf_core.text.errors import KbnfError

LEAST = 128
"""The bound from which on a repetition is counted; tokens are seldom as long."""

MANY = 4_096
"""States of all copies of an automaton from which on these are counted, whatever the bound."""

MOST = 2**30
"""Bounds beyond which nothing is counted: counts are 32 bits."""


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
        rows, below = (tuple(number(row) for row in block) for block in (self.rows, self.below))
        last = tuple(number(row) if row >= 0 else row for row in self.last)
        begins = tuple((number(state), number(row)) for state, row in self.begins)
        return Loop(self.low, self.high, rows, below, last, begins)


def is_large(node: Node, least: int, many: int) -> bool:
    """Return whether the bound of a repetition, or its repeated body, is large."""
    match node:
        case Regular(bounded=(dfa, bound)):
            return bound >= least or bound * dfa.state_count >= many
        case Repeat(body, low, high):
            bound = max(low, high or 0)
            states = body.dfa.state_count if isinstance(body, Regular) else 0
            return bound >= least or bound * states >= many
    return False


def mark_counts(
    grammar: GrammarRules, analysis: Analysis, left_out: set[str], counts_bytes: bool
) -> GrammarRules:
    """Return the grammar with ``Counted`` for all repetitions to count, none within another.

    Where there are none, that is ``grammar`` itself. Those of ``left_out`` are not counted, bytes
    only with ``counts_bytes``.
    """
    names = (name for name in analysis.order if name in grammar.rules and name not in left_out)
    counted = set(lowering.with_counts(names, analysis.nodes, LEAST, MANY))
    if not counted:
        return grammar
    rules: dict[str, Node] = {}
    for name, body in grammar.rules.items():
        marker = _Marker(name, rules, analysis, counts_bytes)
        rules[name] = marker.mark(body) if name in counted else body
    # ``with_counts`` looks at bounds alone, and not every expression can be counted.
    same = all(rules.get(name) is body for name, body in grammar.rules.items())
    return grammar if same else GrammarRules(grammar.start, rules)


class _Marker:
    """Marks the counts of one rule; a count within another one gets a rule of its own."""

    def __init__(
        self, name: str, rules: dict[str, Node], analysis: Analysis, counts_bytes: bool
    ) -> None:
        self._name = name
        self._counts_bytes = counts_bytes
        self._rules = rules
        self._analysis = analysis
        self._inner = 0

    def mark(self, root: Node) -> Node:
        """Return the body with its counts marked."""
        # By part: its new node, its facts, whether it contains a count.
        values: list[tuple[Node, bool, bool]] = []
        for node, facts in self._analysis.within(root):
            first = len(values) - len(children(node))
            operands = values[first:]
            whole = rebuild(node, [entry for entry, _, _ in operands])
            counts = any(entry[2] for entry in operands)
            if isinstance(whole, Regular) and whole.bounded and is_large(whole, LEAST, MANY):
                dfa, bound = whole.bounded
                if self._counts_bytes and bound < MOST:
                    operand = Regular(dfa, whole.span)
                    whole, counts = Counted(operand, 1, bound, whole.span, by_byte=True), True
            elif (
                isinstance(whole, Repeat)
                and is_large(whole, LEAST, MANY)
                and max(whole.low, whole.high or 0) < MOST
            ):
                _, is_solid, is_nested = operands[0]
                # An empty text may be counted any number of times: one text has several counts.
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
