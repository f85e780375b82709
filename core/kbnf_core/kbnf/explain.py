"""Explains the parser's errors in terms of the grammar's text.

Each function looks at the words around a mistake, and returns a finding if it knows the slip; the
first that does is believed. There are four kinds of slips: invalid escapes in a quoted text; forms
of other languages (character classes, ranges, flags, slashes), where the explanation knows which
words it is about, so that reading can go on after them, and has the fix that turns them into KBNF;
statements that are wrong as a whole; and words that spoil the text around them.

Tests: tests/unit/kbnf
"""

import re
from typing import NamedTuple

from kbnf_core.kbnf.escapes import QuotedPiece, decode
from kbnf_core.kbnf.statements import (
    CLOSERS,
    CLOSING,
    NAMES,
    SIGNS,
    Mistake,
    Statement,
    Word,
    shown,
    span_of,
)
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.source import Source, Span

_PAIR = re.compile(r"\\u(?P<first>[0-9a-fA-F]{4})\\u(?P<second>[0-9a-fA-F]{4})")
_HALF = re.compile(r"\\u\{?0*[dD][89a-fA-F][0-9a-fA-F]{2}\}?")
_LONG = re.compile(r"U(?P<digits>[0-9a-fA-F]{8})")

_ESCAPED_FORMS = {
    "x": ("`\\x` takes two hexadecimal digits", "write `\\x41`"),
    "u": ("`\\u` takes four hexadecimal digits", "write `\\u0041` or `\\u{41}`"),
}
_SPELLINGS = {"a": "\\x07", "v": "\\x0b", "e": "\\x1b"}


def bad_escape(source: Source, character: QuotedPiece, in_regex: bool) -> Diagnostic:
    """Return the finding (E007) for a piece of a quoted text that spells nothing."""
    span, written = character.span, source.slice(character.span)
    pair = _PAIR.fullmatch(written)
    if pair is not None:
        return _pair(source, span, int(pair["first"], 16), int(pair["second"], 16))
    if _HALF.fullmatch(written):
        message = f"{shown(written)} is half of a surrogate pair"
        return _finding(source, span, message, "write the number of the character: `\\u{1f600}`")
    if written.startswith("\\u{"):
        return _finding(source, span, f"{shown(written)} is beyond the last character", "")
    if written[1] in _ESCAPED_FORMS:
        return _finding(source, span, *_ESCAPED_FORMS[written[1]])
    if in_regex and written[1:].isascii():
        return _doubled(source, span, written)
    return _unknown(source, span, written)


def _finding(source: Source, span: Span, message: str, help_: str) -> Diagnostic:
    return Diagnostic("E007", message, source, span, helps=(help_,) if help_ else ())


def _pair(source: Source, span: Span, high: int, low: int) -> Diagnostic:
    """Explain a character spelled as JSON does it; the arithmetic is UTF-16's."""
    text = f"\\u{{{0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00:x}}}"
    message = f"{shown(source.slice(span))} is a surrogate pair, not a character"
    return _replaced(source, span, span, text, message)


def meant_for_regex(source: Source, character: QuotedPiece) -> Diagnostic:
    r"""Return the finding for ``\b`` in a pattern whose other backslashes are the regex's."""
    written = source.slice(character.span)
    name = {"\b": "a backspace", "\f": "a form feed"}[character.value or ""]
    return _doubled(source, character.span, written, f"{shown(written)} is {name} here")


def _doubled(source: Source, span: Span, written: str, message: str = "") -> Diagnostic:
    r"""Explain ``#"\\d"``, where the backslash is meant for the regex."""
    start = Span(span.start, span.start)
    fix = Fix("double the backslash", (TextEdit(start, "\\"),))
    help_ = (
        f"write {shown(chr(92) + written)}, because string escapes are decoded before the regex;"
        ' or a raw pattern, `#r"..."`'
    )
    message = message or f"{shown(written)} is not an escape"
    return Diagnostic("E007", message, source, span, helps=(help_,), fixes=(fix,))


