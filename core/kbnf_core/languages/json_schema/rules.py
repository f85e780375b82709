"""The rules that the schemas of a document become, by name, with those that all schemas share.

*Shared.* ``Spelling`` has the JSON spellings of the characters of a string, as regular expressions;
the rules are whitespace, separators, and JSON's types. Arrays and objects are laid out here:
contents in brackets, with commas between.

*Of a document.* Rules are named after definitions and properties (``Names``). Keywords that are
refused or left out are reported of that schema: of the one whose rule is written (``current``), or
of the value in it that was visited last (``inner``). Nothing here refers to the writers, which
refer to this: so all of them go when the last one is forgotten.

Tests: tests/unit/languages/json_schema/test_places.py
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from json.encoder import encode_basestring

from kbnf_core import ir
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
from kbnf_core.ir import Node, Notation, calls
from kbnf_core.ir.build import EMPTY, alternation, optional, repeated, sequence, text
from kbnf_core.ir.names import FreshNames
from kbnf_core.languages.json_schema import Digits, Escapes, Integers, Options, Standard, Whitespace
from kbnf_core.languages.json_schema.algebra import ANYTHING, Expression, Ref
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.keywords import (
    Problem,
    too_large,
    unsupported,
)
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.value_sets import Restricted, compiled_pattern
from kbnf_core.lower.regular import automaton_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.json_text import steps_of
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import NOWHERE, half_of_pair

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


Member = tuple[ir.Node, bool]
"""A named member of an object, and whether it must be there."""


def enclosed(opening: str, closing: str, content: ir.Node, gap: ir.Node) -> ir.Node:
    """Return ``content`` in brackets, with gaps inside."""
    if content is EMPTY:
        return sequence(text(opening), gap, text(closing))
    if isinstance(content, ir.Repeat) and (content.low, content.high) == (0, 1):
        inner = optional(sequence(content.body, gap))
        return sequence(text(opening), gap, inner, text(closing))
    return sequence(text(opening), gap, content, gap, text(closing))


def listed(item: ir.Node, comma: ir.Node, low: int, high: int | None) -> ir.Node:
    """Return ``low`` to ``high`` items, at least one of which there may be."""
    most = None if high is None else high - 1
    whole = sequence(item, repeated(sequence(comma, item), max(low - 1, 0), most))
    return whole if low else optional(whole)


def around(members: Sequence[Member], extra: ir.Node | None, comma: ir.Node) -> ir.Node:
    """Return members of which one is required: those before it have commas after them."""
    parts: list[ir.Node] = []
    is_first = True
    for form, required in members:
        if is_first and required:
            parts.append(form)
            is_first = False
            continue
        ordered = sequence(form, comma) if is_first else sequence(comma, form)
        parts.append(ordered if required else optional(ordered))
    if extra is not None:
        parts.append(repeated(sequence(comma, extra), 0, None))
    return sequence(*parts)


def some(
    members: Sequence[Member],
    extra: ir.Node | None,
    comma: ir.Node,
    apart: Callable[[int, ir.Node], ir.Node] = lambda _, rest: rest,
) -> ir.Node | None:
    """Return one or more optional members: the last, or one before it and maybe more.

    ``apart`` returns what stands for the members from one on, a part of the whole.
    """
    more = None if extra is None else listed(extra, comma, 1, None)
    # From the last, so that the members after each are written once: n alternatives, not 2**n
    # orders of presence.
    for place, (form, _) in reversed(list(enumerate(members))):
        if more is None:
            more = form
        else:
            rest = sequence(optional(sequence(form, comma)), more)
            more = apart(place, alternation([form, rest]))
    return more


_GAPS = {
    Whitespace.FLEXIBLE: r"[ \t\n\r]*",
    Whitespace.BOUNDED: r"(?:\r?\n[ \t]{0,64}| )?",
    Whitespace.PRINTED: r"(?:\n[ \t]{0,32}| )?",
}

_STATES = 1_000
"""States of the largest automaton that stands for a rule."""

FRACTION_DIGITS = 17
"""Digits after the point of a number, where they are bounded: a double is known by them."""
LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""The integers of 64 bits."""


