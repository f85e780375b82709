"""What a conversion costs as its input doubles, in calls of functions: no clock is asked.

Calls are what the profiler counts, Python's and the C library's. Where work is hidden inside of
one call (a comparison of long tuples), the calls of ``__eq__`` and ``__hash__`` show it.
"""

import json
from functools import partial

import pytest

from kbnf_core import GrammarError
from kbnf_core.convert import from_gbnf, from_json_schema, from_lark
from kbnf_core.languages.json_schema import Options, SchemaLimits
from kbnf_core.languages.json_schema.document import SchemaDocument, read_json
from kbnf_core.languages.json_schema.parse import embed_json_schema
from kbnf_core.languages.lark.lexer import product
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import Limits
from kbnf_testing.converter_families import GBNF, HEAVY_SCHEMAS, LARK, SCHEMAS
from kbnf_testing.counted import calls, growth

SMALL = 100
MOST = 2.2
"""Twice the input may cost so many times as much."""


@pytest.mark.parametrize("family", SCHEMAS)
def test_schemas_cost_in_proportion_to_their_size(family: str) -> None:
    assert growth(from_json_schema, SCHEMAS[family], SMALL) < MOST


@pytest.mark.parametrize("family", SCHEMAS)
def test_the_counted_work_of_schemas_is_in_proportion_too(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[int] = []
    spend = Budget.spend

    def noted(budget: Budget, steps: int = 1) -> None:
        spent[-1] += steps
        spend(budget, steps)

    monkeypatch.setattr(Budget, "spend", noted)
    for size in (SMALL, 2 * SMALL):
        spent.append(0)
        document = SchemaDocument(read_json(SCHEMAS[family](size)), Options())
        embed_json_schema(document, Options())
    assert spent[1] < MOST * spent[0]


@pytest.mark.parametrize("family", LARK)
def test_lark_costs_in_proportion_to_its_size(family: str) -> None:
    # The suffixes of a text are sorted. Few words are written in another form than many.
    size = {"words of a text": 200, "rules": 50}.get(family, 100)
    assert growth(from_lark, LARK[family], size) < (2.5 if size != 100 else 2.3)


@pytest.mark.parametrize(("lexing", "most"), [("llguidance", 2.3), ("lalr", 3.4)])
@pytest.mark.parametrize("family", ["alternatives", "terminals"])
def test_alternatives_are_not_compared_with_each_other(
    family: str, lexing: str, most: float
) -> None:
    # Lark's own analysis has for each of n states the n terminals that may come next.
    assert growth(partial(from_lark, lexing=lexing), LARK[family], 100) < most


def test_many_rules_without_a_conflict_are_not_many_variants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(product, "MOST_OPERANDS", 0)
    assert not from_lark(LARK["rules"](50)).losses


def test_terminals_that_begin_otherwise_are_not_compared() -> None:
    def keywords(size: int) -> str:
        words = " | ".join(f'"q{number:04}x"i' for number in range(size))
        return f"start: ({words})+\n"

    assert growth(partial(from_lark, lexing="llguidance"), keywords, 100) < 3.4


def test_a_string_of_lark_is_no_pattern_to_explore() -> None:
    read = partial(from_lark, lexing="earley")
    read(LARK["terminals"](3))
    one, two = (calls(read, LARK["terminals"](size)) for size in (100, 200))
    assert two - one < 2_000 * 100


@pytest.mark.parametrize("family", GBNF)
def test_gbnf_costs_in_proportion_to_its_size(family: str) -> None:
    assert growth(from_gbnf, GBNF[family], 100) < MOST


@pytest.mark.parametrize("family", HEAVY_SCHEMAS)
def test_heavy_schemas_end_with_the_pointer_and_the_limit(family: str) -> None:
    options = Options(limits=SchemaLimits(work=20_000))
    with pytest.raises(GrammarError) as caught:
        from_json_schema(HEAVY_SCHEMAS[family](60), options)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E804"
    assert "20,000 steps of work" in finding.message
    assert "`work`" in finding.helps[0]


def test_the_pointer_names_the_keyword_that_costs() -> None:
    branches = [{"minProperties": count} for count in range(40)]
    schema = json.dumps({"properties": {"a": {}, "b": {"oneOf": branches}}})
    limits = SchemaLimits(work=5_000, overlaps=100)
    with pytest.raises(GrammarError) as caught:
        from_json_schema(schema, Options(limits=limits))
    assert caught.value.diagnostics[0].message.startswith("/properties/b/oneOf")


def test_work_that_just_suffices_is_allowed() -> None:
    options = Options(limits=SchemaLimits(work=20_000))
    for family in HEAVY_SCHEMAS.values():
        from_json_schema(family(1), options)


def test_words_that_are_also_names_cost_no_more_than_each_with_each() -> None:
    def keywords(size: int) -> str:
        words = " | ".join(f'"k{number}"' for number in range(size))
        return f"start: ({words} | NAME)*\nNAME: /[a-z0-9]+/\n"

    assert growth(partial(from_lark, lexing="lalr"), keywords, 30) < 4


def test_terminals_that_take_too_long_to_tell_apart_are_a_loss() -> None:
    words = " | ".join(f'"k{number}"' for number in range(30))
    text = f"start: ({words} | NAME)*\nNAME: /[a-z0-9]+/\n"
    assert not from_lark(text, lexing="lalr").losses
    (loss,) = from_lark(text, lexing="lalr", limits=Limits(work=5_000)).losses
    assert loss.code == "W421"
    assert "too much work" in loss.message
    with pytest.raises(GrammarError) as caught:
        from_lark(text, lexing="lalr", limits=Limits(work=100))
    (finding,) = caught.value.diagnostics
    assert finding.code == "E107"
    assert "100 steps" in finding.message
    assert "`Limits.work`" in finding.helps[0]


def test_chains_of_rules_are_no_recursion() -> None:
    chain = LARK["rules"](2_100)
    assert len(from_lark(chain, lexing="scannerless").text.splitlines()) > 2_100


def test_long_counts_are_too_much_for_the_analysis_of_lalr() -> None:
    losses = from_lark('start: "A"~1000\n', lexing="lalr").losses
    assert any("LALR analysis" in loss.message for loss in losses)
