"""W307: texts that eager finish ends before they can become the longer ones they begin.

With ``finish=token`` such a text becomes longer only by a token that goes on past its end. Over a
vocabulary it is looked for a text for which there are no such tokens.

Most grammars are proved to have none, without automata of the whole. In a strong LL(1) grammar
(Rosenkrantz and Stearns 1970) the next byte, or the end of the text, decides every step. Then a
text can only go on after its end if somewhere both its end and a byte would do; where no step is
like that, no text is a proper prefix of another. Most formats are of this kind, and proving it here
saves building their tables.

Tests: tests/property/test_deterministic.py, tests/golden/lint
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.config import Finish
from kbnf_core.frontend import Reading
from kbnf_core.ir import (
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    children,
    postorder,
    rebuild,
)
from kbnf_core.kbnf.tree import Exception_
from kbnf_core.kernel import has_engine
from kbnf_core.lint.rules import exceptions, never_entered, never_reached
from kbnf_core.lint.rules.never_entered import ending_by_the_model, pragma_fix
from kbnf_core.lint.subject import COMPILED, Needs, Subject, show
from kbnf_core.lower.facts import (
    END,
    Analysis,
    Firsts,
    Follow,
    analyse,
    follow_sets,
    with_follow,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS

RULES = (Rule("W307", "cut-by-eager", "Generation ends texts that the grammar would continue."),)
NEEDS = Needs.GRAMMAR

MOST_WORK = min(200_000, DEFAULT_LIMITS.work)
"""Steps of the search for two such texts."""

PROVED_STATES = 5_000
"""Tables with more states are searched without a proof first that there is nothing to find."""

_SPECIAL_CASES = frozenset(("W301", "W304", "W305"))


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding where a text begins with a complete one, and no special case says so."""
    reading = subject.reading
    if reading.finish is Finish.EOS or _is_reported(subject):
        return
    vocabulary = subject.options.vocabulary if reading.finish is Finish.TOKEN else None
    rules = _up_to_delimiters(reading, subject.grammar)
    if is_plainly_prefix_free(rules, analyse(rules), subject.budget) or not has_engine():
        return
    if vocabulary is not None and _is_large(rules):
        # As the BNF of which a vocabulary says what it means.
        return
    # Imported here, because the rest needs the engine, and so NumPy.
    from kbnf_core.conversion.running import is_prefix_free
    from kbnf_core.lint.continued import find_continued, find_cut
    from kbnf_core.lower.build import build_tables
    from kbnf_core.lower.nfa import TooManyStatesError

    try:
        with subject.budget.share(DEFAULT_LIMITS.work, COMPILED) as budget:
            tables = build_tables(rules, DEFAULT_LIMITS, budget=budget)
        subject.budget.spend(tables.state_count)
        if tables.state_count <= PROVED_STATES and is_prefix_free(tables):
            return
    except TooManyStatesError:
        # Building an engine says so (E106).
        return
    search = Budget(min(MOST_WORK, subject.budget.left))
    try:
        pair = (
            find_continued(tables, search)
            if vocabulary is None
            else find_cut(tables, vocabulary.trie, search)
        )
    except WorkLimitError:
        pair = None
        if subject.options.reports_effort:
            message = f"a text that `finish={reading.finish.value}` cuts was not found soon enough"
            subject.stop("W307", message, reading.start_span)
    if pair is not None:
        yield _finding(subject, show(pair.shorter), show(pair.longer))
    subject.budget.spend(search.spent)


def _is_reported(subject: Subject) -> bool:
    special = (never_entered, never_reached, exceptions)
    return any(result.code in _SPECIAL_CASES for lint in special for result in lint.check(subject))


def _up_to_delimiters(reading: Reading, grammar: GrammarRules) -> GrammarRules:
    r"""Return the grammar in which ``except!(x)`` goes up to the first of the text after it.

    The text may contain the delimiter, or its beginning, as two line ends do in ``except!('\n\n')
    '\n\n'``: a text that continues after it is never meant, and eager finish is right there.
    """
    rules = {name: _rewritten(reading, body) for name, body in grammar.rules.items()}
    return GrammarRules(grammar.start, rules)


def _rewritten(reading: Reading, root: Node) -> Node:
    values: list[Node] = []
    for node in postorder(root):
        first = len(values) - len(children(node))
        values[first:] = [_with_operands(reading, node, tuple(values[first:]))]
    return values.pop()


def _with_operands(reading: Reading, node: Node, children: tuple[Node, ...]) -> Node:
    return rebuild(node, _joined(reading, children) if isinstance(node, Sequence) else children)


def _joined(reading: Reading, nodes: tuple[Node, ...]) -> Iterator[Node]:
    pending: Node | None = None
    for node in nodes:
        joined = pending and _up_to(reading, pending, node)
        if pending is not None and joined is None:
            yield pending
        pending = joined or node
    if pending is not None:
        yield pending


