"""From a pattern to the minimal automaton of the byte strings that it matches as a whole."""

from functools import lru_cache
from typing import NamedTuple

from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError, states_within
from kbnf_core.automata.minimise import minimise
from kbnf_core.automata.operations import empty
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.problems import TOO_LARGE, RegexProblem
from kbnf_core.automata.regex.symbols import edge_only, to_symbols
from kbnf_core.automata.regex.syntax import Node
from kbnf_core.automata.regex.thompson import build_nfa
from kbnf_core.automata.utf8 import to_dfa
from kbnf_core.limits import DEFAULT_LIMITS, Limits


class Compiled(NamedTuple):
    """An automaton, or why there is none: ``dfa`` is None exactly when there are problems."""

    dfa: Dfa | None
    problems: tuple[RegexProblem, ...]


@lru_cache(maxsize=512)
def compile_regex(pattern: str, limits: Limits = DEFAULT_LIMITS) -> Compiled:
    r"""Compile a pattern, as if it stood between ``\A(?:`` and ``)\z``. Never raises."""
    tree, problems = parse_regex(pattern, limits)
    if problems:
        return Compiled(None, problems)
    try:
        return Compiled(_whole_matches(tree, limits), ())
    except LimitError as error:
        return Compiled(None, (too_large(pattern, error, limits),))


def too_large(pattern: str, error: LimitError, limits: Limits) -> RegexProblem:
    """Return the problem of a pattern whose automaton passed a limit."""
    memory = limits.regex_bytes
    by_memory = memory is not None and error.limit < limits.regex_states
    needs = f"more than {memory} bytes, the limit of its memory" if by_memory else error
    return RegexProblem(
        TOO_LARGE,
        f"this regular expression needs {needs}",
        0,
        len(pattern),
        "use smaller counts, or move parts into rules of their own",
    )


def _whole_matches(tree: Node, limits: Limits) -> Dfa:
    limit = limits.regex_states
    symbols = to_symbols(build_nfa(tree, limit), limit)
    blocks = symbols.partition
    most = states_within(limit, limits.regex_bytes, blocks.block_count)
    machine = minimise(determinise(edge_only(symbols.nfa), blocks.block_count, most))
    if not machine.rows:
        return empty()
    dfa = to_dfa(machine, blocks, limit)
    most = states_within(limit, limits.regex_bytes, len(dfa.rows[0]))
    if dfa.state_count > most:
        raise LimitError("states", most)
    return dfa
