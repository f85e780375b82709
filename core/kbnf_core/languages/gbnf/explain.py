"""Findings about GBNF that cannot be read; each carries what llama.cpp says in its place.

Tests: tests/unit/languages/gbnf
"""

from kbnf_core.kbnf.statements import Mistake, Word, shown, span_of
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.source import Source, Span

_OPERATORS = frozenset({"STAR", "PLUS", "QUESTION", "COUNT"})
_OPEN = {
    "OPEN_STRING": ("this string is never closed", '"'),
    "OPEN_CLASS": ("this class is never closed", "]"),
    "OPEN_COUNT": ("this count is never closed", "}"),
}
NO_OPERAND = "expecting preceding item to */+/?/{ at"


_LARK = (
    "comments `//`, expressions `/.../` and directives `%...` are LLGuidance's, which reads this as"
    " Lark: `kbnf convert --from lark FILE`, or name the file *.lark",
)


def llama_says(message: str) -> str:
    """Return the note that quotes llama.cpp."""
    return f"llama.cpp: `{message}`"


def no_rules(source: Source) -> Diagnostic:
    """Return the finding for a text without any rule."""
    notes = (llama_says("failed to parse grammar"),)
    helps = ("a rule is written `name ::= ...` on a line of its own",)
    return Diagnostic(
        "E010", "this file defines no rule", source, Span(0, 0), notes=notes, helps=helps
    )


def no_name(source: Source, word: Word) -> Diagnostic:
    """Return the finding for text in front of the first rule."""
    message = f"expected a rule, found {shown(word.value)}"
    notes = (llama_says("expecting name at"),)
    helps = (
        _LARK if word.value == "/" else ("a rule begins with its name and `::=`, first on a line",)
    )
    return Diagnostic("E001", message, source, span_of(word), notes=notes, helps=helps)


def wrong_sign(source: Source, word: Word) -> Diagnostic:
    """Return the finding for a sign that is not ``::=``."""
    fix = Fix("write `::=`", (TextEdit(span_of(word), "::="),))
    message = f"a rule is defined with `::=`, not {shown(word.value)}"
    notes = (llama_says("expecting ::= at"),)
    return Diagnostic("E006", message, source, span_of(word), notes=notes, fixes=(fix,))


def explain(mistake: Mistake) -> Diagnostic:
    """Return the finding for a rule that stops making sense."""
    word = mistake.word
    if word is not None and word.type in _OPEN:
        return _unclosed(mistake.source, word)
    if word is not None and word.type in _OPERATORS:
        return operator_alone(mistake.source, word)
    if mistake.inside is not None:
        return _open_group(mistake, mistake.inside)
    return _left_over(mistake)


def operator_alone(source: Source, word: Word) -> Diagnostic:
    """Return the finding for an operator with nothing to repeat."""
    return nothing_to_repeat(source, span_of(word), shown(word.value))


def nothing_to_repeat(source: Source, span: Span, operator: str) -> Diagnostic:
    """Return the finding for an operator, as it is shown, after nothing or an empty text."""
    message = f"{operator} has nothing to repeat"
    return Diagnostic("E001", message, source, span, notes=(llama_says(NO_OPERAND),))


def _unclosed(source: Source, word: Word) -> Diagnostic:
    message, closing = _OPEN[word.type]
    start = span_of(word).start
    return Diagnostic(
        "E003" if word.type == "OPEN_COUNT" else "E004",
        message,
        source,
        Span(start, start + 1),
        notes=(llama_says("unexpected end of input"),),
        helps=(f"close it with `{closing}`",),
    )


def _open_group(mistake: Mistake, opening: Word) -> Diagnostic:
    label = Label(span_of(opening), "this parenthesis is open")
    message = f"expected `)`, found {mistake.shown_word}"
    notes = (llama_says("expecting ')' at"),)
    code = "E003" if mistake.word is None else "E001"
    return Diagnostic(code, message, mistake.source, mistake.span, labels=(label,), notes=notes)


CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r"}
"""The members of a class that are equal to the escapes of regular expressions."""


def class_escape(source: Source, span: Span, word: str) -> Diagnostic:
    r"""Return the finding for ``\d``, ``\w`` or ``\s`` in a word of the type ``word``."""
    members = CLASSES[source.slice(span)[1]]
    written = members if word == "CLASS" else f"[{members}]"
    # In a text there is no place for a class.
    fixes = () if word == "STRING" else (Fix(f"write `{written}`", (TextEdit(span, written),)),)
    message = f"{shown(source.slice(span))} is an escape of regular expressions, not of GBNF"
    is_inside = word in ("CLASS", "STRING")
    notes = (llama_says("unknown escape at" if is_inside else "expecting newline or end at"),)
    where = " beside the text" if word == "STRING" else ""
    helps = (f"write `{written}`{where}",)
    return Diagnostic("E007", message, source, span, notes=notes, helps=helps, fixes=fixes)


def _left_over(mistake: Mistake) -> Diagnostic:
    word = mistake.word
    if word is not None and word.value[:1] == "\\" and word.value[1:] in CLASSES:
        return class_escape(mistake.source, span_of(word), word.type)
    code = "E003" if word is not None and word.type == "RPAR" else "E001"
    helps = ('texts are written `"..."`',) if mistake.shown_word.startswith("`'") else ()
    if word is not None and word.value == "<":
        helps = ("a token is written `<[id]>` or `<text>`",)
    if word is not None and word.value in ("/", "%"):
        helps = _LARK
    message = f"{mistake.shown_word} is not allowed here"
    notes = (llama_says("expecting newline or end at"),)
    return Diagnostic(code, message, mistake.source, mistake.span, notes=notes, helps=helps)


def reads_on(source: Source, last: Word) -> Diagnostic:
    """Return the finding for a rule that ends in ``::=`` or ``|``, with another rule after."""
    return Diagnostic(
        "W411",
        f"llama.cpp does not end a rule after {shown(last.value)}",
        source,
        span_of(last),
        notes=(llama_says("expecting newline or end at"),),
        helps=('write `""` for an empty alternative',),
    )
