r"""Parses EBNF: a text in, its rules and findings out, in one of three notations. Never raises.

*W3C* (XML 1.0, section 6) defines with ``::=``; a rule goes on to the next name with that sign, and
numbers before rules and constraints after them (``[VC: ...]``) are left out. *ISO/IEC 14977*
defines with ``=``, ends rules with ``;`` or ``.`` and separates what follows one another by commas,
so that names may have blanks in them: ``meta identifier`` is ``meta_identifier`` here. Where a text
has no commas, neighbours are a sequence (N. Wirth's notation, and that of Go, which has ranges
``"a" … "z"``).

*Names in brackets* (``<list> ::= SELECT [ ALL ] <item>``, as in ALGOL 60 and SQL) leave words bare:
these are texts. Brackets make optional, braces repeat, or only group where the text has ellipses
(``{ , <item> }...``), and ``!!`` is prose. Where nothing in a text is quoted, other marks are texts
too, with those that touch as one (``:=``), and so is a mark that is all of a rule
(``<left bracket> ::= [``); else they are the operators of W3C.

Tests: tests/unit/languages/ebnf
"""

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kbnf_core.automata.codepoints import complement, from_ranges
from kbnf_core.kbnf import build
from kbnf_core.kbnf.notation import Hints, NotationBuilder, Rules, cover, one_of, words_of
from kbnf_core.kbnf.read import number
from kbnf_core.kbnf.statements import (
    Lexer,
    Read,
    Statement,
    StatementParser,
    Word,
    parse_statements,
    span_of,
)
from kbnf_core.kbnf.tree import Comment, Definition, Expression, Name, Reference, Repetition
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

