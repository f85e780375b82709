r"""Python's regular expressions: read by Python's own parser, matched as its own matcher does.

``re`` compiles from ``re._parser``, so flags, escapes and groups mean here what they mean there.
Single characters and classes become pieces of text in the syntax of our own regular expressions;
the operators around them become a tree. What an automaton cannot do (conditions, word boundaries,
possessive repetition) is a ``PatternError``; a reference back stands for anything that its group
matches, which is a problem to report.

Python tries alternatives in order and takes the first that leads to a match, so its match may be
shorter than the longest one, and may depend on what follows. The automaton keeps the attempts in
their order and drops those after a match; its states are the ordered lists. A text may follow a
match if it makes all attempts before it fail. For this the tree becomes a program for Pike's
machine (R. Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009), in which single
characters are automata, and so are look-ahead and look-behind.

Tests: tests/unit/languages/lark/test_python_regexes.py
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias, TypeVar

from kbnf_core.automata import algebra as expression
from kbnf_core.automata import operations, traversal
from kbnf_core.automata.algebra import Choice, Sequence
from kbnf_core.automata.dfa import (
    DEAD,
    ByteClasses,
    Dfa,
    SymbolDfa,
    class_count,
    join,
    rows_over,
    trimmed,
)
from kbnf_core.automata.explore import S, explore
from kbnf_core.automata.nfa import from_symbols, minimise
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    NOTHING,
    Lookahead,
    either,
    numbered,
)
from kbnf_core.lower.facts import where
from kbnf_core.text.errors import LimitError

N_co = TypeVar("N_co", covariant=True)

_MOST_NESTED = 64
"""Groups inside one another; functions over the tree recurse."""


@dataclass(frozen=True, slots=True)
class Character:
    """One character out of a set; ``regex`` writes the set, flags included."""

    regex: str


@dataclass(frozen=True, slots=True)
class LookAround:
    """``(?=x)``, ``(?!x)``, ``(?<=x)``, ``(?<!x)``."""

    body: "Node"
    is_ahead: bool
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Edge:
    r"""``^`` and ``\A`` (``is_start``), and ``\Z``."""

    is_start: bool


@dataclass(slots=True, eq=False)
class PatternRepeat(expression.Repeat[N_co]):
    """The body, as often as possible, or as seldom if it is not greedy."""

    is_greedy: bool


Node: TypeAlias = (
    Character | LookAround | Edge | Sequence["Node"] | Choice["Node"] | PatternRepeat["Node"]
)
"""Of a choice, the first branch that leads to a match is meant."""


class PatternError(Exception):
    """A pattern that Python refuses, or that has a construct without a meaning here."""


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``."""
    return (node.body,) if isinstance(node, LookAround) else expression.children(node)


def postorder(root: Node) -> Iterator[Node]:
    """Yield every part of ``root``, parts before wholes."""
    return traversal.postorder(root, children)


def stops_early(root: Node) -> bool:
    """Return whether a repetition may end with a round that is empty though others were left.

    Python ends a repetition after an empty round; that cannot be seen in an automaton.
    """
    rounds = (
        repeat
        for repeat in postorder(root)
        if isinstance(repeat, PatternRepeat) and repeat.high != 1
    )
    return any(not _prefers_text(repeat.body) for repeat in rounds)


def _is_nullable(root: Node) -> bool:
    return where(postorder(root), lambda node: not isinstance(node, Character))[id(root)]


def _prefers_text(body: Node) -> bool:
    """Return whether ``body`` matches the empty text only where it can match nothing else."""
    match body:
        case Sequence(items):
            return not _is_nullable(body) or all(_prefers_text(item) for item in items)
        case PatternRepeat(inner, _, _, is_greedy):
            return not _is_nullable(body) or (is_greedy and _prefers_text(inner))
        case Choice(branches):
            *others, last = branches
            return not any(_is_nullable(b) for b in others) and _prefers_text(last)
        case LookAround() | Edge():
            return False
        case Character():
            return True


