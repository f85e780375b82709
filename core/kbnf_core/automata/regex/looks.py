"""Assertions: which kinds of characters stand on both sides of a place.

All assertions here depend on the *kind* of the character before and after: none (the edge of
the text), line feed, carriage return, ASCII word character, any other.
"""

from kbnf_core.automata.codepoints import ANY, CodePoints, difference, union
from kbnf_core.automata.regex.perl import perl_class
from kbnf_core.automata.regex.syntax import Look

EDGE, LINE_FEED, RETURN, WORD, OTHER = range(5)
KINDS = range(5)

_LF: CodePoints = ((0x0A, 0x0A),)
_CR: CodePoints = ((0x0D, 0x0D),)
_WORD = perl_class("w", unicode=False)

KIND_SETS: tuple[CodePoints, ...] = (
    (),
    _LF,
    _CR,
    _WORD,
    difference(ANY, union(_LF, union(_CR, _WORD))),
)
"""The code points of each kind."""


def byte_kinds() -> bytes:
    """Return the kind of each byte; bytes beyond ASCII are of the other kind."""
    kinds = bytearray([OTHER] * 256)
    for kind in (LINE_FEED, RETURN, WORD):
        for low, high in KIND_SETS[kind]:
            kinds[low : high + 1] = bytes([kind] * (high + 1 - low))
    return bytes(kinds)


def holds(look: Look, before: int, after: int) -> bool:
    """Tell whether an assertion holds between two kinds of characters."""
    match look:
        case Look.START_TEXT:
            return before == EDGE
        case Look.END_TEXT:
            return after == EDGE
        case Look.START_LINE:
            return before in {EDGE, LINE_FEED}
        case Look.END_LINE:
            return after in {EDGE, LINE_FEED}
        case Look.START_LINE_CRLF:
            return before in {EDGE, LINE_FEED} or (before == RETURN and after != LINE_FEED)
        case Look.END_LINE_CRLF:
            return after in {EDGE, RETURN} or (after == LINE_FEED and before != RETURN)
        case _:
            return _word_look_holds(look, before == WORD, after == WORD)


def _word_look_holds(look: Look, before: bool, after: bool) -> bool:
    match look:
        case Look.WORD_BOUNDARY:
            return before != after
        case Look.NOT_WORD_BOUNDARY:
            return before == after
        case Look.WORD_START:
            return not before and after
        case Look.WORD_END:
            return before and not after
        case Look.WORD_START_HALF:
            return not before
        case _:
            return not after
