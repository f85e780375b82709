"""Splits a text into words, and the words into statements: one definition each, if all is well.

Any text falls into words, see the last part of ``kbnf.lark``, so nothing here can fail.
"""

import re
from collections.abc import Iterator
from typing import cast

from lark import Token

from kbnf_core.source import Span
from kbnf_core.syntax.tables import kbnf_parser
from kbnf_core.syntax.tree import Comment

NAMES = frozenset({"NAME", "BAD_NAME"})
SIGNS = frozenset({"DEFINE", "WRONG_SIGN"})

DEFINITION_LINE = re.compile(r"^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?:::?=?|=|->)", re.MULTILINE)
"""A line that looks like the start of a definition; group 1 is the name."""


def span_of(word: Token) -> Span:
    """Return where ``word`` stands."""
    return Span(cast(int, word.start_pos), cast(int, word.end_pos))


class Words:
    """Reads the words of a text, from the start or from any place on.

    ``comments`` are those passed so far; a byte order mark in front is skipped.
    """

    def __init__(self, text: str) -> None:
        self.comments: list[Comment] = []
        self._thread = kbnf_parser().parse_interactive(text, start="aside").lexer_thread
        self._held: list[Token] = []
        self.seek(1 if text.startswith("\ufeff") else 0)

    def seek(self, index: int) -> None:
        """Go on at ``index`` of the text; the place may lie behind."""
        # Lark starts anywhere but offers no way to say so; only its line numbers suffer.
        self._thread.state.line_ctr.char_pos = index
        self._words: Iterator[Token] = self._thread.lex(None)
        self._held = []
        while self.comments and self.comments[-1].span.start >= index:
            self.comments.pop()

    @property
    def following(self) -> Token | None:
        """The name that the next statement defines, if it broke off the last one."""
        return self._held[0] if self._held else None

    def statement(self) -> list[Token]:
        """Return the words of the next statement; none at the end of the text.

        A statement ends with its ``;``, or before the next thing that starts a definition.
        """
        words, self._held = self._held, []
        for word in self._words:
            if word.type == "COMMENT":
                self.comments.append(Comment(word.value[2:-2], span_of(word)))
            elif word.type in SIGNS and _starts_definition(words, word):
                self._held = [words.pop(), word]
                return words
            elif words or word.type != "ODD_BLANK":
                words.append(word)
                if word.type == "END":
                    return words
        return words


def _starts_definition(words: list[Token], sign: Token) -> bool:
    """Tell whether the last of ``words`` and ``sign`` start another definition."""
    if len(words) < 2 or words[-1].type not in NAMES:
        return False
    first_of_line = cast(int, words[-2].end_line) < cast(int, words[-1].line)
    return sign.value == "::=" or first_of_line
