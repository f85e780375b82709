r"""Parses EBNF: a text in, its rules and findings out, in one of three notations. Never raises.

*W3C* (XML 1.0, section 6) defines with ``::=``; a rule goes on to the next name with that sign, and
numbers before rules and constraints after them (``[VC: ...]``) are left out. *ISO/IEC 14977*
defines with ``=``, ends rules with ``;`` or ``.`` and separates what follows one another by commas,
so that names may have blanks in them: ``meta identifier`` is ``meta_identifier`` here. Where a text
has no commas, what is beside one another follows one another (N. Wirth's notation, and that of Go,
which has ranges ``"a" … "z"``).

*Names in brackets* (``<list> ::= SELECT [ ALL ] <item>``, as in ALGOL 60 and SQL) leave words bare:
these are texts. Brackets make optional, braces repeat, or only group where the text has ellipses
(``{ , <item> }...``), and ``!!`` is prose. Where nothing in a text is quoted, other marks are texts
too, with those that touch as one (``:=``), and so is a mark that is all of a rule
(``<left bracket> ::= [``); else they are the operators of W3C.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kbnf_core.automata.codepoints import CodePoints, complement, from_ranges
from kbnf_core.automata.expression import print_characters
from kbnf_core.kbnf import build
from kbnf_core.kbnf.read import number
from kbnf_core.kbnf.statements import (
    Lexer,
    Metasyntax,
    Mistake,
    Read,
    Statement,
    StatementParser,
    Word,
    counted,
    parse_statements,
    shown,
    span_of,
    too_deep,
)
from kbnf_core.kbnf.tree import Comment, Definition, Expression, Name, Reference, Repetition
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source, Span

_W3C_RULE = re.compile(r"^\s*(?:\[\d+\w?\]\s*)?<?[A-Za-z_][\w .\-]*>?\s*::=", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\s*<[^<>\n]+>\s*::=")
_QUOTED = re.compile(r"\"[^\"\r\n<>]+\"|'[^'\r\n<>]+'")
_GROUPS = re.compile(r"\.\.\.|\}[*+?]")
_IS_SET = re.compile(r"\[(?:\^.*|(?=[^\]]*-)(?:#x[0-9A-Fa-f]+|[^\W_]-[^\W_]|_|[^\w\s])+)\]")
_OPERATORS = re.compile(r"[=<>!&|+*/:.^%~@#?$\\-]+")
_OPTION = re.compile(r"\[(?:\s.*|([\"']).*\1\s*)\]")
_ENDING = frozenset(["NAME", "STRING", "SPECIAL", "RPAR", "RSQB", "RBRACE"])
_BEGINNING = frozenset(["NAME", "STRING", "SPECIAL", "NUMBER", "LPAR", "LSQB", "LBRACE"])
_BRACES = {"LBRACE": "LPAR", "RBRACE": "RPAR"}
_LEFT_OUT = frozenset(("NUMBER", "CONSTRAINT", "SEMI"))
_OPENED = frozenset(("STRING", "OPEN_STRING", "OPEN_COMMENT"))
_MARKS = _OPENED | {"LPAR", "RPAR", "MINUS", "SEMI", "WRONG_SIGN", "JUNK"}
"""What is a text, where no text is quoted; of what is opened, only its first character is."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Difference(Reference):
    """``x - y``: a use of a rule that nobody can name, until its automaton is known."""

    kept: Expression
    excluded: Expression


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Prose(Reference):
    """``? ... ?`` or ``!! ...``: a description for people."""

    text: str


@dataclass(slots=True)
class File:
    """A parsed text. ``has_words`` says whether words in it are tokens."""

    read: Read[Definition]
    comments: tuple[Comment, ...]
    has_words: bool


def parse_ebnf(source: Source, limits: Limits, budget: Budget) -> File:
    """Return the rules of a text in the notation that its rules have, and the comments.

    Raises WorkLimitError for a text with too many words.
    """
    text = source.text
    notation: Notation = Iso()
    if _IN_BRACKETS.match(text):
        notation = InBrackets(text)
    elif _W3C_RULE.search(text):
        notation = W3C()
    comments: list[Comment] = []
    statements = [*notation.split(text, comments, budget)]
    read = parse_statements(statements, _Ebnf(source, limits, notation))
    return File(read, tuple(comments), any(map(_has_word, statements)))


def _has_word(statement: Statement) -> bool:
    return any(word.type == "WORD" and is_word(word.value) for word in statement.words)


def is_word(text: str) -> bool:
    """Return whether a bare text is a word, which blanks part from others, and not a letter."""
    return text[:2].isalpha() and len(text) > 1


