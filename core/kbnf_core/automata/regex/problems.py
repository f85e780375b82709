"""What can be wrong with a regular expression."""

from typing import NamedTuple

SYNTAX = "E201"
UNSUPPORTED = "E202"
TOO_LARGE = "E203"
TOO_MUCH_WORK = "E107"
INVALID_UTF8 = "E204"


class RegexProblem(NamedTuple):
    """One finding: a catalogue code, and where it is, in code points of the pattern."""

    code: str
    message: str
    start: int
    end: int
    help: str = ""
