r"""Weights: the costs of edits, by the characters that they insert, delete or replace.

Costs are small where people and models err (a bracket, a quote, a comma, a blank, a comment) and
grow with the length of the data that would be made up or lost. ``docs/repair.md`` has the tables
for users.

A table has prices of single characters, and *rewrites*: regular expressions with their
replacements. A regular expression sees the text around the match, so a rewrite can depend on it: a
zero is superfluous only before another digit, and ``None`` only as a whole word. A rewrite applies
at the position of an edit, and outside or inside of free text: ``//`` begins a comment between the
members of an object, and belongs to a URL in a string.

Tests: tests/unit/repair/test_reported.py, tests/property/test_repair.py
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from kbnf_core.text.errors import ConfigError

ANYWHERE, OUTSIDE, INSIDE = range(3)
"""Where a rewrite applies: everywhere, or only outside or inside of free text."""

Written: TypeAlias = bytes | Callable[[re.Match[bytes]], bytes]


class Rewrite(NamedTuple):
    r"""Text that another text replaces.

    ``pattern``: a regular expression over bytes; it matches at the position of the edit, at least
    one byte, and may look around, but has no backreferences. Repeats need bounds where a text could
    make them long: the search asks at every position. ``written``: the replacement, a template as
    of ``re.sub``, or a function of the match. ``cost``: a rewrite that adds bytes applies only if
    it costs at least a quarter of ``Weights.forced`` for each. ``where``: ``ANYWHERE``,
    ``OUTSIDE`` or ``INSIDE`` of free text. ``strips``: the text is beside the data, as a comment
    is; it is reported as lost. ``byte_cost``: of a match that is data, which is lost: the cost of
    each byte, beside ``cost``. ``uncertain``: the rewrite decides where a value begins or ends.
    """

    pattern: bytes
    written: Written
    cost: float
    where: int = ANYWHERE
    strips: bool = False
    byte_cost: float = 0.0
    uncertain: bool = False


_WORD = rb"(?<![\w\x80-\xff\\-])[\w\x80-\xff][\w\x80-\xff-]*"
"""A whole word: letters, digits, ``_`` and ``-``."""

_JSON_WORD = rb"(?<![\w\x80-\xff\\.+-])[.+-]*[\w\x80-\xff][\w\x80-\xff.+-]*"
"""A whole word or number."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A table of costs.

    ``words``: ASCII characters that count as letters, beside letters and digits: in JSON those of
    numbers. ``sign`` and ``blank``: to insert or delete one (ASCII other than letters). ``joined``:
    to delete a sign or a blank between two letters, if the grammar allows other bytes than the
    second one there: the word that results is not in the text, so it is invented. ``noise``: to
    delete a letter that does not fit. ``forced``: to insert a letter if the grammar allows no other
    byte. ``chosen``: to insert another one, or anything in free text: data is made up. ``content``:
    to delete a letter that fits, or anything in free text: data is lost. ``swapped``: to swap two
    neighbouring characters; in free text it costs as ``content``. ``around``: to delete all text
    before the first byte that is kept, or all text after the last; beside this 0.002 a byte. The
    repaired text must begin, or end, with a byte of the given one. ``closed``: to add at the end of
    the text a byte that is neither chosen nor a quote. ``opened``: beside ``sign``, a quote outside
    of free text, before a character that is not a letter. ``marker``: the minimum for an edit of
    free text that may end, or that begins a text, and that leads out of it, as the marker before a
    call does: the call would become free text. ``rewrites``: see ``Rewrite``.

    To replace a character costs 0.1 more than the dearer of deleting it and inserting the other; to
    replace a letter by a sign or a blank at least ``joined``. A character beyond ASCII counts as
    one letter; to insert it costs beside this a quarter of ``forced`` for each byte after the
    first.
    To close a text that was cut costs 0.001 a byte, at most 0.05: less than any edit.
    """

    words: bytes = b""
    sign: float = 1.0
    blank: float = 0.5
    joined: float = 1.5
    noise: float = 1.0
    forced: float = 0.5
    chosen: float = 3.0
    content: float = 3.0
    swapped: float = 1.0
    around: float = 2.5
    closed: float = 0.3
    opened: float = 1.5
    marker: float = 9.0
    rewrites: tuple[Rewrite, ...] = ()

    def __post_init__(self) -> None:
        names = [name for name in self.__slots__ if name not in ("words", "rewrites")]
        prices = [getattr(self, name) for name in names] + [
            rewrite.cost for rewrite in self.rewrites
        ]
        if not all(_LEAST <= price <= _MOST for price in prices):
            raise ConfigError(f"a cost of an edit is from {_LEAST} to {_MOST:,}")
        for rewrite in self.rewrites:
            try:
                re.compile(rewrite.pattern)
            except re.error as error:
                raise ConfigError(
                    f"the pattern {rewrite.pattern!r} of a rewrite: {error}"
                ) from None


_LEAST, _MOST = 0.1, 1_000_000


class Rewriter:
    """Finds the rewrites of a table in a text, ``OUTSIDE`` or ``INSIDE`` of free text.

    Most positions have none, which one expression for all rows decides; another one returns the
    rows that match.
    """

    def __init__(self, rewrites: tuple[Rewrite, ...], where: int, text: bytes) -> None:
        self._text, self._rewrites = text, rewrites
        self._any, self._all, self._rows = _compiled(rewrites, where)

    def at(self, position: int) -> list[tuple[int, int, bytes]]:
        """Return the number of each rewrite that applies, the end of its match, and its text."""
        result: list[tuple[int, int, bytes]] = []
        if self._any.match(self._text, position) is None:
            return result
        spans = cast("re.Match[bytes]", self._all.match(self._text, position)).regs
        for number, group, pattern, written in self._rows:
            if spans[group][1] > position:
                match = cast("re.Match[bytes]", pattern.match(self._text, position))
                text = written(match) if callable(written) else match.expand(written)
                result.append((number, match.end(), text))
        return result

    def is_uncertain(self, position: int, end: int, written: bytes) -> bool:
        """Return whether all rewrites of a span as ``written`` are uncertain."""
        return all(
            self._rewrites[number].uncertain
            for number, *result in self.at(position)
            if result == [end, written]
        )


@lru_cache(maxsize=16)
def _compiled(
    rewrites: tuple[Rewrite, ...], where: int
) -> tuple[re.Pattern[bytes], re.Pattern[bytes], list[tuple[int, int, re.Pattern[bytes], Written]]]:
    """Return expressions for any and for all rewrites; and each with its number and group.

    Compiling the table of JSON takes 6 ms, a text of 1 KB 2 ms.
    """
    rows: list[tuple[int, int, re.Pattern[bytes], Written]] = []
    patterns: list[bytes] = []
    group = 1
    for number, rewrite in enumerate(rewrites):
        if rewrite.where in (ANYWHERE, where):
            pattern = re.compile(rewrite.pattern)
            rows.append((number, group, pattern, rewrite.written))
            patterns.append(rewrite.pattern)
            group += 1 + pattern.groups
    any_of = b"|".join(b"(?:%b)" % rewrite for rewrite in patterns) or b"(?!)"
    return re.compile(any_of), re.compile(b"".join(b"(?=(%b))?" % p for p in patterns)), rows


def _escaped(match: re.Match[bytes]) -> bytes:
    """Return a control character as JSON escapes it."""
    return json.dumps(match[0].decode()).encode()[1:-1]


def _requoted(match: re.Match[bytes]) -> bytes:
    """Return a string in quotes of another kind as JSON writes it."""
    text = re.sub(
        rb"\\(['`])|(\\.)|\"", lambda character: character[1] or character[2] or rb"\"", match[1]
    )
    return b'"' + text + b'"'


def _quoted(match: re.Match[bytes]) -> bytes:
    """Return text as a string of JSON."""
    return json.dumps(match[0].decode("utf-8", "replace"), ensure_ascii=False).encode()


def _plain(match: re.Match[bytes]) -> bytes:
    r"""Return the character of an escape like ``\u00e9`` as JSON spells it without."""
    text = json.loads(b'"' + match[0] + b'"')
    return json.dumps(text, ensure_ascii=False).encode()[1:-1]


_BLANKS = (
    # A run of blanks costs as one, and two words stay apart.
    Rewrite(rb"\s{2,99}", b" ", 0.6, OUTSIDE),
    Rewrite(rb"(?<![\w\x80-\xff])\s{2,99}|\s{2,99}(?![\w\x80-\xff])", b"", 0.6, OUTSIDE),
)

ANY = Weights(
    rewrites=(
        Rewrite(_WORD, rb'"\g<0>"', 1.5, OUTSIDE),
        Rewrite(_WORD, rb"'\g<0>'", 1.5, OUTSIDE),
        *_BLANKS,
    )
)
"""For any language."""


def _any_of(characters: str) -> bytes:
    return b"(?:" + b"|".join(character.encode() for character in characters) + b")"


def _outside(
    pattern: bytes,
    written: Written,
    cost: float,
    *,
    strips: bool = False,
    other: float = 0.0,
    uncertain: bool = False,
) -> Rewrite:
    """Return a rewrite outside of free text, and not in an escape, which is not free either."""
    return Rewrite(rb"(?<!\\)(?:%b)" % pattern, written, cost, OUTSIDE, strips, other, uncertain)


def _inside(pattern: bytes, written: Written, cost: float) -> Rewrite:
    """Return a rewrite in free text that decides where it ends."""
    return Rewrite(pattern, written, cost, INSIDE, uncertain=True)


_UNUSUAL_BLANKS = "\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200E))
)

_QUOTES = "'", "`'\xb4", "\u2018\u2019\u201a\u201b", "\u201c\u201d\u201e\u201f"
"""The kinds of quotes that are not JSON's; each kind begins and ends a string."""

