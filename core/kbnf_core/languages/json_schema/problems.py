"""Problems of a schema: errors, and losses of the conversion, by JSON Pointer."""

from typing import NamedTuple

from kbnf_core.text.errors import KbnfError
from kbnf_core.text.source import Span

UNSUPPORTED = "E801"
INVALID = "E802"
UNSATISFIABLE = "E803"
TOO_LARGE = "E804"
UNRESOLVED = "E805"
UNKNOWN_FORMAT = "W806"
WITHOUT_EFFECT = "W807"
NARROWED = "W808"
NO_VALUE = "no value is possible here"
ENDLESS_BLANKS = "W302"
ENDLESS_DIGITS = "I303"
NOT_FOR_SERVICE = "E809"
REPEATED = "I810"


class Problem(NamedTuple):
    """One finding: the catalogue's code, what, the JSON Pointer of where, and what to do.

    ``can_be_dropped`` says whether the conversion can go on without the keyword. A text that is
    not JSON has no pointers: ``span`` is where it goes wrong. ``replacement`` is the name or text
    that was meant instead of the one at the place.
    """

    code: str
    message: str
    pointer: str
    help: str = ""
    can_be_dropped: bool = False
    span: Span | None = None
    replacement: str = ""


class ProblemError(KbnfError):
    """Ends a conversion; turned into a ``GrammarError`` with a span at its top."""

    def __init__(self, problem: Problem, *more: Problem) -> None:
        self.problem = problem
        self.problems = (problem, *more)
        super().__init__(f"{problem.pointer or '(root)'}: {problem.message}")


class NarrowableError(ProblemError):
    """Not all values of a schema can be written; part of them can, where others are left out."""


def too_many_kinds(type_: str, limit: int) -> NarrowableError:
    """Return the error of more kinds of values in one place than are told apart."""
    found = too_large(f"kinds of {type_}s in one place", limit, "alternatives")
    return NarrowableError(found.problem)


def unsupported(message: str, pointer: str, help_: str = "") -> ProblemError:
    """Return the error of a keyword that no grammar, or none of bearable size, can honour."""
    return ProblemError(Problem(UNSUPPORTED, message, pointer, help_))


def dropped(problem: Problem) -> Problem:
    """Return the loss of a keyword that was left out."""
    return Problem(WITHOUT_EFFECT, f"dropped: {problem.message}", problem.pointer, problem.help)


def without_effect(message: str, pointer: str, help_: str = "") -> Problem:
    """Return the note on a keyword that restricts nothing."""
    return Problem(WITHOUT_EFFECT, message, pointer, help_)


def narrowed(message: str, pointer: str) -> Problem:
    """Return the note on values that are allowed, and left out."""
    return Problem(NARROWED, message, pointer)


def may_repeat(pointer: str) -> Problem:
    """Return the note on members of one name, each of which counts."""
    message = "a name may occur twice in a text, and both members count"
    hint = "list the names, or refuse texts that repeat one where they are read"
    return Problem(REPEATED, message, pointer, hint)


def invalid(message: str, pointer: str) -> ProblemError:
    """Return the error of a keyword with a value that it cannot have."""
    return ProblemError(Problem(INVALID, message, pointer))


def unsatisfiable(pointer: str) -> Problem:
    """Return the error of a schema without a value, of which no more is known."""
    return Problem(UNSATISFIABLE, NO_VALUE, pointer)


def refers_to_itself(pointer: str) -> ProblemError:
    """Return the error of a schema whose values would be those of itself."""
    message = "a schema refers to itself without a value in between"
    return ProblemError(Problem(UNSATISFIABLE, message, pointer))


def too_large(what: str, limit: int, name: str, pointer: str = "") -> ProblemError:
    """Return the error of a limit that was passed; ``name`` is its field of SchemaLimits."""
    message = f"more than {limit:,} {what}"
    return ProblemError(
        Problem(TOO_LARGE, message, pointer, f"simplify the schema, or raise the limit `{name}`")
    )


def too_many_states(limit: int, pointer: str = "") -> ProblemError:
    """Return the error of listed values that take more than ``SchemaLimits.states``."""
    return too_large("states for values that are listed", limit, "states", pointer)
