r"""Prints expressions as GBNF, in the escapes that all readers agree on.

Characters that are not printable are written ``\uHHHH`` or ``\UHHHHHHHH``: xgrammar reads any
number of digits behind ``\x``. Neighbouring single characters are one string.
"""

from collections.abc import Mapping

from kbnf_core.automata.codepoints import ANY, CodePoints, complement
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.expression import EMPTY, Choice, Repeat, Sequence, quantifier
from kbnf_core.languages.gbnf.writer.expression import (
    Call,
    Node,
    Token,
    alternation,
    repetition,
)

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_NUMBERED_IN_CLASS = frozenset("-^")
"""What a class has no escape for that all readers know."""


def print_gbnf(root: Node, names: Mapping[str, str]) -> str:
    """Return the text of ``root``; ``names`` tells how rules are called."""
    written: list[str] = []
    pending: list[str | Node] = [root]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            written.append(piece)
        elif isinstance(piece, Call):
            written.append(names[piece.name])
        elif isinstance(piece, Characters | Token):
            written.append(_leaf(piece))
        else:
            pending.extend(reversed(_pieces(piece)))
    return "".join(written)


def _pieces(node: Sequence[Node] | Choice[Node] | Repeat[Node]) -> list[str | Node]:
    match node:
        case Repeat():
            return [*_operand(node.body), quantifier(node.low, node.high)]
        case Choice():
            return [piece for item in node.branches for piece in (" | ", item)][1:]
        case _:
            return _sequence(node.parts)


def _sequence(items: tuple[Node, ...]) -> list[str | Node]:
    if not items:
        return ['""']
    pieces: list[str | Node] = []
    run = ""
    for item in (*items, None):
        single = _single(item)
        if single is not None:
            run += single
            continue
        if run:
            pieces += [" ", quote(run)]
            run = ""
        if item is not None:
            pieces += [" ", *_grouped(item, (Choice,))]
    return pieces[1:]


def _single(item: Node | None) -> str | None:
    """Return the character that ``item`` stands for, if it is just one."""
    if isinstance(item, Characters) and len(item.points) == 1:
        (low, high), *_ = item.points
        return chr(low) if low == high else None
    return None


def _operand(item: Node) -> list[str | Node]:
    return _grouped(item, (Choice, Sequence, Repeat))


def _grouped(item: Node, looser: tuple[type, ...]) -> list[str | Node]:
    if isinstance(item, Choice) and EMPTY in item.branches:
        item = repetition(alternation(part for part in item.branches if part is not EMPTY), 0, 1)
    return ["(", item, ")"] if isinstance(item, looser) else [item]


def _leaf(node: Characters | Token) -> str:
    if isinstance(node, Token):
        return node.written
    single = _single(node)
    return print_set(node.points) if single is None else quote(single)


def quote(value: str) -> str:
    """Return ``value`` as a string of GBNF."""
    return '"' + "".join('\\"' if char == '"' else _spell(char) for char in value) + '"'


def print_set(points: CodePoints) -> str:
    """Return one character of a set: ``.`` or a class."""
    if points == ANY:
        return "."
    rest = complement(points)
    if points[-1][1] == ANY[-1][1] and len(rest) <= len(points):
        return f"[^{_ranges(rest)}]"
    return f"[{_ranges(points)}]"


def _ranges(points: CodePoints) -> str:
    return "".join(_range(low, high) for low, high in points)


def _range(low: int, high: int) -> str:
    first, last = _member(low), _member(high)
    if low == high:
        return first
    return first + last if high == low + 1 else f"{first}-{last}"


def _member(point: int) -> str:
    char = chr(point)
    if char in "[]":
        return "\\" + char
    return _number(point) if char in _NUMBERED_IN_CLASS else _spell(char)


def _spell(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    return char if char.isprintable() else _number(ord(char))


def _number(point: int) -> str:
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"
