"""``kbnf check``: parse and lint grammars."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import click

from kbnf_cli.checking import FileCheck, Report, Request
from kbnf_cli.config import Settings, settings_source
from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, find_grammars, read_bytes, write_atomically
from kbnf_cli.formats import FORMATS
from kbnf_cli.jobs import default_jobs, run_jobs
from kbnf_cli.options import (
    common_options,
    config_options,
    grammar_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_cli.vocabularies import read_vocabulary
from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.diagnostics.segments import Segments, plain
from kbnf_core.diagnostics.selection import normalise_selector
from kbnf_core.diagnostics.text import count_of, summarise
from kbnf_core.errors import ConfigError
from kbnf_core.languages import EXTENSIONS
from kbnf_core.lint.options import TARGETS

_SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}
ENOUGH_FOR_JOBS = 32
"""Files below which checking them takes less time than starting processes."""

_FILE = click.Path(dir_okay=False, path_type=Path)

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


def _selection_options(command: _Command) -> _Command:
    for option in (
        click.option(
            "--fail-on",
            type=click.Choice(list(_SEVERITIES)),
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


def _fix_options(command: _Command) -> _Command:
    for option in (
        click.option("--unsafe-fixes", is_flag=True, help="Also fixes that change the language."),
        click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change."),
        click.option("--fix", is_flag=True, help="Mend what can be mended, keeping the language."),
    ):
        command = option(command)
    return command


def _lint_options(command: _Command) -> _Command:
    for option in (
        click.option("--cost", is_flag=True, help="Report what each grammar takes (I702)."),
        click.option(
            "--max-states",
            type=click.IntRange(min=1),
            help="Find grammars whose tables have more states (E703).",
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
@click.option(
    "--output-file",
    "-o",
    metavar="FILE",
    type=_FILE,
    help="Write what was found to FILE rather than to stdout.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=default_jobs,
    help="Files to check at the same time, if there are many.  [default: the number of processors]",
)
@click.option("--watch", "watches", is_flag=True, help="Check again whenever a file changes.")
@_selection_options
@_fix_options
@_lint_options
@vocabulary_options
@grammar_options
@stdin_option
@config_options
@common_options
@click.pass_obj
def check(
    console: Console,
    paths: tuple[Path, ...],
    format_: str,
    output_file: Path | None,
    jobs: int,
    watches: bool,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    extend_select: tuple[str, ...] | None,
    fail_on: str | None,
    baseline: Path | None,
    write_baseline: Path | None,
    fix: bool,
    show_diff: bool,
    unsafe_fixes: bool,
    cost: bool,
    max_states: int | None,
    targets: tuple[str, ...],
    vocab: str | None,
    eos: tuple[int, ...],
    stdin_filename: Path | None,
    start: str | None,
    finish: str | None,
    config_file: Path | None,
    isolated: bool,
) -> int:
    """Find errors and likely mistakes in grammars.

    PATH is a file, a directory to search for grammars, or `-` for stdin; without one, the current
    directory is searched. Exits with 1 if something was found that counts (see --fail-on).
    With --vocab, what its tokens cannot spell is found, too.
    """
    settings = Settings(
        select=select,
        extend_select=extend_select,
        ignore=ignore,
        fail_on=None if fail_on is None else _SEVERITIES[fail_on],
        vocab=vocab,
        eos=eos or None,
        targets=targets or None,
        max_states=max_states,
    )
    request = partial(
        _request, console, settings, config_file, isolated, stdin_filename, start, finish, cost
    )
    fixes = None if not (fix or show_diff) else "unsafe" if unsafe_fixes else "safe"

    def run(files: Sequence[Path]) -> int:
        reports = _check(console, files, FileCheck(request, fixes), jobs)
        if show_diff:
            return _show_diff(console, reports)
        if fix:
            _write_fixed(console, reports)
        if write_baseline is not None:
            return _accept(console, reports, write_baseline)
        known = frozenset[str]() if baseline is None else _known(baseline)
        # The fixed text of stdin is on stdout.
        show = console.findings if fix and STDIN in paths else console.data
        deliver = show if output_file is None else partial(_write, output_file)
        return _deliver(console, format_, reports, known, deliver)

    where = paths or (Path(),)
    if watches:
        return _watch(console, where, run)
    return run(find_grammars(where, EXTENSIONS))


def _request(
    console: Console,
    settings: Settings,
    config_file: Path | None,
    isolated: bool,
    stdin_filename: Path | None,
    start: str | None,
    finish: str | None,
    cost: bool,
) -> Request:
    return Request(
        settings,
        settings_source(config_file, isolated),
        cache(partial(read_vocabulary, console)),
        stdin_filename,
        start,
        finish,
        cost,
    )


def _check(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> list[Report]:
    """Check files, several at a time where there are enough to pay for starting processes."""
    if jobs == 1 or len(files) < ENOUGH_FOR_JOBS:
        return [_check_one(console, path, check_one) for path in console.track(files, "checking")]
    reports = []
    with console.progress("checking") as progress:
        for path, report in run_jobs(check_one, files, jobs):
            console.detail(f"checked {path}")
            reports.append(report)
            progress(len(reports), len(files))
    return reports


def _check_one(console: Console, path: Path, check_one: FileCheck) -> Report:
    console.detail(f"checking {'<stdin>' if path == STDIN else path}")
    return check_one(path)


def _watch(console: Console, paths: Sequence[Path], run: Callable[[Sequence[Path]], int]) -> int:
    from kbnf_cli.watch import watch

    if STDIN in paths:
        raise click.UsageError("--watch needs files")

    def act(files: list[Path]) -> None:
        run(files)
        console.note("watching for changes; Ctrl-C ends")
        console.flush()

    watch(paths, EXTENSIONS, act)
    return Exit.CLEAN


def _show_diff(console: Console, reports: Sequence[Report]) -> int:
    from kbnf_cli.diff import diff

    for report in reports:
        console.data(diff(report.before, report.after, report.name))
    fixed = sum(len(report.fixed) for report in reports)
    console.note(f"{count_of(fixed, 'finding')} would be fixed")
    return Exit.FINDINGS if fixed else Exit.CLEAN


def _write_fixed(console: Console, reports: Sequence[Report]) -> None:
    for report in reports:
        if report.path == STDIN:
            console.text(report.after)
        elif report.after != report.before:
            write_atomically(report.path.resolve(), report.after)
    fixed = sum(len(report.fixed) for report in reports)
    if fixed:
        console.note(f"{count_of(fixed, 'finding')} fixed")


def _accept(console: Console, reports: Sequence[Report], file: Path) -> int:
    from kbnf_core.diagnostics.baseline import write_baseline

    found = _all(reports)
    write_atomically(file, write_baseline(found))
    console.note(f"{count_of(len(found), 'finding')} accepted in {file}")
    return Exit.CLEAN


def _known(file: Path) -> frozenset[str]:
    from kbnf_core.diagnostics.baseline import read_baseline

    try:
        return read_baseline(read_bytes(file).decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error


def _deliver(
    console: Console,
    format_: str,
    reports: Sequence[Report],
    known: frozenset[str],
    deliver: Callable[[Segments], None],
) -> int:
    """Deliver what is not known already, and tell how the run ends."""
    diagnostics = _all(reports)
    if known:
        from kbnf_core.diagnostics.baseline import without_baseline

        diagnostics = without_baseline(diagnostics, known)
    deliver(FORMATS[format_](diagnostics, len(reports)))
    if format_ in {"text", "concise"}:
        console.note(summarise(diagnostics, len(reports)))
    left = {id(each) for each in diagnostics}
    counts = (
        each.severity >= report.fail_on and id(each) in left
        for report in reports
        for each in report.diagnostics
    )
    return Exit.FINDINGS if any(counts) else Exit.CLEAN


def _write(file: Path, rendered: Segments) -> None:
    write_atomically(file, plain(rendered))


def _all(reports: Sequence[Report]) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for report in reports for diagnostic in report.diagnostics)
