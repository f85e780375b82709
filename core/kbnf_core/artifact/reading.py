"""The stored facts of the text of an artifact, which need not be read again.

Findings and losses, the names with their places, and the rules with theirs, of which explanations,
samples and trees are made. Of a text without any, a JSON Schema, those of its KBNF are stored;
where that takes too much to read there are none.

A node of a rule may be part of several; parts come before wholes. Automata are lists of edges.
Lists of lists are two arrays, as in CSR: offsets, one more than lists, and elements.

Tests: tests/unit/artifact/test_reading.py
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import chain, pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kbnf_core import ir
from kbnf_core.artifact.manifest import ArtifactError
from kbnf_core.artifact.validate import Checker
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.stored import from_stored, to_stored
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source, Span

Ids = npt.NDArray[np.int32]
Arrays = Mapping[str, npt.NDArray[Any]]


class NodeKind(IntEnum):
    """The kind of a node."""

    LITERAL = 0
    REGULAR = 1
    TOKEN = 2
    CALL = 3
    SEQUENCE = 4
    CHOICE = 5
    REPEAT = 6


WIDTH = 5
"""Of a node: its kind, the two ends of its span, and two numbers."""


class Readable(Protocol):
    """The properties of a ``Grammar`` that are stored here."""

    source: Source

    @property
    def losses(self) -> tuple[Diagnostic, ...]:
        """The losses of the text."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of the reading."""

    @property
    def is_endless(self) -> bool:
        """Whether no text ever ends."""

    @property
    def has_own_rules(self) -> bool:
        """Whether rules have places in the author's text."""

    @property
    def stored_rules(self) -> tuple[ir.GrammarRules, Mapping[str, Span]] | None:
        """The rules with the places of the stored text, and where its names are defined first."""


def pack_reading(grammar: Readable, source: Source) -> dict[str, npt.NDArray[Any]]:
    """Return the reading of a text as arrays; ``source`` is the text that is stored."""
    about: dict[str, Any] = {
        "losses": to_stored(grammar.losses, source),
        "findings": to_stored(grammar.diagnostics, source),
        "is_endless": grammar.is_endless,
    }
    stored, arrays = grammar.stored_rules, {}
    if stored is not None:
        rules, names = stored
        about["names"] = {name: list(span) for name, span in names.items()}
        packed = _Packed()
        roots = [packed.add(body) for body in rules.rules.values()]
        about |= {"start": rules.start, "rules": dict(zip(rules.rules, roots, strict=True))}
        about |= {"calls": list(packed.names), "terminals": packed.terminals}
        arrays = packed.arrays()
    text = json.dumps(about, separators=(",", ":"))
    return {"about": np.frombuffer(text.encode("ascii"), np.uint8), **arrays}


