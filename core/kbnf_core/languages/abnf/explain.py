"""Findings about ABNF that cannot be read.

Tests: tests/unit/languages/abnf
"""

import re

from kbnf_core.kbnf.statements import CLOSERS, CLOSING, Mistake, Word, shown, span_of
from kbnf_core.kbnf.tree import Name
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import Suggestions

_RULE = "a rule is written `name = ...`, first on a line"
_OPEN = {
    "OPEN_STRING": ("this string is never closed", '"'),
    "OPEN_PROSE": ("this is never closed", ">"),
}
_BEFORE_ALTERNATIVE = frozenset({"DEFINE", "SLASH", "LPAR", "LSQB"})
_FOREIGN = {
    "|": "alternatives are separated by `/`",
    "'": 'texts are written `"..."`, with regard to case `%s"..."`',
    "+": "one or more is written in front: `1*x`",
    "?": "none or one is written `[x]`",
    "{": "counts are written in front: `2*5x`",
    ",": "elements side by side follow one another, without commas",
    "#": 'lists are not part of ABNF: write `x *( "," x )`',
    "_": "names are made of letters, digits and hyphens",
    "=": "every rule begins on a line of its own",
}


def no_rules(source: Source) -> Diagnostic:
    """Return the finding for a text without any rule."""
    return Diagnostic("E010", "this file defines no rule", source, Span(0, 0), helps=(_RULE,))


def no_name(source: Source, word: Word) -> Diagnostic:
    """Return the finding for text in front of the first rule."""
    message = f"expected a rule, found {shown(word.value)}"
    return Diagnostic("E001", message, source, span_of(word), helps=(_RULE,))


def wrong_sign(source: Source, word: Word) -> Diagnostic:
    """Return the finding for a sign that is not ``=``."""
    fix = Fix("write `=`", (TextEdit(span_of(word), "="),))
    message = f"a rule is defined with `=`, not {shown(word.value)}"
    return Diagnostic("E006", message, source, span_of(word), "expected `=`", fixes=(fix,))


def not_indented(source: Source, word: Word) -> Diagnostic:
    """Return the finding for a line that neither begins a rule nor is indented."""
    message = f"{shown(word.value)} begins no rule, and is not indented to go on with one"
    helps = ("indent the line, or write `=` after the name of a rule",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps)


def defined_again(source: Source, name: Word, first: Word) -> Diagnostic:
    """Return the finding for a second definition other than ``=/``."""
    message = f"the rule `{name.value}` is defined again"
    labels = (Label(span_of(first), "first defined here"),)
    helps = ("write `=/` to add alternatives; names are the same in upper and lower case",)
    return Diagnostic("E432", message, source, span_of(name), labels=labels, helps=helps)


def nothing_to_add_to(source: Source, sign: Word, name: str) -> Diagnostic:
    """Return the finding for ``=/`` before any definition."""
    message = f"there is no earlier rule `{name}` to add to"
    fix = Fix("write `=`", (TextEdit(span_of(sign), "="),))
    return Diagnostic("E432", message, source, span_of(sign), fixes=(fix,))


def _is_prose(use: Name) -> bool:
    return not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", use.value)


def _brackets(inner: Span) -> Span:
    return Span(inner.start - 1, inner.end + 1)


def undefined(source: Source, use: Name, suggestions: Suggestions) -> Diagnostic:
    """Return the finding for prose, or a rule of another file, that the start needs."""
    if _is_prose(use):
        message = "what is described in prose cannot be generated"
        helps = ("write out the rule that is meant",)
        return Diagnostic("E431", message, source, _brackets(use.span), helps=helps)
    close = suggestions.closest(use.value)
    helps = (f"did you mean `{close}`?" if close else f"define it: `{use.value} = ...`",)
    return Diagnostic(
        "E101", f"the rule `{use.value}` is not defined", source, use.span, helps=helps
    )


def left_out(source: Source, rule: str, use: Name, start: str) -> Diagnostic:
    """Return the finding for a rule that cannot be generated, to which the start does not lead."""
    span, why = use.span, f"`{use.value}` is not defined in this file"
    if _is_prose(use):
        span, why = _brackets(span), "what it means is described in prose"
    message = f"the rule `{rule}` is left out: {why}"
    notes = (f"the start `{start}` does not lead to it",)
    helps = ("define it here, or write out what is meant, to use the rule",)
    return Diagnostic("W433", message, source, span, notes=notes, helps=helps)


def explain(mistake: Mistake) -> Diagnostic:
    """Return the finding for a rule that stops making sense."""
    word = mistake.word
    if word is not None and word.type in _OPEN:
        message, closing = _OPEN[word.type]
        start = span_of(word).start
        helps = (f"close it with `{closing}`",)
        return Diagnostic("E004", message, mistake.source, Span(start, start + 1), helps=helps)
    if mistake.before.type == "REPEAT":
        return _nothing_to_repeat(mistake)
    if word is not None and word.type == "BAD_VALUE":
        help_ = "values are written `%x41`, `%d13.10`, `%b1010` or `%x30-39`"
        return mistake.finding("E001", f"{mistake.shown_word} is not a value", "", help_)
    if (word is None or word.type in {*CLOSING, "SLASH"}) and (
        mistake.before.type in _BEFORE_ALTERNATIVE
    ):
        return mistake.finding("E011", "this alternative is empty", "", 'the empty text is `""`')
    if mistake.inside is not None and (word is None or word.type in CLOSING):
        return _open_bracket(mistake, mistake.inside)
    code = "E003" if word is not None and word.type in CLOSING else "E001"
    hint = _FOREIGN.get(word.value[:1]) if word is not None else None
    return mistake.finding(
        code, f"{mistake.shown_word} is not allowed here", "", *([hint] if hint else [])
    )


def _nothing_to_repeat(mistake: Mistake) -> Diagnostic:
    word = mistake.before
    message = f"{shown(word.value)} has nothing to repeat"
    helps = ("a count is written before its element: `1*x`",)
    return Diagnostic("E001", message, mistake.source, span_of(word), helps=helps)


def _open_bracket(mistake: Mistake, opening: Word) -> Diagnostic:
    label = Label(span_of(opening), "this bracket is open")
    message = f"expected `{CLOSERS[opening.type]}`, found {mistake.shown_word}"
    return Diagnostic("E003", message, mistake.source, mistake.span, labels=(label,))
