"""Parse trees: nodes in preorder in flat arrays, and a view of one of them.

A node is a number in four columns: its label, where it starts and ends in the text, and how many
nodes are below it. So a tree of millions of nodes is four arrays, a subtree is a slice of them,
and nothing here recurses. Only rules are nodes; what lies between children is text.

Tests: tests/unit/parse
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.ir.families import family_of

SCHEMA = "kbnf.parse/1"
"""The form of ``Tree.to_dict``."""

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Nodes:
    """All nodes of one text. Labels from ``len(names)`` on are ids of tokens.

    ``ends`` is -1 for a rule whose end is not certain, in the tree of an unfinished text.
    """

    data: bytes
    names: tuple[str, ...]
    labels: Ids
    starts: Ids
    ends: Ids
    below: Ids

    def labelled(self, rule: str) -> list[int]:
        """Return the label of a rule, or those of all rules of a family."""
        names = enumerate(self.names)
        return [label for label, name in names if rule in (name, family_of(name))]


class Event(NamedTuple):
    """A rule begins (``kind`` is ``open``) or ends (``close``) before the byte at ``offset``."""

    kind: str
    rule: str
    offset: int

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON has it."""
        return {"event": self.kind, "rule": self.rule, "offset": self.offset}


class Tree:
    """A rule, or a token, that matched a part of a text: bytes ``start`` to ``end``.

    Two trees are equal if rules, places and texts are.
    """

    __slots__ = ("_at", "_nodes")

    def __init__(self, nodes: Nodes, at: int = 0) -> None:
        self._nodes = nodes
        self._at = at

    @property
    def rule(self) -> str:
        """The name of the rule; empty for a token that the grammar names by id."""
        label = int(self._nodes.labels[self._at])
        return self._nodes.names[label] if label < len(self._nodes.names) else ""

    @property
    def token(self) -> int | None:
        """The id of a token that a token terminal matched, None for a rule."""
        label = int(self._nodes.labels[self._at]) - len(self._nodes.names)
        return label if label >= 0 else None

    @property
    def start(self) -> int:
        """The offset in bytes where its match begins."""
        return int(self._nodes.starts[self._at])

    @property
    def end(self) -> int:
        """The offset in bytes after its match; that of the text where it is not over."""
        return int(self._nodes.ends[self._at]) if self.is_closed else len(self._nodes.data)

    @property
    def is_closed(self) -> bool:
        """Whether the end is certain, as in every tree of a whole text."""
        return bool(self._nodes.ends[self._at] >= 0)

    @property
    def data(self) -> bytes:
        """The bytes that it matched."""
        return self._nodes.data[self.start : self.end]

    @property
    def text(self) -> str:
        """The text that it matched; bytes that are not UTF-8 are replaced by U+FFFD."""
        return self.data.decode("utf-8", "replace")

    @property
    def children(self) -> "Sequence[Tree]":
        """The rules and tokens that it is made of, in the order of the text."""
        result = []
        at = self._at + 1
        end = at + int(self._nodes.below[self._at])
        while at < end:
            result.append(Tree(self._nodes, at))
            at += 1 + int(self._nodes.below[at])
        return result

    def __iter__(self) -> "Iterator[Tree]":
        """Yield this node and all below it, outer ones first, in the order of the text."""
        for at in range(self._at, self._after):
            yield Tree(self._nodes, at)

    def __len__(self) -> int:
        """Return the number of nodes of this tree."""
        return 1 + int(self._nodes.below[self._at])

    @property
    def _after(self) -> int:
        return self._at + len(self)

    @property
    def rules(self) -> frozenset[str]:
        """The rules of this node and of those below it."""
        names = self._nodes.names
        result = np.unique(self._nodes.labels[self._at : self._after]).tolist()
        return frozenset(names[label] for label in result if label < len(names))

    def find_all(self, rule: str) -> "Iterator[Tree]":
        """Yield the nodes of a rule, or of a family, this one included, outer ones first."""
        labels = self._nodes.labels[self._at : self._after]
        for index in np.flatnonzero(np.isin(labels, self._nodes.labelled(rule))).tolist():
            yield Tree(self._nodes, self._at + index)

    def find(self, rule: str) -> "Tree | None":
        """Return the first node of a rule, None where there is none."""
        return next(self.find_all(rule), None)

    def at(self, offset: int) -> "Sequence[Tree]":
        """Return the nodes that contain the byte at ``offset``, outermost first."""
        path: list[Tree] = []
        at, end = self._at, self._after
        while at < end:
            node = Tree(self._nodes, at)
            if node.start <= offset < node.end:
                path.append(node)
                end = node._after
                at += 1
            else:
                at = node._after
        return path

    def kept(self, rules: Sequence[str] | None = None, depth: int | None = None) -> "Tree":
        """Return the tree of some rules only, or that many levels deep; the root always stays.

        The children of a node that is left out are those of its parent.
        """
        nodes = self._nodes
        kept_labels = [label for rule in rules or () for label in nodes.labelled(rule)]
        inside = slice(self._at, self._after)
        labels, below = nodes.labels[inside], nodes.below[inside]
        keep = np.ones(len(labels), np.bool_)
        if rules is not None:
            keep &= np.isin(labels, kept_labels) | (labels >= len(nodes.names))
        keep[0] = True
        before = np.concatenate(([0], np.cumsum(keep)))
        levels = _levels(keep, below)
        if depth is not None:
            keep &= levels <= depth
            before = np.concatenate(([0], np.cumsum(keep)))
        index = np.arange(len(labels))
        under = (before[index + 1 + below] - before[index + 1]).astype(np.int32)
        return Tree(
            Nodes(
                nodes.data,
                nodes.names,
                labels[keep],
                nodes.starts[inside][keep],
                nodes.ends[inside][keep],
                under[keep],
            )
        )

    def walk(self) -> "Iterator[tuple[int, Tree]]":
        """Yield all nodes with their depth, which is 0 for this one."""
        ends: list[int] = []
        for node in self:
            while ends and ends[-1] <= node._at:
                ends.pop()
            yield len(ends), node
            ends.append(node._after)

    def events(self) -> Iterator[Event]:
        """Yield the beginnings and ends of rules, in the order of the text; tokens have none."""
        opened: list[Tree] = []
        for depth, node in self.walk():
            while len(opened) > depth:
                yield from _closing(opened.pop())
            opened.append(node)
            if node.token is None:
                yield Event("open", node.rule, node.start)
        while opened:
            yield from _closing(opened.pop())

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as ``kbnf parse --format json`` prints it, without the name of the form.

        ``{"rule", "start", "end", "children"}``, with ``text`` where there are no children, or
        ``hex`` where that is not valid UTF-8; ``{"token": id}`` for a token; ``end`` is None where
        it is not certain.
        """
        values: list[dict[str, Any]] = []
        for depth, node in self.walk():
            del values[depth:]
            value = node._as_value()
            if values:
                values[-1]["children"].append(value)
            values.append(value)
        return values[0]

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON, whatever the depth."""
        texts: list[str] = []
        ends: list[str] = []
        last = -1
        for depth, node in self.walk():
            if depth <= last:
                texts += reversed(ends[depth:])
                del ends[depth:]
                texts.append(", ")
            head = node._as_value()
            # Its children, if any, come between these two.
            whole = dumps(head)
            cut = whole.rfind("[]") + 1 if len(node) > 1 else len(whole)
            texts.append(whole[:cut])
            ends.append(whole[cut:])
            last = depth
        return "".join([*texts, *reversed(ends)])

    def _as_value(self) -> dict[str, Any]:
        if self.token is not None:
            return {"token": self.token}
        value: dict[str, Any] = {
            "rule": self.rule,
            "start": self.start,
            "end": self.end if self.is_closed else None,
            "children": [],
        }
        if len(self) == 1:
            try:
                value["text"] = self.data.decode()
            except UnicodeDecodeError:
                value["hex"] = self.data.hex()
        return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if len(self) != len(other) or self.data != other.data:
            return False
        return all(
            (one.rule, one.token, one.start, one.end) == (two.rule, two.token, two.start, two.end)
            for one, two in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.rule, self.start, self.end, len(self)))

    def __repr__(self) -> str:
        if self.token is not None:
            return f"<Tree: token {self.token} at {self.start}>"
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "..."
        return f"<Tree {self.rule} {self.start}-{self.end} {shown!r}, {len(self)} nodes>"


_SHOWN = 40
"""Characters of its text in the ``repr`` of a tree."""


def _closing(node: Tree) -> Iterator[Event]:
    if node.token is None and node.is_closed:
        yield Event("close", node.rule, node.end)


def _levels(keep: npt.NDArray[np.bool_], below: Ids) -> npt.NDArray[np.int64]:
    """Return the depth of each node, counting those that are kept only."""
    size = len(keep)
    change = np.zeros(size + 1, np.int64)
    change[1:] += keep
    np.subtract.at(change, (np.arange(size) + 1 + below)[keep], 1)
    levels: npt.NDArray[np.int64] = np.cumsum(change[:size])
    return levels
