"""The formats of ``kbnf check``, by name."""

from collections.abc import Callable, Sequence

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.diagnostics.segments import NEWLINE, Segment, Segments


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
