"""The names of commands, by what they are for, and of what configures them; nothing is imported."""

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


GROUPS = {
    "Write": ("init", "fmt", "convert"),
    "Inspect": ("sample", "explain", "mask", "play", "diagram", "vocab"),
    "Check": ("check", "test", "match", "parse", "complete", "repair", "diff", "trace"),
    "Ship": ("compile", "store"),
    "Help": ("help", "rule", "lsp"),
}
"""The commands by what they are for; a command of none is listed after them."""

NAMES = tuple(name for names in GROUPS.values() for name in names)

_CONVERT = ("convert", "convert-abnf", "convert-bnf", "convert-gbnf", "convert-json-schema")
RENAMED = {
    **{(name, "--target"): "--for" for name in (*_CONVERT, "convert-lark")},
    ("match", "--why"): "--tree",
}
"""Names that options of commands had, which are still accepted, with those that they have now."""