@contextmanager
def _as_python_takes_it() -> Iterator[None]:
    """Let Python's parser raise PatternErrors.

    It warns of `[[` and `--` in a class, which it takes as they are; so do we.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise PatternError(f"Python does not accept this regular expression: {error}") from None


@dataclass(frozen=True, slots=True)
class ParsedPattern:
    """The tree, and in words the constructs that something else has to replace."""

    node: Node
    problems: tuple[str, ...]


def widths(pattern: str) -> tuple[int, int]:
    """Return the least and the greatest number of characters of a match; raises PatternError."""
    with _as_python_takes_it():
        return _widths(import_module("re._parser").parse(pattern))


def _widths(parsed: Any) -> tuple[int, int]:
    low, high = parsed.getwidth()
    return int(low), int(high)


def parse(pattern: str) -> ParsedPattern:
    """Parse ``pattern``; raises PatternError."""
    with _as_python_takes_it():
        parsed = import_module("re._parser").parse(pattern)
        # Some mistakes are found only here.
        import_module("re._compiler").compile(parsed)
    translator = _Translator(parsed.state)
    node = translator.sequence(parsed, parsed.state.flags, 0)
    if stops_early(node):
        translator.problems.append(
            "where a round of a repetition is empty, more rounds may follow here"
        )
    return ParsedPattern(node, tuple(translator.problems))


_LINE_END = LookAround(
    Sequence((PatternRepeat(Character(r"\n"), 0, 1, is_greedy=True), Edge(is_start=False))),
    is_ahead=True,
    is_negated=False,
)
"""``$``: the end of the text, or a line end just before it."""

_EDGES: dict[str, Node] = {
    "AT_BEGINNING": Edge(is_start=True),
    "AT_BEGINNING_STRING": Edge(is_start=True),
    "AT_END": _LINE_END,
    "AT_END_STRING": Edge(is_start=False),
}
_CLASSES = {
    "DIGIT": r"\d",
    "NOT_DIGIT": r"\D",
    "WORD": r"[\p{L}\p{N}_]",
    "NOT_WORD": r"[^\p{L}\p{N}_]",
    "SPACE": r"[\s\x1c-\x1f]",
    "NOT_SPACE": r"[^\s\x1c-\x1f]",
}
_ASCII = {
    "DIGIT": "[0-9]",
    "WORD": "[0-9A-Za-z_]",
    "SPACE": r"[ \t-\r]",
    "NOT_DIGIT": "[^0-9]",
    "NOT_WORD": "[^0-9A-Za-z_]",
    "NOT_SPACE": r"[^ \t-\r]",
}
_NO_COUNTERPART = {
    "POSSESSIVE_REPEAT": "possessive repetition",
    "ATOMIC_GROUP": "an atomic group",
    "GROUPREF_EXISTS": "a condition",
}


class _Translator:
    """Turns Python's parsed pattern into the tree; ``flags`` are those in force at each part."""

    def __init__(self, state: Any) -> None:
        self.problems: list[str] = []
        self._names = {number: name for name, number in state.groupdict.items()}
        self._groups: dict[int, Node] = {}

    def sequence(self, operations: Any, flags: int, depth: int) -> Node:
        """Return the parts one after the other."""
        if depth > _MOST_NESTED:
            raise PatternError("this regular expression is nested too deeply")
        items = tuple(self._translate(op.name, value, flags, depth + 1) for op, value in operations)
        return items[0] if len(items) == 1 else Sequence(items)

    def _translate(self, kind: str, value: Any, flags: int, depth: int) -> Node:
        if kind in _CHARACTERS:
            return _character(kind, value, flags)
        match kind:
            case "AT" if value.name in _EDGES and not _is_by_line(value.name, flags):
                return _EDGES[value.name]
            case "BRANCH":
                return Choice(tuple(self.sequence(branch, flags, depth) for branch in value[1]))
            case "SUBPATTERN":
                number, added, removed, body = value
                self._groups[number] = self.sequence(body, (flags | added) & ~removed, depth)
                return self._groups[number]
            case "MAX_REPEAT" | "MIN_REPEAT":
                low, high, body = value
                most = None if str(high) == "MAXREPEAT" else high
                return PatternRepeat(
                    self.sequence(body, flags, depth), low, most, kind == "MAX_REPEAT"
                )
            case "ASSERT" | "ASSERT_NOT":
                node = self.sequence(value[1], flags, depth)
                return LookAround(node, value[0] > 0, kind == "ASSERT_NOT")
            case "GROUPREF":
                name = self._names.get(value, value)
                self.problems.append(
                    f"the reference back to group `{name}` may match another text here"
                )
                return self._groups[value]
            case "FAILURE":
                return Choice(())
        construct = _NO_COUNTERPART.get(kind) or _anchor(value)
        raise PatternError(f"{construct} has no counterpart")