def _unknown(source: Source, span: Span, written: str) -> Diagnostic:
    message = f"{shown(written)} is not an escape"
    letter = written[1]
    long = _LONG.match(source.text, span.start + 1)
    if long is not None:
        whole = Span(span.start, long.end())
        return _replaced(source, span, whole, f"\\u{{{int(long['digits'], 16):x}}}", message)
    if letter in _SPELLINGS:
        return _replaced(source, span, span, _SPELLINGS[letter], message)
    if not letter.isascii():
        return _replaced(source, span, span, letter, message)
    if letter in "dDwWsS":
        help_ = f'a character class needs a regex: `#"\\\\{letter}"`'
        return _finding(source, span, message, help_)
    return _finding(source, span, message, "a backslash itself is written `\\\\`")


def _replaced(source: Source, span: Span, whole: Span, text: str, message: str) -> Diagnostic:
    fix = Fix(f"write `{text}`", (TextEdit(whole, text),))
    return Diagnostic("E007", message, source, span, helps=(f"write `{text}`",), fixes=(fix,))


_CLASS = re.compile(r"""\[\^?(?:\\.|[^]\\\s'"])+]""")
"""A character class as other languages write it, without blanks and quotes."""

_OPEN = frozenset(("OPEN_STRING", "OPEN_COMMENT"))

_RANGE_CLASS = re.compile(r"\[(?:\w-\w|\w)+]")

_DOTS = re.compile(r"\.{2,3}|-|…")

_SPECIAL = frozenset("\\]^-[&~")
"""Characters that mean something inside a class."""


class ForeignWords(NamedTuple):
    """A finding about words of another language: those from ``first`` on, before ``behind``.

    Reading goes on as if one word were there, of the type ``kind``.
    """

    finding: Diagnostic
    first: int
    behind: int
    kind: str = "NAME"


def foreign_form(mistake: Mistake) -> ForeignWords | None:
    """Return the foreign words that ``mistake`` is about, if it is a form of another language.

    Failing that, the alternative that it is in, if that is known from its start to its end.
    """
    result = next((result for form in _FORMS if (result := form(mistake)) is not None), None)
    return result or _alternative(mistake)


def _alternative(mistake: Mistake) -> ForeignWords | None:
    words, index = mistake.words, mistake.index
    # A bar in a bracket, or after a text that does not end, need not be one of the rule.
    if mistake.open_brackets or any(word.type in _OPEN for word in words):
        return None
    bars = [i for i, word in enumerate(words) if word.type == "_OR"]
    before = [i for i in bars if i < index]
    behind = next((i for i in bars if i > index), None)
    first = (before or [1])[-1] + 1
    depth = sum((w.type in CLOSERS) - (w.type in CLOSING) for w in words[index:behind])
    if behind is None or depth or first >= behind:
        return None
    return ForeignWords(explain(mistake), first, behind)


def class_around(source: Source, span: Span) -> Diagnostic | None:
    """Return the finding for a name that is in brackets as a class does, ``[a-z]``."""
    match = _RANGE_CLASS.match(source.text, span.start - 1) if span.start else None
    if match is None or match.end() != span.end + 1:
        return None
    return _class(source, Span(match.start(), match.end()))


_BRACKET = re.compile(r"(?s)(\\.)|\[(?!:)")


def class_fix(written: str, span: Span) -> Fix:
    """Return the fix that makes a pattern of a character class, in which `[` is the sign itself."""
    inside = _BRACKET.sub(lambda match: match[1] or r"\[", written[1:])
    pattern = '#"[' + inside.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return Fix(f"write `{pattern}`", (TextEdit(span, pattern),))


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


def _class_in_brackets(mistake: Mistake) -> ForeignWords | None:
    if mistake.inside is None or mistake.inside.type != "LSQB":
        return None
    first = mistake.open_brackets[-1]
    match = _CLASS.match(mistake.source.text, span_of(mistake.inside).start)
    if match is None or match.end() <= mistake.span.start:
        return None
    finding = _class(mistake.source, Span(match.start(), match.end()))
    return ForeignWords(finding, first, _behind(mistake.words, first, match.end()))


