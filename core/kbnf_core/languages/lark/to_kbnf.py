"""From Lark, in either dialect, to KBNF.

Lark's and LLGuidance's grammars let generation go on as long as they can, so the result says
``finish=eos``.
"""

from textwrap import wrap

from kbnf_core.collecting import without_collecting
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import ConfigError, GrammarError
from kbnf_core.imports import BELOW, Imports
from kbnf_core.languages.conversion.to_kbnf import lay_out_kbnf
from kbnf_core.languages.conversion.verify import verified
from kbnf_core.languages.gbnf.to_kbnf import from_gbnf
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.languages.lark.read import Setting, read_lark
from kbnf_core.languages.lark.reader.model import Lexing
from kbnf_core.languages.lark.reader.parse import comments, is_gbnf, parse_lark
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.tree import Comment

_LONGEST = 120
"""Columns of a line that people read."""


@without_collecting()
def from_lark(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    lexing: Lexing | str | None = None,
    imports: Imports = BELOW,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a Lark text, or for a list of grammars in LLGuidance's JSON form.

    ``path`` names the text and is where its imports are looked for, as ``imports`` permits;
    ``start`` is the start rule, ``start`` if not given. ``lexing`` (``llguidance``, ``earley``,
    ``lalr``, ``scannerless``) says how text is cut into lexemes; without it files that use
    LLGuidance's constructs are read as LLGuidance does, others as Lark's default parser does, and a
    text that defines all its rules with ``::=``, ``root`` among them, is GBNF, or what LLGuidance
    once read as such: Lark with ``::=``. Raises ``GrammarError`` with all findings for a text with
    errors, ``ConfigError`` for an unknown ``lexing``.
    """
    text = Source(source, path)
    setting = Setting(imports, _parsed(lexing), start, limits)
    if lexing is None and is_gbnf(source):
        try:
            return from_gbnf(source, path=path, start=start, limits=limits)
        except GrammarError:
            if parse_lark(text, limits).diagnostics:
                raise
    outcome = read_lark(text, setting)
    report = outcome.report
    if outcome.document is None or report.errors:
        errors = sorted(report.errors, key=Diagnostic.sort_key)
        raise GrammarError([*errors, *report.notes])
    document = outcome.document
    remarks = [Comment(value, span) for value, span in comments(source)]
    body = lay_out_kbnf(text, document.definitions, remarks)
    top = document.definitions[0].name.value
    settings = "finish=eos" if top == KBNF.start else f"finish=eos start={top}"
    head = f"(* kbnf: {settings} *)\n{_comment(report.remark)}"
    converted = _short_lines(f"{head}\n{body}")
    spans = {each.name.value: each.span for each in document.definitions}
    verified(converted, KBNF, limits, text, spans)
    losses = tuple(sorted(report.losses, key=lambda loss: loss.span))
    return Conversion(converted, not losses, losses, tuple(report.notes))


def _parsed(lexing: Lexing | str | None) -> Lexing | None:
    if lexing is None:
        return None
    try:
        return Lexing(lexing)
    except ValueError:
        known = ", ".join(each.value for each in Lexing)
        raise ConfigError(f"lexing must be one of {known}, not {lexing!r}") from None


def _short_lines(text: str) -> str:
    """Return a text laid out anew where a line of it is too long to be read."""
    if max(map(len, text.splitlines())) <= _LONGEST:
        return text
    from kbnf_core.format.document import format_kbnf

    return format_kbnf(Source(text)).text or text


def _comment(text: str) -> str:
    """Return a comment on as many lines as it needs; nothing for no text."""
    if not text:
        return ""
    return "\n   ".join(wrap(f"(* {text.replace('*)', '* )')} *)", 96)) + "\n"
