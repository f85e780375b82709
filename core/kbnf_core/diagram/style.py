"""The style sheet of diagrams and their page, for light and dark screens."""

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