def _range(mistake: Mistake) -> ForeignWords | None:
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
    return ForeignWords(finding, mistake.index - 1, behind + 1)


_SLASHES = re.compile(
    r"""/(?![/*\s])
        (?P<regex>(?:[^][/\\\n]|\\.|\[\^?\]?(?:[^]\\\n]|\\.)*\])+)
        (?<!\s)/(?P<flags>[a-z]*)(?!\w)""",
    re.VERBOSE,
)
"""A pattern of JavaScript, Lark and others on one line, without a blank inside of the slashes."""

_FLAGS = frozenset("imsux")


def _slashed(mistake: Mistake) -> Diagnostic | None:
    """Explain ``/[a-z]+/i``, a pattern as other languages write it."""
    word, source = mistake.word, mistake.source
    if word is None or not word.value.startswith("/"):
        return None
    touches = span_of(mistake.before).end == mistake.span.start
    match = _SLASHES.match(source.text, mistake.span.start)
    # Without blanks, `a/b` is an alternative of PEG.
    if match is None or (touches and mistake.before.type in _ENDS_OPERAND):
        return None
    # `except!` takes no pattern: written as ours it would be the next mistake.
    if mistake.inside is not None and mistake.words[mistake.open_brackets[-1] - 1].type == "EXCEPT":
        return None
    flags = "".join(flag for flag in dict.fromkeys(match["flags"]) if flag in _FLAGS)
    regex = (f"(?{flags})" if flags else "") + match["regex"].replace("\\/", "/")
    pattern = '#r"' + regex.replace('"', '""') + '"'
    span = Span(*match.span())
    fix = Fix(f"write `{pattern}`", (TextEdit(span, pattern),))
    message = "patterns are not written between slashes"
    return Diagnostic("E001", message, source, span, helps=(fix.message,), fixes=(fix,))


def _pattern_in_slashes(mistake: Mistake) -> ForeignWords | None:
    result = _slashed(mistake)
    if result is None:
        return None
    behind = _behind(mistake.words, mistake.index, result.span.end)
    return ForeignWords(result, mistake.index, behind)


def quoted_in_slashes(mistake: Mistake) -> Diagnostic | None:
    """Explain ``/["]/``: a quote in such a pattern begins a text that ends after it."""
    result = _slashed(mistake)
    if result is None:
        return None
    behind = _behind(mistake.words, mistake.index, result.span.end)
    return result if span_of(mistake.words[behind - 1]).end > result.span.end else None


def _label(mistake: Mistake) -> ForeignWords | None:
    """Explain ``key:name``, a label of PEG and ANTLR."""
    word, label, behind = mistake.word, mistake.before, mistake.index + 1
    if word is None or not word.value.startswith(":") or label.type not in NAMES:
        return None
    if word.value != ":" or behind >= len(mistake.words):
        return None
    symbol = mistake.words[behind]
    # A colon with blanks around it may be the sign of a definition.
    touching = span_of(label).end == mistake.span.start and mistake.span.end == symbol.start_pos
    if not touching or symbol.type not in _BEGINS_SYMBOL:
        return None
    span = span_of(label).cover(mistake.span)
    fix = Fix(f"remove `{label.value}:`", (TextEdit(span, ""),))
    finding = Diagnostic(
        "E001",
        "symbols have no labels",
        mistake.source,
        span,
        helps=(f"{fix.message}: trees and values have the names of rules",),
        fixes=(fix,),
    )
    return ForeignWords(finding, mistake.index - 1, behind)


