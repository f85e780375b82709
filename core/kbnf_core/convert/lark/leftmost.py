"""From Python regular expressions to automata that match as Python does.

Python tries alternatives in order and takes the first that leads to a match, so what it matches
of a text may be shorter than the longest match. The automaton keeps the attempts in that order,
as Pike's machine does (R. Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009),
and drops those behind a match; its states are the ordered lists. A look-ahead is an automaton
that runs beside its attempt over what follows, a look-behind one that runs over the whole text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kbnf_core.automata import operations
from kbnf_core.automata.classes import class_count, join_classes, rows_over
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.regex import compile_regex
from kbnf_core.convert.lark import python_regex as regex
from kbnf_core.convert.lark.masks import END

_MOST_INSTRUCTIONS = 20_000
_MOST_STATES = 5_000

_MATCH, _LEAF, _SPLIT, _AHEAD, _BEHIND = range(5)


@dataclass(frozen=True, slots=True)
class Matcher:
    """The words that Python matches, with the bytes before which it would not end there.

    ``stops`` and ``doubts`` are as in ``model.Terminal``. The automaton is trimmed.
    """

    dfa: Dfa
    stops: tuple[int, ...]
    doubts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Instruction:
    """``kind``: what to do; ``automaton``: which automaton; ``targets``: where next, in order."""

    kind: int
    targets: tuple[int, ...] = ()
    automaton: int = 0
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class _Thread:
    """An attempt: its instruction, the state inside a leaf, the look-aheads that run beside."""

    place: int
    state: int
    trackers: frozenset[tuple[int, bool, int]]


def matcher(node: regex.Node, ordered: bool = True) -> Matcher:
    """Return the automaton of a pattern; without ``ordered`` that of all that it could match.

    Raises LimitError, and ``python_regex.PatternError`` for what has no automaton.
    """
    program = _Program()
    program.emit(node)
    return _Machine(program, ordered).run()


class _Program:
    """The instructions of one pattern; automata are shared between equal leaves."""

    def __init__(self) -> None:
        self.code: list[_Instruction] = []
        self.automata: list[Dfa] = []
        self.behind: list[int] = []
        self._numbers: dict[str, int] = {}

    def emit(self, root: regex.Node) -> None:
        """Write the instructions of ``root`` and a match, back to front."""
        self._add(_Instruction(_MATCH))
        self.start = self._node(root, 0)

    def _add(self, instruction: _Instruction) -> int:
        if len(self.code) >= _MOST_INSTRUCTIONS:
            raise LimitError("instructions", _MOST_INSTRUCTIONS)
        self.code.append(instruction)
        return len(self.code) - 1

    def _node(self, node: regex.Node, after: int) -> int:
        """Write ``node`` so that it goes on at ``after``; return where it starts.

        Recursion is bounded: Python's own parser refuses patterns that are nested too deeply.
        """
        match node:
            case regex.Character(text):
                return self._add(_Instruction(_LEAF, (after,), self._leaf(text)))
            case regex.Sequence(items):
                for item in reversed(items):
                    after = self._node(item, after)
                return after
            case regex.Choice(branches):
                targets = tuple(self._node(branch, after) for branch in branches)
                return self._add(_Instruction(_SPLIT, targets))
            case regex.Repeat():
                return self._repeat(node, after)
            case regex.Look():
                return self._look(node, after)
            case regex.Edge(is_start):
                return self._edge(is_start, after)

    def _repeat(self, node: regex.Repeat, after: int) -> int:
        if node.high is None:
            loop = self._add(_Instruction(_SPLIT))
            body = self._node(node.body, loop)
            targets = (body, after) if node.is_greedy else (after, body)
            self.code[loop] = _Instruction(_SPLIT, targets)
            after = loop
        else:
            end = after
            for _ in range(node.high - node.low):
                body = self._node(node.body, after)
                targets = (body, end) if node.is_greedy else (end, body)
                after = self._add(_Instruction(_SPLIT, targets))
        for _ in range(node.low):
            after = self._node(node.body, after)
        return after

    def _look(self, node: regex.Look, after: int) -> int:
        dfa = matcher(node.body, ordered=False).dfa
        if node.is_ahead:
            number = self._number(dfa)
            return self._add(_Instruction(_AHEAD, (after,), number, node.is_negated))
        anything = operations.complement(operations.empty())
        number = self._number(operations.concatenate(anything, dfa))
        if number not in self.behind:
            self.behind.append(number)
        return self._add(_Instruction(_BEHIND, (after,), number, node.is_negated))

    def _edge(self, is_start: bool, after: int) -> int:
        if is_start:
            number = self._number(operations.literal(b""))
            if number not in self.behind:
                self.behind.append(number)
            return self._add(_Instruction(_BEHIND, (after,), number))
        number = self._number(compile_regex("(?s:.)").dfa or operations.empty())
        return self._add(_Instruction(_AHEAD, (after,), number, is_negated=True))

    def _leaf(self, text: str) -> int:
        if text not in self._numbers:
            compiled = compile_regex(text)
            if compiled.dfa is None:
                message = compiled.problems[0].message
                raise regex.PatternError(f"`{text}`: {message}")
            self._numbers[text] = self._number(compiled.dfa)
        return self._numbers[text]

    def _number(self, dfa: Dfa) -> int:
        self.automata.append(dfa)
        return len(self.automata) - 1


@dataclass(frozen=True, slots=True)
class _State:
    """An ordered list of attempts, and the states of the look-behinds."""

    threads: tuple[_Thread, ...]
    behind: tuple[int, ...]


@dataclass(slots=True)
class _Machine:
    """Runs all attempts at once over byte classes."""

    program: _Program
    ordered: bool
    _rows: list[list[list[int]]] = field(default_factory=list)
    _accepting: list[list[bool]] = field(default_factory=list)

    def run(self) -> Matcher:
        classes = join_classes([dfa.classes for dfa in self.program.automata])
        for dfa in self.program.automata:
            self._rows.append([] if dfa.is_empty else rows_over(dfa, classes).tolist())
            self._accepting.append([*dfa.accepting.tolist(), False])
        symbols = class_count(classes)
        behind = tuple(0 for _ in self.program.behind)
        start = self._closure([(self.program.start, frozenset())], behind)
        first = _State(tuple(self._cut(start)), behind)
        states = [first]
        numbers = {first: 0}
        rows: list[list[int]] = []
        for state in states:
            row: list[int] = []
            for symbol in range(symbols):
                target = self._step(state, symbol)
                if not target.threads:
                    row.append(DEAD)
                    continue
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
                    if len(states) > _MOST_STATES:
                        raise LimitError("states", _MOST_STATES)
                row.append(numbers[target])
            rows.append(row)
        return self._result(states, rows, classes)

    def _closure(
        self, starts: list[tuple[int, frozenset[tuple[int, bool, int]]]], behind: tuple[int, ...]
    ) -> Iterator[_Thread]:
        """Yield the attempts that stand before a leaf or at a match, in order."""
        seen: set[tuple[int, frozenset[tuple[int, bool, int]]]] = set()
        stack = [*reversed(starts)]
        while stack:
            place, trackers = stack.pop()
            if (place, trackers) in seen:
                continue
            seen.add((place, trackers))
            instruction = self.program.code[place]
            match instruction.kind:
                case 0 | 1:
                    yield _Thread(place, 0, trackers)
                case 2:
                    stack.extend((target, trackers) for target in reversed(instruction.targets))
                case 3:
                    followed = self._look_ahead(instruction, trackers)
                    if followed is not None:
                        stack.append((instruction.targets[0], followed))
                case _:
                    index = self.program.behind.index(instruction.automaton)
                    found = self._accepting[instruction.automaton][behind[index]]
                    if found != instruction.is_negated:
                        stack.append((instruction.targets[0], trackers))

    def _look_ahead(
        self, instruction: _Instruction, trackers: frozenset[tuple[int, bool, int]]
    ) -> frozenset[tuple[int, bool, int]] | None:
        number, negated = instruction.automaton, instruction.is_negated
        if not self._rows[number]:
            return trackers if negated else None
        if self._accepting[number][0]:
            return None if negated else trackers
        return trackers | {(number, negated, 0)}

    def _track(
        self, trackers: frozenset[tuple[int, bool, int]], symbol: int
    ) -> frozenset[tuple[int, bool, int]] | None:
        """Move the look-aheads; None where one has failed."""
        moved = set()
        for number, negated, state in trackers:
            target = self._rows[number][state][symbol]
            if self._accepting[number][target]:
                if negated:
                    return None
            elif target != DEAD:
                moved.add((number, negated, target))
            elif not negated:
                return None
        return frozenset(moved)

    def _move(
        self, threads: tuple[_Thread, ...], behind: tuple[int, ...], symbol: int
    ) -> list[_Thread]:
        moved: dict[_Thread, None] = {}
        for thread in threads:
            instruction = self.program.code[thread.place]
            trackers = self._track(thread.trackers, symbol)
            if trackers is None:
                continue
            if instruction.kind == _MATCH:
                if thread.trackers and not trackers:
                    # What followed has just confirmed this earlier match.
                    break
                continue
            target = self._rows[instruction.automaton][thread.state][symbol]
            if target == DEAD:
                continue
            if self._accepting[instruction.automaton][target]:
                starts = [(instruction.targets[0], trackers)]
                moved.update(dict.fromkeys(self._closure(starts, behind)))
            else:
                moved[_Thread(thread.place, target, trackers)] = None
        return list(moved)

    def _behind(self, state: _State, symbol: int) -> tuple[int, ...]:
        return tuple(
            DEAD if at == DEAD else self._rows[number][at][symbol]
            for number, at in zip(self.program.behind, state.behind, strict=True)
        )

    def _step(self, state: _State, symbol: int) -> _State:
        behind = self._behind(state, symbol)
        return _State(tuple(self._cut(self._move(state.threads, behind, symbol))), behind)

    def _cut(self, threads: Iterator[_Thread] | list[_Thread]) -> Iterator[_Thread]:
        """Drop what stands behind a match that nothing can undo."""
        for thread in threads:
            yield thread
            if self.ordered and self._matches(thread) and not thread.trackers:
                return

    def _matches(self, thread: _Thread) -> bool:
        return self.program.code[thread.place].kind == _MATCH

    def _result(
        self,
        states: list[_State],
        rows: list[list[int]],
        classes: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
    ) -> Matcher:
        bits = [0] * class_count(classes)
        for byte, symbol in enumerate(classes.tolist()):
            bits[symbol] |= 1 << byte
        accepting, stops, doubts = [], [], []
        for state in states:
            index = next((i for i, t in enumerate(state.threads) if self._matches(t)), None)
            accepting.append(index is not None)
            stop, doubt = (0, 0) if index is None else self._after(state, index, bits)
            stops.append(stop)
            doubts.append(doubt)
        return _trimmed(rows, accepting, stops, doubts, classes)

    def _after(self, state: _State, index: int, bits: list[int]) -> tuple[int, int]:
        """Return the bytes before which the match at ``index`` does not, or may not, end."""
        match = state.threads[index]
        stop = END if any(not negated for _, negated, _ in match.trackers) else 0
        doubt = 0
        for symbol, members in enumerate(bits):
            behind = self._behind(state, symbol)
            above = self._move(state.threads[:index], behind, symbol) if self.ordered else []
            trackers = self._track(match.trackers, symbol)
            if trackers is None or any(self._matches(t) and not t.trackers for t in above):
                stop |= members
            elif above or trackers:
                doubt |= members
        return stop, doubt


def _trimmed(
    rows: list[list[int]],
    accepting: list[bool],
    stops: list[int],
    doubts: list[int],
    classes: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
) -> Matcher:
    """Keep the states that reach a match, in their order."""
    sources: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row) - {DEAD}:
            sources[target].append(state)
    queue = [state for state, yes in enumerate(accepting) if yes]
    live = set(queue)
    for state in queue:
        for source in sources[state]:
            if source not in live:
                live.add(source)
                queue.append(source)
    if 0 not in live:
        return Matcher(operations.empty(), (), ())
    kept = sorted(live)
    order = {old: new for new, old in enumerate(kept)}
    table = np.array([[order.get(t, DEAD) for t in rows[old]] for old in kept], dtype=np.int32)
    flags = np.array([accepting[old] for old in kept], dtype=np.bool_)
    dfa = Dfa(classes, table, flags)
    return Matcher(dfa, tuple(stops[s] for s in kept), tuple(doubts[s] for s in kept))
