"""``kbnf check``: parse and lint grammars."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import click

from kbnf_cli.check_options import FILE, SEVERITIES, fix_options, lint_options, selection_options
from kbnf_cli.check_outcome import Outcome
from kbnf_cli.checking import FileCheck, Report, Request
from kbnf_cli.config import Settings, settings_source
from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, find_grammars
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
from kbnf_core.errors import SourceError
from kbnf_core.languages import EXTENSIONS

ENOUGH_FOR_JOBS = 32
"""Files below which checking them takes less time than starting processes."""


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
    type=FILE,
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
@selection_options
@fix_options
@lint_options
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
    max_mask_work: int | None,
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
        fail_on=None if fail_on is None else SEVERITIES[fail_on],
        vocab=vocab,
        eos=eos or None,
        targets=targets or None,
        max_states=max_states,
        max_mask_work=max_mask_work,
    )
    request = partial(
        _request, console, settings, config_file, isolated, stdin_filename, start, finish, cost
    )
    fixes = None if not (fix or show_diff) else "unsafe" if unsafe_fixes else "safe"
    outcome = Outcome(console, format_, output_file, fix, show_diff, baseline, write_baseline)

    def run(files: Sequence[Path]) -> int:
        reports = _check(console, files, FileCheck(request, fixes), jobs)
        return outcome.act(reports) if reports else Exit.TROUBLE

    where = paths or (Path(),)
    if watches:
        return _watch(console, where, run)
    return run(find_grammars(where, console.note, EXTENSIONS))


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
