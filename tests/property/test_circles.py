"""Rules that pass on to each other in circles: contracted in tables, with the same language."""

from contextlib import suppress
from random import Random

import pytest

from kbnf_core import Engine, Grammar, GrammarError, RejectedError, Vocabulary
from kbnf_core.config import Config
from kbnf_core.lower.circles import contract_circles
from kbnf_core.lower.facts import analyse
from kbnf_testing import grammar as g
from kbnf_testing.definition import words_up_to
from kbnf_testing.printer import to_kbnf

ALPHABET = "ab"
LONGEST = 4
NAMES = ["start", "p", "q", "r", "s"]


def _part(random: Random) -> g.Expression:
    kind = random.random()
    if kind < 0.5:
        return g.Reference(random.choice(NAMES[1:]))
    if kind < 0.7:
        return g.Literal(random.choice([b"", b"a", b"b", b"ab"]))
    low, high = random.choice([(0, 1), (0, None), (1, None), (2, 3), (0, 0)])
    return g.Repeat(g.Reference(random.choice(NAMES[1:])), low, high)


def _grammar(random: Random) -> g.Grammar:
    rules = {}
    for name in NAMES:
        branches: list[g.Expression] = []
        for _ in range(random.randint(1, 3)):
            parts = tuple(_part(random) for _ in range(random.randint(1, 2)))
            branches.append(parts[0] if len(parts) == 1 else g.Sequence(parts))
        rules[name] = branches[0] if len(branches) == 1 else g.Choice(tuple(branches))
    return g.Grammar(rules)


def _every_word() -> list[str]:
    words = [""]
    for word in words:
        if len(word) < LONGEST:
            words += [word + letter for letter in ALPHABET]
    return words


def _is_member(engine: Engine, word: bytes) -> bool:
    engine.reset()
    with suppress(RejectedError):
        engine.try_accept_new_bytes(word)
        return engine.can_finish()
    return False


def test_contracted_circles_have_the_same_language() -> None:
    contracted = 0
    for seed in range(400):
        made = _grammar(Random(seed))
        try:
            grammar = Grammar(to_kbnf(made))
            engine = Engine(grammar, Vocabulary.bytes(), Config(finish="eos"))
        except GrammarError:
            continue
        contracted += contract_circles(grammar.rules, analyse(grammar.rules)) is not grammar.rules
        members = words_up_to(made, ALPHABET, LONGEST)
        for word in _every_word():
            assert _is_member(engine, word.encode()) == (word in members), (seed, word)
    assert contracted > 40


@pytest.mark.parametrize(
    ("text", "is_circle"),
    [
        ("start ::= p; p ::= 'a' | q; q ::= p | 'b';", True),
        ("start ::= p; p ::= 'a' | q?; q ::= p p? | 'b';", True),
        ("start ::= p; p ::= 'a' | q 'x'; q ::= p | 'b';", False),
        ("start ::= p; p ::= 'a' | q q; q ::= p | 'b';", False),
        ("start ::= p; p ::= 'a' | q{2}; q ::= p | 'b';", False),
        ("start ::= p; p ::= p | 'a' p 'b' | '';", False),
        ("start ::= 'a' | p; p ::= start | 'b' start;", True),
    ],
)
def test_rules_that_pass_on_are_recognised(text: str, is_circle: bool) -> None:
    rules = Grammar(text).rules
    contracted = contract_circles(rules, analyse(rules))
    assert (contracted is not rules) == is_circle
    assert contracted.start == rules.start
