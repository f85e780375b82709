"""Comparing the languages of two grammars: a proof, a shortest witness, or how far was searched.

Inclusion of context-free languages is undecidable, but grammars for generation are rarely that
wild. Regular languages, and those that nest visibly (``nesting``), are decided; in all others texts
are searched in the order of their lengths. One budget counts all of this: the search for short
differences (``short``), machines while they are made, and the search over them. Where it is used
up, the answer is the witnesses so far, and the length up to which texts were searched.

Most of two versions of a grammar is the same. So the search reads components that both have
(``machine.merge``) as single symbols at first, without walking them. That is safe: what differs in
bytes differs in symbols, so that nothing found means that there is nothing, and a witness over
symbols is never longer than one over bytes. It may be no witness, though, when its bytes can be
read in another way. Then the components in question are walked at the places that it passed, and
the search begins again (abstraction refinement, Clarke et al. 2000).

Two JSON Schemas, or a schema and a grammar, may also differ in the options alone with which they
are read; ``compare_schemas`` and ``compare_with_schema`` find this.

Tests: tests/unit/diff/test_comparison.py, tests/unit/diff/test_short.py
"""

import enum
import json
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Any

from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.config import Finish
from kbnf_core.diff.machine import EDGES, Machine, absorb, merge, side_by_side, write_tables
from kbnf_core.diff.nesting import VIEWS, NestingView, cut
from kbnf_core.diff.search import LEFT, RIGHT, ComponentTexts, Search, SearchOutcome, Text, Witness
from kbnf_core.diff.short import short_witnesses
from kbnf_core.grammar import Grammar
from kbnf_core.ir import TokenTerminal
from kbnf_core.kbnf.printer import quote
from kbnf_core.lower.endless import viable_prefixes
from kbnf_core.lower.inline import Inlined
from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import GrammarError, WorkLimitError


class Verdict(enum.Enum):
    """The result for the texts that one grammar has and the other lacks."""

    EMPTY = "none"
    """Proved: there is no such text."""
    SOME = "some"
    """There is a witness."""
    UNKNOWN = "unknown"
    """None was found, and the search was given up."""