def _difference(mistake: Mistake) -> ForeignWords | None:
    """Explain ``name - keyword``, the exception of ISO's EBNF."""
    word, behind = mistake.word, mistake.index + 1
    if word is None or word.value != "-" or mistake.before.type not in _ENDS_OPERAND:
        return None
    if behind >= len(mistake.words) or mistake.words[behind].type not in ("NAME", "STRING"):
        return None
    excluded = mistake.words[behind].value
    help_ = (
        f"`except!({excluded})` matches texts in which {shown(excluded)} does not occur;"
        ' a pattern can list what is left: `#"[a-hj-z]"`'
    )
    finding = mistake.finding("E001", "KBNF has no difference of symbols", "", help_)
    return ForeignWords(finding, mistake.index - 1, behind + 1)


def _slash(mistake: Mistake) -> ForeignWords | None:
    """Explain ``"a" / "b"``, the alternatives of ABNF and PEG."""
    word, behind = mistake.word, mistake.index + 1
    if word is None or word.value != "/" or mistake.before.type not in _ENDS_OPERAND:
        return None
    # Two slashes, and a slash and an asterisk, begin comments elsewhere.
    if behind >= len(mistake.words) or mistake.words[behind].value in ("/", "*", ";"):
        return None
    fix = Fix("write `|`", (TextEdit(mistake.span, "|"),))
    finding = Diagnostic(
        "E001",
        "alternatives are divided by `|`, not `/`",
        mistake.source,
        mistake.span,
        helps=(fix.message,),
        fixes=(fix,),
    )
    return ForeignWords(finding, mistake.index, behind, "_OR")


_ENDS_OPERAND = frozenset(
    ("NAME", "STRING", "RPAR", "RSQB", "RBRACE", "QUESTION", "STAR", "PLUS", "BAD_NAME")
)

_PREFIXES = frozenset("!&~")
_BEGINS_SYMBOL = frozenset(("NAME", "STRING", "LPAR", "LSQB", "REGEX", "RAW"))


def _prefix(mistake: Mistake) -> ForeignWords | None:
    """Explain ``!"b"``, an operator in front of a symbol, which is read without it."""
    word, behind = mistake.word, mistake.index + 1
    if word is None or word.value not in _PREFIXES or mistake.before.type not in _BEFORE_PREFIX:
        return None
    if behind >= len(mistake.words) or mistake.words[behind].type not in _BEGINS_SYMBOL:
        return None
    return ForeignWords(explain(mistake), mistake.index, behind)


_BEFORE_PREFIX = _ENDS_OPERAND | {"DEFINE", "WRONG_SIGN", "_OR", "_COMMA", "LPAR", "LSQB", "LBRACE"}


def _second_operator(mistake: Mistake) -> ForeignWords | None:
    """Explain ``"a"**``: the rule is read without the second operator."""
    finding = explain(mistake)
    # A count is several words, of which leaving out one would be the next mistake.
    if finding.code != "E015" or mistake.kind == "COUNT_OPEN":
        return None
    return ForeignWords(finding, mistake.index, mistake.index + 1)


_FORMS = (
    _class_in_brackets,
    _range,
    _pattern_in_slashes,
    _label,
    _difference,
    _slash,
    _prefix,
    _second_operator,
)


def line_comment(source: Source, span: Span) -> Diagnostic:
    """Return the finding for a comment after ``#`` or ``//``, up to the end of its line."""
    inner = source.slice(span).lstrip("#/!").strip()
    fixes: tuple[Fix, ...] = ()
    # In a comment of ours this would be its end.
    if "*)" not in inner:
        fixes = (Fix(f"write `(* {inner} *)`", (TextEdit(span, f"(* {inner} *)"),)),)
    mark = "//" if source.slice(span).startswith("//") else "#"
    return Diagnostic(
        "E001",
        f"a comment does not begin with `{mark}`",
        source,
        span,
        helps=("a comment is written `(* ... *)`",),
        fixes=fixes,
    )


def _behind(words: list[Word], index: int, end: int) -> int:
    """Return the index of the first word from ``index`` on that starts at ``end`` or later."""
    while index < len(words) and span_of(words[index]).start < end:
        index += 1
    return index


