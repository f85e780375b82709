"""Prints syntax trees as KBNF: one canonical text for each tree, comments left out.

The text parses back to an equal tree, but that patterns are raw where that is shorter. Trees that
no text has (a sequence inside a sequence, an alternation under an operator) get the parentheses
that their meaning needs.

Patterns as the regex engine reads them: after the escapes of the quoted text.

Tests: tests/unit/kbnf/test_printer.py, tests/unit/kbnf/test_forms.py
"""

import re
from typing import TypeAlias

from kbnf_core.automata.algebra import quantifier
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    ByteString,
    Definition,
    Document,
    Exception_,
    Expression,
    Leaf,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Sequence,
    Terminal,
    Text,
    TokenName,
    TokenSet,
)
from kbnf_core.text.source import Source

_Piece: TypeAlias = str | Expression

_NOT_PLAIN = {mark: re.compile(rf"[^ -~]|[{mark}\\]") for mark in "'\""}
"""A character that may need an escape, by the quotes around it."""

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote(text: str) -> str:
    """Return ``text`` as a KBNF string; ValueError if it contains half of a surrogate pair."""
    mark = _mark(text)
    return mark + _NOT_PLAIN[mark].sub(lambda match: _spell(match[0], mark), text) + mark


def quote_raw(text: str) -> str:
    """Return ``text`` as a raw pattern, in which nothing is escaped; ValueError as ``quote``."""
    text.encode()
    mark = _mark(text)
    return f"#r{mark}{text.replace(mark, mark * 2)}{mark}"


def spell_regex(text: str) -> str:
    """Return ``text`` as a pattern in its shorter spelling: raw where that saves escapes."""
    quoted = f"#{quote(text)}"
    # A line break, or an invisible character, is better read as an escape.
    return min(quoted, quote_raw(text), key=len) if text.isprintable() else quoted


def quote_bytes(data: bytes) -> str:
    r"""Return ``data`` as a KBNF byte string, ``#b'...'``; ``\xHH`` for all but ASCII."""
    text = data.decode("latin-1")
    mark = _mark(text)
    return f"#b{mark}{''.join(_spell_byte(char, mark) for char in text)}{mark}"


def print_document(document: Document) -> str:
    """Return the definitions of ``document``, each on a line of its own."""
    return "".join(f"{print_definition(definition)}\n" for definition in document.definitions)


def print_definition(definition: Definition) -> str:
    """Return a definition on one line."""
    return f"{definition.title} ::= {print_expression(definition.body)};"


def print_expression(root: Expression) -> str:
    """Return the canonical text of ``root``."""
    return "".join(print_words(root))


def print_words(root: Expression) -> list[str]:
    """Return the canonical text of ``root`` as words, and the spaces between them."""
    written: list[str] = []
    pending: list[_Piece] = [root]
    while pending:
        match pending.pop():
            case str() as word:
                written.append(word)
            case Sequence(items):
                _add(pending, items, " ", (Alternation, Sequence))
            case Alternation(branches):
                _add(pending, branches, " | ", (Alternation,))
            case Repetition(body) as node:
                pending.append(_operator(node))
                _add(pending, (body,), "", (Alternation, Sequence, Repetition))
            case Bracket(kind, body):
                pending += [kind.value[1], body, kind.value[0]]
            case leaf:
                written.append(_leaf(leaf))
    return written


def bounds_of(node: Repetition) -> tuple[str, str | None]:
    """Return the bounds of a repetition as they are written, None for no upper one."""
    first, second = node.numbers
    low = str(node.low if first is None else first)
    if node.high is None:
        return low, None
    return low, str(node.high if second is None else second)


def _operator(node: Repetition) -> str:
    """Return the operator of a repetition."""
    if not node.is_counted_by_number:
        return quantifier(node.low, node.high).replace("{0,", "{,")
    low, high = bounds_of(node)
    return f"{{{low}}}" if low == high else f"{{{low},{high or ''}}}"


def _add(
    pending: list[_Piece],
    expressions: tuple[Expression, ...],
    separator: str,
    looser: tuple[type, ...],
) -> None:
    """Add parts, the first last, in parentheses where they bind too loosely."""
    for expression in reversed(expressions):
        if isinstance(expression, looser):
            pending += [")", expression, "(", separator]
        else:
            pending += [expression, separator]
    pending.pop()


def _leaf(node: Leaf) -> str:
    match node:
        case Terminal():
            return quote(node.text.value)
        case ByteString():
            return quote_bytes(node.value)
        case Pattern():
            value = node.text.value
            is_regex = node.kind is PatternKind.REGEX
            return spell_regex(value) if is_regex else node.kind.value + quote(value)
        case Exception_():
            return _exception(node)
        case TokenName():
            return "#token" + quote(node.text.value)
        case TokenSet():
            ids = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in node.ranges)
            return f"#token[{'^' if node.negated else ''}{ids}]"
        case Reference():
            return f"{node.name.value}{node.number or ''}"


def _exception(node: Exception_) -> str:
    excluded = node.excluded
    inner = _leaf(excluded) if isinstance(excluded, Terminal) else excluded.value
    return f"except!({inner}, {node.limit})" if node.limit else f"except!({inner})"


def _mark(text: str) -> str:
    return '"' if "'" in text and '"' not in text else "'"


def _spell(char: str, mark: str) -> str:
    if char == mark:
        return "\\" + mark
    if char in _ESCAPES:
        return _ESCAPES[char]
    if "\ud800" <= char <= "\udfff":
        raise ValueError(f"U+{ord(char):04X} is half of a surrogate pair, not a character")
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"


def _spell_byte(char: str, mark: str) -> str:
    if char.isascii() and (char.isprintable() or char in _ESCAPES):
        return _spell(char, mark)
    return f"\\x{ord(char):02x}"


_SHOWN = 120


def as_read(text: Text, source: Source) -> tuple[str, ...]:
    """Return a note with the pattern after its escapes; none where they change nothing.

    None either where the text is not quoted in ``source``, having come from another language.
    """
    written = source.slice(text.span)
    quote = written[:1]
    if quote not in ("'", '"') or not written.endswith(quote):
        return ()
    if text.value in (written[1:-1], written[1:-1].replace(quote * 2, quote)):
        return ()
    shown = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text.value[:_SHOWN])
    more = "..." if len(text.value) > _SHOWN else ""
    return (f"the regular expression reads `{shown}{more}`",)