class Notation(ABC):
    """A notation: how a text is split, and the methods that its parser calls."""

    sign = "="
    folder = ""

    def parser(self) -> StatementParser:
        """Return the parser of one rule."""
        return _parser(self.folder)

    @abstractmethod
    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules of a text, with its comments in the list."""

    def definition(self, parts: list[Any]) -> Definition:
        """``name = alternation``."""
        name, sign, body = parts
        last = span_of(sign) if body.span == NOWHERE else body.span
        span = span_of(name).cover(last)
        placed = build.placed(body, span) if body is build.EMPTY else body
        return Definition(Name(name_of(name), span_of(name)), placed, span)

    def alternation(self, parts: list[Any]) -> Expression:
        """``x | y``, or one alternative alone."""
        branches = [part for part in parts if not isinstance(part, Word)]
        return build.alternation(branches, _cover(branches))

    def sequence(self, parts: list[Any]) -> Expression:
        """One item after the other."""
        items = [part for part in parts if not isinstance(part, Word)]
        return build.sequence(*items, span=_cover(items))

    def use(self, parts: list[Word]) -> Expression:
        """``name``."""
        return build.call(name_of(parts[0]), span_of(parts[0]))

    def string(self, parts: list[Word]) -> Expression:
        """``"text"``."""
        return build.text(parts[0].value[1:-1], span_of(parts[0]))

    def prose(self, parts: list[Word]) -> Expression:
        """``? ... ?`` or ``!! ...``."""
        span = span_of(parts[0])
        return Prose(_unnamed(span), span, text=parts[0].value.strip("?! \t"))

    def group(self, parts: list[Any]) -> Expression:
        """``( x )``, ``[ x ]`` or ``{ x }``."""
        opening, body, closing = parts
        span = span_of(opening).cover(span_of(closing))
        match opening.type:
            case "LSQB":
                return build.repeated(body, 0, 1, span)
            case "LBRACE":
                return build.repeated(body, 0, None, span)
            case _:
                node: Expression = body
                return node


class W3C(Notation):
    """The notation of W3C."""

    folder = "w3c"
    sign = "::="

    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules: each begins with a name before the sign."""
        words: list[Word] = []
        for word in self.words(text, comments, budget):
            if word.type == "DEFINE" and len(words) > 1 and words[-1].type == "NAME":
                name = words.pop()
                if words:
                    yield Statement(words, following=name)
                words = [name]
            words.append(word)
        if words:
            yield Statement(words)

    def words(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Word]:
        """Yield the words of rules; ``[ x ]`` is an option, and no set."""
        lexer = Lexer(self.parser(), text)
        for word in _words(lexer, comments, budget):
            if word.type == "SET" and _OPTION.fullmatch(word.value):
                lexer.place = word.start_pos + 1
                yield Word("LSQB", "[", word.start_pos, lexer.place)
            elif word.type not in _LEFT_OUT:
                yield word.as_kind("JUNK") if word.type == "WORD" else word

    def difference(self, parts: list[Any]) -> Expression:
        """``x - y``."""
        return _difference(parts[0], parts[2])

    def repeated(self, parts: list[Any]) -> Expression:
        """``x?``, ``x*``, ``x+`` or ``x...``."""
        body, operator = parts
        low, high = {"?": (0, 1), "*": (0, None)}.get(operator.value, (1, None))
        span = span_of(operator) if body.span == NOWHERE else body.span.cover(span_of(operator))
        return build.repeated(body, low, high, span)

    def word(self, parts: list[Word]) -> Expression:
        """``SELECT``."""
        return build.text(parts[0].value, span_of(parts[0]))

    def code(self, parts: list[Word]) -> Expression:
        """``#x41``."""
        return _one_of(_points(parts[0].value), span_of(parts[0]))

    def set_(self, parts: list[Word]) -> Expression:
        """``[a-z]`` or ``[^a-z]``."""
        written = parts[0].value[1:-1]
        points = _points(written.removeprefix("^"))
        return _one_of(complement(points) if written.startswith("^") else points, span_of(parts[0]))


