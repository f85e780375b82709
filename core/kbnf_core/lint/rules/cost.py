"""I702 and E703: the size of the tables, the work of the masks, and the rules that cause both.

Tests: tests/unit/lint/test_cost.py, tests/golden/lint
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from kbnf_core.lint.subject import COMPILED, Needs, Subject, describe
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import EngineError

if TYPE_CHECKING:
    from kbnf_core.lower.tables import Tables
    from kbnf_core.mask.token_automaton import TokenAutomaton
    from kbnf_core.mask.work import RuleWork

RULES = (
    Rule("I702", "cost", "The cost of a grammar; reported with `--cost`."),
    Rule("E703", "over-budget", "A grammar, or the masks of a rule, passes a budget."),
)
NEEDS = Needs.TABLES

MOST_NODES = 50_000_000
"""Trie nodes that the walks of one grammar may look at; a second or two."""

_SHOWN = 5


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the cost of the grammar if that was requested, and a finding for each budget passed."""
    from kbnf_core.mask.work import rule_works

    options = subject.options
    counts = _states_by_rule(subject.tables)
    states = subject.tables.state_count
    if options.max_states is not None and states > options.max_states:
        yield _too_many_states(subject, counts, options.max_states)
    works: list[RuleWork] = []
    if subject.masks is not None and options.counts_work:
        with subject.budget.share(MOST_NODES, COMPILED) as budget:
            works, is_whole = rule_works(subject.masks, budget)
        works.sort(key=lambda work: (-work.nodes, work.name))
        if not is_whole:
            message = f"the masks take more than {budget.limit:,} trie nodes"
            code = "I702" if options.max_mask_work is None else "E703"
            subject.stop(code, message, subject.reading.start_span)
    if options.max_mask_work is not None:
        for work in works:
            if work.nodes > options.max_mask_work:
                yield _too_much_work(subject, work, options.max_mask_work)
    if options.reports_cost:
        yield _report(subject, counts, works)


def _states_by_rule(tables: "Tables") -> Counter[str]:
    """Return the states of each rule of the text; parts that lowering split off count with it."""
    counts: Counter[str] = Counter()
    entries = sorted(zip(tables.entry.tolist(), tables.names, strict=True))
    for (first, name), (end, _) in pairwise([*entries, (tables.state_count, "")]):
        counts[name.partition("#")[0]] += end - first
    return counts


def _report(subject: Subject, counts: Counter[str], works: "list[RuleWork]") -> Diagnostic:
    tables, reading = subject.tables, subject.reading
    nodes = sum(work.nodes for work in works)
    return reading.finding(
        "I702",
        f"the grammar takes {tables.state_count:,} states over {_classes(tables)}, "
        f"and {nodes:,} trie nodes for masks over {_name(subject)}",
        reading.start_span,
        notes=(
            _largest(counts),
            *map(_describe, works[:_SHOWN]),
            _closing(tables),
            *_shortest(subject),
        ),
    )


def _closing(tables: "Tables") -> str:
    """Say whether all states fit into a table on the device."""
    from kbnf_core.recognise.closing import MOST_STATES, close_grammar, why_not_closed

    closing = close_grammar(tables, MOST_STATES)
    if closing.closed:
        return f"a device table of it is whole, with {len(closing.states):,} states at most"
    return f"a device table of it is not whole: {why_not_closed(tables, closing)}"


def _classes(tables: "Tables") -> str:
    return f"{tables.class_count} byte class{'' if tables.class_count == 1 else 'es'}"


def _shortest(subject: Subject) -> Iterable[str]:
    from kbnf_core.mask.completion import shortest_completion

    automaton = subject.automaton
    if automaton is None:
        return ()
    try:
        completion = shortest_completion(automaton, automaton.beginning)
    except EngineError as error:
        return (str(error),)
    return *describe(completion, subject.vocabulary), *_budget(automaton)


def _budget(automaton: "TokenAutomaton") -> Iterable[str]:
    """Yield a note about the least budget, which may be more than the tokens of a short text."""
    least = automaton.nearest_end.least(automaton.beginning)
    if least < inf:
        ends = automaton.rule.takes_eos(True) and automaton.masks.vocabulary.eos_token_ids
        last = ", the end of the sequence among them" if ends else ""
        yield f"`budget=` needs {count_of(int(least), 'token')}{last}"


def _too_many_states(subject: Subject, counts: Counter[str], budget: int) -> Diagnostic:
    (name, _), *_ = counts.most_common(1)
    states = subject.tables.state_count
    return subject.reading.finding(
        "E703",
        f"the grammar takes {states:,} states, more than the budget of {budget:,}",
        subject.reading.name_span(name),
        label="the largest part of them is here",
        notes=(_largest(counts),),
    )


def _too_much_work(subject: Subject, work: "RuleWork", budget: int) -> Diagnostic:
    return subject.reading.finding(
        "E703",
        f"the masks of `{work.name}` take {work.nodes:,} trie nodes, "
        f"more than the budget of {budget:,}",
        subject.reading.name_span(work.name),
        notes=(f"over {_name(subject)}: {_details(work)}",),
    )


def _name(subject: Subject) -> str:
    name = subject.vocabulary.name
    return f"`{name}`" if name else "the vocabulary"


def _largest(counts: Counter[str]) -> str:
    shown = ", ".join(f"`{name}` {count:,}" for name, count in counts.most_common(_SHOWN))
    return f"states by rule: {shown}"


def _describe(work: "RuleWork") -> str:
    return f"masks of `{work.name}`: {work.nodes:,} trie nodes, {_details(work)}"


def _details(work: "RuleWork") -> str:
    positions = "1 position" if work.positions == 1 else f"{work.positions:,} positions"
    return f"{positions}, at most {work.most:,} for one mask, {work.mask_bytes:,} bytes of masks"
