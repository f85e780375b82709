"""The commands: where each is, and what it is for. No command is imported here."""

from collections.abc import Sequence
from pathlib import Path

CONFIGURATION = ("kbnf.toml", "pyproject.toml")
"""What configuration files are called; the first wins."""


def may_be_configured(arguments: Sequence[str]) -> bool:
    """Return whether there may be a configuration for a command with these arguments.

    Where there is none, what reads it is not imported.
    """
    here = Path.cwd()
    folders = (here, *here.parents)
    is_named = any(each.startswith("--config") for each in arguments)
    return is_named or any((folder / name).exists() for folder in folders for name in CONFIGURATION)


COMMANDS = {
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

GROUPS = {
    "Write": ("init", "fmt", "convert"),
    "Look": ("sample", "explain", "mask", "play", "diagram", "vocab"),
    "Check": ("check", "test", "match", "parse", "complete", "repair", "diff", "trace"),
    "Ship": ("compile", "store"),
    "Help": ("help", "rule", "lsp"),
}
"""The commands by what they are for; a command of none is listed after them."""

_CONVERT = ("convert", "convert-abnf", "convert-bnf", "convert-gbnf", "convert-json-schema")
RENAMED = {
    **{(name, "--target"): "--for" for name in (*_CONVERT, "convert-lark")},
    ("match", "--why"): "--tree",
}
"""Names that options of commands had, which are still accepted, with those that they have now."""
