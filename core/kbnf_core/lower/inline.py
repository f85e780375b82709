"""Chooses the nonterminals to inline into their callers.

A nonterminal that is used once, or is small and regular, costs less as part of its caller: no
prediction, no completion, and adjacent automata are determinised as one. The choice never changes
the language, and one nonterminal never adds more than 512 states in all its copies.

Free text is an exception: most tokens are viable in it, so that its masks cost most. As long as it
is a nonterminal of its own, all its callers share its positions, and with them one mask.
"""

from collections import Counter
from typing import NamedTuple
from weakref import WeakKeyDictionary

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import Grammar
from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import Analysis
from kbnf_core.text.budget import Budget

LARGE = 1_000
"""States beyond which nothing is written out inside another nonterminal."""

FREE_TEXT = 32
"""Bytes that lead from a state of a cycle to one of it: of so many an automaton is free text."""


class Inlined(NamedTuple):
    """The nonterminals that callers include instead of calling them: ``names``.

    Those of them that are held more than once are ``copied``, callees first.
    """

    names: frozenset[str] = frozenset()
    copied: tuple[str, ...] = ()


def choose_inlined(grammar: Grammar, analysis: Analysis, budget: Budget) -> Inlined:
    """Return the reachable nonterminals to write out; what ``split_large`` split off is none."""
    uses = lowering.count_uses(analysis.order, analysis.nodes, analysis.callees)
    among = analysis.order, analysis.nodes, analysis.callees
    inlined = lowering.choose(*among, uses, grammar.start, budget)
    return Inlined(frozenset(inlined), tuple(name for name in inlined if uses.get(name, 0) > 1))


_KNOWN: WeakKeyDictionary[Dfa, bool] = WeakKeyDictionary()


def is_free_text(dfa: Dfa) -> bool:
    """Return whether in a cycle of states many bytes may occur."""
    known = _KNOWN.get(dfa)
    if known is None:
        sizes = Counter(dfa.classes)
        after = {state: set(row) - {DEAD} for state, row in enumerate(dfa.rows)}
        known = _KNOWN[dfa] = any(
            sum(sizes[column] for column, target in enumerate(dfa.rows[state]) if target in cycle)
            >= FREE_TEXT
            for cycle in cyclic_components(after)
            for state in cycle
        )
    return known
