"""Automata over expressions as right-linear rules, one for each state that is reached twice."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from kbnf_core.ir import Node
from kbnf_core.ir.build import EMPTY, alternation, call, distinct, sequence
from kbnf_core.languages.json_schema.problems import too_large
from kbnf_core.text.budget import Budget

S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """What a state can do: end here, or read an expression and be in the next state."""

    accepting: bool
    edges: Sequence[tuple[Node, S]]


EDGE = 50
"""What an edge is counted as: it is followed, and its expression is made, twice."""


class Rules:
    """Where rules go: ``fresh`` takes a hint for a name and returns the name."""

    def __init__(
        self, fresh: Callable[[str], str], add: Callable[[str, Node], None], budget: Budget
    ) -> None:
        self.budget = budget
        self.fresh = fresh
        self.add = add


def write_linear(
    start: S, step: Callable[[S], Step[S]], rules: Rules, hint: str, most: int
) -> Node | None:
    """Return what an automaton accepts, its other states being rules; None for nothing.

    Raises ProblemError where it has more than ``most`` states.
    """
    steps = {start: step(start)}
    order = [start]
    for state in order:
        rules.budget.spend(EDGE * (1 + len(steps[state].edges)))
        for _, after in steps[state].edges:
            if after not in steps:
                steps[after] = step(after)
                order.append(after)
        if len(order) > most:
            raise too_large("states of a counted value", most, "steps")
    live = _live(steps)
    if start not in live:
        return None
    again = any(after == start for state in live for _, after in steps[state].edges)
    names: dict[S, str] = {}
    for state in order:
        ends = not any(after in live for _, after in steps[state].edges)
        if state in live and not ends and (state != start or again):
            names[state] = rules.fresh(hint)
    forms = {state: call(names[state]) if state in names else EMPTY for state in live}
    for state, name in names.items():
        rules.add(name, _body(steps[state], forms, live))
    return forms[start] if again else _body(steps[start], forms, live)


def _body(step: Step[S], forms: dict[S, Node], live: set[S]) -> Node:
    """Return the edges of a state; those to one target are together."""
    by_target: dict[S, list[Node]] = {}
    for form, after in step.edges:
        if after in live:
            by_target.setdefault(after, []).append(form)
    branches = [
        sequence(alternation(distinct(read)), forms[after]) for after, read in by_target.items()
    ]
    return alternation([*branches, EMPTY] if step.accepting else branches)


def _live(steps: dict[S, Step[S]]) -> set[S]:
    """Return the states from which an accepting one is reached."""
    sources: dict[S, list[S]] = {}
    for state, step in steps.items():
        for _, after in step.edges:
            sources.setdefault(after, []).append(state)
    live = {state for state, step in steps.items() if step.accepting}
    queue = list(live)
    for state in queue:
        for source in sources.get(state, ()):
            if source not in live:
                live.add(source)
                queue.append(source)
    return live
