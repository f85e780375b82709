"""From a reading of another language, whose tree is one of KBNF already, to KBNF text."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError
from kbnf_core.frontend import Reading
from kbnf_core.languages.conversion.layout import Style, Written, lay_out
from kbnf_core.languages.conversion.names import TABLE_HEAD, kbnf_names
from kbnf_core.languages.conversion.rewrite import rename
from kbnf_core.languages.conversion.verify import verified
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion, Loss
from kbnf_core.syntax.printer import print_expression
from kbnf_core.syntax.tree import Comment, Definition

LOSSES = frozenset({"W401", "W402", "W403", "W404", "W405"})
"""Codes of findings that say what a conversion cannot keep."""

_START = re.compile(
    r"^(\s*kbnf:(?!\s*(?:accept|reject)\b).*?)\bstart\s*=\s*[^\s,]+[\s,]*", re.DOTALL
)


def write_kbnf(
    reading: Reading,
    definitions: Iterable[Definition],
    losses: Iterable[Diagnostic],
    limits: Limits,
) -> Conversion:
    """Return ``definitions`` as KBNF, with the comments and settings of ``reading``.

    Raises ``GrammarError`` where the reading has errors.
    """
    if reading.errors:
        raise GrammarError(reading.diagnostics)
    kept = tuple(definitions)
    names = kbnf_names((d.name.value for d in kept), {reading.start: KBNF.start})
    document = reading.document
    comments = list(filter(None, map(_without_start, document.comments)))
    renamed = [rename(definition, names) for definition in kept]
    text = _header(reading, names) + lay_out_kbnf(document.source, renamed, comments)
    spans = {names[definition.name.value]: definition.name.span for definition in reversed(kept)}
    verified(text, KBNF, limits, document.source, spans)
    lost = tuple(Loss(d.code, _message(d), d.span) for d in losses)
    notes = tuple(d for d in reading.diagnostics if d.code not in LOSSES)
    return Conversion(text, not lost, lost, notes)


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


def _message(loss: Diagnostic) -> str:
    return "; ".join((loss.message, *loss.notes))


def _without_start(comment: Comment) -> Comment | None:
    """Return a comment without the setting of the start, which gets another name; None for that."""
    text, found = _START.subn(r"\g<1>", comment.text, count=1)
    return None if found and text.strip() == "kbnf:" else replace(comment, text=text)


def _comment(text: str) -> str:
    """Return a comment of KBNF; what would end it is broken up."""
    inner = text.strip().replace("*)", "* )")
    return f"(* {inner} *)" if inner else "(* *)"


def _header(reading: Reading, names: Mapping[str, str]) -> str:
    """Return the settings that KBNF does not have by itself, and the table of new names."""
    lines: list[str] = []
    if reading.pragmas.finish is None and reading.finish is not KBNF.finish:
        lines.append(f"(* kbnf: finish={reading.finish.value} *)")
    changed = {old: new for old, new in names.items() if old != new}
    if changed:
        width = max(map(len, changed))
        rows = (f"     {old:<{width}}  {new}" for old, new in changed.items())
        lines += [f"(* {TABLE_HEAD}", *rows, "*)"]
    return "".join(f"{line}\n" for line in [*lines, *([""] if lines else [])])
