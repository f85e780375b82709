"""Where a grammar uses what not every engine has."""

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum

from kbnf_core.frontend import Reading, name_span
from kbnf_core.ir import Call, Choice, Node, Repeat, Sequence
from kbnf_core.lint.components import cyclic_components
from kbnf_core.lower.analyse import Analysis, Facts
from kbnf_core.source import Span
from kbnf_core.syntax import tree

Found = Iterator[tuple["Feature", Span]]

BIG_REPETITION = 2_000
"""Turns beyond which llama.cpp refuses a counted repetition."""


class Feature(Enum):
    """A construct, as it is called in a message."""

    EXCEPTION = "`except!`"
    EARLY = "`#e`"
    COMPLEMENT = "`#ex`"
    SUBSTRINGS = "`#substrs`"
    COUNTED = "counted repetition"
    BIG_REPETITION = "a repetition of more than 2,000 turns"
    BYTES = "`#b`"
    TOKEN = "`#token`"
    COMMENT_IN_RULE = "a comment inside a rule"
    BRACKET_IN_QUOTES = "an unbalanced bracket in quotes inside brackets"
    NO_LAST_SEMICOLON = "a last rule without `;`"
    BYTE_ORDER_MARK = "a byte order mark"
    SAME_AS_START = "a rule with the same right side as the start"
    LEFT_RECURSION = "left recursion"
    EMPTY_LOOP = "a loop around something that may be empty"


def features_of(reading: Reading) -> Found:
    """Yield every feature with each place that has it."""
    for definition in reading.document.definitions:
        for node in tree.postorder(definition.body):
            yield from _in_node(reading, node)
    yield from _in_text(reading)
    if reading.grammar is not None and reading.analysis is not None:
        yield from _in_rules(reading, reading.analysis)


def _in_node(reading: Reading, node: tree.Expression) -> Found:
    match node:
        case tree.Exception_():
            yield Feature.EXCEPTION, node.span
        case tree.ByteString():
            yield Feature.BYTES, node.span
        case tree.TokenName() | tree.TokenSet():
            yield Feature.TOKEN, node.span
        case tree.Pattern() if node.kind in _PATTERNS:
            yield _PATTERNS[node.kind], node.span
        case tree.Repetition(_, low, high, operator):
            if reading.document.source.slice(operator).startswith("{"):
                yield Feature.COUNTED, operator
            if max(low, high or 0) > BIG_REPETITION:
                yield Feature.BIG_REPETITION, operator
        case tree.Bracket(kind, _, span):
            inside = reading.document.source.text[span.start + 1 : span.end - 1]
            if not _is_balanced(inside, kind.value):
                yield Feature.BRACKET_IN_QUOTES, span


_PATTERNS = {
    tree.PatternKind.EARLY: Feature.EARLY,
    tree.PatternKind.COMPLEMENT: Feature.COMPLEMENT,
    tree.PatternKind.SUBSTRINGS: Feature.SUBSTRINGS,
}


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


def _in_rules(reading: Reading, analysis: Analysis) -> Found:
    rules = {} if reading.grammar is None else reading.grammar.rules
    leading = defaultdict(set)
    for name, body in rules.items():
        facts: dict[int, Facts] = {}
        for node, found in analysis.within(body):
            facts[id(node)] = found
            if isinstance(node, Repeat) and node.high is None and facts[id(node.body)].nullable:
                yield Feature.EMPTY_LOOP, node.span
        leading[name] = _leading_calls(body, facts)
    for names in cyclic_components(leading):
        yield Feature.LEFT_RECURSION, min(name_span(reading.document, name) for name in names)
    yield from _same_as_start(reading)


def _leading_calls(root: Node, facts: dict[int, Facts]) -> set[str]:
    """Return what ``root`` may call before it has consumed anything."""
    found: set[str] = set()
    stack = [root]
    while stack:
        match stack.pop():
            case Call(name):
                found.add(name)
            case Choice(branches):
                stack.extend(branches)
            case Repeat(body):
                stack.append(body)
            case Sequence(parts):
                for part in parts:
                    stack.append(part)
                    if not facts[id(part)].nullable:
                        break
    return found


def _same_as_start(reading: Reading) -> Found:
    from kbnf_core.syntax.printer import print_expression

    sides: dict[str, list[str]] = defaultdict(list)
    for definition in reading.document.definitions:
        sides[definition.name.value] += map(print_expression, definition.branches)
    for name, branches in sides.items():
        if name != reading.start and sorted(branches) == sorted(sides.get(reading.start, [])):
            yield Feature.SAME_AS_START, name_span(reading.document, name)
