"""Uses of constructs that some engines lack."""

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum

from kbnf_core.frontend import Reading, name_span
from kbnf_core.source import Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.printer import print_expression

Found = Iterator[tuple["Feature", Span]]


class Feature(Enum):
    """A construct, as it is called in a message."""

    EXCEPTION = "`except!`"
    RAW = "`#r`"
    EARLY = "`#e`"
    COMPLEMENT = "`#ex`"
    SUBSTRINGS = "`#substrs`"
    COUNTED = "counted repetition"
    BYTES = "`#b`"
    NO_TEXT = "bytes that are no UTF-8 text"
    TOKEN = "`#token`"
    COMMENT_IN_RULE = "a comment inside a rule"
    BRACKET_IN_QUOTES = "an unbalanced bracket in quotes inside brackets"
    NO_LAST_SEMICOLON = "a last rule without `;`"
    BYTE_ORDER_MARK = "a byte order mark"
    SAME_AS_START = "a rule with the same right side as the start"


def features_of(reading: Reading) -> Found:
    """Yield every feature with each span that uses it."""
    for definition in reading.document.definitions:
        for node in tree.postorder(definition.body):
            yield from _in_node(reading, node)
    yield from _in_text(reading)
    yield from _same_as_start(reading)


def _in_node(reading: Reading, node: tree.Expression) -> Found:
    match node:
        case tree.Exception_():
            yield Feature.EXCEPTION, node.span
        case tree.ByteString(value):
            yield Feature.BYTES, node.span
            if not _is_text(value):
                yield Feature.NO_TEXT, node.span
        case tree.TokenName() | tree.TokenSet():
            yield Feature.TOKEN, node.span
        case tree.Pattern() if (node.kind, node.is_raw) in _PATTERNS:
            yield _PATTERNS[node.kind, node.is_raw], node.span
        case tree.Repetition(_, _, _, operator):
            if reading.document.source.slice(operator).startswith("{"):
                yield Feature.COUNTED, operator
        case tree.Bracket(kind, _, span):
            inside = reading.document.source.text[span.start + 1 : span.end - 1]
            if not _is_balanced(inside, kind.value):
                yield Feature.BRACKET_IN_QUOTES, span


_PATTERNS = {
    (tree.PatternKind.REGEX, True): Feature.RAW,
    (tree.PatternKind.EARLY, False): Feature.EARLY,
    (tree.PatternKind.COMPLEMENT, False): Feature.COMPLEMENT,
    (tree.PatternKind.SUBSTRINGS, False): Feature.SUBSTRINGS,
}


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_balanced(text: str, brackets: str) -> bool:
    """Count brackets as the reference does: those in quotes like all others."""
    depth = 0
    for char in text:
        depth += (char == brackets[0]) - (char == brackets[1])
        if depth < 0:
            return False
    return depth == 0


def _in_text(reading: Reading) -> Found:
    document = reading.document
    if document.source.text.startswith("\ufeff"):
        yield Feature.BYTE_ORDER_MARK, Span(0, 1)
    for comment in document.comments:
        if any(d.span.start < comment.span.start < d.span.end for d in document.definitions):
            yield Feature.COMMENT_IN_RULE, comment.span
    for finding in reading.diagnostics:
        if finding.code == "W001":
            yield Feature.NO_LAST_SEMICOLON, finding.span


def _same_as_start(reading: Reading) -> Found:
    sides: dict[str, list[str]] = defaultdict(list)
    for definition in reading.document.definitions:
        sides[definition.name.value] += map(print_expression, definition.branches)
    for name, branches in sides.items():
        if name != reading.start and sorted(branches) == sorted(sides.get(reading.start, [])):
            yield Feature.SAME_AS_START, name_span(reading.document, name)
