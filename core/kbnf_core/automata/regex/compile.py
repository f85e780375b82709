"""From a pattern to the minimal automaton of the byte strings that it matches as a whole."""

from collections.abc import Callable
from typing import NamedTuple

from kbnf_core.automata.determinise import determinise, minimise
from kbnf_core.automata.dfa import Dfa, empty
from kbnf_core.automata.errors import LimitError, states_within
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.reader import TOO_LARGE, TOO_MUCH_WORK, RegexProblem
from kbnf_core.automata.regex.symbols import edge_only, to_symbols
from kbnf_core.automata.regex.syntax import Node
from kbnf_core.automata.utf8 import to_dfa
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.remembered import remembered

_RAISING = "; or raise `Limits.work`"


class Compiled(NamedTuple):
    """An automaton, or why there is none: ``dfa`` is None exactly when there are problems.

    ``work`` is what it took, in steps (``kbnf_core.text.budget``).
    """

    dfa: Dfa | None
    problems: tuple[RegexProblem, ...]
    work: int = 0


def size_of(compiled: Compiled) -> int:
    """Return the bytes that it takes, nearly."""
    return 500 + (compiled.dfa.size if compiled.dfa else 0)


REMEMBERED = 2 * 2**20
"""Bytes of automata that are remembered."""


@remembered(REMEMBERED, size_of)
def compile_regex(pattern: str, limits: Limits = DEFAULT_LIMITS) -> Compiled:
    r"""Compile a pattern, as if it were between ``\A(?:`` and ``)\z``. Never raises."""
    tree, problems = parse_regex(pattern, limits)
    if problems:
        return Compiled(None, problems)
    return within(limits, pattern, lambda budget: _whole_matches(tree, limits, budget))


def within(limits: Limits, pattern: str, build: Callable[[Budget], Dfa]) -> Compiled:
    """Return what ``build`` makes of a pattern, or the limit that it passed."""
    budget = Budget(limits.work)
    try:
        return Compiled(build(budget), (), budget.spent)
    except LimitError as error:
        return Compiled(None, (_too_large(pattern, TOO_LARGE, _needed(error, limits)),))
    except WorkLimitError:
        steps = f"more than {limits.work:,} steps of work"
        return Compiled(None, (_too_large(pattern, TOO_MUCH_WORK, steps, _RAISING),))


def _needed(error: LimitError, limits: Limits) -> str:
    """Return what a pattern needs whose automaton passed a limit."""
    memory = limits.regex_bytes
    by_memory = memory is not None and error.limit < limits.regex_states
    return f"more than {memory} bytes, the limit of its memory" if by_memory else str(error)


def _too_large(pattern: str, code: str, needed: str, raising: str = "") -> RegexProblem:
    return RegexProblem(
        code,
        f"this regular expression needs {needed}",
        0,
        len(pattern),
        f"use smaller counts, or move parts into rules of their own{raising}",
    )


def _whole_matches(tree: Node, limits: Limits, budget: Budget) -> Dfa:
    limit = limits.regex_states
    symbols = to_symbols(tree, limit)
    budget.spend(len(symbols.nfa.moves))
    blocks = symbols.partition
    most = states_within(limit, limits.regex_bytes, blocks.block_count)
    found = determinise(edge_only(symbols.nfa), blocks.block_count, most, budget=budget)
    small = minimise(found, budget)
    if not small.rows:
        return empty()
    dfa = to_dfa(small, blocks, limit, budget)
    most = states_within(limit, limits.regex_bytes, len(dfa.rows[0]))
    if dfa.state_count > most:
        raise LimitError("states", most)
    return dfa
