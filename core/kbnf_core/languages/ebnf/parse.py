"""Parses EBNF: a text in, its rules and findings out, in one of two notations. Never raises.

*W3C* (XML 1.0, section 6) defines with ``::=``; a rule goes on to the next name with that sign, and
numbers before rules and constraints after them (``[VC: ...]``) are left out. *ISO/IEC 14977*
defines with ``=``, ends rules with ``;`` or ``.`` and separates what follows one another by commas,
so that names may have blanks in them: ``meta identifier`` is ``meta_identifier`` here.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from kbnf_core import ir
from kbnf_core.automata.codepoints import CodePoints, complement, from_ranges
from kbnf_core.kbnf.read import number
from kbnf_core.kbnf.statements import (
    Lexer,
    Metasyntax,
    Mistake,
    Parser,
    Read,
    Statement,
    Word,
    parse_statements,
    shown,
    span_of,
    too_deep,
)
from kbnf_core.kbnf.tree import Comment
from kbnf_core.languages.ebnf import tree
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source, Span

_W3C_RULE = re.compile(r"^\s*(?:\[\d+\w?\]\s*)?<?[A-Za-z_][\w .\-]*>?\s*::=", re.MULTILINE)


def parse_ebnf(source: Source, limits: Limits) -> tuple[Read[tree.Rule], tuple[Comment, ...]]:
    """Return the rules of a text in the notation that its rules have, and the comments."""
    notation: Notation = W3C() if _W3C_RULE.search(source.text) else Iso()
    comments: list[Comment] = []
    statements = notation.split(source.text, comments)
    return parse_statements(statements, _Ebnf(source, limits, notation)), tuple(comments)


class Notation(ABC):
    """A notation: how a text is split, and the methods that its parser calls."""

    sign = "="
    folder = ""

    def parser(self) -> Parser:
        """Return the parser of one rule."""
        return _parser(self.folder)

    @abstractmethod
    def split(self, text: str, comments: list[Comment]) -> Iterator[Statement]:
        """Yield the rules of a text, with its comments in the list."""

    def definition(self, parts: list[Any]) -> tree.Rule:
        """``name = alternation``."""
        name, sign, body = parts
        last = span_of(sign) if body.span == NOWHERE else body.span
        return tree.Rule(name_of(name), body, span_of(name).cover(last), span_of(name))

    def alternation(self, parts: list[Any]) -> tree.Node:
        """``x | y``, or one alternative alone."""
        branches = [part for part in parts if not isinstance(part, Word)]
        return branches[0] if len(branches) == 1 else ir.Choice(tuple(branches), _cover(branches))

    def sequence(self, parts: list[Any]) -> tree.Node:
        """One item after the other."""
        items = [part for part in parts if not isinstance(part, Word)]
        return items[0] if len(items) == 1 else ir.Sequence(tuple(items), _cover(items))

    def use(self, parts: list[Word]) -> tree.Node:
        """``name``."""
        return tree.Use(name_of(parts[0]), span_of(parts[0]))

    def string(self, parts: list[Word]) -> tree.Node:
        """``"text"``."""
        return tree.Text(parts[0].value[1:-1], span_of(parts[0]))


class W3C(Notation):
    """The notation of W3C."""

    folder = "w3c"
    sign = "::="

    def split(self, text: str, comments: list[Comment]) -> Iterator[Statement]:
        """Yield the rules: each begins with a name before the sign."""
        words: list[Word] = []
        for word in _words(self.parser(), text, comments):
            if word.type == "DEFINE" and len(words) > 1 and words[-1].type == "NAME":
                name = words.pop()
                if words:
                    yield Statement(words, following=name)
                words = [name]
            if word.type not in ("NUMBER", "CONSTRAINT", "SEMI"):
                words.append(word)
        if words:
            yield Statement(words)

    def difference(self, parts: list[Any]) -> tree.Node:
        """``x - y``."""
        return tree.Difference(parts[0], parts[2], _cover([parts[0], parts[2]]))

    def repeated(self, parts: list[Any]) -> tree.Node:
        """``x?``, ``x*`` or ``x+``."""
        body, operator = parts
        low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[operator.value]
        return ir.Repeat(body, low, high, body.span.cover(span_of(operator)))

    def code(self, parts: list[Word]) -> tree.Node:
        """``#x41``."""
        return tree.Characters(_points(parts[0].value), span_of(parts[0]))

    def set_(self, parts: list[Word]) -> tree.Node:
        """``[a-z]`` or ``[^a-z]``."""
        written = parts[0].value[1:-1]
        points = _points(written.removeprefix("^"))
        return tree.Characters(
            complement(points) if written.startswith("^") else points, span_of(parts[0])
        )

    def group(self, parts: list[Any]) -> tree.Node:
        """``( x )``."""
        node: tree.Node = parts[1]
        return node


