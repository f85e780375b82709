"""``kbnf convert-bnf``: the older dialect of bnf_sampler to KBNF."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Delivery, Direction, conversion_options, convert_all
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.options import common_options, vocabulary_options

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


@click.command()
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--start", metavar="NAME", help="The start nonterminal of the original.")
@conversion_options
@vocabulary_options
@common_options
@click.pass_obj
def convert_bnf(
    console: Console,
    paths: tuple[Path, ...],
    start: str | None,
    output: Path | None,
    lossy: bool,
    format_: str,
    stdin_filename: Path | None,
    vocab: str | None,
    eos: tuple[int, ...],
) -> int:
    """Convert grammars of bnf_sampler, `<start>::=...`, to KBNF.

    FILE is a file, a directory to search for *.bnf, or `-` for stdin. `<any!>` and
    `<except!(..)>` take tokens, so they need the vocabulary of the model. Exits with 1, and
    writes nothing, if something cannot be kept; --lossy writes it anyway.
    """
    vocabulary = read_vocabulary(console, vocab, eos) if vocab else None

    def convert(text: str, name: str) -> "Conversion":
        from kbnf_core.convert import from_bnf

        return from_bnf(text, path=name, start=start, vocabulary=vocabulary)

    delivery = Delivery(output, lossy, format_, stdin_filename)
    return convert_all(console, paths, (".bnf",), lambda _: Direction(convert, ".kbnf"), delivery)
