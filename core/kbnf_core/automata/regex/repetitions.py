"""Repetition operators: ``?``, ``*``, ``+`` and counts in braces."""

from kbnf_core.automata.regex.problems import TOO_LARGE
from kbnf_core.automata.regex.reader import WHITE_SPACE, Reader

Bounds = tuple[int, int | None]
_SIMPLE: dict[str, Bounds] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


def read_repetition(reader: Reader) -> Bounds | None:
    """Read an operator and the ``?`` of its lazy form; None after a problem."""
    start = reader.index
    if reader.char == "{":
        bounds = _read_count(reader, start)
        reader.skip_space()
    else:
        bounds = _SIMPLE[reader.char]
        reader.index += 1
    reader.take("?")
    return bounds


def _read_count(reader: Reader, start: int) -> Bounds | None:
    """Read ``{m}``, ``{m,}`` or ``{m,n}``; white space may stand around the numbers."""
    reader.advance()
    low = high = _read_number(reader)
    bounded = True
    if reader.char == ",":
        reader.advance()
        # White space may follow the comma only where a number comes; so it is in Rust.
        bounded = reader.char != "}"
        high = _read_number(reader)
    if not reader.take("}"):
        reader.give_up(
            "this count is not closed with `}`", start, hint="write \\{ for the sign itself"
        )
    if low == "" or (bounded and high == ""):
        hint = f"write {{0,{high}}}" if high else ""
        reader.report("a number is expected in this count", start, hint=hint)
        return None
    return _check(reader, start, int(low), int(high) if bounded else None)


def _check(reader: Reader, start: int, low: int, high: int | None) -> Bounds | None:
    if high is not None and low > high:
        reader.report(f"the count runs backwards, from {low} to {high}", start)
        return None
    largest = low if high is None else high
    if largest > reader.limits.repetition:
        reader.report(
            f"{largest} repetitions are more than the limit of {reader.limits.repetition}",
            start,
            code=TOO_LARGE,
        )
        return None
    return low, high


def _read_number(reader: Reader) -> str:
    _skip_white_space(reader)
    digits = ""
    while reader.char and reader.char in "0123456789":
        digits += reader.char
        reader.advance()
    _skip_white_space(reader)
    # Python refuses to convert thousands of digits; so many are over any limit as well.
    return digits.lstrip("0")[:20] or digits[:1]


def _skip_white_space(reader: Reader) -> None:
    while reader.char in WHITE_SPACE:
        reader.advance()
