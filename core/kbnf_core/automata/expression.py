"""Regular expressions as hash-consed values, kept small, and their text in our dialect.

Nodes are interned, so equal ones are identical; build them with the functions here, which apply
what applies in every regular language: ``xx*`` is ``x+``, ``x?x?`` is ``x{0,2}``, ``ab|ac`` is
``a(b|c)``. NOTHING and EMPTY of ``kbnf_core.automata.algebra`` are the only values of their
languages.

Tests: tests/unit/languages/json_schema/test_counts_in_patterns.py,
tests/unit/languages/json_schema/test_direct.py
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from kbnf_core.automata.algebra import (
    EMPTY,
    NOTHING,
    Choice,
    Repeat,
    Sequence,
    children,
    fold,
    postorder,
    quantifier,
)
from kbnf_core.automata.codepoints import ANY, CodePoints, complement, difference
from kbnf_core.automata.codepoints import union as join_points
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Assertion, CharacterSet, Node
from kbnf_core.text.limits import DEFAULT_LIMITS

Expression: TypeAlias = (
    CharacterSet | Sequence["Expression"] | Choice["Expression"] | Repeat["Expression"]
)


class Builder:
    """Makes expressions, one of each."""

    def __init__(self) -> None:
        self._memo: dict[tuple[object, ...], Expression] = {}
        self._sizes: dict[int, int] = {}

    def size(self, item: Expression) -> int:
        """Return how many sets of characters and repetitions an expression of this builder has."""
        return self._sizes.get(id(item), 0)

    def _one(self, key: tuple[object, ...], made: Expression, size: int) -> Expression:
        interned = self._memo.setdefault(key, made)
        self._sizes[id(interned)] = size
        return interned

    def read(self, pattern: str) -> Expression | None:
        """Return the expression of a pattern; None where it has assertions or problems."""
        tree, problems = parse_regex(pattern, DEFAULT_LIMITS)
        if problems or any(isinstance(node, Assertion) for node in postorder(tree)):
            return None
        return fold(tree, self._rebuild)

    def _rebuild(self, node: Node, operands: list[Expression]) -> Expression:
        match node:
            case CharacterSet(points):
                return self.characters(points)
            case Choice():
                return self.alternation(operands)
            case Repeat(_, low, high):
                return self.repetition(operands[0], low, high)
            case _:
                return self.sequence(operands)

    def characters(self, points: CodePoints) -> Expression:
        """Return one character of a set."""
        if not points:
            return NOTHING
        return self._one(("characters", points), CharacterSet(points), 1)

    def text(self, characters: str) -> Expression:
        """Return exactly this text."""
        return self.sequence(self.characters(((ord(char), ord(char)),)) for char in characters)

    def sequence(self, operands: Iterable[Expression]) -> Expression:
        """Return one after the other."""
        items: list[Expression] = []
        for operand in operands:
            if operand is NOTHING:
                return NOTHING
            for item in operand.operands if isinstance(operand, Sequence) else (operand,):
                self._append(items, item)
        if len(items) < 2:
            return items[0] if items else EMPTY
        key = ("sequence", *map(id, items))
        return self._one(key, Sequence(tuple(items)), sum(map(self.size, items)))

    def _append(self, items: list[Expression], item: Expression) -> None:
        """Append an item; two repetitions of the same become one."""
        if items:
            body, low, high = _counted(items[-1])
            other, more_low, more_high = _counted(item)
            if body is other:
                top = None if high is None or more_high is None else high + more_high
                items[-1] = self._repetition(body, low + more_low, top)
                return
        items.append(item)

    def alternation(self, branches: Iterable[Expression]) -> Expression:
        """Return any of the parts."""
        whole: Expression = NOTHING
        for branch in branches:
            whole = self._either(whole, branch)
        return whole

    def _either(self, left: Expression, right: Expression) -> Expression:
        if left is NOTHING or left is right:
            return right
        if right is NOTHING:
            return left
        if left is EMPTY or right is EMPTY:
            return self.optional(right if left is EMPTY else left)
        return self._merged(left, right) or self._listed(left, right)

    def _merged(self, left: Expression, right: Expression) -> Expression | None:
        """Return both as one where they share a set, a body, a beginning or an end."""
        if isinstance(left, CharacterSet) and isinstance(right, CharacterSet):
            return self.characters(join_points(left.points, right.points))
        body, low, high = _counted(left)
        other, other_low, other_high = _counted(right)
        if body is other and _adjoining((low, high), (other_low, other_high)):
            top = None if high is None or other_high is None else max(high, other_high)
            return self.repetition(body, min(low, other_low), top)
        first, second = _items(left), _items(right)
        if first[0] is second[0]:
            rest = self._either(self.sequence(first[1:]), self.sequence(second[1:]))
            return self.sequence([first[0], rest])
        if first[-1] is second[-1]:
            rest = self._either(self.sequence(first[:-1]), self.sequence(second[:-1]))
            return self.sequence([rest, first[-1]])
        return None

    def _listed(self, left: Expression, right: Expression) -> Expression:
        items = list(left.branches if isinstance(left, Choice) else (left,))
        for item in right.branches if isinstance(right, Choice) else (right,):
            self._insert(items, item)
        if len(items) == 1:
            return items[0]
        key = ("alternation", *map(id, items))
        return self._one(key, Choice(tuple(items)), sum(map(self.size, items)))

    def _insert(self, items: list[Expression], item: Expression) -> None:
        for index, earlier in enumerate(items):
            merged = earlier if earlier is item else self._merged(earlier, item)
            if merged is not None:
                items[index] = merged
                return
        items.append(item)

    def optional(self, item: Expression) -> Expression:
        """Return the item or the empty word."""
        body, low, high = _counted(item)
        if low <= 1:
            return self.repetition(body, 0, high)
        return self.repetition(item, 0, 1)

    def star(self, item: Expression) -> Expression:
        """Return any number of the item."""
        return self.repetition(item, 0, None)

    def repetition(self, item: Expression, low: int, high: int | None) -> Expression:
        """Return ``low`` to ``high`` of the item."""
        if item is EMPTY or high == 0:
            return EMPTY
        if item is NOTHING:
            return EMPTY if low == 0 else NOTHING
        if isinstance(item, Repeat) and item.low <= 1:
            # (x{a,b}){c,d} leaves no gaps where a <= 1.
            top = None if item.high is None or high is None else item.high * high
            return self._repetition(item.body, item.low * low, top)
        return self._repetition(item, low, high)

    def _repetition(self, item: Expression, low: int, high: int | None) -> Expression:
        if (low, high) == (1, 1):
            return item
        key = ("repetition", id(item), low, high)
        return self._one(key, Repeat(item, low, high), self.size(item) + 1)


def _counted(item: Expression) -> tuple[Expression, int, int | None]:
    if isinstance(item, Repeat):
        return item.body, item.low, item.high
    return item, 1, 1


def _adjoining(left: tuple[int, int | None], right: tuple[int, int | None]) -> bool:
    """Return whether no count between the two ranges is left out."""
    below, above = sorted((left, right), key=lambda bounds: bounds[0])
    return below[1] is None or above[0] <= below[1] + 1


def _items(item: Expression) -> tuple[Expression, ...]:
    return item.operands if isinstance(item, Sequence) and item.operands else (item,)


Spell = Callable[[CodePoints], str]
"""Writes one character of a set as the text of an expression that repetition may follow."""


def print_expression(root: Expression, spell: Spell | None = None) -> str:
    r"""Return the text of an expression, to be between ``\A(?:`` and ``)\z``.

    ``spell`` writes sets of characters; by default they stand for themselves. NOTHING has no
    text in the dialect but ``[^\s\S]``.
    """
    return "".join(_written(root, spell or print_characters))


class ShortTexts:
    """Texts of expressions that are not longer than ``most``; each part is printed once.

    Parts are compared by identity, so the caller keeps them: the ``Builder`` does.
    """

    def __init__(self, spell: Spell, most: int) -> None:
        self._spell = spell
        self._most = most
        self._memo: dict[int, str | None] = {}

    def of(self, root: Expression) -> str | None:
        """Return the text of an expression; None where it is too long."""
        texts, pending = self._memo, [root]
        while pending:
            node = pending[-1]
            unknown = [operand for operand in children(node) if id(operand) not in texts]
            if not unknown:
                texts[id(node)] = self._printed(node)
                pending.pop()
            pending += unknown
        return texts[id(root)]

    def bracketed(self, item: Expression) -> str | None:
        """Return the text of an expression where it is in a sequence; None where it is too long."""
        text = self.of(item)
        return f"(?:{text})" if text is not None and isinstance(item, Choice) else text

    def _printed(self, node: Expression) -> str | None:
        if isinstance(node, CharacterSet):
            texts: list[str | None] = [self._spell(node.points)]
        else:
            texts = [
                p if isinstance(p, str) else self._memo[id(p)] for p in _operands_and_signs(node)
            ]
        text = "".join(written or "" for written in texts)
        return None if None in texts or len(text) > self._most else text


def _written(root: Expression, spell: Spell) -> Iterator[str]:
    pending: list[str | Expression] = [root]
    while pending:
        token = pending.pop()
        if isinstance(token, str):
            yield token
        elif isinstance(token, CharacterSet):
            yield spell(token.points)
        else:
            pending.extend(reversed(_operands_and_signs(token)))


def _operands_and_signs(
    node: Sequence[Expression] | Choice[Expression] | Repeat[Expression],
) -> list[str | Expression]:
    if isinstance(node, Repeat):
        if node.low == node.high and node.low <= FEW and _is_one(node.body):
            return [node.body] * node.low
        return [*_grouped(node.body, (Sequence, Choice, Repeat)), quantifier(node.low, node.high)]
    if node is NOTHING:
        return ["[^\\s\\S]"]
    if isinstance(node, Sequence):
        return [token for item in node.operands for token in _grouped(item, (Choice,))]
    return [token for item in node.branches for token in ("|", item)][1:]


FEW = 3
"""Times that one character is written out."""


def _is_one(item: Expression) -> bool:
    """Return whether this is one certain character."""
    return isinstance(item, CharacterSet) and item.points == ((item.points[0][0],) * 2,)


def _grouped(item: Expression, looser: tuple[type, ...]) -> list[str | Expression]:
    return ["(?:", item, ")"] if isinstance(item, looser) else [item]


_SPECIAL = frozenset("\\.+*?()|[]{}^$")
_SPECIAL_IN_SET = frozenset("\\]^[-")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@lru_cache(maxsize=1_024)
def print_characters(points: CodePoints) -> str:
    """Return the text of one character of a set."""
    if points == ANY:
        return "(?s:.)"
    if len(points) == 1 and points[0][0] == points[0][1]:
        return print_character(points[0][0])
    rest = complement(points)
    # The complement is written where it is shorter: most sets beyond ASCII are such.
    if points[-1][1] == 0x10FFFF and len(rest) <= len(points):
        return f"[^{_print_ranges(rest)}]"
    return f"[{_print_ranges(points)}]"


def print_character(point: int) -> str:
    """Return the text of one character outside brackets."""
    char = chr(point)
    return _NAMED.get(char) or ("\\" + char if char in _SPECIAL else _print_point(point))


_HYPHEN = ord("-")


def _print_ranges(points: CodePoints) -> str:
    # At the end it needs no escape; inside a range it is not seen.
    at_an_end = any(_HYPHEN in bounds for bounds in points)
    kept = difference(points, ((_HYPHEN, _HYPHEN),)) if at_an_end else points
    written = "".join(_print_range(low, high) for low, high in kept)
    return f"{written}-" if at_an_end else written


def _print_range(low: int, high: int) -> str:
    first, last = _print_member(low), _print_member(high)
    if low == high:
        return first
    return first + last if high == low + 1 else f"{first}-{last}"


def _print_member(point: int) -> str:
    char = chr(point)
    return _NAMED.get(char) or ("\\" + char if char in _SPECIAL_IN_SET else _print_point(point))


def _print_point(point: int) -> str:
    char = chr(point)
    if char.isprintable() and (char.isascii() or char.isalnum()):
        return char
    return f"\\x{point:02x}" if point <= 0x7F else f"\\u{{{point:x}}}"
