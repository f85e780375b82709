"""Options that several commands share, and the names of the commands, by purpose.

Tests: tests/cli/test_options.py, tests/cli/test_man.py
"""

import json
import pkgutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from kbnf_cli.console import Colour, Console, Verbosity
from kbnf_core.languages.lark.indenter import Indenter, indenter_of
from kbnf_core.targets import SERVICE_NAMES
from kbnf_core.text.errors import KbnfError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


CONFIGURATION = ("kbnf.toml", "pyproject.toml")
"""The names of configuration files; the first wins."""


def may_be_configured(arguments: Sequence[str]) -> bool:
    """Return whether there may be a configuration for a command with these arguments.

    Where there is none, what reads it is not imported.
    """
    here = Path.cwd()
    folders = (here, *here.parents)
    is_named = any(argument.startswith("--config") for argument in arguments)
    return is_named or any((folder / name).exists() for folder in folders for name in CONFIGURATION)


GROUPS = {
    "Write": ("init", "fmt", "convert"),
    "Inspect": ("sample", "explain", "mask", "play", "diagram", "vocab"),
    "Check": ("check", "test", "match", "parse", "complete", "repair", "diff", "trace"),
    "Ship": ("compile", "store"),
    "Help": ("help", "rule", "lsp"),
}
"""The commands by their purposes; a command without one is listed after them."""

NAMES = tuple(name for names in GROUPS.values() for name in names)

_CONVERT = ("convert", "convert-abnf", "convert-bnf", "convert-gbnf", "convert-json-schema")
RENAMED = {
    **{(name, "--target"): "--for" for name in (*_CONVERT, "convert-lark")},
    ("match", "--why"): "--tree",
    ("play", "-n"): "--start",
    ("play", "--start-nonterminal"): "--start",
}
"""Names that options of commands had, which are still accepted, with those that they have now."""


_Command = TypeVar("_Command", bound=Callable[..., Any])
_Value = TypeVar("_Value", bound="DataclassInstance")

FROM_XGRAMMAR = "xgrammar:"

FINISHES = ("eager", "token", "eos")


class CallFormat(click.ParamType[str]):
    """A format of tool calls: by its name, from a chat template, or as XGrammar has it."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or the format as JSON."""
        path = Path(value)
        try:
            if value.startswith(FROM_XGRAMMAR):
                from kbnf_core.languages.structural_tag.models import from_xgrammar

                return json.dumps(from_xgrammar(value.removeprefix(FROM_XGRAMMAR)))
            if path.suffix or path.is_dir():
                from kbnf_core.languages.response_template.parse import format_of_file

                return format_of_file(path)
        except (KbnfError, UnicodeDecodeError) as error:
            self.fail(f"{value}: {error}", param, ctx)
        return str(value)


