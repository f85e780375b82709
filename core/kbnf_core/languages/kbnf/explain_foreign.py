"""Forms of other languages, and how KBNF writes them: character classes, ranges, flags, slashes.

Each explanation knows which words it is about, so that reading can go on behind them, and has the
fix that turns them into KBNF.
"""

import re
from typing import NamedTuple

from lark import Token

from kbnf_core.diagnostics import Diagnostic, Edit, Fix
from kbnf_core.languages.kbnf.escapes import decode
from kbnf_core.languages.kbnf.explain import explain
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import CLOSERS, CLOSING, Mistake, span_of

_CLASS = re.compile(r"""\[\^?(?:\\.|[^]\\\s'"])+]""")
"""A character class as other languages write it, without blanks and quotes."""

_OPEN = frozenset(("OPEN_STRING", "OPEN_COMMENT"))

_RANGE_CLASS = re.compile(r"\[(?:\w-\w|\w)+]")

_DOTS = re.compile(r"\.{2,3}|-|…")

_SPECIAL = frozenset("\\]^-[&~")
"""Characters that mean something inside a class."""


class Foreign(NamedTuple):
    """A finding about words of another language: those from ``first`` on, before ``behind``."""

    finding: Diagnostic
    first: int
    behind: int


def foreign_form(mistake: Mistake) -> Foreign | None:
    """Return what ``mistake`` is about, if it is a form of another language.

    Failing that, the alternative that it stands in, if that is known from its start to its end.
    """
    found = next((found for form in _FORMS if (found := form(mistake)) is not None), None)
    return found or _alternative(mistake)


def _alternative(mistake: Mistake) -> Foreign | None:
    words, index = mistake.words, mistake.index
    if mistake.open_brackets or any(word.type in _OPEN for word in words):
        return None
    bars = [i for i, word in enumerate(words) if word.type == "_OR"]
    before = [i for i in bars if i < index]
    behind = next((i for i in bars if i > index), None)
    first = (before or [1])[-1] + 1
    depth = sum((w.type in CLOSERS) - (w.type in CLOSING) for w in words[index:behind])
    if behind is None or depth or first >= behind:
        return None
    return Foreign(explain(mistake), first, behind)


def class_around(source: Source, span: Span) -> Diagnostic | None:
    """Return the finding for a name that stands in brackets as a class does, ``[a-z]``."""
    match = _RANGE_CLASS.match(source.text, span.start - 1) if span.start else None
    if match is None or match.end() != span.end + 1:
        return None
    return _class(source, Span(match.start(), match.end()))


def class_fix(written: str, span: Span) -> Fix:
    """Return the fix that makes a pattern of a character class."""
    pattern = '#"' + written.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return Fix(f"write `{pattern}`", (Edit(span, pattern),))


def _class(source: Source, span: Span) -> Diagnostic:
    fix = class_fix(source.slice(span), span)
    message = "character classes are only allowed inside a regular expression"
    return Diagnostic(
        "E001",
        message,
        source,
        span,
        notes=("`[...]` outside of one means that its content is optional",),
        helps=(fix.message,),
        fixes=(fix,),
    )


def _class_in_brackets(mistake: Mistake) -> Foreign | None:
    if mistake.inside is None or mistake.inside.type != "LSQB":
        return None
    first = mistake.open_brackets[-1]
    match = _CLASS.match(mistake.source.text, span_of(mistake.inside).start)
    if match is None or match.end() <= mistake.span.start:
        return None
    finding = _class(mistake.source, Span(match.start(), match.end()))
    return Foreign(finding, first, _behind(mistake.words, first, match.end()))


def _range(mistake: Mistake) -> Foreign | None:
    """Explain ``"0".."9"``, a range of characters."""
    low, words = mistake.before, mistake.words
    match = _DOTS.match(mistake.source.text, mistake.span.start)
    if match is None or low.type != "STRING":
        return None
    behind = _behind(words, mistake.index, match.end())
    high = words[behind] if behind < len(words) else low
    ends = [decode(word.value, 0)[0] for word in (low, high)]
    if high is low or high.type != "STRING" or any(len(end) != 1 for end in ends):
        return None
    written = "[" + "-".join("\\" * (end in _SPECIAL) + end for end in ends) + "]"
    span = span_of(low).cover(span_of(high))
    fix = class_fix(written, span)
    message = "ranges of characters are only allowed inside a regular expression"
    finding = Diagnostic("E001", message, mistake.source, span, helps=(fix.message,), fixes=(fix,))
    return Foreign(finding, mistake.index - 1, behind + 1)


