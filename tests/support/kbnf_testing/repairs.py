"""Repairs, against a search that keeps no states: ``python -m kbnf_testing.repairs --cases 2000``.

The judge goes through the beginnings of texts, one byte after the other, as the reference
recogniser tells them. For each it has a row, as Wagner and Fischer's: by offset in the damaged
text, and by the last edit but deletions (``Edge``), the least that it costs to have read so far and
written the beginning. Prices are those that ``docs/repair.md`` says, worked out anew.
"""

import argparse
import re
import sys
from enum import Enum
from random import Random

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.mask.completion import readable_bytes
from kbnf_core.repair.weights import ANY, INSIDE, JSON, OUTSIDE, Rewrite, Weights
from kbnf_core.text.errors import GrammarError
from kbnf_testing import grammar as g
from kbnf_testing.earley import Recogniser
from kbnf_testing.grammar import word_of
from kbnf_testing.printer import to_kbnf

RULES = 8
LENGTH = 10
MOST = 3.1
ALPHABETS = ('a(,"', "ab ", "ab) ", '"x1,', "ab[]", "<a>b", "a'b,")
WEIGHTS = (
    ANY,
    JSON,
    Weights(
        words=b"(",
        rewrites=(
            Rewrite(b"'", b'"', 0.2),
            Rewrite(b"ab", b"b", 0.7),
            Rewrite(rb"a(?=[,)])", b"", 0.4, OUTSIDE),
            Rewrite(rb"(?<!b)b{1,3}", rb'"\g<0>"', 0.6, OUTSIDE),
            Rewrite(rb"[a<]", rb",\g<0>", 0.3, INSIDE),
            Rewrite(b",", b"", 0.4, INSIDE),
            Rewrite(rb"[a-b]{2,3}", b"", 0.5, OUTSIDE, byte_cost=0.1),
            Rewrite(b"x", b"11111", 0.4),
        ),
    ),
)
NEVER = 1 << 40
MOST_BEGINNINGS = 20_000
QUOTES = b"'\"`"


class GivenUpError(Exception):
    """There are too many beginnings to look at."""


class Edge(Enum):
    """The last edit but deletions: text before was deleted, or a byte was inserted or replaced."""

    NONE, LED, INSERTED = range(3)


Row = dict[tuple[int, Edge], int]
Pending = tuple[bytes, int, Edge, int]
"""The rest to write of an edit, the offset after it, its edge, and the cost."""


def draw_grammar(random: Random, alphabet: str) -> g.Grammar:
    """Return a grammar of eight rules, some of which may be out of reach."""
    names = ["start", *(f"r{number}" for number in range(1, RULES))]

    def part(number: int) -> g.Expression:
        kind = random.random()
        if kind < 0.4 and number + 1 < RULES:
            return g.Reference(random.choice(names[number + 1 :]))
        if kind < 0.5:
            return g.Reference(random.choice(names))
        if kind < 0.58:
            return g.Chars(frozenset('"'), negated=True)
        text = "".join(random.choice(alphabet) for _ in range(random.choice((1, 1, 2, 3))))
        literal = g.Literal(text.encode())
        return g.Repeat(literal, 0, None) if random.random() < 0.15 else literal

    def body(number: int) -> g.Expression:
        branches = tuple(
            g.Sequence(tuple(part(number) for _ in range(random.choice((1, 2, 2, 3)))))
            for _ in range(random.choice((1, 2, 2)))
        )
        return g.Choice(branches)

    return g.Grammar({name: body(number) for number, name in enumerate(names)})