_W3C_RULE = re.compile(r"^\s*(?:\[\d+\w?\]\s*)?<?[A-Za-z_][\w .\-]*>?\s*::=", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\s*<[^<>\n]+>\s*::=")
_QUOTED = re.compile(r"\"[^\"\r\n<>]+\"|'[^'\r\n<>]+'")
_GROUPS = re.compile(r"\.\.\.|\}[*+?]")
_IS_SET = re.compile(r"\[(?:\^.*|(?=[^\]]*-)(?:#x[0-9A-Fa-f]+|[^\W_]-[^\W_]|_|[^\w\s])+)\]")
_OPERATORS = re.compile(r"[=<>!&|+*/:.^%~@#?$\\-]+")
_OPTION = re.compile(r"\[(?:\s.*|([\"']).*\1\s*)\]")
_BRACES = {"LBRACE": "LPAR", "RBRACE": "RPAR"}
_LEFT_OUT = frozenset(("NUMBER", "CONSTRAINT", "SEMI"))
_OPENED = frozenset(("STRING", "OPEN_STRING", "OPEN_COMMENT"))
_MARKS = _OPENED | {"LPAR", "RPAR", "MINUS", "SEMI", "WRONG_SIGN", "JUNK"}
"""Words that are texts, where no text is quoted; of an opened one, only its first character is."""


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
class EbnfFile:
    """A parsed text. ``has_words`` says whether words in it are tokens."""

    read: Read[Definition]
    comments: list[Comment]
    has_words: bool


def parse_ebnf(source: Source, limits: Limits, budget: Budget) -> EbnfFile:
    """Return the rules of a text in the notation that its rules have, and the comments.

    Raises WorkLimitError for a text with too many words.
    """
    text = source.text
    notation: Ebnf = Iso()
    if _IN_BRACKETS.match(text):
        notation = InBrackets(text)
    elif _W3C_RULE.search(text):
        notation = W3C()
    comments: list[Comment] = []
    statements = [*notation.split(text, comments, budget)]
    hints = Hints(f"a rule is written `name {notation.sign} ...`", notation.sign)
    rules: Rules[Definition] = Rules(source, limits, notation.parser(), notation, hints)
    read = parse_statements(statements, rules)
    return EbnfFile(read, comments, any(map(_has_word, statements)))


def _has_word(statement: Statement) -> bool:
    return any(word.type == "WORD" and is_word(word.value) for word in statement.words)


def is_word(text: str) -> bool:
    """Return whether a bare text is a word, which blanks part from others, and not a letter."""
    return text[:2].isalpha() and len(text) > 1


class Ebnf(NotationBuilder):
    """A notation: how a text is split, and the methods that its parser calls."""

    sign = "="
    folder = ""

    def parser(self) -> StatementParser:
        """Return the parser of one rule."""
        return _parser(self.folder)

    @abstractmethod
    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules of a text, with its comments in the list."""

    def name(self, word: Word) -> Name:
        """Return the name of a rule: without brackets around it, and with ``_`` for blanks."""
        return Name("_".join(word.value.strip("<>").split()), span_of(word))

    def difference(self, values: list[Any]) -> Expression:
        """``x - y``."""
        return _difference(values[0], values[2])

    def prose(self, words: list[Word]) -> Expression:
        """``? ... ?`` or ``!! ...``."""
        span = span_of(words[0])
        return Prose(_unnamed(span), span, text=words[0].value.strip("?! \t"))


class W3C(Ebnf):
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
        """Yield the words of rules."""
        lexer = Lexer(self.parser(), text)
        for word in map(self.converted, words_of(lexer.words(), comments, budget)):
            lexer.position = word.end_pos
            if word.type not in _LEFT_OUT:
                yield word

    def converted(self, word: Word) -> Word:
        """Return a word as it is in this notation, or the first character of it."""
        if word.type == "SET" and _OPTION.fullmatch(word.value):
            return _first(word, "LSQB")
        return word.as_kind("JUNK") if word.type == "WORD" else word

    def word(self, words: list[Word]) -> Expression:
        """``SELECT``."""
        return build.text(words[0].value, span_of(words[0]))

    def code(self, words: list[Word]) -> Expression:
        """``#x41``."""
        return one_of(_ranges(words[0].value), span_of(words[0]))

    def set_(self, words: list[Word]) -> Expression:
        """``[a-z]`` or ``[^a-z]``."""
        written = words[0].value[1:-1]
        ranges = _ranges(written.removeprefix("^"))
        if written.startswith("^"):
            ranges = iter(complement(from_ranges(ranges)))
        return one_of(ranges, span_of(words[0]))


class InBrackets(W3C):
    """The notation with names in angle brackets and bare words."""

    def __init__(self, text: str) -> None:
        self._is_quoted = _QUOTED.search(text) is not None
        self._groups = _GROUPS.search(text) is not None

    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules; marks that touch are one text, and those that are all of a rule."""
        for statement in super().split(text, comments, budget):
            words = statement.words
            statement.words = words[:2]
            is_text = len(words) > 2 and not self._is_quoted
            if is_text and re.fullmatch(r"[^\w\s<]+", text[words[2].start_pos : words[-1].end_pos]):
                words[2:] = [_joined(words[2], *words[3:])]
            for word in words[2:]:
                last = statement.words[-1]
                if _are_one(last, word):
                    statement.words[-1] = _joined(last, word)
                else:
                    statement.words.append(word)
            yield statement

    def converted(self, word: Word) -> Word:
        """Return a word as it is in this notation, or the first character of it."""
        kind = word.type
        if kind == "SET" and not _IS_SET.fullmatch(word.value):
            return _first(word, "LSQB")
        if kind == "NAME" and word[0] != "<":
            return word.as_kind("WORD")
        if self._groups and kind in _BRACES:
            return word.as_kind(_BRACES[kind])
        if kind == "OPERATOR" and self._groups:
            return word
        if self._is_quoted or kind not in _MARKS | {"OPERATOR"}:
            return word
        return word.as_kind("WORD") if kind not in _OPENED else _first(word, "WORD")


class Iso(Ebnf):
    """The notation of ISO/IEC 14977."""

    folder = "iso"

    def split(self, text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
        """Yield the rules, each up to its end, with commas, and with the words of a name as one."""
        words: list[Word] = []
        everything = [*words_of(Lexer(self.parser(), text).words(), comments, budget)]
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
                words.append(word)
        if words:
            yield Statement(words)

    def once_or_more(self, values: list[Any]) -> Expression:
        """``{ x } -``: all but the empty text, where that is once or more."""
        match values[0]:
            case Repetition(body, 0, high):
                return build.repeated(body, 1, high, values[0].span)
            case kept:
                return _difference(kept, build.text("", span_of(values[1])))

    def counted(self, values: list[Any]) -> Expression:
        """``4 * x``."""
        count, _, body = values
        times = number(count.value)
        return build.repeated(body, times, times, cover([build.text("", span_of(count)), body]))


def _are_one(last: Word, word: Word) -> bool:
    """Return whether two words are one text: operators that touch."""
    kinds = {last.type, word.type}
    are_texts = len(kinds) == 1 and kinds <= {"WORD", "OR"}
    touch = last.end_pos == word.start_pos
    return are_texts and touch and _OPERATORS.fullmatch(last + word) is not None


def _joined(first: Word, *others: Word) -> Word:
    """Return words that touch as one text."""
    last = others[-1] if others else first
    return Word("WORD", "".join((first, *others)), first.start_pos, last.end_pos)


def _first(word: Word, kind: str) -> Word:
    """Return the first character of a word, as one of a kind."""
    return Word(kind, word.value[:1], word.start_pos, word.start_pos + 1)


def _difference(kept: Expression, excluded: Expression) -> Expression:
    span = cover([kept, excluded])
    return Difference(_unnamed(span), span, kept=kept, excluded=excluded)


def _unnamed(span: Span) -> Name:
    """Return a name that no rule has."""
    return Name(f"-{span.start}-{span.end}", span)


_MEMBER = re.compile(r"(#x[0-9A-Fa-f]+|.)(?:-(#x[0-9A-Fa-f]+|.))?", re.DOTALL)


def _ranges(written: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a set, given the text between its brackets."""
    for member in _MEMBER.finditer(written):
        yield _point(member[1]), _point(member[2] or member[1])


def _point(written: str) -> int:
    return min(int(written[2:], 16), 0x110000) if len(written) > 1 else ord(written)


@cache
def _parser(folder: str) -> StatementParser:
    return StatementParser(Path(__file__).parent / folder, W3C() if folder == W3C.folder else Iso())
