r"""Parses the dialect of bnf_sampler: text in, a syntax tree of KBNF and findings out.

Never raises. The tree is built while Lark reduces the productions of ``grammar.lark``. Names keep
what is between their brackets. ``<any!>`` and ``<except!(..)>``, which take a token of the
vocabulary, are uses of nonterminals with the same names; ``vocabulary`` has their definitions. The
dialect writes lists as rules that call themselves; they become loops.

Texts have the escapes ``\t \n \r``, ``\xHH`` (one byte), ``\uHHHH``, and ``\`` before itself. The
reference stops with a panic at what is an error here: a backslash at the end or before a character
beyond ASCII, missing digits, halves of surrogate pairs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from kbnf_core.kbnf.build import nothing, repeated, sequence, text_or_bytes
from kbnf_core.kbnf.parsed import Parsed
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.statements import (
    Lexer,
    Metasyntax,
    Mistake,
    Parser,
    Statement,
    Word,
    parse_statements,
    shown,
    span_of,
)
from kbnf_core.kbnf.tree import (
    Alternation,
    ByteString,
    Definition,
    Document,
    Expression,
    Name,
    Reference,
    Sequence,
    Terminal,
    uses_in,
)
from kbnf_core.languages.bnf.vocabulary import (
    define_vocabulary,
    fill_vocabulary,
    is_vocabulary,
    without_asked,
)
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


_SIMPLE = {"t": b"\t", "n": b"\n", "r": b"\r"}

_PIECE = re.compile(
    r"""(?P<plain>[^\\]+)
      | \\(?:x(?P<byte>[0-9A-Fa-f]{2}) | u(?P<four>(?![dD][89a-fA-F])[0-9A-Fa-f]{4})
      | (?P<simple>[^xu\x80-\U0010ffff]))
      | (?P<bad>\\.|.)""",
    re.VERBOSE | re.DOTALL,
)


class Piece(NamedTuple):
    """A part of a text: its bytes, None for what is no escape, and its place."""

    data: bytes | None
    span: Span


def pieces(text: str, start: int) -> Iterator[Piece]:
    """Split ``text``, without its quotes, that is at ``start``."""
    for match in _PIECE.finditer(text):
        span = Span(start + match.start(), start + match.end())
        kind = match.lastgroup or "bad"
        yield Piece(_data(kind, match[kind]), span)


def decode(text: str) -> bytes:
    """Return the bytes that ``text`` spells; what is no escape counts as nothing."""
    return b"".join(piece.data or b"" for piece in pieces(text, 0))


def _data(kind: str, written: str) -> bytes | None:
    match kind:
        case "plain":
            return written.encode()
        case "byte":
            return bytes([int(written, 16)])
        case "four":
            return chr(int(written, 16)).encode()
        case "simple":
            return _SIMPLE.get(written, written.encode())
        case _:
            return None


ANY = "any!"
EXCEPT = "except!"

_Branch: TypeAlias = list[Expression]


class BnfBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, parts: list[Word | list[_Branch]]) -> Definition:
        """``<name>::=alternation``."""
        name = cast(Word, parts[0])
        body = _join(cast(list[_Branch], parts[2]))
        return Definition(_name(name), body, span_of(name).cover(body.span))

    def alternation(self, parts: list[Word | _Branch]) -> list[_Branch]:
        """``x | y``."""
        return [part for part in parts if not isinstance(part, Word)]

    def sequence(self, items: list[Expression]) -> _Branch:
        """``x y``."""
        return items

    def reference(self, parts: list[Word]) -> Reference:
        """``<name>``, ``<any!>`` or ``<except!(..)>``."""
        return Reference(_name(parts[0]), span_of(parts[0]))

    any = reference
    except_ = reference

    def string(self, parts: list[Word]) -> Terminal | ByteString:
        """``'text'``: a text where it is one, else bytes."""
        return text_or_bytes(decode(parts[0].value[1:-1]), span_of(parts[0]))


def _name(word: Word) -> Name:
    return Name(word.value[1:-1], span_of(word))


def _join(branches: list[_Branch]) -> Expression:
    """Return the branches as one expression; a branch of empty texts only matches nothing."""
    found = [_sequence(branch) for branch in branches]
    if len(found) == 1:
        return found[0]
    return Alternation(tuple(found), found[0].span.cover(found[-1].span))


def _sequence(items: _Branch) -> Expression:
    span = items[0].span.cover(items[-1].span)
    kept = [item for item in items if not _is_empty(item)]
    if not kept:
        return nothing(span)
    return kept[0] if len(kept) == 1 else Sequence(tuple(kept), span)


def _is_empty(item: Expression) -> bool:
    return isinstance(item, Terminal) and not item.text.value


def with_loops(document: Document) -> Document:
    """Return a tree with ``n ::= x n | x`` as ``x+``, and ``n ::= x y n | x`` as a loop."""
    counts = Counter(each.name.value for each in document.definitions)
    return replace(
        document,
        definitions=tuple(
            _loop(each) if counts[each.name.value] == 1 else each for each in document.definitions
        ),
    )


def _loop(definition: Definition) -> Definition:
    name, span = definition.name.value, definition.body.span
    match sorted(definition.branches, key=lambda branch: not _calls(branch, name)):
        case [Sequence((*items, Reference(called))), other] if (
            called.value == name
            and not any(_calls(each, name) for each in (*items, other))
            and print_expression(other) == print_expression(items[0])
        ):
            body = (
                repeated(other, 1, None, span)
                if len(items) == 1
                else sequence(
                    repeated(sequence(*items, span=span), 0, None, span), other, span=span
                )
            )
            return replace(definition, body=body)
    return definition


def _calls(node: Expression, name: str) -> bool:
    return any(used.value == name for used in uses_in(node))


_OPEN = {"OPEN_STRING": "this text is never closed", "OPEN_NAME": "this name is never closed"}


@cache
def bnf_parser() -> Parser:
    """Return the parser of the dialect."""
    return Parser(Path(__file__).parent, BnfBuilder())


def parse_bnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, vocabulary: "Vocabulary | None" = None
) -> Parsed:
    """Parse ``source``; productions with mistakes are left out, as in ``parse_kbnf``.

    ``vocabulary`` has the tokens that ``<any!>`` and ``<except!(..)>`` take.
    """
    read = parse_statements(_split(source.text), _Bnf(source, limits))
    definitions = [each for each in read.trees if not is_vocabulary(each.name.value)]
    findings = read.findings
    if not (definitions or findings):
        findings.append(Diagnostic("E010", "this file defines no rule", source, Span(0, 0)))
    made, losses, wrong = define_vocabulary(source, definitions)
    findings.extend(wrong)
    generated: frozenset[Span] = frozenset()
    if vocabulary is not None and not findings:
        rough = Document(source, (*definitions, *made), ())
        made = fill_vocabulary(rough, made, vocabulary, limits)
        losses, generated = [], frozenset(each.span for each in made)
        definitions = without_asked(definitions)
    document = Document(
        source,
        (*definitions, *made),
        (),
        frozenset(read.broken),
        generated,
        frozenset(each.name.value for each in made),
    )
    found = tuple(sorted(findings, key=Diagnostic.sort_key))
    return Parsed(document, found, losses=tuple(losses))


class _Bnf(Metasyntax[Definition]):
    """The productions of a text."""

    def parser(self) -> Parser:
        return bnf_parser()

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        yield _unexpected(self.source, mistake)
        yield from _check_texts(self.source, statement.words)

    def validate(self, statement: Statement, tree: Definition) -> Iterable[Diagnostic]:
        del tree
        return _check_texts(self.source, statement.words)

    def names(self, statement: Statement) -> Iterator[str]:
        return (name[1:-1] for name in super().names(statement))


def _split(text: str) -> list[Statement]:
    """Return the productions; what is before the first is one of its own."""
    words = list(Lexer(bnf_parser(), text).words())
    productions: list[Statement] = []
    ended = True
    for index, word in enumerate(words):
        following = words[index + 1].type if index + 1 < len(words) else ""
        begins = word.type == "NAME" and following == "DEFINE"
        if begins or ended:
            productions.append(Statement())
        productions[-1].words.append(word)
        ended = word.type == "END"
    return productions


def _unexpected(source: Source, mistake: Mistake) -> Diagnostic:
    word = mistake.word
    if word is None:
        helps = ("an alternative contains at least one name or text",)
        message = "this production is not complete"
        return Diagnostic("E011", message, source, mistake.span, helps=helps)
    if word.type in _OPEN:
        start = span_of(word).start
        return Diagnostic("E004", _OPEN[word.type], source, Span(start, start + 1))
    message = f"{shown(word.value)} is not allowed here"
    helps = ("a production is written `<name>::='text'<name>|...`; there are no comments",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps)


def _check_texts(source: Source, words: list[Word]) -> list[Diagnostic]:
    found = []
    for word in words:
        if word.type == "STRING" and "\\" in word.value:
            for piece in pieces(word.value[1:-1], span_of(word).start + 1):
                if piece.data is None:
                    message = f"{shown(source.slice(piece.span))} is not an escape"
                    helps = (r"there are \t \n \r \xHH \uHHHH, and \ before any ASCII character",)
                    found.append(Diagnostic("E007", message, source, piece.span, helps=helps))
    return found