def _is_by_line(anchor: str, flags: int) -> bool:
    return bool(flags & re.MULTILINE) and anchor in ("AT_BEGINNING", "AT_END")


def _anchor(value: Any) -> str:
    shown = {"AT_BOUNDARY": r"`\b`", "AT_NON_BOUNDARY": r"`\B`"}
    return shown.get(str(value)) or f"`{'^' if 'BEGIN' in str(value) else '$'}` with the flag m"


_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})


def _character(kind: str, value: Any, flags: int) -> Character:
    if kind == "ANY":
        return Character("(?s:.)" if flags & re.DOTALL else ".")
    if kind == "IN":
        regex = _class(value, flags)
    else:
        regex = _one(value) if kind == "LITERAL" else f"[^{_one(value)}]"
    return Character(f"(?i:{regex})" if flags & re.IGNORECASE else regex)


def _class(members: Any, flags: int) -> str:
    """Return a class of characters in the syntax of our own regular expressions."""
    written = []
    for op, value in members:
        match op.name:
            case "NEGATE":
                written.append("^")
            case "LITERAL":
                written.append(_one(value))
            case "RANGE":
                written.append(f"{_one(value[0])}-{_one(value[1])}")
            case _:
                by_name = _ASCII if flags & re.ASCII else _CLASSES
                written.append(by_name[value.name.removeprefix("CATEGORY_")])
    return f"[{''.join(written)}]"


def _one(point: int) -> str:
    """Return a regular expression of one character that means the same everywhere."""
    char = chr(point)
    return char if char.isalnum() and char.isascii() else f"\\x{{{point:x}}}"


_MOST_INSTRUCTIONS = 20_000


class Operation(Enum):
    """What an instruction does: end, read a character, try several ways, look around."""

    MATCH = auto()
    LEAF = auto()
    SPLIT = auto()
    AHEAD = auto()
    BEHIND = auto()


class Instruction(NamedTuple):
    """``automaton``: which one it runs; ``targets``: where it goes on, in order of preference."""

    kind: Operation
    targets: tuple[int, ...] = ()
    automaton: int = 0
    is_negated: bool = False