def _at_most(digits: str) -> str:
    """Return the regular expression of the texts of as many digits that are not above these."""
    found = _up_to(int(digits[-1]))
    for behind, digit in enumerate(reversed(digits[:-1]), 1):
        same = f"{digit}{found}"
        rest = "[0-9]" if behind == 1 else f"[0-9]{{{behind}}}"
        found = same if digit == "0" else f"(?:{_up_to(int(digit) - 1)}{rest}|{same})"
    return found


def _up_to(digit: int) -> str:
    return print_characters(((0x30, 0x30 + digit),))


SHORT_WHOLE = "-?(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18})"
"""Integers of 64 bits but for those next to the bounds, whose text would be as long again."""
_HIGH = (
    f"9{_at_most('2232')}[0-9]{{14}}",
    f"92233{_at_most('72035')}[0-9]{{9}}",
    f"9223372036{_at_most('8546')}[0-9]{{5}}",
    f"92233720368547{_at_most('75807')}",
)
"""Integers of 64 bits that begin with 9 and have 19 digits, in lines that are not long."""
WHOLE = f"(?:{SHORT_WHOLE}|-?(?:{'|'.join(_HIGH)})|{LOWEST})"
"""Integers of 64 bits."""
FAR = {"int64_high": b"9" + b"0" * 18, "int64_low": b"-9" + b"0" * 18}
"""The rules of the integers next to the bounds of 64 bits, with a text of each."""
EXPONENT = r"[eE](?:-[0-9]{1,3}|\+?1?[0-9]{1,2})"
"""An exponent with which a number of so many digits is a finite double."""


def digits(most: int | None) -> str:
    """Return the regular expression of one digit or more."""
    return "[0-9]+" if most is None else f"[0-9]{{1,{most}}}"


def integers(most: int | None) -> str:
    """Return the regular expression of an integer with so many digits."""
    return f"-?(?:0|[1-9][0-9]{'*' if most is None else f'{{0,{most - 1}}}'})"


ORDER = (
    "ws", "comma", "colon", "character", "string", "int64_high", "int64_low", "whole", "integer",
    "number", "boolean", "value", "object", "array", "escape", "name_rest", "other_name", "member",
)  # fmt: skip
NAMES = frozenset({"start", *ORDER})


def gap_of(options: Options) -> str:
    """Return the regular expression of a gap between two tokens; empty where there is none."""
    if options.whitespace_pattern is not None:
        return f"(?:{options.whitespace_pattern})?" if options.whitespace_pattern else ""
    return _GAPS.get(options.whitespace or Whitespace.PRINTED, "")


def regex(pattern: str, budget: Budget) -> ir.Node:
    """Return what a regular expression matches. Raises ProblemError for one that is too large."""
    compiled = compiled_pattern(pattern)
    budget.spend(compiled.work)
    if compiled.dfa is None:
        raise unsupported(compiled.problems[0].message, "")
    return ir.Regular(compiled.dfa, NOWHERE, pattern)


def _regex(pattern: str) -> ir.Node:
    return regex(pattern, Budget(DEFAULT_LIMITS.work))


def _separator(pattern: str | None, default: str) -> ir.Node:
    """Return a separator; one without operators is shown as the text that it is."""
    wanted = default if pattern is None else pattern
    return _regex(wanted) if _OPERATORS & set(wanted) else text(wanted)


_OPERATORS = frozenset("\\.^$|?*+()[]{}")


@cache
def automaton_within(whole: str, behind: str = r"(?:\.[0-9]+)?") -> Dfa:
    """Return the numbers without an exponent whose whole part a regular expression matches.

    A process keeps the three that are asked for.
    """
    found = compiled_pattern(whole + behind).dfa
    assert found is not None  # noqa: S101 - of constants
    return found


