"""``kbnf test``: run the examples of grammars."""

from functools import cache, partial
from pathlib import Path

import click

from kbnf_cli.console import Console
from kbnf_cli.examples import as_json, as_junit, as_text, run_suite
from kbnf_cli.exits import Exit
from kbnf_cli.files import ANY_GRAMMAR, find_grammars
from kbnf_cli.grammars import GRAMMAR
from kbnf_cli.inputs import Inputs, read_vocabulary
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    grammar_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_core.errors import SourceError

_FORMATS = {"text": as_text, "json": as_json, "junit": as_junit}


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=GRAMMAR)
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(_FORMATS)),
    default="text",
    show_default=True,
    help="How to show what became of the examples.",
)
@click.option("--coverage", is_flag=True, help="Tell which rules and alternatives no example uses.")
@vocabulary_options
@grammar_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(Inputs)
def test(
    console: Console,
    inputs: Inputs,
    paths: tuple[Path, ...],
    format_: str,
    coverage: bool,
) -> int:
    """Run the examples of grammars.

    PATH is a grammar in any language that is read, a directory to search, or `-` for stdin;
    without one, the current directory is searched. Examples of GRAMMAR.kbnf are in
    GRAMMAR.examples.toml beside it, in comments such as (* kbnf: accept "text" *) in it, and in
    plays (GRAMMAR.play.jsonl). Exits with 1 if one fails.
    """
    settings_for = inputs.settings_source()
    vocabulary_for = cache(partial(read_vocabulary, console))
    suites = []
    for path in console.track(_grammars(console, paths), "testing"):
        settings = settings_for(inputs.name_of(path))
        vocabulary = vocabulary_for(*inputs.vocabulary(settings))
        try:
            suite = run_suite(console, inputs, path, vocabulary, coverage)
        except SourceError as error:
            console.problem(error)
            continue
        suites.append(suite)
    if not suites:
        return Exit.CLEAN
    if not any(suite.cases or suite.errors for suite in suites):
        console.note("no examples: put them into GRAMMAR.examples.toml beside GRAMMAR.kbnf")
    console.data(_FORMATS[format_](suites))
    return Exit.FINDINGS if any(suite.fails for suite in suites) else Exit.CLEAN


def _grammars(console: Console, paths: tuple[Path, ...]) -> list[Path]:
    return find_grammars(paths or (Path(),), console.note, ANY_GRAMMAR)
