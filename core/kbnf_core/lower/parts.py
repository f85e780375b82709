"""Parts: rules that are lowered once, whatever grammars they come in.

The tools of a request are mostly those of the last one, among others and in another order. A
``Part`` is the rules of one: they call each other, and some that all parts share. It is lowered
apart from what is around it (``lower.build``): which of its rules are written out where they are
called depends on itself, and the automata speak of classes of bytes and of names of their own.
These are remembered with the part (``lower.known``). Parts that are new are lowered together, for
they share an alphabet then. A grammar of known parts is what is left without them; their automata
are carried over to its alphabet and put beside the others.

A rule that may be any of some parts (the calls of some tools) is the union of their automata.
All begin alike, with the same brackets and keys, so beginnings are made deterministic together:
the subset construction (``automata.determinise``), in which a set of one state is that state, and
what comes behind it is copied as it is. That is not the smallest automaton, as parts may end
alike; what they have alone is the smallest already.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from kbnf_core.automata.alphabet import ByteClasses, class_count, first_bytes
from kbnf_core.automata.kernel import Column, Compacted
from kbnf_core.ir import Call, Choice, Grammar, Node, Part, Regular
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.lower.compact import Piece
from kbnf_core.lower.facts import Analysis, Facts, analyse, order_from
from kbnf_core.lower.known import Lowered
from kbnf_core.lower.nfa import Alphabet, Place
from kbnf_core.text.budget import Budget

MOST_TOGETHER = 4
"""States in sets of several, for each state of the automata that are united."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """What rules are lowered among: ``parts`` that were lowered, and rules that are ``shared``.

    The latter belong to no part, and are called, but not built; automata among them may be written
    out. ``facts`` are those of all that is called. ``group`` are the parts that the rules are those
    of, where they are any. Of what else is in the grammar there are the nodes ``outside`` of parts
    and the ``classes`` of bytes: who is lowered with these need not be carried over to them.
    """

    parts: Mapping[str, Lowered] = field(default_factory=dict)
    shared: Mapping[str, Node] = field(default_factory=dict)
    facts: Mapping[str, Facts] = field(default_factory=dict)
    group: tuple[Part, ...] = ()
    outside: tuple[list[Node], ...] = ()
    classes: tuple[ByteClasses, ...] = ()

    @property
    def starts(self) -> dict[str, None]:
        """The names of the rules that are called from outside of a group."""
        return {part.start: None for part in self.group}

    @property
    def automata(self) -> dict[str, Node]:
        """The rules that may be written out."""
        return {name: body for name, body in self.shared.items() if isinstance(body, Regular)}

    @property
    def called(self) -> dict[str, None]:
        """The names that parts call of rules outside."""
        return {name: None for part in self.parts.values() for name in part.called}

    def analyse(self, grammar: Grammar, budget: Budget) -> Analysis:
        """Return the facts of the rules of ``grammar``, which parts call, too."""
        whole = Grammar(grammar.start, {**self.automata, **grammar.rules})
        return analyse(whole, budget, self.facts, {**self.starts, **self.called})

    def callers(self, names: Iterable[str]) -> list[list[str]]:
        """Return those of some names that are no shared rule: all, or those of each part."""
        found: list[list[str]] = [[] for _ in self.group or (None,)]
        owners: dict[str, list[int]] = {}
        for number, part in enumerate(self.group):
            for name in part.bodies:
                owners.setdefault(name, []).append(number)
        for name in names:
            # What a rule was split into is its own.
            for number in owners.get(name.partition("#")[0], ()) if self.group else (0,):
                found[number].append(name)
        return found

    def unions(self, grammar: Grammar) -> dict[str, tuple[list[str], Node | None]]:
        """Return the rules that are to be a union: the parts that it is of, and the rest."""
        found: dict[str, tuple[list[str], Node | None]] = {}
        for name, body in grammar.rules.items() if self.parts else ():
            branches = body.branches if isinstance(body, Choice) else (body,)
            united: list[str] = []
            rest: list[Node] = []
            for branch in branches:
                part = self._united(branch)
                if part is None:
                    rest.append(branch)
                else:
                    united.append(part)
            if united:
                found[name] = united, Choice(tuple(rest), body.span) if rest else None
        return found

    def _united(self, branch: Node) -> str | None:
        """Return the name of the part that a branch is, if it can be united with others."""
        if not isinstance(branch, Call):
            return None
        part = self.parts.get(branch.nonterminal)
        if part is None or part.facts.nullable:
            return None
        piece = part.pieces[branch.nonterminal]
        return branch.nonterminal if piece.is_deterministic and not piece.loops else None


ALONE = Around()
"""What a whole grammar is lowered among."""


def group_of(
    parts: list[Part],
    grammar: Grammar,
    analysis: Analysis,
    outside: Mapping[str, Node],
    known: Iterable[Lowered],
    budget: Budget,
) -> tuple[Grammar, Analysis, Around]:
    """Return the rules of some parts as a grammar, what is known of them, and what is around.

    ``outside`` are the rules of ``grammar`` that are in no part, ``known`` its other parts.
    """
    if any(part.start not in analysis.nodes for part in parts):
        analysis = analyse(Grammar(grammar.start, grammar.rules), budget)
    bodies: dict[str, Node] = {}
    for part in parts:
        bodies.update(part.bodies)
    callees = {name: analysis.callees[name] for name in bodies}
    called = dict.fromkeys(chain.from_iterable(callees.values()))
    shared = {name: grammar.rules[name] for name in called if name not in callees}
    around = Around(
        shared=shared,
        facts=analysis.facts,
        group=tuple(parts),
        outside=tuple(analysis.nodes[name] for name in outside),
        classes=tuple(part.classes for part in known),
    )
    callees.update((name, []) for name in around.automata)
    order = order_from(around.starts, callees)
    about = Analysis(analysis.facts, order, analysis.nodes, callees)
    return Grammar(parts[0].start, bodies), about, around


def rest_of(
    grammar: Grammar,
    analysis: Analysis,
    rules: Mapping[str, Node],
    lowered: Mapping[str, Lowered],
) -> tuple[Grammar, Analysis, Around]:
    """Return what is left of a grammar without its parts, ``rules``, as ``group_of`` does parts."""
    facts = {**analysis.facts, **{name: part.facts for name, part in lowered.items()}}
    around = Around(lowered, facts=facts)
    callees = {name: analysis.callees[name] for name in rules}
    roots = (name for name in (grammar.start, *around.called) if name in callees)
    order = order_from(roots, callees)
    known = Analysis(facts, order, analysis.nodes, callees)
    return Grammar(grammar.start, rules), known, around


class Carrier:
    """Carries automata of parts over to the symbols of a grammar."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        # By what parts that were lowered together share.
        self._calls: dict[int, Column] = {}

    def calls_of(self, part: Lowered) -> Column:
        """Return the symbols of what the rules of a part call, -1 for what others call."""
        calls = self._calls.get(id(part.names))
        if calls is None:
            symbols = self._alphabet.call_symbols
            numbers = array("i", [symbols.get(each, -1) for each in part.names])
            calls = self._calls[id(part.names)] = numbers.tobytes()
        return calls

    def carry(self, part: Lowered, name: str) -> Piece:
        """Return the automaton of a rule of a part."""
        piece, finer, calls = part.pieces[name], self._alphabet.columns, self.calls_of(part)
        columns = carry(piece.source, piece.symbol, piece.target, part.classes, calls, finer)
        return Piece(*columns, piece.accepting, piece.places, piece.loops, piece.is_deterministic)

    def united(
        self, parts: Mapping[str, Lowered], rest: list[Piece], budget: Budget
    ) -> Piece | None:
        """Return one automaton for those of some rules of parts and some others: ``united``.

        Where only the calls of a part have other numbers here, the union carries it over.
        """
        finer = self._alphabet.columns
        pieces, calls = [], []
        for name, part in parts.items():
            is_same = part.classes is finer or part.classes == finer
            pieces.append(part.pieces[name] if is_same else self.carry(part, name))
            calls.append(self.calls_of(part) if is_same else b"")
        calls += [b""] * len(rest)
        return united(pieces + rest, calls, self._alphabet.class_count, budget)


