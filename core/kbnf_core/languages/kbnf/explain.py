"""Explains the parser's errors in terms of the grammar's text.

Each function looks at the words around a mistake, and returns a finding if it knows the slip;
the first that does is believed.
"""

import re

from kbnf_core.diagnostics import Diagnostic, Edit, Fix, Label
from kbnf_core.languages.kbnf.explain_statements import missing_semicolon, open_comment
from kbnf_core.source import Span
from kbnf_core.syntax.mistake import CLOSERS, CLOSING, Mistake, shown, span_of
from kbnf_core.syntax.statements import NAMES, SIGNS

_OPERATORS = frozenset({"QUESTION", "STAR", "PLUS", "COUNT_OPEN"})
_BEFORE_ALTERNATIVE = frozenset({"DEFINE", "_OR", "LPAR", "LSQB", "LBRACE"})
_BEFORE_SYMBOL = _BEFORE_ALTERNATIVE | {"_COMMA"}
_AFTER_ALTERNATIVE = CLOSING | {"END", "_OR"}

_SYMBOL = "a name, a quoted text, a pattern or a bracket"
_MARKS = '`#"..."`, `#r"..."`, `#e"..."`, `#ex"..."`, `#substrs"..."`, `#b"..."` and `#token"..."`'

_FOREIGN_CHARACTERS = {
    **dict.fromkeys("‘’“”„`´", "texts are quoted with `'` or `\"`"),
    **dict.fromkeys("<>", "names are written without `<` and `>`"),
    "/": 'a regex is written `#"..."`, a comment `(* ... *)`',
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
    """Explain ``a = 'x' b = 'y';``: the second sign is what the parser stumbles over."""
    name, last = mistake.before, mistake.words[mistake.index - 2]
    if mistake.kind not in SIGNS or name.type not in NAMES or last.type in _BEFORE_SYMBOL:
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
        return mistake.finding("E003", f"this {mistake.found} closes nothing")
    closer = CLOSERS[opener.type]
    if mistake.word is None or mistake.word.value == closer:
        return None
    message = f"{mistake.found} cannot close {shown(opener.value)}"
    label = Label(span_of(opener), "opened here")
    expected = f"expected `{closer}`"
    return Diagnostic("E003", message, mistake.source, mistake.span, expected, (label,))


def _empty_alternative(mistake: Mistake) -> Diagnostic | None:
    if mistake.kind not in _AFTER_ALTERNATIVE or mistake.before.type not in _BEFORE_ALTERNATIVE:
        return None
    place = Span(mistake.span.start, mistake.span.start)
    return Diagnostic(
        "E011",
        "this alternative is empty",
        mistake.source,
        mistake.span,
        "expected a symbol before this point",
        helps=("write `''` for the empty text, or `[x]` for an optional part",),
        fixes=(Fix("write `''`", (Edit(place, "'' "),), safe=False),),
    )


def _operator(mistake: Mistake) -> Diagnostic | None:
    if mistake.kind not in _OPERATORS:
        return None
    code = "E013" if mistake.kind == "COUNT_OPEN" else "E001"
    written = "`{...}`" if mistake.kind == "COUNT_OPEN" else mistake.found
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
        "E001", f"unexpected {mistake.found}", "", f"a count follows its symbol: `x{count}`"
    )


_ABNF_COUNT = re.compile(r"""([0-9]*)(\*?)([0-9]*)(?=["'(A-Za-z])(?<=[0-9*])""")
_ENDS_SYMBOL = frozenset(("NAME", "STRING", "RPAR", "RSQB", "RBRACE"))


def _mark(mistake: Mistake) -> Diagnostic | None:
    if mistake.kind != "BAD_MARK":
        return None
    if mistake.found == "`#token`":
        help_ = 'write `#token"name"`, `#token[5]` or `#token[1-5,7]`'
        return mistake.finding("E016", "`#token` needs a name or ids", "", help_)
    help_ = f"there are {_MARKS}, without a blank before the quote"
    return mistake.finding("E001", f"{mistake.found} starts no pattern", "", help_)


def _character(mistake: Mistake) -> Diagnostic | None:
    value = "" if mistake.word is None else mistake.word.value
    help_ = _FOREIGN_CHARACTERS.get(value)
    if help_ is None:
        return None
    fixes = _straight_quotes(mistake) if value in _OPENING else ()
    return Diagnostic(
        "E001",
        f"unexpected {mistake.found}",
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
    edits = (Edit(Span(start, start + 1), '"'), Edit(Span(match.end() - 1, match.end()), '"'))
    return (Fix("write straight quotes", edits),)


def _unexpected(mistake: Mistake) -> Diagnostic:
    closer = f"`{CLOSERS[mistake.inside.type]}`" if mistake.inside is not None else "`;`"
    if mistake.before.type in _BEFORE_SYMBOL:
        expected = f"expected {_SYMBOL}"
    else:
        expected = f"expected another symbol, `|` or {closer}"
    return mistake.finding("E001", f"unexpected {mistake.found}", expected)


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
            return mistake.finding("E016", f"unexpected {mistake.found} in a token set", "", help_)
        case "COUNT_OPEN":
            help_ = "write `{3}`, `{2,}`, `{,5}` or `{2,5}`"
            return mistake.finding("E013", f"unexpected {mistake.found} in a count", "", help_)
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
            message = f"unexpected {mistake.found} in the argument of `except!`"
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
    _character,
)
