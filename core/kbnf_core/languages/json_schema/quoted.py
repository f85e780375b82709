"""From an automaton of strings to that of their JSON texts, without a regular expression between.

Its bytes are symbols: those that stand for themselves are spelt so, the others behind a backslash.
"""

import sys
from collections.abc import Sequence
from functools import lru_cache

from kbnf_core.automata.alphabet import ByteClasses, class_count, first_bytes, join, separate
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa, empty, rows_over
from kbnf_core.automata.spell import Letters, spell
from kbnf_core.languages.json_schema.characters import Spelling

_WRITTEN = b'"\\bfnrtu0123456789abcdefABCDEF'


@lru_cache(maxsize=64)
def quoted(dfa: Dfa, spelling: Spelling) -> Dfa:
    """Return the JSON texts of the strings of ``dfa``, as ``Spelling.spell`` spells them."""
    if dfa.is_empty:
        return empty()
    symbols = join([dfa.classes, _codes(spelling)])
    quote = class_count(symbols)
    end = dfa.state_count
    rows = [
        [*row, end if ends else DEAD]
        for row, ends in zip(rows_over(dfa, symbols), dfa.accepting, strict=True)
    ]
    rows += [[DEAD] * (quote + 1), [*([DEAD] * quote), 0]]
    tags = [*([0] * end), ACCEPT, 0]
    return spell(SymbolDfa(rows, tags, [end + 1]), _letters(symbols, spelling), sys.maxsize)


def _codes(spelling: Spelling) -> ByteClasses:
    return separate(code for code, _ in spelling.escapes)


@lru_cache(maxsize=64)
def _letters(symbols: ByteClasses, spelling: Spelling) -> Letters:
    """Return how the classes ``symbols`` are spelt, and the quote, which is one more."""
    count = class_count(symbols)
    classes = join([symbols, separate(_WRITTEN)])
    escapes = dict(spelling.escapes)
    ways = [(bytes((byte,)), symbols[byte]) for byte in first_bytes(classes) if byte not in escapes]
    ways.append((b'"', count))
    ways += [(b"\\" + text, symbols[code]) for code in escapes for text in escapes[code]]
    edges: list[dict[int, int]] = [{} for _ in range(count + 1)]
    _add_state(edges, [(text.translate(classes), symbol) for text, symbol in ways])
    ends = [*range(count + 1), *([DEAD] * (len(edges) - count - 1))]
    return Letters(classes, edges, ends)


def _add_state(edges: list[dict[int, int]], ways: Sequence[tuple[bytes, int]]) -> int:
    """Add the state from which texts lead to states; the longest text has some ten bytes."""
    below: dict[int, list[tuple[bytes, int]]] = {}
    for text, target in ways:
        below.setdefault(text[0], []).append((text[1:], target))
    found = {
        byte: rest[0][1] if rest[0][0] == b"" else _add_state(edges, rest)
        for byte, rest in sorted(below.items())
    }
    edges.append(found)
    return len(edges) - 1
