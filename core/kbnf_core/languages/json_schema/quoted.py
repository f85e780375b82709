"""From an automaton of strings to that of their JSON texts, without a regular expression between.

Characters that stand for themselves keep their edges. Those that do not leave their state by a
backslash instead, into states that know where each way to spell them leads. States with the same
ways are one.
"""

from functools import lru_cache

from kbnf_core.automata.alphabet import ByteClasses, class_count, join, separate
from kbnf_core.automata.determinise import from_symbols
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa, empty, rows_over
from kbnf_core.languages.json_schema.characters import Spelling

_WRITTEN = b'"\\bfnrtu0123456789abcdefABCDEF'

_Way = tuple[bytes, int]
"""What may come, and the state behind it."""


@lru_cache(maxsize=64)
def quoted(dfa: Dfa, spelling: Spelling) -> Dfa:
    """Return the JSON texts of the strings of ``dfa``, as ``Spelling.spell`` spells them."""
    if dfa.is_empty:
        return empty()
    codes = [code for code, _ in spelling.escapes]
    classes = join([dfa.classes, separate([*codes, *_WRITTEN])])
    rows = rows_over(dfa, classes)
    ways = _Ways(rows, classes)
    end = ways.state([])
    for row, ends in zip(rows[: dfa.state_count], dfa.accepting, strict=True):
        targets = [row[classes[code]] for code in codes]
        for code in codes:
            row[classes[code]] = DEAD
        leaving = [
            (text, target)
            for (_, texts), target in zip(spelling.escapes, targets, strict=True)
            if target != DEAD
            for text in texts
        ]
        if leaving:
            row[classes[ord("\\")]] = ways.state(leaving)
        if ends:
            row[classes[ord('"')]] = end
    start = ways.state([(b'"', 0)])
    tags = [int(state == end) for state in range(len(rows))]
    return from_symbols(SymbolDfa(rows, tags, [start]), classes)


class _Ways:
    """Adds states to ``rows``, one for the same ways out."""

    def __init__(self, rows: list[list[int]], classes: ByteClasses) -> None:
        self._rows = rows
        self._classes = classes
        self._known: dict[tuple[_Way, ...], int] = {}

    def state(self, ways: list[_Way]) -> int:
        """Return the state from which each of some texts leads to a state."""
        key = tuple(ways)
        known = self._known.get(key)
        if known is None:
            row = [DEAD] * class_count(self._classes)
            below: dict[int, list[_Way]] = {}
            for text, target in ways:
                if len(text) == 1:
                    row[self._classes[text[0]]] = target
                else:
                    below.setdefault(text[0], []).append((text[1:], target))
            for byte, rest in below.items():
                row[self._classes[byte]] = self.state(rest)
            known = self._known[key] = len(self._rows)
            self._rows.append(row)
        return known