@dataclass(slots=True, eq=False, repr=False)
class Texts(Notation):
    """Texts as they are, whose automaton is that of the node."""

    hint: str


class Shared:
    """The shared rules by name, with their calls; a process keeps those of a few options.

    ``before_scalar`` and ``before_item`` are for a syntax that has something there, ``ends`` for
    one in which scalars and keys have an end.
    """

    before_scalar: ir.Node = EMPTY
    before_item: ir.Node = EMPTY
    ends: tuple[str, str] = ("", "")

    def __init__(self, options: Options, prefix: str, has_whole_fractions: bool) -> None:
        self.are_bounded = options.digits is not Digits.ANY
        self.whole_fraction = ""
        if has_whole_fractions and options.integers is Integers.FRACTION:
            self.whole_fraction = r"(?:\.0)?" if self.are_bounded else r"(?:\.0+)?"
        fraction, exponent = digits(None), "[eE][+-]?[0-9]+"
        if self.are_bounded:
            fraction, exponent = digits(FRACTION_DIGITS), EXPONENT
        behind = self._behind(fraction, exponent)
        self.spelling = self._spelling(options)
        self._prefix = prefix
        gap, is_compact = gap_of(options), not gap_of(options)
        comma = _separator(options.item_separator, ",")
        colon = _separator(options.key_separator, ":")
        self.calls = {name: ir.Call(prefix + name, NOWHERE) for name in NAMES}
        self.gap = EMPTY if is_compact else self.calls["ws"]
        # Printers write nothing before a comma or a colon, and break no line after a colon.
        is_printed = options.whitespace_pattern is None and options.whitespace is Whitespace.PRINTED
        before = EMPTY if is_printed else self.gap
        after_name = optional(text(" ")) if is_printed else self.gap
        self.comma = comma if is_compact else self.calls["comma"]
        self.colon = colon if is_compact else self.calls["colon"]
        character = self.spelling.character
        self.is_canonical = options.escapes not in (Escapes.ANY, Escapes.UNICODE)
        if options.escapes is Escapes.ANY:
            character = ANY_CHARACTER
        elif options.escapes is Escapes.UNICODE:
            character = self.spelling.unicode_character
        values = ("object", "array", "string", "number", "boolean")
        self._patterns = {
            "ws": gap,
            "character": character,
            "string": f'"{character}*"',
            "whole": integers(None),
            "integer": integers(None) + self.whole_fraction,
            "number": integers(None) + behind,
            "escape": self.spelling.escape,
            "name_rest": f'{self.spelling.character}*"',
            "other_name": self.spelling.with_needless or "",
        }
        self._rules: dict[str, ir.Node] = {
            "comma": sequence(before, comma, self.gap),
            "colon": sequence(before, colon, after_name),
            "int64_high": alternation(map(_regex, _HIGH)),
            "int64_low": alternation(
                [sequence(text("-"), self.calls["int64_high"]), text(str(LOWEST))]
            ),
            "boolean": alternation([text("true"), text("false")]),
            "value": alternation([*map(self.calls.__getitem__, values), text("null")]),
            "object": enclosed("{", "}", self._any("member"), self.gap),
            "array": enclosed("[", "]", self._any("value"), self.gap),
            "member": sequence(self.calls["string"], self.colon, self.calls["value"]),
        }
        if self.are_bounded:
            self._rules |= self._bounded_numbers(behind)
        self._needed: dict[str, tuple[str, ...]] = {}
        self._bodies: dict[str, ir.Node] = {}

    def _spelling(self, options: Options) -> Spelling:
        letters = LETTERS if options.allowed_escapes is None else options.allowed_escapes
        return Spelling(letters, options.standard is Standard.LLGUIDANCE)

    def _behind(self, fraction: str, exponent: str) -> str:
        """Return the regular expression of the fraction and exponent of a number."""
        return rf"(?:\.{fraction})?(?:{exponent})?"

    def string(self, form: ir.Node) -> ir.Node:
        """Return a string, with its end, where a value is."""
        return form if self.before_scalar is EMPTY else sequence(self.before_scalar, form)

    def scalar(self, form: ir.Node) -> ir.Node:
        """Return another scalar where a value is."""
        return form if self.before_scalar is EMPTY else self.string(self.ended(form))

    def ended(self, form: ir.Node, *, is_key: bool = False) -> ir.Node:
        """Return a scalar with the text that must be after it."""
        end = self.ends[is_key]
        return sequence(form, text(end)) if end else form

    def item(self, form: ir.Node) -> ir.Node:
        """Return an item of an array."""
        return form if self.before_item is EMPTY else sequence(self.before_item, form)

    def enclosed(self, opening: str, closing: str, content: ir.Node, gap: ir.Node) -> ir.Node:
        """Return an array or object with ``content``, with gaps inside."""
        return enclosed(opening, closing, content, gap)

    def takes_number(self, written: str) -> bool:
        """Return whether the text of a number in a schema is one of the syntax."""
        del written
        return True

    def plain(self, part: Restricted, budget: Budget) -> ir.Node | None:
        """Return the strings of a set that may be written without quotes; None for none."""
        del part, budget
        return None

    def _bounded_numbers(self, behind: str) -> dict[str, ir.Node]:
        """Return the rules of integers of 64 bits, and of numbers: those with ``behind``."""
        high, low = self.calls["int64_high"], self.calls["int64_low"]
        whole = alternation([_regex(SHORT_WHOLE), high, low])
        integer = whole
        if self.whole_fraction:
            integer = sequence(self.calls["whole"], _regex(self.whole_fraction))
        first = self.calls["whole" if self.whole_fraction else "integer"]
        number = sequence(first, _regex(behind))
        return {"whole": whole, "integer": integer, "number": number}

    def rule(self, name: str) -> ir.Node:
        """Return a rule as somebody reads it."""
        if name not in self._rules:
            self._rules[name] = _regex(self._patterns[name])
        return self._rules[name]

    def _any(self, name: str) -> ir.Node:
        return listed(self.calls[name], self.comma, 0, None)

    def needed(self, name: str) -> tuple[str, ...]:
        """Return a rule and those that it needs, in the order of their first calls."""
        if name not in self._needed:
            found: dict[str, None] = {}
            pending = [name]
            while pending:
                here = pending.pop()
                if here not in found:
                    found[here] = None
                    called = [each.nonterminal for each in ir.calls(self.rule(here))]
                    pending.extend(each.removeprefix(self._prefix) for each in reversed(called))
            self._needed[name] = tuple(found)
        return self._needed[name]

    def body(self, name: str) -> ir.Node:
        """Return the meaning of a rule: its automaton, unless it contains values."""
        if name not in self._bodies:
            for each in reversed(self.needed(name)):
                if each not in self._bodies:
                    self._bodies[each] = self._meaning(each)
        return self._bodies[name]

    def _meaning(self, name: str) -> ir.Node:
        body = self.rule(name)
        if "value" in self.needed(name) or isinstance(body, ir.Regular):
            return body
        try:
            return ir.Regular(automaton_of(body, self._callee, _STATES), NOWHERE)
        except LimitError:
            return body

    def _callee(self, name: str) -> Dfa:
        body = self.body(name.removeprefix(self._prefix))
        if isinstance(body, ir.Regular):
            return body.dfa
        raise LimitError("states", _STATES)


