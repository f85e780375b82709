"""``kbnf complete``: the end of texts that were cut.

Tests: tests/cli/test_complete.py
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.inputs import GRAMMAR, Inputs, open_engine
from kbnf_cli.match import (
    MatchVerdict,
    Split,
    all_texts,
    as_printed,
    judge,
    lines_of,
    lines_options,
    value_of_verdict,
)
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
    together,
)
from kbnf_core.text.diagnostics.segments import Role, Segment
from kbnf_core.text.errors import EngineError

if TYPE_CHECKING:
    from kbnf_core import Engine

SCHEMA = "kbnf.complete/1"

texts_options = together(
    click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR),
    click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path)),
    click.option("--text", "given", metavar="TEXT", multiple=True, help="A text; repeatable."),
    lines_options,
)
"""A grammar and texts: files, ``--text``, ``--lines`` and ``--escaped``."""


def head_of(schema: str, verdict: MatchVerdict) -> dict[str, object]:
    """Return the first members of an object about a text."""
    text = verdict.text
    return {"schema": schema, "path": text.path, "line": text.line, "status": verdict.status}


@click.command(
    epilog=examples(
        "kbnf complete json answer.json",
        """kbnf complete json --text '{"a": [1, 2'""",
        "kbnf complete schema.json --lines --format json < answers.txt",
    )
)
@texts_options
@click.option(
    "--tokens",
    metavar="N",
    type=click.IntRange(min=0),
    help="Complete in at most N tokens, not counting the end-of-sequence token.",
)
@format_option(["text", "json"], "Output format.")
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Inputs)
def complete(
    console: Console,
    inputs: Inputs,
    grammar: Path,
    files: tuple[Path, ...],
    given: tuple[str, ...],
    split: Split | None,
    tokens: int | None,
    format_: str,
) -> int:
    """Complete texts that were cut, in the shortest way.

    Prints each completed text; on a terminal the added part is coloured. A text that fits is
    printed unchanged. A line break at the end of a text is not part of it, unless the grammar
    requires it. A wrong text is shown with its position, and the exit status is 1; see `kbnf
    repair`.
    """
    texts = all_texts(console, grammar, files, given, split)
    engine = open_engine(console, inputs, grammar, of_texts=True)
    status = Exit.CLEAN
    for text in texts:
        verdict = judge(engine, text)
        added = None
        if verdict.status == "wrong":
            console.findings(lines_of(verdict, console.width()))
        else:
            try:
                added = _end_of(engine, verdict.data, tokens)
            except EngineError as error:
                console.error(f"{text.path}: {error}")
        if added is None:
            status = Exit.FINDINGS
        if format_ == "json":
            console.text(json.dumps(_value(verdict, added)) + "\n")
        elif added is not None:
            _write(console, as_printed(verdict.data, split), as_printed(added, split))
    return status


def _end_of(engine: "Engine", data: bytes, tokens: int | None) -> bytes:
    """Return the end of a text; raise ``EngineError`` where there is none that is allowed."""
    engine.reset()
    if data:
        engine.try_accept_new_bytes(data)
    result = engine.shortest_completion(fewest=tokens is not None)
    if tokens is None:
        if result.data is None:
            from kbnf_core.repair import NO_END

            raise EngineError(NO_END)
        return result.data
    if result.tokens is None or len(result.tokens) > tokens:
        if result.tokens is None:
            raise EngineError("no tokens of the vocabulary complete the text")
        least = len(result.tokens)
        enough = "1 token is" if least == 1 else f"{least:,} tokens are"
        raise EngineError(f"--tokens {tokens} is too small: {enough} enough")
    return engine.vocabulary.decode(result.tokens)


def _write(console: Console, kept: bytes, added: bytes) -> None:
    if not console.is_coloured(sys.stdout):
        console.binary(kept + added + b"\n")
        return
    texts = (data.decode("utf-8", "replace") for data in (kept, added))
    console.data([Segment(next(texts)), Segment(next(texts), Role.ACCEPTED), Segment("\n")])


def _value(verdict: MatchVerdict, added: bytes | None) -> dict[str, object]:
    """Return the object that ``schemas/complete.schema.json`` describes."""
    value = head_of(SCHEMA, verdict)
    if verdict.status == "wrong":
        return {**value, "error": {"message": verdict.message, **value_of_verdict(verdict)}}
    if added is None:
        return {**value, "error": {"message": "there is no such end"}}
    return {
        **value,
        "text": (verdict.data + added).decode("utf-8", "replace"),
        "kept": len(verdict.data),
        "added": added.decode("utf-8", "replace"),
    }