_NOT_QUOTED = rb"(?!\xe2\x80[\x98-\x9f]|\xc2\xb4)"
"""Not before a typographic quote."""

_TEXT = _NOT_QUOTED + rb"(?<![\w\x80-\xff\\-])[^\s\"'`\\{}\[\](),:;#\x00-\x1f]"
"""Where text without quotes begins."""

_ENDS = rb"(?=\s{0,99}(?:[,:}\])]|\Z))"
"""Before the end of a value or a name."""

_LINE_END = rb"[ \t]{0,99}(?:/[*/][^\n]{0,200})?\r?\n"
"""The end of a line, with a comment."""

_COMMENT = rb"(?:(?<![/:])//|(?<![^\s,{}\[\]])#)"

_MEMBER = (
    rb'"[^"\\]{0,99}"\s{0,9}:\s{0,99}'
    rb'(?:"(?:[^"\\]|\\.){0,999}"|[\w.+-]{1,99}|\[[^][{}"]{0,999}\]|\{\s{0,99}\})'
)
"""A member of an object with a value that has no members."""

_CODE_POINT = (
    rb"\\u(?:(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}"
    rb"|[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})"
)

JSON = replace(
    ANY,
    words=b".+-\\",
    rewrites=(
        # Words and other text without quotes.
        _outside(_NOT_QUOTED + _JSON_WORD, rb'"\g<0>"', 0.6),
        _outside(
            _TEXT + rb"[^\s\"\\,{}\[\]\x00-\x1f]{1,200}" + _ENDS,
            rb'"\g<0>"',
            0.7,
        ),
        _outside(
            _TEXT + rb"[^\"\\,{}\[\]\x00-\x1f]{0,200}[^\s\"\\,{}\[\]\x00-\x1f]",
            rb'"\g<0>"',
            1.6,
            uncertain=True,
        ),
        _outside(rb"/(?![*/])[^/\n]{0,200}(?:\\/[^/\n]{0,200}){0,9}/", _quoted, 0.6),
        # Quotes of other kinds, in pairs and alone, and doubled ones.
        *(
            _outside(
                rb"%b((?:\\.|(?<=\w)'(?=\w)|(?!%b)[^\\\n]){0,999})%b%b"
                % (quote, quote, quote, _ENDS),
                _requoted,
                0.3,
            )
            for quote in map(_any_of, _QUOTES)
        ),
        Rewrite(rb"(?<![`\\])(?!``)" + _any_of("".join(_QUOTES)), b'"', 0.8, uncertain=True),
        _outside(
            rb"""\"\"(?![\s,:}\]])([^"\n]{0,200})\"\"|''(?![\s,:}\]])([^'\n]{0,200})''""",
            rb'"\1\2"',
            0.3,
        ),
        _outside(rb"""(?:"{2,3}|'{2,3})(?=[\w\x80-\xff])""", b'"', 0.6, uncertain=True),
        # Literals of Python and JavaScript.
        _outside(rb"\b(?:None|NONE|Null|NULL|nil|undefined|NaN)\b", b"null", 0.4),
        _outside(rb"\b(?:True|TRUE)\b", b"true", 0.4),
        _outside(rb"\b(?:False|FALSE)\b", b"false", 0.4),
        # Numbers: .5, -.5, 5., +5, 007, 1_000.
        _outside(rb"(?<![\w.])\.(?=\d)", b"0.", 0.4),
        _outside(rb"(?<=\d)\.(?![\w.])", b"", 0.4),
        _outside(rb"(?<![\w.])\+(?=[\d.])", b"", 0.4),
        _outside(rb"(?<![\w.])0+(?=\d)", b"", 0.4),
        _outside(rb"(?<=\d)_(?=\d)", b"", 0.4),
        # Members with names that the grammar does not allow there.
        _outside(rb",\s{0,99}" + _MEMBER + rb"(?=\s{0,99}[,}])", b"", 3.0, other=0.02),
        _outside(_MEMBER + rb"\s{0,99},\s{0,99}", b"", 3.0, other=0.02),
        # Quotes in strings: those between two words that both have quotes are the cheapest, those
        # that are likely to begin or to end a string the dearest.
        _inside(rb'(?<=\w)"(?=\s"\w)|(?<=\w"\s)"(?=\w)', rb'\\"', 0.42),
        _inside(rb'(?<![{\[])"(?!\s{0,99}[,:}\]]|' + _LINE_END + rb")", rb'\\"', 0.7),
        _inside(
            rb'(?<=[{\[])"|"(?=\s{0,99}(?:[:}\]]|,(?!\s{0,99}"[^"\\]{0,99}"\s{0,9}:)))',
            rb'\\"',
            0.9,
        ),
        _inside(rb'"(?=' + _LINE_END + rb")", rb'\\"', 1.4),
        _inside(rb'"(?=\s{0,99},\s{0,99}"[^"\\]{0,99}"\s{0,9}:)', rb'\\"', 2.5),
        # Strings that are joined by a plus.
        _inside(rb"(?<!\\)[\"'`]\s{0,99}\+\s{0,99}[\"'`]", b"", 0.3),
        # Characters that have to be escaped in strings, and those that must not be.
        _inside(rb"\\", rb"\\\\", 0.7),
        Rewrite(rb"\\?\n", rb"\\n", 0.4, INSIDE),
        Rewrite(rb"\r", rb"\\r", 0.4, INSIDE),
        Rewrite(rb"\t", rb"\\t", 0.4, INSIDE),
        Rewrite(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", _escaped, 0.7, INSIDE),
        Rewrite(rb"\\(?=['`/])", b"", 0.2, INSIDE),
        Rewrite(_CODE_POINT, _plain, 0.2, INSIDE),
        Rewrite(rb"\\(?:u[0-9A-Fa-f]{0,3})?\Z", b"", 0.2, INSIDE, strips=True),
        # JSON that is itself in a string.
        Rewrite(rb'\\{1,9}"', b'"', 0.4, uncertain=True),
        _inside(rb'\\{2,9}"', rb'\\"', 0.4),
        _outside(rb"\\{1,9}[nrt]", b" ", 0.6),
        # Commas before a closing bracket, and between strings; ellipses.
        _outside(rb"(?<=\")\s{1,99}(?=\")", rb",\g<0>", 0.8),
        _outside(rb"[ \t]{0,99}\r?\n(?=\s{0,99}[\w\"'{\[])", rb",\g<0>", 0.3),
        _outside(rb",(?=\s{0,99}[}\]])", b"", 0.6),
        _outside(rb",?\s{0,99}(?:\.\.\.|\xe2\x80\xa6)", b"", 0.6),
        # Parentheses: lists, groups, and calls like ObjectId("5").
        _outside(rb"\(", b"[", 0.4),
        _outside(rb"\)", b"]", 0.2),
        _outside(rb"\(", b"", 0.6),
        _outside(rb"\);?", b"", 0.4),
        _outside(rb"\b[A-Za-z_][\w.]{0,60} ?\(", b"", 0.6, strips=True),
        # Comments: to the end of the line, or before a bracket or a quote.
        _outside(rb"(?s:/\*.{0,2000}?(?:\*/|\Z))", b"", 0.6, strips=True),
        _outside(_COMMENT + rb"[^\n]{0,2000}(?=\n)", b"", 0.6, strips=True),
        _outside(_COMMENT + rb"[^\n\"'{}\[\]]{0,2000}", b"", 0.7, strips=True),
        # Fences, and blanks.
        _outside(rb"\s{0,99}`{3,9}[A-Za-z0-9]{0,20}\s{0,99}", b"", 0.6),
        _outside(_any_of(_UNUSUAL_BLANKS), b"", 0.2),
        *_BLANKS,
    ),
)
"""For JSON, and for texts with JSON in them."""
