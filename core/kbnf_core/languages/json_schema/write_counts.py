"""Values that are counted: as repetitions, as right-linear rules, or as states of an automaton.

*Repetitions.* Where at most one thing repeats in an expression, its words of some lengths are a
count of it. Where something with many states repeats within bounds, as words with blanks between
do, these stay bounds.

*Rules.* An automaton over expressions (``write_linear``) is right-linear rules, one for each state
that is reached twice.

*States.* In the automaton of the JSON strings of some lengths (``counted``) a count is a state.
After the states that count (``Lengths.counted``) come those that need not. Few sets of characters
label all of their edges, so these sets and the quotes are the symbols of one automaton, which is
minimised before its symbols are spelled in bytes: then it is small.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from itertools import groupby
from math import prod
from typing import Generic, NamedTuple, TypeVar

from kbnf_core.automata import traversal
from kbnf_core.automata.algebra import Choice, Repeat, children, fold
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.codepoints import CodePoints, from_ranges, partition
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa
from kbnf_core.automata.expression import Expression, Spell, print_expression
from kbnf_core.automata.nfa import minimise
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.automata.spell import letters_of, spell
from kbnf_core.ir import Node
from kbnf_core.ir.build import EMPTY, alternation, call, distinct, repeated, sequence
from kbnf_core.languages.json_schema.keywords import too_large
from kbnf_core.languages.json_schema.rules import Rules, Spelling
from kbnf_core.languages.json_schema.value_sets import Length, Lengths, compiled_pattern
from kbnf_core.text.budget import Budget

S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """What a state can do: end here, or read an expression and be in the next state."""

    accepting: bool
    edges: Sequence[tuple[Node, S]]


EDGE = 50
"""What an edge is counted as: it is followed, and its expression is made, twice."""


def write_linear(
    start: S, step: Callable[[S], Step[S]], rules: Rules, hint: str, most: int
) -> Node | None:
    """Return what an automaton accepts, its other states being rules; None for nothing.

    Raises ProblemError where it has more than ``most`` states.
    """
    steps = {start: step(start)}
    order = [start]
    for state in order:
        rules.budget.spend(EDGE * (1 + len(steps[state].edges)))
        for _, after in steps[state].edges:
            if after not in steps:
                steps[after] = step(after)
                order.append(after)
        if len(order) > most:
            raise too_large("states of a counted value", most, "steps")
    live = _live(steps)
    if start not in live:
        return None
    again = any(after == start for state in live for _, after in steps[state].edges)
    names: dict[S, str] = {}
    for state in order:
        ends = not any(after in live for _, after in steps[state].edges)
        if state in live and not ends and (state != start or again):
            names[state] = rules.fresh(hint)
    forms = {state: call(names[state]) if state in names else EMPTY for state in live}
    for state, name in names.items():
        rules.add(name, _body(steps[state], forms, live))
    return forms[start] if again else _body(steps[start], forms, live)


def _body(step: Step[S], forms: dict[S, Node], live: set[S]) -> Node:
    """Return the edges of a state; those to one target are together."""
    by_target: dict[S, list[Node]] = {}
    for form, after in step.edges:
        if after in live:
            by_target.setdefault(after, []).append(form)
    branches = [
        sequence(alternation(distinct(read)), forms[after]) for after, read in by_target.items()
    ]
    return alternation([*branches, EMPTY] if step.accepting else branches)


def _live(steps: dict[S, Step[S]]) -> set[S]:
    """Return the states from which an accepting one is reached."""
    sources: dict[S, list[S]] = {}
    for state, step in steps.items():
        for _, after in step.edges:
            sources.setdefault(after, []).append(state)
    live = {state for state, step in steps.items() if step.accepting}
    queue = list(live)
    for state in queue:
        for source in sources.get(state, ()):
            if source not in live:
                live.add(source)
                queue.append(source)
    return live


Write = Callable[[Sequence[Expression]], Node]
"""Writes items one after the other, as one regular expression."""

MOST_BRANCHES = 12
"""Ways through an expression that are counted one by one."""

LONG, MANY = 64, 256
"""Characters of what is repeated, and of all its copies, from which on it is written once."""

_BOUNDS = re.compile(r"\{0*+(\d*)(?:,0*+(\d*))?\}")
_ONE = re.compile(r"\\u\{\w+\}|\\.|\[(?:\\.|[^\]\\])*\]")
"""An escape, or a set."""


def may_repeat_much(pattern: str) -> bool:
    """Return quickly whether a pattern may have something for ``write_large_counts``."""
    items = _ONE.sub("x", pattern)
    bounds = [int(high or low or 0) for low, high in _BOUNDS.findall(items)]
    return len(bounds) > 1 and len(items) * prod(max(bound, 1) for bound in bounds) >= MANY


def write_large_counts(whole: Expression, length: Length, write: Write) -> Node | None:
    """Return what an expression matches, where it has no shorter words and repeats much.

    None where nothing is repeated so often that its copies have many states, or where more than
    the expression says how long words are.
    """
    if length.high is not None or length.low > fold(whole, _shortest):
        return None

    def opened(item: Expression) -> tuple[Expression, ...]:
        return children(item) if isinstance(item, Items | Choice) else ()

    def one(item: Expression, forms: list[Node | None]) -> Node | None:
        if isinstance(item, Repeat) and _repeats_much(item):
            return repeated(write((item.body,)), item.low, item.high)
        if not any(forms):
            return None
        pairs = zip(forms, children(item), strict=True)
        if isinstance(item, Choice):
            return alternation(form or write((part,)) for form, part in pairs)
        parts: list[Node] = []
        for is_form, run in groupby(pairs, lambda pair: pair[0] is not None):
            some = list(run)
            parts += [form for form, _ in some if form is not None]
            if not is_form:
                parts.append(write([part for _, part in some]))
        return sequence(*parts)

    return traversal.fold(whole, opened, one)


def _repeats_much(item: Repeat[Expression]) -> bool:
    """Tell whether a repetition within bounds has copies of many states."""
    if item.high is None or item.high < 2:
        return False
    long = fold(item.body, _size)
    return long >= LONG and long * item.high >= MANY and fold(item.body, _shortest) > 0


def _size(item: Expression, parts: list[int]) -> int:
    """Return how many characters are written where each repetition is as many copies."""
    if isinstance(item, Repeat):
        return parts[0] * max(item.low, item.high or 1)
    return 1 if isinstance(item, Characters) else sum(parts)


def _shortest(item: Expression, parts: list[int]) -> int:
    """Return the characters of the shortest word."""
    match item:
        case Characters():
            return 1
        case Repeat(_, low, _):
            return low * parts[0]
        case Choice():
            return min(parts, default=0)
        case _:
            return sum(parts)


def is_implied(length: Length, whole: Expression) -> bool:
    """Return whether no word of an expression is too short or too long."""
    most = fold(whole, _longest)
    is_short = length.high is None or (most is not None and most <= length.high)
    return is_short and length.low <= fold(whole, _shortest)


def _longest(item: Expression, parts: list[int | None]) -> int | None:
    """Return the characters of the longest word, None where there is none."""
    if isinstance(item, Characters):
        return 1
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    match item:
        case Repeat(_, _, high):
            return 0 if not known[0] else None if high is None else high * known[0]
        case Choice():
            return max(known, default=0)
        case _:
            return sum(known)


def is_looped(whole: Expression) -> bool:
    """Return whether an expression has few ways, each of which repeats at most one thing."""
    return _branches([whole]) is not None


def write_one_loop(whole: Expression, length: Length, write: Write) -> Node | None:
    """Return what an expression that ``is_looped`` matches of some lengths; None for nothing."""
    forms = [_one_loop(items, length, write) for items in _branches([whole]) or ()]
    found = [form for form in forms if form is not None]
    return alternation(found) if found else None


def _branches(items: Sequence[Expression]) -> list[tuple[Expression, ...]] | None:
    """Return the ways through a sequence, each of parts with one length and at most one loop."""
    found: list[tuple[Expression, ...]] = [()]
    for item in items:
        ways = _ways(item)
        if ways is None:
            return None
        found = [(*before, *way) for before in found for way in ways]
        if len(found) > MOST_BRANCHES:
            return None
    return found if all(sum(map(_is_loop, way)) < 2 for way in found) else None


def _ways(item: Expression) -> list[tuple[Expression, ...]] | None:
    if _fixed(item) is not None or _is_loop(item):
        return [(item,)]
    match item:
        case Items(items):
            return _branches(items)
        case Choice(items):
            parts = [_ways(each) for each in items]
            return None if None in parts else [way for part in parts for way in part or ()]
        case Repeat(inner, 0, 1):
            ways = _ways(inner)
            return None if ways is None else [(), *ways]
        case _:
            return None


def _one_loop(items: Sequence[Expression], length: Length, write: Write) -> Node | None:
    """Return the strings of one way; None where none of them has a length that is allowed."""
    place = next((i for i, item in enumerate(items) if _is_loop(item)), len(items))
    around = sum(_fixed(item) or 0 for i, item in enumerate(items) if i != place)
    low = max(length.low - around, 0)
    high = None if length.high is None else length.high - around
    before, after = map(write, (items[:place], items[place + 1 :]))
    if high is not None and high < 0:
        return None
    if place == len(items):
        return before if not low else None
    loop = items[place]
    assert isinstance(loop, Repeat)  # noqa: S101 - for the types
    size = _fixed(loop.body) or 1
    counts = Length(max(loop.low, -(-low // size)), None if high is None else high // size)
    if counts.high is not None and counts.high < counts.low:
        return None
    unit = write((loop.body,))
    return sequence(before, repeated(unit, counts.low, counts.high), after)


def print_items(items: Sequence[Expression], spell: Spell) -> str:
    """Return the regular expression of items one after the other."""
    return "".join(_in_group(item, spell) for item in items)


def _in_group(item: Expression, spell: Spell) -> str:
    written = print_expression(item, spell)
    return f"(?:{written})" if isinstance(item, Choice) else written


def _is_loop(item: Expression) -> bool:
    return isinstance(item, Repeat) and item.high is None and (_fixed(item.body) or 0) > 0


def _fixed(item: Expression) -> int | None:
    """Return the one length that an expression's words have; None where they have several."""
    match item:
        case Characters():
            return 1
        case Items(items):
            parts = [_fixed(each) for each in items]
            return None if None in parts else sum(each or 0 for each in parts)
        case Choice(items) if items:
            lengths = {_fixed(each) for each in items}
            return lengths.pop() if len(lengths) == 1 else None
        case Repeat(inner, low, high):
            one = _fixed(inner)
            return one * low if one is not None and low == high else None
        case _:
            return None


