"""``kbnf check``: parse and lint grammars."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from kbnf_cli.check_options import SEVERITIES, CheckOptions
from kbnf_cli.check_report import FOR_PEOPLE, FORMATS, Outcome
from kbnf_cli.checking import FileCheck, Report
from kbnf_cli.config import TARGET_NAMES
from kbnf_cli.console import Console, Exit
from kbnf_cli.files import CHECKED, STDIN, find_grammars
from kbnf_cli.inputs import GRAMMAR
from kbnf_cli.jobs import jobs_option, run_jobs
from kbnf_cli.models import is_class
from kbnf_cli.options import (
    SharedOption,
    as_value,
    common_options,
    config_options,
    examples,
    file_options,
    format_option,
    grammar_options,
    schema_options,
    stdin_option,
    together,
    vocabulary_options,
)
from kbnf_cli.watching import watch, watch_option
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import normalise_selector
from kbnf_core.text.errors import KbnfError

_FILE = click.Path(dir_okay=False, path_type=Path)

_Command = TypeVar("_Command", bound=Callable[..., object])


def _selectors(text: str) -> tuple[str, ...]:
    """Return a comma-separated list of codes, prefixes of codes, names, or ``ALL``."""
    try:
        return tuple(map(normalise_selector, text.split(",")))
    except ValueError as error:
        raise click.BadParameter(f"{error}; `kbnf rule` lists them") from None


def _selecting(name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(
        name, metavar="CODE,...", type=_selectors, help=text, shell_complete=_complete_codes
    )


def _complete_codes(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last of the codes, which are divided by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + code) for code in CATALOGUE if code.startswith(last.upper())
    ]


run_options = together(
    format_option(FORMATS, "How to show what was found."),
    click.option(
        "-o",
        "--output",
        "--output-file",
        "output_file",
        metavar="FILE",
        type=_FILE,
        help="Write the findings to FILE.",
    ),
    jobs_option("Files at the same time."),
    watch_option("Check"),
    click.option("--statistics", is_flag=True, help="Show counts per code instead of findings."),
    click.option("--show-settings", is_flag=True, help="Print the settings and exit."),
    click.option("--show-files", is_flag=True, help="List the files to check and exit."),
    click.option(
        "--no-cache",
        cls=SharedOption,
        topic="settings",
        is_flag=True,
        help="Do not use the cache of `kbnf check`.",
    ),
    click.option(
        "--cache-dir",
        cls=SharedOption,
        topic="settings",
        metavar="FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        help="Keep the cache of `kbnf check` in FOLDER."
        "  [default: KBNF_CACHE_DIR, or the user's cache]",
    ),
)
"""The options that say how to go about it, and how to show what was found."""


selection_options = together(
    click.option(
        "--write-baseline",
        metavar="FILE",
        type=_FILE,
        help="Write accepted findings to FILE.",
    ),
    click.option(
        "--baseline",
        metavar="FILE",
        type=_FILE,
        help="Do not report what --write-baseline wrote.",
    ),
    _selecting("--select", "Report these only; prefixes work."),
    _selecting("--ignore", "Do not report these; the longest prefix wins."),
    _selecting("--extend-select", "Report these codes as well."),
    click.option(
        "--fail-on",
        type=click.Choice(list(SEVERITIES)),
        help="Exit with 1 for findings of at least this severity.  [default: error]",
    ),
    click.option("--exit-zero", is_flag=True, help="Always exit with 0."),
)
"""The options that say which findings are shown, and which count."""


fix_options = together(
    click.option("--fix", is_flag=True, help="Apply fixes that keep the language."),
    click.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change."),
    click.option("--unsafe-fixes", is_flag=True, help="Apply fixes that change it, too."),
)
"""The options that mend what is found."""


class _TargetNames(click.ParamType[tuple[str, ...]]):
    """Names of targets, separated by commas."""

    name = "targets"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names; fail for one of none."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in str(value).split(","))
        for name in names:
            if name not in TARGET_NAMES:
                self.fail(f"{name!r} is not one of {', '.join(TARGET_NAMES)}", param, ctx)
        return names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the last name."""
        del ctx, param
        before, comma, last = incomplete.rpartition(",")
        found = (name for name in TARGET_NAMES if name.startswith(last))
        return [CompletionItem(f"{before}{comma}{name}") for name in found]


