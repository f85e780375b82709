"""JSON texts as values: numbers are decimals, as they were written, and every string is a text.

By its syntax alone JSON may spell half of a surrogate pair (RFC 8259, 8.2). That is no character,
so no UTF-8 has it and nothing can generate it: such a text is refused where it is read.
"""

import json
import re
from decimal import Decimal
from typing import Any, TypeAlias

from kbnf_core.text.source import Span, half_of_pair

Json: TypeAlias = Any
"""A JSON value: numbers are decimals."""

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class NoJsonError(ValueError):
    """A text that is not JSON: ``reason``, and the ``span`` where it goes wrong."""

    def __init__(self, reason: str, span: Span) -> None:
        self.reason = reason
        self.span = span
        super().__init__(reason)


def parse_json(text: str) -> Json:
    """Return the value of a JSON text. Raises ``NoJsonError``."""
    try:
        value = json.loads(
            text, parse_float=Decimal, parse_int=Decimal, parse_constant=refuse_constant
        )
    except json.JSONDecodeError as error:
        end = len(text)
        span = Span(min(error.pos, end), min(error.pos + 1, end))
        raise NoJsonError(error.msg, span) from None
    except RecursionError:
        raise NoJsonError("it is nested too deeply", Span(0, 0)) from None
    refuse_halves(text)
    return value


def refuse_halves(text: str) -> None:
    """Raise ``NoJsonError`` where a JSON text has half of a surrogate pair, escaped or not."""
    span = half_of_pair(text)
    if span is None and ("\\ud" in text or "\\uD" in text):
        halves = (Span(*found.span()) for found in _ESCAPE.finditer(text) if found["half"])
        span = next(halves, None)
    if span is not None:
        found = text[span.start : span.end]
        spelt = found if found.isascii() else f"U+{ord(found):04X}"
        raise NoJsonError(f"`{spelt}` is half of a surrogate pair", span)


def refuse_constant(name: str) -> Json:
    """Raise ``NoJsonError`` for ``NaN`` and the like."""
    raise NoJsonError(f"it contains `{name}`", Span(0, 0))
