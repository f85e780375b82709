"""Prints syntax trees as KBNF: the words of a tree, and one canonical text, without comments.

The words are those that ``format`` lays out. The text parses back to an equal tree, but that
patterns are raw where that is shorter. Trees that no text has (a sequence inside a sequence, an
alternation under an operator) get the parentheses that their meaning needs.

Patterns as the regex engine reads them: after the escapes of the quoted text.

Tests: tests/unit/kbnf/test_printer.py, tests/unit/kbnf/test_forms.py
"""

import re
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.algebra import quantifier
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Concatenation,
    Definition,
    Document,
    Exception_,
    Expression,
    Leaf,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Terminal,
    Text,
    TokenName,
    TokenSet,
)
from kbnf_core.text.source import NOWHERE, Source, Span


class PrintedWord(NamedTuple):
    """A word of a tree: its type in ``grammar.lark``, its text, and its span in the author's text.

    Forms that are never broken, such as ``#'...'`` or ``{2,5}``, are one word. The span of a bar
    or of a bracket is empty: the start of the branch after it, or an end of the bracketed part.
    """

    type: str
    text: str
    span: Span


_Printable: TypeAlias = PrintedWord | Expression

BLANK = PrintedWord("", " ", NOWHERE)
"""The space between two words; not a word itself."""

_BRACKETS = {
    BracketKind.GROUP: ("LPAR", "RPAR"),
    BracketKind.OPTIONAL: ("LSQB", "RSQB"),
    BracketKind.REPEATED: ("LBRACE", "RBRACE"),
}

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
    return "".join([text for _, text, _ in print_words(root)])


def print_words(root: Expression) -> list[PrintedWord]:
    """Return the words of ``root``, and the blanks between them."""
    written: list[PrintedWord] = []
    pending: list[_Printable] = [root]
    while pending:
        match pending.pop():
            case PrintedWord() as word:
                written.append(word)
            case Concatenation(items):
                for item in reversed(items):
                    _add(pending, item, (Alternation, Concatenation))
                    pending.append(BLANK)
                pending.pop()
            case Alternation(branches):
                for branch in reversed(branches):
                    _add(pending, branch, (Alternation,))
                    pending += [BLANK, _sign("_OR", "|", branch.span.start), BLANK]
                del pending[-3:]
            case Repetition(body) as node:
                pending.append(PrintedWord("STAR", _operator(node), node.operator))
                _add(pending, body, (Alternation, Concatenation, Repetition))
            case Bracket(kind, body, span):
                pending += _bracketed(kind, body, span)
            case leaf:
                type_ = "STRING" if isinstance(leaf, Terminal) else "NAME"
                written.append(PrintedWord(type_, _leaf(leaf), leaf.span))
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


def _add(pending: list[_Printable], node: Expression, looser: tuple[type, ...]) -> None:
    """Add a part, in parentheses where it binds too loosely."""
    if isinstance(node, looser):
        pending += _bracketed(BracketKind.GROUP, node, node.span)
    else:
        pending.append(node)


def _bracketed(kind: BracketKind, body: Expression, span: Span) -> tuple[_Printable, ...]:
    """Return a bracketed part with its brackets, the closing one first."""
    first, last = _BRACKETS[kind]
    return (
        _sign(last, kind.value[1], span.end),
        body,
        _sign(first, kind.value[0], span.start),
    )


def _sign(type_: str, text: str, position: int) -> PrintedWord:
    return PrintedWord(type_, text, Span(position, position))


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
