"""Counted work: bounds a build or a call by its steps, which are the same on every machine.

A step is one round of an innermost loop: an automaton state made, an edge followed, a trie node
visited, a rule looked at. Clocks differ between machines and runs; steps do not, so a grammar
that fits on one machine fits on all (RE2 bounds memory, SQLite bounds virtual-machine steps, for
the same reason).

Tests: tests/unit/automata/test_spell.py, tests/unit/kernel/test_lowering.py
"""

from collections.abc import Iterator
from contextlib import contextmanager

from kbnf_core.text.errors import WorkLimitError


class Budget:
    """A meter that raises ``WorkLimitError`` once more than ``limit`` steps are spent.

    ``subject`` names a rule, a terminal or a call that is worked on; passes set it on their way, so
    that the error names the guilty one.
    """

    __slots__ = ("limit", "spent", "subject")

    def __init__(self, limit: int, subject: str = "") -> None:
        self.limit = limit
        self.subject = subject
        self.spent = 0

    @property
    def left(self) -> int:
        """Steps that may still be spent."""
        return self.limit - self.spent

    def spend(self, steps: int = 1) -> None:
        """Count ``steps``; raise where that is more than is left."""
        self.spent += steps
        if self.spent > self.limit:
            raise WorkLimitError(self.limit, self.subject)

    @contextmanager
    def share(self, most: int, finer: int = 1) -> Iterator["Budget"]:
        """Give a meter of ``most`` steps, or of the rest if that is less.

        ``finer`` of its steps are one of this budget, which they are charged to.
        """
        meter = Budget(min(most, finer * max(self.left, 0)))
        try:
            yield meter
        finally:
            self.spent += min(meter.spent, meter.limit) // finer
