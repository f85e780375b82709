"""The picture of a terminal on the first page, drawn from what its commands print today.

``PYTHONPATH=tests/support python -m kbnf_testing.terminal`` writes ``docs/terminal.svg``.
"""

import tempfile
from html import escape
from itertools import pairwise
from pathlib import Path

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from kbnf_testing import pages

PICTURE = pages.ROOT / "docs" / "terminal.svg"
GRAMMAR = """(* kbnf: finish=eos *)
start ::= "order: " item (", " item)*;
item ::= #"[1-9][0-9]?" " " thing;
thing ::= "apples" | #"[a-z]{3,9}";
"""
COMMANDS = (
    "cat order.kbnf",
    "kbnf check order.kbnf",
    "kbnf match order.kbnf --text 'order: 3 apples and 2 pears'",
)
_COLUMNS, _ROW, _COLUMN, _MARGIN = 82, 18, 8, 16


def picture() -> str:
    """Return the picture as SVG."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = pages.environment_of(folder, "")
        del environment["NO_COLOR"]
        environment |= {"FORCE_COLOR": "1", "TERM": "xterm", "KBNF_CACHE_DIR": name}
        (folder / "order.kbnf").write_text(GRAMMAR, encoding="utf-8")
        lines = []
        for command in COMMANDS:
            printed = pages.run(command, folder, environment)[1]
            lines += [Text(f"$ {command}", "bold"), *map(Text.from_ansi, printed.splitlines())]
            lines.append(Text())
    rows = "\n".join(_row(line, number) for number, line in enumerate(lines) if line.plain)
    width = _COLUMNS * _COLUMN + 2 * _MARGIN
    height = (len(lines) - 1) * _ROW + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1b1d23"/>\n{rows}\n</svg>\n'
    )


def _row(line: Text, number: int) -> str:
    """Return a line, each run of one style at its column."""
    spans = [
        f'<tspan x="{_MARGIN + start * _COLUMN}" {_look(style)}>{escape(text)}</tspan>'
        for start, text, style in _runs(line)
        if text.strip()
    ]
    y = _MARGIN + (number + 1) * _ROW - 5
    return f'<text y="{y}" xml:space="preserve">{"".join(spans)}</text>'


def _runs(line: Text) -> list[tuple[int, str, Style]]:
    """Return the column, text and style of each run of one style."""
    edges = sorted(
        {0, len(line), *(each for span in line.spans for each in (span.start, span.end))}
    )
    own = line.style if isinstance(line.style, Style) else Style.parse(line.style or "none")
    runs = []
    for start, end in pairwise(edges):
        styles = [
            span.style if isinstance(span.style, Style) else Style.parse(span.style)
            for span in line.spans
            if span.start <= start and end <= span.end
        ]
        runs.append((start, line.plain[start:end], Style.combine([own, *styles])))
    return runs


def _look(style: Style) -> str:
    """Return the attributes of a style."""
    red, green, blue = (style.color or Color.default()).get_truecolor(MONOKAI)
    colour = f"#{red:02x}{green:02x}{blue:02x}" if style.color else "#d8dae0"
    return f'fill="{colour}"' + (' font-weight="bold"' if style.bold else "")


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
