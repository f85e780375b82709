"""Lays out one definition: from its words to the stream of texts, breaks and groups.

::

    name ::= first second
           | third ( fourth
                   | fifth
                   )*;

Alternatives stand on one line, or each on its own; the sign ``|`` stands below ``=`` or below the
bracket. Sequences are filled. A line break written at one ``|`` is kept at all of that
group. Comments stay between the words between which they stand.
"""

from kbnf_core.format.printer import Break, Close, Open, Pad, Piece, Text, When
from kbnf_core.format.words import Gap, Statement, Word

_OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_ARGUMENTS = frozenset({"EXCEPT", "TOKEN_OPEN", "COUNT_OPEN"})
_POSTFIX = frozenset({"QUESTION", "STAR", "PLUS", "COUNT_OPEN", "_COMMA"})
_MARKS = frozenset({"REGEX", "EARLY", "COMPLEMENT", "SUBSTRINGS", "BYTES", "TOKEN"})
_CLOSE_TO_NEXT = _MARKS | _ARGUMENTS

_LINE_END = Break(When.ALWAYS)
_BLANK = Text(" ")
_NOTHING = Text("")


def lay_out(statement: Statement) -> list[Piece]:
    """Return the stream for a definition, without the gap in front of it."""
    name, sign, *body, end = statement.words
    layout = _Layout()
    layout.begin(name, sign)
    for index, word in enumerate(body):
        layout.add(word, body[index + 1 : index + 2])
    layout.end(end)
    return layout.pieces


class _Layout:
    """The stream of one definition, while its words are read one by one.

    ``_before`` is what stands in front of the next symbol. ``_arguments`` is the type of the word
    whose arguments are being read: they stand close together.
    """

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._before: Piece | None = None
        self._arguments: str | None = None

    def begin(self, name: Word, sign: Word) -> None:
        """Read the left side."""
        self.pieces.append(Text(name.text))
        self._gap(sign.gap, _BLANK)
        self.pieces += [Text("::="), _BLANK, Open(is_choice=True, offset=-2), Open(is_choice=False)]

    def end(self, end: Word) -> None:
        """Read the ``;``."""
        self.pieces.append(Close())
        self._stick(end, _NOTHING)
        self.pieces.append(Close())

    def add(self, word: Word, following: list[Word]) -> None:
        """Read a word of the right side; ``following`` is the next one, or empty."""
        if self._arguments is not None:
            self._argument(word)
        elif word.type == "_OR":
            self._bar(word, following)
        elif word.type in _OPENING:
            self._open(word)
        elif word.type in _CLOSING:
            self._close(word)
        elif word.type in _POSTFIX:
            self._stick(word, _NOTHING)
        else:
            self._symbol(word)

    def _symbol(self, word: Word) -> None:
        self._gap(word.gap, self._before)
        self.pieces.append(Text(word.text))
        self._before = _NOTHING if word.type in _CLOSE_TO_NEXT else Break(When.FULL)
        self._arguments = word.type if word.type in _ARGUMENTS else None

    def _argument(self, word: Word) -> None:
        self._gap(word.gap, self._before)
        self.pieces.append(Text(word.text))
        spaced = word.type == "_COMMA" and self._arguments == "EXCEPT"
        self._before = _BLANK if spaced else _NOTHING
        if word.type in _CLOSING:
            self._before, self._arguments = Break(When.FULL), None

    def _bar(self, word: Word, following: list[Word]) -> None:
        has_break = any(each.gap.has_break for each in (word, *following))
        self.pieces.append(Close())
        self._stick(word, _LINE_END if has_break else Break(When.BROKEN))
        self.pieces += [_BLANK, Open(is_choice=False)]
        self._before = None

    def _open(self, word: Word) -> None:
        self._gap(word.gap, self._before)
        pad = _BLANK if word.type == "LBRACE" else Pad()
        self.pieces += [Open(is_choice=True), Text(word.text), pad, Open(is_choice=False)]
        self._before = None

    def _close(self, word: Word) -> None:
        self.pieces.append(Close())
        self._stick(word, Break(When.BROKEN, " " if word.type == "RBRACE" else ""))
        self.pieces.append(Close())
        self._before = Break(When.FULL)

    def _stick(self, word: Word, before: Piece) -> None:
        """Read a word that belongs to what precedes it, as do the comments between them."""
        comments, (first, *later) = word.gap.comments, word.gap.breaks
        if comments:
            self.pieces.append(_LINE_END if first and any(later) else _BLANK)
            self._comments(word.gap)
        self.pieces.append(_LINE_END if comments and word.gap.breaks[-1] else before)
        self.pieces.append(Text(word.text))
        if word.type == "COUNT_OPEN":
            self._before, self._arguments = _NOTHING, word.type

    def _gap(self, gap: Gap, before: Piece | None) -> None:
        """Read what stands in front of a symbol: ``before`` unless there are comments."""
        first, *later = gap.breaks
        if not gap.comments:
            self._put(before)
            return
        if first and any(later):
            self.pieces.append(_LINE_END)
        elif before is _NOTHING or (any(later) and before is not None):
            self.pieces.append(_BLANK)
        else:
            self._put(before)
        self._comments(gap)
        self.pieces.append(_LINE_END if gap.breaks[-1] else _BLANK)

    def _comments(self, gap: Gap) -> None:
        """Read comments, without what precedes the first and follows the last."""
        for index, comment in enumerate(gap.comments):
            if index:
                self.pieces.append(_LINE_END if gap.breaks[index] else _BLANK)
            self.pieces.append(Text(comment))

    def _put(self, piece: Piece | None) -> None:
        if piece is not None:
            self.pieces.append(piece)
