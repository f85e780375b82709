"""Findings for people: the long form with source lines, the one-line form, and the summary."""

import textwrap
from collections import Counter
from collections.abc import Iterable
from copy import copy

from kbnf_core.diagnostics.catalogue import Severity
from kbnf_core.diagnostics.excerpt import Excerpt, marks_of
from kbnf_core.diagnostics.model import Diagnostic
from kbnf_core.diagnostics.segments import NEWLINE, Role, Segment, Segments, severity_role
from kbnf_core.diagnostics.visible import visible

_NARROWEST = 20
"""Characters of prose that a line has in any case, however narrow the output."""

FIXABLE = "[*]"
"""What marks a finding that ``--fix`` mends."""


def render_text(
    diagnostic: Diagnostic, width: int | None = None, *, is_fixable: bool = False
) -> Segments:
    """Return a finding with its source lines, notes and helps; ends with a line break.

    In an output of ``width`` cells, source lines are cut to fit and prose is wrapped at words;
    without it, source lines have ``excerpt.LINE_WIDTH`` and prose stays as it is.
    """
    excerpt = Excerpt(diagnostic.source, marks_of(diagnostic), width)
    indent = " " * excerpt.gutter
    arrow = Segment(f"{indent}--> ", Role.PLACE)
    remarks = _remarks(diagnostic, indent, width)
    ruler = [Segment(f"{indent} |", Role.PLACE), NEWLINE] if remarks else []
    return [
        *_header(diagnostic, width, is_fixable),
        NEWLINE,
        arrow,
        Segment(place(diagnostic)),
        NEWLINE,
        *excerpt.segments(),
        *ruler,
        *remarks,
    ]


def render_concise(diagnostic: Diagnostic, *, is_fixable: bool = False) -> Segments:
    """Return ``path:line:column: CODE message`` and a line break."""
    role = severity_role(diagnostic.severity)
    message = " ".join((*([FIXABLE] if is_fixable else []), *visible(diagnostic.message).split()))
    return [
        Segment(f"{place(diagnostic)}: ", Role.PLACE),
        Segment(diagnostic.code, role),
        Segment(f" {message}\n"),
    ]


def place(diagnostic: Diagnostic) -> str:
    """Return ``path:line:column``, 1-based, the column in code points."""
    _, line, column = diagnostic.source.position(diagnostic.span.start)
    return f"{visible(diagnostic.source.name)}:{line}:{column}"


def summarise(diagnostics: Iterable[Diagnostic], files: int) -> str:
    """Return the closing sentence, such as ``2 errors, 1 warning in 3 files``."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    found = [
        count_of(counts[severity], severity.label)
        for severity in sorted(Severity, reverse=True)
        if counts[severity]
    ]
    return f"{', '.join(found) or 'no problems'} in {count_of(files, 'file')}"


def count_of(number: int, noun: str) -> str:
    """Return the number and its noun, in the plural where it must be."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _header(diagnostic: Diagnostic, width: int | None, is_fixable: bool) -> Segments:
    head = f"{diagnostic.severity.label}[{diagnostic.code}]"
    mark = f" {FIXABLE}" if is_fixable else ""
    message = _wrapped(visible(diagnostic.message), "", len(f"{head}{mark}: "), width)
    return [
        Segment(head, severity_role(diagnostic.severity)),
        *([Segment(mark, Role.HELP)] if mark else []),
        Segment(f": {message}", Role.TITLE),
    ]


def _remarks(diagnostic: Diagnostic, indent: str, width: int | None) -> Segments:
    """Return the ``= note:`` and ``= help:`` lines; what a fix does stands in for a help."""
    helps = diagnostic.helps or tuple(fix.message for fix in diagnostic.fixes[:1])
    out: Segments = []
    for note in diagnostic.notes:
        out += _remark("note", Role.NOTE, note, indent, width)
    for text in helps:
        out += _remark("help", Role.HELP, text, indent, width)
    return out


def _remark(word: str, role: Role, text: str, indent: str, width: int | None) -> Segments:
    lead = f"{indent} = "
    below = " " * len(f"{lead}{word}: ")
    body = _wrapped(visible(text), below, len(below), width)
    return [Segment(lead, Role.PLACE), Segment(f"{word}:", role), Segment(f" {body}\n")]


def _wrapped(text: str, below: str, taken: int, width: int | None) -> str:
    """Return text whose further lines begin with ``below``, none longer than ``width``.

    ``taken`` characters of the first line are in use. Words are never broken, and blanks inside
    lines stay, since they may be part of a text of the grammar.
    """
    lines = text.split("\n")
    if width is None:
        return f"\n{below}".join(lines)
    room = max(width, taken + _NARROWEST)
    first = textwrap.TextWrapper(
        room,
        initial_indent=" " * taken,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )
    rest = copy(first)
    rest.initial_indent = below
    wrapped = [
        "\n".join(wrapper.wrap(line)) or wrapper.initial_indent
        for wrapper, line in zip((first, *[rest] * (len(lines) - 1)), lines, strict=True)
    ]
    return "\n".join(wrapped)[taken:]
