"""Random families against the reference recogniser, over the same rules written out by hand."""

from dataclasses import dataclass
from itertools import product
from random import Random

import pytest

from kbnf_core import Engine, Grammar, GrammarError, RejectedError, Vocabulary
from kbnf_testing import grammar as g
from kbnf_testing.earley import Recogniser

COLUMNS = 3
FAMILIES = "abc"
LONGEST = 5
WORDS = ["".join(letters) for n in range(1, LONGEST + 1) for letters in product("xy", repeat=n)]


@dataclass(frozen=True)
class Number:
    """``@n+add`` or ``@add``, after a relation."""

    is_bound: bool
    add: int
    relation: str = ""

    def text(self) -> str:
        """Return it as a family has it."""
        if not self.is_bound:
            return f"@{self.relation}{self.add}"
        return f"@{self.relation}n" + (f"{self.add:+}" if self.add else "")

    def value(self, own: int) -> int:
        """Return what it is in the rule ``own``."""
        return self.add + (own if self.is_bound else 0)


@dataclass(frozen=True)
class Part:
    """A literal with a count, or a call; ``repeat`` is behind a call."""

    literal: str = ""
    bounds: tuple[Number | int, Number | int | None] = (1, 1)
    family: str = ""
    number: Number = Number(False, 0)
    repeat: str = ""

    def text(self) -> str:
        """Return it as a family has it."""
        if self.family:
            return f"{self.family}{self.number.text()}{self.repeat}"
        low, high = (each.text() if isinstance(each, Number) else each for each in self.bounds)
        inner = f"{low}" if low == high else f"{low},{'' if high is None else high}"
        return f"'{self.literal}'{{{inner}}}"

    def expression(self, own: int) -> g.Expression:
        """Return it as the rule ``own`` has it."""
        if not self.family:
            low, high = (
                each.value(own) if isinstance(each, Number) else each for each in self.bounds
            )
            if low is None or low < 0 or (high is not None and high < low):
                return g.Choice(())
            return g.Repeat(g.Literal(self.literal.encode()), low, high)
        value = self.number.value(own)
        reached = {
            "": range(value, value + 1),
            ">": range(value + 1, COLUMNS + 1),
            ">=": range(value, COLUMNS + 1),
        }[self.number.relation]
        calls = [g.Reference(f"{self.family}_{each}") for each in reached if 0 <= each <= COLUMNS]
        called = calls[0] if len(calls) == 1 else g.Choice(tuple(calls))
        low, high = {"": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}[self.repeat]
        return called if not self.repeat else g.Repeat(called, low, high)


def _number(random: Random, relations: tuple[str, ...]) -> Number:
    relation = random.choice(relations)
    if random.random() < 0.3:
        return Number(False, random.randint(0, COLUMNS), relation)
    return Number(True, random.choice([0, 0, 1, 2, -1, -2]), relation)


def _part(random: Random) -> Part:
    if random.random() < 0.5:
        family = random.choice(FAMILIES)
        number = _number(random, ("", "", "", ">", ">="))
        return Part(family=family, number=number, repeat=random.choice(["", "", "?", "*", "+"]))
    count = _number(random, ("",))
    bounds: list[tuple[Number | int, Number | int | None]] = [
        (1, 1),
        (count, count),
        (0, count),
        (count, None),
        (1, count),
    ]
    return Part(literal=random.choice("xy"), bounds=random.choice(bounds))


Rules = dict[str, list[list[Part]]]


def _rules(random: Random) -> Rules:
    return {
        name: [
            [_part(random) for _ in range(random.randint(1, 3))]
            for _ in range(random.randint(1, 3))
        ]
        for name in FAMILIES
    }


def _text(rules: Rules) -> str:
    lines = ["(* kbnf: finish=eos columns=3 *)", "start ::= a@0 | b@1 'x' | c@2;"]
    for name, branches in rules.items():
        body = " | ".join(" ".join(part.text() for part in branch) for branch in branches)
        lines.append(f"{name}@n ::= {body};")
    return "\n".join(lines)


def _written_out(rules: Rules) -> g.Grammar:
    written: dict[str, g.Expression] = {
        "start": g.Choice(
            (
                g.Reference("a_0"),
                g.Sequence((g.Reference("b_1"), g.Literal(b"x"))),
                g.Reference("c_2"),
            )
        )
    }
    for name, branches in rules.items():
        for own in range(COLUMNS + 1):
            written[f"{name}_{own}"] = g.Choice(
                tuple(
                    g.Sequence(tuple(part.expression(own) for part in branch))
                    for branch in branches
                )
            )
    return g.Grammar(written)


def _verdict(engine: Engine, word: str) -> tuple[bool, bool]:
    """Return whether the word is the beginning of a text, and whether it is one."""
    engine.reset()
    try:
        engine.try_accept_new_bytes(word.encode())
    except RejectedError:
        return False, False
    return True, engine.can_finish()


@pytest.mark.parametrize("part", range(4))
def test_families_are_the_rules_written_out(part: int) -> None:
    usable = 0
    for seed in range(50 * part, 50 * part + 50):
        rules = _rules(Random(seed))
        text = _text(rules)
        reference = Recogniser(_written_out(rules))
        try:
            grammar = Grammar(text)
            engine = Engine(grammar, Vocabulary.bytes())
        except GrammarError as error:
            fault = error.diagnostics[0].code, any(map(reference.contains, WORDS))
            if fault != ("E105", False):
                raise
            continue
        if grammar.is_endless:  # The reference knows finite texts only.
            assert reference.is_empty(), text
            continue
        usable += 1
        for word in WORDS:
            expected = reference.viable(word), reference.contains(word)
            assert _verdict(engine, word) == expected, f"{text}\n{word!r} {expected}"
    assert usable > 20
