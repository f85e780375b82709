"""Which of many words occur in a text, in one pass over it, however many words there are.

Words are one automaton, and an attempt begins at each byte with which some word begins. An attempt
dies where no word goes on, after a byte or two as a rule; at worst it takes the longest word, where
Aho and Corasick (1975) would need a table with a column for each byte of each word.
"""

import re
from collections.abc import Iterable, Iterator

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD


class Words:
    """Some words to look for."""

    def __init__(self, words: Iterable[bytes]) -> None:
        held = set(words)
        self._has_empty = b"" in held
        held.discard(b"")
        self._dfa = operations.literals(held)
        self._beginning = re.compile(b"|".join(sorted({re.escape(word[:1]) for word in held})))

    def within(self, data: bytes) -> Iterator[bytes]:
        """Yield the words that ``data`` holds, by where they begin; one may come several times."""
        if self._has_empty:
            yield b""
        if self._dfa.is_empty:
            return
        rows, accepting = self._dfa.rows, self._dfa.accepting
        symbols = data.translate(self._dfa.classes)
        for beginning in self._beginning.finditer(data):
            start, state = beginning.start(), 0
            for at in range(start, len(symbols)):
                state = rows[state][symbols[at]]
                if state == DEAD:
                    break
                if accepting[state]:
                    yield data[start : at + 1]
