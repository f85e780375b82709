"""The substrings of a text, the runs of its chunks, and which of many words occur in a text.

The first two are the suffix automaton. The words are found in one pass over the text, however many
they are: they are one automaton, and an attempt begins at each byte with which some word begins.
An attempt dies where no word goes on, after a byte or two as a rule; at worst it takes the longest
word, where Aho and Corasick (1975) would need a table with a column for each byte of each word.

Tests: tests/unit/automata/test_chunk_runs.py, tests/unit/automata/test_occurrences.py
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa, class_count, separate
from kbnf_core.automata.nfa import EpsilonNfa, determinise, from_symbols
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits


class WordSet:
    """Some words to look for."""

    def __init__(self, words: Iterable[bytes]) -> None:
        distinct = set(words)
        self._has_empty = b"" in distinct
        distinct.discard(b"")
        self._dfa = operations.literals(distinct)
        self._beginning = re.compile(b"|".join(sorted({re.escape(word[:1]) for word in distinct})))

    def within(self, data: bytes) -> Iterator[bytes]:
        """Yield the words in ``data`` by where they begin; one may occur several times."""
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


_NO_LINK = -1


@dataclass(slots=True)
class _EndPositions:
    """A set of end positions: its longest word's length, its suffix link, its edges."""

    length: int
    link: int = _NO_LINK
    edges: dict[int, int] = field(default_factory=dict)


def substrings(data: bytes) -> Dfa:
    """Return the automaton of all substrings of ``data``, the empty one included."""
    states = _suffix_automaton(data)
    classes = separate(data)
    rows = [[DEAD] * class_count(classes) for _ in states]
    for row, state in zip(rows, states, strict=True):
        for byte, target in state.edges.items():
            row[classes[byte]] = target
    # With every state accepting some become equal, so this is not minimal yet.
    return from_symbols(SymbolDfa(rows, [ACCEPT] * len(states), [0]), classes)


def chunk_runs(chunks: Sequence[bytes], limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the automaton of all runs of neighbouring chunks, the empty run included.

    The suffix automaton over whole chunks is linear in their number. Each of its states then
    spells its chunks byte by byte along a trie; where one chunk begins another, both are followed.
    """
    numbers: dict[bytes, int] = {}
    states = _suffix_automaton(numbers.setdefault(chunk, len(numbers)) for chunk in chunks if chunk)
    spellings = list(numbers)
    classes = separate(b"".join(spellings))
    moves: list[dict[int, int]] = [{} for _ in states]
    completed: list[tuple[int, int]] = []
    for number, state in enumerate(states):
        for chunk, target in state.edges.items():
            node = number
            for byte in spellings[chunk]:
                node = moves[node].setdefault(classes[byte], len(moves))
                if node == len(moves):
                    moves.append({})
            completed.append((node, target))
    nfa = EpsilonNfa(limits.regex_states)
    for edges in moves:
        nfa.add([*edges.items()])
    for node, target in completed:
        nfa.link(node, target)
    tags = [ACCEPT] * len(states) + [0] * (len(moves) - len(states))
    machine = determinise(nfa.without_epsilon(0, tags), class_count(classes), limits.regex_states)
    return from_symbols(machine, classes)


def _suffix_automaton(data: Iterable[int]) -> list[_EndPositions]:
    """Build the automaton symbol by symbol in linear time (Blumer et al. 1985)."""
    states = [_EndPositions(0)]
    last = 0
    for byte in data:
        last = _extend(states, last, byte)
    return states


def _extend(states: list[_EndPositions], last: int, byte: int) -> int:
    new = len(states)
    states.append(_EndPositions(states[last].length + 1))
    at = last
    while at != _NO_LINK and byte not in states[at].edges:
        states[at].edges[byte] = new
        at = states[at].link
    states[new].link = 0 if at == _NO_LINK else _suffix_state(states, at, byte)
    return new


def _suffix_state(states: list[_EndPositions], at: int, byte: int) -> int:
    """Return the state of ``at``'s longest word and ``byte``, split off if it was not yet one."""
    target = states[at].edges[byte]
    if states[target].length == states[at].length + 1:
        return target
    clone = len(states)
    states.append(
        _EndPositions(states[at].length + 1, states[target].link, dict(states[target].edges))
    )
    states[target].link = clone
    while at != _NO_LINK and states[at].edges.get(byte) == target:
        states[at].edges[byte] = clone
        at = states[at].link
    return clone
