"""Diagrams of a whole grammar: one SVG, or one HTML page with links between rules."""

from html import escape
from string import Template

from kbnf_core.diagram.draw import Drawing
from kbnf_core.diagram.rules import Rule, collect_rules
from kbnf_core.syntax.tree import Document

DIAGRAM_STYLE = """\
svg.railroad-diagram path { stroke: #57606a; stroke-width: 1.5; fill: none; }
svg.railroad-diagram text { font: 14px ui-monospace, monospace; fill: #1f2328; }
svg.railroad-diagram text { text-anchor: middle; }
svg.railroad-diagram text.comment { font: italic 12px ui-monospace, monospace; fill: #57606a; }
svg.railroad-diagram rect { stroke: #57606a; stroke-width: 1.5; fill: #dafbe1; }
svg.railroad-diagram g.non-terminal rect { fill: #ddf4ff; }
svg.railroad-diagram g.pattern rect { fill: #fff8c5; }
svg.railroad-diagram a:hover text { text-decoration: underline; }
"""

SHEET_STYLE = """\
svg.sheet { background: #ffffff; }
svg.sheet > text { font: bold 15px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
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
  svg.railroad-diagram path { stroke: #9198a1; }
  svg.railroad-diagram text { fill: #e6edf3; } svg.railroad-diagram text.comment { fill: #9198a1; }
  svg.railroad-diagram rect { stroke: #9198a1; fill: #12361f; }
  svg.railroad-diagram g.non-terminal rect { fill: #0c2d4a; }
  svg.railroad-diagram g.pattern rect { fill: #3b2e00; }
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
