"""The options of ``kbnf check`` that go together, as decorators."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from kbnf_core.diagnostics import Severity
from kbnf_core.diagnostics.selection import normalise_selector
from kbnf_core.lint.options import TARGETS

SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}
FILE = click.Path(dir_okay=False, path_type=Path)

_Command = TypeVar("_Command", bound=Callable[..., object])


class _Selectors(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of codes, prefixes of codes, names, or ``ALL``."""

    name = "CODE,..."

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        try:
            return tuple(normalise_selector(part) for part in str(value).split(","))
        except ValueError as error:
            self.fail(f"{error}; `kbnf rule` lists them", param, ctx)


def selection_options(command: _Command) -> _Command:
    """Add the options that say which findings are shown, and which count."""
    for option in (
        click.option(
            "--fail-on",
            type=click.Choice(list(SEVERITIES)),
            help="Exit with 1 for findings of at least this severity.  [default: error]",
        ),
        click.option("--extend-select", type=_Selectors(), help="Report these codes as well."),
        click.option("--ignore", type=_Selectors(), help="Not these; a longer prefix wins."),
        click.option("--select", type=_Selectors(), help="Report these only; prefixes work."),
        click.option(
            "--baseline",
            metavar="FILE",
            type=FILE,
            help="Report nothing that FILE, written by --write-baseline, holds.",
        ),
        click.option(
            "--write-baseline",
            metavar="FILE",
            type=FILE,
            help="Write what is found to FILE as accepted, and report nothing.",
        ),
    ):
        command = option(command)
    return command


def fix_options(command: _Command) -> _Command:
    """Add the options that mend what is found."""
    for option in (
        click.option("--unsafe-fixes", is_flag=True, help="Also fixes that change the language."),
        click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change."),
        click.option("--fix", is_flag=True, help="Mend what can be mended, keeping the language."),
    ):
        command = option(command)
    return command


def lint_options(command: _Command) -> _Command:
    """Add the options that ask for findings which nobody gets unasked."""
    for option in (
        click.option("--cost", is_flag=True, help="Report what each grammar takes (I702)."),
        click.option(
            "--max-states",
            metavar="COUNT",
            type=click.IntRange(min=1),
            help="Find grammars whose tables have more states (E703).",
        ),
        click.option(
            "--max-mask-work",
            metavar="NODES",
            type=click.IntRange(min=1),
            help="Find rules whose masks take more trie nodes of the vocabulary (E703).",
        ),
        click.option(
            "--target",
            "targets",
            type=click.Choice(TARGETS),
            multiple=True,
            help="Find what this engine refuses (E502); repeatable.",
        ),
    ):
        command = option(command)
    return command
