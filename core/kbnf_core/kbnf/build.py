"""Makes trees of KBNF that nobody wrote: short names for their parts, and a tree of any IR.

The spans of parts are set later, or are those of the IR. An empty part is left out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kbnf_core import ir
from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import NOWHERE, Span

Form = tree.Expression
EMPTY = tree.Sequence((), NOWHERE)
"""The empty word; the other functions leave it out, and rules have it as an empty terminal."""


def text(value: str) -> Form:
    """Return exactly this text; none for the empty one."""
    return tree.Terminal(_text(value), NOWHERE) if value else EMPTY


def regex(pattern: str) -> Form:
    """Return ``#'pattern'``, or ``#r'pattern'`` for one with escapes of its own."""
    return tree.Pattern(tree.PatternKind.REGEX, _text(pattern), NOWHERE, "\\" in pattern)


def call(name: str) -> Form:
    """Return a nonterminal."""
    return tree.Reference(tree.Name(name, NOWHERE), NOWHERE)


def sequence(*parts: Form) -> Form:
    """Return the sequence of the parts; adjacent texts are joined."""
    items: list[Form] = []
    for part in parts:
        held = part.items if isinstance(part, tree.Sequence) else (part,)
        if items and held:
            # Those inside of a sequence are joined.
            last, first = items[-1], held[0]
            if isinstance(last, tree.Terminal) and isinstance(first, tree.Terminal):
                items[-1] = text(last.text.value + first.text.value)
                held = held[1:]
        items.extend(held)
    if not items:
        return EMPTY
    return items[0] if len(items) == 1 else tree.Sequence(tuple(items), NOWHERE)


def alternation(parts: Iterable[Form]) -> Form:
    """Return the alternation of one or more parts; the empty one makes the others optional."""
    branches: list[Form] = []
    nullable = False
    for part in parts:
        if part is EMPTY:
            nullable = True
        else:
            branches.extend(part.branches if isinstance(part, tree.Alternation) else (part,))
    if not branches:
        return EMPTY
    whole = branches[0] if len(branches) == 1 else tree.Alternation(tuple(branches), NOWHERE)
    return optional(whole) if nullable else whole


def distinct(parts: Sequence[Form]) -> Iterable[Form]:
    """Return parts without those that are written like another one."""
    if len(parts) < 2:
        return parts
    found: dict[str, Form] = {}
    for part in parts:
        found.setdefault(print_expression(part), part)
    return found.values()


def optional(part: Form) -> Form:
    """Return the part or nothing."""
    return repeated(part, 0, 1)


def repeated(part: Form, low: int, high: int | None) -> Form:
    """Return ``low`` to ``high`` times the part."""
    if part is EMPTY or high == 0:
        return EMPTY
    if (low, high) == (1, 1):
        return part
    return tree.Repetition(part, low, high, NOWHERE, NOWHERE)


MOST = DEFAULT_LIMITS.repetition
"""The largest count that a grammar may have."""


def within_counts(body: Form, low: int, high: int | None) -> Form:
    """Return ``low`` to ``high`` times ``body``, no count being above ``MOST``."""
    if max(low, high or 0) <= MOST:
        return repeated(body, low, high)
    row = repeated(body, MOST, MOST)
    rows, rest = divmod(low, MOST)
    least = sequence(repeated(row, rows, rows), repeated(body, rest, rest))
    if high is None:
        return sequence(least, repeated(body, 0, None))
    rows, rest = divmod(high - low, MOST)
    # Fewer rows than fit, and then at most what is left.
    last = repeated(body, 0, MOST)
    more = sequence(repeated(row, 0, rows - 1), last) if rows else EMPTY
    return sequence(least, more, repeated(body, 0, rest))


def placed(root: Form, span: Span) -> Form:
    """Return a form whose parts without a place are at ``span``; one that is a call always is."""

    def open_parts(part: Form) -> Sequence[Form]:
        return tree.children(part) if part.span == NOWHERE else ()

    def one(part: Form, parts: list[Form]) -> Form:
        is_call = part is root and isinstance(part, tree.Reference)
        if part is EMPTY or (part.span != NOWHERE and not is_call):
            return part
        match part:
            case tree.Sequence():
                return tree.Sequence(tuple(parts), span)
            case tree.Alternation():
                return tree.Alternation(tuple(parts), span)
            case tree.Repetition(_, low, high):
                return tree.Repetition(parts[0], low, high, span, span)
            case _:
                return replace(part, span=span)

    return fold(root, open_parts, one)


def definition(name: str, body: Form, span: Span = NOWHERE) -> tree.Definition:
    """Return ``name ::= body;``."""
    whole = tree.Terminal(_text(""), span) if body is EMPTY else body
    return tree.Definition(tree.Name(name, span), whole, span)


def _text(value: str) -> tree.Text:
    return tree.Text(value, NOWHERE, ())


def of_ir(root: ir.Node, leaf: Callable[[ir.Regular | ir.Call], Form]) -> Form:
    """Return an expression of the IR as it is written; ``leaf`` says how automata and calls are.

    Branches that are written alike are one. Counts may be of any size.
    """

    def inner(at: tuple[ir.Node, Span]) -> list[tuple[ir.Node, Span]]:
        node, span = at
        return [(part, span if part.span is NOWHERE else part.span) for part in ir.children(node)]

    def one(at: tuple[ir.Node, Span], parts: list[Form]) -> Form:
        node, span = at
        match node:
            case ir.Literal(data):
                return tree.Terminal(_text(data.decode()), span) if data else EMPTY
            case ir.Call() | ir.Regular():
                found = leaf(node)
            case ir.Sequence():
                found = sequence(*parts)
            case ir.Choice():
                found = alternation(distinct(parts))
            case ir.Repeat(_, low, high):
                found = within_counts(parts[0], low, high)
            case ir.Token():
                raise TypeError("no author has asked for a token by its number")
        return found if span is NOWHERE else placed(found, span)

    return fold((root, root.span), inner, one)
