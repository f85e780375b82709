"""Repair: whether a text fits a grammar, the end of a cut text, the nearest text that fits.

A text *fits*, or it is *cut*: the beginning of one that fits; or it is *wrong* from some byte on.
The grammar's way to finish applies: under ``finish=eager`` a text that goes on after its
first complete beginning is wrong there. Texts are read byte by byte, as an engine over bytes reads
them; what only a token can be, no text is.

The search for the nearest text is compiled (``kernel/repairs.pxi``). Its edits are named here:
which text was lost, and which data was invented.

Tests: tests/unit/repair/test_repair.py, tests/unit/repair/test_reported.py
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

import numpy as np

from kbnf_core.config import Finish
from kbnf_core.kernel import CLOSE, DELETE, INSERT, LEAD, REPLACE, REWRITE, STRIPPED, SWAP, TRAIL
from kbnf_core.kernel import Repairs as Search
from kbnf_core.mask.completion import Completion, readable_bytes, shortest_completion
from kbnf_core.mask.token_automaton import TokenAutomata
from kbnf_core.recognise.explain import byte_ranges
from kbnf_core.recognise.states import DEAD
from kbnf_core.repair.weights import ANY, INSIDE, JSON, OUTSIDE, Rewriter, Weights
from kbnf_core.text.errors import (
    ConfigError,
    EngineError,
    GrammarError,
    ParseError,
    Status,
    WorkLimitError,
)
from kbnf_core.text.limits import Limits
from kbnf_core.vocab.vocabulary import Vocabulary

Step: TypeAlias = tuple[int, int, int, bytes, bool, int, int]
Way: TypeAlias = tuple[int, list[Step], int]
"""The result of the search: see ``kernel/repairs.pxi``."""

_NAMES = {
    INSERT: "insert",
    DELETE: "delete",
    REPLACE: "replace",
    REWRITE: "replace",
    SWAP: "swap",
    LEAD: "strip",
    TRAIL: "strip",
}

_WORK = 3
"""Steps of ``Limits.work`` for a step of the search, which is one that is kept."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A place of a text where a repair changes it.

    ``before`` are the bytes from ``start`` to ``end`` of the text that was given, ``after`` those
    in their place. ``kind``: ``insert``, ``delete``, ``replace``, ``swap``, ``strip`` (text beside
    the data: a comment, or prose around it) or ``complete``, the end of a cut text. ``invented``:
    data that neither the text nor the grammar determines is among the written bytes. ``lost``: the
    letters, digits and contents of strings that were deleted or overwritten. ``uncertain``: the
    edit decides where a value begins or ends: a quote or a bracket is added, deleted or moved, or
    punctuation becomes part of a string. The author may have meant another offset. The brackets
    that close a text at its end are certain.
    """

    kind: str
    start: int
    end: int
    before: bytes
    after: bytes
    cost: float
    invented: bool
    lost: bytes = b""
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class Repair:
    """A text of the language near to one that was given, which was ``status``.

    Without edits it is that text. ``data`` is the text as bytes.
    """

    data: bytes
    cost: float
    edits: tuple[Edit, ...]
    status: Status

    @property
    def text(self) -> str:
        """The text; bytes that are not valid UTF-8 are U+FFFD here."""
        return self.data.decode("utf-8", "replace")

    @property
    def invented(self) -> bool:
        """Whether some edit made up data."""
        return any(edit.invented for edit in self.edits)

    @property
    def uncertain(self) -> bool:
        """Whether some edit decides where a value begins or ends."""
        return any(edit.uncertain for edit in self.edits)

    @property
    def lost(self) -> tuple[str, ...]:
        """Return the text that each edit lost, without the edits that lost none."""
        return tuple(edit.lost.decode("utf-8", "replace") for edit in self.edits if edit.lost)


class Judge:
    """Judges, completes and repairs texts by one grammar's automaton over bytes.

    ``language`` is the name of the language in which the grammar is written.
    """

    def __init__(
        self, automata: TokenAutomata, finish: Finish, limits: Limits, language: str
    ) -> None:
        self._automaton = automata.renew(_bytes(), finish)
        self._limits = limits
        self._language = language

    def status(self, data: bytes) -> Status:
        """Return whether a text fits, was cut, or is wrong."""
        return self._read(data)[1]

    def require(self, data: bytes, explain: Callable[[], object], *, partial: bool) -> None:
        """Raise ``ParseError`` for a text that does not fit, nor begins one with ``partial``.

        ``explain`` raises it with the rules that are open there, or another error beyond a limit.
        """
        status = self.status(data)
        if status == "wrong" or (status == "cut" and not partial):
            with suppress(GrammarError, WorkLimitError):
                explain()
            raise self._error(data)

    def complete(self, data: bytes) -> Completion:
        """Return the shortest way to the end of a text; raise ``ParseError`` where it is wrong."""
        position, status = self._read(data)
        if status == "wrong":
            raise self._error(data)
        result = shortest_completion(self._automaton, position, False, lambda: data)
        if result.data is None:
            raise EngineError(NO_END)
        return replace(result, before=data)

    @property
    def weights(self) -> Weights:
        """The table for the grammar: JSON's where its texts are JSON, or begin as JSON does."""
        if self._language in _OF_JSON:
            return JSON
        states = self._automaton.masks.states
        live = np.flatnonzero(np.isin(states.tables.classes, states.live_classes(states.initial)))
        first = set(live.tolist()) - set(b" \t\r\n")
        begins_so = first <= set(b'{["-0123456789tfn') and not first.isdisjoint(b"{[")
        return JSON if begins_so else ANY

    def repairs(
        self, data: bytes, most: float, best: int, weights: Weights | None, *, invent: bool
    ) -> Iterator[Repair]:
        """Yield the nearest texts, at most ``best``, that cost at most ``most``.

        Without ``weights`` the table of ``self.weights`` is used.
        Raises ``WorkLimitError`` where the search takes too long to find the first, and ends where
        it takes too long to find another one; ``ConfigError`` for a negative cost, or for no text.
        """
        if most < 0 or best < 1:
            raise ConfigError("a repair costs at least 0, and at least one is wanted")
        status = self.status(data)
        weights = weights or self.weights
        automaton, work = self._automaton, self._limits.work // _WORK
        states = automaton.masks.states
        spelled = np.zeros(256, np.uint8)
        order, bytes_ = np.array(readable_bytes(states.tables.classes), np.uint8).T.copy()
        spelled[order] = bytes_
        rewriters = (
            Rewriter(weights.rewrites, OUTSIDE, data),
            Rewriter(weights.rewrites, INSIDE, data),
        )
        search = Search(
            states,
            automaton.bytes_left.ends,
            data,
            weights,
            rewriters,
            spelled,
            order,
            best,
            most,
            work,
            len(states) + self._limits.cached_states // 2,
            automaton.rule.ends_at_bytes,
            automaton.can_finish(automaton.beginning),
            invent,
            status == "cut",
        )
        texts: set[bytes] = set()
        while len(texts) < best:
            way = search.next()
            if way is None:
                break
            repair = self._repair(data, search, way, status, rewriters)
            # Several ways of edits write one text, the cheapest first.
            if repair.data not in texts and (invent or not repair.invented):
                texts.add(repair.data)
                yield repair
        if search.is_cut and not texts:
            raise WorkLimitError(self._limits.work, "the repair of a text", _ADVICE)

    def _repair(
        self, data: bytes, search: Search, way: Way, status: Status, rewriters: tuple[Rewriter, ...]
    ) -> Repair:
        cost, steps, state = way
        edits: list[Edit] = []
        done = 0
        for kind, start, end, after, chosen, loses, total in steps:
            price, done = (total - done) / 1000, total
            if kind == CLOSE:
                edits.append(self._closing(search, state, _edited(data, edits), start, price))
                continue
            before, name = data[start:end], _NAMES[kind]
            lost = before if loses or kind in (LEAD, TRAIL) else b""
            if kind == REWRITE and not after:
                name = "strip" if loses == STRIPPED else "delete"
            if kind in (LEAD, TRAIL) and _WORD.search(before) is None:
                lost = b""
            if kind == REWRITE:
                uncertain = all(rewriter.is_uncertain(start, end, after) for rewriter in rewriters)
            else:
                closes = _CLOSING if start == len(data) else b""
                signs = set(before) | set(after) - set(closes)
                uncertain = name != "strip" and not signs.isdisjoint(_BOUNDS)
            edits.append(Edit(name, start, end, before, after, price, chosen, lost, uncertain))
        edits = _named_empty(data, edits)
        return Repair(_edited(data, edits), cost / 1000, tuple(_joined(edits)), status)

    def _closing(self, search: Search, state: int, before: bytes, end: int, price: float) -> Edit:
        """Return the edit that closes a text."""
        data = shortest_completion(self._automaton, state, False, lambda: before).data or b""
        return Edit("complete", end, end, b"", data, price, search.chooses(state, data))

    def _read(self, data: bytes) -> tuple[int, Status]:
        """Return the position after a text, DEAD where it is wrong, and its status."""
        automaton = self._automaton
        state, _ = automaton.rule.feed(automaton.masks.states, automaton.beginning, data)
        if state == DEAD:
            return DEAD, "wrong"
        position = automaton.settle(state) if data else state
        return position, "fits" if automaton.can_finish(position) else "cut"

    def _error(self, data: bytes) -> ParseError:
        automaton = self._automaton
        states = automaton.masks.states
        _, read = automaton.rule.feed(states, automaton.beginning, data)
        state, _ = automaton.rule.feed(states, automaton.beginning, data[:read])
        is_over = automaton.rule.ends_at_bytes and states.explorer.completes(state)
        live = [] if is_over else states.live_classes(state)
        return ParseError(data, read, byte_ranges(np.isin(states.tables.classes, live)))


