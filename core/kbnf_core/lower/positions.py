"""Position automata: the tables that derivations and explanations are read from.

The tables of recognition forget rules on purpose (nonterminals are inlined, automata merged and
minimised). These keep every occurrence of a symbol apart, as Glushkov's construction does ("The
abstract theory of automata", 1961): a state is an occurrence that comes next, and the occurrences
after it are a list in *order of preference*. Alternatives are in written order, and a repetition
prefers one more round to its end. A regular expression is one occurrence, with the states of its
automaton inside; it prefers to go on. Each state knows where in the author's text it is.

A rule that may be empty is not called where it is empty, but passed over: the rules passed over
between two occurrences belong to the state of the second, so that empty nodes of a tree can be
placed. Where the empty text is not the last choice of a rule, the rule is called in two variants,
one for the choices before the empty one and one for those after it; so preference is a number of an
edge.

Calls are tail calls (Leo 1991) only where nothing else may follow the occurrence, and nothing is
passed over after it: then derivations can be read back from the end of a text without knowing how
many rules end there.

The passes are compiled: ``graphs.pxi`` joins the occurrences of a rule by free edges and finds
those that follow each, ``positions.pxi`` makes automata of them, whose columns are tables here.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.ir import GrammarRules
from kbnf_core.lower.build import alphabet_of, assemble
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.inline import split_large
from kbnf_core.lower.nfa import ClosedAutomaton, TooManyStatesError
from kbnf_core.lower.tables import Tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span

Ids = npt.NDArray[np.int32]

HIDDEN = -1
"""The label of a rule that makes no nodes: its children are those of the rule that calls it."""

_VARIANTS = 3
"""Variants of a rule, without its empty text: its choices before that, those after it, and all.

A variant is a number: three times that of the rule, and 0, 1 or 2.
"""

_ALL_CHOICES = 2


class Origin(NamedTuple):
    """A symbol of the source that may occur, ``offset`` bytes of which are read.

    ``called`` is the rule that it calls, empty for a terminal.
    """

    span: Span
    offset: int = 0
    called: str = ""


@dataclass(frozen=True, eq=False)
class Positions:
    """The tables, and what derivations and explanations need beside them.

    ``rules`` are the rules that the tables' nonterminals are variants of, and ``origins`` has for
    each state the symbols of the source that may occur. ``labels`` are the numbers in ``names`` of
    the nonterminals, or ``HIDDEN``. ``arrive`` has for each state the list in ``passed`` of the
    empty nodes before it; ``before`` for edges, calls and token edges, in this order, the list
    before the first occurrence of a rule, and ``preference`` their order (int64). ``passed`` are
    preorders of (label, nodes below). ``empty`` is the preorder of the empty text, None where it
    does not match.
    """

    tables: Tables
    rules: tuple[str, ...]
    origins: tuple[tuple[Origin, ...], ...]
    names: tuple[str, ...]
    labels: Ids
    arrive: Ids
    before: Ids
    preference: npt.NDArray[np.int64]
    passed: tuple[tuple[tuple[int, int], ...], ...]
    empty: tuple[tuple[int, int], ...] | None

    def without_tail_calls(self) -> "Positions":
        """Return the same with every rule on the stack of the recogniser until it ends."""
        plain = np.zeros_like(self.tables.call_tail)
        return replace(self, tables=replace(self.tables, call_tail=plain))


def build_positions(
    grammar: GrammarRules,
    named: Mapping[str, str | None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Positions:
    """Return the position automata of ``grammar``.

    ``named`` has the label of each rule, None for one that makes no nodes; without it, rules have
    their own names. Raises TooManyStatesError or WorkLimitError.
    """
    budget = Budget(limits.work)
    analysis = analyse(grammar, budget)
    split = split_large(grammar, analysis)
    if split is not grammar:
        grammar, analysis = split, analyse(split, budget)
    order = [name for name in analysis.order if analysis.facts[name].productive]
    names, labels = _labels(grammar, order, named or {})
    bodies = [grammar.rules[name] for name in order]
    graphs = lowering.RuleGraphs(
        order, bodies, analysis.facts, labels, limits.grammar_states, budget
    )
    # Nothing outside decides about the empty text of the start, the last of the rules.
    variants = [_VARIANTS * (len(order) - 1) + _ALL_CHOICES, *graphs.variants()]
    # A nonterminal's name says which rule it is, and is unique.
    keys = {number: f"{order[number // _VARIANTS]}#{number % _VARIANTS}" for number in variants}
    alphabet = alphabet_of([analysis.nodes[name] for name in order], keys.values())
    built = lowering.PositionAutomata(graphs, alphabet, variants)
    automata: dict[str, ClosedAutomaton] = {}
    queue = variants[:1]
    queued = set(queue)
    states = 0
    for number in queue:
        source, symbol, target, accepting, called = built.automaton(number)
        automata[keys[number]] = ClosedAutomaton(source, symbol, target, accepting)
        states += len(accepting)
        if states > limits.grammar_states:
            raise TooManyStatesError(order[number // _VARIANTS])
        queue.extend(other for other in called if other not in queued)
        queued.update(called)
    start = analysis.facts[grammar.start]
    renamed = GrammarRules(keys[variants[0]], grammar.rules)
    facts = replace(analysis, facts={renamed.start: start})
    tables = assemble(renamed, facts, alphabet, automata)
    empty = graphs.preorder_of(len(order) - 1) if start.nullable else None
    arrive, before, preference, tail = built.columns()
    return Positions(
        replace(tables, call_tail=np.frombuffer(tail, np.bool_)),
        tuple(order[number // _VARIANTS] for number in queue),
        tuple(built.state_origins),
        names,
        np.array([labels[number // _VARIANTS] for number in queue], np.int32),
        np.frombuffer(arrive, np.int32),
        np.frombuffer(before, np.int32),
        np.frombuffer(preference, np.int64),
        tuple(graphs.preorders),
        empty,
    )


def _labels(
    grammar: GrammarRules, order: list[str], named: Mapping[str, str | None]
) -> tuple[tuple[str, ...], list[int]]:
    """Return the names of nodes, and for each rule of ``order`` the number of its name."""
    labels = {name: None if "#" in name else named.get(name, name) for name in order}
    # In the order of the grammar, so that numbers of labels are those of a listing.
    written = [labels[name] for name in grammar.rules if name in labels]
    names = tuple(dict.fromkeys(label for label in written if label is not None))
    numbers: dict[str | None, int] = {name: i for i, name in enumerate(names)}
    return names, [numbers.get(label, HIDDEN) for label in labels.values()]
