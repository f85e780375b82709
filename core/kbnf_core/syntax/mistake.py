"""Words of a text, and the place at which a definition stops making sense."""

import unicodedata
from dataclasses import dataclass
from typing import cast

from lark import Token

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.source import Source, Span

CLOSERS = {
    "LPAR": ")",
    "LSQB": "]",
    "LBRACE": "}",
    "COUNT_OPEN": "}",
    "TOKEN_OPEN": "]",
}
"""What closes a word that opens a bracket, by the type of the word."""

CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})

_SHOWN = 24
"""How much of a word a message shows."""


def span_of(word: Token) -> Span:
    """Return where ``word`` stands."""
    return Span(cast(int, word.start_pos), cast(int, word.end_pos))


@dataclass(frozen=True, slots=True)
class Mistake:
    """A definition that stops making sense at ``words[index]``, or at its end.

    ``open_brackets`` are the indices of the words that opened what is still open there,
    outermost first; ``expected`` are the types of the words that could stand there.
    """

    source: Source
    words: list[Token]
    index: int
    open_brackets: list[int]
    expected: frozenset[str] = frozenset()

    @property
    def word(self) -> Token | None:
        """The word that is not allowed here; None at the end."""
        return self.words[self.index] if self.index < len(self.words) else None

    @property
    def kind(self) -> str:
        """The type of that word; the end counts as a ``;``."""
        return self.word.type if self.word is not None else "END"

    @property
    def before(self) -> Token:
        """The word in front of it."""
        return self.words[self.index - 1]

    @property
    def inside(self) -> Token | None:
        """The word that opened the innermost bracket."""
        return self.words[self.open_brackets[-1]] if self.open_brackets else None

    @property
    def span(self) -> Span:
        """The unexpected word; at the end, the position behind the last word."""
        if self.word is not None:
            return span_of(self.word)
        end = span_of(self.words[-1]).end
        return Span(end, end)

    @property
    def found(self) -> str:
        """What is not allowed here, for a message."""
        return "the end of the file" if self.word is None else shown(self.word.value)

    def finding(self, code: str, message: str, label: str = "", *helps: str) -> Diagnostic:
        """Return a finding at this position."""
        return Diagnostic(code, message, self.source, self.span, label, helps=helps)


def shown(text: str) -> str:
    """Return ``text`` as a message shows it: in backticks, on one line, shortened."""
    if len(text) == 1 and not (text.isascii() and text.isprintable()):
        return character(text)
    short = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return "`" + "".join(c if c.isprintable() else _spelled(c) for c in short) + "`"


def character(char: str) -> str:
    """Return one character with its number and name."""
    name = unicodedata.name(char, "no character" if "\ud800" <= char <= "\udfff" else "control")
    number = f"U+{ord(char):04X}"
    if char.isprintable():
        return f"`{char}` ({number}, {name.lower()})"
    return f"{number} ({name.lower()})"


def _spelled(char: str) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char, f"\\u{{{ord(char):x}}}")
