"""Findings about statements as a whole, and about words that spoil the text around them."""

from lark import Token

from kbnf_core.diagnostics import Diagnostic, Edit, Fix
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import shown, span_of
from kbnf_core.syntax.statements import NAMES, Statement

_RULE = "a rule is written `name ::= ... ;`"
_COMMENT = "a comment is written `(* ... *)`"


def no_rules(source: Source) -> Diagnostic:
    """Return the finding for a text without any statement."""
    return Diagnostic("E010", "this file defines no rule", source, Span(0, 0), helps=(_RULE,))


def open_comment(source: Source, word: Token) -> Diagnostic:
    """Return the finding for a comment without its end, which goes on to the end of the text."""
    start = span_of(word).start
    message = "this comment is never closed"
    span = Span(start, start + 2)
    return Diagnostic("E005", message, source, span, helps=("close it with `*)`",))


def open_string(source: Source, word: Token) -> Diagnostic:
    """Return the finding for a quoted text without its closing quote."""
    is_raw = word.value.startswith("#r")
    start = span_of(word).start + (len("#r") if is_raw else 0)
    quote = word.value[len("#r") if is_raw else 0]
    written = quote * 2 if is_raw else f"\\{quote}"
    return Diagnostic(
        "E004",
        "this quoted text is never closed",
        source,
        Span(start, start + 1),
        helps=(f"close it with `{quote}`; inside the text this quote is written `{written}`",),
    )


def missing_semicolon(source: Source, last: Token, following: str) -> Diagnostic:
    """Return the finding for a definition whose ``last`` word runs into the next definition."""
    message = f"missing `;` before the rule `{following}`"
    return _missing(source, last, "E002", message)


def missing_last_semicolon(source: Source, last: Token) -> Diagnostic:
    """Return the finding for a last definition that ends with the text."""
    return _missing(source, last, "W001", "the last rule does not end with `;`")


def _missing(source: Source, last: Token, code: str, message: str) -> Diagnostic:
    place = Span(span_of(last).end, span_of(last).end)
    fix = Fix("insert `;`", (Edit(place, ";"),))
    return Diagnostic(code, message, source, place, "expected `;`", fixes=(fix,))


def no_definition(source: Source, statement: Statement) -> Diagnostic:
    """Return the finding for a statement that does not start with a name and a sign."""
    words = statement.words
    first = words[0]
    match first.type:
        case "OPEN_COMMENT":
            return open_comment(source, first)
        case "OPEN_STRING":
            return open_string(source, first)
        case "END":
            fix = Fix("remove it", (Edit(span_of(first), ""),))
            message = "this `;` ends no rule"
            return Diagnostic("E001", message, source, span_of(first), fixes=(fix,))
        case _ if first.type in NAMES:
            return _no_sign(source, words)
        case _:
            message = f"unexpected {shown(first.value)}"
            helps = (_COMMENT,) if first.value in _COMMENT_MARKS else (_RULE,)
            following = words[1].value if len(words) > 1 else ""
            if first.value == "%":
                message = f"unexpected `%{following}`"
                helps = (_DIRECTIVES.get(following, "KBNF has no directives: " + _RULE),)
            return Diagnostic(
                "E001", message, source, span_of(first), "expected a rule", (), (), helps
            )


_COMMENT_MARKS = frozenset({"/", "-", "--"})

_DIRECTIVES = {
    "ignore": 'nothing is ignored in KBNF: write a rule such as `ws ::= #"[ \\t]{0,8}";` and'
    " name it wherever blanks are allowed",
    "import": "KBNF has no imports: write the rules into this file",
}


def _no_sign(source: Source, words: list[Token]) -> Diagnostic:
    name = shown(words[0].value)
    message = f"{name} is not followed by `::=`"
    if len(words) == 1:
        return Diagnostic("E001", message, source, span_of(words[0]), helps=(_RULE,))
    return Diagnostic("E001", message, source, span_of(words[1]), "expected `::=`", helps=(_RULE,))