json_rules = lru_cache(maxsize=16)(Shared)
"""A process keeps those of 16 options; made anew for each schema, first masks take 1.3 times as
long."""


class Prelude:
    """The shared rules that are in use, by name; asking for one adds what it needs."""

    def __init__(
        self,
        options: Options,
        prefix: str,
        *,
        has_whole_fractions: bool = False,
        rules_of: Callable[[Options, str, bool], Shared] = json_rules,
    ) -> None:
        self._shared = rules_of(options, prefix, has_whole_fractions)
        self.whole_fraction = self._shared.whole_fraction
        self.has_bounded_digits = self._shared.are_bounded
        # Whether the characters of any string are spelt as those of a pattern.
        self.is_canonical = self._shared.is_canonical
        self.has_exact_decimals = options.standard is Standard.LLGUIDANCE
        self.spelling = self._shared.spelling
        self.rules: dict[str, ir.Node] = {}

    def use(self, name: str) -> ir.Call:
        """Return a call of a shared rule."""
        if name not in self.rules:
            shared = self._shared
            for each in shared.needed(name):
                self.rules.setdefault(each, shared.rule(each))
        return self._shared.calls[name]

    def automaton(self, name: str) -> Dfa:
        """Return the automaton of a shared rule that has one."""
        body = self._shared.body(name)
        assert isinstance(body, ir.Regular)  # noqa: S101 - none contains values
        return body.dfa

    def bodies(self) -> dict[str, ir.Node]:
        """Return the meanings of the rules in use, by name without a prefix, in one order."""
        return {name: self._shared.body(name) for name in ORDER if name in self.rules}

    @property
    def gap(self) -> ir.Node:
        """The whitespace between two tokens."""
        return self._used("ws", self._shared.gap)

    @property
    def comma(self) -> ir.Node:
        """A comma and its gaps."""
        return self._used("comma", self._shared.comma)

    @property
    def colon(self) -> ir.Node:
        """A colon and its gaps."""
        return self._used("colon", self._shared.colon)

    def _used(self, name: str, form: ir.Node) -> ir.Node:
        """Return what stands for a rule: its call, or, where there are no gaps, a form."""
        return self.use(name) if form is self._shared.calls[name] else form

    def enclosed(self, opening: str, closing: str, content: ir.Node) -> ir.Node:
        """Return an array or object with ``content``."""
        return self._shared.enclosed(opening, closing, content, self.gap)

    def value(self, name: str) -> ir.Node:
        """Return a call of the shared rule of a type where a value is."""
        form = self.use(name)
        if name in ("value", "object", "array"):
            return form
        return self.string(form) if name == "string" else self.scalar(form)

    def string(self, form: ir.Node) -> ir.Node:
        """Return a string, with its end, where a value is."""
        return self._shared.string(form)

    def ended(self, form: ir.Node, *, is_key: bool) -> ir.Node:
        """Return a scalar with the text that must be after it."""
        return self._shared.ended(form, is_key=is_key)

    def any_string(self, *, is_key: bool) -> ir.Node:
        """Return any string, with its end."""
        return self.use("other_name" if self._shared.ends[is_key] and is_key else "string")

    def scalar(self, form: ir.Node) -> ir.Node:
        """Return a scalar where a value is."""
        return self._shared.scalar(form)

    def item(self, form: ir.Node) -> ir.Node:
        """Return an item of an array."""
        return self._shared.item(form)

    def takes_number(self, written: str) -> bool:
        """Return whether the text of a number in a schema is one of the syntax."""
        return self._shared.takes_number(written)

    def plain(self, part: Restricted, budget: Budget) -> ir.Node | None:
        """Return the strings of a set that may be written without quotes; None for none."""
        return self._shared.plain(part, budget)


