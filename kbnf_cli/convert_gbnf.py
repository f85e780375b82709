"""``kbnf convert-gbnf``: llama.cpp's GBNF to KBNF and back."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Delivery, both_ways, conversion_options, convert_all
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.options import common_options, vocabulary_options
from kbnf_core.languages.gbnf.language import GBNF

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


@click.command()
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--to",
    type=click.Choice(["kbnf", "gbnf"]),
    help="The language of the result.  [default: the one that the file is not in]",
)
@click.option("--start", metavar="NAME", help="The start rule of the original.")
@conversion_options
@vocabulary_options
@common_options
@click.pass_obj
def convert_gbnf(
    console: Console,
    paths: tuple[Path, ...],
    to: str | None,
    start: str | None,
    output: Path | None,
    lossy: bool,
    format_: str,
    stdin_filename: Path | None,
    vocab: str | None,
    eos: tuple[int, ...],
) -> int:
    """Convert GBNF to KBNF, or KBNF to GBNF.

    FILE is a file, a directory to search, or `-` for stdin. A vocabulary is needed only for
    tokens that are excluded by their text, as in `!</think>`. Exits with 1, and writes nothing,
    if something cannot be kept; --lossy writes it anyway.
    """
    vocabulary = read_vocabulary(console, vocab, eos) if vocab else None

    def to_kbnf(text: str, name: str) -> "Conversion":
        from kbnf_core.convert import from_gbnf

        return from_gbnf(text, path=name, start=start, vocabulary=vocabulary)

    extensions, directions = both_ways(GBNF, to, start, to_kbnf)
    delivery = Delivery(output, lossy, format_, stdin_filename)
    return convert_all(console, paths, extensions, directions, delivery)