class _Packed:
    """The nodes of some rules, each once."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.terminals: list[Any] = []
        self._literals: list[Ids] = []
        self._automata: dict[int, tuple[int, Dfa]] = {}
        self._nodes: list[tuple[int, ...]] = []
        self._children: list[list[int]] = []
        self._numbers: dict[int, tuple[int, ir.Node]] = {}

    def add(self, root: ir.Node) -> int:
        """Return the number of a node."""
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [child for child in ir.children(node) if id(child) not in self._numbers]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if id(node) not in self._numbers:
                # Kept alive: another node could get its address.
                self._numbers[id(node)] = len(self._nodes), node
                self._children.append([self._numbers[id(child)][0] for child in ir.children(node)])
                self._nodes.append((*self._head(node), *self._content(node)))
        return self._numbers[id(root)][0]

    @staticmethod
    def _head(node: ir.Node) -> tuple[int, int, int]:
        return _KINDS[type(node)], *node.span

    def _content(self, node: ir.Node) -> tuple[int, int]:
        match node:
            case ir.Literal():
                self._literals.append(np.frombuffer(node.data, np.uint8).astype(np.int32))
                return len(self._literals) - 1, 0
            case ir.Regular():
                numbered = self._automata.setdefault(id(node.dfa), (len(self._automata), node.dfa))
                return numbered[0], 0
            case ir.Token():
                self.terminals.append(node.terminal)
                return len(self.terminals) - 1, 0
            case ir.Call():
                return self.names.setdefault(node.nonterminal, len(self.names)), 0
            case ir.Repeat():
                return node.low, -1 if node.high is None else node.high
            case _:
                return 0, 0

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return them all."""
        result: dict[str, npt.NDArray[Any]] = {
            "rule.nodes": np.array(self._nodes, np.int32).reshape(-1, WIDTH)
        }
        result["rule.parts.start"] = _starts_of(self._children)
        result["rule.parts"] = np.array(list(chain.from_iterable(self._children)), np.int32)
        literals = _pack_arrays(self._literals)
        result["rule.literals.start"], result["rule.literals"] = literals[0], _bytes(literals[1])
        automata = [dfa for _, dfa in self._automata.values()]
        result["rule.classes"] = np.frombuffer(
            b"".join(bytes(dfa.classes) for dfa in automata), np.uint8
        ).reshape(-1, 256)
        edges = [_edges(dfa) for dfa in automata]
        result["rule.edges.start"] = _starts_of(edges)
        result["rule.edges"] = np.concatenate([np.zeros((0, 3), np.int32), *edges])
        states = [np.array(dfa.accepting, np.int32) for dfa in automata]
        result["rule.accepting.start"], accepting = _pack_arrays(states)
        result["rule.accepting"] = _bytes(accepting)
        return result