def angled_names(source: Source, words: list[Word]) -> tuple[list[Word], list[Diagnostic]]:
    """Return the words without the marks of ``<name>``, and the findings about them."""
    kept: list[Word] = []
    edits: list[TextEdit] = []
    index = 0
    while index < len(words):
        name = _angled(words, index)
        if name is None:
            kept.append(words[index])
            index += 1
            continue
        kept.append(name)
        edits += (TextEdit(span_of(words[index]), ""), TextEdit(span_of(words[index + 2]), ""))
        index += 3
    if not edits:
        return words, []
    fix = Fix("remove the marks from all names of the rule", tuple(edits))
    message = "names are written without `<` and `>`"
    span = edits[0].span.cover(edits[1].span)
    return kept, [Diagnostic("E001", message, source, span, helps=(fix.message,), fixes=(fix,))]


def _angled(words: list[Word], index: int) -> Word | None:
    values = [word.value for word in words[index : index + 3]]
    if len(values) < 3 or (values[0], values[2]) != ("<", ">"):
        return None
    name = words[index + 1]
    return name if name.type in ("NAME", "BAD_NAME") else None


_RULE = "a rule is written `name ::= ... ;`"
_COMMENT = "a comment is written `(* ... *)`"


def no_rules(source: Source) -> Diagnostic:
    """Return the finding for a text without any statement."""
    return Diagnostic("E010", "this file defines no rule", source, Span(0, 0), helps=(_RULE,))


def open_comment(source: Source, word: Word) -> Diagnostic:
    """Return the finding for a comment without its end, which goes on to the end of the text."""
    start = span_of(word).start
    message = "this comment is never closed"
    span = Span(start, start + 2)
    return Diagnostic("E005", message, source, span, helps=("close it with `*)`",))


def open_string(source: Source, word: Word) -> Diagnostic:
    """Return the finding for a quoted text without its closing quote."""
    is_raw = word.value.startswith("#r")
    start = span_of(word).start + (len("#r") if is_raw else 0)
    quote = word.value[len("#r") if is_raw else 0]
    written = quote * 2 if is_raw else f"\\{quote}"
    help_ = f"close it with `{quote}`; inside the text this quote is written `{written}`"
    # Mostly an earlier text ended too soon, at the quote in a class such as `#"[^"]"`.
    words = _QUOTED.finditer(source.text[:start])
    cut = next((entry for entry in words if entry[1] and _ends_in_class(entry[3])), None)
    if cut is not None:
        inside = cut[2] * 2 if cut[1] == "#r" else f"\\{cut[2]}"
        at = source.text.count("\n", 0, cut.start()) + 1
        help_ = f"`{cut[0]}` on line {at} ends in a class: write the quote in it as `{inside}`"
    return Diagnostic(
        "E004",
        "this quoted text is never closed",
        source,
        Span(start, start + 1),
        helps=(help_,),
    )


_QUOTED = re.compile(
    r"""\(\*.*?(?:\*\)|\Z)|(#r?)?(["'])((?:\\.|(?!\2)[^\\])*+)(?:\2|\Z)""", re.DOTALL
)
"""A comment, or a quoted text, each up to the end where it is not closed.

Of a text: the sign of an expression, its quote, and its contents.
"""


def _ends_in_class(expression: str) -> bool:
    return [text for text in re.findall(r"\\.|[][]", expression) if len(text) == 1][-1:] == ["["]


def missing_semicolon(source: Source, last: Word, following: str) -> Diagnostic:
    """Return the finding for a definition whose ``last`` word runs into the next definition."""
    message = f"missing `;` before the rule `{following}`"
    return _missing(source, last, "E002", message)


def missing_last_semicolon(source: Source, last: Word) -> Diagnostic:
    """Return the finding for a last definition that ends with the text."""
    return _missing(source, last, "W001", "the last rule does not end with `;`")


