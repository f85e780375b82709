"""Splits an ABNF text into words, and the words into rules.

A rule begins with a name that stands first on its line and has a sign behind it, and goes on to
the next such name. ABNF wants the lines by which a rule goes on to be indented more than the
rule; the words that begin others are ``Statement.odd``.
"""

from functools import cache
from pathlib import Path

from lark import Lark, Token

from kbnf_core.languages.abnf.build import AbnfBuilder
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.parser import Lexer, load_parser
from kbnf_core.syntax.statements import SIGNS, Statement
from kbnf_core.syntax.tree import Comment


@cache
def abnf_parser(octets: bool) -> Lark:
    """Return the parser of ABNF whose values above 127 are ``octets``, or else code points."""
    return load_parser(Path(__file__).parent, AbnfBuilder(octets))


def split(text: str) -> tuple[list[Statement], tuple[Comment, ...]]:
    """Split ``text`` into rules, and the comments in and between them, in linear time."""
    comments: list[Comment] = []
    words: list[Token] = []
    columns: list[int | None] = []
    line: int | None = 0
    for word in Lexer(abnf_parser(False), text).words():
        span = span_of(word)
        if word.type == "COMMENT":
            comments.append(Comment(word.value[1:], span))
        elif word.type == "NEWLINE":
            line = span.end
        else:
            words.append(word)
            columns.append(None if line is None else span.start - line)
            line = None
    return _group(words, columns), tuple(comments)


def _group(words: list[Token], columns: list[int | None]) -> list[Statement]:
    """Return the rules; ``columns`` are those of words that stand first on their lines."""
    statements: list[Statement] = []
    margin = 0
    for index, (word, column) in enumerate(zip(words, columns, strict=True)):
        sign = words[index + 1].type if index + 1 < len(words) else ""
        if not statements or (column is not None and word.type == "NAME" and sign in SIGNS):
            statements.append(Statement())
            margin = column or 0
        elif column is not None and column <= margin:
            statements[-1].odd.append(word)
        statements[-1].words.append(word)
    return statements
