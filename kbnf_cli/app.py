"""The ``kbnf`` command and its subcommands, which are loaded when they are used.

Tests: tests/cli/test_encodings.py, tests/cli/test_help.py
"""

from importlib import import_module

import click

from kbnf_cli.console import Console
from kbnf_cli.options import GROUPS, RENAMED, common_options, examples, may_be_configured

_COMMANDS = {
    "check": "kbnf_cli.check:check",
    "diagram": "kbnf_cli.diagram:diagram",
    "fmt": "kbnf_cli.fmt:fmt",
    "lsp": "kbnf_cli.lsp:lsp",
    "complete": "kbnf_cli.complete:complete",
    "compile": "kbnf_cli.compile:compile_",
    "convert": "kbnf_cli.convert:convert_any",
    "convert-json-schema": "kbnf_cli.convert:convert_json_schema",
    "diff": "kbnf_cli.diff:diff",
    "explain": "kbnf_cli.explain:explain",
    "help": "kbnf_cli.help:help_",
    "init": "kbnf_cli.init:init",
    "mask": "kbnf_cli.mask:mask",
    "match": "kbnf_cli.match:match",
    "parse": "kbnf_cli.parse:parse",
    "play": "kbnf_cli.play.command:play",
    "repair": "kbnf_cli.repair:repair",
    "rule": "kbnf_cli.help:rule",
    "sample": "kbnf_cli.sample:sample",
    "store": "kbnf_cli.store:store",
    "test": "kbnf_cli.test:test",
    "trace": "kbnf_cli.trace:trace",
    "vocab": "kbnf_cli.vocab:vocab",
}


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is named."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups, those that `convert` covers last."""
        for title, commands in self.groups(ctx).items():
            rows = [(name, command.get_short_help_str(60)) for name, command in commands]
            with formatter.section(title):
                formatter.write_dl(rows)

    def groups(self, ctx: click.Context) -> dict[str, list[tuple[str, click.Command]]]:
        """Return the groups that have commands, by their titles."""
        left = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        result: dict[str, list[tuple[str, click.Command]]] = {}
        for title, names in (*GROUPS.items(), ("Aliases of convert", tuple(left))):
            for name in names:
                command = left.pop(name, None)
                if command is not None and not command.hidden:
                    result.setdefault(title, []).append((name, command))
        return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        from kbnf_cli.convert import COMMANDS as OTHERS

        return sorted((*super().list_commands(ctx), *_COMMANDS, *OTHERS))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name in _COMMANDS:
            module, _, name = _COMMANDS[cmd_name].partition(":")
            command: click.Command = getattr(import_module(module), name)
            return command
        if cmd_name.startswith("convert-"):
            from kbnf_cli.convert import COMMANDS as OTHERS

            return OTHERS.get(cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Do as click, but name the command that a misspelt one resembles."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from kbnf_core.text.suggest import Suggestions

            close = Suggestions(self.list_commands(ctx)).closest(args[0])
            if close is not None:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {close!r}?")
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None:
            return name, command, rest
        rest = _renamed(ctx.ensure_object(Console), name, rest)
        if not ctx.resilient_parsing and may_be_configured(rest):
            from kbnf_cli.config import command_defaults

            ctx.default_map = {name: command_defaults(ctx, name, command, rest)}
        return name, command, rest


def _renamed(console: Console, command: str, arguments: list[str]) -> list[str]:
    """Return the arguments of a command with the present names of options, and note the others."""
    result: list[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[number:]]
        former, sign, value = argument.partition("=")
        present = RENAMED.get((command, former))
        if present is not None:
            console.note(f"`{former}` of `kbnf {command}` is called `{present}` now")
        result.append(argument if present is None else f"{present}{sign}{value}")
    return result


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if not value:
        return
    from platform import python_version

    from kbnf_core import __version__
    from kbnf_core.kernel import has_engine

    engine = "compiled engine" if has_engine() else "no compiled engine"
    click.echo(f"kbnf {__version__} ({engine}, Python {python_version()})")
    context.exit()


@click.group(
    cls=LazyGroup,
    epilog=examples(
        "kbnf init app",
        "kbnf check grammars",
        "kbnf sample json",
        "kbnf mask json --text '{'",
        "kbnf convert schema.json -o schema.kbnf",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@common_options
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the versions of kbnf and Python, and whether the engine is compiled; exit.",
)
@click.pass_context
def app(context: click.Context) -> None:
    """Check, test and inspect grammars for constrained decoding.

    A grammar defines which texts a language model may generate. `kbnf COMMAND --help` describes a
    command, `kbnf help language` describes KBNF, and `kbnf help WORD...` searches the manual.
    """
    context.ensure_object(Console)
