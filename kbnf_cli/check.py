"""``kbnf check``: parse and lint grammars."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from kbnf_cli.check_options import (
    CheckOptions,
    fix_options,
    lint_options,
    run_options,
    selection_options,
)
from kbnf_cli.check_report import Outcome
from kbnf_cli.checking import FileCheck, Report
from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, find_grammars
from kbnf_cli.jobs import run_jobs
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    grammar_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_core.errors import SourceError
from kbnf_core.languages import EXTENSIONS

ENOUGH_FOR_JOBS = 32
"""Files below which checking them takes less time than starting processes."""


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@run_options
@selection_options
@fix_options
@lint_options
@vocabulary_options
@grammar_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(CheckOptions)
def check(console: Console, asked: CheckOptions) -> int:
    """Find errors and likely mistakes in grammars.

    PATH is a file, a directory to search for grammars, or `-` for stdin; without one, the current
    directory is searched. Exits with 1 if something was found that counts (see --fail-on).
    With --vocab, what its tokens cannot spell is found, too.
    """

    def run(files: Sequence[Path]) -> int:
        reports = _check(console, files, FileCheck(console, asked), asked.jobs)
        return Outcome(console, asked).act(reports) if reports else Exit.TROUBLE

    paths = asked.paths or (Path(),)
    if asked.watches:
        return _watch(console, paths, run)
    return run(find_grammars(paths, console.note, EXTENSIONS))


def _check(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> list[Report]:
    """Return the reports of the files that can be read; of the others, say why not."""
    reports = []
    for result in _results(console, files, check_one, jobs):
        if isinstance(result, SourceError):
            console.problem(result)
        else:
            reports.append(result)
    return reports


def _results(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> Iterator[Report | SourceError]:
    """Check files, several at a time where there are enough to pay for starting processes."""
    if jobs == 1 or len(files) < ENOUGH_FOR_JOBS:
        for path in console.track(files, "checking"):
            console.detail(f"checking {'<stdin>' if path == STDIN else path}")
            yield check_one(path)
        return
    with console.progress("checking") as progress:
        for done, (path, result) in enumerate(run_jobs(check_one, files, jobs), 1):
            console.detail(f"checked {path}")
            yield result
            progress(done, len(files))


def _watch(console: Console, paths: Sequence[Path], run: Callable[[Sequence[Path]], int]) -> int:
    from kbnf_cli.watch import watch

    if STDIN in paths:
        raise click.UsageError("--watch needs files")

    def act(files: list[Path]) -> None:
        run(files)
        console.note("watching for changes; Ctrl-C ends")
        console.flush()

    watch(paths, console.note, EXTENSIONS, act)
    return Exit.CLEAN
