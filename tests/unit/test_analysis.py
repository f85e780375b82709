"""Least fixpoints, reachability and strong components over rules of any kind."""

from collections.abc import Mapping

import pytest

from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.ir.analysis import callers_of, cycles, fixpoint, reachable

CALLEES = {"a": ["b", "c", "b"], "b": ["d"], "c": ["c"], "d": ["b", "undefined"], "e": ["a"]}


def test_a_fixpoint_is_the_least_one() -> None:
    found = fixpoint({"x": ["y"], "y": ["x"]}, bottom=False, evaluate=lambda _, __: False)
    assert found == {"x": False, "y": False}

    def evaluate(name: str, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return frozenset({name}).union(*(known.get(callee, ()) for callee in CALLEES[name]))

    bottom: frozenset[str] = frozenset()
    values = fixpoint(CALLEES, bottom, evaluate)
    assert values == {name: reachable([name], CALLEES) - {"undefined"} for name in CALLEES}


def test_a_rule_is_looked_at_again_only_when_a_callee_has_changed() -> None:
    chain = {f"r{number}": [f"r{number + 1}"] for number in range(1000)} | {"r1000": []}
    looked_at: list[str] = []

    def evaluate(name: str, known: Mapping[str, bool]) -> bool:
        looked_at.append(name)
        return not chain[name] or known[chain[name][0]]

    assert all(fixpoint(chain, bottom=False, evaluate=evaluate).values())
    assert len(looked_at) == len(chain)


def test_callers_come_once_each_in_order() -> None:
    assert callers_of(CALLEES)["b"] == ["a", "d"]


@pytest.mark.parametrize(
    ("roots", "found"), [(["b"], {"b", "d", "undefined"}), ([], set()), (["none"], {"none"})]
)
def test_reachable(roots: list[str], found: set[str]) -> None:
    assert reachable(roots, CALLEES) == found


def test_cycles_are_strong_components_callers_first() -> None:
    graph = {"z": ["y"], "a": ["z"], "y": ["z", "b"], "b": ["b", "gone"], "s": ["a"]}
    assert cycles(graph) == [["z", "y"], ["b"]]
    assert set(cyclic_components({1: [2], 2: [3], 3: [2]})) == {frozenset({2, 3})}


def test_a_long_cycle_costs_no_stack() -> None:
    ring = {number: [(number + 1) % 20_000] for number in range(20_000)}
    assert cycles(ring) == [list(ring)]
