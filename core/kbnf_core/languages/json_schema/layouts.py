"""How arrays and objects are laid out: what is in brackets, with commas between."""

from collections.abc import Callable, Sequence

from kbnf_core import ir
from kbnf_core.ir.build import EMPTY, alternation, optional, repeated, sequence, text

Member = tuple[ir.Node, bool]
"""A named member of an object, and whether it must be there."""


def enclosed(opening: str, closing: str, content: ir.Node, gap: ir.Node) -> ir.Node:
    """Return ``content`` in brackets, with gaps inside."""
    if content is EMPTY:
        return sequence(text(opening), gap, text(closing))
    if isinstance(content, ir.Repeat) and (content.low, content.high) == (0, 1):
        inner = optional(sequence(content.body, gap))
        return sequence(text(opening), gap, inner, text(closing))
    return sequence(text(opening), gap, content, gap, text(closing))


def listed(item: ir.Node, comma: ir.Node, low: int, high: int | None) -> ir.Node:
    """Return ``low`` to ``high`` items, at least one of which there may be."""
    most = None if high is None else high - 1
    whole = sequence(item, repeated(sequence(comma, item), max(low - 1, 0), most))
    return whole if low else optional(whole)


def around(members: Sequence[Member], extra: ir.Node | None, comma: ir.Node) -> ir.Node:
    """Return members of which one is required: those before it have commas after them."""
    parts: list[ir.Node] = []
    is_first = True
    for form, required in members:
        if is_first and required:
            parts.append(form)
            is_first = False
            continue
        ordered = sequence(form, comma) if is_first else sequence(comma, form)
        parts.append(ordered if required else optional(ordered))
    if extra is not None:
        parts.append(repeated(sequence(comma, extra), 0, None))
    return sequence(*parts)


def some(
    members: Sequence[Member],
    extra: ir.Node | None,
    comma: ir.Node,
    apart: Callable[[int, ir.Node], ir.Node] = lambda _, rest: rest,
) -> ir.Node | None:
    """Return one or more optional members: the last, or one before it and maybe more.

    ``apart`` returns what stands for the members from one on, a part of the whole.
    """
    more = None if extra is None else listed(extra, comma, 1, None)
    for place, (form, _) in reversed(list(enumerate(members))):
        if more is None:
            more = form
        else:
            rest = sequence(optional(sequence(form, comma)), more)
            more = apart(place, alternation([form, rest]))
    return more
