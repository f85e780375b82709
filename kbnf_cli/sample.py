"""``kbnf sample``: texts of a language.

Tests: tests/cli/test_sample.py
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import write_typed
from kbnf_cli.inputs import GRAMMAR, Inputs, complete_rule, open_engine
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
)
from kbnf_core.text.diagnostics.text import count_of

if TYPE_CHECKING:
    from pathlib import Path

    from kbnf_core import Engine

SCHEMA = "kbnf.sample/1"


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """Which texts are wanted: how many, and how they are found."""

    number: int
    seed: int
    length: int
    max_tokens: int | None
    shortest: bool
    ascii_only: bool
    without: tuple[str, ...]


@click.command(
    epilog=examples(
        "kbnf sample json", "kbnf sample g.kbnf -n 5 --seed 7", "kbnf sample g.kbnf --shortest"
    )
)
@click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of texts.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed: the same seed gives the same texts.",
)
@click.option(
    "--length",
    type=click.IntRange(min=0),
    default=32,
    show_default=True,
    help="Number of random choices in a text (alternatives, repetitions, characters); then "
    "it ends in the shortest way. Fixed text does not count.",
)
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    help="Only texts of at most N tokens, including the end-of-sequence token.",
)
@click.option(
    "--shortest",
    is_flag=True,
    help="Print the shortest texts instead, with one of all characters that the grammar "
    "treats alike.",
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Print texts of ASCII characters only.")
@click.option(
    "--without",
    metavar="RULE",
    multiple=True,
    shell_complete=complete_rule,
    help="Only texts that do not use this rule; repeatable.",
)
@format_option(
    ["text", "raw", "json"],
    "text: one line each, with escapes, for `--escaped` of other commands; raw: unchanged.",
)
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(SampleOptions)
@as_value(Inputs)
def sample(
    console: Console, drawing: SampleOptions, inputs: Inputs, grammar: "Path", format_: str
) -> int:
    """Print random texts of a grammar's language.

    The texts are distinct. Alternatives of the grammar are equally likely, then the characters
    allowed there; optional parts are written with probability 1/2. GRAMMAR is a file in any
    supported language, an artifact, the name of a shipped grammar, or `-` for stdin. Exits with
    status 1 if there is no text.
    """
    of_drawing = {
        "--max-tokens": drawing.max_tokens is not None,
        "--ascii": drawing.ascii_only,
        "--without": bool(drawing.without),
    }
    for option in of_drawing if drawing.shortest else ():
        if of_drawing[option]:
            raise click.UsageError(f"--shortest and {option} exclude each other")
    engine = open_engine(console, inputs, grammar, of_texts=True)
    _check_names(drawing.without, engine.grammar.rules.rules)
    if not engine.grammar.is_endless:  # Else there is nothing to bound.
        engine.remaining = drawing.max_tokens
    texts, total = _texts(engine, drawing)
    _print(console, texts, total, format_)
    if len(texts) < drawing.number and format_ != "json":
        if engine.grammar.is_endless:
            console.note(f"there is no text: none of `{engine.grammar.start}` ever ends (W308)")
            return Exit.FINDINGS
        console.note(_why_few(drawing, len(texts), total))
        if total == len(texts) and _is_cut(engine, total):
            console.note(
                f"with finish={engine.finish.value} a text ends as soon as it is complete; "
                "--finish eos draws those that go on"
            )
    return Exit.CLEAN if texts else Exit.FINDINGS


def _texts(engine: "Engine", options: SampleOptions) -> tuple[tuple[bytes, ...], int | None]:
    """Return texts, and the number of texts in the language where that is known."""
    from kbnf_core.examples.sampling import count_texts, sample_texts

    if options.shortest:
        result = engine.shortest_texts(options.number)
        return result.texts, count_texts(engine, options.number) if result.is_all else None
    drawn = sample_texts(
        engine,
        options.number,
        options.seed,
        options.length,
        ascii_only=options.ascii_only,
        without=options.without,
    )
    return drawn.texts, drawn.total


def _check_names(names: Sequence[str], rules: Collection[str]) -> None:
    """Raise ``UsageError`` for a name without a rule."""
    from kbnf_core.text.suggest import Suggestions

    for name in names:
        if name not in rules:
            close = Suggestions(rules).closest(name)
            advice = f"; did you mean `{close}`?" if close else ""
            raise click.UsageError(f"the grammar has no rule `{name}`{advice}")


def _print(console: Console, texts: Sequence[bytes], total: int | None, format_: str) -> None:
    if format_ == "json":
        console.text(json.dumps(_value(texts, total)) + "\n")
    elif format_ == "raw":
        for text in texts:
            console.binary(text + b"\n")
    else:
        console.text("".join(f"{write_typed(text)}\n" for text in texts))


def _is_cut(engine: "Engine", total: int) -> bool:
    """Return whether there are more texts where only the model ends them."""
    from kbnf_core import Engine, Finish
    from kbnf_core.examples.sampling import count_texts

    if engine.finish is Finish.EOS or engine.remaining is not None:
        return False
    other = Engine(engine.grammar, engine.vocabulary, finish=Finish.EOS)
    return count_texts(other, total + 1) != total


def _why_few(options: SampleOptions, number: int, total: int | None) -> str:
    if total == number:
        return f"the language has only {count_of(number, 'text')}" if number else "there is no text"
    if options.shortest and total is not None:
        return (
            f"{count_of(number, 'text')} of {total:,}: of characters that the grammar treats alike,"
            " one; without --shortest all are drawn"
        )
    if options.shortest:
        return f"{count_of(number, 'text')} found within the limit of work; there may be others"
    more = f"--length {max(4 * options.length, 32)} draws longer ones"
    kind = "different ASCII text" if options.ascii_only else "different text"
    if options.without and not number:
        return f"there is no text without {', '.join(f'`{name}`' for name in options.without)}"
    return f"only {count_of(number, kind)} found; {more}"


def _value(texts: Sequence[bytes], total: int | None) -> dict[str, object]:
    """Return the object that ``schemas/sample.schema.json`` describes."""
    return {
        "schema": SCHEMA,
        "texts": [{"text": text.decode("utf-8", "replace"), "hex": text.hex()} for text in texts],
        "all": total == len(texts),
    }
