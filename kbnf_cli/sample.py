"""``kbnf sample``: texts of a language."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import shown
from kbnf_cli.inputs import GRAMMAR, Inputs, open_engine
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
)
from kbnf_core.diagnostics.text import count_of

if TYPE_CHECKING:
    from pathlib import Path

    from kbnf_core import Engine

SCHEMA = "kbnf.sample/1"

_ATTEMPTS = 20
"""Draws for each text that is wanted, before it is taken that there are no others."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which texts are wanted: how many, and how they are found."""

    number: int
    seed: int
    length: int
    max_tokens: int | None
    shortest: bool


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
    help="How many texts.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Where chance begins: the same seed gives the same texts.",
)
@click.option(
    "--length",
    type=click.IntRange(min=0),
    default=32,
    show_default=True,
    help="How many tokens are drawn before the text goes to its end the shortest way.",
)
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    help="Only texts that N tokens of the vocabulary spell, the end of the sequence among them.",
)
@click.option(
    "--shortest",
    is_flag=True,
    help="The shortest texts instead; of characters that the grammar treats alike, one.",
)
@format_option(
    ["text", "raw", "json"],
    "A line for each, with line breaks and control characters escaped; or as they are.",
)
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Wish)
@as_value(Inputs)
def sample(console: Console, wish: Wish, inputs: Inputs, grammar: "Path", format_: str) -> int:
    """Show texts of a grammar's language.

    They are different texts, drawn at random, each token equally likely by its first byte. GRAMMAR
    is a file in any language that is read, an artifact, the name of a grammar that is shipped, or
    `-` for stdin. Exits with 1 if there is no text.
    """
    if wish.shortest and wish.max_tokens is not None:
        raise click.UsageError("--shortest and --max-tokens exclude each other")
    engine = open_engine(console, inputs, grammar)
    engine.remaining = wish.max_tokens
    texts, is_all = _texts(engine, wish)
    if format_ == "json":
        console.text(json.dumps(_value(texts, is_all)) + "\n")
    elif format_ == "raw":
        for text in texts:
            console.binary(text + b"\n")
    else:
        console.text("".join(f"{shown(text)}\n" for text in texts))
    if len(texts) < wish.number and format_ != "json":
        console.note(_why_few(len(texts), is_all))
    return Exit.CLEAN if texts else Exit.FINDINGS


def _texts(engine: "Engine", wish: Wish) -> tuple[list[bytes], bool]:
    """Return texts, and whether there are no others."""
    if wish.shortest:
        found = engine.shortest_texts(wish.number)
        return list(found.texts), found.is_all
    different: dict[bytes, None] = {}
    for text in _drawn(engine, wish):
        different[text] = None
        if len(different) == wish.number:
            break
    return list(different), False


def _drawn(engine: "Engine", wish: Wish) -> Iterator[bytes]:
    """Yield complete texts at random; special tokens in them by their names."""
    random = Random(wish.seed)  # noqa: S311 - nothing is secret here
    for _ in range(wish.number * _ATTEMPTS):
        drawn = engine.sample(random, wish.length)
        if drawn.is_complete:
            yield b"".join(_spelling(engine, token_id) for token_id in drawn.tokens)


def _spelling(engine: "Engine", token_id: int) -> bytes:
    vocabulary = engine.vocabulary
    if token_id in vocabulary.eos_token_ids:
        return b""
    name = vocabulary.token_string(token_id) if vocabulary.is_special(token_id) else None
    return vocabulary.token(token_id) or (name or "").encode()


def _why_few(number: int, is_all: bool) -> str:
    if is_all:
        return f"the language has {count_of(number, 'text')} only" if number else "there is no text"
    return f"{count_of(number, 'text')} found; there may be others"


def _value(texts: list[bytes], is_all: bool) -> dict[str, object]:
    """Return the object that ``schemas/sample.schema.json`` describes."""
    return {
        "schema": SCHEMA,
        "texts": [{"text": text.decode("utf-8", "replace"), "hex": text.hex()} for text in texts],
        "all": is_all,
    }
