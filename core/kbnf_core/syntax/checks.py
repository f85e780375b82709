"""Checks what the grammar of KBNF cannot say: escapes, names, counts, limits."""

from collections.abc import Iterator

from lark import Token

from kbnf_core.diagnostics import Diagnostic, Edit, Fix
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.escapes import Piece, pieces
from kbnf_core.syntax.tree import Definition, Exception_, Repetition, TokenSet, postorder
from kbnf_core.syntax.words import span_of

_MAX_TOKEN_ID = 2**32 - 1


def check_definition(
    source: Source, definition: Definition, limits: Limits
) -> Iterator[Diagnostic]:
    """Yield what is wrong with the numbers in ``definition`` (E013, E014, E016)."""
    for node in postorder(definition.body):
        match node:
            case Repetition():
                yield from _check_repetition(source, node, limits)
            case Exception_() if node.limit > limits.exception_length:
                message = f"the limit of `except!` is above {limits.exception_length}"
                helps = ("write 0, or nothing, for no limit",)
                yield Diagnostic("E014", message, source, node.span, helps=helps)
            case TokenSet():
                yield from _check_token_set(source, node)
            case _:
                pass


def _check_repetition(source: Source, node: Repetition, limits: Limits) -> Iterator[Diagnostic]:
    high = node.low if node.high is None else node.high
    if high < node.low:
        message = f"this count ends below its start: {node.low} to {high}"
        yield Diagnostic("E013", message, source, node.operator)
    elif high > limits.repetition:
        message = f"this count is above the limit of {limits.repetition}"
        yield Diagnostic("E013", message, source, node.operator)


def _check_token_set(source: Source, node: TokenSet) -> Iterator[Diagnostic]:
    for low, high in node.ranges:
        if high < low:
            message = f"this range of token ids ends below its start: {low} to {high}"
            yield Diagnostic("E016", message, source, node.span)
        elif high > _MAX_TOKEN_ID:
            message = f"token ids end at {_MAX_TOKEN_ID}"
            yield Diagnostic("E016", message, source, node.span)


def check_word(source: Source, word: Token, before: Token | None) -> Iterator[Diagnostic]:
    """Yield what is wrong inside ``word`` (E001, E006, E007); ``before`` tells a pattern."""
    span = span_of(word)
    match word.type:
        case "STRING":
            if "\\" in word.value or not word.value.isascii():
                in_pattern = before is not None and before.type in _PATTERNS
                yield from _check_escapes(source, word, in_pattern)
        case "BAD_NAME":
            message = f"`{word.value}` is not a name"
            helps = ("names are made of ASCII letters, digits and `_`, and start with no digit",)
            yield Diagnostic("E001", message, source, span, helps=helps)
        case "WRONG_SIGN":
            fix = Fix("write `::=`", (Edit(span, "::="),))
            message = f"a rule is defined with `::=`, not `{word.value}`"
            yield Diagnostic("E006", message, source, span, "expected `::=`", fixes=(fix,))
        case "ODD_BLANK":
            fix = Fix("replace it by a space", (Edit(span, " "),))
            message = f"{_character(word.value)} is no blank inside a rule"
            helps = ("use a space, a tab or a line break",)
            yield Diagnostic("E001", message, source, span, helps=helps, fixes=(fix,))
        case _:
            pass


_PATTERNS = frozenset({"REGEX", "EARLY", "COMPLEMENT"})


def _character(char: str) -> str:
    import unicodedata

    return f"U+{ord(char):04X} ({unicodedata.name(char, 'control character').lower()})"


def _check_escapes(source: Source, word: Token, in_pattern: bool) -> Iterator[Diagnostic]:
    for piece in pieces(word.value, span_of(word).start):
        if piece.value is None:
            yield bad_escape(source, piece, in_pattern)


def bad_escape(source: Source, piece: Piece, in_pattern: bool) -> Diagnostic:
    """Return the finding for an escape that KBNF does not know."""
    written = source.slice(piece.span)
    message = f"`{written}` is no escape"
    place = Span(piece.span.start, piece.span.start)
    fix = Fix("double the backslash", (Edit(place, "\\"),))
    helps = (f"write `\\{written}`: string escapes are decoded before the regex",)
    if not in_pattern:
        return Diagnostic("E007", message, source, piece.span)
    return Diagnostic("E007", message, source, piece.span, helps=helps, fixes=(fix,))
