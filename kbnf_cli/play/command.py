"""``kbnf play``: options, and which of the ways to run it."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from kbnf_cli.config import settings_source
from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.inputs import BUILT_IN
from kbnf_cli.options import (
    common_options,
    config_options,
    grammar_options,
    vocabulary_options,
)
from kbnf_cli.play.opening import open_session
from kbnf_cli.play.session import Files, Session, Settings, Verdict, World
from kbnf_cli.play.world import DiskWorld, TerminalWorld
from kbnf_core.diagnostics.text import render_text
from kbnf_core.diagnostics.visible import visible


@click.command()
@click.argument("grammar", metavar="[GRAMMAR]", required=False, type=click.Path(path_type=Path))
@click.option("-c", "commands", metavar="COMMAND", multiple=True, help="Run a line; repeatable.")
@click.option(
    "--replay",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Play a saved play again; exit with 1 where it differs.",
)
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
    help="Keep caches between steps; false is for measuring.  [default: true]",
)
@click.option("-n", "--start-nonterminal", metavar="NAME", help="The same as --start.")
@vocabulary_options
@grammar_options
@config_options
@common_options
@click.pass_obj
def play(
    console: Console,
    grammar: Path | None,
    commands: tuple[str, ...],
    replay: Path | None,
    show_stacks: bool,
    show_allowed: bool,
    show_input: bool,
    cache: bool,
    start_nonterminal: str | None,
    vocab: str | None,
    eos: tuple[int, ...],
    start: str | None,
    finish: str | None,
    config_file: Path | None,
    isolated: bool,
) -> int:
    """Type tokens at a grammar.

    On a terminal it is a console: each line is one token, `:help` lists the commands. Elsewhere
    stdin is a script with one token or command a line, and the first one that fails ends it. With
    -c those lines are run instead. GRAMMAR may be left out with --replay, which knows it.
    """
    switches = Settings(show_stacks, show_allowed, show_input, cache)
    is_terminal = not commands and replay is None and _on_terminal()
    world = TerminalWorld(console) if is_terminal else DiskWorld(console)
    if grammar is not None:
        settings = settings_source(config_file, isolated)(grammar)
        files = Files(
            grammar,
            vocab or settings.vocab or BUILT_IN,
            eos or settings.eos,
            start or start_nonterminal,
            finish,
        )
    elif replay is not None:
        # Here, as all that shows masks: `kbnf --help` has no need of NumPy.
        from kbnf_cli.play.replaying import files_of, read_saved

        files = files_of(read_saved(replay, world), replay.parent)
    else:
        raise click.UsageError("a GRAMMAR is needed, or a play to --replay")
    session = replace(open_session(files, world), settings=switches)
    if is_terminal:
        from kbnf_cli.play.terminal import run_terminal

        run_terminal(console, session, world)
        return Exit.CLEAN
    _show_losses(console, session)
    return _run_lines(console, session, commands, replay, world)


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _show_losses(console: Console, session: Session) -> None:
    """Tell what converting the grammar could not keep."""
    for loss in session.losses:
        console.findings(render_text(loss))


def _run_lines(
    console: Console, session: Session, commands: tuple[str, ...], replay: Path | None, world: World
) -> int:
    """Replay, then run the commands; stdin only where neither was given."""
    if replay is not None:
        from kbnf_cli.play.replaying import play_again, read_saved

        reply = play_again(session, read_saved(replay, world), world)
        console.data(reply.shown)
        session = reply.session
        if reply.verdict is not Verdict.FINE:
            console.error(visible(f"{replay}: {reply.message}"))
            return int(reply.verdict.value)
    lines = commands if commands or replay is not None else sys.stdin
    from kbnf_cli.play.script import run_script

    _, verdict = run_script(console, session, lines, world)
    return int(verdict.value)
