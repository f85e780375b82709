r"""Escapes: bytes as they are shown, and as they are typed.

Typed text has the escapes of bnf_sampler's console: ``\t \n \r``; ``\xHH`` is one byte; ``\uHHHH``
and ``\u{H...}`` are a character; a backslash before anything else gives that character, so ``\:``,
``\#`` and ``\\`` type characters that have a meaning in the console.

Tests: tests/cli/test_escaped.py
"""

import re
from collections.abc import Iterable, Mapping, Set


def as_bytes(text: str) -> bytes:
    """Return an argument as the bytes that the shell passed."""
    return text.encode("utf-8", "surrogateescape")


def escaped(data: bytes) -> str:
    r"""Return ``data`` in quotes: text as it is, other bytes and control characters escaped.

    Invalid bytes are written ``\xHH``; so ``b"caf\xc3"`` is shown as ``"caf\xc3"``.
    """
    text = data.decode("utf-8", "surrogateescape")
    return '"' + "".join(map(_escape, text)) + '"'


def shown(data: bytes) -> str:
    r"""Return ``data`` on one line without quotes: as it is, where nothing has to be escaped."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join(character if character in '"\\' else _escape(character) for character in text)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SURROGATE_ESCAPE = 0xDC00


def _escape(character: str, escapes: Mapping[str, str] = _ESCAPES) -> str:
    if character in escapes:
        return escapes[character]
    if character.isprintable():
        return character
    code = ord(character)
    if _SURROGATE_ESCAPE <= code < _SURROGATE_ESCAPE + 0x100:
        return f"\\x{code - _SURROGATE_ESCAPE:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


_BYTES = 256
_ASCII = 0x80
_MANY = 64
"""ASCII characters of which those that lack are the shorter list."""

_UTF8_LEADS = frozenset(range(0xC2, 0xF5))
"""The bytes that characters beyond ASCII begin with."""


def describe_bytes(ranges: Iterable[tuple[int, int]]) -> str:
    """Return inclusive ranges of bytes as ``"a"-"z", "_", 0x80-0xbf``.

    Where most of them can occur it says which cannot: ``any byte but "a"``, and ``any character
    but "<"`` where those beyond ASCII are the first bytes of UTF-8.
    """
    result = list(ranges)
    members = {byte for low, high in result for byte in range(low, high + 1)}
    ascii_ = {byte for byte in members if byte < _ASCII}
    if members - ascii_ == _UTF8_LEADS:
        if len(ascii_) > _MANY:
            return _all_but("any character", set(range(_ASCII)) - ascii_)
        beyond = "any character beyond ASCII"
        return f"{_listed(byte_ranges(ascii_))}, {beyond}" if ascii_ else beyond
    if len(members) > _BYTES - _MANY:
        return _all_but("any byte", set(range(_BYTES)) - members)
    return _listed(result) or "nothing"


def _all_but(everything: str, missing: set[int]) -> str:
    return f"{everything} but {_listed(byte_ranges(missing))}" if missing else everything


def byte_ranges(members: Set[int]) -> list[tuple[int, int]]:
    """Return the inclusive ranges of some bytes, ascending."""
    starts = sorted(byte for byte in members if byte - 1 not in members)
    ends = sorted(byte for byte in members if byte + 1 not in members)
    return list(zip(starts, ends, strict=True))


_BLANKS = frozenset(b"\t\n\v\f\r ")


def are_blanks(ranges: Iterable[tuple[int, int]]) -> bool:
    """Return whether inclusive ranges contain blanks and nothing else."""
    return all(_BLANKS.issuperset(range(low, high + 1)) for low, high in ranges)


def _listed(ranges: Iterable[tuple[int, int]]) -> str:
    descriptions: list[str] = []
    # Blanks may come nearly everywhere, and say the least.
    for low, high in sorted(ranges, key=lambda bounds: are_blanks([bounds])):
        if low < _ASCII <= high:
            descriptions += (_describe_range(low, _ASCII - 1), _describe_range(_ASCII, high))
        else:
            descriptions.append(_describe_range(low, high))
    return ", ".join(descriptions)


_SHORT = 5
"""Signs that are listed one by one rather than as a range, whose order few know."""


def _describe_range(low: int, high: int) -> str:
    is_plain = all(chr(end).isalnum() or not 0x20 <= end < 0x7F for end in (low, high))
    if high - low < 2 or (not is_plain and high - low < _SHORT):
        return ", ".join(map(_describe_byte, range(low, high + 1)))
    return f"{_describe_byte(low)}-{_describe_byte(high)}"


def _describe_byte(value: int) -> str:
    return escaped(bytes((value,))) if value < 0x80 else f"0x{value:02x}"


_ESCAPE = re.compile(
    r"\\(?:x(?P<byte>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})|u\{(?P<long>[0-9a-fA-F]{1,6})\}"
    r"|(?P<bad>[xu]|\Z)|(?P<other>.))",
    re.DOTALL,
)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r"}
_WRITTEN = {sign: text for sign, text in _ESCAPES.items() if sign != '"'}
_LAST_CODE_POINT = 0x10FFFF


class TypingError(ValueError):
    """Something typed that has no meaning, with a sentence that says why."""


def read_typed(text: str) -> bytes:
    """Return the bytes that were typed; raise TypingError for an invalid escape."""
    chunks: list[bytes] = []
    done = 0
    for match in _ESCAPE.finditer(text):
        chunks += (_encode(text[done : match.start()]), _unescape(match))
        done = match.end()
    return b"".join((*chunks, _encode(text[done:])))


def _encode(text: str) -> bytes:
    # Arguments from the shell that are not UTF-8 stay the bytes that they were.
    return text.encode("utf-8", "surrogateescape")


def _unescape(match: re.Match[str]) -> bytes:
    if match["byte"] is not None:
        return bytes.fromhex(match["byte"])
    if match["bad"] is not None:
        raise TypingError(f"`{match[0]}` needs \\xHH, \\uHHHH, or \\\\ for a backslash")
    if match["other"] is not None:
        return _LETTERS.get(match["other"], match["other"]).encode("utf-8", "surrogateescape")
    code = int(match["short"] or match["long"], 16)
    if 0xD800 <= code < 0xE000 or code > _LAST_CODE_POINT:
        raise TypingError(f"`{match[0]}` is not a character")
    return chr(code).encode()


def write_typed(data: bytes) -> str:
    """Return the typed form of ``data`` in one line: ``read_typed`` gives it back.

    It is the one spelling of lines: what ``sample`` prints, ``play`` saves and runs, and with
    ``--escaped`` the commands for texts read and print.
    """
    text = "".join(
        _escape(character, _WRITTEN) for character in data.decode("utf-8", "surrogateescape")
    )
    if text.startswith((":", "#")):
        text = "\\" + text
    return text[:-1] + "\\x20" if text.endswith(" ") else text
