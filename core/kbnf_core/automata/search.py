"""Texts in which something occurs nowhere: ``#ex`` and ``except!``.

Such a text is any nonempty byte string, valid UTF-8 or not. For a regular expression the
automaton runs all attempts to match at once, one begun before every byte, and dies with the
first that succeeds. A match may need the end of the text (``$``), and every byte may be the
last: so an attempt succeeds, too, when it would if the text ended here. What is accepted is
therefore closed under prefixes.
"""

from functools import lru_cache

from kbnf_core.automata import columns as over
from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import states_within
from kbnf_core.automata.exceptions import avoid_literals
from kbnf_core.automata.machine import ACCEPT, Nfa
from kbnf_core.automata.minimise import minimise
from kbnf_core.automata.operations import from_machine
from kbnf_core.automata.regex.compile import Compiled, within
from kbnf_core.automata.regex.looks import EDGE, byte_kinds
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.symbols import to_symbols
from kbnf_core.automata.regex.syntax import Node
from kbnf_core.automata.regex.thompson import build_nfa
from kbnf_core.automata.utf8 import TaggedDfa, to_bytes
from kbnf_core.budget import Budget
from kbnf_core.limits import DEFAULT_LIMITS, Limits

__all__ = ["avoid_literals", "avoid_regex"]

_MATCHED = 2
"""The tag of a state in which some attempt has succeeded."""


@lru_cache(maxsize=128)
def avoid_regex(pattern: str, limits: Limits = DEFAULT_LIMITS) -> Compiled:
    """Compile the nonempty byte strings in which ``pattern`` matches nowhere. Never raises."""
    tree, problems = parse_regex(pattern, limits)
    if problems:
        return Compiled(None, problems)
    return within(limits, pattern, lambda budget: _avoiding(tree, limits, budget))


def _avoiding(tree: Node, limits: Limits, budget: Budget) -> Dfa:
    attempts = _attempts(tree, limits, budget)
    kinds = byte_kinds()
    columns = over.join([attempts.columns, kinds])
    nfa = _all_attempts(attempts, over.first_bytes(columns), kinds)
    symbols = over.width(columns)
    most = states_within(limits.regex_states, limits.regex_bytes, symbols)
    machine = determinise(nfa, symbols, most, _MATCHED, budget)
    return from_machine(machine, columns, budget)


def _attempts(tree: Node, limits: Limits, budget: Budget) -> TaggedDfa:
    """Return the automaton of one attempt, with a start after every kind of character."""
    limit = limits.regex_states
    symbols = to_symbols(build_nfa(tree, limit), limit)
    blocks = symbols.partition.block_count
    most = states_within(limit, limits.regex_bytes, blocks)
    budget.spend(len(symbols.nfa.moves))
    machine = minimise(determinise(symbols.nfa, blocks, most, budget=budget), budget)
    return to_bytes(machine, symbols.partition, limit)


def _all_attempts(attempts: TaggedDfa, first_bytes: list[int], kinds: bytes) -> Nfa:
    """Return the automaton that begins an attempt before every byte.

    ``first_bytes`` holds a byte of each symbol, ``kinds`` the kind of each byte. To the states
    of the attempts are added ``anywhere``, from which attempts begin; ``matched``; and
    ``begin``, which stands for both the first attempt and ``anywhere``, but accepts nothing.
    """
    anywhere = len(attempts.tags)
    matched, begin = anywhere + 1, anywhere + 2
    symbols = [
        (symbol, attempts.columns[byte], kinds[byte]) for symbol, byte in enumerate(first_bytes)
    ]
    moves = [
        {
            symbol: (matched,) if tag >> kind & 1 else (row[column],)
            for symbol, column, kind in symbols
            if tag >> kind & 1 or row[column] != DEAD
        }
        for tag, row in zip(attempts.tags, attempts.rows, strict=True)
    ]
    restart = {
        symbol: tuple(sorted({anywhere, attempts.starts[kind]} - {DEAD}))
        for symbol, _, kind in symbols
    }
    first = {} if attempts.starts[EDGE] == DEAD else moves[attempts.starts[EDGE]]
    both = {symbol: tuple(sorted({*restart[symbol], *first.get(symbol, ())})) for symbol in restart}
    tags = [_MATCHED if tag >> EDGE & 1 else 0 for tag in attempts.tags]
    return Nfa([*moves, restart, {}, both], [*tags, ACCEPT, _MATCHED, 0], [(begin,)])
