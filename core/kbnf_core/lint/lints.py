"""All lints, in the order in which they run."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import WorkLimitError
from kbnf_core.frontend import Reading, too_large, too_much_work
from kbnf_core.ir import Grammar
from kbnf_core.limits import DEFAULT_LIMITS
from kbnf_core.lint.options import LintOptions
from kbnf_core.lint.rules.ambiguity import check_ambiguity
from kbnf_core.lint.rules.beyond_ascii import check_beyond_ascii
from kbnf_core.lint.rules.cut_by_eager import check_cut_by_eager
from kbnf_core.lint.rules.default_finish import check_default_finish
from kbnf_core.lint.rules.duplicates import check_duplicates
from kbnf_core.lint.rules.empty_loops import check_empty_loops
from kbnf_core.lint.rules.escapes import check_escapes
from kbnf_core.lint.rules.exceptions import check_exceptions
from kbnf_core.lint.rules.large_terminal import check_blow_ups
from kbnf_core.lint.rules.lost_backslash import check_lost_backslash
from kbnf_core.lint.rules.names import check_names
from kbnf_core.lint.rules.never_entered import check_never_entered
from kbnf_core.lint.rules.never_reached import check_never_reached
from kbnf_core.lint.rules.nullable_start import check_nullable_start
from kbnf_core.lint.rules.overlaps import check_overlaps
from kbnf_core.lint.rules.recursive_lists import check_recursive_lists
from kbnf_core.lint.rules.unbounded_loops import check_endless
from kbnf_core.lint.rules.unproductive import check_unproductive

Lint = Callable[[Reading], Iterator[Diagnostic]]

LINTS: tuple[Lint, ...] = (
    check_ambiguity,
    check_beyond_ascii,
    check_blow_ups,
    check_cut_by_eager,
    check_default_finish,
    check_duplicates,
    check_empty_loops,
    check_endless,
    check_escapes,
    check_exceptions,
    check_lost_backslash,
    check_names,
    check_never_entered,
    check_never_reached,
    check_nullable_start,
    check_overlaps,
    check_recursive_lists,
    check_unproductive,
)
"""Those that need nothing but the grammar."""


def run_lints(reading: Reading, options: LintOptions) -> Iterator[Diagnostic]:
    """Yield the findings of all lints, and of those that ``options`` ask for.

    Where the tree is not as the text was written, none has a fix, and what is found at one place
    again and again, in variants that the conversion made of it, is said once.
    """
    found = _run_lints(reading, options)
    if reading.language.is_converted:
        first = {(each.code, each.span): each for each in reversed(list(found))}
        return (replace(each, fixes=()) for each in reversed(first.values()))
    return found


def _run_lints(reading: Reading, options: LintOptions) -> Iterator[Diagnostic]:
    # The rules of an endless grammar are not as they were written.
    as_written = replace(reading, grammar=None, analysis=None) if reading.is_endless else reading
    for lint in LINTS:
        yield from lint(as_written)
    if options.targets:
        from kbnf_core.lint.rules.targets import check_targets

        yield from check_targets(reading, options.targets)
    if options.vocabulary is not None:
        from kbnf_core.lint.rules.spelling import check_spelling

        yield from check_spelling(reading, options.vocabulary)
    if reading.grammar is not None and options.needs_tables:
        yield from _in_use(reading, reading.grammar, options)


def _in_use(reading: Reading, grammar: Grammar, options: LintOptions) -> Iterator[Diagnostic]:
    """Yield the findings that take the tables, or masks."""
    from kbnf_core.lint.analysis.masks_context import Generation
    from kbnf_core.lint.rules.cost import check_cost
    from kbnf_core.lint.rules.unreachable_end import check_unreachable_end
    from kbnf_core.lower.build import build_tables
    from kbnf_core.lower.nfa import TooManyStatesError
    from kbnf_core.vocab.vocabulary import Vocabulary

    try:
        tables = build_tables(grammar, DEFAULT_LIMITS, reading.analysis)
    except TooManyStatesError as error:
        yield too_large(reading, str(error), DEFAULT_LIMITS)
        return
    except WorkLimitError as error:
        yield too_much_work(reading.document, error)
        return
    generation = Generation(reading, tables, options.vocabulary or Vocabulary.bytes())
    if options.vocabulary is not None:
        yield from check_unreachable_end(generation)
    yield from check_cost(generation, options)
