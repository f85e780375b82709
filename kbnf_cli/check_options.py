"""The options of ``kbnf check``: as decorators, and as the value that they make."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from kbnf_cli.check_report import FORMATS
from kbnf_cli.config import Settings
from kbnf_cli.inputs import Inputs
from kbnf_cli.jobs import default_jobs
from kbnf_core.diagnostics import Severity
from kbnf_core.diagnostics.selection import normalise_selector
from kbnf_core.lint.options import TARGETS

SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}
_FILE = click.Path(dir_okay=False, path_type=Path)

_Command = TypeVar("_Command", bound=Callable[..., object])


@dataclass(frozen=True, kw_only=True)
class CheckOptions(Inputs):
    """What a run of ``kbnf check`` is asked for."""

    paths: tuple[Path, ...]
    format_: str
    output_file: Path | None
    jobs: int
    watches: bool
    select: tuple[str, ...] | None
    ignore: tuple[str, ...] | None
    extend_select: tuple[str, ...] | None
    fail_on: str | None
    baseline: Path | None
    write_baseline: Path | None
    fix: bool
    show_diff: bool
    unsafe_fixes: bool
    cost: bool
    max_states: int | None
    max_mask_work: int | None
    targets: tuple[str, ...]

    @property
    def settings(self) -> Settings:
        """What is set on the command line rather than in a configuration file."""
        return Settings(
            select=self.select,
            extend_select=self.extend_select,
            ignore=self.ignore,
            fail_on=None if self.fail_on is None else SEVERITIES[self.fail_on],
            vocab=self.vocab,
            eos=self.eos or None,
            targets=self.targets or None,
            max_states=self.max_states,
            max_mask_work=self.max_mask_work,
        )


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


def run_options(command: _Command) -> _Command:
    """Add the options that say how to go about it, and how to show what was found."""
    for option in (
        click.option(
            "--watch", "watches", is_flag=True, help="Check again whenever a file changes."
        ),
        click.option(
            "-j",
            "--jobs",
            type=click.IntRange(min=1),
            default=default_jobs,
            help="Files to check at the same time, if there are many.  "
            "[default: the number of processors]",
        ),
        click.option(
            "--output-file",
            "-o",
            metavar="FILE",
            type=_FILE,
            help="Write what was found to FILE rather than to stdout.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(list(FORMATS)),
            default="text",
            show_default=True,
            help="How to show what was found.",
        ),
    ):
        command = option(command)
    return command


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
            type=_FILE,
            help="Report nothing that FILE, written by --write-baseline, holds.",
        ),
        click.option(
            "--write-baseline",
            metavar="FILE",
            type=_FILE,
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
