"""Splits a text into words, and the words into statements: one definition each, if all is well.

Any text falls into words, see the last part of ``grammar.lark``, so nothing here can fail.
"""

import re
from dataclasses import dataclass, field
from typing import cast

from lark import Token
from lark.lexer import LexerState

from kbnf_core.languages.load_tables import kbnf_parser
from kbnf_core.source import Span
from kbnf_core.syntax.tree import Comment

NAMES = frozenset({"NAME", "BAD_NAME"})
SIGNS = frozenset({"DEFINE", "WRONG_SIGN"})

DEFINITION_LINE = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_]\w*+)[ \t]*(?P<sign>:(?:[ \t]*:)?(?:[ \t]*=)?|=|->)", re.MULTILINE
)
"""A line that looks like the start of a definition."""

_REREAD = 4
"""How many times the length of a text may be read again before `Words` refuses."""


def span_of(word: Token) -> Span:
    """Return where ``word`` stands."""
    return Span(cast(int, word.start_pos), cast(int, word.end_pos))


@dataclass(slots=True)
class Statement:
    """The words up to and including a ``;``, and the blanks between them that are none.

    Empty at the end of the text. ``following`` is the name that the next statement defines,
    where that, and not a ``;``, ended this one.
    """

    words: list[Token] = field(default_factory=list)
    odd_blanks: list[Token] = field(default_factory=list)
    following: Token | None = None

    @property
    def is_definition(self) -> bool:
        """Whether it starts with a name and a sign, right or wrong."""
        words = self.words
        return len(words) > 1 and words[0].type in NAMES and words[1].type in SIGNS


class Words:
    """Reads the words of a text, from the start or from any place on.

    ``comments`` are those passed so far; a byte order mark in front is skipped.
    """

    def __init__(self, text: str) -> None:
        self.comments: list[Comment] = []
        thread = kbnf_parser().parse_interactive(text, start="aside").lexer_thread
        self._lexer = thread.lexer
        self._state = cast(LexerState, thread.state)
        self._budget = _REREAD * len(text)
        self._go_to(1 if text.startswith("\ufeff") else 0)

    def go_back(self, index: int) -> bool:
        """Read again from ``index`` on; refuse (False) where that could take for ever."""
        self._budget -= self._state.line_ctr.char_pos - index
        if self._budget < 0:
            return False
        self._go_to(index)
        while self.comments and self.comments[-1].span.start >= index:
            self.comments.pop()
        return True

    def _go_to(self, index: int) -> None:
        # Lark can start anywhere, it only offers no call for it; its columns are not used.
        self._state.line_ctr.char_pos = index
        self._words = self._lexer.lex(self._state, None)
        self._held: list[Token] = []

    def statement(self) -> Statement:
        """Return the next statement."""
        statement = Statement(self._held)
        words, self._held = self._held, []
        for word in self._words:
            if word.type == "COMMENT":
                self.comments.append(Comment(word.value[2:-2], span_of(word)))
            elif word.type == "ODD_BLANK":
                statement.odd_blanks.append(word)
            elif word.type in SIGNS and _starts_definition(words, word):
                statement.following = words.pop()
                self._held = [statement.following, word]
                break
            else:
                words.append(word)
                if word.type == "END":
                    break
        return statement


def _starts_definition(words: list[Token], sign: Token) -> bool:
    """Tell whether the last of ``words`` and ``sign`` start another definition."""
    if len(words) < 2 or words[-1].type not in NAMES:
        return False
    first_of_line = cast(int, words[-2].end_line) < cast(int, words[-1].line)
    return sign.value == "::=" or first_of_line
