"""``kbnf mask``: the tokens that a grammar allows after a prefix, as bytes or as tokens.

Tests: tests/cli/test_mask.py
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import as_bytes
from kbnf_cli.inputs import GRAMMAR, Inputs, open_engine
from kbnf_cli.mask_report import (
    SCHEMA,
    Mask,
    Prefix,
    Rejection,
    View,
    explanation_text,
    explanation_value,
    mask_value,
    rejection_text,
    rejection_value,
    to_ids,
    to_json,
    to_npy,
)
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    examples,
    format_option,
    grammar_options,
    schema_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_core.text.diagnostics.segments import Segment
from kbnf_core.text.errors import FinishedError, RejectedError, UnknownTokenError

if TYPE_CHECKING:
    from kbnf_core import Engine, Grammar, Vocabulary


def feed(engine: "Engine", prefix: Prefix) -> Rejection | None:
    """Feed the prefix; return the reason if it was refused, else None.

    Bytes are fed as one token would be. Raises ``UnknownTokenError`` for an id that the
    vocabulary does not have, before anything is fed.
    """
    for token_id in prefix.tokens:
        if token_id not in engine.vocabulary:
            raise UnknownTokenError(token_id)
    if prefix.tokens:
        return _feed_tokens(engine, prefix.tokens)
    return _feed_bytes(engine, prefix.data) if prefix.data else None


def spell(vocabulary: "Vocabulary", tokens: tuple[int, ...]) -> bytes:
    """Return the bytes of some tokens; special tokens have none."""
    return b"".join(vocabulary.token(token_id) or b"" for token_id in tokens)


def _feed_bytes(engine: "Engine", data: bytes) -> Rejection | None:
    try:
        engine.try_accept_new_bytes(data)
    except RejectedError as error:
        offset = error.byte_offset
        why = engine.why(data)
        message = f"the prefix is rejected: {why.reason}"
        return Rejection(message, None, offset, data[:offset], why)
    return None


def _feed_tokens(engine: "Engine", tokens: tuple[int, ...]) -> Rejection | None:
    vocabulary = engine.vocabulary
    for index, token_id in enumerate(tokens):
        before = spell(vocabulary, tokens[:index])
        try:
            engine.try_accept_new_token(token_id)
        except FinishedError:
            message = f"token {token_id} (index {index}) comes after the end of the text"
            return Rejection(message, index, len(before), before, None)
        except RejectedError as error:
            good = before + (vocabulary.token(token_id) or b"")[: error.byte_offset]
            why = engine.why(token_id)
            message = f"token {token_id} (index {index}) is rejected: {why.reason}"
            return Rejection(message, index, len(good), good, why)
    return None


def _token_ids(text: str) -> tuple[int, ...]:
    """Return token ids, separated by commas or blanks."""
    try:
        ids = tuple(int(number) for number in text.replace(",", " ").split())
    except ValueError:
        message = f"{text!r} is not a list of token ids such as 1,2,3"
        raise click.BadParameter(message) from None
    if any(token_id < 0 for token_id in ids):
        raise click.BadParameter("a token id is not negative")
    return ids


def _bytes(text: str) -> bytes:
    """Return bytes, given as hexadecimal digits."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        message = f"{text!r} is not an even number of hexadecimal digits"
        raise click.BadParameter(message) from None


