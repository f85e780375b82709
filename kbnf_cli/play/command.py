"""``kbnf play``: options, the world outside, and which of the ways to run it.

Tests: tests/unit/play
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.inputs import GRAMMAR, Inputs
from kbnf_cli.options import as_value, common_options, examples, input_options
from kbnf_cli.play.session import Files, Switches, World, open_session


@click.command(
    epilog=examples(
        "kbnf play json",
        "kbnf play json --vocab tokenizer.json",
        """kbnf play json -c '{' -c ':allowed'""",
        "kbnf play --web",
    )
)
@click.argument("grammar", metavar="[GRAMMAR]", required=False, type=GRAMMAR)
@click.option("-c", "commands", metavar="COMMAND", multiple=True, help="Run a line; repeatable.")
@click.option(
    "-s",
    "--show-stacks",
    "--stacks-display",
    type=bool,
    default=False,
    metavar="BOOL",
    help="Show the open rules after each token.  [default: false]",
)
@click.option(
    "-p",
    "--show-allowed",
    "--possible-tokens-display",
    type=bool,
    default=True,
    metavar="BOOL",
    help="Show the allowed tokens after each token.  [default: true]",
)
@click.option(
    "-i",
    "--show-input",
    "--input-display",
    type=bool,
    default=False,
    metavar="BOOL",
    help="Show the bytes that were typed.  [default: false]",
)
@click.option(
    "-b",
    "--cache",
    "--bytes-cache",
    type=bool,
    default=True,
    metavar="BOOL",
    help="Keep caches between steps; use false for measurements.  [default: true]",
)
@click.option("--web", is_flag=True, help="Serve the playground to a browser on this machine.")
@click.option(
    "--also-vocab",
    metavar="FILE",
    multiple=True,
    help="With --web: an additional vocabulary; repeatable.",
)
@click.option(
    "--host",
    metavar="HOST",
    help="With --web: the address to listen at; other machines may reach it. By default 127.0.0.1.",
)
@input_options
@common_options
@click.pass_obj
@as_value(Switches)
@as_value(Inputs)
def play(
    console: Console,
    switches: Switches,
    inputs: Inputs,
    grammar: Path | None,
    commands: tuple[str, ...],
    web: bool,
    also_vocab: tuple[str, ...],
    host: str | None,
) -> int:
    """Step through a grammar token by token.

    On a terminal this is a console: each line is one token, and `:help` lists the commands.
    Otherwise stdin is a script with one token or command a line, which ends at the first line
    that fails. -c runs its lines instead. GRAMMAR is optional with --web, which starts with an
    example. --web needs the extra `web`: pip install '.[web]'.
    """
    if web:
        if commands:
            raise click.UsageError("--web excludes -c")
        from kbnf_cli.web.serve import LOOPBACK, serve

        return serve(console, inputs, grammar, also_vocab, host or LOOPBACK)
    if also_vocab or host is not None:
        raise click.UsageError("--also-vocab and --host go with --web")
    if grammar is None:
        raise click.UsageError("a GRAMMAR is needed")
    is_terminal = not commands and sys.stdin.isatty() and sys.stdout.isatty()
    world = (TerminalWorld if is_terminal else World)(console, inputs)
    vocabulary, eos = inputs.vocabulary(inputs.settings_source()(grammar))
    asked = (inputs.start, inputs.finish, inputs.from_, inputs.schema)
    files = Files(grammar, vocabulary, eos or None, *asked)
    session = replace(open_session(files, world), settings=switches)
    if is_terminal:
        from kbnf_cli.play.terminal import run_terminal

        run_terminal(console, session, world)
        return Exit.CLEAN
    console.diagnostics(session.losses)
    # Here, as all that shows masks: `kbnf --help` has no need of NumPy.
    from kbnf_cli.play.commands import run_script

    _, verdict = run_script(console, session, commands or sys.stdin, world)
    return int(verdict.value)


_LEAST_COLUMNS = 20
_LEAST_ROWS = 5
_OTHER_ROWS = 8
"""Lines of a terminal that are left for the rest of a reply and the prompt."""


class TerminalWorld(World):
    """The outside of a terminal, whose size is asked for whenever something is shown."""

    @property
    def columns(self) -> int:
        """Cells in a line."""
        return max(_LEAST_COLUMNS, shutil.get_terminal_size().columns)

    @property
    def rows(self) -> int:
        """Lines that a listing may take."""
        return max(_LEAST_ROWS, shutil.get_terminal_size().lines - _OTHER_ROWS)
