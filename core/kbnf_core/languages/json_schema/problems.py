"""Problems of a schema: errors, and losses of the conversion, by JSON Pointer.

``locate`` gives the span of a pointer in the text of the schema.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kbnf_core.errors import KbnfError
from kbnf_core.source import Span

UNSUPPORTED = "E801"
INVALID = "E802"
UNSATISFIABLE = "E803"
TOO_LARGE = "E804"
UNRESOLVED = "E805"
UNKNOWN_FORMAT = "W806"
WITHOUT_EFFECT = "W807"
NARROWED = "W808"
NOT_FOR_SERVICE = "E809"
REPEATED = "I810"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: the catalogue's code, what, the JSON Pointer of where, and what to do.

    ``can_be_dropped`` tells whether the conversion can go on without the keyword. A text that is
    not JSON has no pointers: ``span`` is where it goes wrong.
    """

    code: str
    message: str
    pointer: str
    help: str = ""
    can_be_dropped: bool = False
    span: Span | None = None


class ProblemError(KbnfError):
    """Ends a conversion; turned into a ``GrammarError`` with a span at its top."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(f"{problem.pointer or '(root)'}: {problem.message}")


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


def repeated(pointer: str) -> Problem:
    """Return the note on members of one name, each of which counts."""
    message = "a name may come twice in a text, and both members count"
    hint = "list the names, or refuse texts that repeat one where they are read"
    return Problem(REPEATED, message, pointer, hint)


def invalid(message: str, pointer: str) -> ProblemError:
    """Return the error of a keyword with a value that it cannot have."""
    return ProblemError(Problem(INVALID, message, pointer))


def too_large(what: str, limit: int, name: str, pointer: str = "") -> ProblemError:
    """Return the error of a limit that was passed; ``name`` is its field of SchemaLimits."""
    message = f"more than {limit:,} {what}"
    return ProblemError(
        Problem(TOO_LARGE, message, pointer, f"simplify the schema, or raise the limit `{name}`")
    )


def too_many_states(limit: int, pointer: str = "") -> ProblemError:
    """Return the error of listed values that take more than ``SchemaLimits.states``."""
    return too_large("states for values that are listed", limit, "states", pointer)


_TOKEN = re.compile(r'\s*(?P<token>"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)


def locate(text: str, pointer: str) -> Span:
    """Return the span of a member's name, or of an item's first token.

    Where the pointer leads nowhere, or into another document, it is the text's first token.
    """
    first = None
    for found, span in pointers(text):
        first = first or span
        if found == pointer:
            return span
    return first or Span(0, 0)


def pointers(text: str) -> Iterator[tuple[str, Span]]:
    """Yield every pointer of a text and the span that stands for it, without recursion."""
    path: list[str | int] = []
    opened: list[str] = []
    named = False
    for match in _TOKEN.finditer(text):
        token = match["token"]
        span = Span(*match.span("token"))
        if token in "}]":
            _close(path, opened)
            named = False
        elif token == ",":
            if opened and opened[-1] == "[" and isinstance(path[-1], int):
                path[-1] += 1
            named = False
        elif token == ":":
            named = True
        elif opened and opened[-1] == "{" and not named:
            path[-1] = _name(token)
            yield _pointer(path), span
        else:
            if not named:
                yield _pointer(path), span
            if token in "{[":
                opened.append(token)
                path.append(0 if token == "[" else "")
                named = False


def _close(path: list[str | int], opened: list[str]) -> None:
    if opened:
        opened.pop()
        path.pop()


def _name(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


def _pointer(path: list[str | int]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)