lint_options = together(
    click.option(
        "--target",
        "targets",
        metavar="NAME,...",
        type=_TargetNames(),
        multiple=True,
        help="Ask other engines and services; `kbnf help check` lists the names; repeatable.",
    ),
    click.option(
        "--max-mask-work",
        metavar="NODES",
        type=click.IntRange(min=1),
        help="Most nodes of a rule's masks (E703).",
    ),
    click.option(
        "--max-states",
        metavar="COUNT",
        type=click.IntRange(min=1),
        help="Most states of a grammar (E703).",
    ),
    click.option("--cost", is_flag=True, help="Report what each grammar takes (I702)."),
)
"""The options that enable findings reported only on request."""


ENOUGH_FOR_JOBS = 32
"""Files below which checking them takes less time than starting processes."""


@click.command(
    epilog=examples(
        "kbnf check", "kbnf check g.kbnf --fix --diff", "kbnf check . --format sarif -o kbnf.sarif"
    )
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=GRAMMAR)
@run_options
@selection_options
@fix_options
@lint_options
@file_options
@vocabulary_options
@grammar_options
@schema_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(CheckOptions)
def check(console: Console, asked: CheckOptions) -> int:
    """Find errors and likely mistakes in grammars.

    PATH is a file, a directory to search (default: the current one), `-` for stdin, or a pydantic
    model as `module:Class`, which is imported. In directories, JSON Schemas and lists of tools are
    found by name (*.schema.json, *.tools.json). Exits with status 1 if there are findings at or
    above --fail-on. --vocab also reports text that the tokenizer cannot produce.
    """

    def run(files: Sequence[Path]) -> int:
        reports = _check(console, files, FileCheck(console, asked), asked.jobs)
        return Outcome(console, asked).act(reports)

    if asked.statistics and asked.format_ not in FOR_PEOPLE:
        raise click.UsageError(f"--statistics and --format {asked.format_} exclude each other")
    paths = asked.paths or (Path(),)
    if asked.watches:
        return watch(console, paths, lambda: asked.choice(CHECKED), run)
    models = [path for path in paths if is_class(str(path))]
    others = [path for path in paths if path not in models]
    files = [*models, *find_grammars(others, console.note, asked.choice(CHECKED))]
    if asked.show_files:
        console.text("".join(f"{file}\n" for file in files))
        return Exit.CLEAN
    if asked.show_settings:
        console.text(_settings_text(asked, files))
        return Exit.CLEAN
    return run(files)


def _settings_text(asked: CheckOptions, files: Sequence[Path]) -> str:
    """Return the settings of the first file, by the names of a configuration file."""
    file = asked.name_of(files[0]) if files else Path("none")
    settings = asked.all_settings()(file)
    return "".join((f"# settings for {file}\n", *(f"{line}\n" for line in settings.lines())))


def _check(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> list[Report]:
    """Return the reports of the files that can be read; of the others, say why not."""
    reports = []
    for result in _results(console, files, check_one, jobs):
        if isinstance(result, KbnfError):
            console.problem(result)
        else:
            reports.append(result)
    for failure in dict.fromkeys(each for report in reports for each in report.failures):
        console.problem(KbnfError(failure))
    check_one.end()
    return reports


def _results(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> Iterator[Report | KbnfError]:
    """Check files, several at a time where there are enough to pay for starting processes."""
    if jobs == 1 or len(files) < ENOUGH_FOR_JOBS:
        yield from _one_by_one(console, files, check_one)
        return
    recalled = {path: check_one.recall(path) for path in files}
    left = [path for path in files if recalled[path] is None]
    checked = (
        _one_by_one(console, left, check_one)
        if len(left) < ENOUGH_FOR_JOBS
        else _side_by_side(console, left, check_one, jobs)
    )
    for path in files:
        yield recalled[path] or next(checked)


def _one_by_one(
    console: Console, files: Sequence[Path], check_one: FileCheck
) -> Iterator[Report | KbnfError]:
    for path in console.track(files, "checking"):
        console.detail(f"checking {'<stdin>' if path == STDIN else path}")
        yield check_one(path)


def _side_by_side(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> Iterator[Report | KbnfError]:
    from kbnf_core.processes import ProcessError

    with console.progress("checking") as progress:
        for done, (path, result) in enumerate(run_jobs(check_one, files, jobs), 1):
            console.detail(f"checked {path}")
            if isinstance(result, ProcessError):
                yield KbnfError(f"{path} was not checked: {result}")
            else:
                yield result
            progress(done, len(files))