class InBrackets(W3C):
    """The notation with names in angle brackets and bare words."""

    def __init__(self, text: str) -> None:
        self._is_quoted = _QUOTED.search(text) is not None
        self._groups = _GROUPS.search(text) is not None

    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules; marks that are all of a rule are a text."""
        for statement in super().split(text, comments, budget):
            body = statement.words[2:]
            marks = "".join(body)
            if not self._is_quoted and re.fullmatch(r"[^\w\s<]+", text[_extent(body)]):
                mark = Word("WORD", marks, body[0].start_pos, body[-1].end_pos)
                statement.words[2:] = [mark]
            yield statement

    def words(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Word]:
        """Yield the words of rules, with bare texts as ``WORD``; operators that touch are one."""
        lexer = Lexer(self.parser(), text)
        last: Word | None = None
        for word in map(self._converted, _words(lexer, comments, budget)):
            lexer.place = word.end_pos
            if last is not None and _are_one(last, word):
                last = Word("WORD", last.value + word.value, last.start_pos, word.end_pos)
                continue
            if last is not None and last.type not in _LEFT_OUT:
                yield last
            last = word
        if last is not None and last.type not in _LEFT_OUT:
            yield last

    def _converted(self, word: Word) -> Word:
        """Return a word as what it is in this notation, or the first character of it."""
        kind, first = word.type, Word("WORD", word.value[:1], word.start_pos, word.start_pos + 1)
        if kind == "SET" and not _IS_SET.fullmatch(word.value):
            return first.as_kind("LSQB")
        if kind == "NAME" and first != "<":
            return word.as_kind("WORD")
        if self._groups and kind in _BRACES:
            return word.as_kind(_BRACES[kind])
        if kind == "OPERATOR" and self._groups:
            return word
        if self._is_quoted or kind not in _MARKS | {"OPERATOR"}:
            return word
        return word.as_kind("WORD") if kind not in _OPENED else first


class Iso(Notation):
    """The notation of ISO/IEC 14977."""

    folder = "iso"

    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules, each up to its end, with commas, and with the words of a name as one."""
        words: list[Word] = []
        everything = [*_words(Lexer(self.parser(), text), comments, budget)]
        has_commas = any(word.type == "COMMA" for word in everything)
        for word in everything:
            if word.type == "END":
                if words:
                    yield Statement(words)
                words = []
            elif has_commas and words and word.type == words[-1].type == "NAME":
                start = words.pop().start_pos
                words.append(Word("NAME", text[start : word.end_pos], start, word.end_pos))
            else:
                if (
                    not has_commas
                    and words
                    and words[-1].type in _ENDING
                    and word.type in _BEGINNING
                ):
                    words.append(Word("COMMA", "", word.start_pos, word.start_pos))
                words.append(word)
        if words:
            yield Statement(words)

    def term(self, parts: list[Any]) -> Expression:
        """``x - y``, or ``x`` alone; ``{ x } -`` is one or more."""
        kept, *rest = parts
        if not rest:
            node: Expression = kept
            return node
        excluded = rest[1]
        if excluded is build.EMPTY and isinstance(kept, Repetition) and kept.low == 0:
            return build.repeated(kept.body, 1, kept.high, kept.span)
        return _difference(kept, excluded)

    def range(self, parts: list[Word]) -> Expression:
        """Return the characters from one to another one."""
        low, high = (parts[index].value[1:-1] for index in (0, 2))
        bounds = [(ord(low), ord(high))] if len(low) == len(high) == 1 else []
        return _one_of(from_ranges(bounds), span_of(parts[0]).cover(span_of(parts[2])))

    def counted(self, parts: list[Any]) -> Expression:
        """``4 * x``."""
        count, _, body = parts
        times = number(count.value)
        return build.repeated(body, times, times, _cover([build.text("", span_of(count)), body]))

    def nothing(self, parts: list[Any]) -> Expression:
        """Return an empty part."""
        del parts
        return build.EMPTY


def name_of(word: Word) -> str:
    """Return the name of a rule: without brackets around it, and with ``_`` for blanks."""
    return "_".join(word.value.strip("<>").split())


def _words(lexer: Lexer, comments: list[Comment], budget: Budget) -> Iterator[Word]:
    for word in counted(lexer.words(), budget):
        if word.type == "COMMENT":
            inner = word.value[1:] if word.value[0] == "#" else word.value[2:-2]
            comments.append(Comment(inner, span_of(word)))
        else:
            yield word


def _are_one(last: Word, word: Word) -> bool:
    """Return whether two words are one text: operators that touch."""
    kinds = {last.type, word.type}
    are_texts = len(kinds) == 1 and kinds <= {"WORD", "OR"}
    touch = last.end_pos == word.start_pos
    return are_texts and touch and _OPERATORS.fullmatch(last + word) is not None


def _extent(words: list[Word]) -> slice:
    return slice(words[0].start_pos, words[-1].end_pos) if words else slice(0)


def _difference(kept: Expression, excluded: Expression) -> Expression:
    span = _cover([kept, excluded])
    return Difference(_unnamed(span), span, kept=kept, excluded=excluded)


def _unnamed(span: Span) -> Name:
    """Return a name that no rule has."""
    return Name(f"-{span.start}-{span.end}", span)


def _one_of(points: CodePoints, span: Span) -> Expression:
    """Return any one character of a set."""
    return build.regex(print_characters(points), span) if points else build.nothing(span)


def _cover(nodes: Iterable[Expression]) -> Span:
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
def _parser(folder: str) -> StatementParser:
    return StatementParser(Path(__file__).parent / folder, W3C() if folder == W3C.folder else Iso())


_OPEN = {"OPEN_STRING": "this text is never closed", "OPEN_COMMENT": "this comment is never closed"}


class _Ebnf(Metasyntax[Definition]):
    """The rules of a text."""

    def __init__(self, source: Source, limits: Limits, notation: Notation) -> None:
        super().__init__(source, limits)
        self._notation = notation

    def parser(self) -> StatementParser:
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
