"""Makes trees of KBNF that nobody wrote: short names for their parts, and a tree of any IR.

Parts are at the span that is given. Without one the span is set later, or is that of the IR. Empty
parts are left out.

Tests: tests/unit/kbnf
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from kbnf_core import ir
from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import NOWHERE, Span

if TYPE_CHECKING:
    from kbnf_core.automata.expression import Expression as Texts

Form = tree.Expression
EMPTY = tree.Terminal(tree.Text("", NOWHERE, ()), NOWHERE)
"""The empty word where nobody wrote it; the other functions leave out this and any other one."""


def text(value: str, span: Span = NOWHERE) -> tree.Terminal:
    """Return exactly this text."""
    return tree.Terminal(text_of(value, span), span) if value or span is not NOWHERE else EMPTY


def text_of(value: str, span: Span = NOWHERE) -> tree.Text:
    """Return a quoted text; each of its characters is at the start of ``span``."""
    return tree.Text(value, span, () if span is NOWHERE else (span.start,) * (len(value) + 1))


def text_or_bytes(data: bytes, span: Span) -> tree.Terminal | tree.ByteString:
    """Return ``'text'`` for bytes that are one, else ``#b'bytes'``."""
    try:
        return text(data.decode(), span)
    except UnicodeDecodeError:
        return tree.ByteString(data, span)


def regex(pattern: str, span: Span = NOWHERE, parsed: "Texts | None" = None) -> tree.Pattern:
    """Return ``#'pattern'``, or ``#r'pattern'`` for one with escapes of its own."""
    is_raw = "\\" in pattern
    kind, written = tree.PatternKind.REGEX, text_of(pattern, span)
    return tree.Pattern(kind, written, span, is_raw, parsed=parsed)


_SPECIAL = re.compile(r"([\\.^$|?*+()\[\]{}&~#-])")


def escaped(value: str) -> str:
    """Return a regular expression of one text."""
    return _SPECIAL.sub(r"\\\1", value)


def nothing(span: Span) -> tree.Pattern:
    """Return a pattern that matches nothing."""
    return regex(r"[^\x{0}-\x{10FFFF}]", span)


def call(name: str, span: Span = NOWHERE) -> tree.Reference:
    """Return a nonterminal."""
    return tree.Reference(tree.Name(name, span), span)


def is_empty(form: Form) -> bool:
    """Return whether a form is the empty text, as written."""
    return isinstance(form, tree.Terminal) and not form.text.value


def sequence(*forms: Form, span: Span = NOWHERE) -> Form:
    """Return the sequence of the forms; adjacent texts that nobody wrote are joined."""
    items: list[Form] = []
    for form in forms:
        for item in form.items if isinstance(form, tree.Concatenation) else (form,):
            last = items[-1] if items else None
            if is_empty(item):
                continue
            if _is_made(last) and _is_made(item):
                items[-1] = text(last.text.value + item.text.value)
            else:
                items.append(item)
    if not items:
        return text("", span)
    return items[0] if len(items) == 1 else tree.Concatenation(tuple(items), span)


def _is_made(form: Form | None) -> TypeGuard[tree.Terminal]:
    return isinstance(form, tree.Terminal) and form.span is NOWHERE


def alternation(forms: Iterable[Form], span: Span = NOWHERE) -> Form:
    """Return the alternation of one or more forms; the empty one makes the others optional."""
    branches: list[Form] = []
    for form in forms:
        branches.extend(form.branches if isinstance(form, tree.Alternation) else (form,))
    solid = [branch for branch in branches if not is_empty(branch)]
    if not solid:
        return text("", span)
    whole = solid[0] if len(solid) == 1 else tree.Alternation(tuple(solid), span)
    return whole if len(solid) == len(branches) else repeated(whole, 0, 1, span)


def distinct(forms: Sequence[Form]) -> Iterable[Form]:
    """Return forms without those that are written like another one."""
    if len(forms) < 2:
        return forms
    result: dict[str, Form] = {}
    for form in forms:
        result.setdefault(print_expression(form), form)
    return result.values()