@compiled
def carry(
    source: Column,
    symbol: Column,
    target: Column,
    classes: ByteClasses,
    calls: Column,
    finer: ByteClasses,
) -> tuple[Column, Column, Column]:
    """Return columns of edges over other symbols: ``finer`` classes, and ``calls`` behind them.

    By source and class; calls come behind, in the order that they had.
    """
    letters: list[list[int]] = [[] for _ in range(class_count(classes))]
    for letter, byte in enumerate(first_bytes(finer)):
        letters[classes[byte]].append(letter)
    own = len(letters)
    letters += [[call] for call in np.frombuffer(calls, np.int32).tolist()]
    edges = np.frombuffer(source + symbol + target, np.int32).reshape(3, -1).T.tolist()
    found = [(here, old, each, there) for here, old, there in edges for each in letters[old]]
    found.sort(key=lambda edge: (edge[0], *((0, *edge[2:]) if edge[1] < own else (1, 0, 0))))
    columns = np.array(found, np.int32).reshape(-1, 4).T[[0, 2, 3]]
    return columns[0].tobytes(), columns[1].tobytes(), columns[2].tobytes()


def united(pieces: list[Piece], calls: list[Column], own: int, budget: Budget) -> Piece | None:
    """Return one automaton for some deterministic ones; see ``unite``.

    None where too much of them begins alike to be told apart.
    """
    budget.spend(sum([len(piece.source) for piece in pieces]) // 4)
    most = 16 + MOST_TOGETHER * sum([len(piece.accepting) for piece in pieces])
    found = unite(pieces, calls, own, most)
    if found is None:
        return None
    places: list[tuple[Place, ...]] = [()] * len(found[3])
    return Piece(*found, places)


@compiled
def unite(pieces: list[Piece], calls: list[Column], own: int, most: int) -> Compacted | None:
    """Return the columns, and what accepts, of the union of automata; all begin in state 0.

    ``calls`` stand for the symbols of each from ``own`` on, which stay where they are empty.
    Sets of several states come first. None where these have more than ``most`` in all.
    """
    rows: list[list[tuple[int, int]]] = []
    starts: list[int] = []
    for piece, names in zip(pieces, calls, strict=True):
        starts.append(len(rows))
        rows += [[] for _ in piece.accepting]
        columns = (piece.source, piece.symbol, piece.target)
        numbers = np.frombuffer(names, np.int32).tolist()
        for here, each, there in np.frombuffer(b"".join(columns), np.int32).reshape(3, -1).T:
            symbol = numbers[each - own] if numbers and each >= own else int(each)
            rows[starts[-1] + here].append((symbol, starts[-1] + int(there)))
    is_end = b"".join(piece.accepting for piece in pieces)
    sets = [tuple(starts)] if len(starts) > 1 else []
    numbers = {states: number for number, states in enumerate(sets)}
    together = 0
    targets: list[dict[int, tuple[int, ...]]] = []
    alone = {} if sets else {starts[0]: None}
    for states in sets:
        together += len(states)
        if together > most:
            return None
        reached: dict[int, set[int]] = {}
        for symbol, there in chain.from_iterable(rows[state] for state in states):
            reached.setdefault(symbol, set()).add(there)
        targets.append({symbol: tuple(sorted(reached[symbol])) for symbol in sorted(reached)})
        for after in targets[-1].values():
            if len(after) == 1:
                alone[after[0]] = None
            elif after not in numbers:
                numbers[after] = len(sets)
                sets.append(after)
    # All states are reached: what is never with others is reached alone.
    several = set(chain.from_iterable(sets))
    alone.update((state, None) for state in range(len(rows)) if state not in several)
    pending = list(alone)
    for state in pending:
        fresh = [there for _, there in rows[state] if there not in alone]
        alone.update(dict.fromkeys(fresh))
        pending.extend(dict.fromkeys(fresh))
    single = [(state,) for state in sorted(alone)]
    numbers.update((states, number) for number, states in enumerate(single, len(sets)))
    targets += [{symbol: (there,) for symbol, there in rows[state]} for (state,) in single]
    edges = [
        (number, symbol, numbers[after])
        for number, row in enumerate(targets)
        for symbol, after in row.items()
    ]
    source, symbol_, target = np.array(edges, np.int32).reshape(-1, 3).T
    accepting = bytes(any(is_end[state] for state in states) for states in (*sets, *single))
    return source.tobytes(), symbol_.tobytes(), target.tobytes(), accepting
