"""The ``kbnf`` command: its subcommands, loaded when used, and the one place errors end in."""

import gc
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import click

from kbnf_cli.console import Console
from kbnf_cli.options import common_options
from kbnf_core.diagnostics.visible import visible

_COMMANDS = {
    "check": "kbnf_cli.check:check",
    "diagram": "kbnf_cli.diagram:diagram",
    "fmt": "kbnf_cli.fmt:fmt",
    "compile": "kbnf_cli.compile:compile_",
    "convert-bnf": "kbnf_cli.convert_bnf:convert_bnf",
    "convert-gbnf": "kbnf_cli.convert_gbnf:convert_gbnf",
    "convert-json-schema": "kbnf_cli.convert_json_schema:convert_json_schema",
    "convert-lark": "kbnf_cli.convert_lark:convert_lark",
    "mask": "kbnf_cli.mask:mask",
    "play": "kbnf_cli.play.command:play",
    "rule": "kbnf_cli.rule:rule",
    "test": "kbnf_cli.test:test",
    "vocab": "kbnf_cli.vocab:vocab",
}


class _LazyGroup(click.Group):
    """A group that imports a subcommand when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if not value:
        return
    from platform import python_version

    from kbnf_core import __version__
    from kbnf_core.kernel import kernel_name

    click.echo(f"kbnf {__version__} ({kernel_name()} kernel, Python {python_version()})")
    context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@common_options
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, the kernel in use and the Python, and exit.",
)
@click.pass_context
def app(context: click.Context) -> None:
    """Lint grammars for constrained decoding, and see what they allow."""
    context.ensure_object(Console)


def main(arguments: Sequence[str]) -> int:
    """Run the command with ``arguments`` and return its exit status; raises nothing."""
    console = Console()
    try:
        with _warnings_as_notes(console):
            status = app.main(list(arguments), prog_name="kbnf", standalone_mode=False, obj=console)
        sys.stdout.flush()
    except BaseException as error:
        from kbnf_cli.failures import report

        return report(error, console)
    return int(status or 0)


@contextmanager
def _warnings_as_notes(console: Console) -> Iterator[None]:
    """Say what the library warns of as a note, without the place in its source."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        console.note(f"note: {visible(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def run() -> None:
    """Run the command as a process."""
    _start_quickly()
    _end_with_the_reader()
    _never_fail_to_encode()
    sys.exit(main(sys.argv[1:]))


def _start_quickly() -> None:
    """Leave out work that a short run has no use for.

    NumPy's linear algebra, which nothing here calls, starts a thread for each processor. And what
    imports allocate lives to the end, so looking through it for garbage finds none.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(50_000)


def _end_with_the_reader() -> None:
    """Let a closed pipe end the process silently, as it ends every other filter."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _never_fail_to_encode() -> None:
    """Escape what the terminal's encoding lacks rather than stopping in the middle."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
