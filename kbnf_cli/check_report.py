"""The outcome of ``kbnf check``: findings are shown in a format, fixed, or accepted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, read_bytes, write_text
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.diagnostics.segments import NEWLINE, Segment, Segments, plain
from kbnf_core.diagnostics.text import count_of, summarise
from kbnf_core.errors import ConfigError

if TYPE_CHECKING:
    from kbnf_cli.check import CheckOptions
    from kbnf_cli.checking import Report


def _text(diagnostics: Sequence[Diagnostic], _: int) -> Segments:
    """Return the long form, with an empty line behind each finding."""
    from kbnf_core.diagnostics.text import render_text

    return [part for each in diagnostics for part in (*render_text(each), NEWLINE)]


def _concise(diagnostics: Sequence[Diagnostic], _: int) -> Segments:
    from kbnf_core.diagnostics.text import render_concise

    return [part for each in diagnostics for part in render_concise(each)]


def _json(diagnostics: Sequence[Diagnostic], files: int) -> Segments:
    from kbnf_core.diagnostics.json import render_json

    return [Segment(render_json(diagnostics, files))]


def _sarif(diagnostics: Sequence[Diagnostic], _: int) -> Segments:
    from kbnf_core.diagnostics.sarif import render_sarif

    return [Segment(render_sarif(diagnostics))]


def _github(diagnostics: Sequence[Diagnostic], _: int) -> Segments:
    from kbnf_core.diagnostics.github import render_github

    return [Segment(render_github(diagnostics))]


def _junit(diagnostics: Sequence[Diagnostic], files: int) -> Segments:
    from kbnf_core.diagnostics.junit import render_junit

    return [Segment(render_junit(diagnostics, files))]


FORMATS: dict[str, Callable[[Sequence[Diagnostic], int], Segments]] = {
    "text": _text,
    "concise": _concise,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
    "junit": _junit,
}
"""Each takes the findings, in order, and the number of files they were looked for in."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of reports, as the options ask."""

    console: Console
    asked: "CheckOptions"

    def act(self, reports: "Sequence[Report]") -> int:
        """Do it; return the exit status."""
        if self.asked.show_diff:
            return self._show_diff(reports)
        if self.asked.fix:
            self._write_fixed(reports)
        if self.asked.write_baseline is not None:
            return self._accept(reports, self.asked.write_baseline)
        return self._deliver(reports)

    def _show_diff(self, reports: "Sequence[Report]") -> int:
        from kbnf_cli.diff import diff

        for report in reports:
            self.console.data(diff(report.before, report.after, report.name))
        fixed = sum(len(report.fixed) for report in reports)
        self.console.note(f"{count_of(fixed, 'finding')} would be fixed")
        return Exit.FINDINGS if fixed else Exit.CLEAN

    def _write_fixed(self, reports: "Sequence[Report]") -> None:
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

    def _accept(self, reports: "Sequence[Report]", file: Path) -> int:
        from kbnf_core.diagnostics.baseline import write_baseline

        found = _all(reports)
        write_text(file, write_baseline(found))
        self.console.note(f"{count_of(len(found), 'finding')} accepted in {file}")
        return Exit.CLEAN

    def _deliver(self, reports: "Sequence[Report]") -> int:
        """Show what is not accepted already, and tell how the run ends."""
        diagnostics = _all(reports)
        if self.asked.baseline is not None:
            from kbnf_core.diagnostics.baseline import without_baseline

            diagnostics = without_baseline(diagnostics, _accepted(self.asked.baseline))
        self._show(reports)(FORMATS[self.asked.format_](diagnostics, len(reports)))
        if self.asked.format_ in {"text", "concise"}:
            self.console.note(summarise(diagnostics, len(reports)))
        left = {id(each) for each in diagnostics}
        counts = (
            each.severity >= report.fail_on and id(each) in left
            for report in reports
            for each in report.diagnostics
        )
        return Exit.FINDINGS if any(counts) else Exit.CLEAN

    def _show(self, reports: "Sequence[Report]") -> Callable[[Segments], None]:
        if self.asked.output_file is not None:
            return partial(_write, self.asked.output_file)
        # The fixed text of stdin is on stdout.
        is_taken = self.asked.fix and any(report.path == STDIN for report in reports)
        return self.console.findings if is_taken else self.console.data


def _accepted(file: Path) -> frozenset[str]:
    from kbnf_core.diagnostics.baseline import read_baseline

    try:
        return read_baseline(read_bytes(file).decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error


def _write(file: Path, rendered: Segments) -> None:
    write_text(file, plain(rendered))


def _all(reports: "Sequence[Report]") -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for report in reports for diagnostic in report.diagnostics)
