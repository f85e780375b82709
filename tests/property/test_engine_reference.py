"""The reference recogniser agrees with the definition of the language, word by word."""

from random import Random

import pytest

from kbnf_testing import grammar as g
from kbnf_testing.definition import is_viable, words_up_to
from kbnf_testing.earley import Recogniser
from kbnf_testing.generate import Features, GrammarMaker
from kbnf_testing.leaves import Matcher, matcher_of

_SYMBOLS = "AB\xe9" + g.token_symbol(3)
_LEAF_SYMBOLS = "ABC'\\\n\xc3\xa9\xe4\xbd\xa0\xff"


def _every_word(alphabet: str, length: int) -> list[str]:
    words = [""]
    for word in words:
        if len(word) < length:
            words += [word + symbol for symbol in alphabet]
    return words


@pytest.mark.parametrize("seed", range(40))
def test_membership_agrees_with_the_definition(seed: int) -> None:
    grammar = GrammarMaker(Random(seed), Features()).grammar()
    recogniser = Recogniser(grammar)
    every = _every_word(_SYMBOLS, 4)
    members = words_up_to(grammar, _SYMBOLS, 4)
    assert {word for word in every if recogniser.contains(word)} == members


@pytest.mark.parametrize("seed", range(40))
def test_viability_agrees_with_the_definition(seed: int) -> None:
    random = Random(seed)
    grammar = GrammarMaker(random, Features()).grammar()
    recogniser = Recogniser(grammar)
    every = _every_word(_SYMBOLS, 4)
    likely = [word for word in every if recogniser.viable(word)]
    for word in random.sample(every, 8) + random.sample(likely, min(8, len(likely))):
        assert recogniser.viable(word) == is_viable(grammar, word), word


@pytest.mark.parametrize("seed", range(60))
def test_viability_of_leaves_means_that_a_completion_exists(seed: int) -> None:
    maker = GrammarMaker(Random(seed), Features(tokens=False))
    leaves = [node for node in g.nodes(maker.grammar()) if isinstance(node, g.Leaf)]
    for leaf in leaves[:4]:
        matcher = matcher_of(leaf, lambda body: Recogniser(g.Grammar({"start": body})))
        for word in _every_word(_LEAF_SYMBOLS, 2):
            assert matcher.viable(word) == _can_be_completed(matcher, word), (leaf, word)


def _can_be_completed(matcher: Matcher, word: str) -> bool:
    """Search breadth first for a completion; a few ways on are enough, as any will do."""
    level = [word]
    for _ in range(30):
        if any(matcher.contains(candidate) for candidate in level):
            return True
        longer = (candidate + symbol for candidate in level for symbol in _LEAF_SYMBOLS)
        level = [candidate for candidate in longer if matcher.viable(candidate)][:20]
    return False


@pytest.mark.parametrize(
    ("body", "empty"),
    [
        (g.Sequence(()), True),
        (g.Literal(b""), True),
        (g.Sequence((g.Reference("start"), g.Literal(b"A"))), True),
        (g.Reference("start"), True),
        (g.Repeat(g.Literal(b"A"), 0, 1), False),
        (g.Token(frozenset({3})), False),
        (g.Never(g.Literal(b"")), True),
        (g.Early(g.Literal(b"")), True),
        (g.Early(g.Repeat(g.Literal(b"A"), 0, None)), False),
    ],
    ids=repr,
)
def test_reference_knows_the_empty_language(body: g.Expression, empty: bool) -> None:
    assert Recogniser(g.Grammar({"start": body})).is_empty() == empty
