"""Writes a reading of any language as KBNF.

A reading has a tree of KBNF with the spans of its text, so what is left are names, settings and the
layout: comments and line breaks are those of the author.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError
from kbnf_core.languages.conversion.layout import Style, Written, lay_out
from kbnf_core.languages.conversion.names import TABLE_HEAD, kbnf_names
from kbnf_core.languages.conversion.rewrite import rename
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.printer import print_expression
from kbnf_core.syntax.tree import Comment, Definition

if TYPE_CHECKING:
    from kbnf_core.frontend import Reading

_START = "start"
_FINISH = "eager"
"""What a text of KBNF means that says nothing else."""

_LONGEST = 120
"""Columns of a line that people read."""

_SETTING = re.compile(
    r"^(\s*kbnf:(?!\s*(?:accept|reject)\b).*?)\bstart\s*=\s*[^\s,]+[\s,]*", re.DOTALL
)

NARROWED = "W808"
"""The code of a finding that a text is kept in part, though nothing of it was dropped."""


def write_kbnf(reading: "Reading", limits: Limits) -> Conversion:
    """Return a reading as KBNF, with its comments and settings.

    Raises ``GrammarError`` where the reading has errors.
    """
    del limits
    if reading.errors:
        raise GrammarError(reading.diagnostics)
    losses = tuple(
        replace(loss, message="; ".join((loss.message, *loss.notes)), notes=())
        for loss in reading.losses
    )
    said = {loss.diagnostic(reading.document.source) for loss in reading.losses}
    notes = tuple(d for d in reading.diagnostics if d not in said)
    exact = not losses and not any(note.code == NARROWED for note in notes)
    return Conversion(_text(reading), exact, losses, notes)


def _text(reading: "Reading") -> str:
    if reading.meaning is not None:
        return reading.meaning.write()
    document = reading.document
    definitions: Sequence[Definition] = document.definitions
    comments: Iterable[Comment] = document.comments
    changed: dict[str, str] = {}
    if not reading.language.is_converted:
        names = kbnf_names((d.name.value for d in definitions), {reading.start: _START})
        definitions = [rename(definition, names) for definition in definitions]
        comments = filter(None, map(_without_start, comments))
        changed = {old: new for old, new in names.items() if old != new}
    head = _head(reading, changed)
    body = lay_out_kbnf(document.source, definitions, list(comments))
    return _with_short_lines(head + body) if reading.language.is_converted else head + body


def lay_out_kbnf(
    source: Source, definitions: Iterable[Definition], comments: Sequence[Comment]
) -> str:
    """Return the text of ``definitions``, made of ``source``, with its comments."""
    written = [_written(definition) for definition in definitions]
    return lay_out(source, written, comments, Style(_comment, ";", bar_first=True))


def _written(definition: Definition) -> Written:
    branches = definition.branches
    return Written(
        definition.name.value,
        tuple(print_expression(branch) for branch in branches),
        tuple(branch.span for branch in branches),
        definition.span,
    )


def _without_start(comment: Comment) -> Comment | None:
    """Return a comment without the setting of the start, which gets another name; None for that."""
    text, found = _SETTING.subn(r"\g<1>", comment.text, count=1)
    return None if found and text.strip() == "kbnf:" else replace(comment, text=text)


def _comment(text: str) -> str:
    """Return a comment of KBNF; what would end it is broken up."""
    inner = text.strip().replace("*)", "* )")
    return f"(* {inner} *)" if inner else "(* *)"


def _head(reading: "Reading", changed: Mapping[str, str]) -> str:
    """Return the settings that KBNF does not have by itself, remarks, and new names."""
    settings = []
    if reading.pragmas.finish is None and reading.finish.value != _FINISH:
        settings.append(f"finish={reading.finish.value}")
    if reading.start != _START and reading.start not in changed and reading.pragmas.start is None:
        settings.append(f"start={reading.start}")
    lines = [f"(* kbnf: {' '.join(settings)} *)"] if settings else []
    if reading.remark:
        lines.append("\n   ".join(wrap(_comment(reading.remark), 96)))
    if changed:
        width = max(map(len, changed))
        rows = (f"     {old:<{width}}  {new}" for old, new in changed.items())
        lines += [f"(* {TABLE_HEAD}", *rows, "*)"]
    return "".join(f"{line}\n" for line in [*lines, *([""] if lines else [])])


def _with_short_lines(text: str) -> str:
    """Return a text laid out anew where a line of it is too long to be read."""
    if max(map(len, text.splitlines())) <= _LONGEST:
        return text
    from kbnf_core.format.document import format_kbnf

    return format_kbnf(Source(text)).text or text


def is_loss(found: Diagnostic, reading: "Reading") -> bool:
    """Tell whether a finding says what the grammar does not keep of its text."""
    return any((found.code, found.span) == (loss.code, loss.span) for loss in reading.losses)
