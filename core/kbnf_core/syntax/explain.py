"""Puts syntax errors into the words of people who write grammars.

The parser says where a statement stops making sense (`Mistake`); the functions here look at the
words around that place and choose a code, a message and, where it is known, a remedy.
"""

import unicodedata
from dataclasses import dataclass

from lark import Token

from kbnf_core.diagnostics import Diagnostic, Edit, Fix, Label
from kbnf_core.source import Source, Span
from kbnf_core.syntax.words import NAMES, span_of

CLOSER = {
    "LPAR": ")",
    "LSQB": "]",
    "LBRACE": "}",
    "COUNT_OPEN": "}",
    "TOKEN_OPEN": "]",
}
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_OPERATORS = frozenset({"QUESTION", "STAR", "PLUS", "COUNT_OPEN"})
_BEFORE_ALTERNATIVE = frozenset({"DEFINE", "_OR", "LPAR", "LSQB", "LBRACE"})
_ENDING = frozenset({"END", "_OR"}) | _CLOSING
_STARTING = frozenset({"DEFINE", "_OR", "_COMMA", "LPAR", "LSQB", "LBRACE"})

_SYMBOL = "a name, a quoted text, a pattern or a bracket"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A statement that stops making sense at ``words[index]``, or at its end.

    ``open_brackets`` are those still open there, outermost first.
    """

    source: Source
    words: list[Token]
    index: int
    open_brackets: list[Token]

    @property
    def word(self) -> Token | None:
        """The word that cannot stand here; None at the end."""
        return self.words[self.index] if self.index < len(self.words) else None

    @property
    def before(self) -> Token:
        """The word in front of it; a statement starts with two that are right."""
        return self.words[self.index - 1]

    @property
    def span(self) -> Span:
        """The word that cannot stand here, or the last one if the statement ends too early."""
        return span_of(self.word if self.word is not None else self.words[-1])

    @property
    def inside(self) -> Token | None:
        """The innermost open bracket."""
        return self.open_brackets[-1] if self.open_brackets else None

    def finding(self, code: str, message: str, label: str = "", *helps: str) -> Diagnostic:
        """Return a finding at this place."""
        return Diagnostic(code, message, self.source, self.span, label, helps=helps)


def explain(mistake: Mistake) -> Diagnostic:
    """Return the one finding that a mistake deserves."""
    for explanation in _EXPLANATIONS:
        finding = explanation(mistake)
        if finding is not None:
            return finding
    return _unexpected(mistake)


def _open_comment(mistake: Mistake) -> Diagnostic | None:
    if mistake.word is None or mistake.word.type != "OPEN_COMMENT":
        return None
    return open_comment(mistake.source, mistake.word)


def open_comment(source: Source, word: Token) -> Diagnostic:
    """Return the finding for a comment without its end."""
    start = span_of(word).start
    return Diagnostic(
        "E005",
        "this comment is never closed",
        source,
        Span(start, start + 2),
        "a comment starts here",
        notes=("everything from here to the end of the file is part of the comment",),
        helps=("close it with `*)`",),
    )


def open_string(source: Source, word: Token) -> Diagnostic:
    """Return the finding for a quoted text without its closing quote."""
    start = span_of(word).start
    quote = word.value[0]
    return Diagnostic(
        "E004",
        "this quoted text is never closed",
        source,
        Span(start, start + 1),
        f"no closing `{quote}` before the next rule",
        helps=(f"close it with `{quote}`; a `{quote}` inside the text is written `\\{quote}`",),
    )


def missing_semicolon(source: Source, last: Token, following: str) -> Diagnostic:
    """Return the finding for a rule that runs into the next one, called ``following``."""
    end = span_of(last).end
    place = Span(end, end)
    return Diagnostic(
        "E002",
        f"missing `;` before the rule `{following}`",
        source,
        place,
        "this rule should end here",
        fixes=(Fix("insert `;`", (Edit(place, ";"),)),),
    )


def missing_last_semicolon(source: Source, last: Token) -> Diagnostic:
    """Return the finding for the last rule of a file without its ``;``."""
    end = span_of(last).end
    place = Span(end, end)
    return Diagnostic(
        "W001",
        "the last rule does not end with `;`",
        source,
        place,
        "expected `;`",
        fixes=(Fix("insert `;`", (Edit(place, ";"),)),),
    )


def headless(source: Source, words: list[Token]) -> Diagnostic:
    """Return the finding for a statement that does not start with ``name ::=``."""
    first = words[0]
    if first.type == "OPEN_COMMENT":
        return open_comment(source, first)
    if first.type == "OPEN_STRING":
        return open_string(source, first)
    if first.type == "END":
        message, helps = "this `;` ends no rule", ("remove it",)
        fixes: tuple[Fix, ...] = (Fix("remove the `;`", (Edit(span_of(first), ""),)),)
        return Diagnostic("E001", message, source, span_of(first), helps=helps, fixes=fixes)
    if first.type in NAMES:
        at = words[1] if len(words) > 1 else first
        message = f"expected `::=` after the name `{first.value}`"
        return Diagnostic("E001", message, source, span_of(at), "expected `::=`")
    message = f"expected a rule, found {_quoted(first)}"
    helps = ("a rule is written `name ::= ... ;`",)
    return Diagnostic("E001", message, source, span_of(first), helps=helps)


def _next_rule(mistake: Mistake) -> Diagnostic | None:
    """`a = 'x' b = 'y';`: the parser stumbles over the second sign."""
    word, before = mistake.word, mistake.before
    if word is None or word.type not in ("DEFINE", "WRONG_SIGN") or before.type not in NAMES:
        return None
    if mistake.index < 3 or mistake.words[mistake.index - 2].type in _STARTING:
        return None
    return missing_semicolon(mistake.source, mistake.words[mistake.index - 2], before.value)


def _exception(mistake: Mistake) -> Diagnostic | None:
    word, words = mistake.word, mistake.words
    inside = mistake.inside
    at = words.index(inside) if inside is not None else mistake.index
    if not (at > 0 and words[at - 1].type == "EXCEPT"):
        return None
    if word is not None and word.type in ("END", "OPEN_STRING"):
        return None
    message, help_ = _exception_fault(mistake)
    return mistake.finding("E014", message, "", help_)


def _exception_fault(mistake: Mistake) -> tuple[str, str]:
    form = "write `except!('text')`, `except!(NAME)` or `except!(..., limit)`"
    word, before = mistake.word, mistake.before
    if before.type == "EXCEPT":
        return "`except!` needs its argument in parentheses", form
    if before.type == "LPAR":
        return "`except!` needs a quoted text or a name here", form
    if before.type == "_COMMA" and word is not None and word.type in ("STRING", "NAME"):
        return (
            "`except!` takes one text only",
            "define a rule that lists the texts, and name it: `except!(NAME)`",
        )
    if before.type == "_COMMA":
        return (
            "the limit of `except!` is a number of bytes",
            "leave the comma out, or write a number after it (0 means no limit)",
        )
    if word is not None and word.type == "_OR":
        return (
            "`except!` takes no alternatives",
            "define a rule that lists the texts, and name it: `except!(NAME)`",
        )
    return "`except!` should be closed here", form


def _token_set(mistake: Mistake) -> Diagnostic | None:
    if mistake.inside is None or mistake.inside.type != "TOKEN_OPEN":
        return None
    if mistake.word is not None and mistake.word.type in ("END", "OPEN_STRING"):
        return None
    return mistake.finding(
        "E016",
        f"{_found(mistake)} cannot stand in a token set",
        "",
        "write token ids and ranges: `#token[5]`, `#token[1-5,7]` or `#token[^1-5]`",
    )


def _count(mistake: Mistake) -> Diagnostic | None:
    if mistake.inside is None or mistake.inside.type != "COUNT_OPEN":
        return None
    if mistake.word is not None and mistake.word.type in ("END", "OPEN_STRING"):
        return None
    return mistake.finding(
        "E013",
        f"{_found(mistake)} cannot stand in a count",
        "",
        "write `{3}`, `{2,}`, `{,5}` or `{2,5}`",
    )


def _stacked(mistake: Mistake) -> Diagnostic | None:
    word, before = mistake.word, mistake.before
    if word is None or word.type not in _OPERATORS or before.type in _STARTING:
        return None
    written = "{...}" if word.type == "COUNT_OPEN" else word.value
    return mistake.finding(
        "E015",
        f"`{written}` follows another operator",
        "a symbol takes one operator",
        f"use a group: `(...){written}`",
    )


def _nothing_to_repeat(mistake: Mistake) -> Diagnostic | None:
    word = mistake.word
    if word is None or word.type not in _OPERATORS:
        return None
    if word.type == "COUNT_OPEN":
        return mistake.finding("E013", "this count has nothing to repeat", "expected a symbol")
    return mistake.finding("E001", f"`{word.value}` has nothing to repeat", "expected a symbol")


def _empty_alternative(mistake: Mistake) -> Diagnostic | None:
    word, before = mistake.word, mistake.before
    ends = word is None or word.type in _ENDING
    if not ends or before.type not in _BEFORE_ALTERNATIVE or _mismatch(mistake):
        return None
    place = "before this" if word is not None else "after this"
    return mistake.finding(
        "E011",
        "an alternative is empty",
        f"expected a symbol {place}",
        "write `''` for the empty text, or make the whole optional: `[x]`",
    )


def _mismatch(mistake: Mistake) -> bool:
    """Tell whether a bracket is closed by one of another kind, or by none."""
    word, inside = mistake.word, mistake.inside
    if word is not None and word.type in _CLOSING:
        return inside is None or CLOSER[inside.type] != word.value
    return inside is not None and (word is None or word.type == "END")


def _bracket(mistake: Mistake) -> Diagnostic | None:
    if not _mismatch(mistake):
        return None
    word, inside = mistake.word, mistake.inside
    if inside is None:
        assert word is not None
        return mistake.finding("E003", f"this `{word.value}` closes nothing")
    closer = CLOSER[inside.type]
    label = Label(mistake.span, f"expected `{closer}` before this" if word else "the text ends")
    return Diagnostic(
        "E003",
        f"this `{inside.value}` is never closed"
        if word is None or word.type == "END"
        else f"this `{inside.value}` is closed by `{word.value}`",
        mistake.source,
        span_of(inside),
        f"needs a `{closer}`",
        labels=(label,),
    )


def _junk(mistake: Mistake) -> Diagnostic | None:
    word = mistake.word
    if word is None or word.type not in ("JUNK", "BAD_MARK"):
        return None
    if word.type == "BAD_MARK":
        return _bad_mark(mistake, word)
    if word.value == "!" and mistake.before.value == "except":
        return mistake.finding("E001", "unexpected `!`", "", "write `except!` without a blank")
    name = unicodedata.name(word.value, "") if len(word.value) == 1 else ""
    known = f" (U+{ord(word.value):04X}, {name.lower()})" if ord(word.value[0]) > 126 and name else ""
    return mistake.finding("E001", f"unexpected {_quoted(word)}{known}")


def _bad_mark(mistake: Mistake, word: Token) -> Diagnostic:
    if word.value == "#":
        help_ = "a pattern is written `#` and its quote, without a blank: `#'[0-9]+'`"
    elif word.value == "#token":
        help_ = "write `#token\"<name>\"` or `#token[5]`"
        return mistake.finding("E016", "`#token` needs a name or a set of ids", "", help_)
    else:
        help_ = 'there are `#"..."`, `#e"..."`, `#ex"..."`, `#substrs"..."`, `#b"..."`, `#token"..."`'
    return mistake.finding("E001", f"`{word.value}` starts no pattern", "", help_)


_EXPLANATIONS = (
    _open_comment,
    _next_rule,
    _exception,
    _token_set,
    _count,
    _bracket,
    _empty_alternative,
    _stacked,
    _nothing_to_repeat,
    _junk,
)


def _unexpected(mistake: Mistake) -> Diagnostic:
    if mistake.before.type in _STARTING:
        expected = f"expected {_SYMBOL}"
    else:
        closer = f"`{CLOSER[mistake.inside.type]}`" if mistake.inside is not None else "`;`"
        expected = f"expected another symbol, `|` or {closer}"
    return mistake.finding("E001", f"unexpected {_found(mistake)}", expected)


def _found(mistake: Mistake) -> str:
    return "the end of the rule" if mistake.word is None else _quoted(mistake.word)


def _quoted(word: Token) -> str:
    text = word.value if len(word.value) <= 20 else word.value[:20] + "..."
    return f"`{text}`"
