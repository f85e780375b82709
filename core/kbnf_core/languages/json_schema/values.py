"""JSON values as hashable data: what ``const`` and ``enum`` contain."""

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Constant:
    """Exactly one value, by its text without gaps; numbers are as they were written."""

    text: str

    @property
    def value(self) -> Any:
        """The value, with decimals for numbers."""
        return json.loads(self.text, parse_float=Decimal, parse_int=Decimal)

    @property
    def key(self) -> Hashable:
        """What equal values share, however they are written."""
        return key_of(self.value)


def key_of(value: Any) -> Hashable:
    """Return a key under which values equal in JSON Schema collide; truth values are no numbers."""
    if isinstance(value, list):
        return list, tuple(map(key_of, value))
    if isinstance(value, dict):
        return dict, frozenset((name, key_of(held)) for name, held in value.items())
    return isinstance(value, bool), value


def constant(value: Any) -> Constant:
    """Return a JSON value as it was read by ``document.read_json``."""
    return Constant("".join(_spell(value)))


def number_text(value: Decimal) -> str:
    """Return the shortest text of a number without an exponent; ``1.0`` becomes ``1``."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _spell(root: Any) -> Iterator[str]:
    """Yield the pieces of a text, without recursion."""
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, _Piece):
            yield value
        elif isinstance(value, dict):
            pending.extend(reversed(_members(value)))
        elif isinstance(value, list):
            parts = [part for item in value for part in (_Piece(","), item)]
            pending.extend([_Piece("]"), *reversed(parts[1:]), _Piece("[")])
        elif isinstance(value, bool) or value is None:
            yield json.dumps(value)
        elif isinstance(value, str):
            yield json.dumps(value, ensure_ascii=False)
        else:
            yield str(value)


class _Piece(str):
    """Text that is written as it is."""

    __slots__ = ()


def _members(value: dict[str, Any]) -> list[Any]:
    parts: list[Any] = [_Piece("{")]
    for count, (name, item) in enumerate(value.items()):
        comma = "," if count else ""
        parts += [_Piece(f"{comma}{json.dumps(name, ensure_ascii=False)}:"), item]
    return [*parts, _Piece("}")]
