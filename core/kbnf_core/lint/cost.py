"""I702 and E703: how large a grammar's tables are, and which rules make them so."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading, name_span
from kbnf_core.ir import Grammar
from kbnf_core.lint.options import LintOptions
from kbnf_core.lint.shortest import shortest_lengths
from kbnf_core.lower.build import build_tables
from kbnf_core.lower.nfa import TooManyStatesError
from kbnf_core.tables import Tables

_SHOWN = 5


def check_cost(reading: Reading, options: LintOptions) -> Iterator[Diagnostic]:
    """Yield what the grammar takes if that was asked for, and a finding if it is over budget."""
    if reading.grammar is None or not (options.reports_cost or options.max_states is not None):
        return
    try:
        tables = build_tables(reading.grammar)
    except TooManyStatesError:
        return
    counts = _states_by_rule(tables)
    if options.reports_cost:
        yield _report(reading, reading.grammar, tables, counts)
    if options.max_states is not None and tables.state_count > options.max_states:
        yield _over_budget(reading, tables, counts, options.max_states)


def _states_by_rule(tables: Tables) -> Counter[str]:
    """Return the states of each rule of the text; parts that lowering split off count with it."""
    counts: Counter[str] = Counter()
    entries = sorted(zip(tables.entry.tolist(), tables.names, strict=True))
    for (first, name), (end, _) in pairwise([*entries, (tables.state_count, "")]):
        counts[name.partition("#")[0]] += end - first
    return counts


def _report(reading: Reading, grammar: Grammar, tables: Tables, counts: Counter[str]) -> Diagnostic:
    length = shortest_lengths(grammar)[grammar.start]
    return Diagnostic(
        "I702",
        f"the grammar takes {tables.state_count:,} states over {tables.class_count} byte classes",
        reading.document.source,
        name_span(reading.document, reading.start),
        notes=(_largest(counts), f"the shortest text has {length:.0f} bytes"),
    )


def _over_budget(reading: Reading, tables: Tables, counts: Counter[str], budget: int) -> Diagnostic:
    (name, _), *_ = counts.most_common(1)
    return Diagnostic(
        "E703",
        f"the grammar takes {tables.state_count:,} states, more than the budget of {budget:,}",
        reading.document.source,
        name_span(reading.document, name),
        label="the largest part of them is here",
        notes=(_largest(counts),),
    )


def _largest(counts: Counter[str]) -> str:
    shown = ", ".join(f"`{name}` {count:,}" for name, count in counts.most_common(_SHOWN))
    return f"states by rule: {shown}"