def optional(form: Form) -> Form:
    """Return the form or nothing."""
    return repeated(form, 0, 1)


def repeated(form: Form, low: int, high: int | None, span: Span = NOWHERE) -> Form:
    """Return ``low`` to ``high`` times the form."""
    if is_empty(form) or high == 0:
        return text("", span)
    if (low, high) == (1, 1):
        return form
    if isinstance(form, tree.Repetition) and (low, high) == (0, 1) and form.low < 2:
        return form if form.low == 0 else tree.Repetition(form.body, 0, form.high, span, span)
    return tree.Repetition(form, low, high, span, span)


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
    # Fewer rows than fit, and then at most the rest.
    last = repeated(body, 0, MOST)
    more = sequence(repeated(row, 0, rows - 1), last) if rows else EMPTY
    return sequence(least, more, repeated(body, 0, rest))


def placed(root: Form, span: Span) -> Form:
    """Return a form whose parts without a place are at ``span``; one that is a call always is."""

    def open_operands(node: Form) -> Sequence[Form]:
        return tree.children(node) if node.span == NOWHERE else ()

    def one(node: Form, inner_forms: list[Form]) -> Form:
        return node if node is EMPTY or node.span != NOWHERE else _at(node, inner_forms, span)

    if span is NOWHERE:
        return root
    inner = open_operands(root)
    if any(node.span == NOWHERE for node in inner):
        return fold(root, open_operands, one)
    return _at(root, inner, span) if isinstance(root, tree.Reference) else one(root, [*inner])


def changed(root: Form, leaf: Callable[[tree.Leaf], Form]) -> Form:
    """Return a form with other leaves; those that are empty are left out."""

    def one(node: Form, inner: list[Form]) -> Form:
        match node:
            case tree.Concatenation():
                return sequence(*inner, span=node.span)
            case tree.Alternation():
                return alternation(inner, node.span)
            case tree.Repetition(_, low, high):
                return repeated(inner[0], low, high, node.span)
            case tree.Bracket():
                return replace(node, body=inner[0])
            case _:
                return leaf(node)

    made = fold(root, tree.children, one)
    return placed(made, root.span) if made.span == NOWHERE else made


def _at(form: Form, inner: Sequence[Form], span: Span) -> Form:
    """Return a form with other parts and another place."""
    match form:
        case tree.Concatenation():
            return tree.Concatenation(tuple(inner), span)
        case tree.Alternation():
            return tree.Alternation(tuple(inner), span)
        case tree.Repetition(_, low, high):
            return tree.Repetition(inner[0], low, high, span, span)
        case tree.Reference(name):
            return tree.Reference(name, span)
        case _:
            return replace(form, span=span)


def definition(name: str, body: Form, span: Span = NOWHERE) -> tree.Definition:
    """Return ``name ::= body;``."""
    return tree.Definition(tree.Name(name, span), text("", span) if body is EMPTY else body, span)


def of_ir(
    root: ir.Node,
    leaf: Callable[[ir.Regular | ir.Call], Form],
    branches: Callable[[Sequence[Form]], Iterable[Form]] = distinct,
) -> Form:
    """Return an expression of the IR as it is written; ``leaf`` says how automata and calls are.

    ``branches`` are those of a choice that are kept: of some that are written alike the first,
    unless somebody wrote each. Counts may be of any size.
    """

    def one(node: ir.Node, inner: list[Form]) -> Form:
        match node:
            case ir.Literal(data):
                result: Form = text(data.decode())
            case ir.Call() | ir.Regular():
                result = leaf(node)
            case ir.Sequence():
                result = sequence(*inner)
            case ir.Choice():
                result = alternation(branches(inner))
            case ir.Repeat(_, low, high):
                result = within_counts(inner[0], low, high)
            case ir.Token(ir.TokenTerminal(name, ranges, negated)):
                result = tree.TokenSet(ranges, negated, node.span)
                if name is not None:
                    result = tree.TokenName(text_of(name), node.span)
        return placed(result, node.span)

    return fold(root, ir.children, one)