class Program:
    """The instructions of one pattern; equal leaves share an automaton.

    ``behind`` are the automata that look-behinds run over all text before. ``found`` makes the
    automaton of the texts that begin with a match of a node, which is what a look-ahead asks.
    """

    def __init__(self, root: Node) -> None:
        self.code: list[Instruction] = []
        self.automata: list[Dfa] = []
        self.behind: list[int] = []
        self._leaves: dict[str, int] = {}
        self._add(Instruction(Operation.MATCH))
        self.start = self._node(root, 0)

    def _add(self, instruction: Instruction) -> int:
        if len(self.code) >= _MOST_INSTRUCTIONS:
            raise LimitError("instructions", _MOST_INSTRUCTIONS)
        self.code.append(instruction)
        return len(self.code) - 1

    def _node(self, node: Node, after: int) -> int:
        """Write ``node`` so that it goes on at ``after``; return where it starts.

        Recursion is bounded: Python's own parser refuses patterns that are nested too deeply.
        """
        match node:
            case Character(text):
                return self._add(Instruction(Operation.LEAF, (after,), self._leaf(text)))
            case Sequence(items):
                for item in reversed(items):
                    after = self._node(item, after)
                return after
            case Choice(branches):
                targets = tuple(self._node(branch, after) for branch in branches)
                return self._add(Instruction(Operation.SPLIT, targets))
            case PatternRepeat():
                return self._repeat(node, after)
            case LookAround():
                return self._look(node, after)
            case Edge(is_start):
                return self._edge(is_start, after)

    def _repeat(self, node: PatternRepeat[Node], after: int) -> int:
        if node.high is None:
            loop = self._add(Instruction(Operation.SPLIT))
            body = self._node(node.body, loop)
            targets = (body, after) if node.is_greedy else (after, body)
            self.code[loop] = Instruction(Operation.SPLIT, targets)
            after = loop
        else:
            end = after
            for _ in range(node.high - node.low):
                body = self._node(node.body, after)
                targets = (body, end) if node.is_greedy else (end, body)
                after = self._add(Instruction(Operation.SPLIT, targets))
        for _ in range(node.low):
            after = self._node(node.body, after)
        return after

    def _look(self, node: LookAround, after: int) -> int:
        inner = [*postorder(node.body)]
        if node.is_ahead:
            # The automaton of a look-ahead begins where it looks, and knows no text before that.
            if any(
                isinstance(inner_node, LookAround) and not inner_node.is_ahead
                for inner_node in inner
            ):
                raise PatternError("a lookbehind inside a lookahead has no counterpart")
            number = self._number(beginnings(node.body))
            return self._add(Instruction(Operation.AHEAD, (after,), number, node.is_negated))
        if any(isinstance(inner_node, LookAround | Edge) for inner_node in inner):
            raise PatternError("a lookbehind that looks around has no counterpart")
        # It runs over all of the text before, whose end it asks for.
        anything = operations.complement(operations.empty())
        dfa = operations.concatenate(anything, matcher(node.body, ordered=False).dfa)
        return self._look_behind(dfa, after, node.is_negated)

    def _look_behind(self, dfa: Dfa, after: int, is_negated: bool = False) -> int:
        number = self._number(dfa)
        self.behind.append(number)
        return self._add(Instruction(Operation.BEHIND, (after,), number, is_negated))

    def _edge(self, is_start: bool, after: int) -> int:
        # The text before a start is empty, as is the text after an end.
        if is_start:
            return self._look_behind(operations.literal(b""), after)
        number = self._number(operations.complement(operations.literal(b"")))
        return self._add(Instruction(Operation.AHEAD, (after,), number, is_negated=True))

    def _leaf(self, text: str) -> int:
        if text not in self._leaves:
            compiled = compile_regex(text)
            if compiled.dfa is None:
                message = compiled.problems[0].message
                raise PatternError(f"`{text}`: {message}")
            self._leaves[text] = self._number(compiled.dfa)
        return self._leaves[text]

    def _number(self, dfa: Dfa) -> int:
        self.automata.append(dfa)
        return len(self.automata) - 1


_MOST_STATES = 10_000
"""States of a pattern: lists of attempts."""

_EARLIER = 1
"""The state of a match that ended at an earlier place and still waits for its look-aheads."""

