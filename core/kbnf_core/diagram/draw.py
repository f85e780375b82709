"""Draws rules with the library railroad-diagrams (Tab Atkins Jr., CC0)."""

from io import StringIO
from typing import Any, TypeAlias

from kbnf_core.diagnostics.segments import cells, visible
from kbnf_core.diagram.rules import Rule
from kbnf_core.errors import MissingExtraError
from kbnf_core.source import Source
from kbnf_core.syntax import tree
from kbnf_core.traversal import fold

try:
    import railroad  # type: ignore[import-untyped]
except ImportError as error:
    raise MissingExtraError("drawing diagrams", "diagram") from error

railroad.INTERNAL_ALIGNMENT = "left"

Item: TypeAlias = Any
"""A part of a diagram; the library has no types."""

ROW_WIDTH = 860
"""Pixels beyond which a sequence goes on in another row."""

LONGEST_LABEL = 60
"""Characters of a symbol that are shown; a tooltip holds the rest."""


class Drawing:
    """The diagram of one rule, as SVG without style.

    ``width`` and ``height`` are in pixels. ``anchor`` is what the names of other rules link to,
    with ``{}`` for the name.
    """

    def __init__(self, rule: Rule, source: Source, anchor: str) -> None:
        bodies = [_draw(each.body, source, anchor) for each in rule.definitions]
        body = bodies[0] if len(bodies) == 1 else railroad.Choice(0, *bodies)
        self._diagram = railroad.Diagram(body, type="complex").format(10, 10, 10, 10)
        self._diagram.walk(_write_links_once)
        self.width = float(self._diagram.attrs["width"])
        self.height = float(self._diagram.attrs["height"])

    def svg(self, **attributes: str) -> str:
        """Return the ``svg`` element with these attributes as well."""
        self._diagram.attrs.update(attributes)
        written = StringIO()
        self._diagram.writeSvg(written.write)
        return written.getvalue()


def _write_links_once(item: Item) -> None:
    """Drop the second of the two equal texts that the library puts into a link."""
    for child in item.children:
        if getattr(child, "name", "") == "a":
            del child.children[1:]


def _draw(root: tree.Expression, source: Source, anchor: str) -> Item:
    return fold(root, tree.children, lambda node, parts: _draw_one(node, parts, source, anchor))


def _draw_one(node: tree.Expression, parts: list[Item], source: Source, anchor: str) -> Item:
    match node:
        case tree.Sequence():
            return _sequence(parts)
        case tree.Alternation():
            return railroad.Choice(0, *parts)
        case tree.Bracket(kind):
            return _bracket(kind, parts[0])
        case tree.Repetition(_, low, high):
            return _repetition(low, high, parts[0])
        case tree.Reference(name):
            return _box(railroad.NonTerminal, name.value, href=anchor.format(name.value))
        case tree.Terminal(text) if not text.value:
            return railroad.Skip()
        case tree.Terminal():
            return _box(railroad.Terminal, source.slice(node.span))
        case tree.Exception_(tree.Name(value)):
            href = anchor.format(value)
            return _box(railroad.Terminal, source.slice(node.span), href=href, cls="pattern")
        case _:
            return _box(railroad.Terminal, source.slice(node.span), cls="pattern")


def _box(kind: Any, text: str, **attributes: str) -> Item:
    """Return a symbol; wide characters get the room they need."""
    label = " ".join(visible(text).split("\n"))
    if len(label) > LONGEST_LABEL:
        attributes["title"] = label
        label = f"{label[: LONGEST_LABEL - 1]}…"
    box = kind(label, **attributes)
    box.width = cells(label) * railroad.CHAR_WIDTH + 20
    return box


def _sequence(items: list[Item]) -> Item:
    rows: list[list[Item]] = [[]]
    width = 0.0
    for item in items:
        room = item.width + (20 if item.needsSpace else 0)
        if rows[-1] and width + room > ROW_WIDTH:
            rows.append([])
            width = 0.0
        rows[-1].append(item)
        width += room
    drawn = [railroad.Sequence(*row) for row in rows]
    return drawn[0] if len(drawn) == 1 else railroad.Stack(*drawn)


def _bracket(kind: tree.BracketKind, body: Item) -> Item:
    match kind:
        case tree.BracketKind.GROUP:
            return body
        case tree.BracketKind.OPTIONAL:
            return railroad.Optional(body)
        case tree.BracketKind.REPEATED:
            return railroad.ZeroOrMore(body)


def _repetition(low: int, high: int | None, body: Item) -> Item:
    match low, high:
        case (0, 0):
            return railroad.Skip()
        case (0 | 1, 1):
            return body if low else railroad.Optional(body)
        case (0 | 1, None):
            return railroad.OneOrMore(body) if low else railroad.ZeroOrMore(body)
    loop = railroad.OneOrMore(body, railroad.Comment(_count(low, high)))
    return loop if low else railroad.Optional(loop)


def _count(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} times or more"
    if low == high:
        return f"{low} times"
    return f"{low} to {high} times" if low > 1 else f"up to {high} times"
