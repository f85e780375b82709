"""From the tree of a pattern to the minimal automaton of the byte strings that match as a whole.

Thompson's construction gives an automaton over the blocks of a partition of code points, whose
edges are the *leaves* of the tree: sets of characters, and assertions about the characters on both
sides of a position. All assertions here depend on the *kind* of the character before and after:
none (the edge of the text), line feed, carriage return, ASCII word character, any other. So they
are compiled away: a state is doubled for each kind of character that may occur next, and keeps only
the edges that read this kind. The automata after this contain no assertions but in their tags, the
kinds of characters before which a match ends.

Tests: tests/unit/automata/test_character_work.py, tests/unit/automata/test_operations.py
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from kbnf_core.automata.algebra import Choice, Repeat, fold
from kbnf_core.automata.codepoints import ANY, CodePoints, Partition, difference, partition, union
from kbnf_core.automata.dfa import Dfa, empty
from kbnf_core.automata.nfa import (
    Closures,
    EpsilonNfa,
    Fragment,
    Nfa,
    Thompson,
    determinise,
    minimise,
    states_within,
)
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import (
    TOO_LARGE,
    TOO_MUCH_WORK,
    Assertion,
    CharacterSet,
    Look,
    Node,
    RegexProblem,
)
from kbnf_core.automata.regex.unicode import perl_class
from kbnf_core.automata.spell import to_dfa
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError, WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.remembered import Remembering, remembered

EDGE, LINE_FEED, RETURN, WORD, OTHER = range(5)
KINDS = range(5)

_LF: CodePoints = ((0x0A, 0x0A),)
_CR: CodePoints = ((0x0D, 0x0D),)
_WORD = perl_class("w", unicode=False)

KIND_SETS: tuple[CodePoints, ...] = (
    (),
    _LF,
    _CR,
    _WORD,
    difference(ANY, union(_LF, union(_CR, _WORD))),
)
"""The code points of each kind."""


def byte_kinds() -> bytes:
    """Return the kind of each byte; bytes beyond ASCII are of the other kind."""
    kinds = bytearray([OTHER] * 256)
    for kind in (LINE_FEED, RETURN, WORD):
        for low, high in KIND_SETS[kind]:
            kinds[low : high + 1] = bytes([kind] * (high + 1 - low))
    return bytes(kinds)


def _holds(look: Look, before: int, after: int) -> bool:
    """Return whether an assertion is true between two kinds of characters."""
    match look:
        case Look.START_TEXT:
            return before == EDGE
        case Look.END_TEXT:
            return after == EDGE
        case Look.START_LINE:
            return before in {EDGE, LINE_FEED}
        case Look.END_LINE:
            return after in {EDGE, LINE_FEED}
        case Look.START_LINE_CRLF:
            return before in {EDGE, LINE_FEED} or (before == RETURN and after != LINE_FEED)
        case Look.END_LINE_CRLF:
            return after in {EDGE, RETURN} or (after == LINE_FEED and before != RETURN)
        case _:
            return _word_look_holds(look, before == WORD, after == WORD)


def _word_look_holds(look: Look, before: bool, after: bool) -> bool:
    match look:
        case Look.WORD_BOUNDARY:
            return before != after
        case Look.NOT_WORD_BOUNDARY:
            return before == after
        case Look.WORD_START:
            return not before and after
        case Look.WORD_END:
            return before and not after
        case Look.WORD_START_HALF:
            return not before
        case _:
            return not after


BEFORE_ANYTHING = sum(1 << kind for kind in KINDS)
"""The tag of a match that ends there whatever comes next."""


class SymbolNfa(NamedTuple):
    """An automaton over the blocks of ``partition``.

    Bit k of a tag says that a match ends here if a character of kind k is next. ``starts[k]``
    begins after a character of kind k; ``starts[EDGE]`` begins a text.
    """

    nfa: Nfa
    partition: Partition


def to_symbols(tree: Node, limit: int) -> SymbolNfa:
    """Return the automaton of a tree. Raises LimitError when it has more than ``limit`` states."""
    pattern = _build(tree, limit)
    if any(isinstance(leaf, Look) for leaf in pattern.leaves):
        return _with_looks(pattern, limit)
    blocks = partition(pattern.sets)
    closures = Closures(pattern.nfa.epsilon, pattern.useful, limit)
    moves: list[dict[int, tuple[int, ...]]] = [
        {block: closures.of(target) for leaf, target in edges for block in blocks.members[leaf]}
        for edges in pattern.nfa.edges
    ]
    tags = [0] * len(moves)
    tags[pattern.whole.end] = BEFORE_ANYTHING
    return SymbolNfa(Nfa(moves, tags, [closures.of(pattern.whole.start)] * len(KINDS)), blocks)


class _PatternNfa(NamedTuple):
    """An automaton whose symbols number ``leaves``: sets of characters, and assertions."""

    nfa: EpsilonNfa
    leaves: list[CodePoints | Look]
    whole: Fragment

    @property
    def sets(self) -> list[CodePoints]:
        """The sets among the leaves; an assertion reads nothing."""
        return [() if isinstance(leaf, Look) else leaf for leaf in self.leaves]

    @property
    def useful(self) -> list[bool]:
        """Whether a state reads or accepts."""
        reads = [not isinstance(leaf, Look) for leaf in self.leaves]
        useful = [any(reads[leaf] for leaf, _ in edges) for edges in self.nfa.edges]
        useful[self.whole.end] = True
        return useful


def _build(tree: Node, limit: int) -> _PatternNfa:
    thompson = Thompson(limit)
    leaves: dict[CodePoints | Look, int] = {}

    def combine(node: Node, fragments: list[Fragment]) -> Fragment:
        match node:
            case CharacterSet(leaf) | Assertion(leaf):
                return thompson.symbol(leaves.setdefault(leaf, len(leaves)))
            case Repeat(_, low, high):
                return thompson.repetition(fragments[0], low, high)
            case Choice():
                return thompson.alternation(fragments)
            case _:
                return thompson.sequence(fragments)

    whole = fold(tree, combine)
    return _PatternNfa(thompson.nfa, list(leaves), whole)


def _with_looks(pattern: _PatternNfa, limit: int) -> SymbolNfa:
    if len(pattern.nfa) * len(KINDS) > limit:
        raise LimitError("states", limit)
    blocks = partition([*KIND_SETS, *pattern.sets])
    kind_of = {block: kind for kind in KINDS for block in blocks.members[kind]}
    closures = _LookClosures(pattern, limit)
    moves: list[dict[int, tuple[int, ...]]] = []
    for edges in pattern.nfa.edges:
        by_kind: list[dict[int, tuple[int, ...]]] = [{} for _ in KINDS]
        for leaf, target in edges:
            for block in blocks.members[len(KINDS) + leaf]:
                kind = kind_of[block]
                by_kind[kind][block] = closures.after(target, kind)
        moves += by_kind
    tags = [0] * len(moves)
    for kind in KINDS:
        tags[pattern.whole.end * len(KINDS) + kind] = 1 << kind
    starts = [closures.after(pattern.whole.start, kind) for kind in KINDS]
    return SymbolNfa(Nfa(moves, tags, starts), blocks)


class _LookClosures:
    """Closures that pass assertions; state s before kind k is numbered 5 s + k."""

    def __init__(self, pattern: _PatternNfa, limit: int) -> None:
        self._pattern = pattern
        self._limit = limit
        self._useful = pattern.useful
        self._closures: dict[tuple[int, int], tuple[int, ...]] = {}
        # Few pairs of kinds differ in the assertions that are true between them.
        closures: dict[frozenset[int], Closures] = {}
        self._between: dict[tuple[int, int], Closures] = {}
        for before, after in product(KINDS, KINDS):
            passed = self._satisfied(before, after)
            if passed not in closures:
                closures[passed] = self._passing(passed)
            self._between[before, after] = closures[passed]

    def after(self, state: int, before: int) -> tuple[int, ...]:
        """Return the leaves entered at ``state`` after kind ``before``, for all next kinds."""
        key = (state, before)
        if key not in self._closures:
            self._closures[key] = tuple(
                sorted(
                    entered * len(KINDS) + after
                    for after in KINDS
                    for entered in self._between[before, after].of(state)
                )
            )
        return self._closures[key]

    def _satisfied(self, before: int, after: int) -> frozenset[int]:
        """Return the leaves that are assertions which are true between two kinds."""
        return frozenset(
            number
            for number, leaf in enumerate(self._pattern.leaves)
            if isinstance(leaf, Look) and _holds(leaf, before, after)
        )

    def _passing(self, passed: frozenset[int]) -> Closures:
        """Return closures in which some leaves are free."""
        nfa = self._pattern.nfa
        epsilon = [
            [*free, *(target for leaf, target in edges if leaf in passed)]
            for free, edges in zip(nfa.epsilon, nfa.edges, strict=True)
        ]
        return Closures(epsilon, self._useful, self._limit)


def edge_only(nfa: Nfa) -> Nfa:
    """Return the automaton of whole texts: it begins at an edge and ends at one."""
    tags = [tag >> EDGE & 1 for tag in nfa.tags]
    return Nfa(nfa.moves, tags, [nfa.starts[EDGE]])


_RAISING = "; or raise `Limits.work`"


class Compiled(NamedTuple):
    """An automaton, or the reasons against one: ``dfa`` is None exactly when there are problems.

    ``work`` is what it took, in steps (``kbnf_core.text.budget``), whatever came of it.
    """

    dfa: Dfa | None
    problems: tuple[RegexProblem, ...]
    work: int = 0


def size_of(compiled: Compiled) -> int:
    """Return the bytes that it takes, nearly."""
    return 500 + (compiled.dfa.size if compiled.dfa else 0)


REMEMBERED = 2 * 2**20
"""Bytes of automata that are remembered."""


@remembered(REMEMBERED, size_of)
def compile_regex(pattern: str, limits: Limits = DEFAULT_LIMITS, spent: int = 0) -> Compiled:
    r"""Compile a pattern, as if it were between ``\A(?:`` and ``)\z``. Never raises.

    ``spent`` steps of ``limits.work`` are used up by others of its grammar.
    """
    tree, problems = parse_regex(pattern, limits)
    if problems:
        return Compiled(None, problems)
    return within(limits, spent, pattern, lambda budget: _whole_matches(tree, limits, budget))


def within(limits: Limits, spent: int, pattern: str, build: Callable[[Budget], Dfa]) -> Compiled:
    """Return the value that ``build`` makes of a pattern, or the limit that it passed.

    The budget of ``build`` is that of the grammar, of which ``spent`` is used up, so that messages
    name its limit.
    """
    budget = Budget(limits.work)
    budget.spent = spent
    try:
        return Compiled(build(budget), (), budget.spent - spent)
    except LimitError as error:
        problem = _too_large(pattern, TOO_LARGE, _needed(error, limits))
    except WorkLimitError:
        steps = f"more than {limits.work:,} steps of work"
        problem = _too_large(pattern, TOO_MUCH_WORK, steps, _RAISING)
    return Compiled(None, (problem,), min(budget.spent, limits.work) - spent)


def compile_within(
    budget: Budget,
    pattern: str,
    limits: Limits = DEFAULT_LIMITS,
    compiler: Remembering[[str, Limits, int], Compiled] = compile_regex,
) -> Compiled:
    """Compile a pattern with the rest of the budget of a grammar, which is charged.

    A pattern that needs more is a problem, and raises WorkLimitError where it is known or where
    nothing is left. ``limits.work`` does not count beside the budget.
    """
    if budget.left <= 0:
        budget.spend()
    limits = replace(limits, work=budget.limit)
    # That of a call without limits: no pattern is compiled again beside it.
    key = (pattern,) if limits == DEFAULT_LIMITS else (pattern, limits)
    compiled = compiler.entries.find(key)
    if compiled is None:
        compiled = compiler.__wrapped__(pattern, limits, budget.spent)
        # A refusal after others have used up steps says nothing about the pattern alone.
        if compiled.dfa is not None or not budget.spent:
            compiler.entries.keep(key, compiled)
    is_refused = compiled.dfa is None
    budget.spend(min(compiled.work, budget.left) if is_refused else compiled.work)
    return compiled


def _needed(error: LimitError, limits: Limits) -> str:
    """Return the needs of a pattern whose automaton passed a limit."""
    memory = limits.regex_bytes
    by_memory = memory is not None and error.limit < limits.regex_states
    return f"more than {memory} bytes, the limit of its memory" if by_memory else str(error)


def _too_large(pattern: str, code: str, needed: str, raising: str = "") -> RegexProblem:
    return RegexProblem(
        code,
        f"this regular expression needs {needed}",
        0,
        len(pattern),
        f"use smaller counts, or move parts into rules of their own{raising}",
    )


def _whole_matches(tree: Node, limits: Limits, budget: Budget) -> Dfa:
    limit = limits.regex_states
    symbols = to_symbols(tree, limit)
    budget.spend(len(symbols.nfa.moves))
    blocks = symbols.partition
    most = states_within(limit, limits.regex_bytes, blocks.block_count)
    determinised = determinise(edge_only(symbols.nfa), blocks.block_count, most, budget=budget)
    small = minimise(determinised, budget)
    if not small.rows:
        return empty()
    dfa = to_dfa(small, blocks, limit, budget)
    # Over bytes there are other states than over characters, and rows of another width.
    most = states_within(limit, limits.regex_bytes, len(dfa.rows[0]))
    if dfa.state_count > most:
        raise LimitError("states", most)
    return dfa
