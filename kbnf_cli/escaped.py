"""How bytes are shown."""

from collections.abc import Iterable


def escaped(data: bytes) -> str:
    r"""Return ``data`` in quotes: text as it is, other bytes and control characters escaped.

    Bytes that are no UTF-8 are written ``\xHH``; so ``b"caf\xc3"`` is shown as ``"caf\xc3"``.
    """
    text = data.decode("utf-8", "surrogateescape")
    return '"' + "".join(map(_escape, text)) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SURROGATE_ESCAPE = 0xDC00


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if _SURROGATE_ESCAPE <= code < _SURROGATE_ESCAPE + 0x100:
        return f"\\x{code - _SURROGATE_ESCAPE:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


def describe_bytes(ranges: Iterable[tuple[int, int]]) -> str:
    """Return inclusive ranges of bytes as ``"a"-"z", "_", 0x80-0xbf``."""
    return ", ".join(_describe_range(low, high) for low, high in ranges) or "nothing"


def _describe_range(low: int, high: int) -> str:
    return _describe_byte(low) if low == high else f"{_describe_byte(low)}-{_describe_byte(high)}"


def _describe_byte(value: int) -> str:
    return escaped(bytes((value,))) if value < 0x80 else f"0x{value:02x}"