def _pack_arrays(lists: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Return (start, elements) of arrays."""
    return _starts_of(lists), np.concatenate([np.zeros(0, np.int32), *lists])


def _starts_of(lists: Sequence[Sequence[int] | Ids]) -> Ids:
    """Return the offset of each of some lists, and the end of the last one."""
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(items) for items in lists], out=start[1:])
    return start


_KINDS: dict[type, int] = {
    ir.Literal: NodeKind.LITERAL,
    ir.Regular: NodeKind.REGULAR,
    ir.Token: NodeKind.TOKEN,
    ir.Call: NodeKind.CALL,
    ir.Sequence: NodeKind.SEQUENCE,
    ir.Choice: NodeKind.CHOICE,
    ir.Repeat: NodeKind.REPEAT,
}


def _bytes(numbers: Ids) -> npt.NDArray[np.uint8]:
    return numbers.astype(np.uint8)


def _edges(dfa: Dfa) -> Ids:
    """Return (state, class, target) of the edges of an automaton."""
    # The automaton of no word has no states.
    rows = np.array(dfa.rows or [[]], np.int32)
    states, classes = np.nonzero(rows != DEAD)
    return np.stack((states, classes, rows[states, classes]), axis=1).astype(np.int32)


class StoredReading:
    """The stored reading of a text. Raises ``ArtifactError`` where the arrays are not one."""

    def __init__(self, path: str, arrays: Arrays, source: Source) -> None:
        self._path = path
        self._arrays = arrays
        self._source = source

    @cached_property
    def _about(self) -> dict[str, Any]:
        data = Checker(self._path, self._arrays).array("about", np.uint8).tobytes()
        try:
            return dict(json.loads(data.decode("ascii")))
        except (ValueError, TypeError, RecursionError):
            raise self._damaged() from None

    def _damaged(self) -> ArtifactError:
        return ArtifactError(self._path, "what it says of its text is damaged")

    @cached_property
    def losses(self) -> tuple[Diagnostic, ...]:
        """The losses of the text."""
        return self._findings("losses")

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of the reading."""
        return self._findings("findings")

    def _findings(self, name: str) -> tuple[Diagnostic, ...]:
        try:
            result = from_stored(self._about[name], self._source)
            for finding in result:
                finding.source.slice(finding.span).encode("utf-8", "surrogatepass")
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self._damaged() from None
        return result

    @property
    def is_endless(self) -> bool:
        """Whether no text ever ends."""
        return self._about.get("is_endless") is True

    @cached_property
    def names(self) -> Mapping[str, Span]:
        """Where each name is defined first."""
        try:
            return {name: self._span(*span) for name, span in self._about["names"].items()}
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self._damaged() from None

    def _span(self, start: int, end: int) -> Span:
        if not 0 <= start <= end <= len(self._source.text):
            raise ValueError
        return Span(start, end)

    @property
    def has_rules(self) -> bool:
        """Whether there are rules, with names of the text."""
        return "rules" in self._about

    @cached_property
    def rules(self) -> ir.GrammarRules | None:
        """The rules with the places of the text, None where the artifact has none."""
        if not self.has_rules:
            return None
        try:
            nodes = list(self._nodes())
            rules = {str(name): nodes[number] for name, number in self._about["rules"].items()}
            called = {str(name) for name in self._about["calls"]}
            if not called | {self._about["start"]} <= rules.keys():
                raise self._damaged()
            return ir.GrammarRules(self._about["start"], rules)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self._damaged() from None

    def _nodes(self) -> Iterator[ir.Node]:
        checker = Checker(self._path, self._arrays)
        rows = checker.array("rule.nodes", np.int32, WIDTH).tolist()
        children = checker.lists("rule.parts", len(rows)).tolist()
        within = list(pairwise(self._arrays["rule.parts.start"].tolist()))
        literals = checker.lists("rule.literals", dtype=np.uint8).tobytes()
        ends = list(pairwise(self._arrays["rule.literals.start"].tolist()))
        automata = list(self._automata(checker))
        names = [str(name) for name in self._about["calls"]]
        terminals = list(map(_terminal, self._about["terminals"]))
        made: list[ir.Node] = []
        for row, (first, last) in zip(rows, within, strict=True):
            kind, start, end, one, other = row
            if min(one, kind, *children[first:last]) < 0:
                raise ValueError
            # A node that is not made yet is out of range, so that no node is a child of its own.
            below, span = (
                tuple(made[number] for number in children[first:last]),
                self._span(start, end),
            )
            match kind:
                case NodeKind.LITERAL:
                    made.append(ir.Literal(literals[slice(*ends[one])], span))
                case NodeKind.REGULAR:
                    made.append(ir.Regular(automata[one], span))
                case NodeKind.TOKEN:
                    made.append(ir.Token(terminals[one], span))
                case NodeKind.CALL:
                    made.append(ir.Call(names[one], span))
                case NodeKind.SEQUENCE:
                    made.append(ir.Sequence(below, span))
                case NodeKind.CHOICE:
                    made.append(ir.Choice(below, span))
                case NodeKind.REPEAT:
                    made.append(ir.Repeat(below[0], one, None if other < 0 else other, span))
                case _:
                    raise ValueError
        yield from made

    def _automata(self, checker: Checker) -> Iterator[Dfa]:
        classes = checker.array("rule.classes", np.uint8, 256)
        count = len(classes)
        accepting = checker.lists("rule.accepting", count, dtype=np.uint8)
        edges = checker.lists("rule.edges", count, width=3)
        columns = pairwise(self._arrays["rule.edges.start"].tolist())
        states = pairwise(self._arrays["rule.accepting.start"].tolist())
        for own, (a, b), (c, d) in zip(classes, columns, states, strict=True):
            rows = np.full((d - c, int(own.max()) + 1), DEAD, np.int32)
            for column, most in enumerate((*rows.shape, d - c)):
                checker.within("rule.edges", edges[a:b, column], 0, most)
            rows[edges[a:b, 0], edges[a:b, 1]] = edges[a:b, 2]
            yield Dfa(own.tobytes(), rows.tolist(), list(map(bool, accepting[c:d].tolist())))


def _terminal(value: Sequence[Any]) -> ir.TokenTerminal:
    name, ranges, negated = value
    pairs = tuple((int(low), int(high)) for low, high in ranges)
    return ir.TokenTerminal(None if name is None else str(name), pairs, bool(negated))
