"""All lints, in the order in which they run."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Protocol

from kbnf_core.diagnostics import Diagnostic, Rule
from kbnf_core.frontend import Reading
from kbnf_core.lint.options import LintOptions
from kbnf_core.lint.rules import (
    ambiguity,
    beyond_ascii,
    cost,
    cut_by_eager,
    default_finish,
    duplicates,
    empty_loops,
    escapes,
    exceptions,
    large_terminal,
    lost_backslash,
    names,
    never_entered,
    never_reached,
    nullable_start,
    overlaps,
    recursive_lists,
    spelling,
    targets,
    unbounded_loops,
    unproductive,
    unreachable_end,
)
from kbnf_core.lint.subject import Needs, Subject


class Lint(Protocol):
    """What a module of `rules/` holds."""

    @property
    def RULES(self) -> tuple[Rule, ...]:  # noqa: N802 - a constant of a module
        """The codes that it reports; each has a page beside the module, `NAME.CODE.md`."""
        ...

    @property
    def NEEDS(self) -> Needs:  # noqa: N802 - a constant of a module
        """What must be there for it to run."""
        ...

    def check(self, subject: Subject, /) -> Iterator[Diagnostic]:
        """Yield the findings."""
        ...


LINTS: tuple[Lint, ...] = (
    ambiguity,
    beyond_ascii,
    cut_by_eager,
    default_finish,
    duplicates,
    empty_loops,
    escapes,
    exceptions,
    large_terminal,
    lost_backslash,
    names,
    never_entered,
    never_reached,
    nullable_start,
    overlaps,
    recursive_lists,
    unbounded_loops,
    unproductive,
    targets,
    spelling,
    unreachable_end,
    cost,
)


def run_lints(
    reading: Reading, options: LintOptions, needs: Collection[Needs] = tuple(Needs)
) -> Iterator[Diagnostic]:
    """Yield the findings of the lints with such ``needs``, and that ``options`` ask for.

    For converted languages fixes are dropped, and each (code, span) is reported once, because
    conversion clones rules.
    """
    found = _run(Subject(reading, options), needs)
    if not reading.language.takes_fixes:
        found = (replace(each, fixes=()) for each in found)
    if reading.language.is_converted:
        first = {(each.code, each.span): each for each in reversed(list(found))}
        return reversed(first.values())
    return found


def _run(subject: Subject, needs: Collection[Needs]) -> Iterator[Diagnostic]:
    for lint in LINTS:
        if lint.NEEDS in needs and subject.has(lint.NEEDS):
            yield from lint.check(subject)
    if subject.obstacle is not None:
        yield subject.obstacle
