"""``kbnf convert-abnf``: the ABNF of RFCs to KBNF."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Delivery, Direction, conversion_options, convert_all
from kbnf_cli.options import common_options
from kbnf_core.languages import ABNF, KBNF

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


@click.command()
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--start", metavar="NAME", help="The start rule.  [default: the first rule]")
@conversion_options
@common_options
@click.pass_obj
def convert_abnf(
    console: Console,
    paths: tuple[Path, ...],
    start: str | None,
    output: Path | None,
    lossy: bool,
    format_: str,
    stdin_filename: Path | None,
) -> int:
    """Convert ABNF, the grammar language of RFCs, to KBNF.

    FILE is a file, a directory to search for *.abnf, or `-` for stdin. Core rules such as DIGIT
    are known. Values above %x7F are octets where none is above %xFF, and else code points.
    """

    def convert(text: str, name: str) -> "Conversion":
        from kbnf_core.convert import from_abnf

        return from_abnf(text, path=name, start=start)

    delivery = Delivery(output, lossy, format_, stdin_filename)
    direction = Direction(convert, KBNF.extension)
    return convert_all(console, paths, (ABNF.extension,), lambda _: direction, delivery)