def as_value(kind: type[_Value]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command its options as one value, its last argument, of the dataclass ``kind``.

    It is below the decorators that add the options. Options without a field stay arguments.
    """
    names = {field.name for field in fields(kind)}

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def run(*arguments: Any, **options: Any) -> int:
            value = kind(**{name: options.pop(name) for name in names & options.keys()})
            return command(*arguments, value, **options)

        return run

    return decorate


def examples(*lines: str) -> str:
    """Return the epilog of a command that shows how it is used, a command on each line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


TOPICS = {
    "input": "How a grammar is read",
    "json-schema": "JSON Schema and tools",
    "settings": "Settings and files",
}
"""The pages of `kbnf help` that describe options of many commands, with their subjects."""


_HELP_WIDTH = 44
"""Columns of help texts on a terminal of 80."""


class SharedOption(click.Option):
    """An option that a page of `kbnf help` describes once, for all commands that have it."""

    def __init__(self, *arguments: Any, topic: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.topic = topic

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the record of all options of the topic where this is the first of them."""
        others = [
            option
            for option in ctx.command.params
            if isinstance(option, SharedOption) and option.topic == self.topic
        ]
        if others[0] is not self:
            return None
        names = ", ".join(next(n for n in option.opts if n.startswith("--")) for option in others)
        text = f"{names}: see `kbnf help {self.topic}`."
        # Names are not broken at their hyphens, as click would.
        lines = wrap(text, _HELP_WIDTH, break_on_hyphens=False)
        return TOPICS[self.topic], "\b\n" + "\n".join(lines)

    def full_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the description of this option on the page of the topic."""
        return super().get_help_record(ctx)


def together(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Return a decorator that adds several options, listed in this order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def options_in(*decorators: Callable[[Any], Any]) -> list[click.Option]:
    """Return the options that decorators add, in the order of their help."""

    def command() -> None:
        """Nothing."""

    together(*decorators)(command)
    added: list[click.Option] = vars(command).get("__click_params__", [])
    return added[::-1]


def format_option(
    formats: Iterable[str], text: str, default: str = "text"
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds ``--format``."""
    kinds = click.Choice(list(formats))
    return click.option(
        "--format", "format_", type=kinds, default=default, show_default=True, help=text
    )


def _is_in_force(context: click.Context, parameter: click.Parameter, setting: str) -> bool:
    """Return whether a value applies; the command line replaces a configuration file."""
    is_given = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    given = context.meta.setdefault("kbnf_cli.given", set())
    if is_given:
        given.add(setting)
    return is_given or setting not in given


def _set_colour(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and _is_in_force(context, parameter, "colour"):
        context.ensure_object(Console).colour = Colour(value)


def _verbosity_option(
    short: str, long: str, verbosity: Verbosity, text: str
) -> Callable[[_Command], _Command]:
    def set_it(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value and _is_in_force(context, parameter, "verbosity"):
            context.ensure_object(Console).verbosity = verbosity

    return click.option(
        short,
        long,
        cls=SharedOption,
        topic="settings",
        is_flag=True,
        expose_value=False,
        help=text,
        callback=set_it,
    )


common_options = together(
    _verbosity_option("-q", "--quiet", Verbosity.QUIET, "Print findings and errors only."),
    _verbosity_option("-v", "--verbose", Verbosity.VERBOSE, "Say more on stderr."),
    click.option(
        "--color",
        cls=SharedOption,
        topic="settings",
        type=click.Choice([colour.value for colour in Colour]),
        expose_value=False,
        callback=_set_colour,
        help="When to use colour; NO_COLOR and FORCE_COLOR also apply.  [default: auto]",
    ),
)
"""``--color``, ``-q`` and ``-v``, which work before and after the command's name."""

start_option = click.option(
    "--start", cls=SharedOption, topic="input", metavar="NAME", help="The start nonterminal."
)

_READ = (
    "kbnf",
    "gbnf",
    "lark",
    "bnf",
    "abnf",
    "antlr",
    "ebnf",
    "json-schema",
    "structural-tag",
    "response-template",
    "tool-list",
    "tree-sitter",
    "regex",
)

from_option = click.option(
    "--from",
    "from_",
    cls=SharedOption,
    topic="input",
    type=click.Choice(_READ),
    help="The language of the grammar.  [default: by the extension of its file, else by content]",
)

OUTSIDE = "kbnf_cli.outside"
"""Where the context keeps whether files outside of a grammar's folder may be read."""


def _allow_outside(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[OUTSIDE] = value


outside_option = click.option(
    "--allow-outside",
    cls=SharedOption,
    topic="input",
    is_flag=True,
    expose_value=False,
    callback=_allow_outside,
    help="Let a grammar read files outside of its own folder: imports, and $ref of schemas.",
)
"""Never configured: the configuration may be a file of the author of the grammar."""

grammar_options = together(
    start_option,
    from_option,
    outside_option,
    click.option(
        "--finish",
        cls=SharedOption,
        topic="input",
        type=click.Choice(FINISHES),
        help="When generation ends: at the first byte or token that completes the start, or only "
        "at end of sequence.  [default: the grammar's pragma, else eager]",
    ),
)
"""``--start``, ``--finish`` and ``--from``; None leaves it to the grammar and its pragmas."""

stdin_option = click.option(
    "--stdin-filename",
    cls=SharedOption,
    topic="settings",
    metavar="NAME",
    type=click.Path(path_type=Path),
    help="File name to assume for stdin; decides which configuration applies.",
)

eos_option = click.option(
    "--eos",
    cls=SharedOption,
    topic="input",
    metavar="ID",
    type=click.IntRange(min=0),
    multiple=True,
    help="A token that ends the sequence, in place of the vocabulary's own; repeatable.",
)

vocabulary_options = together(
    click.option(
        "--vocab",
        metavar="FILE|MODEL|bytes",
        help="The vocabulary: a file, a model in Hugging Face's local cache, or `bytes`."
        "  [default: bytes]",
    ),
    eos_option,
)

config_options = together(
    click.option(
        "--config",
        "config_file",
        cls=SharedOption,
        topic="settings",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Read settings from FILE instead of the nearest kbnf.toml or pyproject.toml.",
    ),
    click.option(
        "--isolated",
        cls=SharedOption,
        topic="settings",
        is_flag=True,
        help="Read no configuration file.",
    ),
)

file_options = together(
    click.option(
        "--exclude",
        cls=SharedOption,
        topic="settings",
        metavar="PATTERN",
        multiple=True,
        help="Skip matching files in directories, with patterns as in a .gitignore; repeatable.",
    ),
    click.option(
        "--extend-exclude",
        cls=SharedOption,
        topic="settings",
        metavar="PATTERN",
        multiple=True,
        help="Skip these files as well as the default ones; repeatable.",
    ),
    click.option(
        "--force-exclude",
        cls=SharedOption,
        topic="settings",
        is_flag=True,
        help="Skip excluded files even if they are named.",
    ),
)
"""The options that leave out files in directories: see ``inputs.FileInputs``."""


def _schema_option(*names: str, text: str, **settings: Any) -> Callable[[_Command], _Command]:
    """Return a decorator that adds an option for JSON Schemas, a value of ``schema``."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        given = context.params.setdefault("schema", {})
        if value is not None and parameter.name is not None:
            given[parameter.name] = value

    return click.option(
        *names,
        cls=SharedOption,
        topic="json-schema",
        expose_value=False,
        default=None,
        callback=keep,
        help=text,
        **settings,
    )


lexing_option = _schema_option(
    "--lexing",
    type=click.Choice(["llguidance", "earley", "lalr", "scannerless", "auto"]),
    text="Lark: how text is cut into lexemes; with `auto` as the grammar's dialect does, and what"
    " rules cannot keep of that is a warning.  [default: as the grammar's dialect does]",
)


class _IndenterType(click.ParamType[Indenter]):
    """An ``Indenter`` of Lark, by its module and class."""

    name = "indenter"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Indenter:
        if isinstance(value, Indenter):
            return value
        # Commands of Python packages do not look for modules where they are run.
        sys.path.insert(0, str(Path.cwd()))
        try:
            return indenter_of(pkgutil.resolve_name(value))
        except (ImportError, AttributeError, ValueError) as error:
            self.fail(f"{value}: {error}", parameter, context)
        finally:
            sys.path.pop(0)


indenter_option = _schema_option(
    "--indenter",
    type=_IndenterType(),
    metavar="MODULE:CLASS",
    text="Lark: the `Indenter` that the grammar is used with, as `lark.indenter:PythonIndenter`;"
    " its module is imported, also from the current folder; so no configuration file sets it."
    "  [default: by the usual names, if the grammar declares `_INDENT` and `_DEDENT`]",
)

schema_options = together(
    lexing_option,
    indenter_option,
    _schema_option(
        "--integers",
        type=click.Choice(["plain", "fraction"]),
        text="JSON Schema: integers without a fraction, or also with `.0`.  [default: plain]",
    ),
    _schema_option(
        "--digits",
        type=click.Choice(["bounded", "any"]),
        text="JSON Schema: integers of 64 bits and numbers that are finite doubles, with at "
        "most 17 digits after the point unless the schema requires more; or any number of "
        "digits."
        "  [default: bounded]",
    ),
    _schema_option(
        "--formats",
        type=click.Choice(["plain", "rfc", "annotation", "assertion"]),
        text="JSON Schema: how `format` restricts strings: to what the usual readers accept, to all"
        " that the RFCs allow (also called assertion), or not at all.  [default: plain]",
    ),
    _schema_option(
        "--closed/--open",
        "--no-additional-properties/--additional-properties",
        "closed",
        text="JSON Schema: whether objects with `properties` refuse other members, unless "
        "the schema mentions these.  [default: open; closed for classes of Python, in structural "
        "tags and with --tool-calls]",
    ),
    _schema_option(
        "--whitespace",
        type=click.Choice(["printed", "compact", "bounded", "flexible"]),
        text="JSON Schema: whitespace between tokens: as JSON printers write it; none; a "
        "blank or one line break with indentation in every gap; any. Takes precedence over the "
        "schema's x-guidance.  [default: printed]",
    ),
    _schema_option(
        "--as",
        "syntax",
        type=click.Choice(["json", "yaml"]),
        text="JSON Schema: the texts of values: JSON, or block YAML in one layout."
        "  [default: json]",
    ),
    _schema_option(
        "--order",
        type=click.Choice(["declared", "any"]),
        text="JSON Schema: the order of properties; `any` is for objects with few of them."
        "  [default: declared]",
    ),
    _schema_option(
        "--escapes",
        type=click.Choice(["canonical", "unicode", "any"]),
        text="JSON Schema: how characters of strings without restrictions are spelt: in one way,"
        " also by their numbers, or in any way of JSON.  [default: canonical]",
    ),
    _schema_option(
        "--standard",
        type=click.Choice(["json-schema", "llguidance"]),
        text="JSON Schema: whether schemas mean what their draft says or what LLGuidance reads."
        "  [default: json-schema]",
    ),
    _schema_option(
        "--strict",
        type=click.Choice(SERVICE_NAMES),
        text="JSON Schema: refuse schemas that the strict mode of this service refuses, with "
        "suggestions.",
    ),
    _schema_option("--tool", metavar="NAME", text="List of tools: allow only calls of this one."),
    _schema_option(
        "--tool-calls",
        metavar="FORMAT",
        type=CallFormat(),
        text="List of tools: how calls are written: a format of `kbnf convert --list-formats`; that"
        " of a chat template, by its file, a tokenizer_config.json, or the folder of a model; or"
        " `xgrammar:NAME`, as the XGrammar that is installed has it.  [default: a JSON object with"
        " name and arguments]",
    ),
    _schema_option(
        "--tool-choice",
        metavar="auto|required|none|TOOL",
        text="With --tool-calls: whether tools are called, or which one.  [default: that of a"
        " request, else auto]",
    ),
    _schema_option(
        "--reasoning",
        type=click.Choice(["disabled", "enabled", "auto"]),
        text="With --tool-calls: whether reasoning precedes the calls.  [default: disabled]",
    ),
    _schema_option(
        "--single-call",
        is_flag=True,
        flag_value=True,
        type=bool,
        text="With --tool-calls: at most one call of a tool.",
    ),
    _schema_option(
        "--token-markers",
        is_flag=True,
        flag_value=True,
        type=bool,
        text="With --tool-calls and --vocab: a marker of the format that is one token of the "
        "vocabulary is written as that token only. Texts are read as without it.",
    ),
)
"""The options of the readers of Lark, of JSON Schemas, and of lists of tools.

Those that were given are the parameter ``schema``.
"""

input_options = together(vocabulary_options, grammar_options, schema_options, config_options)
"""The options that select the grammar, vocabulary and settings: see ``inputs.Inputs``."""
