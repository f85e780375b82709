"""``kbnf check``: options, the command, and its report.

Tests: tests/cli/test_check.py, tests/cli/test_check_cache.py
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from kbnf_cli.checking import SEVERITIES, CheckOptions, FileCheck, FileReport
from kbnf_cli.config import TARGET_NAMES
from kbnf_cli.console import Console, Exit
from kbnf_cli.files import CHECKED, STDIN, find_grammars, read_bytes, write_text
from kbnf_cli.inputs import GRAMMAR, is_class
from kbnf_cli.jobs import jobs_option, run_jobs
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
from kbnf_core.kernel import has_engine
from kbnf_core.text.diagnostics import CATALOGUE, Diagnostic
from kbnf_core.text.diagnostics.catalogue import normalise_selector
from kbnf_core.text.diagnostics.formats import NOBODY, Survey
from kbnf_core.text.diagnostics.segments import NEWLINE, Segment, Segments, plain, visible
from kbnf_core.text.diagnostics.text import (
    FIXABLE,
    count_of,
    render_concise,
    render_text,
    summarise,
)
from kbnf_core.text.errors import ConfigError, KbnfError


@dataclass(frozen=True, slots=True)
class CheckResults:
    """The findings in some files, and how to show them.

    ``fixable`` are those that ``--fix`` would fix, by identity; ``width`` is the terminal's.
    """

    diagnostics: Sequence[Diagnostic]
    files: int
    fixable: frozenset[int]
    width: int | None
    survey: Survey = NOBODY


def _text(results: CheckResults) -> Segments:
    """Return the long form, with an empty line after each finding."""
    shown = ((diagnostic, id(diagnostic) in results.fixable) for diagnostic in results.diagnostics)
    long = (render_text(finding, results.width, is_fixable=is_) for finding, is_ in shown)
    return [segment for segments in long for segment in (*segments, NEWLINE)]


def _concise(results: CheckResults) -> Segments:
    shown = ((diagnostic, id(diagnostic) in results.fixable) for diagnostic in results.diagnostics)
    return [
        segment for finding, is_ in shown for segment in render_concise(finding, is_fixable=is_)
    ]


def _for_programs(name: str, *more: str) -> Callable[[CheckResults], Segments]:
    """Return a function that shows findings as one of ``diagnostics.formats`` does."""

    def render(results: CheckResults) -> Segments:
        from kbnf_core.text.diagnostics import formats

        arguments = (getattr(results, field) for field in ("diagnostics", *more))
        return [Segment(getattr(formats, f"render_{name}")(*arguments))]

    return render


def _statistics(results: CheckResults) -> Segments:
    """Return how often each code was found, the most frequent first."""
    counts = Counter(diagnostic.code for diagnostic in results.diagnostics)
    fixable = {
        diagnostic.code for diagnostic in results.diagnostics if id(diagnostic) in results.fixable
    }
    lines = [
        f"{count}\t{code}\t{FIXABLE if code in fixable else '[ ]'} {CATALOGUE[code].name}\n"
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return [Segment("".join(lines))]


FORMATS: dict[str, Callable[[CheckResults], Segments]] = {
    "text": _text,
    "concise": _concise,
    "json": _for_programs("json", "files", "survey"),
    "sarif": _for_programs("sarif", "survey"),
    "github": _for_programs("github", "survey"),
    "junit": _for_programs("junit", "files", "survey"),
}
"""How the values of ``--format`` show findings."""

FOR_PEOPLE = {"text", "concise"}
"""Formats beside which the run is summed up."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """The output and status of reports, as the options ask."""

    console: Console
    asked: CheckOptions

    def act(self, reports: Sequence[FileReport]) -> int:
        """Do it; return the exit status."""
        if self.asked.show_diff:
            return self._show_diff(reports)
        if self.asked.fix:
            self._write_fixed(reports)
        if self.asked.write_baseline is not None:
            return self._accept(reports, self.asked.write_baseline)
        return self._deliver(reports)

    def _show_diff(self, reports: Sequence[FileReport]) -> int:
        from kbnf_core.text.diagnostics.segments import diff

        for report in reports:
            self.console.data(diff(report.before, report.after, report.name))
        fixed = sum(len(report.fixed) for report in reports)
        self.console.note(f"{count_of(fixed, 'finding')} would be fixed")
        self._announce_fixes(_all(reports), 0)
        return Exit.FINDINGS if fixed else Exit.CLEAN

    def _write_fixed(self, reports: Sequence[FileReport]) -> None:
        fixed = 0
        for report in reports:
            if report.path == STDIN:
                self.console.text(report.after)
            elif report.after != report.before:
                try:
                    write_text(report.path, report.after)
                except OSError as error:
                    self.console.problem(error)
                    continue
            fixed += len(report.fixed)
        if fixed:
            self.console.note(f"{count_of(fixed, 'finding')} fixed")

    def _accept(self, reports: Sequence[FileReport], file: Path) -> int:
        from kbnf_core.text.diagnostics.stored import write_baseline

        findings = _all(reports)
        write_text(file, write_baseline(findings))
        self.console.note(f"{count_of(len(findings), 'finding')} accepted in {file}")
        return Exit.CLEAN

    def _deliver(self, reports: Sequence[FileReport]) -> int:
        """Show the findings that are not accepted already, and return the exit status."""
        diagnostics = _all(reports)
        if self.asked.baseline is not None:
            from kbnf_core.text.diagnostics.stored import without_baseline

            diagnostics = without_baseline(diagnostics, _accepted(self.asked.baseline))
        survey = _survey(reports)
        results = CheckResults(
            diagnostics, len(reports), self._fixable(diagnostics), self._width(), survey
        )
        render = _statistics if self.asked.statistics else FORMATS[self.asked.format_]
        shown = render(results)
        if self.asked.format_ in FOR_PEOPLE and not self.asked.statistics:
            shown = [*shown, *_matrix(survey)]
        self._show(reports)(shown)
        if self.asked.format_ in FOR_PEOPLE and reports:
            self.console.note(summarise(diagnostics, len(reports)))
            self._announce_fixes(diagnostics, len(results.fixable))
        if not has_engine():
            self.console.note(
                "not checked without the compiled engine: W307, E601, and what `--vocab`,"
                " `--cost`, `--max-states` and `--max-mask-work` look for"
            )
        if survey.targets and self.asked.format_ in FOR_PEOPLE:
            self._print_targets(survey)
        left = {id(diagnostic) for diagnostic in diagnostics}
        counts = (
            diagnostic.severity >= report.fail_on and id(diagnostic) in left
            for report in reports
            for diagnostic in report.diagnostics
        )
        return Exit.FINDINGS if any(counts) and not self.asked.exit_zero else Exit.CLEAN

    def _print_targets(self, survey: Survey) -> None:
        answered = {target for _, _, target, _ in survey.rows}
        described = [f"{name} {version} ({how})" for name, version, how in survey.targets
                if name in answered]  # fmt: skip
        if described:
            self.console.note(f"checked with {'; '.join(described)}")
        rest = [name for name, _, _ in survey.targets if name not in answered]
        if rest:
            why = "errors, or a grammar that cannot be written in the engine's language"
            self.console.note(f"not checked with {', '.join(rest)} ({why})")

    def _fixable(self, diagnostics: Sequence[Diagnostic]) -> frozenset[int]:
        """Return the diagnostics that ``--fix`` would fix, none after it ran."""
        if self.asked.fix:
            return frozenset()
        return frozenset(
            id(diagnostic)
            for diagnostic in diagnostics
            if any(fix.safe or self.asked.unsafe_fixes for fix in diagnostic.fixes)
        )

    def _announce_fixes(self, diagnostics: Sequence[Diagnostic], fixable: int) -> None:
        """Say how many findings have fixes, and how many more have unsafe ones only."""
        both = "--fix --unsafe-fixes"
        if fixable:
            fixing = both if self.asked.unsafe_fixes else "--fix"
            self.console.note(f"{fixable:,} fixable with {fixing}")
        if self.asked.unsafe_fixes:
            return
        unsafe = sum(
            bool(diagnostic.fixes) and not any(fix.safe for fix in diagnostic.fixes)
            for diagnostic in diagnostics
        )
        if unsafe and fixable:
            self.console.note(f"{unsafe:,} more with --unsafe-fixes")
        elif unsafe:
            self.console.note(f"{unsafe:,} fixable with {both}")

    def _width(self) -> int | None:
        """Return the width of the terminal for the output, if it is one."""
        return None if self.asked.output_file is not None else self.console.width()

    def _show(self, reports: Sequence[FileReport]) -> Callable[[Segments], None]:
        if self.asked.output_file is not None:
            return partial(_write, self.asked.output_file)
        # The fixed text of stdin is on stdout.
        is_taken = self.asked.fix and any(report.path == STDIN for report in reports)
        return self.console.findings if is_taken else self.console.data


def _survey(reports: Sequence[FileReport]) -> Survey:
    """Return the survey of all files together."""
    surveys = [report.survey for report in reports if report.survey is not None]
    targets = dict.fromkeys(target for survey in surveys for target in survey.targets)
    return Survey(tuple(targets), tuple(row for survey in surveys for row in survey.rows))


def _matrix(survey: Survey) -> Segments:
    """Return a line for each file or tool, with a column for each target, if there are several."""
    names = list(dict.fromkeys(target for _, _, target, _ in survey.rows))
    if len(names) < 2:
        return []
    verdicts: dict[str, dict[str, str]] = {}
    is_one = len({path for path, *_ in survey.rows}) == 1
    for path, tool, target, verdict in survey.rows:
        title = tool if tool and is_one else f"{path} {tool}".rstrip()
        verdicts.setdefault(visible(title), {})[target] = verdict
    width = max(map(len, verdicts))
    widths = {name: max(len(name), len("refuses")) for name in names}
    for *_, target, verdict in survey.rows:
        widths[target] = max(widths[target], len(verdict))
    lines = [" ".join((" " * width, *(f"{name:<{widths[name]}}" for name in names))).rstrip()]
    for title, by_target in verdicts.items():
        cells = (f"{by_target.get(name, '-'):<{widths[name]}}" for name in names)
        lines.append(f"{title:<{width}} {' '.join(cells)}".rstrip())
    return [Segment("".join(f"{line}\n" for line in lines))]


def _accepted(file: Path) -> frozenset[str]:
    from kbnf_core.text.diagnostics.stored import read_baseline

    try:
        return read_baseline(read_bytes(file).decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error


def _write(file: Path, rendered: Segments) -> None:
    write_text(file, plain(rendered))


def _all(reports: Sequence[FileReport]) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for report in reports for diagnostic in report.diagnostics)


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
    format_option(FORMATS, "Output format."),
    click.option(
        "-o",
        "--output",
        "--output-file",
        "output_file",
        metavar="FILE",
        type=_FILE,
        help="Write the findings to FILE.",
    ),
    jobs_option("Files to check in parallel."),
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
"""The options that control the run, and the output of findings."""


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
        help="Do not report findings of a baseline.",
    ),
    _selecting("--select", "Report these only; prefixes work."),
    _selecting("--ignore", "Ignore these; the longest prefix wins."),
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
    click.option("--unsafe-fixes", is_flag=True, help="Also apply fixes that change the language."),
)
"""The options that fix findings."""


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
        result = (name for name in TARGET_NAMES if name.startswith(last))
        return [CompletionItem(f"{before}{comma}{name}") for name in result]


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
        help="Maximum trie nodes of a rule (E703).",
    ),
    click.option(
        "--max-states",
        metavar="COUNT",
        type=click.IntRange(min=1),
        help="Maximum states of a grammar (E703).",
    ),
    click.option("--cost", is_flag=True, help="Report the states and work of each grammar (I702)."),
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
        return Reporting(console, asked).act(reports)

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
) -> list[FileReport]:
    """Return the reports of the files that can be read; of the others, say why not."""
    reports = []
    for result in _results(console, files, check_one, jobs):
        if isinstance(result, KbnfError):
            console.problem(result)
        else:
            reports.append(result)
    for failure in dict.fromkeys(failure for report in reports for failure in report.failures):
        console.problem(KbnfError(failure))
    check_one.end()
    return reports


def _results(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> Iterator[FileReport | KbnfError]:
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
) -> Iterator[FileReport | KbnfError]:
    for path in console.track(files, "checking"):
        console.detail(f"checking {'<stdin>' if path == STDIN else path}")
        yield check_one(path)


def _side_by_side(
    console: Console, files: Sequence[Path], check_one: FileCheck, jobs: int
) -> Iterator[FileReport | KbnfError]:
    from kbnf_core.processes import ProcessError

    with console.progress("checking") as progress:
        for done, (path, result) in enumerate(run_jobs(check_one, files, jobs), 1):
            console.detail(f"checked {path}")
            if isinstance(result, ProcessError):
                yield KbnfError(f"{path} was not checked: {result}")
            else:
                yield result
            progress(done, len(files))