class Iso(Notation):
    """The notation of ISO/IEC 14977."""

    folder = "iso"

    def split(self, text: str, comments: list[Comment]) -> Iterator[Statement]:
        """Yield the rules, each up to its end, with the words of a name as one."""
        words: list[Word] = []
        for word in _words(self.parser(), text, comments):
            if word.type == "END":
                if words:
                    yield Statement(words)
                words = []
            elif words and word.type == words[-1].type == "NAME":
                first = words.pop()
                start, end = first.start_pos, word.end_pos
                words.append(Word("NAME", text[start:end], start, end))
            else:
                words.append(word)
        if words:
            yield Statement(words)

    def term(self, parts: list[Any]) -> tree.Node:
        """``x - y``, or ``x`` alone; ``{ x } -`` is one or more."""
        kept, *rest = parts
        if not rest:
            node: tree.Node = kept
            return node
        excluded = rest[1]
        is_empty = isinstance(excluded, ir.Sequence) and not excluded.parts
        if is_empty and isinstance(kept, ir.Repeat) and kept.low == 0:
            return ir.Repeat(kept.body, 1, kept.high, kept.span)
        return tree.Difference(kept, excluded, _cover([kept, excluded]))

    def counted(self, parts: list[Any]) -> tree.Node:
        """``4 * x``."""
        count, _, body = parts
        times = number(count.value)
        whole = span_of(count) if body.span == NOWHERE else span_of(count).cover(body.span)
        return ir.Repeat(body, times, times, whole)

    def special(self, parts: list[Word]) -> tree.Node:
        """``? ... ?``."""
        return tree.Special(parts[0].value[1:-1].strip(), span_of(parts[0]))

    def group(self, parts: list[Any]) -> tree.Node:
        """``( x )``, ``[ x ]`` or ``{ x }``."""
        opening, body, closing = parts
        span = span_of(opening).cover(span_of(closing))
        match opening.type:
            case "LSQB":
                return ir.Repeat(body, 0, 1, span)
            case "LBRACE":
                return ir.Repeat(body, 0, None, span)
            case _:
                node: tree.Node = body
                return node

    def nothing(self, parts: list[Any]) -> tree.Node:
        """Return an empty part."""
        del parts
        return ir.Sequence((), NOWHERE)


def name_of(word: Word) -> str:
    """Return the name of a rule: without brackets around it, and with ``_`` for blanks."""
    return "_".join(word.value.strip("<>").split())


def _words(parser: Parser, text: str, comments: list[Comment]) -> Iterator[Word]:
    for word in Lexer(parser, text).words():
        if word.type == "COMMENT":
            comments.append(Comment(word.value[2:-2], span_of(word)))
        else:
            yield word


def _cover(nodes: Iterable[tree.Node]) -> Span:
    """Return the span of parts in order; nowhere for none."""
    spans = [node.span for node in nodes if node.span != NOWHERE]
    return spans[0].cover(spans[-1]) if spans else NOWHERE


_MEMBER = re.compile(r"(#x[0-9A-Fa-f]+|.)(?:-(#x[0-9A-Fa-f]+|.))?", re.DOTALL)


def _points(written: str) -> CodePoints:
    """Return the characters of a set, given what is between its brackets."""
    return from_ranges(
        (_point(member[1]), _point(member[2] or member[1])) for member in _MEMBER.finditer(written)
    )


def _point(written: str) -> int:
    return min(int(written[2:], 16), 0x110000) if len(written) > 1 else ord(written)


@cache
def _parser(folder: str) -> Parser:
    notation = W3C() if folder == W3C.folder else Iso()
    return Parser(Path(__file__).parent / folder, notation)


_OPEN = {"OPEN_STRING": "this text is never closed", "OPEN_COMMENT": "this comment is never closed"}


class _Ebnf(Metasyntax[tree.Rule]):
    """The rules of a text."""

    def __init__(self, source: Source, limits: Limits, notation: Notation) -> None:
        super().__init__(source, limits)
        self._notation = notation

    def parser(self) -> Parser:
        return self._notation.parser()

    def names(self, statement: Statement) -> Iterable[str]:
        return [name_of(word) for word in statement.words[:1] if word.type == "NAME"]

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        words = statement.words
        if len(words) > 1 and words[0].type == "NAME" and words[1].type in ("DEFINE", "WRONG_SIGN"):
            return None
        message = f"expected a rule, found {shown(words[0].value)}"
        helps = (f"a rule is written `name {self._notation.sign} ...`",)
        return (Diagnostic("E001", message, self.source, span_of(words[0]), helps=helps),)

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        del statement
        yield too_deep(mistake, self.limits) or self._explained(mistake)

    def _explained(self, mistake: Mistake) -> Diagnostic:
        word = mistake.word
        if word is not None and word.type in _OPEN:
            start = span_of(word).start
            code = "E004" if word.type == "OPEN_STRING" else "E005"
            return Diagnostic(code, _OPEN[word.type], mistake.source, Span(start, start + 1))
        if word is not None and word.type == "WRONG_SIGN":
            message = f"a rule is defined with `{self._notation.sign}`, not {mistake.found}"
            return mistake.finding("E006", message)
        if word is not None and word.type == "DEFINE":
            return mistake.finding("E002", "the rule before this one is not ended")
        is_open = word is None and mistake.inside is not None
        code = "E003" if is_open or mistake.kind in ("RPAR", "RSQB", "RBRACE") else "E001"
        return mistake.finding(code, f"{mistake.found} is not allowed here")
