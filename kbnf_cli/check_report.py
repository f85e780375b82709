"""The outcome of ``kbnf check``: findings are shown in a format, fixed, or accepted."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kbnf_cli.check_options import CheckOptions
from kbnf_cli.checking import Report
from kbnf_cli.console import Console, Exit
from kbnf_cli.files import STDIN, read_bytes, write_text
from kbnf_core.kernel import has_engine
from kbnf_core.text.diagnostics import CATALOGUE, Diagnostic
from kbnf_core.text.diagnostics.formats import NOBODY, Survey
from kbnf_core.text.diagnostics.segments import NEWLINE, Segment, Segments, plain, visible
from kbnf_core.text.diagnostics.text import (
    FIXABLE,
    count_of,
    render_concise,
    render_text,
    summarise,
)
from kbnf_core.text.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in so many files, and how to show it.

    ``fixable`` are those that ``--fix`` would mend, by identity; ``width`` is the terminal's.
    """

    diagnostics: Sequence[Diagnostic]
    files: int
    fixable: frozenset[int]
    width: int | None
    survey: Survey = NOBODY


def _text(found: Found) -> Segments:
    """Return the long form, with an empty line after each finding."""
    shown = ((each, id(each) in found.fixable) for each in found.diagnostics)
    long = (render_text(each, found.width, is_fixable=is_) for each, is_ in shown)
    return [part for each in long for part in (*each, NEWLINE)]


def _concise(found: Found) -> Segments:
    shown = ((each, id(each) in found.fixable) for each in found.diagnostics)
    return [part for each, is_ in shown for part in render_concise(each, is_fixable=is_)]


def _for_programs(name: str, *more: str) -> Callable[[Found], Segments]:
    """Return what shows findings as a function of ``diagnostics.formats`` does."""

    def render(found: Found) -> Segments:
        from kbnf_core.text.diagnostics import formats

        arguments = (getattr(found, each) for each in ("diagnostics", *more))
        return [Segment(getattr(formats, f"render_{name}")(*arguments))]

    return render


