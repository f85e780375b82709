"""JSON's spellings of strings: of characters as regular expressions, of sets as automata.

``Spelling`` has the escapes that are allowed. From an automaton of strings its JSON texts follow
without a regular expression between (``quoted``): its bytes are symbols, of which those that mean
themselves are spelled so, the others after a backslash.

Tests: tests/unit/languages/json_schema/test_direct.py, test_options.py
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import (
    ANY,
    CodePoints,
    difference,
    from_ranges,
    intersect,
    union,
)
from kbnf_core.automata.dfa import (
    ACCEPT,
    DEAD,
    ByteClasses,
    Dfa,
    SymbolDfa,
    class_count,
    empty,
    first_bytes,
    join,
    separate,
)
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.spell import Letters, spell
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import half_of_pair

ESCAPED: CodePoints = from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])
"""The characters that RFC 8259 requires to be escaped."""

_DELETE = 0x7F
"""A control character that the RFC allows as itself, and LLGuidance as an escape only."""

_SHORT = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}

LETTERS = "".join(_SHORT.values()) + "u"
r"""Letters after a backslash; ``\/`` is never a character's only spelling."""

_HEX = "[0-9A-Fa-f]"
_PAIR = rf"u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_LARGE = rf"0[1-9a-fA-F]{_HEX}{{2}}|[1-9abcefABCEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}"
_ANY_UNIT = rf"u(?:00{_HEX}{{2}}|{_LARGE})"

ANY_CHARACTER = r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))'
"""One character of a string in any spelling; half of a surrogate pair counts as one."""


@dataclass(frozen=True)
class Spelling:
    r"""The escapes that are allowed: ``letters`` may follow a backslash, of LETTERS.

    A control character with a letter of its own is spelt by that, and, where it is not one of
    ``letters`` or ``by_llguidance``, as ``\u00XX``. ``also`` are characters that need an escape,
    by their numbers, beyond those of JSON.
    """

    letters: str = LETTERS
    by_llguidance: bool = False
    also: CodePoints = ()

    def listed(self, value: str) -> str | None:
        """Return the text of a listed string where it has just one, None otherwise."""
        return self.text(value)

    def key(self, value: str) -> str:
        """Return the text of a name of a member."""
        return spell_text(value)

    @property
    def is_usual(self) -> bool:
        """Return whether every character has the one spelling that most JSON has."""
        return self.letters == LETTERS and not self.by_llguidance and not self.also

    @cached_property
    def escaped(self) -> CodePoints:
        """The characters that cannot stand for themselves."""
        found = union(ESCAPED, ((_DELETE, _DELETE),)) if self.by_llguidance else ESCAPED
        return union(found, self.also)

    @cached_property
    def _escaped_codes(self) -> tuple[int, ...]:
        return tuple(code for low, high in self.escaped for code in range(low, high + 1))

    @cached_property
    def escape(self) -> str:
        """The spelling of a character that cannot stand for itself; empty where there is none."""
        return self._escape(self.escaped)

    @cached_property
    def escapes(self) -> tuple[tuple[int, tuple[bytes, ...]], ...]:
        """The characters that cannot stand for themselves, and their escapes after the backslash.

        They are those of one byte.
        """
        codes = (code for code in self._escaped_codes if code < 0x80)
        return tuple((code, tuple(self._escapes_of(code))) for code in codes)

    def _escapes_of(self, code: int) -> Iterator[bytes]:
        letter = _SHORT.get(code, "")
        is_short = letter != "" and letter in self.letters
        if is_short:
            yield letter.encode()
        if _is_control(code) and "u" in self.letters and (self.by_llguidance or not is_short):
            digits = f"{code:02x}"
            yield from dict.fromkeys((f"u00{digits}".encode(), f"u00{digits.upper()}".encode()))

    @property
    def _plain(self) -> str:
        if self.also:
            return print_characters(difference(ANY, self.escaped))
        return r'[^"\\\x00-\x1f\x7f]' if self.by_llguidance else r'[^"\\\x00-\x1f]'

    @cached_property
    def character(self) -> str:
        """One character of a string, each in one spelling (but for its digits)."""
        return f"(?:{self._plain}|{self.escape})" if self.escape else self._plain

    @property
    def unicode_character(self) -> str:
        r"""One character of a string, of which any may be spelt ``\uXXXX``."""
        if "u" not in self.letters:
            return self.character
        return rf"(?:{self.character}|\\(?:{_ANY_UNIT}|{_PAIR}))"

    @property
    def with_needless(self) -> str | None:
        r"""A string with a ``\uXXXX`` that needs none; None where there are no such escapes."""
        if "u" not in self.letters:
            return None
        last = "[0-9a-eA-E]" if self.by_llguidance else _HEX
        needless = rf"\\(?:u(?:00(?:[2-689a-fA-F]{_HEX}|7{last})|{_LARGE})|{_PAIR})"
        return f'"{self.character}*{needless}{self.unicode_character}*"'

    def spell(self, points: CodePoints) -> str:
        """Return a regular expression for the JSON spellings of one character of a set."""
        if len(points) == 2 and points[0][0] == 0 and points[-1][1] == 0x10FFFF:
            return self.character
        plain = difference(points, self.escaped)
        escaped = intersect(points, self.escaped)
        if not escaped:
            return print_characters(plain)
        branches = [print_characters(plain)] if plain else []
        branches += [self._escape(escaped)] if self._escape(escaped) else []
        return f"(?:{'|'.join(branches)})" if branches else r"[^\s\S]"

    def _escape(self, escaped: CodePoints) -> str:
        codes = {code for low, high in escaped for code in range(low, high + 1)}
        short = {code for code in codes & _SHORT.keys() if _SHORT[code] in self.letters}
        spelt = set() if self.by_llguidance else short
        wide = {code for code in codes if code > 0xFF}
        long = set(filter(_is_control, codes)) - spelt if "u" in self.letters else set()
        listed = "".join(_SHORT[code] for code in sorted(short)).replace("\\", "\\\\")
        branches = [f"[{listed}]"] if short else []
        branches += [f"u00(?:{'|'.join(_digits(long))})"] if long else []
        branches += [f"u{_in_either_case(f'{code:04x}')}" for code in sorted(wide)]
        if not branches:
            return ""
        return rf"\\(?:{'|'.join(branches)})" if len(branches) > 1 else rf"\\{branches[0]}"

    def text(self, value: str) -> str | None:
        """Return a string's JSON text where it has just one (but for digits), None otherwise."""
        if self.is_usual or set(map(ord, value)).isdisjoint(self._escaped_codes):
            return spell_text(value)
        return None


