"""Diagrams of a whole grammar: one SVG, or one HTML page with links between rules."""

from html import escape
from string import Template

from kbnf_core.diagram.draw import Drawing
from kbnf_core.diagram.rules import Rule, collect_rules
from kbnf_core.diagram.style import DIAGRAM_STYLE, PAGE_STYLE, SHEET_STYLE
from kbnf_core.syntax.tree import Document

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
    parts: list[str] = []
    top, width = float(_MARGIN), 0.0
    for rule in collect_rules(document):
        drawing = Drawing(rule, document.source, "#" + _ANCHOR)
        anchor = _ANCHOR.format(rule.name)
        title = f'<text x="{_MARGIN}" y="{top + 20:g}">{escape(rule.name)}</text>'
        top += _TITLE_HEIGHT
        parts += [title, drawing.svg(id=anchor, x=str(_MARGIN), y=f"{top:g}")]
        top += drawing.height + _MARGIN
        width = max(width, drawing.width + 2 * _MARGIN)
    size = f'width="{width:g}" height="{top:g}" viewBox="0 0 {width:g} {top:g}"'
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    style = f"<style>\n{SHEET_STYLE}{DIAGRAM_STYLE}</style>"
    return "\n".join([f'<svg class="sheet" {names} {size}>', style, *parts, "</svg>\n"])


def render_html(document: Document, start: str) -> str:
    """Return a page that needs nothing else, with a section for each rule, ``start`` marked."""
    rules = collect_rules(document)
    return _PAGE.substitute(
        title=escape(document.source.name),
        style=DIAGRAM_STYLE + PAGE_STYLE,
        links=" ".join(_link(rule.name) for rule in rules),
        sections="\n".join(_section(rule, document, rule.name == start) for rule in rules),
    )


def _section(rule: Rule, document: Document, is_start: bool) -> str:
    users = ", ".join(map(_link, rule.used_by))
    text = escape(rule.text(document.source))
    return _SECTION.substitute(
        anchor=_ANCHOR.format(rule.name),
        name=escape(rule.name),
        mark='<span class="start">start</span>' if is_start else "",
        diagram=Drawing(rule, document.source, "#" + _ANCHOR).svg(),
        used=f'<p class="used">used by {users}</p>\n' if users else "",
        text=f"<pre>{text}</pre>\n" if text else "",
    )


def _link(name: str) -> str:
    return f'<a href="#{_ANCHOR.format(name)}">{escape(name)}</a>'
