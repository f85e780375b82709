"""What is true of all parts of an expression, over leaves of any kind."""

from typing import Any

import pytest

from kbnf_core.automata.algebra import EMPTY, NOTHING, Choice, Repeat, Sequence, postorder
from kbnf_core.ir import Node
from kbnf_core.ir.build import alternation, call, optional, repeated, sequence, text
from kbnf_core.lower.facts import first_calls, names_where, nullable_names, useful, where

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


RULES: dict[str, Node] = {
    "empty": optional(call("text")),
    "text": text("a"),
    "both": sequence(call("empty"), call("empty")),
    "round": call("round"),
    "row": sequence(call("empty"), text("b"), call("row")),
    "choice": alternation([call("round"), sequence(call("empty"), call("text"))]),
    "rest": repeated(call("round"), 0, None),
}


def test_facts_of_rules_that_call_each_other() -> None:
    assert nullable_names(RULES) == {"empty", "both", "rest"}
    assert first_calls(RULES, nullable_names(RULES))["choice"] == {"round", "empty", "text"}
    assert first_calls(RULES, nullable_names(RULES))["row"] == {"empty"}


@pytest.mark.parametrize(
    ("endless", "names"),
    [
        (False, {"empty", "text", "both", "choice", "rest"}),
        (True, {"empty", "text", "both", "choice", "rest", "row", "round"}),
    ],
)
def test_useful_rules_have_texts_or_go_on_for_ever(endless: bool, names: set[str]) -> None:
    some = useful(RULES, endless=endless)
    assert some.keys() == names
    assert (some["choice"] is RULES["choice"]) is endless
    assert some["text"] is RULES["text"]


def test_rules_over_leaves_of_any_kind() -> None:
    nodes: dict[str, list[Any]] = {
        "a": [*postorder(Sequence((1, call("b"))))],
        "b": [2],
        "c": [call("d")],
    }
    assert names_where(nodes, lambda leaf: leaf < 2) == {"a": False, "b": False, "c": False}
    assert names_where(nodes, lambda leaf: leaf < 3) == {"a": True, "b": True, "c": False}