def _missing(source: Source, last: Word, code: str, message: str) -> Diagnostic:
    end = Span(span_of(last).end, span_of(last).end)
    fix = Fix("insert `;`", (TextEdit(end, ";"),))
    return Diagnostic(code, message, source, end, "expected `;`", fixes=(fix,))


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
            fix = Fix("remove it", (TextEdit(span_of(first), ""),))
            message = "this `;` ends no rule"
            return Diagnostic("E001", message, source, span_of(first), fixes=(fix,))
        case _ if first.type in NAMES:
            return _no_sign(source, words)
        case _:
            message = f"unexpected {shown(first.value)}"
            helps = (_COMMENT,) if first.value in _COMMENT_MARKS else (_RULE,)
            following = words[1].value if len(words) > 1 else ""
            if first.value == "%":
                message = f"unexpected {shown(first.value + following)}"
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


def _no_sign(source: Source, words: list[Word]) -> Diagnostic:
    name = shown(words[0].value)
    message = f"{name} is not followed by `::=`"
    if len(words) == 1:
        return Diagnostic("E001", message, source, span_of(words[0]), helps=(_RULE,))
    return Diagnostic("E001", message, source, span_of(words[1]), "expected `::=`", helps=(_RULE,))


_OPERATORS = frozenset({"QUESTION", "STAR", "PLUS", "COUNT_OPEN"})
_BEFORE_ALTERNATIVE = frozenset({"DEFINE", "_OR", "LPAR", "LSQB", "LBRACE"})
_BEFORE_SYMBOL = _BEFORE_ALTERNATIVE | {"_COMMA"}
_AFTER_ALTERNATIVE = CLOSING | {"END", "_OR"}

_SYMBOL = "a name, a quoted text, a pattern or a bracket"
_MARKS = '`#"..."`, `#r"..."`, `#e"..."`, `#ex"..."`, `#substrs"..."`, `#b"..."` and `#token"..."`'

_FOREIGN_CHARACTERS = {
    **dict.fromkeys("‘’“”„`´", "texts are quoted with `'` or `\"`"),
    **dict.fromkeys(
        "<>",
        'names are written without `<` and `>`, tokens as `#token[1-5]` or `#token"<|x|>"`',
    ),
    "/": 'a pattern is written `#"..."`, a comment `(* ... *)`',
    "!": "KBNF has no negation: `except!('b')` matches texts that do not contain `b`,"
    ' `#"[^b]"` one character other than `b`',
    "&": "KBNF has no lookahead: write what comes next itself",
    "~": 'KBNF has no complement of a rule: `#ex"..."` matches texts without a match of a pattern',
    ".": 'any character but a line break is the pattern `#"."`, any character `#"(?s:.)"`',
}


def explain(mistake: Mistake) -> Diagnostic:
    """Return the one finding that ``mistake`` deserves."""
    for explanation in _EXPLANATIONS:
        finding = explanation(mistake)
        if finding is not None:
            return finding
    return _unexpected(mistake)


def _comment(mistake: Mistake) -> Diagnostic | None:
    word = mistake.word
    if word is None or word.type != "OPEN_COMMENT":
        return None
    return open_comment(mistake.source, word)


def _next_definition(mistake: Mistake) -> Diagnostic | None:
    """Explain ``a = 'x' b = 'y';``: the parser stops at the second sign."""
    name, last = mistake.before, mistake.words[mistake.index - 2]
    if mistake.kind not in SIGNS or name.type not in NAMES or last.type in _BEFORE_SYMBOL | SIGNS:
        return None
    return missing_semicolon(mistake.source, last, name.value)


def _bracket(mistake: Mistake) -> Diagnostic | None:
    opener = mistake.inside
    if mistake.kind in CLOSING:
        return _wrong_closer(mistake)
    if mistake.kind != "END" or opener is None:
        return None
    closer = CLOSERS[opener.type]
    message = f"this {shown(opener.value)} is never closed"
    labels = (Label(mistake.span, f"expected `{closer}` before this point"),)
    return Diagnostic("E003", message, mistake.source, span_of(opener), labels=labels)


