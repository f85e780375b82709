"""Undefined names that are really forms of other languages, recognised by their neighbours."""

import re

from kbnf_core.diagnostics import Edit, Fix
from kbnf_core.source import Source, Span

_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
_SIGNIFICANT = frozenset(".^$*+?()[]{}|&~#-\\")


def slip_at(source: Source, span: Span) -> Fix | None:
    """Return the fix for the undefined name at ``span`` that is a form of another language."""
    text, name = source.text, source.slice(span)
    before, after = text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]
    if name == "except" and text[span.end :].lstrip().startswith("("):
        return Fix("write `except!`", (Edit(Span(span.end, span.end), "!"),))
    if before == "[" and after == "]":
        pattern = f'#"[{name}]"'
        edit = Edit(Span(span.start - 1, span.end + 1), pattern)
        return Fix(f"if a character class is meant, write `{pattern}`", (edit,))
    if name == "r" and after in ("'", '"'):
        return Fix("a raw pattern begins with `#r`", (Edit(Span(span.start, span.start), "#"),))
    if name == "i" and before in ("'", '"'):
        return _any_case(source, span)
    return None


def _any_case(source: Source, span: Span) -> Fix | None:
    line = source.text.rfind("\n", 0, span.start) + 1
    all_quoted = list(_QUOTED.finditer(source.text, line, span.start))
    if not all_quoted or all_quoted[-1].end() != span.start:
        return None
    quoted = all_quoted[-1]
    inner = quoted[0][1:-1]
    if "\\" in inner:
        return None
    spelled = "".join("\\\\" * (c in _SIGNIFICANT) + c for c in inner)
    pattern = f"#{quoted[0][0]}(?i-u:{spelled}){quoted[0][0]}"
    edit = Edit(Span(quoted.start(), span.end), pattern)
    return Fix(f"for any case write `{pattern}`", (edit,))
