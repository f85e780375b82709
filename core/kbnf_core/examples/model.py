"""Examples as values, and their results."""

import enum
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_core.errors import KbnfError

What: TypeAlias = int | bytes
"""A token, by its id or by its bytes."""


class ExampleError(KbnfError, ValueError):
    """An example, or a file of them, that is malformed; ``name`` says where it stands."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{name}: {reason}")


@dataclass(frozen=True, slots=True)
class Example:
    """A text that is in the language (``accepted``) or is not, and why.

    ``name`` says where it stands: ``accept[0]`` in a file, ``line 3`` in a grammar.
    """

    name: str
    data: bytes
    accepted: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Expectation:
    """After ``after``, the token ``what`` is allowed, or it is not."""

    name: str
    after: bytes
    what: What
    allowed: bool


class Status(enum.Enum):
    """What became of an example."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """An example and what became of it; ``message`` says what is wrong, if anything.

    ``offset``: how many bytes of a text that should be accepted were right; None otherwise.
    """

    example: Example | Expectation
    status: Status
    message: str = ""
    offset: int | None = None
