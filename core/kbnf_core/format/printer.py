"""Lays out a stream of texts, possible line breaks and groups: chooses where lines end.

After Derek C. Oppen, "Prettyprinting", TOPLAS 2 (4), 1980: his consistent breaks separate
alternatives, his inconsistent breaks what stands in a sequence. Linear in the length of the stream.
"""

import enum
from typing import NamedTuple, TypeAlias


class When(enum.Enum):
    """When a break ends the line."""

    ALWAYS = "always"
    BROKEN = "where its group does not fit on a line"
    FULL = "where what comes up to the next break does not fit"


class Text(NamedTuple):
    """Something to write as it is."""

    text: str


class Break(NamedTuple):
    """The end of a line, or else ``flat``."""

    when: When
    flat: str = " "


class Open(NamedTuple):
    """The start of a group; its lines begin ``offset`` columns from here.

    ``is_choice``: the group itself decides whether it is broken; otherwise it is if the one
    around it is.
    """

    is_choice: bool
    offset: int = 0


class Close(NamedTuple):
    """The end of a group."""


class Pad(NamedTuple):
    """A blank where the group is broken."""


Piece: TypeAlias = Text | Break | Open | Close | Pad


class _Need(NamedTuple):
    """What has to fit on the line where a piece is not broken.

    ``until`` is the flat width of all that precedes the next line break that is sure to be
    possible; ``hard`` tells that a line must end before that.
    """

    until: int
    hard: bool


class _Level(NamedTuple):
    """A group being written: where its lines begin, and whether it is broken."""

    indent: int
    broken: bool


def print_pieces(pieces: list[Piece], column: int, width: int, newline: str) -> str:
    """Return the text of ``pieces``, which begin in ``column``, within ``width`` if possible."""
    before = _widths(pieces)
    needs = _needs(pieces, before)
    writer = _Writer(column, width, newline)
    for index, piece in enumerate(pieces):
        need = needs[index]
        room = need.until - before[index] if not need.hard else width + 1
        writer.write(piece, room)
    return writer.text()


def _widths(pieces: list[Piece]) -> list[int]:
    """Return the flat width of all pieces in front of each."""
    widths = [0]
    for piece in pieces:
        widths.append(widths[-1] + len(_flat(piece)))
    return widths


def _flat(piece: Piece) -> str:
    match piece:
        case Text(text):
            return text
        case Break(_, flat):
            return flat
        case _:
            return ""


class _Measuring:
    """What is known of one open group while the stream is read from its end.

    ``stop`` is the width in front of the next possible break; ``hard`` tells whether the group
    must be broken, ``hard_before_stop`` whether something in front of ``stop`` must.
    """

    def __init__(self, stop: int) -> None:
        self.stop = stop
        self.hard = False
        self.hard_before_stop = False


def _needs(pieces: list[Piece], before: list[int]) -> list[_Need]:
    """Return for each piece what follows it up to the next break, from the last to the first."""
    needs: list[_Need] = []
    groups = [_Measuring(before[-1])]
    for piece, width in zip(reversed(pieces), reversed(before[:-1]), strict=True):
        group = groups[-1]
        match piece:
            case Close():
                groups.append(_Measuring(group.stop))
            case Open():
                groups.pop()
                outer = groups[-1]
                needs.append(_Need(outer.stop, group.hard))
                outer.hard |= group.hard
                outer.hard_before_stop |= group.hard
                continue
            case Text(text) if "\n" in text:
                group.hard = True
                for each in groups:
                    each.stop, each.hard_before_stop = width + text.index("\n"), False
        needs.append(_Need(group.stop, group.hard_before_stop))
        if isinstance(piece, Break):
            group.stop, group.hard_before_stop = width, False
            group.hard |= piece.when is When.ALWAYS
    return needs[::-1]


class _Writer:
    """The lines so far, and the groups that are open."""

    def __init__(self, column: int, width: int, newline: str) -> None:
        self._column = column
        self._width = width
        self._newline = newline
        self._written: list[str] = []
        self._levels = [_Level(0, True)]

    def text(self) -> str:
        """Return what has been written."""
        return "".join(self._written)

    def write(self, piece: Piece, room: int) -> None:
        """Write a piece that needs ``room`` columns where it does not end the line."""
        level = self._levels[-1]
        match piece:
            case Text(text):
                self._put(text)
            case Pad():
                self._put(" " if level.broken else "")
            case Open(is_choice, offset):
                broken = level.broken and not (is_choice and self._fits(room))
                self._levels.append(_Level(max(0, self._column + offset), broken))
            case Close():
                self._levels.pop()
            case Break(when, flat):
                if self._ends_line(when, room):
                    self._end_line(level.indent)
                else:
                    self._put(flat)

    def _ends_line(self, when: When, room: int) -> bool:
        if when is When.FULL:
            return self._levels[-1].broken and not self._fits(room)
        return when is When.ALWAYS or self._levels[-1].broken

    def _fits(self, room: int) -> bool:
        return self._column + room <= self._width

    def _put(self, text: str) -> None:
        self._written.append(text)
        line_start = text.rfind("\n") + 1
        self._column = len(text) - line_start + (0 if line_start else self._column)

    def _end_line(self, indent: int) -> None:
        while self._written and not self._written[-1].strip(" "):
            self._written.pop()
        self._put(self._newline)
        self._put(" " * indent)