_NO_NAME = re.compile(r"_*[^A-Za-z0-9_]+_*")
_LONGEST = 48


class Names(FreshNames):
    """Generates unique identifiers that begin with ``prefix``."""

    def __init__(self, prefix: str, reserved: frozenset[str]) -> None:
        super().__init__(prefix + name for name in reserved)
        self._prefix = prefix

    def fresh(self, hint: str) -> str:
        """Return an identifier like ``hint`` that was not given out before."""
        base = _NO_NAME.sub("_", hint).strip("_")[:_LONGEST] or "rule"
        return super().fresh(f"{self._prefix}_{base}" if base[0].isdigit() else self._prefix + base)


def last_step(pointer: str) -> str:
    """Return the name that a JSON Pointer ends with, of a definition or property."""
    return steps_of(pointer)[-1]


def is_definition(pointer: str) -> bool:
    """Return whether a pointer names a definition."""
    return pointer.rpartition("/")[0].endswith(("/$defs", "/definitions"))


@dataclass(slots=True, eq=False, repr=False)
class Property(Notation):
    """A named member of an object, a sequence whose last part is the value.

    ``schema`` is that of the value, or the schema of the object that has it in ``properties``;
    ``column`` is that of its line, in a syntax with columns.
    """

    name: str
    schema: Expression | Place
    column: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Value(Notation):
    """A value that is written where it is in another one, and its schema."""

    schema: Ref


