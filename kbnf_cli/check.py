"""``kbnf check``: parse and lint grammars."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from kbnf_cli.config import Settings, settings_source
from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, find_grammars, read_bytes, write_atomically
from kbnf_cli.formats import FORMATS
from kbnf_cli.options import common_options, config_options, grammar_options, stdin_option
from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.diagnostics.decode import decode
from kbnf_core.diagnostics.segments import plain
from kbnf_core.diagnostics.selection import normalise_selector
from kbnf_core.diagnostics.text import summarise

_SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}


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


@dataclass(frozen=True, slots=True)
class _Report:
    """What was found in one file, and whether it makes the command fail."""

    diagnostics: tuple[Diagnostic, ...]
    fails: bool


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How to show what was found.",
)
@click.option("--select", type=_Selectors(), help="Report these codes only; prefixes work.")
@click.option("--ignore", type=_Selectors(), help="Do not report these; a longer prefix wins.")
@click.option("--extend-select", type=_Selectors(), help="Report these as well.")
@click.option(
    "--fail-on",
    type=click.Choice(list(_SEVERITIES)),
    help="Exit with 1 for findings of at least this severity.  [default: error]",
)
@click.option(
    "--output-file",
    "-o",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what was found to FILE rather than to stdout.",
)
@grammar_options
@stdin_option
@config_options
@common_options
@click.pass_obj
def check(
    console: Console,
    paths: tuple[Path, ...],
    format_: str,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    extend_select: tuple[str, ...] | None,
    fail_on: str | None,
    stdin_filename: Path | None,
    output_file: Path | None,
    start: str | None,
    finish: str | None,
    config_file: Path | None,
    isolated: bool,
) -> int:
    """Find errors and likely mistakes in grammars.

    PATH is a file, a directory to search for *.kbnf, or `-` for stdin; without one, the current
    directory is searched. Exits with 1 if something was found that counts (see --fail-on).
    """
    severity = None if fail_on is None else _SEVERITIES[fail_on]
    options = Settings(select, extend_select, ignore, severity)
    settings_for = settings_source(config_file, isolated)
    reports = []
    for path in console.track(find_grammars(paths or (Path(),)), "checking"):
        name = stdin_filename or Path("<stdin>") if path == STDIN else path
        console.detail(f"checking {name}")
        found = _find(read_bytes(path), name.as_posix(), start, finish)
        reports.append(_judge(found, options.over(settings_for(name))))
    _deliver(console, format_, reports, output_file)
    return Exit.FINDINGS if any(each.fails for each in reports) else Exit.CLEAN


def _find(data: bytes, name: str, start: str | None, finish: str | None) -> Sequence[Diagnostic]:
    """Return everything that can be said about the content of a grammar file."""
    from kbnf_core import check as check_text

    source, invalid = decode(data, name)
    if invalid is not None:
        return [invalid]
    return check_text(source.text, name, start=start, finish=finish)


def _judge(found: Sequence[Diagnostic], settings: Settings) -> _Report:
    """Keep what is selected, and tell whether any of it counts."""
    selection = settings.selection
    fail_on = settings.fail_on or Severity.ERROR
    kept = tuple(diagnostic for diagnostic in found if diagnostic.code in selection)
    return _Report(kept, any(diagnostic.severity >= fail_on for diagnostic in kept))


def _deliver(
    console: Console, format_: str, reports: Sequence[_Report], output_file: Path | None
) -> None:
    diagnostics = [diagnostic for each in reports for diagnostic in each.diagnostics]
    rendered = FORMATS[format_](diagnostics, len(reports))
    if output_file is None:
        console.data(rendered)
    else:
        write_atomically(output_file, plain(rendered))
    if format_ != "json":
        console.note(summarise(diagnostics, len(reports)))
