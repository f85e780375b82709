"""Repairs, against a search that keeps no states: ``python -m kbnf_testing.repairs --cases 2000``.

The judge goes through the beginnings of texts, one byte after the other, as the reference
recogniser tells them. For each it has a row, as Wagner and Fischer's: by offset in the damaged
text, the least that it costs to have read so far and written the beginning. Prices are those that
``docs/repair.md`` says, worked out anew.
"""

import argparse
import sys
from random import Random

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.mask.completion import readable_bytes
from kbnf_core.repair.weights import ANY, Weights
from kbnf_core.text.errors import GrammarError
from kbnf_testing import grammar as g
from kbnf_testing.earley import Recogniser
from kbnf_testing.grammar import word_of
from kbnf_testing.printer import to_kbnf

RULES = 8
LENGTH = 10
MOST = 3.1
ALPHABETS = ('a(,"', "ab ", "ab) ", '"x1,', "ab[]", "<a>b", "a'b,")
WEIGHTS = (ANY, Weights(quoted=0.6, rewrites=((b"'", b'"', 0.2), (b"ab", b"b", 0.7))))
NEVER = 1 << 40
MOST_BEGINNINGS = 20_000
QUOTES = b"'\"`"


class GivenUpError(Exception):
    """There are too many beginnings to look at."""


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
        lead = self._beyond(b"", 0, _thousandths(self._weights.around))
        first = {at: lead + 2 * at for at in range(1, len(text))} | {0: 0}
        self._descend(first)
        return NEVER if self._best > most else self._best

    def _descend(self, first: dict[int, int]) -> None:
        # What is to be written yet of an edit, the offset after it, and the cost.
        work: list[tuple[bytes, dict[int, int], list[tuple[bytes, int, int]]]] = [(b"", first, [])]
        while work:
            beginning, row, pending = work.pop()
            self._delete(beginning, row)
            self._note_end(beginning, row)
            pending = pending + self._writes(beginning, row)
            after: dict[int, tuple[dict[int, int], list[tuple[bytes, int, int]]]] = {}
            for byte in {self._readable[each] for each in self.viable(beginning)} | {
                each for each in {*self._text, *QUOTES} if self._takes(beginning, each)
            }:
                after[byte] = {}, []
            for at, cost in row.items():
                self._write_one(beginning, at, cost, after)
            for rest, at, cost in pending:
                if rest[0] in after and cost < self._best:
                    if len(rest) == 1:
                        _improve(after[rest[0]][0], at, cost)
                    else:
                        after[rest[0]][1].append((rest[1:], at, cost))
            for byte, (longer, others) in after.items():
                if any(cost < self._best for cost in longer.values()) or others:
                    work.append((beginning + bytes((byte,)), longer, others))

    def _takes(self, beginning: bytes, byte: int) -> bool:
        return self._classes[byte] in self.viable(beginning)

    def _delete(self, beginning: bytes, row: dict[int, int]) -> None:
        for at in range(len(self._text)):
            if at in row:
                _improve(row, at + 1, row[at] + self._without(beginning, at))

    def _note_end(self, beginning: bytes, row: dict[int, int]) -> None:
        if not self._recogniser.contains(word_of(beginning)):
            return
        for at, cost in row.items():
            left = len(self._text) - at
            around = self._beyond(beginning, at, _thousandths(self._weights.around))
            self._best = min(self._best, cost + (around + 2 * left if left else 0))

    def _writes(self, beginning: bytes, row: dict[int, int]) -> list[tuple[bytes, int, int]]:
        """Return the edits that write more than a byte."""
        text, weights = self._text, self._weights
        is_free = self._is_free(beginning)
        swapped = _thousandths(weights.content if is_free else weights.swapped)
        found: list[tuple[bytes, int, int]] = []
        for at, cost in row.items():
            pair = text[at : at + 2]
            if len(pair) == 2 and pair[0] != pair[1]:
                found.append((pair[::-1], at + 2, cost + self._beyond(beginning, at, swapped)))
            for read, written, price in weights.rewrites:
                if text.startswith(read, at):
                    dearer = self._beyond(beginning, at, _thousandths(price))
                    found.append((written, at + len(read), cost + dearer))
            end = at
            while end < len(text) and _is_of_word(text[end]):
                end += 1
            begins = end > at and _is_word(text[at]) and not (at and _is_of_word(text[at - 1]))
            found.extend(
                (quote + text[at:end] + quote, end, cost + _thousandths(weights.quoted))
                for quote in ((b"'", b'"') if begins and not is_free else ())
            )
        return found

    def _write_one(
        self,
        beginning: bytes,
        at: int,
        cost: int,
        after: dict[int, tuple[dict[int, int], list[tuple[bytes, int, int]]]],
    ) -> None:
        """Read the next byte as it is, insert a byte, or replace the next one."""
        text = self._text
        if at < len(text) and text[at] in after:
            _improve(after[text[at]][0], at + 1, cost)
        for byte_class in self.viable(beginning):
            byte = self._readable[byte_class]
            price, is_chosen = self._with(beginning, byte)
            price = self._beyond(beginning, at, price)
            dearer = 0
            if byte in QUOTES:
                dearer = 0 if self._is_free(beginning) else _thousandths(self._weights.opened)
            elif at == len(text) and not is_chosen:
                price = min(price, _thousandths(self._weights.closed))
            opened = 0 if _is_word_at(text, at) else dearer
            _improve(after[byte][0], at, cost + price + opened)
            if at < len(text) and byte_class != self._classes[text[at]]:
                price += 0 if _is_word_at(text, at + 1) else dearer
                dearest = max(price, self._without(beginning, at)) + 100
                _improve(after[byte][0], at + 1, cost + dearest)

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
        if _is_word(byte):
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
            if not self._is_free(beginning):
                return max(price, _thousandths(self._weights.marker))
        return price

    def _without(self, beginning: bytes, at: int) -> int:
        return self._beyond(beginning, at, self._plain_without(beginning, at))

    def _plain_without(self, beginning: bytes, at: int) -> int:
        byte, weights = self._text[at], self._weights
        fits = self._takes(beginning, byte)
        if fits and (_is_word(byte) or self._is_content(beginning, byte)):
            return _thousandths(weights.content)
        if _is_word(byte):
            return _thousandths(weights.noise)
        if byte in b" \t\r\n":
            parts = at > 0 and _is_word(self._text[at - 1]) and _is_word_at(self._text, at + 1)
            return _thousandths(weights.sign if parts else weights.blank)
        return _thousandths(weights.sign)


def _thousandths(cost: float) -> int:
    return int(1000 * cost + 0.5)


def _is_word(byte: int) -> bool:
    return byte >= 0x80 or chr(byte).isalnum()


def _is_of_word(byte: int) -> bool:
    return _is_word(byte) or byte in b"_-"


def _is_word_at(text: bytes, at: int) -> bool:
    return at < len(text) and _is_word(text[at])


def _improve(row: dict[int, int], at: int, cost: int) -> None:
    row[at] = min(cost, row.get(at, NEVER))


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