class Rules(dict[str, Node]):
    """The rules of the schemas of one document; all names begin with ``prefix``.

    ``owner`` is the schema that rules are added for, ``copies`` are the rules that each was made
    from, in a syntax with columns.
    """

    def __init__(self, schemas: Schemas, prefix: str, start: str) -> None:
        super().__init__()
        self.schemas = schemas
        self.budget = schemas.budget
        self.owners: dict[str, Expression] = {}
        self.copies: dict[str, str] = {}
        self.owner: Expression = ANYTHING
        self.current: Expression = ANYTHING
        self.inner: Ref | None = None
        self._most = schemas.limits.rules
        self._names = Names(prefix, NAMES | {start})

    def fresh(self, hint: str) -> str:
        """Return a name like ``hint`` that no rule has."""
        return self._names.fresh(hint)

    def add(self, name: str, node: Node) -> None:
        """Add or replace a rule. Raises ProblemError beyond the limit of rules."""
        self[name] = node
        self.owners[name] = self.owner
        if len(self) > self._most:
            raise too_large("rules", self._most, "rules", self.pointer())

    def write(self, expression: Expression) -> None:
        """Go on with the rule of another schema."""
        self.current = self.owner = expression
        self.inner = expression if isinstance(expression, Ref) else None

    def pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the schema being written, or of a keyword of it."""
        return self._pointer_in(self.current, keyword)

    def inner_pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the value being written, or of a keyword of its schema."""
        if self.inner is None:
            return self.pointer(keyword)
        place = self.schemas.document.place(self.inner)
        return place.pointer + (f"/{keyword}" if keyword and keyword in place.contents else "")

    def note(self, problem: Problem) -> None:
        """Note a problem of a keyword, its pointer, of the value being written."""
        placed = problem._replace(pointer=self.inner_pointer(problem.pointer))
        self.schemas.notes.append(placed)

    def pointers_of(self, names: Iterable[str], rules: Mapping[str, Node]) -> dict[str, str]:
        """Return the JSON Pointers of rules: of the schema of each, or of the first that calls it.

        ``rules`` are the meanings of all.
        """
        callers: dict[str, str] = {}
        for rule, body in rules.items():
            for each in calls(body):
                callers.setdefault(each.nonterminal, rule)
        found: dict[str, str] = {}
        for name in names:
            at, way = name, {name: None}
            while at not in self.owners and at not in found and callers.get(at, at) not in way:
                at = callers[at]
                way[at] = None
            known = found[at] if at in found else self._pointer_in(self.owners.get(at, ANYTHING))
            found.update(dict.fromkeys(way, known))
        return found

    def _pointer_in(self, expression: Expression, keyword: str = "") -> str:
        inner = [expression, *getattr(expression, "parts", ())]
        places = [self.schemas.document.place(e) for e in inner if isinstance(e, Ref)]
        for place in places:
            if keyword and keyword in place.contents:
                return f"{place.pointer}/{keyword}"
        return places[0].pointer if places else ""