def _is_control(code: int) -> bool:
    return code < 0x20 or _DELETE <= code < 0xA0


def _in_either_case(written: str) -> str:
    """Return the regular expression of hexadecimal digits."""
    return "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in written)


def _digits(codes: set[int]) -> list[str]:
    """Return the hexadecimal digits of control characters, in either case."""
    rows: list[str] = []
    for high in sorted({code >> 4 for code in codes}):
        low = [f"{code & 15:x}" for code in sorted(codes) if code >> 4 == high]
        written = "".join(digit + (digit.upper() if digit.isalpha() else "") for digit in low)
        if len(low) == 16:
            written = "0-9A-Fa-f"
        written = written.replace("01234567", "0-7")
        rows.append(f"{high:x}" + (f"[{written}]" if len(written) > 1 else written))
    return rows


def is_spelt_once(value: str) -> bool:
    """Return whether a string has one JSON text: no letter escape, no half of a character."""
    return _SEVERAL.isdisjoint(value) and half_of_pair(value) is None


_SEVERAL = frozenset(
    chr(code) for code in range(0x20) if code not in _SHORT and not f"{code & 15:x}".isdigit()
)


def spell_text(value: str) -> str:
    """Return a string's canonical JSON text."""
    return encode_basestring(value)


_WRITTEN = b'"\\bfnrtu0123456789abcdefABCDEF'


def quoted(dfa: Dfa, spelling: Spelling) -> Dfa:
    """Return the JSON texts of the strings of ``dfa``, as ``Spelling.spell`` spells them."""
    if dfa.is_empty:
        return empty()
    end = dfa.state_count
    rows, tags = AUTOMATA.between(dfa.rows, dfa.accepting), [*([0] * end), ACCEPT, 0]
    return spell(SymbolDfa(rows, tags, [end + 1]), _letters(dfa.classes, spelling), sys.maxsize)


def _letters(symbols: ByteClasses, spelling: Spelling) -> Letters:
    """Return how the classes ``symbols`` are spelt, and the quote, which is one more."""
    count = class_count(symbols)
    # No text has this byte, nor any other of its class, so that they need not be told apart.
    never = symbols[0xFF]
    escapes = {code: texts for code, texts in spelling.escapes if symbols[code] != never}
    classes = join([symbols, separate(escapes), separate(_WRITTEN if escapes else b'"')])
    ways = [
        (bytes((byte,)), symbols[byte])
        for byte in first_bytes(classes)
        if byte not in escapes and symbols[byte] != never
    ]
    ways.append((b'"', count))
    ways += [(b"\\" + each, symbols[code]) for code, texts in escapes.items() for each in texts]
    edges: list[dict[int, int]] = [{} for _ in range(count + 1)]
    _add_state(edges, [(written.translate(classes), symbol) for written, symbol in ways])
    ends = [*range(count + 1), *([DEAD] * (len(edges) - count - 1))]
    return Letters(classes, edges, ends)


def _add_state(edges: list[dict[int, int]], ways: Sequence[tuple[bytes, int]]) -> int:
    """Add the state from which texts lead to states; the longest text has some ten bytes."""
    below: dict[int, list[tuple[bytes, int]]] = {}
    for written, target in ways:
        below.setdefault(written[0], []).append((written[1:], target))
    found = {
        byte: rest[0][1] if rest[0][0] == b"" else _add_state(edges, rest)
        for byte, rest in sorted(below.items())
    }
    edges.append(found)
    return len(edges) - 1