def _slash(mistake: Mistake) -> Foreign | None:
    """Explain ``"a" / "b"``, the alternatives of ABNF and PEG."""
    word, behind = mistake.word, mistake.index + 1
    if word is None or word.value != "/" or mistake.before.type not in _ENDS_SYMBOL:
        return None
    if behind >= len(mistake.words) or mistake.words[behind].value in ("/", "*", ";"):
        return None
    fix = Fix("write `|`", (Edit(mistake.span, "|"),))
    finding = Diagnostic(
        "E001",
        "alternatives are divided by `|`, not `/`",
        mistake.source,
        mistake.span,
        helps=(fix.message,),
        fixes=(fix,),
    )
    return Foreign(finding, mistake.index, behind)


_ENDS_SYMBOL = frozenset(
    ("NAME", "STRING", "RPAR", "RSQB", "RBRACE", "QUESTION", "STAR", "PLUS", "BAD_NAME")
)

_PREFIXES = frozenset("!&~")
_BEGINS_SYMBOL = frozenset(("NAME", "STRING", "LPAR", "LSQB", "REGEX", "RAW"))


def _prefix(mistake: Mistake) -> Foreign | None:
    """Explain ``!"b"``, an operator in front of a symbol, which is read without it."""
    word, behind = mistake.word, mistake.index + 1
    if word is None or word.value not in _PREFIXES or mistake.before.type not in _BEFORE_PREFIX:
        return None
    if behind >= len(mistake.words) or mistake.words[behind].type not in _BEGINS_SYMBOL:
        return None
    return Foreign(explain(mistake), mistake.index, behind)


_BEFORE_PREFIX = _ENDS_SYMBOL | {"DEFINE", "WRONG_SIGN", "_OR", "_COMMA", "LPAR", "LSQB", "LBRACE"}


def _second_operator(mistake: Mistake) -> Foreign | None:
    """Explain ``"a"**``: the rule is read without the second operator."""
    finding = explain(mistake)
    if finding.code != "E015" or mistake.kind == "COUNT_OPEN":
        return None
    return Foreign(finding, mistake.index, mistake.index + 1)


_FORMS = (_class_in_brackets, _range, _slash, _prefix, _second_operator)


def line_comment(source: Source, span: Span) -> Diagnostic:
    """Return the finding for a comment after ``#`` or ``//``, up to the end of its line."""
    inner = source.slice(span).lstrip("#/!").strip()
    fixes: tuple[Fix, ...] = ()
    if "*)" not in inner:
        fixes = (Fix(f"write `(* {inner} *)`", (Edit(span, f"(* {inner} *)"),)),)
    mark = "//" if source.slice(span).startswith("//") else "#"
    return Diagnostic(
        "E001",
        f"a comment does not begin with `{mark}`",
        source,
        span,
        helps=("a comment is written `(* ... *)`",),
        fixes=fixes,
    )


def _behind(words: list[Token], index: int, end: int) -> int:
    """Return the index of the first word from ``index`` on that starts at ``end`` or later."""
    while index < len(words) and span_of(words[index]).start < end:
        index += 1
    return index


def angled_names(source: Source, words: list[Token]) -> tuple[list[Token], list[Diagnostic]]:
    """Return the words without the marks of ``<name>``, and what is to be said of them."""
    kept: list[Token] = []
    edits: list[Edit] = []
    index = 0
    while index < len(words):
        name = _angled(words, index)
        if name is None:
            kept.append(words[index])
            index += 1
            continue
        kept.append(name)
        edits += (Edit(span_of(words[index]), ""), Edit(span_of(words[index + 2]), ""))
        index += 3
    if not edits:
        return words, []
    fix = Fix("remove the marks from all names of the rule", tuple(edits))
    message = "names are written without `<` and `>`"
    span = edits[0].span.cover(edits[1].span)
    return kept, [Diagnostic("E001", message, source, span, helps=(fix.message,), fixes=(fix,))]


def _angled(words: list[Token], index: int) -> Token | None:
    values = [word.value for word in words[index : index + 3]]
    if len(values) < 3 or (values[0], values[2]) != ("<", ">"):
        return None
    name = words[index + 1]
    return name if name.type in ("NAME", "BAD_NAME") else None
