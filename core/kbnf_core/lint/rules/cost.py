"""I702 and E703: how large the tables are, how much work the masks, and which rules make it so."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import EngineError
from kbnf_core.frontend import name_span
from kbnf_core.lint.analysis.completions import describe
from kbnf_core.lint.analysis.masks_context import Generation
from kbnf_core.lint.analysis.stopped_early import stopped_early
from kbnf_core.lint.options import LintOptions
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.shortest import shortest_completion
from kbnf_core.mask.work import RuleWork, rule_works

MOST_NODES = 50_000_000
"""Trie nodes that the walks of one grammar may look at; a second or two."""

_SHOWN = 5


def check_cost(generation: Generation, options: LintOptions) -> Iterator[Diagnostic]:
    """Yield what the grammar takes if that was asked for, and a finding for each budget passed."""
    counts = _states_by_rule(generation.tables)
    states = generation.tables.state_count
    if options.max_states is not None and states > options.max_states:
        yield _too_many_states(generation, counts, options.max_states)
    works: list[RuleWork] = []
    if generation.masks is not None and options.counts_work:
        works, is_whole = rule_works(generation.masks, MOST_NODES)
        works.sort(key=lambda work: (-work.nodes, work.name))
        if not is_whole:
            start = name_span(generation.reading.document, generation.reading.start)
            what = f"the masks take more than {MOST_NODES:,} trie nodes"
            code = "I702" if options.max_mask_work is None else "E703"
            yield stopped_early(generation.reading, start, what, code)
    if options.max_mask_work is not None:
        for work in works:
            if work.nodes > options.max_mask_work:
                yield _too_much_work(generation, work, options.max_mask_work)
    if options.reports_cost:
        yield _report(generation, counts, works)


def _states_by_rule(tables: Tables) -> Counter[str]:
    """Return the states of each rule of the text; parts that lowering split off count with it."""
    counts: Counter[str] = Counter()
    entries = sorted(zip(tables.entry.tolist(), tables.names, strict=True))
    for (first, name), (end, _) in pairwise([*entries, (tables.state_count, "")]):
        counts[name.partition("#")[0]] += end - first
    return counts


def _report(generation: Generation, counts: Counter[str], works: list[RuleWork]) -> Diagnostic:
    tables, reading = generation.tables, generation.reading
    nodes = sum(work.nodes for work in works)
    return Diagnostic(
        "I702",
        f"the grammar takes {tables.state_count:,} states over {_classes(tables)}, "
        f"and {nodes:,} trie nodes for masks over {_name(generation)}",
        reading.document.source,
        name_span(reading.document, reading.start),
        notes=(_largest(counts), *map(_describe, works[:_SHOWN]), *_shortest(generation)),
    )


def _classes(tables: Tables) -> str:
    return f"{tables.class_count} byte class{'' if tables.class_count == 1 else 'es'}"


def _shortest(generation: Generation) -> Iterable[str]:
    if generation.automaton is None:
        return ()
    try:
        completion = shortest_completion(generation.automaton, generation.automaton.beginning)
    except EngineError as error:
        return (str(error),)
    return describe(completion, generation.vocabulary)


def _too_many_states(generation: Generation, counts: Counter[str], budget: int) -> Diagnostic:
    (name, _), *_ = counts.most_common(1)
    states = generation.tables.state_count
    return Diagnostic(
        "E703",
        f"the grammar takes {states:,} states, more than the budget of {budget:,}",
        generation.reading.document.source,
        name_span(generation.reading.document, name),
        label="the largest part of them is here",
        notes=(_largest(counts),),
    )


def _too_much_work(generation: Generation, work: RuleWork, budget: int) -> Diagnostic:
    return Diagnostic(
        "E703",
        f"the masks of `{work.name}` take {work.nodes:,} trie nodes, "
        f"more than the budget of {budget:,}",
        generation.reading.document.source,
        name_span(generation.reading.document, work.name),
        notes=(f"over {_name(generation)}: {_details(work)}",),
    )


def _name(generation: Generation) -> str:
    name = generation.vocabulary.name
    return f"`{name}`" if name else "the vocabulary"


def _largest(counts: Counter[str]) -> str:
    shown = ", ".join(f"`{name}` {count:,}" for name, count in counts.most_common(_SHOWN))
    return f"states by rule: {shown}"


def _describe(work: RuleWork) -> str:
    return f"masks of `{work.name}`: {work.nodes:,} trie nodes, {_details(work)}"


def _details(work: RuleWork) -> str:
    places = "1 position" if work.positions == 1 else f"{work.positions:,} positions"
    return f"{places}, at most {work.most:,} for one mask, {work.mask_bytes:,} bytes of masks"
