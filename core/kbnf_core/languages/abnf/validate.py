"""Checks what the grammar of ABNF does not say: characters, values, counts and indentation."""

from collections.abc import Iterator
from re import fullmatch

from lark import Token

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.abnf.explain import not_indented
from kbnf_core.languages.abnf.values import is_character, read_value
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import character, shown, span_of
from kbnf_core.syntax.statements import Statement
from kbnf_core.syntax.tree import Definition, Repetition, postorder


def check_words(source: Source, statement: Statement) -> Iterator[Diagnostic]:
    """Yield what is wrong inside the words of a rule, and with its line breaks."""
    for word in statement.words:
        match word.type:
            case "STRING":
                yield from _check_string(source, word)
            case "VALUE":
                yield from _check_value(source, word)
            case "PROSE" if not fullmatch(r"<[A-Za-z][A-Za-z0-9-]*>", word.value):
                yield _prose(source, word)
            case _:
                pass
    if statement.odd:
        yield not_indented(source, statement.odd[0])


def check_definition(
    source: Source, definition: Definition, limits: Limits
) -> Iterator[Diagnostic]:
    """Yield what is wrong with the counts in ``definition``."""
    for node in postorder(definition.body):
        if isinstance(node, Repetition):
            high = node.low if node.high is None else node.high
            if high < node.low:
                message = "this count has its larger number first"
                yield Diagnostic("E013", message, source, node.operator)
            elif high > limits.repetition:
                message = f"this count is above {limits.repetition}"
                yield Diagnostic("E013", message, source, node.operator)


def _check_string(source: Source, word: Token) -> Iterator[Diagnostic]:
    if word.value.isascii() and word.value.isprintable():
        return
    start = span_of(word).start
    for place, char in enumerate(word.value, start):
        if not (char.isascii() and char.isprintable()):
            message = f"{character(char)} is not allowed in a string of ABNF"
            helps = (f"write its value: `%x{ord(char):X}`",)
            yield Diagnostic("E001", message, source, Span(place, place + 1), helps=helps)


def _check_value(source: Source, word: Token) -> Iterator[Diagnostic]:
    numbers, is_range = read_value(word.value)
    if is_range and numbers[1] < numbers[0]:
        message = "this range has its larger value first"
        yield Diagnostic("E001", message, source, span_of(word))
    elif not all(map(is_character, numbers)):
        message = f"{shown(word.value)} is no character"
        helps = ("characters end at %x10FFFF; %xD800-DFFF are none",)
        yield Diagnostic("E001", message, source, span_of(word), helps=helps)


def _prose(source: Source, word: Token) -> Diagnostic:
    message = "what is described in prose cannot be generated"
    helps = ("write out the rule that is meant",)
    return Diagnostic("E431", message, source, span_of(word), helps=helps)