_Trackers = frozenset[tuple[int, bool, int]]
"""Look-aheads that are still open: the automaton, whether it must fail, its state."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """The words that Python matches, and by state the texts before which it ends there.

    The automaton is trimmed. ``looks_back`` says whether a match depends on text before it.
    """

    dfa: Dfa
    rests: tuple[Lookahead, ...]
    looks_back: bool


class _Thread(NamedTuple):
    """An attempt: its instruction, the state inside a leaf, the look-aheads that run beside."""

    address: int
    state: int
    trackers: _Trackers


class _MatchState(NamedTuple):
    """An ordered list of attempts, and the states of the look-behinds."""

    threads: tuple[_Thread, ...]
    behind: tuple[int, ...]


class _Fate(NamedTuple):
    """A match that may be undone: the attempts before it, and its own open look-aheads."""

    above: tuple[_Thread, ...]
    trackers: _Trackers
    behind: tuple[int, ...]


def matcher(node: Node, ordered: bool = True) -> Matcher:
    """Return the automaton of a pattern; without ``ordered`` that of all that it could match.

    Raises LimitError, and ``PatternError`` for a pattern without an automaton.
    """
    return _Machine(Program(node), ordered).run()


def only(data: bytes) -> Matcher:
    """Return the automaton of one word, of which there is one attempt, whatever follows it."""
    dfa = operations.literal(data)
    return Matcher(dfa, (*[NOTHING] * len(data), ANYTHING), looks_back=False)


def beginnings(node: Node) -> Dfa:
    """Return the automaton of all texts that begin with a match, to their end."""
    return _Machine(Program(node), ordered=False).beginnings()


@dataclass(slots=True)
class _Machine:
    """Runs all attempts at once over byte classes."""

    program: Program
    ordered: bool
    _classes: ByteClasses = field(init=False)
    _rows: list[list[list[int]]] = field(default_factory=list)
    _accepting: list[list[bool]] = field(default_factory=list)
    _certain: list[list[bool]] = field(default_factory=list)
    _looks_back: bool = False

    def __post_init__(self) -> None:
        automata = self.program.automata
        self._classes = join(dfa.classes for dfa in automata)
        for dfa in automata:
            rows = rows_over(dfa, self._classes)
            accepting = dfa.accepting
            self._rows.append(rows)
            self._accepting.append([*accepting, False])
            certain = [
                yes and set(row) == {s}
                for s, (row, yes) in enumerate(zip(rows, accepting, strict=False))
            ]
            self._certain.append([*certain, False])

    def run(self) -> Matcher:
        """Return the words, and the texts that may follow them."""
        states, rows = self._explore()
        fates = [self._fates(state) for state in states]
        rests = self._rests([fate for some in fates for fate in some])
        by_state = [reduce(either, (rests[fate] for fate in some), NOTHING) for some in fates]
        dfa, kept = trimmed(rows, [bool(some) for some in fates], self._classes)
        return Matcher(dfa, tuple(by_state[state] for state in kept), self._looks_back)

    def beginnings(self) -> Dfa:
        """Return the texts that begin with a match."""
        states, rows = self._explore()
        tags = [int(any(self._stands(thread) for thread in state.threads)) for state in states]
        for number, state in enumerate(states):
            if any(_is_sure(self.program, thread) for thread in state.threads):
                rows[number] = [number] * len(rows[number])
        return from_symbols(SymbolDfa(rows, tags, [0]), self._classes)

    def _explore(self) -> tuple[list[_MatchState], list[list[int]]]:
        """Return all lists of attempts that any text leads to, and the steps between them."""
        return self._follow(
            [self._start()],
            self._step_alive,
            lambda state: self._rows_of(state.threads, frozenset(), state.behind),
        )

    def _follow(
        self,
        starts: Iterable[S],
        step: Callable[[S, int], S | None],
        rows_of: Callable[[S], Iterable[list[int]]],
    ) -> tuple[list[S], list[list[int]]]:
        """Explore by steps; what a symbol leads to follows from its column in ``rows_of``.

        Most symbols lead to nothing, or all to the same, so that a step is made for each column.
        """
        count = class_count(self._classes)
        tracked: list[list[int]] = []

        def steps(state: S) -> list[S | None]:
            columns = [*zip(*rows_of(state), strict=True)] or [()] * count
            first: dict[tuple[int, ...], int] = {}
            for symbol, column in enumerate(columns):
                first.setdefault(column, symbol)
            numbers = {column: number for number, column in enumerate(first)}
            tracked.append([numbers[column] for column in columns])
            return [step(state, symbol) for symbol in first.values()]

        states, rows = explore(starts, steps, _MOST_STATES)
        return states, [[row[at] for at in by] for row, by in zip(rows, tracked, strict=True)]

    def _rows_of(
        self, threads: Iterable[_Thread], trackers: _Trackers, behind: Iterable[int]
    ) -> list[list[int]]:
        """Return the rows of all automata that run, at their states."""
        columns_of = {(number, state) for number, _, state in trackers}
        for thread in threads:
            instruction = self.program.code[thread.address]
            if instruction.kind is Operation.LEAF:
                columns_of.add((instruction.automaton, thread.state))
            columns_of.update((number, state) for number, _, state in thread.trackers)
        columns_of.update(
            (number, state)
            for number, state in zip(self.program.behind, behind, strict=False)
            if state != DEAD
        )
        return [self._rows[number][state] for number, state in columns_of]

    def _step_alive(self, state: _MatchState, symbol: int) -> _MatchState | None:
        target = self._step(state, symbol)
        return target if target.threads else None

    def _start(self) -> _MatchState:
        behind = tuple(0 for _ in self.program.behind)
        self._looks_back = bool(self.program.behind) and self._begins_behind()
        threads = self._closure(self.program.start, frozenset(), behind)
        return _MatchState(tuple(self._cut(threads)), behind)

    def _begins_behind(self) -> bool:
        """Return whether a look-behind may come before the first character."""
        seen: set[int] = set()
        stack = [self.program.start]
        while stack:
            address = stack.pop()
            instruction = self.program.code[address]
            if instruction.kind is Operation.BEHIND:
                return True
            if address not in seen and instruction.kind in (Operation.SPLIT, Operation.AHEAD):
                seen.add(address)
                stack.extend(instruction.targets)
        return False

    def _closure(
        self, start: int, trackers: _Trackers, behind: tuple[int, ...]
    ) -> Iterator[_Thread]:
        """Yield the attempts that are before a leaf or at a match, in order."""
        seen: set[tuple[int, _Trackers]] = set()
        stack = [(start, trackers)]
        while stack:
            address, trackers = stack.pop()
            # A later attempt at the same instruction would do the same with less preference:
            # without this a repetition of something empty would not end.
            if (address, trackers) in seen:
                continue
            seen.add((address, trackers))
            instruction = self.program.code[address]
            match instruction.kind:
                case Operation.MATCH | Operation.LEAF:
                    yield _Thread(address, 0, trackers)
                case Operation.SPLIT:
                    stack.extend((target, trackers) for target in reversed(instruction.targets))
                case Operation.AHEAD:
                    followed = self._look_ahead(instruction, trackers)
                    if followed is not None:
                        stack.append((instruction.targets[0], followed))
                case Operation.BEHIND:
                    state = behind[self.program.behind.index(instruction.automaton)]
                    if self._accepting[instruction.automaton][state] != instruction.is_negated:
                        stack.append((instruction.targets[0], trackers))

    def _look_ahead(self, instruction: Instruction, trackers: _Trackers) -> _Trackers | None:
        number, negated = instruction.automaton, instruction.is_negated
        if not self._rows[number]:
            return trackers if negated else None
        if self._certain[number][0]:
            return None if negated else trackers
        return trackers | {(number, negated, 0)}

    def _track(self, trackers: _Trackers, symbol: int) -> _Trackers | None:
        """Move the look-aheads; None where one has failed."""
        moved = set()
        for number, negated, state in trackers:
            target = self._rows[number][state][symbol]
            if self._certain[number][target]:
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
        """Return the attempts after a byte, up to an earlier match that it has confirmed."""
        moved: dict[_Thread, None] = {}
        for thread in threads:
            instruction = self.program.code[thread.address]
            trackers = self._track(thread.trackers, symbol)
            if trackers is None:
                continue
            if instruction.kind is Operation.MATCH:
                moved[_Thread(thread.address, _EARLIER, trackers)] = None
                # Python has ended here: the attempts after it are never made.
                if self.ordered and not trackers:
                    break
                continue
            target = self._rows[instruction.automaton][thread.state][symbol]
            if target == DEAD:
                continue
            if self._accepting[instruction.automaton][target]:
                starts = self._closure(instruction.targets[0], trackers, behind)
                moved.update(dict.fromkeys(starts))
            else:
                moved[_Thread(thread.address, target, trackers)] = None
        return list(moved)

    def _behind(self, behind: tuple[int, ...], symbol: int) -> tuple[int, ...]:
        return tuple(
            DEAD if at == DEAD else self._rows[number][at][symbol]
            for number, at in zip(self.program.behind, behind, strict=True)
        )

    def _step(self, state: _MatchState, symbol: int) -> _MatchState:
        behind = self._behind(state.behind, symbol)
        return _MatchState(tuple(self._cut(self._move(state.threads, behind, symbol))), behind)

    def _cut(self, threads: Iterable[_Thread]) -> Iterator[_Thread]:
        """Drop the threads after a match that nothing can undo."""
        for thread in threads:
            sure = self.ordered and _is_sure(self.program, thread)
            if not (sure and thread.state == _EARLIER):
                yield thread
            if sure:
                return

    # ---- Look-ahead after a match ----------------------------------------------------------

    def _fates(self, state: _MatchState) -> tuple[_Fate, ...]:
        """Return the matches that end in ``state``, each with the threads that can undo it."""
        return tuple(
            _Fate(state.threads[: index if self.ordered else 0], thread.trackers, state.behind)
            for index, thread in enumerate(state.threads)
            if self.program.code[thread.address].kind is Operation.MATCH
            and thread.state != _EARLIER
        )

    def _rests(self, fates: list[_Fate]) -> dict[_Fate, Lookahead]:
        """Return the texts after which each match is."""
        wanted = len(set(fates))
        met, rows = self._follow(
            fates,
            self._next_fate,
            lambda fate: self._rows_of(fate.above, fate.trackers, fate.behind),
        )
        tags = [int(self._stands_at_end(fate)) for fate in met]
        small = minimise(SymbolDfa(rows, tags, range(wanted)))
        machines = (SymbolDfa(small.rows, small.tags, [start]) for start in small.starts)
        return {
            fate: numbered(machine, self._classes)
            for fate, machine in zip(met[:wanted], machines, strict=True)
        }

    def _next_fate(self, fate: _Fate, symbol: int) -> _Fate | None:
        """Return the threads that can still undo a match after a byte; None if it is undone."""
        trackers = self._track(fate.trackers, symbol)
        if trackers is None:
            return None
        behind = self._behind(fate.behind, symbol) if fate.above else ()
        above = self._move(fate.above, behind, symbol)
        if any(_is_sure(self.program, thread) for thread in above):
            return None
        # If nothing can undo it, the text before does not matter.
        return _Fate(tuple(above), trackers, behind if above else ())

    def _stands_at_end(self, fate: _Fate) -> bool:
        return self._end_well(fate.trackers) and not any(map(self._stands, fate.above))

    def _stands(self, thread: _Thread) -> bool:
        """Return whether ``thread`` is a match if the text ends here."""
        kind = self.program.code[thread.address].kind
        return kind is Operation.MATCH and self._end_well(thread.trackers)

    def _end_well(self, trackers: _Trackers) -> bool:
        return all(self._accepting[number][state] != negated for number, negated, state in trackers)


def _is_sure(program: Program, thread: _Thread) -> bool:
    """Return whether ``thread`` is a match that no look-ahead can undo."""
    return program.code[thread.address].kind is Operation.MATCH and not thread.trackers
