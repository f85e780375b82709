"""Expressions of the IR as they are built, and the trees that are made of them."""

import pytest

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.ir.build import EMPTY, alternation, call, distinct, optional, placed, sequence, text
from kbnf_core.kbnf.build import Form, of_ir, regex
from kbnf_core.kbnf.build import call as call_of
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import postorder
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import NOWHERE, Span


def leaf(node: ir.Regular | ir.Call) -> Form:
    if isinstance(node, ir.Call):
        return call_of(node.nonterminal)
    assert isinstance(node.notation, str)
    return regex(node.notation)


def written(root: ir.Node) -> str:
    return print_expression(of_ir(root, leaf))


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (sequence(text("a"), sequence(text("b"), call("x")), EMPTY), "'ab' x"),
        (sequence(call("x"), sequence(text("a"), call("y")), text("b")), "x 'a' y 'b'"),
        (alternation([text("a"), EMPTY, alternation([text("b"), call("x")])]), "('a' | 'b' | x)?"),
        (alternation([call("x"), call("y"), call("x")]), "x | y"),
        (sequence(EMPTY, optional(EMPTY), call("x")), "x"),
        (ir.Regular(operations.literal(b"a"), NOWHERE, "a"), "#'a'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_expressions_are_flat_and_have_no_empty_parts(root: ir.Node, expected: str) -> None:
    assert written(root) == expected


def test_counts_beyond_the_limit_of_texts_are_products() -> None:
    most = DEFAULT_LIMITS.repetition
    assert written(ir.Repeat(call("x"), 0, most, NOWHERE)) == f"x{{,{most}}}"
    assert f"x{{{most}}}" in written(ir.Repeat(call("x"), most + 1, None, NOWHERE))


def test_parts_without_a_place_are_where_the_whole_is() -> None:
    inner, outer = Span(3, 5), Span(1, 9)
    part = placed(sequence(text("a"), call("x")), inner)
    root = of_ir(placed(sequence(call("y"), part), outer), leaf)
    spans = [(print_expression(node), node.span) for node in postorder(root)]
    assert spans == [("y", outer), ("'a'", inner), ("x", inner), ("y 'a' x", outer)]


def test_equal_expressions_are_one() -> None:
    first, again = (sequence(text("a"), optional(call("x"))) for _ in range(2))
    assert next(iter(distinct([first, call("x"), again]))) is first
    assert len([*distinct([first, call("x"), again, text("x")])]) == 3
