"""Nondeterministic automata over symbols.

Symbols are small integers: byte classes first, then nonterminals, then token terminals (see
``Alphabet``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.alphabet import first_bytes
from kbnf_core.errors import KbnfError
from kbnf_core.ir import TokenTerminal
from kbnf_core.source import Span

Place: TypeAlias = tuple[Span, int]
Ids = npt.NDArray[np.int32]


class TooManyStatesError(KbnfError):
    """A nonterminal needs more states than the limit allows."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The numbering of symbols that all nonterminals of one grammar share.

    ``columns[byte]`` is the class of a byte.
    """

    columns: bytes
    nonterminals: Mapping[str, int]
    terminals: Mapping[TokenTerminal, int]

    @cached_property
    def class_count(self) -> int:
        """Number of byte classes; their symbols are 0 .. class_count - 1."""
        return max(self.columns) + 1

    @cached_property
    def first_bytes(self) -> list[int]:
        """A byte of each class."""
        return first_bytes(self.columns)

    def of_call(self, name: str) -> int:
        """Return the symbol of a nonterminal."""
        return self.class_count + self.nonterminals[name]

    def of_token(self, terminal: TokenTerminal) -> int:
        """Return the symbol of a token terminal."""
        return self.class_count + len(self.nonterminals) + self.terminals[terminal]


class Nfa:
    """A growing automaton: states 0 (start) and 1 (accepting) and more, edges in columns.

    An edge goes from ``sources[i]`` over ``symbols[i]`` to ``targets[i]``, a free one from
    ``free_sources[i]`` to ``free_targets[i]``. ``blocks`` holds more edges, whole automata of them:
    columns one above the other, int32[3, n].
    """

    START = 0
    ACCEPT = 1

    def __init__(self) -> None:
        self.state_count = 2
        self.sources: list[int] = []
        self.symbols: list[int] = []
        self.targets: list[int] = []
        self.free_sources: list[int] = []
        self.free_targets: list[int] = []
        self.blocks: list[Ids] = []

    def add_states(self, count: int = 1) -> int:
        """Add states without edges; return the number of the first."""
        first = self.state_count
        self.state_count += count
        return first

    def link(self, source: int, symbol: int, target: int) -> None:
        """Add an edge."""
        self.sources.append(source)
        self.symbols.append(symbol)
        self.targets.append(target)

    def free(self, source: int, target: int) -> None:
        """Let ``target`` be entered freely from ``source``."""
        self.free_sources.append(source)
        self.free_targets.append(target)

    def columns(self) -> Ids:
        """Return all edges, int32[3, n]."""
        single = np.array((self.sources, self.symbols, self.targets), np.int32)
        return np.concatenate((single, *self.blocks), axis=1) if self.blocks else single

    def note(self, state: int, span: Span, offset: int) -> None:
        """Note what a state waits for; only ``PlacedNfa`` keeps it."""

    def note_all(self, states: range, span: Span) -> None:
        """Note what many states wait for."""

    def note_text(self, states: Iterable[int], span: Span) -> None:
        """Note that states wait for the bytes of a text, one after the other."""


class PlacedNfa(Nfa):
    """An automaton that knows what its states wait for.

    ``places[s]`` are the spans of what may come at s, each with the number of its bytes that lie
    behind.
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[int, list[Place]] = {}

    def note(self, state: int, span: Span, offset: int) -> None:
        """Note what a state waits for."""
        self.places.setdefault(state, []).append((span, offset))

    def note_all(self, states: range, span: Span) -> None:
        """Note what many states wait for."""
        for state in states:
            self.note(state, span, 0)

    def note_text(self, states: Iterable[int], span: Span) -> None:
        """Note that states wait for the bytes of a text, one after the other."""
        for offset, state in enumerate(states):
            self.note(state, span, offset)
