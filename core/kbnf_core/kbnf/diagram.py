"""Railroad diagrams of a grammar, as one SVG, or as an HTML page with links between rules.

The library railroad-diagrams (Tab Atkins Jr., CC0) draws them.

Tests: tests/unit/kbnf/test_diagram.py
"""

from dataclasses import dataclass
from html import escape
from io import StringIO
from string import Template
from typing import Any, TypeAlias

from kbnf_core.automata.traversal import fold
from kbnf_core.ir.families import MARK
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import bounds_of, print_definition, print_expression
from kbnf_core.kbnf.tree import Definition, Document, uses_in
from kbnf_core.text.diagnostics.segments import cells, visible
from kbnf_core.text.errors import MissingExtraError
from kbnf_core.text.source import Source


@dataclass(frozen=True, slots=True)
class RuleDiagram:
    """A name, its definitions, and the names of the rules that use it."""

    name: str
    definitions: tuple[Definition, ...]
    used_by: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name as it is shown, that of a family with its variable."""
        return self.definitions[0].title

    def text(self, source: Source | None) -> str:
        """Return the definitions as they are written, without those that a conversion has made."""
        if source is None:
            return "\n".join(map(print_definition, self.definitions))
        written = (
            definition.span
            for definition in self.definitions
            if definition.span != definition.name.span
        )
        return "\n".join(map(source.slice, written))


def collect_rules(document: Document) -> tuple[RuleDiagram, ...]:
    """Return the rules in the order of their first definitions."""
    definitions: dict[str, list[Definition]] = {}
    for definition in document.definitions:
        definitions.setdefault(definition.name.value, []).append(definition)
    users: dict[str, dict[str, None]] = {name: {} for name in definitions}
    for definition in document.definitions:
        for used in uses_in(definition.body):
            users.setdefault(used.value, {})[definition.name.value] = None
    return tuple(
        RuleDiagram(name, tuple(bodies), tuple(users[name])) for name, bodies in definitions.items()
    )


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
"""Characters of a symbol that are shown; a tooltip contains the rest."""


class Drawing:
    """The diagram of one rule, as SVG without style.

    ``width`` and ``height`` are in pixels. ``anchor`` is what the names of other rules link to,
    with ``{}`` for the name.
    """

    def __init__(self, rule: RuleDiagram, source: Source | None, anchor: str) -> None:
        bodies = [_draw(definition.body, source, anchor) for definition in rule.definitions]
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


def _draw(root: tree.Expression, source: Source | None, anchor: str) -> Item:
    return fold(root, tree.children, lambda node, items: _draw_one(node, items, source, anchor))


def _draw_one(node: tree.Expression, items: list[Item], source: Source | None, anchor: str) -> Item:
    match node:
        case tree.Concatenation():
            return _sequence(items)
        case tree.Alternation():
            return railroad.Choice(0, *items)
        case tree.Bracket(kind):
            return _bracket(kind, items[0])
        case tree.Repetition():
            return _repetition(*bounds_of(node), items[0])
        case tree.Reference(name):
            title = f"{name.value}{node.number or ''}"
            return _box(railroad.NonTerminal, title, href=anchor.format(name.value))
        case tree.Terminal(text) if not text.value:
            return railroad.Skip()
        case tree.Terminal():
            return _box(railroad.Terminal, _spelled(node, source))
        case tree.Exception_(tree.Name(value)):
            href = anchor.format(value)
            return _box(railroad.Terminal, _spelled(node, source), href=href, cls="pattern")
        case _:
            return _box(railroad.Terminal, _spelled(node, source), cls="pattern")


def _spelled(node: tree.Expression, source: Source | None) -> str:
    return print_expression(node) if source is None else source.slice(node.span)


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


def _repetition(low: str, high: str | None, body: Item) -> Item:
    match low, high:
        case ("0", "0"):
            return railroad.Skip()
        case ("0" | "1", "1"):
            return body if low == "1" else railroad.Optional(body)
        case ("0" | "1", None):
            return railroad.OneOrMore(body) if low == "1" else railroad.ZeroOrMore(body)
    loop = railroad.OneOrMore(body, railroad.Comment(_count(low, high)))
    # The number of a family may be 0.
    return railroad.Optional(loop) if low == "0" or low[0] == MARK else loop


def _count(low: str, high: str | None) -> str:
    if high is None:
        return f"{low} times or more"
    if low == high:
        return f"{low} times"
    return f"up to {high} times" if low in ("0", "1") else f"{low} to {high} times"


DIAGRAM_STYLE = """\
svg.railroad-diagram path { stroke: #57606a; stroke-width: 1.5; fill: none; }
svg.railroad-diagram text { font: 14px ui-monospace, monospace; fill: #1f2328; }
svg.railroad-diagram text { text-anchor: middle; }
svg.railroad-diagram text.comment { font: italic 12px ui-monospace, monospace; fill: #57606a; }
svg.railroad-diagram rect { stroke: #57606a; stroke-width: 1.5; fill: #dafbe1; }
svg.railroad-diagram g.non-terminal rect { fill: #ddf4ff; }
svg.railroad-diagram g.pattern rect { fill: #fff8c5; }
svg.railroad-diagram a:hover text { text-decoration: underline; }
@media (prefers-color-scheme: dark) {
  svg.railroad-diagram path { stroke: #9198a1; }
  svg.railroad-diagram text { fill: #e6edf3; } svg.railroad-diagram text.comment { fill: #9198a1; }
  svg.railroad-diagram rect { stroke: #9198a1; fill: #12361f; }
  svg.railroad-diagram g.non-terminal rect { fill: #0c2d4a; }
  svg.railroad-diagram g.pattern rect { fill: #3b2e00; }
}
"""

SHEET_STYLE = """\
svg.sheet { background: #ffffff; }
svg.sheet > text { font: bold 15px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
@media (prefers-color-scheme: dark) {
  svg.sheet { background: #0d1117; } svg.sheet > text { fill: #e6edf3; }
}
"""

PAGE_STYLE = """\
body { font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; color: #1f2328; background: #ffffff;
  margin: 2rem auto; padding: 0 1rem; max-width: 70rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2.5rem 0 .25rem; }
h1, h2, nav a, pre, .used a { font-family: ui-monospace, monospace; }
a { color: #0969da; text-decoration: none; } a:hover { text-decoration: underline; }
nav a { margin-right: 1rem; white-space: nowrap; }
.diagram { overflow-x: auto; } .used { color: #57606a; font-size: .9rem; }
.start { color: #57606a; font: .9rem ui-sans-serif, system-ui, sans-serif; margin-left: .75rem; }
pre { background: #f6f8fa; padding: .75rem; border-radius: 6px; overflow-x: auto; font-size: 13px; }
section:target h2 { background: #fff8c5; }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; } a { color: #58a6ff; } pre { background: #161b22; }
  .used, .start { color: #9198a1; } section:target h2 { background: #3b2e00; }
}
"""


_ANCHOR = "rule-{}"
_TITLE_HEIGHT = 34
_MARGIN = 12

_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<h1>$title</h1>
<nav>$links</nav>
$sections
</body>
</html>
""")

_SECTION = Template("""\
<section id="$anchor">
<h2>$name$mark</h2>
<div class="diagram">
$diagram</div>
$used$text</section>""")


def render_svg(document: Document) -> str:
    """Return one SVG with the diagrams of all rules, one below the other."""
    elements: list[str] = []
    top, width = float(_MARGIN), 0.0
    for rule in collect_rules(document):
        drawing = Drawing(rule, document.written_in, "#" + _ANCHOR)
        anchor = _ANCHOR.format(rule.name)
        title = f'<text x="{_MARGIN}" y="{top + 20:g}">{escape(rule.title)}</text>'
        top += _TITLE_HEIGHT
        elements += [title, drawing.svg(id=anchor, x=str(_MARGIN), y=f"{top:g}")]
        top += drawing.height + _MARGIN
        width = max(width, drawing.width + 2 * _MARGIN)
    size = f'width="{width:g}" height="{top:g}" viewBox="0 0 {width:g} {top:g}"'
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    style = f"<style>\n{SHEET_STYLE}{DIAGRAM_STYLE}</style>"
    return "\n".join([f'<svg class="sheet" {names} {size}>', style, *elements, "</svg>\n"])


def render_html(document: Document, start: str) -> str:
    """Return a page that needs nothing else, with a section for each rule, ``start`` marked."""
    rules = collect_rules(document)
    return _PAGE.substitute(
        title=escape(document.source.name),
        style=DIAGRAM_STYLE + PAGE_STYLE,
        links=" ".join(_link(rule.name) for rule in rules),
        sections="\n".join(_section(rule, document, rule.name == start) for rule in rules),
    )


def _section(rule: RuleDiagram, document: Document, is_start: bool) -> str:
    users = ", ".join(map(_link, rule.used_by))
    text = escape(rule.text(document.written_in))
    return _SECTION.substitute(
        anchor=_ANCHOR.format(rule.name),
        name=escape(rule.title),
        mark='<span class="start">start</span>' if is_start else "",
        diagram=Drawing(rule, document.written_in, "#" + _ANCHOR).svg(),
        used=f'<p class="used">used by {users}</p>\n' if users else "",
        text=f"<pre>{text}</pre>\n" if text else "",
    )


def _link(name: str) -> str:
    return f'<a href="#{_ANCHOR.format(name)}">{escape(name)}</a>'
