"""Alternatives that are texts, and many of them, as one terminal.

The tokens of a vocabulary and the words of a dictionary are classes: nobody reads about them
alternative by alternative, and a node for each makes every pass a walk over all of them. Their
minimal automaton is built at once, from the trie of the sorted texts, and it is one node with one
span, as a regular expression is. The language is the same. Fewer alternatives stay as they were
written, so that findings, coverage and explanations name the one that is meant.
"""

from collections.abc import Sequence as Several

from kbnf_core.automata import operations
from kbnf_core.ir import Choice, Literal, Node, Regular
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Span

FEW_TEXTS = 1_000
"""Alternatives up to this many are kept one by one."""

MOST_STATES = DEFAULT_LIMITS.regex_states
"""States of an automaton of texts; where it has more they are kept one by one."""


def choice_of(branches: Several[Node], span: Span, budget: Budget) -> Node:
    """Return any one of ``branches``: one terminal where they are many texts; bytes are steps."""
    if len(branches) <= FEW_TEXTS or not all(isinstance(each, Literal) for each in branches):
        return Choice(tuple(branches), span)
    words = {each.data for each in branches if isinstance(each, Literal)}
    budget.spend(sum(map(len, words)))
    try:
        return Regular(operations.literals(words, MOST_STATES), span)
    except LimitError:
        return Choice(tuple(branches), span)
