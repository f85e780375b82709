"""Checks what the grammar of KBNF does not say: words that are nearly right, and numbers."""

from collections.abc import Iterator

from lark import Token

from kbnf_core.diagnostics import Diagnostic, Edit, Fix
from kbnf_core.languages.kbnf.escapes import pieces
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import character, shown, span_of
from kbnf_core.syntax.statements import Statement
from kbnf_core.syntax.tree import Definition, Exception_, Repetition, TokenSet, postorder

_MAX_TOKEN_ID = 2**32 - 1
_REGEXES = frozenset({"REGEX", "EARLY", "COMPLEMENT"})

NUMBERED = frozenset({"COUNT_OPEN", "EXCEPT", "TOKEN_OPEN"})
"""The types of words behind which numbers stand."""


def check_words(source: Source, statement: Statement) -> Iterator[Diagnostic]:
    """Yield what is wrong inside the words of a definition, and between them."""
    words = statement.words
    for index, word in enumerate(words):
        if word.type == "STRING" and _lacks_mark(words, index):
            yield _lacking_mark(source, words[index - 1])
        elif word.type == "STRING":
            yield from _check_string(source, word, words[index - 1].type in _REGEXES)
        elif word.type == "BAD_NAME":
            yield _bad_name(source, word)
    if words[1].type == "WRONG_SIGN":
        yield _wrong_sign(source, words[1])
    last = span_of(words[-1]).start
    for blank in statement.odd:
        if span_of(words[0]).start < span_of(blank).start < last:
            yield _odd_blank(source, blank)


def _check_string(source: Source, word: Token, in_regex: bool) -> Iterator[Diagnostic]:
    if "\\" not in word.value:
        return
    found = list(pieces(word.value, span_of(word).start))
    if all(piece.value is not None for piece in found):
        return
    from kbnf_core.languages.kbnf.explain_escapes import bad_escape, meant_for_regex

    for piece in found:
        if piece.value is None:
            yield bad_escape(source, piece, in_regex)
        elif in_regex and piece.value in ("\b", "\f"):
            # Beside `\w` it is the regex that was meant, and one fix must not settle the other.
            yield meant_for_regex(source, piece)


def _lacks_mark(words: list[Token], index: int) -> bool:
    """Tell whether a text with wrong escapes stands behind an ``r``, as Python's raw strings."""
    mark = words[index - 1]
    touches = mark.value == "r" and mark.end_pos == words[index].start_pos
    return touches and any(piece.value is None for piece in pieces(words[index].value, 0))


def _lacking_mark(source: Source, mark: Token) -> Diagnostic:
    fix = Fix("insert `#`", (Edit(Span(span_of(mark).start, span_of(mark).start), "#"),))
    message = 'a raw pattern is written `#r"..."`'
    return Diagnostic("E001", message, source, span_of(mark), helps=(fix.message,), fixes=(fix,))


_EMPTY = frozenset("εϵλΛ")
"""What books write for the empty text."""


def _bad_name(source: Source, word: Token) -> Diagnostic:
    from kbnf_core.languages.kbnf.explain_foreign import class_around

    span = span_of(word)
    in_class = class_around(source, span)
    if in_class is not None:
        return in_class
    message = f"{shown(word.value)} is not a name"
    help_ = "names are made of ASCII letters, digits and `_`, and do not start with a digit"
    intended = word.value.replace("-", "_")
    fixes: tuple[Fix, ...] = ()
    if word.value in _EMPTY:
        help_, fixes = "the empty text is written `''`", (Fix("write `''`", (Edit(span, "''"),)),)
    elif intended.isascii() and intended.isidentifier():
        help_ = f"write `{intended}`: {help_}"
        fixes = (Fix(f"write `{intended}`", (Edit(span, intended),)),)
    return Diagnostic("E001", message, source, span, helps=(help_,), fixes=fixes)


def _wrong_sign(source: Source, word: Token) -> Diagnostic:
    fix = Fix("write `::=`", (Edit(span_of(word), "::="),))
    message = f"a rule is defined with `::=`, not {shown(word.value)}"
    return Diagnostic("E006", message, source, span_of(word), "expected `::=`", fixes=(fix,))


def _odd_blank(source: Source, word: Token) -> Diagnostic:
    fix = Fix("write a space", (Edit(span_of(word), " "),))
    message = f"{character(word.value)} is not a blank inside a rule"
    helps = ("use a space, a tab or a line break",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps, fixes=(fix,))


def check_definition(
    source: Source, definition: Definition, limits: Limits
) -> Iterator[Diagnostic]:
    """Yield what is wrong with the numbers in ``definition`` (E013, E014, E016)."""
    for node in postorder(definition.body):
        match node:
            case Repetition():
                yield from _check_repetition(source, node, limits.repetition)
            case Exception_() if node.limit > limits.exception_length:
                message = f"the limit of `except!` is above {limits.exception_length}"
                helps = ("leave it out to have no limit",)
                yield Diagnostic("E014", message, source, node.span, helps=helps)
            case TokenSet():
                yield from _check_token_set(source, node)
            case _:
                pass


def _check_repetition(source: Source, node: Repetition, limit: int) -> Iterator[Diagnostic]:
    high = node.low if node.high is None else node.high
    if high < node.low:
        message = "this count has its larger number first"
        yield Diagnostic("E013", message, source, node.operator)
    elif high > limit:
        yield Diagnostic("E013", f"this count is above {limit}", source, node.operator)


def _check_token_set(source: Source, node: TokenSet) -> Iterator[Diagnostic]:
    if any(high < low for low, high in node.ranges):
        message = "a range of token ids has its larger number first"
        yield Diagnostic("E016", message, source, node.span)
    if any(max(ids) > _MAX_TOKEN_ID for ids in node.ranges):
        yield Diagnostic("E016", f"token ids end at {_MAX_TOKEN_ID}", source, node.span)
