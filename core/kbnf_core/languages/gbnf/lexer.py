"""Splits a GBNF text into words, and the words into rules.

A rule begins with a name that stands first on its line and has a sign behind it, and goes on
to the next such name. llama.cpp ends it at the line break, unless that stands in parentheses or
behind ``::=`` or ``|``; what it would refuse is kept in ``Statement.broken``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from lark import Lark, Token
from lark.lexer import LexerState

from kbnf_core.languages.gbnf.build import GbnfBuilder
from kbnf_core.languages.kbnf.lexer import span_of
from kbnf_core.languages.load_tables import load_parser
from kbnf_core.syntax.tree import Comment

SIGNS = frozenset({"DEFINE", "WRONG_SIGN"})
_GOES_ON = frozenset({"DEFINE", "OR"})


@cache
def gbnf_parser() -> Lark:
    """Return the parser of GBNF."""
    return load_parser("gbnf", GbnfBuilder())


@dataclass(slots=True)
class Statement:
    """The words of a rule, or those in front of the first rule.

    ``broken`` is the first word before which stands a line break that llama.cpp does not allow.
    """

    words: list[Token] = field(default_factory=list)
    broken: Token | None = None

    @property
    def is_rule(self) -> bool:
        """Whether it starts with a name and a sign, right or wrong."""
        words = self.words
        return len(words) > 1 and words[0].type == "NAME" and words[1].type in SIGNS


@dataclass(slots=True)
class Statements:
    """All rules of a text, and the comments in and between them."""

    statements: list[Statement]
    comments: list[Comment]


def split(text: str) -> Statements:
    """Split ``text``, in linear time; a byte order mark in front is skipped."""
    comments: list[Comment] = []
    words: list[Token] = []
    first_of_line: list[bool] = []
    begins = True
    for word in _lex(text):
        if word.type == "COMMENT":
            comments.append(Comment(word.value[1:], span_of(word)))
        elif word.type == "NEWLINE":
            begins = True
        else:
            words.append(word)
            first_of_line.append(begins)
            begins = False
    return Statements(_group(words, first_of_line), comments)


def _lex(text: str) -> Iterator[Token]:
    start = 1 if text.startswith("\ufeff") else 0
    thread = gbnf_parser().parse_interactive(text, start="aside").lexer_thread
    state = cast(LexerState, thread.state)
    # Lark can start anywhere, it only offers no call for it; its columns are not used.
    state.line_ctr.char_pos = start
    yield from thread.lexer.lex(state, None)


def _group(words: list[Token], first_of_line: list[bool]) -> list[Statement]:
    statements: list[Statement] = []
    depth = 0
    for index, word in enumerate(words):
        sign = words[index + 1].type if index + 1 < len(words) else ""
        if first_of_line[index] and word.type == "NAME" and sign in SIGNS:
            statements.append(Statement([word]))
            depth = 0
            continue
        if not statements:
            statements.append(Statement())
        current = statements[-1]
        goes_on = depth > 0 or (current.words and current.words[-1].type in _GOES_ON)
        if first_of_line[index] and current.words and not goes_on and current.broken is None:
            current.broken = word
        depth += (word.type == "LPAR") - (word.type == "RPAR")
        current.words.append(word)
    return statements
