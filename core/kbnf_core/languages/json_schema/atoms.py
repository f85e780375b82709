"""The restrictions that keywords put on strings and on numbers, each a set of values.

Every atom can return whether a value is in it and can be an automaton: over the characters of a
string, or over the decimal texts of a number (see ``automata.decimals``).

Automata of the patterns that every process would compile, of JSON's texts and formats, are data in
``patterns.json``, which ``kbnf_testing.shipped_patterns`` writes. Each is a text: the automaton's
classes, a byte for each state (1 where it accepts), and its rows as integers of 16 bits,
compressed. A pattern that is not there is compiled.
"""

import json
from array import array
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from sys import byteorder
from typing import Generic, Protocol, TypeAlias, TypeVar, cast
from zlib import decompress

from kbnf_core.automata import operations
from kbnf_core.automata.decimals import EQUAL, GREATER, LESS, compared, multiples
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import REMEMBERED, Compiled, compile_regex, size_of
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.remembered import remembered

PATTERNS = Path(__file__).with_name("patterns.json")


@remembered(REMEMBERED, size_of)
def compiled_pattern(pattern: str) -> Compiled:
    """Return what ``compile_regex`` returns."""
    found = _shipped().get(key_of(pattern))
    return compile_regex(pattern) if found is None else Compiled(_unpacked(found[1]), (), found[0])


@cache
def _shipped() -> dict[str, tuple[int, str]]:
    """Return the work and the automaton of each pattern."""
    found: dict[str, tuple[int, str]] = json.loads(PATTERNS.read_text("ascii"))
    return found


def key_of(pattern: str) -> str:
    """Return what a pattern is called in the file."""
    return blake2b(pattern.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _unpacked(text: str) -> Dfa:
    data = decompress(b64decode(text))
    classes = data[:256]
    width = max(classes) + 1
    states = (len(data) - 256) // (1 + 2 * width)
    rows = array("h", data[256 + states :])
    if byteorder == "big":
        rows.byteswap()
    listed = rows.tolist()
    accepting = list(map(bool, data[256 : 256 + states]))
    return Dfa(classes, [listed[i : i + width] for i in range(0, len(listed), width)], accepting)


V = TypeVar("V", str, Decimal)


class Atom(Protocol):
    """A set of strings or of numbers."""

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""

    def dfa(self) -> Dfa:
        """Return the set as an automaton; raises LimitError where it is too large."""


@dataclass(frozen=True)
class OneOf(Generic[V]):
    """A finite set, in the order of writing."""

    values: tuple[V, ...]

    @cached_property
    def _members(self) -> frozenset[object]:
        return frozenset(self.values)

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        return value in self._members

    def dfa(self) -> Dfa:
        """Return the automaton of the values."""
        values: tuple[str | Decimal, ...] = self.values
        words = [value.encode() for value in values if isinstance(value, str)]
        numbers = [compared(value, EQUAL) for value in values if isinstance(value, Decimal)]
        return operations.union(*numbers) if numbers else operations.literals(words)


MOST_KNOWN = 1_000
"""Texts of which a pattern remembers whether it matches them."""


@dataclass(frozen=True)
class Matching:
    """Strings that a regular expression of our dialect matches as a whole."""

    regex: str

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set; of names of members it is asked again and again."""
        text = str(value)
        known = self._known.get(text)
        if known is None:
            known = self._dfa.accepts(text.encode())
            if len(self._known) < MOST_KNOWN:
                self._known[text] = known
        return known

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def dfa(self) -> Dfa:
        """Return the automaton of the strings."""
        return self._dfa

    @cached_property
    def _dfa(self) -> Dfa:
        compiled = compiled_pattern(self.regex)
        if compiled.dfa is None:
            raise LimitError("states", DEFAULT_LIMITS.regex_states)
        return compiled.dfa


@dataclass(frozen=True, slots=True)
class Length:
    """Strings of so many characters; None has no bound."""

    low: int
    high: int | None

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        count = len(str(value))
        return self.low <= count and (self.high is None or count <= self.high)

    def dfa(self) -> Dfa:
        """Return the automaton of the strings."""
        high = "" if self.high is None else self.high
        return Matching(f"(?s:.){{{self.low},{high}}}").dfa()

    def remainder(self) -> Iterator["Length"]:
        """Yield all other lengths."""
        if self.low:
            yield Length(0, self.low - 1)
        if self.high is not None:
            yield Length(self.high + 1, None)


@dataclass(frozen=True, slots=True)
class Compared:
    """Numbers below, at or above a bound: ``wanted`` adds up LESS, EQUAL and GREATER."""

    bound: Decimal
    wanted: int

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        number = cast(Decimal, value)
        found = LESS if number < self.bound else GREATER if number > self.bound else EQUAL
        return bool(found & self.wanted)

    def dfa(self) -> Dfa:
        """Return the automaton of the numbers."""
        return compared(self.bound, self.wanted)


@dataclass(frozen=True, slots=True)
class Multiple:
    """Multiples of a positive number; of 1, the integers."""

    divisor: Decimal

    def holds(self, value: object) -> bool:
        """Return whether a value is in the set."""
        top, bottom = cast(Decimal, value).as_integer_ratio()
        over, under = self.divisor.as_integer_ratio()
        return top * under % (bottom * over) == 0

    def dfa(self) -> Dfa:
        """Return the automaton of the numbers."""
        return multiples(self.divisor)


INTEGER = Multiple(Decimal(1))

Literal: TypeAlias = tuple[Atom, bool]
"""An atom, and whether values are in it (or outside)."""
