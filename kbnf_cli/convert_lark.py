"""``kbnf convert-lark``: Lark and LLGuidance's Lark to KBNF and back."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Delivery, both_ways, conversion_options, convert_all
from kbnf_cli.options import common_options
from kbnf_core.languages.lark.language import LARK

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


@click.command()
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--to",
    type=click.Choice(["kbnf", "lark"]),
    help="The language of the result.  [default: the one that the file is not in]",
)
@click.option("--start", metavar="NAME", help="The start rule of the original.")
@click.option(
    "--lexing",
    type=click.Choice(["llguidance", "earley", "lalr", "scannerless"]),
    help="How the original cuts text into lexemes.  [default: as its dialect does]",
)
@conversion_options
@common_options
@click.pass_obj
def convert_lark(
    console: Console,
    paths: tuple[Path, ...],
    to: str | None,
    start: str | None,
    lexing: str | None,
    output: Path | None,
    lossy: bool,
    format_: str,
    stdin_filename: Path | None,
) -> int:
    """Convert Lark to KBNF, or KBNF to LLGuidance's Lark.

    FILE is a file, a directory to search, or `-` for stdin; imports are looked for beside it.
    Exits with 1, and writes nothing, if something cannot be kept; --lossy writes it anyway.
    """

    def to_kbnf(text: str, name: str) -> "Conversion":
        from kbnf_core.convert import from_lark
        from kbnf_core.imports import ANYWHERE

        return from_lark(text, path=name, start=start, lexing=lexing, imports=ANYWHERE)

    extensions, directions = both_ways(LARK, to, start, to_kbnf)
    delivery = Delivery(output, lossy, format_, stdin_filename)
    return convert_all(console, paths, extensions, directions, delivery)
