"""``kbnf convert-gbnf``: llama.cpp's GBNF to KBNF and back."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Delivery, Direction, conversion_options, convert_all
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.options import common_options, vocabulary_options

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion
    from kbnf_core.vocab.vocabulary import Vocabulary


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
        return _from_gbnf(text, name, start, vocabulary)

    def to_gbnf(text: str, name: str) -> "Conversion":
        return _to_gbnf(text, name, start)

    def direction(file: Path) -> Direction:
        if (to or _other_than(file)) == "gbnf":
            return Direction(to_gbnf, ".gbnf")
        return Direction(to_kbnf, ".kbnf")

    extensions = {"gbnf": (".kbnf",), "kbnf": (".gbnf",)}.get(to or "", (".gbnf", ".kbnf"))
    delivery = Delivery(output, lossy, format_, stdin_filename)
    return convert_all(console, paths, extensions, direction, delivery)


def _other_than(file: Path) -> str:
    return "gbnf" if file.suffix == ".kbnf" else "kbnf"


def _from_gbnf(
    text: str, name: str, start: str | None, vocabulary: "Vocabulary | None"
) -> "Conversion":
    from kbnf_core.convert import from_gbnf

    return from_gbnf(text, path=name, start=start, vocabulary=vocabulary)


def _to_gbnf(text: str, name: str, start: str | None) -> "Conversion":
    from kbnf_core.convert import to_gbnf

    return to_gbnf(text, path=name, start=start)
