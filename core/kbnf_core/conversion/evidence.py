"""What running grammars shows of a conversion: texts that are lost, and texts that go on.

Running takes the engine. Where there is none, or the tables of a grammar take more than its limits
allow, nothing is shown: losses come without examples, and one that could not be ruled out counts as
one.

Tests: tests/unit/conversion
"""

from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.ir import GrammarRules
from kbnf_core.kbnf.parsed import DifferingText
from kbnf_core.kernel import has_engine
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from kbnf_core.recognise.states import StateTable


def example_of_loss(
    grammar: GrammarRules, converted: GrammarRules, limits: Limits = DEFAULT_LIMITS
) -> DifferingText | None:
    """Return a shortest text that only one of two grammars takes; None if none was found."""
    one, other = _states(grammar, limits), _states(converted, limits)
    if one is None or other is None:
        return None
    from kbnf_core.conversion.running import shortest_difference

    difference = shortest_difference(one, other)
    return None if difference is None else DifferingText(*difference)


class GoingOn(NamedTuple):
    """Whether a complete text may go on to another one, and a text that does."""

    may_be: bool
    example: DifferingText | None


def going_on(grammar: GrammarRules, limits: Limits = DEFAULT_LIMITS) -> GoingOn:
    """Return what could be shown of the texts that begin with a complete one."""
    states = _states(grammar, limits)
    if states is None:
        return GoingOn(True, None)
    from kbnf_core.conversion.running import MOST_STATES, is_prefix_free, shortest_longer

    if is_prefix_free(states.tables):
        return GoingOn(False, None)
    longer = shortest_longer(states, MOST_STATES)
    return GoingOn(True, None if longer is None else DifferingText(longer, kept_out=False))


def _states(grammar: GrammarRules, limits: Limits) -> "StateTable | None":
    """Return the states of a grammar; None where nothing can be run."""
    if not has_engine():
        return None
    from kbnf_core.lower.build import build_tables
    from kbnf_core.lower.nfa import TooManyStatesError
    from kbnf_core.recognise.states import StateTable

    try:
        return StateTable(build_tables(grammar, limits), limits)
    except (TooManyStatesError, WorkLimitError):
        return None
