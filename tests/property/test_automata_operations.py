"""Operations on random languages against the same operations on sets of words."""

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.automata import operations as op
from kbnf_core.automata.avoid import avoid_literals
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.substrings import substrings

ALPHABET = (b"a", b"b", b"\xff")
WORDS = [b"".join(letters) for length in range(6) for letters in product(ALPHABET, repeat=length)]
SHORT = [word for word in WORDS if len(word) <= 2]

finite = st.sets(st.sampled_from(SHORT), max_size=5)
texts = st.lists(st.sampled_from(ALPHABET), max_size=12).map(b"".join)
patterns = st.sampled_from(["a*", "(ab)*", "a|b", "[ab]*a[ab]", "b?(aa)*", "[^a]", "a{2,3}", ""])


@st.composite
def automata(draw: st.DrawFn) -> Dfa:
    """Draw a finite language, or a pattern's."""
    if draw(st.booleans()):
        return op.literals(draw(finite))
    dfa = compile_regex(draw(patterns)).dfa
    assert dfa is not None
    return dfa


def language(dfa: Dfa) -> set[bytes]:
    return {word for word in WORDS if dfa.accepts(word)}


def assert_minimal(dfa: Dfa) -> None:
    assert dfa.state_count == op.complement(op.complement(dfa)).state_count
    assert dfa.is_empty == (op.shortest_word(dfa) is None)


@settings(deadline=None)
@given(finite)
def test_literals(words: set[bytes]) -> None:
    assert language(op.literals(words)) == words


@pytest.mark.parametrize(
    ("operation", "on_sets"),
    [
        (op.union, set.union),
        (op.intersect, set.intersection),
        (op.difference, set.difference),
    ],
)
@settings(deadline=None)
@given(left=automata(), right=automata())
def test_set_operations(
    operation: Callable[[Dfa, Dfa], Dfa],
    on_sets: Callable[[set[bytes], set[bytes]], set[bytes]],
    left: Dfa,
    right: Dfa,
) -> None:
    result = operation(left, right)
    assert language(result) == on_sets(language(left), language(right))
    assert_minimal(result)


@settings(deadline=None)
@given(automata())
def test_complement(dfa: Dfa) -> None:
    result = op.complement(dfa)
    assert language(result) == set(WORDS) - language(dfa)
    assert op.is_equal(op.complement(result), dfa)


@settings(deadline=None)
@given(automata(), automata(), automata())
def test_concatenate(first: Dfa, second: Dfa, third: Dfa) -> None:
    result = op.concatenate(first, second, third)
    parts = product(language(first), language(second), language(third))
    assert language(result) == {word for x, y, z in parts if len(word := x + y + z) <= 5}
    assert_minimal(result)


@settings(deadline=None)
@given(automata(), st.integers(0, 3), st.none() | st.integers(0, 3))
def test_repeat(dfa: Dfa, low: int, more: int | None) -> None:
    high = None if more is None else low + more
    result = op.repeat(dfa, low, high)
    words, power = set[bytes](), {b""}
    # No word of five bytes needs more than five nonempty parts beyond the lower bound.
    for count in range((low + 6 if high is None else high) + 1):
        if count >= low:
            words |= power
        power = {x + y for x in power for y in language(dfa) if len(x + y) <= 5}
    assert language(result) == words
    assert_minimal(result)


@settings(deadline=None)
@given(automata())
def test_shortest_matches(dfa: Dfa) -> None:
    words = language(dfa)
    expected = {
        word
        for word in words - {b""}
        if not any(word[:end] in words for end in range(1, len(word)))
    }
    assert language(op.shortest_matches(dfa)) == expected


@settings(deadline=None)
@given(automata())
def test_shortest_word(dfa: Dfa) -> None:
    words = language(dfa)
    found = op.shortest_word(dfa)
    if words:
        assert found is not None
        assert dfa.accepts(found)
        assert (len(found), found) <= min((len(word), word) for word in words)


@settings(deadline=None)
@given(texts)
def test_substrings(text: bytes) -> None:
    assert language(substrings(text)) == {word for word in WORDS if word in text}
    assert_minimal(substrings(text))


@settings(deadline=None)
@given(st.sets(st.sampled_from(WORDS[1:]), max_size=4), st.integers(0, 5))
def test_avoid_literals(words: set[bytes], limit: int) -> None:
    expected = {
        text
        for text in WORDS
        if text and len(text) <= (limit or 5) and not any(word in text for word in words)
    }
    result = avoid_literals(sorted(words), limit)
    assert language(result) == expected
    assert_minimal(result)