def _token_or_text(text: str) -> int | bytes | str:
    """Return a token id for digits, bytes after ``text:``, and anything else as it is.

    The last may be the name of a special token as well as a text.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    plain = text.removeprefix("text:")
    return text if plain == text else as_bytes(plain)


@click.command(
    epilog=examples(
        """kbnf mask json --text '{"a": '""",
        """kbnf mask json --text '{"a": ' --why '}'""",
        "kbnf mask g.kbnf --vocab tokenizer.json --tokens 1,2,3",
        "kbnf mask g.kbnf --vocab tokenizer.json --text '{\"a' --canonical",
    )
)
@click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR)
@click.option("--text", help="The prefix, as text.")
@click.option("--tokens", metavar="1,2,3", type=_token_ids, help="The prefix, as token ids.")
@click.option(
    "--hex", "hex_", metavar="7B22", type=_bytes, help="The prefix, as bytes in hexadecimal."
)
@format_option(
    ["table", "ids", "json", "npy"],
    "Output format; npy is a NumPy file, bool[vocabulary size].",
    default="table",
)
@click.option(
    "--why",
    metavar="TOKEN_OR_TEXT",
    type=_token_or_text,
    help="Explain why a token (digits: its id) or a text is or is not allowed; where a special "
    "token has that spelling, both. `text:12` is the text 12.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Number of tokens to list; beyond it, the table is grouped by position in the grammar.",
)
@click.option(
    "--match",
    metavar="TEXT",
    help="Show only the tokens that contain TEXT, or whose bytes match /RE/.",
)
@click.option(
    "--canonical",
    is_flag=True,
    help="Show only the tokens that the tokenizer would write; it also tokenizes --text and --hex.",
)
@vocabulary_options
@grammar_options
@schema_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(Inputs)
def mask(
    console: Console,
    inputs: Inputs,
    grammar: Path,
    text: str | None,
    tokens: tuple[int, ...] | None,
    hex_: bytes | None,
    format_: str,
    why: int | bytes | str | None,
    limit: int,
    match: str | None,
    canonical: bool,
) -> int:
    """Show the tokens a grammar allows.

    --text, --tokens or --hex give a prefix; without one, the tokens are those allowed at the
    beginning. GRAMMAR is a file in any supported language, an artifact, the name of a shipped
    grammar (`json`), or `-` for stdin. Exits with 1 if the prefix is rejected.
    """
    if why is not None and format_ not in ("table", "json"):
        raise click.UsageError("--why goes with --format table or json")
    if match is not None and (why is not None or format_ not in ("table", "ids")):
        raise click.UsageError("--match goes with --format table or ids, and not with --why")
    prefix = _prefix(text, tokens, hex_)
    engine = open_engine(console, inputs, grammar, canonical=canonical)
    if canonical and prefix.data:
        # A text is what the tokenizer writes for it.
        prefix = Prefix(b"", tuple(engine.vocabulary.encode(prefix.data)))
    rejection = feed(engine, prefix)
    if rejection is not None:
        _show_rejection(console, rejection, format_, engine.grammar)
        return Exit.FINDINGS
    if why is None:
        _show_mask(console, engine, prefix, format_, View(limit, console.width() or _WIDE, match))
    else:
        _show_explanation(console, engine, prefix, why, format_)
    return Exit.CLEAN


def _prefix(text: str | None, tokens: tuple[int, ...] | None, hex_: bytes | None) -> Prefix:
    if sum(given is not None for given in (text, tokens, hex_)) > 1:
        raise click.UsageError("--text, --tokens and --hex exclude each other")
    return Prefix(as_bytes(text) if text is not None else hex_ or b"", tokens or ())


def _mask(engine: "Engine", prefix: Prefix) -> Mask:
    engine.compute_allowed_token_ids()
    ids = engine.get_allowed_token_ids_from_last_computation()
    return Mask(engine.vocabulary, _spelled(engine, prefix), engine.is_finished(), ids)


def _spelled(engine: "Engine", prefix: Prefix) -> Prefix:
    """Return the prefix with the bytes of its tokens filled in."""
    return replace(prefix, data=prefix.data or spell(engine.vocabulary, prefix.tokens))


_WIDE = 100
"""Cells in a line where stdout is not a terminal."""


def _show_mask(
    console: Console, engine: "Engine", prefix: Prefix, format_: str, view: View
) -> None:
    # Here, as all that needs NumPy: `kbnf --help` does without.
    from kbnf_cli.mask_table import matching, to_table

    mask = _mask(engine, prefix)
    match format_:
        case "json":
            console.text(to_json(mask_value(mask)))
        case "ids":
            if view.match is not None:
                mask = replace(mask, ids=matching(mask.vocabulary, mask.ids, view.match))
            console.text(to_ids(mask))
        case "npy":
            console.binary(to_npy(mask))
        case _:
            console.text(to_table(engine, mask, view))


def _show_explanation(
    console: Console, engine: "Engine", prefix: Prefix, why: int | bytes | str, format_: str
) -> None:
    """Show why a token or a text is allowed, and of a text that spells a special token, both."""
    special = engine.vocabulary.special_tokens.get(why) if isinstance(why, str) else None
    explanation = engine.why(as_bytes(why) if isinstance(why, str) else why)
    source = engine.grammar.source
    if format_ == "json":
        value = {**mask_value(_mask(engine, prefix)), "why": explanation_value(explanation, source)}
        if special is not None:
            value["why_special_token"] = explanation_value(engine.why(special), source)
        console.text(to_json(value))
        return
    shown = explanation_text(explanation, source, engine.vocabulary)
    if special is None:
        console.data(shown)
        return
    console.data([Segment("text "), *shown])
    console.data(explanation_text(engine.why(special), source, engine.vocabulary))


def _show_rejection(
    console: Console, rejection: Rejection, format_: str, grammar: "Grammar"
) -> None:
    if format_ == "json":
        error = rejection_value(rejection)
        console.text(to_json({"schema": SCHEMA, "status": "rejected", "error": error}))
    else:
        console.findings(rejection_text(rejection, grammar.source))