class Relation(enum.Enum):
    """The relation of the language of OLD to that of NEW."""

    EQUAL = "equal"
    SUBSET = "subset"
    SUPERSET = "superset"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """The texts that one grammar has and the other lacks.

    ``witness`` is a shortest one where there are ``SOME``; tokens that grammars name by id have no
    bytes and are in it as themselves. Where it is ``UNKNOWN``, no text of ``searched`` bytes or
    fewer is one.
    """

    verdict: Verdict
    witness: tuple[bytes | TokenTerminal, ...] = ()
    searched: int = 0

    @property
    def data(self) -> bytes | None:
        """The bytes of the witness, if it has no tokens without bytes."""
        if self.verdict is not Verdict.SOME:
            return None
        chunks = [symbol for symbol in self.witness if isinstance(symbol, bytes)]
        return b"".join(chunks) if len(chunks) == len(self.witness) else None

    @property
    def shown(self) -> str:
        """The witness as a grammar would write it."""
        return " ".join(map(_shown, self.witness)) or '""'


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two languages compared: the texts of ``old_only``, and of ``new_only``.

    ``steps`` counts the work; ``notes`` say what the difference is about where that is known.
    ``of_prefixes`` says that no text of either ever ends: the languages are those of their viable
    prefixes.
    """

    old_only: Answer
    new_only: Answer
    steps: int
    notes: tuple[str, ...] = ()
    of_prefixes: bool = False

    @property
    def relation(self) -> Relation:
        """The relation of OLD to NEW."""
        return _RELATIONS.get((self.old_only.verdict, self.new_only.verdict), Relation.UNKNOWN)


_RELATIONS = {
    (Verdict.EMPTY, Verdict.EMPTY): Relation.EQUAL,
    (Verdict.EMPTY, Verdict.SOME): Relation.SUBSET,
    (Verdict.SOME, Verdict.EMPTY): Relation.SUPERSET,
    (Verdict.SOME, Verdict.SOME): Relation.DIFFERENT,
}


def _shown(symbol: bytes | TokenTerminal) -> str:
    if isinstance(symbol, bytes):
        try:
            return quote(symbol.decode())
        except UnicodeDecodeError:
            return '#b"' + "".join(f"\\x{byte:02x}" for byte in symbol) + '"'
    if symbol.name is not None:
        return f"#token{quote(symbol.name)}"
    ranges = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in symbol.ranges)
    return f"#token[{'^' if symbol.negated else ''}{ranges}]"


WORK = 500_000
"""Steps that a comparison takes before it gives up: a few seconds."""

_TO_CUT = 0.75
"""The part of the steps that may be spent on nesting; the rest is for a search without it."""

_ROUNDS = 12
"""Refinements before all components are walked; and rounds of writing out unbalanced ones."""

_ROUNDS_BY_POSITION = 3
"""Refinements that walk a component only where a doubtful witness passed it."""


def compare(old: Grammar, new: Grammar, work: int = WORK) -> Comparison:
    """Return how the texts of two grammars differ, each with its own way to finish.

    Where no text of either ever ends, their viable prefixes are compared. ``work`` bounds the steps
    of all that is made and searched. Raises ``GrammarError`` where a grammar cannot be built.
    """
    endless = old.is_endless, new.is_endless
    if all(endless):
        old, new = _of_prefixes(old), _of_prefixes(new)
    result = _GrammarComparison(old, new, Budget(work)).run()
    notes = (*result.notes, *_NOTES.get(endless, ()))
    return replace(result, of_prefixes=all(endless), notes=notes)


_NOTES = {
    (True, True): ("no text of either ever ends, so their viable prefixes are compared",),
    (True, False): ("no text of the first ever ends",),
    (False, True): ("no text of the second ever ends",),
}


def _of_prefixes(grammar: Grammar) -> Grammar:
    """Return a grammar whose texts are the viable prefixes of an endless one."""
    rules = viable_prefixes(grammar.rules)
    reading = grammar.reading
    return Grammar.of(
        replace(
            reading,
            grammar=rules,
            analysis=None,
            start=rules.start,
            finish=Finish.EOS,
        ),
        grammar.limits,
    )


@dataclass(frozen=True, slots=True)
class _Subject:
    """The data shared by all searches of a comparison."""

    machine: Machine
    states: StateTable
    texts: ComponentTexts
    eager: tuple[bool, bool]

    def takes(self, text: Text) -> tuple[bool, bool]:
        """Return for each side whether a text that is not empty is one of its texts."""
        states, starts = self.states, self.machine.starts
        state = states.enter(sorted(set(starts)))
        over = [False, False]
        takes = [False, False]
        for symbol in self._symbols(text):
            if isinstance(symbol, int):
                state = states.step(state, symbol)
            else:
                state = states.step_token(state, symbol)
            # An eager side ends with the first text that is complete; nothing longer is one of its
            # texts.
            over = [o or (t and e) for o, t, e in zip(over, takes, self.eager, strict=True)]
            ends = () if state == DEAD else states.completions(state)
            takes = [start in ends and not o for start, o in zip(starts, over, strict=True)]
        return takes[LEFT], takes[RIGHT]

    def _symbols(self, text: Text) -> Iterator[int | frozenset[int]]:
        for chunk in text:
            if isinstance(chunk, bytes):
                yield from chunk.translate(self.machine.classes)
            else:
                yield frozenset((self.machine.terminals.index(chunk),))


class _GrammarComparison:
    def __init__(self, old: Grammar, new: Grammar, budget: Budget) -> None:
        self._grammars = (old, new)
        self._budget = budget
        left, right = (grammar.finish is Finish.EAGER for grammar in self._grammars)
        self._eager = (left, right)
        self._witnesses: list[Witness | None] = [None, None]
        self._terminals: tuple[TokenTerminal, ...] = ()

    def run(self) -> Comparison:
        left, right = (grammar.tables for grammar in self._grammars)
        self._terminals = tuple(dict.fromkeys((*left.token_terminals, *right.token_terminals)))
        short = short_witnesses((left, right), self._eager, self._budget)
        for side, text in enumerate(short.witnesses):
            if text is not None:
                self._witnesses[side] = Witness((text,), len(text), ())
        is_given_up = False
        try:
            answers = self._answers(Answer(Verdict.EMPTY)) if short.complete else self._decide()
        except WorkLimitError:
            answers = self._answers(Answer(Verdict.UNKNOWN))
            is_given_up = True
        self._compare_empty(answers)
        answers = [_searched(answer, short.below) for answer in answers]
        spent = min(self._budget.spent, self._budget.limit)
        notes: tuple[str, ...] = ()
        if any(answer.verdict is Verdict.UNKNOWN for answer in answers):
            is_given_up |= self._budget.left <= 0
            notes = (f"given up after {spent:,} steps of work",) if is_given_up else ()
        return Comparison(answers[LEFT], answers[RIGHT], spent, notes)

    def _decide(self) -> list[Answer]:
        """Return the answers of the machine of both. Raises WorkLimitError."""
        machine = merge(self._machine(), self._budget)
        # Equal components have one number after ``merge``: equal starts are a proof.
        if machine.starts[LEFT] == machine.starts[RIGHT] and len(set(self._eager)) == 1:
            return [Answer(Verdict.EMPTY), Answer(Verdict.EMPTY)]
        return self._search(machine)

    def _compare_empty(self, answers: list[Answer]) -> None:
        """Put the empty text first: it is shorter than any other."""
        # The searches look at nonempty texts only.
        takes = [
            grammar.finish is Finish.EOS and grammar.analysis.facts[grammar.start].nullable
            for grammar in self._grammars
        ]
        for side in (LEFT, RIGHT):
            if takes[side] and not takes[1 - side]:
                answers[side] = Answer(Verdict.SOME)

    def _answers(self, other: Answer) -> list[Answer]:
        """Return the witnesses that are known, and ``other`` where none is."""
        return [_some(witness, self._terminals, other) for witness in self._witnesses]

    def _machine(self) -> Machine:
        """Return both grammars cut at brackets in the first view that fits, or as they are."""
        with self._budget.share(int(_TO_CUT * self._budget.limit)) as budget:
            for view in VIEWS:
                result = self._cut(view, budget)
                if result is not None:
                    return result
        left, right = (_ComponentLists(grammar).tables(self._budget) for grammar in self._grammars)
        return side_by_side(left, right, b"", self._budget)[0]

    def _cut(self, view: NestingView, budget: Budget) -> Machine | None:
        """Return both grammars cut at brackets, None where they do not nest in this view.

        Components that do not balance are made parts of their callers, if that is possible.
        """
        grammars = tuple(_ComponentLists(grammar) for grammar in self._grammars)
        for _ in range(_ROUNDS):
            try:
                left, right = (grammar.tables(budget) for grammar in grammars)
                machine, owners = side_by_side(left, right, view.special, budget)
                sides = zip(grammars, (left, right), (0, len(left.names)), strict=True)
                for side, tables, first in sides:
                    absorb(machine, side.right_linear(tables, first), budget)
                result = cut(machine, view, owners, budget)
            except WorkLimitError:
                return None
            if isinstance(result, Machine):
                return result
            names = (*left.names, *right.names)
            for component in result.components:
                if not grammars[component >= len(left.names)].add(names[component]):
                    return None
        return None

    def _search(self, machine: Machine) -> list[Answer]:
        tables = write_tables(machine, lambda _state, _component: False, self._budget)
        texts = ComponentTexts(machine, tables)
        ends_itself = [
            not eager or _is_closed(machine, side) for side, eager in enumerate(self._eager)
        ]
        # Where no text goes on to another one an eager end changes nothing. Only then may
        # components be symbols, for a complete text could hide in one.
        eager = (False, False) if all(ends_itself) else self._eager
        subject = _Subject(machine, StateTable(tables), texts, eager)
        refinement = _Refinement(subject, all(ends_itself), self._witnesses, self._budget)
        return refinement.run()


class _Refinement:
    """Searches again and again, each time with fewer components as symbols.

    Witnesses are added to ``known``. Raises WorkLimitError where there is no work left to begin.
    """

    def __init__(
        self, subject: _Subject, abstract: bool, witnesses: list[Witness | None], budget: Budget
    ) -> None:
        machine = subject.machine
        left, right = (machine.called_from(start) for start in machine.starts)
        self._subject = subject
        self._symbols = frozenset(left & right) if abstract else frozenset[int]()
        self._walked: set[tuple[int, int]] = set()
        self._budget = budget
        self._witnesses = witnesses
        self._first: dict[int, Set[int]] = {}

    def run(self) -> list[Answer]:
        for number in range(_ROUNDS):
            outcome, search = self._search()
            doubtful = self._keep(outcome)
            if not doubtful or not self._symbols or self._budget.left <= 0:
                return self._answers(outcome, doubtful)
            if not self._walk(search, doubtful):
                break
            if number >= _ROUNDS_BY_POSITION:
                self._symbols -= {component for _, component in self._walked}
        self._symbols = frozenset()
        outcome, _ = self._search()
        return self._answers(outcome, self._keep(outcome))

    def _search(self) -> tuple[SearchOutcome, Search]:
        subject, walked, symbols = self._subject, self._walked, self._symbols
        nests = subject.machine.nests

        def is_symbol(state: int, component: int) -> bool:
            shared = component in symbols and (state, component) not in walked
            return component in nests or shared

        search = Search(
            subject.machine, is_symbol, subject.texts, subject.eager, self._witnesses, self._budget
        )
        return search.run(), search

    def _keep(self, outcome: SearchOutcome) -> list[Witness]:
        """Keep the witnesses that are ones; return the others."""
        doubtful = []
        for side in (LEFT, RIGHT):
            witness = outcome.witnesses[side]
            if witness is None or witness is self._witnesses[side]:
                continue
            takes = self._subject.takes(witness.text)
            if takes[side] and not takes[1 - side]:
                self._witnesses[side] = witness
            else:
                doubtful.append(witness)
        return doubtful

    def _walk(self, search: Search, doubtful: list[Witness]) -> bool:
        """Walk edges on possible ways to a witness; return whether there are new ones."""
        before = len(self._walked)
        # First those that may read the same bytes otherwise, for each edge that is walked makes the
        # search larger.
        for competing_only in (True, False):
            for witness in doubtful:
                for state, symbol in witness.passed:
                    self._walk_at(search, state, symbol, competing_only)
            if len(self._walked) > before:
                return True
        return False

    def _walk_at(self, search: Search, state: int, symbol: int, competing_only: bool) -> None:
        machine, texts = self._subject.machine, self._subject.texts
        first = texts.spelt(symbol)[0]
        read = symbol - texts.class_count - len(machine.terminals)
        for _, item_set in search.states.sources(state):
            for item in search.states.items.items(item_set):
                at = search.states.items.unpack(item)[0]
                for component, _ in machine.calls[at]:
                    if component not in self._symbols or (competing_only and component == read):
                        continue
                    if isinstance(first, bytes) and machine.classes[first[0]] in self._begins(
                        component
                    ):
                        self._walked.add((at, component))

    def _begins(self, component: int) -> Set[int]:
        """Return the byte classes that texts of a component begin with."""
        if component not in self._first:
            states = self._subject.states
            begin = states.enter([component])
            self._first[component] = frozenset(states.live_classes(begin))
        return self._first[component]

    def _answers(self, outcome: SearchOutcome, doubtful: list[Witness]) -> list[Answer]:
        # At the length of a witness that proved doubtful there may be another one.
        searched = min([outcome.below, *(witness.length - 1 for witness in doubtful)])
        answers = []
        for side in (LEFT, RIGHT):
            earlier = self._witnesses[side]
            if earlier is not None:
                shorter = Answer(Verdict.UNKNOWN, searched=min(searched, earlier.length - 1))
                answers.append(_some(earlier, self._subject.machine.terminals, shorter))
            elif outcome.complete and outcome.witnesses[side] is None:
                answers.append(Answer(Verdict.EMPTY))
            else:
                answers.append(Answer(Verdict.UNKNOWN, searched=max(searched, 0)))
        return answers


def _searched(answer: Answer, below: int) -> Answer:
    """Return an answer about texts of which those of ``below`` bytes were looked at elsewhere."""
    if answer.verdict is not Verdict.UNKNOWN:
        return answer
    return replace(answer, searched=max(answer.searched, below))


def _some(witness: Witness | None, terminals: tuple[TokenTerminal, ...], other: Answer) -> Answer:
    """Return a witness as an answer if there is one and it is certain, else ``other``."""
    if witness is not None and _is_certain(witness.text, terminals):
        return Answer(Verdict.SOME, witness.text)
    return other


def _is_certain(text: Text, terminals: tuple[TokenTerminal, ...]) -> bool:
    """Return whether no token of a text can be one that another terminal matches, too."""
    ranges = sum(1 for terminal in terminals if terminal.name is None)
    return ranges < 2 or all(isinstance(symbol, bytes) or symbol.name for symbol in text)


def _is_closed(machine: Machine, side: int) -> bool:
    """Return whether all texts of a start are one nest, so that none begins another."""
    entry = machine.entry[machine.starts[side]]
    if machine.steps[entry] or machine.tokens[entry]:
        return False
    return all(
        callee in machine.nests
        and not (machine.steps[to] or machine.calls[to] or machine.tokens[to])
        for callee, to in machine.calls[entry]
    )


class _ComponentLists:
    """The nonterminals of a grammar that are to be parts of those that call them."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._calls = grammar.analysis.callees
        self._recursive = frozenset[str]().union(*cyclic_components(self._calls))
        self._inlined: set[str] = set()
        self._absorbed: set[str] = set()

    def add(self, name: str) -> bool:
        """Inline a nonterminal into its callers; return whether that is possible and new.

        What large rules were split into (``lower.inline``) has no name of its own.
        """
        inside = self._inlined | self._absorbed | {self._grammar.start}
        if name in inside or name not in self._calls:
            return False
        # One that calls itself would be copied without end.
        (self._absorbed if name in self._recursive else self._inlined).add(name)
        return True

    def tables(self, budget: Budget) -> Tables:
        """Return tables in which every other nonterminal stands for itself.

        Raises WorkLimitError where they are too large for the budget.
        """
        names = self._inlined
        graph = {name: names.intersection(self._calls[name]) for name in sorted(names)}
        order = TopologicalSorter(graph).static_order()
        inlined = Inlined(frozenset(names), tuple(order))
        with budget.share(EDGES * budget.limit, EDGES) as meter:
            return self._grammar.tables_with(inlined, meter)

    def right_linear(self, tables: Tables, first: int) -> frozenset[int]:
        """Return the components of those that call themselves; the first one is ``first``."""
        numbers = enumerate(tables.names, first)
        return frozenset(number for number, name in numbers if name in self._absorbed)


_VIEWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("whitespace", {"whitespace": "compact"}),
    ("the order of members", {"order": "any"}),
    ("whitespace and the order of members", {"whitespace": "compact", "order": "any"}),
)

BEFORE_0_3: Mapping[str, Any] = {
    "integers": "fraction",
    "digits": "any",
    "formats": "rfc",
    "closed": False,
    "whitespace": "bounded",
}
"""Options that have the defaults of version 0.2."""


def compare_schemas(
    old: str,
    new: str,
    old_options: Mapping[str, Any] | None = None,
    new_options: Mapping[str, Any] | None = None,
) -> Comparison:
    """Return how the texts of two JSON Schemas differ, and note what that is about.

    Where the same schemas without whitespace, or with members in any order, have the same texts,
    they differ in that alone. Raises ``GrammarError`` for a schema that cannot be converted.
    """
    sides = (old, dict(old_options or {})), (new, dict(new_options or {}))
    left, right = (Grammar.from_json_schema(text, **options) for text, options in sides)
    result = compare(left, right)
    if result.relation in (Relation.EQUAL, Relation.UNKNOWN):
        return result
    texts = [text for side in (result.old_only, result.new_only) for text in _compact(side.witness)]
    for aspect, view in _VIEWS:
        one, two = (_grammar(text, {**options, **view}) for text, options in sides)
        # The witnesses first: one that still divides the two saves a search of seconds.
        if one is None or two is None or any(_fits(one, t) != _fits(two, t) for t in texts):
            continue
        if compare(one, two).relation is Relation.EQUAL:
            return replace(result, notes=(f"they differ in {aspect} alone",))
    return result