def _wrong_closer(mistake: Mistake) -> Diagnostic | None:
    opener = mistake.inside
    if opener is None:
        return mistake.finding("E003", f"this {mistake.shown_word} closes nothing")
    closer = CLOSERS[opener.type]
    if mistake.word is None or mistake.word.value == closer:
        return None
    message = f"{mistake.shown_word} cannot close {shown(opener.value)}"
    label = Label(span_of(opener), "opened here")
    expected = f"expected `{closer}`"
    return Diagnostic("E003", message, mistake.source, mistake.span, expected, (label,))


def _empty_alternative(mistake: Mistake) -> Diagnostic | None:
    if mistake.kind not in _AFTER_ALTERNATIVE or mistake.before.type not in _BEFORE_ALTERNATIVE:
        return None
    start = Span(mistake.span.start, mistake.span.start)
    return Diagnostic(
        "E011",
        "this alternative is empty",
        mistake.source,
        mistake.span,
        "expected a symbol before this point",
        helps=("write `''` for the empty text, or `[x]` for an optional part",),
        # Not safe: the bar may be one too many.
        fixes=(Fix("write `''`", (TextEdit(start, "'' "),), safe=False),),
    )


def _operator(mistake: Mistake) -> Diagnostic | None:
    if mistake.kind not in _OPERATORS:
        return None
    code = "E013" if mistake.kind == "COUNT_OPEN" else "E001"
    written = "`{...}`" if mistake.kind == "COUNT_OPEN" else mistake.shown_word
    if mistake.before.type in _BEFORE_SYMBOL:
        helps = _group_of_regex(mistake)
        return mistake.finding(
            code, f"{written} has nothing to repeat", "expected a symbol", *helps
        )
    message = f"{written} follows another operator"
    first = "{...}" if mistake.before.type == "RBRACE" else mistake.before.value
    help_ = f"use parentheses: `(x{first}){written[1:]}"
    return mistake.finding("E015", message, "a symbol takes one operator", help_)


_REGEX_GROUP = re.compile(r"\((\?(?:[imsux-]*\)|[:=!<P]|[imsux-]+:))")


def _group_of_regex(mistake: Mistake) -> tuple[str, ...]:
    """Return the help for a group as regular expressions write it, ``(?:...)`` or ``(?i)``."""
    begin = span_of(mistake.before).start
    match = _REGEX_GROUP.match(mistake.source.text, begin)
    if mistake.before.type != "LPAR" or match is None:
        return ()
    if match[1] == "?:":
        return ("groups of rules are plain brackets: `(...)`",)
    return (f'`{match[0]}` belongs in a pattern: `#"{match[0]}..."`',)


def _count_in_front(mistake: Mistake) -> Diagnostic | None:
    """Explain ``3*"a"``, ABNF's repetition."""
    match = _ABNF_COUNT.match(mistake.source.text, mistake.span.start)
    if match is None or mistake.before.type not in _BEFORE_SYMBOL | {*_ENDS_SYMBOL}:
        return None
    low, star, high = match.groups()
    count = f"{{{low}}}" if not star else f"{{{low or 0},{high}}}"
    return mistake.finding(
        "E001", f"unexpected {mistake.shown_word}", "", f"a count follows its symbol: `x{count}`"
    )


_ABNF_COUNT = re.compile(r"""([0-9]*+)(\*?+)([0-9]*+)(?=["'(A-Za-z])(?<=[0-9*])""")
_ENDS_SYMBOL = frozenset(("NAME", "STRING", "RPAR", "RSQB", "RBRACE"))


def _mark(mistake: Mistake) -> Diagnostic | None:
    if mistake.kind != "BAD_MARK":
        return None
    if mistake.shown_word == "`#token`":
        help_ = 'write `#token"name"`, `#token[5]` or `#token[1-5,7]`'
        return mistake.finding("E016", "`#token` needs a name or ids", "", help_)
    help_ = f"there are {_MARKS}, without a blank before the quote"
    return mistake.finding("E001", f"unexpected {mistake.shown_word}", "", help_)


