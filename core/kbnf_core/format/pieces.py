"""The stream that the pretty-printer lays out: texts, possible line breaks, and groups.

After Derek C. Oppen, "Prettyprinting", TOPLAS 2 (4), 1980: his consistent breaks separate
alternatives, his inconsistent breaks what stands in a sequence.
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