def _statistics(found: Found) -> Segments:
    """Return how often each code was found, the most frequent first."""
    counts = Counter(each.code for each in found.diagnostics)
    fixable = {each.code for each in found.diagnostics if id(each) in found.fixable}
    lines = [
        f"{count}\t{code}\t{FIXABLE if code in fixable else '[ ]'} {CATALOGUE[code].name}\n"
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return [Segment("".join(lines))]


FORMATS: dict[str, Callable[[Found], Segments]] = {
    "text": _text,
    "concise": _concise,
    "json": _for_programs("json", "files", "survey"),
    "sarif": _for_programs("sarif", "survey"),
    "github": _for_programs("github", "survey"),
    "junit": _for_programs("junit", "files", "survey"),
}
"""How the values of ``--format`` show what was found."""

FOR_PEOPLE = {"text", "concise"}
"""Formats beside which the run is summed up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of reports, as the options ask."""

    console: Console
    asked: CheckOptions

    def act(self, reports: Sequence[Report]) -> int:
        """Do it; return the exit status."""
        if self.asked.show_diff:
            return self._show_diff(reports)
        if self.asked.fix:
            self._write_fixed(reports)
        if self.asked.write_baseline is not None:
            return self._accept(reports, self.asked.write_baseline)
        return self._deliver(reports)

    def _show_diff(self, reports: Sequence[Report]) -> int:
        from kbnf_core.text.diagnostics.segments import diff

        for report in reports:
            self.console.data(diff(report.before, report.after, report.name))
        fixed = sum(len(report.fixed) for report in reports)
        self.console.note(f"{count_of(fixed, 'finding')} would be fixed")
        self._announce_fixes(_all(reports), 0)
        return Exit.FINDINGS if fixed else Exit.CLEAN

    def _write_fixed(self, reports: Sequence[Report]) -> None:
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

    def _accept(self, reports: Sequence[Report], file: Path) -> int:
        from kbnf_core.text.diagnostics.stored import write_baseline

        found = _all(reports)
        write_text(file, write_baseline(found))
        self.console.note(f"{count_of(len(found), 'finding')} accepted in {file}")
        return Exit.CLEAN

    def _deliver(self, reports: Sequence[Report]) -> int:
        """Show what is not accepted already, and tell how the run ends."""
        diagnostics = _all(reports)
        if self.asked.baseline is not None:
            from kbnf_core.text.diagnostics.stored import without_baseline

            diagnostics = without_baseline(diagnostics, _accepted(self.asked.baseline))
        survey = _survey(reports)
        found = Found(diagnostics, len(reports), self._fixable(diagnostics), self._width(), survey)
        render = _statistics if self.asked.statistics else FORMATS[self.asked.format_]
        shown = render(found)
        if self.asked.format_ in FOR_PEOPLE and not self.asked.statistics:
            shown = [*shown, *_matrix(survey)]
        self._show(reports)(shown)
        if self.asked.format_ in FOR_PEOPLE and reports:
            self.console.note(summarise(diagnostics, len(reports)))
            self._announce_fixes(diagnostics, len(found.fixable))
        if not has_engine():
            self.console.note(
                "not checked without the compiled engine: W307, E601, and what `--vocab`,"
                " `--cost`, `--max-states` and `--max-mask-work` look for"
            )
        if survey.targets and self.asked.format_ in FOR_PEOPLE:
            self._say_who_was_asked(survey)
        left = {id(each) for each in diagnostics}
        counts = (
            each.severity >= report.fail_on and id(each) in left
            for report in reports
            for each in report.diagnostics
        )
        return Exit.FINDINGS if any(counts) and not self.asked.exit_zero else Exit.CLEAN

    def _say_who_was_asked(self, survey: Survey) -> None:
        answered = {target for _, _, target, _ in survey.rows}
        said = [f"{name} {version} ({how})" for name, version, how in survey.targets
                if name in answered]  # fmt: skip
        if said:
            self.console.note(f"asked: {'; '.join(said)}")
        rest = [name for name, _, _ in survey.targets if name not in answered]
        if rest:
            why = "errors, or a grammar that cannot be written in the engine's language"
            self.console.note(f"not asked: {', '.join(rest)} ({why})")

    def _fixable(self, diagnostics: Sequence[Diagnostic]) -> frozenset[int]:
        """Return what ``--fix`` would mend; where it has been at work, what is left it cannot."""
        if self.asked.fix:
            return frozenset()
        return frozenset(
            id(each)
            for each in diagnostics
            if any(fix.safe or self.asked.unsafe_fixes for fix in each.fixes)
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
            bool(each.fixes) and not any(fix.safe for fix in each.fixes) for each in diagnostics
        )
        if unsafe and fixable:
            self.console.note(f"{unsafe:,} more with --unsafe-fixes")
        elif unsafe:
            self.console.note(f"{unsafe:,} fixable with {both}")

    def _width(self) -> int | None:
        """Return the width of the terminal that takes what was found, if one does."""
        return None if self.asked.output_file is not None else self.console.width()

    def _show(self, reports: Sequence[Report]) -> Callable[[Segments], None]:
        if self.asked.output_file is not None:
            return partial(_write, self.asked.output_file)
        # The fixed text of stdin is on stdout.
        is_taken = self.asked.fix and any(report.path == STDIN for report in reports)
        return self.console.findings if is_taken else self.console.data


def _survey(reports: Sequence[Report]) -> Survey:
    """Return what was asked about all files together."""
    surveys = [report.survey for report in reports if report.survey is not None]
    targets = dict.fromkeys(target for survey in surveys for target in survey.targets)
    return Survey(tuple(targets), tuple(row for survey in surveys for row in survey.rows))


def _matrix(survey: Survey) -> Segments:
    """Return a line for each file or tool, with a column for each target, if there are several."""
    names = [name for name, _, _ in survey.targets]
    if len(names) < 2 or not survey.rows:
        return []
    verdicts: dict[str, dict[str, str]] = {}
    is_one = len({path for path, *_ in survey.rows}) == 1
    for path, tool, target, verdict in survey.rows:
        title = tool if tool and is_one else f"{path} {tool}".rstrip()
        verdicts.setdefault(visible(title), {})[target] = verdict
    width = max(map(len, verdicts))
    widths = {name: max(len(name), len("refuses")) for name in names}
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


def _all(reports: Sequence[Report]) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for report in reports for diagnostic in report.diagnostics)