MOST_STATES = 200_000
"""States over bytes."""


def counted(lengths: Lengths, length: Length, most: int, spelling: Spelling, budget: Budget) -> Dfa:
    """Return the JSON texts of the words, of which there are some, that have some length.

    Raises LimitError beyond ``most`` states that count, or ``MOST_STATES``.
    """
    sets = dict.fromkeys(points for row in lengths.words.edges for points, _ in row)
    blocks = partition(list(sets))
    members = dict(zip(sets, blocks.members, strict=True))
    dfa = _over_blocks(lengths, length, most, members, blocks.block_count, budget)
    texts = [_automaton(spelling.spell(from_ranges(points))) for points in blocks.ranges()]
    return spell(minimise(dfa, budget), letters_of([*texts, _automaton('"')]), MOST_STATES, budget)


def _over_blocks(
    lengths: Lengths,
    length: Length,
    most: int,
    members: dict[CodePoints, tuple[int, ...]],
    quote: int,
    budget: Budget,
) -> SymbolDfa:
    """Return the words in quotes; ``quote`` is the symbol after those of the blocks."""
    words = lengths.words
    counting, leaving = lengths.counted(length, most, budget, ends=())
    free = len(counting)
    edges = [[(points, to if to >= 0 else free - 1 - to) for points, to in row] for row in leaving]
    edges += [[(points, free + to) for points, to in row] for row in words.edges]
    accepting = [words.accepting[here] and count >= length.low for here, count in counting]
    accepting += words.accepting
    start, end = len(edges), len(edges) + 1
    rows = [[DEAD] * (quote + 1) for _ in range(end + 1)]
    for state, may_end in enumerate(accepting):
        row = rows[state]
        for points, target in edges[state]:
            for block in members[points]:
                row[block] = target
        if may_end:
            row[quote] = end
    rows[start][quote] = 0
    return SymbolDfa(rows, [*([0] * end), ACCEPT], [start])


def _automaton(regex: str) -> Dfa:
    compiled = compiled_pattern(regex)
    assert compiled.dfa is not None  # noqa: S101 - the expression is ours
    return compiled.dfa
