"""Splits a GBNF text into words, and the words into rules.

A rule begins with a name that stands first on its line and has a sign behind it, and goes on
to the next such name. llama.cpp ends it at the line break, unless that stands in parentheses or
behind ``::=`` or ``|``; the words before which it would refuse one are ``Statement.odd``.
"""

from functools import cache
from pathlib import Path

from lark import Lark, Token

from kbnf_core.languages.gbnf.build import GbnfBuilder
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.parser import Lexer, load_parser
from kbnf_core.syntax.statements import SIGNS, Statement
from kbnf_core.syntax.tree import Comment

_GOES_ON = frozenset({"DEFINE", "OR"})


@cache
def gbnf_parser() -> Lark:
    """Return the parser of GBNF."""
    return load_parser(Path(__file__).parent, GbnfBuilder())


def split(text: str) -> tuple[list[Statement], tuple[Comment, ...]]:
    """Split ``text`` into rules, and the comments in and between them, in linear time."""
    comments: list[Comment] = []
    words: list[Token] = []
    first_of_line: list[bool] = []
    begins = True
    for word in Lexer(gbnf_parser(), text).words():
        if word.type == "COMMENT":
            comments.append(Comment(word.value[1:], span_of(word)))
        elif word.type == "NEWLINE":
            begins = True
        else:
            words.append(word)
            first_of_line.append(begins)
            begins = False
    return _group(words, first_of_line), tuple(comments)


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
        if first_of_line[index] and current.words and not goes_on:
            current.odd.append(word)
        depth += (word.type == "LPAR") - (word.type == "RPAR")
        current.words.append(word)
    return statements
