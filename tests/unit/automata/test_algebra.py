"""What is true of all parts of an expression, over leaves of any kind."""

from typing import Any

import pytest

from kbnf_core.automata.algebra import EMPTY, NOTHING, Choice, Repeat, Sequence, postorder, where

CASES: list[tuple[Any, bool, bool]] = [
    ("a", False, True),
    (EMPTY, True, True),
    (NOTHING, False, False),
    (Sequence(("a", EMPTY)), False, True),
    (Sequence(("a", NOTHING)), False, False),
    (Choice((NOTHING, EMPTY)), True, True),
    (Repeat(NOTHING, 0, None), True, True),
    (Repeat("a", 1, None), False, True),
    (Repeat(Choice(("a", EMPTY)), 2, 3), True, True),
]


@pytest.mark.parametrize(("root", "is_nullable", "is_productive"), CASES)
def test_a_part_is_nullable_or_productive(
    root: Any, is_nullable: bool, is_productive: bool
) -> None:
    nodes = [*postorder(root)]
    for leaf, expected in ((False, is_nullable), (True, is_productive)):
        found = where(nodes, lambda _, leaf=leaf: leaf)  # type: ignore[misc]
        assert found[id(root)] is expected
        assert found.keys() == {id(node) for node in nodes}
