"""``kbnf vocab``: look at a vocabulary."""

import click

from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.options import common_options
from kbnf_cli.vocab_report import as_json, as_text


@click.command()
@click.argument("file", metavar="FILE|bytes", default="bytes")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to show it.",
)
@click.option(
    "--eos",
    metavar="ID",
    type=click.IntRange(min=0),
    multiple=True,
    help="A token that ends the sequence, in place of the file's own; repeatable.",
)
@common_options
@click.pass_obj
def vocab(console: Console, file: str, format_: str, eos: tuple[int, ...]) -> int:
    """Inspect a vocabulary.

    Shows its counts, special and stop tokens, duplicates, missing bytes and round trips. Without
    FILE it is the built-in vocabulary of bytes.
    """
    from kbnf_core.vocab.inspect import inspect

    vocabulary = read_vocabulary(console, file, eos)
    inspection = inspect(vocabulary)
    console.text({"text": as_text, "json": as_json}[format_](vocabulary, inspection))
    return Exit.CLEAN
