"""Splits a text into words, and the words into statements: one definition each, if all is well.

Any text falls into words, see the last part of ``grammar.lark``, so nothing here can fail.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lark import Lark, Token

from kbnf_core.languages.kbnf.build import Builder
from kbnf_core.source import Span
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.parser import Lexer, load_parser
from kbnf_core.syntax.statements import NAMES, SIGNS, Statement
from kbnf_core.syntax.tree import Comment

DEFINITION_LINE = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_]\w*+)[ \t]*(?P<sign>:(?:[ \t]*:)?(?:[ \t]*=)?|=|->)", re.MULTILINE
)
"""A line that looks like the start of a definition."""

_REREAD = 4
"""How many times the length of a text may be read again before `Words` refuses."""


@cache
def kbnf_parser() -> Lark:
    """Return the parser of KBNF."""
    return load_parser(Path(__file__).parent, Builder())


_LINE_COMMENT = re.compile(r"""(?:\#(?=[ \t!]|$)(?![ \t]*['"])|//)[^\n]*""", re.MULTILINE)
"""A comment as other languages write it, up to the end of its line. A pattern is ``#"..."``."""


class Words:
    """Reads the words of a text, from the start or from any position on.

    ``comments`` are those passed so far, ``foreign_comments`` the places of those that are written
    as in other languages; a byte order mark in front is skipped.
    """

    def __init__(self, text: str) -> None:
        self.comments: list[Comment] = []
        self.foreign_comments: list[Span] = []
        self._text = text
        self._lexer = Lexer(kbnf_parser(), text)
        self._budget = _REREAD * len(text)
        self._go_to(None)

    def go_back(self, index: int) -> bool:
        """Read again from ``index`` on; refuse (False) where that could take for ever."""
        self._budget -= self._lexer.place - index
        if self._budget < 0:
            return False
        self._go_to(index)
        while self.comments and self.comments[-1].span.start >= index:
            self.comments.pop()
        while self.foreign_comments and self.foreign_comments[-1].start >= index:
            self.foreign_comments.pop()
        return True

    def _go_to(self, index: int | None) -> None:
        self._words = self._without_foreign_comments(self._lexer.words(index))
        self._held: list[Token] = []

    def _without_foreign_comments(self, words: Iterator[Token]) -> Iterator[Token]:
        for word in words:
            if word.value in ("#", "/"):
                comment = _LINE_COMMENT.match(self._text, span_of(word).start)
                if comment is not None:
                    self.foreign_comments.append(Span(*comment.span()))
                    self._lexer.place = comment.end()
                    continue
            yield word

    def statements(self) -> Iterator[Statement]:
        """Yield the statements; ``odd`` are the blanks between their words that are none."""
        while (statement := self.statement()).words:
            yield statement

    def statement(self) -> Statement:
        """Return the words up to and including a ``;``; none at the end of the text."""
        statement = Statement(self._held)
        words, self._held = self._held, []
        for word in self._words:
            if word.type == "COMMENT":
                self.comments.append(Comment(word.value[2:-2], span_of(word)))
            elif word.type == "ODD_BLANK":
                statement.odd.append(word)
            elif word.type in SIGNS and self._starts_definition(words, word):
                statement.following = words.pop()
                self._held = [statement.following, word]
                break
            else:
                words.append(word)
                if word.type == "END":
                    break
        return statement

    def _starts_definition(self, words: list[Token], sign: Token) -> bool:
        """Tell whether the last of ``words`` and ``sign`` start another definition."""
        if len(words) < 2 or words[-1].type not in NAMES:
            return False
        between = span_of(words[-2]).end, span_of(words[-1]).start
        return sign.value == "::=" or self._text.find("\n", *between) >= 0