def _character(mistake: Mistake) -> Diagnostic | None:
    value = "" if mistake.word is None else mistake.word.value
    help_ = _FOREIGN_CHARACTERS.get(value)
    if help_ is None:
        return None
    fixes = _straight_quotes(mistake) if value in _OPENING else ()
    return Diagnostic(
        "E001",
        f"unexpected {mistake.shown_word}",
        mistake.source,
        mistake.span,
        helps=(help_,),
        fixes=fixes,
    )


_OPENING = {"“": "”“", "„": "“”", "‘": "’‘"}


def _straight_quotes(mistake: Mistake) -> tuple[Fix, ...]:
    """Return the fix that writes straight quotes around a text in typographic ones, on one line."""
    text, start = mistake.source.text, mistake.span.start
    match = re.compile(f'[^\\n"\\\\]*?[{_OPENING[text[start]]}]').match(text, start + 1)
    if match is None:
        return ()
    edits = (
        TextEdit(Span(start, start + 1), '"'),
        TextEdit(Span(match.end() - 1, match.end()), '"'),
    )
    return (Fix("write straight quotes", edits),)


def _unexpected(mistake: Mistake) -> Diagnostic:
    closer = f"`{CLOSERS[mistake.inside.type]}`" if mistake.inside is not None else "`;`"
    if mistake.before.type in _BEFORE_SYMBOL:
        expected = f"expected {_SYMBOL}"
    else:
        expected = f"expected another symbol, `|` or {closer}"
    return mistake.finding("E001", f"unexpected {mistake.shown_word}", expected)


_FORM = "write `except!('text')`, `except!(NAME)` or `except!('text', 100)`"
_LIST = "name a rule that lists the texts: `except!(NAME)`"


def _arguments(mistake: Mistake) -> Diagnostic | None:
    """Explain a mistake in the brackets of `except!`, `#token` or a count (E013, E014, E016)."""
    if mistake.before.type == "EXCEPT":
        return mistake.finding("E014", "`except!` needs its argument in `(...)`", "", _FORM)
    if mistake.kind == "END" or mistake.inside is None:
        return None
    opener = mistake.open_brackets[-1]
    if mistake.words[opener - 1].type == "EXCEPT":
        return _exception(mistake)
    match mistake.inside.type:
        case "TOKEN_OPEN":
            help_ = "write ids and ranges: `#token[5]`, `#token[1-5,7]` or `#token[^1-5]`"
            return mistake.finding(
                "E016", f"unexpected {mistake.shown_word} in a token set", "", help_
            )
        case "COUNT_OPEN":
            help_ = "write `{3}`, `{2,}`, `{,5}` or `{2,5}`"
            return mistake.finding("E013", f"unexpected {mistake.shown_word} in a count", "", help_)
        case _:
            return None


def _exception(mistake: Mistake) -> Diagnostic:
    match (mistake.before.type, mistake.kind):
        case ("LPAR", "RPAR"):
            return mistake.finding("E014", "`except!` needs an argument", "", _FORM)
        case ("LPAR", _):
            message = "`except!` takes a quoted text or a name"
            return mistake.finding("E014", message, "expected a quoted text or a name", _FORM)
        case (_, "_OR") | ("_COMMA", "STRING" | "NAME"):
            return mistake.finding("E014", "`except!` takes one text only", "", _LIST)
        case ("_COMMA", "RPAR"):
            help_ = "remove the comma, or write the largest number of bytes after it"
            return mistake.finding("E014", "`except!` has a comma but no limit", "", help_)
        case ("_COMMA", _):
            message = "the limit of `except!` is a number of bytes"
            return mistake.finding("E014", message, "expected a number", _FORM)
        case _:
            message = f"unexpected {mistake.shown_word} in the argument of `except!`"
            return mistake.finding("E014", message, "", _FORM)


_EXPLANATIONS = (
    _comment,
    _next_definition,
    _arguments,
    _bracket,
    _empty_alternative,
    _count_in_front,
    _operator,
    _mark,
    _slashed,
    _character,
)