def _up_to(reading: Reading, node: Node, following: Node) -> Node | None:
    """Return an ``except!`` with the text after it, as one automaton."""
    if not isinstance(node, Regular) or not isinstance(following, Literal):
        return None
    if not any(isinstance(written, Exception_) for written in reading.written.get(node.span, ())):
        return None
    whole = operations.concatenate(node.dfa, operations.literal(following.data))
    return Regular(operations.shortest_matches(whole), following.span)


def _finding(subject: Subject, shorter: str, longer: str) -> Diagnostic:
    reading, vocabulary = subject.reading, subject.options.vocabulary
    message = f"{longer} can never be generated: {shorter} is complete before it"
    by_token = "`finish=token` ends at the first token end at which the text is complete:"
    notes: tuple[str, ...]
    if reading.finish is Finish.EAGER:
        notes = (
            f"`finish=eager`, the default, ends at the first complete text: {shorter} is the end",
            f"{by_token} {longer} is generated only if one token spans the end of {shorter}",
        )
    elif vocabulary is None:
        message = f"{longer} is generated only if one token spans the end of {shorter}"
        notes = (
            f"{by_token} {shorter} is complete",
            "--vocab shows whether a vocabulary has such tokens",
        )
    else:
        notes = (f"{by_token} all ways to cut {longer} into tokens have such an end before",)
    return reading.finding(
        "W307",
        message,
        reading.start_span,
        notes=(
            *notes,
            "`finish=eos` lets the model choose: its end-of-sequence token ends either",
        ),
        helps=(f"{ending_by_the_model(reading)}, or end with something that must follow",),
        fixes=pragma_fix(reading),
    )


MOST_NODES = 5_000
"""Parts of a grammar; larger ones are not looked at."""


def _is_large(grammar: GrammarRules) -> bool:
    nodes = (node for body in grammar.rules.values() for node in postorder(body))
    return any(True for _ in islice(nodes, MOST_NODES, None))


def is_plainly_prefix_free(grammar: GrammarRules, analysis: Analysis, budget: Budget) -> bool:
    """Return True if the grammar is such a one; False says nothing.

    States of automata are charged to ``budget``.
    """
    if _is_large(grammar):
        return False
    bodies = {name: grammar.rules[name] for name in analysis.reachable}
    nodes = [node for body in bodies.values() for node in postorder(body)]
    if any(isinstance(node, Token) for node in nodes):
        return False
    budget.spend(sum(node.dfa.state_count for node in nodes if isinstance(node, Regular)))
    firsts = Firsts(grammar, analysis)
    follow = follow_sets(grammar, analysis, firsts)
    return all(_rule_decides(body, follow[name], analysis, firsts) for name, body in bodies.items())


def _rule_decides(root: Node, behind: Follow, analysis: Analysis, firsts: Firsts) -> bool:
    first = firsts.within(root)
    nullable = {id(node) for node, facts in analysis.within(root) if facts.nullable}
    return all(
        _decides(node, after, first, nullable)
        for node, after in with_follow(root, behind, analysis, firsts)
    )


def _decides(
    node: Node, after: Follow, first: Mapping[int, Follow], nullable: Collection[int]
) -> bool:
    """Return whether the next byte decides what to do at a node, which ``after`` can follow.

    ``first`` and ``nullable`` are facts of the nodes of the rule, by their ``id``.
    """
    match node:
        case Regular(dfa):
            return all(_is_apart(ways, after) for ways in _ways_from_ends(dfa))
        case Choice(branches):
            ways = [first[id(branch)] for branch in branches]
            empty = sum(id(branch) in nullable for branch in branches)
            if empty > 1 or not _are_disjoint(ways):
                return False
            return not empty or _is_apart(frozenset[int]().union(*ways), after)
        case Repeat(body, low, high):
            if id(body) in nullable:
                return False
            return low == high or _is_apart(first[id(body)], after)
        case _:
            return True


def _is_apart(ways: Follow, after: Follow) -> bool:
    """Return whether the next byte decides between one of some bytes and the text after it."""
    return not ways or (END not in after and ways.isdisjoint(after))


def _are_disjoint(sets: Iterable[Follow]) -> bool:
    seen: set[int] = set()
    for follow in sets:
        if not seen.isdisjoint(follow):
            return False
        seen |= follow
    return True


def _ways_from_ends(dfa: Dfa) -> Iterator[Follow]:
    """Yield, for each state in which a word may end, the bytes with which it goes on."""
    for row, is_end in zip(dfa.rows, dfa.accepting, strict=True):
        if is_end:
            classes = {symbol for symbol, target in enumerate(row) if target != DEAD}
            yield frozenset(b for b, symbol in enumerate(dfa.classes) if symbol in classes)
