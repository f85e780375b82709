"""States numbered as they are met, shortest words to them, and products."""

from collections.abc import Iterator

import pytest

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.explore import Product, common_word, explore, shortest_word_to, words_to
from kbnf_core.automata.nfa import Thompson
from kbnf_core.text.errors import LimitError


def remainders(state: int) -> list[int | None]:
    """Return the remainders by 5 after one more binary digit; after 3 nothing comes."""
    return [None if state == 3 else (2 * state + digit) % 5 for digit in (0, 1)]


def test_states_are_numbered_in_the_order_in_which_they_are_met() -> None:
    states, rows = explore([0], remainders)
    assert states == [0, 1, 2, 3, 4]
    assert rows == [[0, 1], [2, 3], [4, 0], [DEAD, DEAD], [3, 4]]
    assert words_to(rows, b"01") == [b"", b"1", b"10", b"11", b"100"]


def test_several_starts_come_first_and_once() -> None:
    states, _ = explore([4, 0, 4], remainders)
    assert states[:2] == [4, 0]


def test_the_limit_counts_states() -> None:
    explore([0], remainders, 5)
    with pytest.raises(LimitError, match="more than 4 states"):
        explore([0], remainders, 4)


def steps(state: int) -> Iterator[tuple[int, int]]:
    yield from ((48 + digit, (2 * state + digit) % 5) for digit in (0, 1))


def test_a_shortest_word_leads_to_a_wanted_state() -> None:
    assert shortest_word_to(0, lambda state: state == 4, steps) == (b"100", 4)
    assert shortest_word_to(0, lambda state: state == 0, steps) == (b"", 0)
    assert shortest_word_to(0, lambda state: state == 7, steps) is None


def test_a_product_ends_where_an_automaton_dies() -> None:
    left, right = operations.literals([b"ab", b"ad"]), operations.literal(b"ac")
    product = Product(left, right)
    both, _ = explore([product.start], product.while_all)
    first, _ = explore([product.start], product.while_first)
    assert len(both) == 2
    assert sum(product.accepting(states)[0] for states in first) == 1
    assert {states[1] for states in first} == {0, 1, DEAD}
    assert common_word(left, right) is None
    assert common_word(left, operations.literals([b"x", b"ad"])) == b"ad"


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (2, 4), (1, None), (0, None), (3, None)])
def test_a_repetition_copies_what_it_repeats(low: int, high: int | None) -> None:
    thompson = Thompson(1000)
    classes = operations.literal(b"a").classes
    part = thompson.sequence([thompson.word(b"a".translate(classes))] * 1)
    whole = thompson.repetition(part, low, high)
    dfa = thompson.finish(whole, classes, 1000)
    for count in range(7):
        assert dfa.accepts(b"a" * count) == (low <= count and (high is None or count <= high))


def test_the_limit_on_states_holds_before_copies_are_made() -> None:
    thompson = Thompson(100)
    with pytest.raises(LimitError):
        thompson.repetition(thompson.word([0]), 0, 10**9)
    assert len(thompson.nfa) <= 100
