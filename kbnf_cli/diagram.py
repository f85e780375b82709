"""``kbnf diagram``: railroad diagrams.

Tests: tests/cli/test_diagram.py
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import write_text
from kbnf_cli.inputs import GRAMMAR, Inputs, read_whole
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    from_option,
    outside_option,
    schema_options,
    stdin_option,
)

if TYPE_CHECKING:
    from kbnf_core.frontend import Reading

_FORMATS = {".svg": "svg", ".html": "html", ".htm": "html"}


@click.command(epilog=examples("kbnf diagram json -o json.html", "kbnf diagram g.kbnf -o g.svg"))
@click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR)
@click.option(
    "--output",
    "-o",
    metavar="OUT.svg|OUT.html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write, with the format of its extension; the default is stdout.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["svg", "html"]),
    help="One picture, or a page with links between rules.  [default: by extension, else svg]",
)
@click.option("--start", metavar="NAME", help="The start nonterminal, which the page marks.")
@from_option
@outside_option
@schema_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Inputs)
def diagram(
    console: Console, inputs: Inputs, grammar: Path, output: Path | None, format_: str | None
) -> int:
    """Draw railroad diagrams of a grammar.

    GRAMMAR is a file in any supported language, the name of a shipped grammar, or `-` for stdin.
    The page shows each rule's diagram and text, and which rules use it. Needs the extra
    `diagram`: pip install '.[diagram]'.
    """
    chosen = format_ or _format_of(output)
    reading = read_whole(inputs.text(grammar), inputs.start)
    console.diagnostics(
        diagnostic for diagnostic in reading.diagnostics if reading.is_loss(diagnostic)
    )
    text = _draw(reading, chosen)
    if output is None:
        console.text(text)
    else:
        write_text(output, text)
        console.note(f"wrote {output}")
    return Exit.CLEAN


def _format_of(output: Path | None) -> str:
    if output is None:
        return "svg"
    if output.suffix.lower() not in _FORMATS:
        raise click.UsageError(f"{output}: name it .svg or .html, or give --format")
    return _FORMATS[output.suffix.lower()]


def _draw(reading: "Reading", format_: str) -> str:
    from kbnf_core.kbnf.diagram import render_html, render_svg

    if format_ == "svg":
        return render_svg(reading.document)
    return render_html(reading.document, reading.start)
