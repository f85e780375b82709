"""Texts in which something occurs nowhere: ``#ex`` and ``except!``.

Such a text is any nonempty byte string, valid UTF-8 or not. For a regular expression the
automaton runs all attempts to match at once, one begun before every byte, and dies with the
first that succeeds. What it accepts is closed under prefixes: a match that ends with the text
read so far, ``$`` included, ends the matter, as text can be read no further than that.
"""

from functools import lru_cache

import numpy as np

from kbnf_core.automata.classes import class_count, join_classes, representatives
from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.exceptions import avoid_literals
from kbnf_core.automata.machine import ACCEPT, Nfa
from kbnf_core.automata.minimise import minimise
from kbnf_core.automata.operations import empty, from_machine
from kbnf_core.automata.regex.compile import Compiled, too_large
from kbnf_core.automata.regex.looks import EDGE, KINDS, byte_kinds
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.symbols import to_symbols
from kbnf_core.automata.regex.syntax import Node
from kbnf_core.automata.regex.thompson import build_nfa
from kbnf_core.automata.utf8 import TaggedDfa, to_bytes
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
    try:
        return Compiled(_avoiding(tree, limits), ())
    except LimitError as error:
        return Compiled(None, (too_large(pattern, error),))


def _avoiding(tree: Node, limits: Limits) -> Dfa:
    attempts = _attempts(tree, limits.regex_states)
    if _matches_empty_at_start(attempts):
        return empty()
    kinds = byte_kinds()
    classes = join_classes([attempts.classes, kinds.astype(np.uint8)])
    nfa = _all_attempts(attempts, representatives(classes).tolist(), kinds.tolist())
    machine = determinise(nfa, class_count(classes), limits.regex_states, stop=_MATCHED)
    return from_machine(machine, classes)


def _attempts(tree: Node, limit: int) -> TaggedDfa:
    """Return the automaton of one attempt, with a start after every kind of character."""
    symbols = to_symbols(build_nfa(tree, limit), limit)
    machine = minimise(determinise(symbols.nfa, symbols.partition.block_count, limit))
    return to_bytes(machine, symbols.partition, limit)


def _matches_empty_at_start(attempts: TaggedDfa) -> bool:
    start = attempts.starts[EDGE]
    return start != DEAD and bool(attempts.tags[start] >> EDGE & 1)


def _all_attempts(attempts: TaggedDfa, first_bytes: list[int], kinds: list[int]) -> Nfa:
    """Return the automaton that begins an attempt before every byte.

    Beyond the states of the attempts there are: ``begin`` at the start of the text;
    ``between`` in the middle of it, to which only the tag belongs; and ``matched``.
    """
    count = len(attempts.tags)
    between, matched, begin = count, count + 1, count + 2

    def entered(states: list[int], kind: int) -> tuple[int, ...]:
        """Return what is entered by reading a character of a kind, other than ``states``."""
        fresh = attempts.starts[kind]
        return tuple(sorted({*states, between, fresh} - {DEAD}))

    symbols = [(symbol, int(attempts.classes[byte]), kinds[byte])
               for symbol, byte in enumerate(first_bytes)]
    moves: list[dict[int, tuple[int, ...]]] = []
    for tag, row in zip(attempts.tags, attempts.next.tolist(), strict=True):
        edges: dict[int, tuple[int, ...]] = {}
        for symbol, column, kind in symbols:
            if tag >> kind & 1:
                edges[symbol] = (matched,)
            elif row[column] != DEAD:
                edges[symbol] = (row[column],)
        moves.append(edges)
    moves.append({symbol: entered([], kind) for symbol, _, kind in symbols})
    moves.append({})
    at_edge = attempts.starts[EDGE]
    first = moves[at_edge] if at_edge != DEAD else {}
    moves.append(
        {symbol: entered(list(first.get(symbol, ())), kind) for symbol, _, kind in symbols}
    )
    tags = [_MATCHED if tag >> EDGE & 1 else 0 for tag in attempts.tags]
    return Nfa(moves, [*tags, ACCEPT, _MATCHED, 0], [(begin,)])
