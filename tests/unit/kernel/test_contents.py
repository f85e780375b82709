"""Item sets, stack nodes and states as Python looks at them: by number, and checked."""

from collections.abc import Callable

import pytest

from kbnf_core import Grammar
from kbnf_core.recognise.states import BOTTOM, DEAD, EMPTY, SELF, StateTable

TEXT = """start ::= list ';'; list ::= ['(' list ')' | #token"x"];"""


@pytest.fixture
def table() -> StateTable:
    """Return a table that has gone some way."""
    found = StateTable(Grammar(TEXT).tables)
    assert found.feed(found.initial, b"((")[0] != DEAD
    return found


def test_item_sets_are_numbered_by_content(table: StateTable) -> None:
    items = table.items
    assert items.items(EMPTY) == ()
    for number in range(len(items)):
        content = items.items(number)
        assert content == tuple(sorted(set(content)))
        assert items.number(content) == items.intern(content) == number
        assert [items.pack(*items.unpack(item)) for item in content] == list(content)
        assert items.reports(number) == {items.unpack(item)[1] for item in content}
        complete = {
            report for at, report in map(items.unpack, content) if table.tables.accepting[at]
        }
        assert items.completions(number) == tuple(sorted(complete))
    assert items.size == sum(len(items.items(number)) for number in range(len(items)))


def test_stack_nodes_are_numbered_by_content(table: StateTable) -> None:
    stack = table.stack
    assert stack.edges(BOTTOM) == ()
    for number in range(len(stack)):
        edges = stack.edges(number)
        assert stack.intern(reversed(edges)) == number
        for nonterminal in {edge[0] for edge in edges}:
            assert stack.waiting(number, nonterminal) == [
                (number if below == SELF else below, after)
                for name, below, after in edges
                if name == nonterminal
            ]
    assert stack.size == sum(len(stack.edges(number)) for number in range(len(stack)))


def test_a_state_is_its_content(table: StateTable) -> None:
    for state in range(1, len(table)):
        pairs = table.pairs(state)
        assert table.adopt(reversed(pairs), table.completions(state)) == state
        assert table.merge(state, state) == state
        assert table.sources(state)[: len(pairs)] == pairs


def test_a_union_goes_on_as_both_do(table: StateTable) -> None:
    one, other = (table.feed(table.initial, data)[0] for data in (b"(", b"()"))
    both = table.merge(one, other)
    live = {*table.live_classes(one), *table.live_classes(other)}
    assert table.live_classes(both) == sorted(live)
    assert table.feed(both, b"(")[0] == table.feed(one, b"(")[0]
    assert table.feed(both, b";")[0] == table.feed(other, b";")[0]


def test_token_terminals_are_stepped_by_number(table: StateTable) -> None:
    assert table.token_terminals(table.initial) == {0}
    after = table.step_token(table.initial, frozenset({0}))
    assert table.feed(after, b";")[0] != DEAD
    assert table.step_token(table.initial, frozenset()) == DEAD
    assert table.token_terminals(after) == frozenset()


@pytest.mark.parametrize("number", [-1, 10**6])
@pytest.mark.parametrize(
    "look",
    [
        lambda table, number: table.items.items(number),
        lambda table, number: table.items.completions(number),
        lambda table, number: table.items.reports(number),
        lambda table, number: table.stack.edges(number),
        lambda table, number: table.stack.waiting(number, 0),
        lambda table, number: table.pairs(number),
        lambda table, number: table.sources(number),
        lambda table, number: table.merge(number, 1),
        lambda table, number: table.step_token(number, frozenset({0})),
        lambda table, number: table.token_terminals(number),
    ],
)
def test_a_number_that_is_none_is_an_error(
    table: StateTable, look: Callable[[StateTable, int], object], number: int
) -> None:
    with pytest.raises((IndexError, OverflowError)):
        look(table, number)
