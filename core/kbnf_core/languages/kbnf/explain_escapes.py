"""Explains what is no escape in a quoted text."""

import re

from kbnf_core.diagnostics import Diagnostic, Edit, Fix
from kbnf_core.languages.kbnf.escapes import Piece
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import shown

_PAIR = re.compile(r"\\u(?P<first>[0-9a-fA-F]{4})\\u(?P<second>[0-9a-fA-F]{4})")
_HALF = re.compile(r"\\u\{?0*[dD][89a-fA-F][0-9a-fA-F]{2}\}?")
_LONG = re.compile(r"U(?P<digits>[0-9a-fA-F]{8})")

_FORMS = {
    "x": ("`\\x` takes two hexadecimal digits", "write `\\x41`"),
    "u": ("`\\u` takes four hexadecimal digits", "write `\\u0041` or `\\u{41}`"),
}
_SPELLINGS = {"a": "\\x07", "v": "\\x0b", "e": "\\x1b"}


def bad_escape(source: Source, piece: Piece, in_regex: bool) -> Diagnostic:
    """Return the finding (E007) for a piece of a quoted text that spells nothing."""
    span, written = piece.span, source.slice(piece.span)
    pair = _PAIR.fullmatch(written)
    if pair is not None:
        return _pair(source, span, int(pair["first"], 16), int(pair["second"], 16))
    if _HALF.fullmatch(written):
        message = f"{shown(written)} is half of a surrogate pair"
        return _finding(source, span, message, "write the number of the character: `\\u{1f600}`")
    if written.startswith("\\u{"):
        return _finding(source, span, f"{shown(written)} is beyond the last character", "")
    if written[1] in _FORMS:
        return _finding(source, span, *_FORMS[written[1]])
    return _doubled(source, span, written) if in_regex else _unknown(source, span, written)


def _finding(source: Source, span: Span, message: str, help_: str) -> Diagnostic:
    return Diagnostic("E007", message, source, span, helps=(help_,) if help_ else ())


def _pair(source: Source, span: Span, high: int, low: int) -> Diagnostic:
    """Explain a character spelled as JSON does it; the arithmetic is UTF-16's."""
    text = f"\\u{{{0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00:x}}}"
    message = f"{shown(source.slice(span))} is a surrogate pair, not a character"
    return _replaced(source, span, span, text, message)


def meant_for_regex(source: Source, piece: Piece) -> Diagnostic:
    r"""Return the finding for ``\b`` in a pattern whose other backslashes are the regex's."""
    written = source.slice(piece.span)
    name = {"\b": "a backspace", "\f": "a form feed"}[piece.value or ""]
    return _doubled(source, piece.span, written, f"{shown(written)} is {name} here")


def _doubled(source: Source, span: Span, written: str, message: str = "") -> Diagnostic:
    r"""Explain ``#"\\d"``, where the backslash is meant for the regex."""
    place = Span(span.start, span.start)
    fix = Fix("double the backslash", (Edit(place, "\\"),))
    help_ = (
        f"write {shown(chr(92) + written)}, because string escapes are decoded before the regex;"
        ' or a raw pattern, `#r"..."`'
    )
    message = message or f"{shown(written)} is no escape"
    return Diagnostic("E007", message, source, span, helps=(help_,), fixes=(fix,))


def _unknown(source: Source, span: Span, written: str) -> Diagnostic:
    message = f"{shown(written)} is no escape"
    letter = written[1]
    long = _LONG.match(source.text, span.start + 1)
    if long is not None:
        whole = Span(span.start, long.end())
        return _replaced(source, span, whole, f"\\u{{{int(long['digits'], 16):x}}}", message)
    if letter in _SPELLINGS:
        return _replaced(source, span, span, _SPELLINGS[letter], message)
    if letter in "dDwWsS":
        help_ = f'a character class needs a regex: `#"\\\\{letter}"`'
        return _finding(source, span, message, help_)
    return _finding(source, span, message, "a backslash itself is written `\\\\`")


def _replaced(source: Source, span: Span, whole: Span, text: str, message: str) -> Diagnostic:
    fix = Fix(f"write `{text}`", (Edit(whole, text),))
    return Diagnostic("E007", message, source, span, helps=(f"write `{text}`",), fixes=(fix,))