_OF_JSON = {"JSON Schema", "Tool list", "Structural tag"}
"""Languages whose texts are JSON, or have JSON in them."""


@cache
def _bytes() -> Vocabulary:
    return Vocabulary.bytes()


NO_END = "no bytes complete the text: it never ends, or it needs a token that has none"

_ADVICE = "`most` bounds what edits may cost, and a text that is cut into parts takes less"


def _edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    chunks: list[bytes] = []
    at = 0
    for edit in edits:
        chunks += (data[at : edit.start], edit.after)
        at = edit.end
    return b"".join((*chunks, data[at:]))


def _joined(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits, with those that follow one another as one."""
    result: list[Edit] = []
    for edit in edits:
        last = result[-1] if result else None
        if last is None or last.end != edit.start or {last.kind, edit.kind} & _ALONE:
            result.append(edit)
            continue
        result[-1] = Edit(
            last.kind if last.kind == edit.kind else "replace",
            last.start,
            edit.end,
            last.before + edit.before,
            last.after + edit.after,
            last.cost + edit.cost,
            last.invented or edit.invented,
            last.lost + edit.lost,
            last.uncertain or edit.uncertain,
        )
    return result


_ALONE = {"swap", "strip"}
"""The kinds of edits that are not joined with others."""

_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]")

_BOUNDS = frozenset(b"\"'`()[]{}")
"""The characters with which values begin and end."""

_CLOSING = b")]}"

_EMPTY = re.compile(rb"""""|''|\[\s*\]|\{\s*\}|\(\s*\)""")
"""Values of which nothing but the brackets is written."""


def _named_empty(data: bytes, edits: list[Edit]) -> list[Edit]:
    """Return the edits; those are invented that insert the beginning of an empty value."""
    openings = {match.start() for match in _EMPTY.finditer(_edited(data, edits))}
    grown = 0
    result: list[Edit] = []
    for edit in edits:
        start = edit.start + grown
        grown += len(edit.after) - len(edit.before)
        is_new = edit.kind in ("insert", "complete")
        opens = is_new and not openings.isdisjoint(range(start, start + len(edit.after)))
        result.append(replace(edit, invented=True) if opens else edit)
    return result