class Judge:
    """Finds what the nearest text costs, in thousandths."""

    def __init__(self, grammar: g.Grammar, subject: Grammar, weights: Weights) -> None:
        self._recogniser = Recogniser(grammar)
        classes = subject.tables.classes.tolist()
        self._classes = classes
        self._readable = dict(readable_bytes(subject.tables.classes))
        self._sizes = {each: classes.count(each) for each in self._readable}
        self._weights = weights
        self._viable: dict[bytes, frozenset[int]] = {}

    def viable(self, beginning: bytes) -> frozenset[int]:
        """Return the classes of which a byte may come."""
        if beginning not in self._viable:
            if len(self._viable) > MOST_BEGINNINGS:
                raise GivenUpError
            self._viable[beginning] = frozenset(
                byte_class
                for byte_class, byte in self._readable.items()
                if self._recogniser.viable(word_of(beginning + bytes((byte,))))
            )
        return self._viable[beginning]

    def least(self, text: bytes, most: int) -> int:
        """Return the cost of the nearest text, ``NEVER`` if it is above ``most``."""
        self._text, self._best = text, most + 1
        self._rewrites = [
            (
                re.compile(each.pattern),
                each.written,
                (_thousandths(each.cost), _thousandths(each.byte_cost)),
                each.where,
            )
            for each in self._weights.rewrites
        ]
        lead = self._beyond(b"", 0, _thousandths(self._weights.around))
        first: Row = {(at, Edge.LED): lead + 2 * at for at in range(1, len(text))}
        self._descend(first | {(0, Edge.INSERTED): 0})
        return NEVER if self._best > most else self._best

    def _descend(self, first: Row) -> None:
        work: list[tuple[bytes, Row, list[Pending]]] = [(b"", first, [])]
        while work:
            beginning, row, pending = work.pop()
            pending = pending + self._writes(beginning, row)
            self._note_end(beginning, row)
            after: dict[int, tuple[Row, list[Pending]]] = {}
            for byte in {self._readable[each] for each in self.viable(beginning)} | {
                each for each in range(256) if self._takes(beginning, each)
            }:
                after[byte] = {}, []
            for (at, edge), cost in row.items():
                self._write_one(beginning, at, edge, cost, after)
            for rest, at, edge, cost in pending:
                if rest[0] in after and cost < self._best:
                    if len(rest) == 1:
                        _improve(after[rest[0]][0], at, edge, cost)
                    else:
                        after[rest[0]][1].append((rest[1:], at, edge, cost))
            for byte, (longer, others) in after.items():
                if any(cost < self._best for cost in longer.values()) or others:
                    work.append((beginning + bytes((byte,)), longer, others))

    def _takes(self, beginning: bytes, byte: int) -> bool:
        return self._classes[byte] in self.viable(beginning)

    def _note_end(self, beginning: bytes, row: Row) -> None:
        if not self._recogniser.contains(word_of(beginning)):
            return
        for (at, edge), cost in row.items():
            left = len(self._text) - at
            if not left:
                self._best = min(self._best, cost)
            elif edge is Edge.NONE:
                around = self._beyond(beginning, at, _thousandths(self._weights.around))
                self._best = min(self._best, cost + around + 2 * left)

    def _writes(self, beginning: bytes, row: Row) -> list[Pending]:
        """Note edits that write nothing; return those that write more than a byte."""
        text, weights = self._text, self._weights
        is_free = self._is_free(beginning)
        swapped = _thousandths(weights.content if is_free else weights.swapped)
        found: list[Pending] = []
        for at in range(len(text)):
            matches = self._matches(beginning, at, is_free)
            pair = text[at : at + 2]
            for edge in Edge:
                if (at, edge) not in row:
                    continue
                cost = row[at, edge]
                _improve(row, at + 1, edge, cost + self._without(beginning, at, joins=True))
                if len(pair) == 2 and pair[0] != pair[1]:
                    dear = cost + self._beyond(beginning, at, swapped)
                    found.append((pair[::-1], at + 2, Edge.NONE, dear))
                for written, end, price in matches:
                    if written:
                        found.append((written, end, Edge.NONE, cost + price))
                    else:
                        _improve(row, end, edge, cost + price)
        return found

    def _matches(self, beginning: bytes, at: int, is_free: bool) -> list[tuple[bytes, int, int]]:
        found: list[tuple[bytes, int, int]] = []
        for pattern, written, prices, where in self._rewrites:
            match = pattern.match(self._text, at)
            if where == (OUTSIDE if is_free else INSIDE) or match is None:
                continue
            price = prices[0] + prices[1] * len(match[0])
            text = written(match) if callable(written) else match.expand(written)
            if match.end() > at and (len(text) - len(match[0])) * self._least_growth() <= price:
                found.append((text, match.end(), self._beyond(beginning, at, price)))
        return found

    def _least_growth(self) -> int:
        weights = self._weights
        signs = (weights.blank, weights.sign, weights.closed, weights.chosen)
        return min(_thousandths(weights.forced) // 4, *map(_thousandths, signs))

    def _write_one(
        self,
        beginning: bytes,
        at: int,
        edge: Edge,
        cost: int,
        after: dict[int, tuple[Row, list[Pending]]],
    ) -> None:
        """Read the next byte as it is, insert a byte, or replace the next one."""
        text, weights = self._text, self._weights
        if at < len(text) and text[at] in after:
            _improve(after[text[at]][0], at + 1, Edge.NONE, cost)
        for byte_class in self.viable(beginning) if edge is not Edge.LED else ():
            byte = self._readable[byte_class]
            price, is_chosen = self._with(beginning, byte)
            price = self._beyond(beginning, at, price)
            dearer = 0
            if byte in QUOTES:
                dearer = 0 if self._is_free(beginning) else _thousandths(weights.opened)
            elif at == len(text) and not is_chosen:
                price = min(price, _thousandths(weights.closed))
            opened = 0 if self._is_word_at(at) else dearer
            _improve(after[byte][0], at, Edge.INSERTED, cost + price + opened)
            if at < len(text) and byte_class != self._classes[text[at]]:
                price += 0 if self._is_word_at(at + 1) else dearer
                dearest = max(price, self._without(beginning, at)) + 100
                if self._is_word(text[at]) and not self._is_word(byte):
                    dearest = max(dearest, _thousandths(weights.joined))
                _improve(after[byte][0], at + 1, Edge.INSERTED, cost + dearest)

    def _count(self, beginning: bytes) -> int:
        return sum(self._sizes[each] for each in self.viable(beginning))

    def _is_free(self, beginning: bytes) -> bool:
        return self._count(beginning) >= 64

    def _is_content(self, beginning: bytes, byte: int) -> bool:
        return self._is_free(beginning) and self._is_free(beginning + bytes((byte,)))

    def _with(self, beginning: bytes, byte: int) -> tuple[int, bool]:
        weights = self._weights
        if self._is_content(beginning, byte):
            return _thousandths(weights.chosen), True
        if self._is_word(byte):
            forced = self._count(beginning) == 1
            return _thousandths(weights.forced if forced else weights.chosen), not forced
        return _thousandths(weights.blank if byte in b" \t\r\n" else weights.sign), False

    def _beyond(self, beginning: bytes, at: int, price: int) -> int:
        """Return what an edit costs where the text, read on, may come out of free text."""
        text = self._text
        may_end = not beginning or self._recogniser.contains(word_of(beginning))
        if may_end and self._is_free(beginning):
            while self._is_free(beginning) and at < len(text) and self._takes(beginning, text[at]):
                beginning += text[at : at + 1]
                at += 1
            # A text that ends there leads to nothing.
            if not self._is_free(beginning) and self.viable(beginning):
                return max(price, _thousandths(self._weights.marker))
        return price

    def _without(self, beginning: bytes, at: int, *, joins: bool = False) -> int:
        price = self._plain_without(beginning, at)
        is_between = at > 0 and self._is_word_at(at - 1) and self._is_word_at(at + 1)
        if joins and is_between and not self._is_word_at(at) and self._count(beginning) != 1:
            price = max(price, _thousandths(self._weights.joined))
        return self._beyond(beginning, at, price)

    def _plain_without(self, beginning: bytes, at: int) -> int:
        byte, weights = self._text[at], self._weights
        is_word = self._is_word(byte)
        if self._takes(beginning, byte) and (is_word or self._is_content(beginning, byte)):
            return _thousandths(weights.content)
        if is_word:
            return _thousandths(weights.noise)
        return _thousandths(weights.blank if byte in b" \t\r\n" else weights.sign)

    def _is_word(self, byte: int) -> bool:
        return byte >= 0x80 or chr(byte).isalnum() or byte in self._weights.words

    def _is_word_at(self, at: int) -> bool:
        return at < len(self._text) and self._is_word(self._text[at])


def _thousandths(cost: float) -> int:
    return int(1000 * cost + 0.5)


def _improve(row: Row, at: int, edge: Edge, cost: int) -> None:
    row[at, edge] = min(cost, row.get((at, edge), NEVER))


def damage(random: Random, text: bytes, alphabet: str) -> bytes:
    """Return a text of at most ten bytes with a few random edits."""
    found = bytearray(text[:LENGTH])
    for _ in range(random.choice((0, 1, 2, 2, 3, 4))):
        at = random.randrange(len(found) + 1)
        taken = random.choice((0, 1))
        written = random.choice(alphabet).encode() if random.random() < 0.7 else b""
        found[at : at + taken] = written
    return bytes(found[:LENGTH])


def compare(seed: int) -> str:
    """Compare one case; return what it was. Raises ``GivenUpError`` for one too large to judge."""
    random = Random(seed)
    alphabet = random.choice(ALPHABETS)
    drawn = draw_grammar(random, alphabet)
    try:
        grammar = Grammar(to_kbnf(drawn), finish="eos")
    except GrammarError:
        return "no grammar"
    if grammar.reading.is_endless:
        return "endless"
    engine = Engine(grammar, Vocabulary.bytes())
    sample = engine.sample(random, random.randrange(8))
    text = damage(random, bytes(each for each in sample.tokens if each < 0x80), alphabet)
    weights = random.choice(WEIGHTS)
    status = grammar.status(text)
    word = word_of(text)
    judge = Judge(drawn, grammar, weights)
    recogniser = judge._recogniser
    is_begun = recogniser.viable(word)
    fits = is_begun and recogniser.contains(word)
    assert status == ("fits" if fits else "cut" if is_begun else "wrong"), (text, status)
    found = grammar.repair(text, MOST, weights=weights)
    for each in found:
        assert recogniser.contains(word_of(each.data)), (text, each)
        changed = text
        for edit in reversed(each.edits):
            assert changed[edit.start : edit.end] == edit.before
            changed = changed[: edit.start] + edit.after + changed[edit.end :]
        assert changed == each.data
        assert abs(sum(edit.cost for edit in each.edits) - each.cost) < 1e-9
    if status == "cut":
        assert [edit.kind for edit in found[0].edits] == ["complete"]
        return status
    cost = round(1000 * found[0].cost) if found else NEVER
    least = judge.least(text, min(cost, _thousandths(MOST)))
    assert cost == least, (to_kbnf(drawn), text, found, least)
    return "none" if not found else f"{status} {len(found[0].edits)}"


def main() -> None:
    """Compare many cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: dict[str, int] = {}
    for seed in range(options.first, options.first + options.cases):
        try:
            kind = compare(seed)
        except GivenUpError:
            kind = "given up"
        counts[kind] = counts.get(kind, 0) + 1
    sys.stdout.write(f"{dict(sorted(counts.items()))}\n")


if __name__ == "__main__":
    main()
