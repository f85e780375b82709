"""Styled text as data: renderers say what a piece *is*, the command line picks its colour."""

from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from kbnf_core.diagnostics.catalogue import Severity


class Role(Enum):
    """What a piece of output is."""

    PLAIN = auto()
    ERROR = auto()
    WARNING = auto()
    INFO = auto()
    TITLE = auto()
    PLACE = auto()
    SECONDARY = auto()
    NOTE = auto()
    HELP = auto()
    ACCEPTED = auto()
    REFUSED = auto()
    FORCED = auto()
    RULE = auto()
    STATE = auto()


class Segment(NamedTuple):
    """A piece of text and its role; a line break is part of the text."""

    text: str
    role: Role = Role.PLAIN


Segments: TypeAlias = list[Segment]

NEWLINE = Segment("\n")

_SEVERITY_ROLES = {
    Severity.ERROR: Role.ERROR,
    Severity.WARNING: Role.WARNING,
    Severity.INFO: Role.INFO,
}


def severity_role(severity: Severity) -> Role:
    """Return the role in which a severity, and carets of that severity, are shown."""
    return _SEVERITY_ROLES[severity]


def plain(segments: Iterable[Segment]) -> str:
    """Return the text alone."""
    return "".join(segment.text for segment in segments)