def _compact(witness: tuple[bytes | TokenTerminal, ...]) -> Iterator[str]:
    """Yield a text without whitespace between its tokens, if it is JSON."""
    with suppress(TypeError, ValueError, RecursionError):
        value = json.loads(b"".join(witness))  # type: ignore[arg-type] # a token has no bytes
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _fits(grammar: Grammar, text: str) -> bool:
    return grammar.status(text) == "fits"


def compare_with_schema(
    schema: str, options: Mapping[str, Any], other: Grammar, comparison: Comparison
) -> Comparison:
    """Note with which options a schema has the texts of ``other``, where those of 0.2 are enough.

    ``comparison`` is how the two differ.
    """
    if comparison.relation in (Relation.EQUAL, Relation.UNKNOWN):
        return comparison

    def is_equal(wanted: Mapping[str, Any]) -> bool:
        grammar = _grammar(schema, wanted)
        return grammar is not None and compare(grammar, other).relation is Relation.EQUAL

    wanted = {**BEFORE_0_3, **options}
    if not is_equal(wanted):
        return comparison
    # One at a time, since a schema depends on few of them, and a note should name these alone.
    for name in BEFORE_0_3:
        fewer = {option: value for option, value in wanted.items() if option != name}
        if name not in options and is_equal(fewer):
            wanted = fewer
    flags = " ".join(_flags({name: wanted[name] for name in wanted if name not in options}))
    return replace(
        comparison, notes=(f"they differ in options alone: the schema with {flags} is equal",)
    )


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        yield "--open" if name == "closed" else f"--{name} {value}"


def _grammar(schema: str, options: Mapping[str, Any]) -> Grammar | None:
    try:
        return Grammar.from_json_schema(schema, **options)
    except GrammarError:
        return None
