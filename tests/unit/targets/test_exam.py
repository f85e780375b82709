"""What is found about engines: one that enforces nothing, and those that are installed."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.target_adapters import Ours
from kbnf_core.frontend import Language
from kbnf_core.grammar import Grammar
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST
from kbnf_core.targets.check import Panel, check_targets, costs
from kbnf_core.targets.exam import Exam, Examined, Fault, examine, examine_grammar, shrunk
from kbnf_core.targets.process import Asked, EngineAnswer, How
from kbnf_core.targets.refusals import _without
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import read_page
from kbnf_core.text.source import Source
from kbnf_testing import fake_engine

Named = tuple[str, str, str]
"""A fault, a pointer, a keyword."""


@pytest.fixture(scope="module")
def lax() -> Iterator[Asked]:
    engine = Asked("llguidance", seconds=2.0, adapter=fake_engine.load)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def llguidance() -> Iterator[Asked]:
    pytest.importorskip("llguidance")
    engine = Asked("llguidance")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def xgrammar() -> Iterator[Asked]:
    pytest.importorskip("xgrammar")
    engine = Asked("xgrammar")
    yield engine
    engine.close()


def named(result: Examined) -> set[Named]:
    return {(each.fault.value, each.pointer, each.keyword) for each in result.findings}


def test_an_engine_that_enforces_nothing(lax: Asked) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"enum": ["x"]}},
        "required": ["a"],
    }
    result = examine(Exam(schema), lax)
    assert result.verdict == "weak"
    assert named(result) == {
        ("weak", "/type", "type"),
        ("weak", "/required", "required"),
        ("weak", "/properties/a/type", "type"),
        ("weak", "/properties/a/minimum", "minimum"),
        ("weak", "/properties/b/enum", "enum"),
    }
    witnesses = {each.keyword: each.witness for each in result.findings}
    assert witnesses["required"] == "{}"
    assert json.loads(witnesses["enum"] or "") == {"a": 3, "b": ""}


def test_our_own_engine_is_no_judge_of_itself() -> None:
    """An engine has a name of its own; where it is ours, the validator judges alone."""
    engine = Asked("kbnf", adapter=Ours)
    try:
        sound = {"type": "object", "properties": {"a": {"type": "number", "maximum": 1}}}
        result = examine(Exam(sound, closed=True, by_ours=False), engine)
        assert (result.engine, result.verdict) == ("kbnf", "ok")
        assert Exam(sound, by_ours=False).judges.we_take("{}") is None
        refused = examine(Exam({"pattern": "(a)\\1"}, by_ours=False), engine)
        assert refused.verdict == "refuses"
    finally:
        engine.close()


def test_every_finding_can_be_replayed(lax: Asked) -> None:
    exam = Exam({"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": 2})
    found = examine(exam, lax).findings
    assert len(found) == 4
    for finding in found:
        assert finding.witness is not None
        value = json.loads(finding.witness)
        assert lax.accepts(finding.witness)
        assert exam.judges.we_take(finding.witness) is False
        assert exam.judges.fits(value) is False or finding.keyword == "format"


def test_the_smallest_part_that_is_refused(lax: Asked) -> None:
    look_ahead = {"type": "string", "pattern": "^(?=a)a$"}
    schema = {
        "title": "much",
        "properties": {
            "a": {"type": "array", "items": {"anyOf": [{"type": "null"}, look_ahead]}},
            "b": {"type": "string"},
            "c": look_ahead,
        },
    }
    result = examine(Exam(schema), lax)
    assert named(result) == {
        ("refuses", "/properties/a/items/anyOf/1/pattern", "pattern"),
        ("refuses", "/properties/c/pattern", "pattern"),
    }
    assert [json.loads(each.subschema) for each in result.findings] == [look_ahead] * 2


def test_what_is_refused_only_without_its_type_is_not_named() -> None:
    """An engine that reads keywords by the type refuses each of them where there is none."""
    engine = Asked("llguidance", adapter=fake_engine.load_by_type)
    bad = {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False}
    try:
        result = examine(Exam({**OK[0], "properties": {"a": bad, "b": bad}}), engine)
    finally:
        engine.close()
    assert named(result) == {
        ("refuses", "/properties/a/patternProperties", "patternProperties"),
        ("refuses", "/properties/b/patternProperties", "patternProperties"),
    }


OK: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
     "additionalProperties": False},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
    {"enum": ["a", "b"]},
]  # fmt: skip


@pytest.mark.parametrize("schema", OK)
def test_nothing_is_said_of_what_works(llguidance: Asked, schema: Any) -> None:
    result = examine(Exam(schema), llguidance)
    assert (result.verdict, result.findings) == ("ok", ())


LLGUIDANCE: list[tuple[Any, Named]] = [
    ({"properties": {"a": {"pattern": "^(?!b)c$"}}},
     ("refuses", "/properties/a/pattern", "pattern")),
    ({"items": {"uniqueItems": True}}, ("refuses", "/items/uniqueItems", "uniqueItems")),
    ({"not": {"type": "string"}}, ("refuses", "/not", "not")),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), LLGUIDANCE)
def test_llguidance(llguidance: Asked, schema: Any, expected: Named) -> None:
    assert expected in named(examine(Exam(schema), llguidance))


XGRAMMAR: list[tuple[Any, Named]] = [
    ({"type": "string", "pattern": "^(?!tmp)[a-z]+$"}, ("weak", "/pattern", "pattern")),
    ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
     ("weak", "/uniqueItems", "uniqueItems")),
    ({"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}},
      "additionalProperties": False}, ("rejects", "/properties/a/maxLength", "maxLength")),
    ({"type": "object", "properties": {"a": {"type": "integer"}}},
     ("rejects", "", "additionalProperties")),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), XGRAMMAR)
def test_xgrammar(xgrammar: Asked, schema: Any, expected: Named) -> None:
    assert expected in named(examine(Exam(schema), xgrammar))


def test_an_option_that_explains_everything_is_one_finding(xgrammar: Asked) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"b": inner, "c": inner}}
    [finding] = examine(Exam(schema), xgrammar).findings
    assert finding.fault is Fault.REJECTS
    assert "`strict_mode=False` opens them" in finding.words


def test_members_that_a_closed_schema_does_not_name_are_not_asked_about(
    xgrammar: Asked,
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert named(examine(Exam(schema), xgrammar)) == {("rejects", "", "additionalProperties")}
    assert examine(Exam(schema, closed=True), xgrammar).verdict == "ok"


@pytest.mark.parametrize(
    ("language", "closed", "expected"),
    [(TOOL_LIST, None, True), (TOOL_LIST, False, False), (JSON_SCHEMA, None, False)],
)
def test_tools_are_closed_by_default(
    language: Language, closed: bool | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    monkeypatch.setattr("kbnf_core.targets.check.examine", lambda exam, _: seen.append(exam.closed))
    panel = Panel([])
    monkeypatch.setattr(panel, "results", lambda job: job(None) and [])
    text = '[{"name": "t", "input_schema": {"type": "object"}}]'
    source = Source(text if language is TOOL_LIST else "{}", is_json=True)
    check_targets(source, language, panel, closed=closed)
    assert seen == [expected]


def test_findings_about_a_text() -> None:
    pytest.importorskip("llguidance")
    text = '{"type": "object",\n "properties": {"a": {"pattern": "(?=x)"}}}'
    panel = Panel(["llguidance", "openai"])
    try:
        checked = check_targets(Source(text, "s.json", is_json=True), JSON_SCHEMA, panel)
        ignored = text.replace('"pattern"', '"$comment": "kbnf: ignore[E503, W504]", "pattern"')
        silent = check_targets(Source(ignored, "s.json", is_json=True), JSON_SCHEMA, panel)
    finally:
        panel.close()
    found = checked.findings[0]
    assert (found.code, found.pointer) == ("E503", "/properties/a/pattern")
    assert dict(found.details)["fault"] == "refuses"
    assert [(row.target, row.verdict) for row in checked.rows] == [
        ("llguidance", "refuses"),
        ("openai", "refuses"),
    ]
    assert {each.code for each in checked.findings} == {"E503", "E809"}
    assert {each.code for each in silent.findings} == {"E809"}


def _result(name: str, seconds: float, size: int = 0) -> Examined:
    return Examined(name, "1", (), EngineAnswer(How.TAKES, "", seconds, size))


def test_costs_are_told_beside_those_of_others() -> None:
    slow, quick = _result("a", 0.5, 200 << 20), _result("b", 0.01, 1 << 20)
    [finding] = costs(slow, [slow, quick])
    assert finding.words == "0.5 s to compile and 200 MB of memory"
    assert list(costs(quick, [slow, quick])) == []
    alone = _result("a", 1.5)
    assert [each.words for each in costs(alone, [alone])] == ["1.5 s to compile"]
    assert list(costs(_result("a", 0.5), [_result("a", 0.5)])) == []


def test_shrinking_ends() -> None:
    document = {"a": [1, 2, {"b": "x" * 50}], "c": "y"}

    def holds(value: Any) -> bool:
        return "x" in json.dumps(value)

    assert shrunk(document, holds, lambda: False) == {"a": [{"b": "x"}]}
    assert shrunk(document, holds, lambda: True) == document


@pytest.mark.parametrize("code", ["E503", "W504", "W505"])
def test_page_examples(code: str, lax: Asked, xgrammar: Asked) -> None:
    wrong, right = re.findall(r"^```json\n(.*?)\n```$", read_page(CATALOGUE[code]), re.M | re.S)
    fault = {"E503": Fault.REFUSES, "W504": Fault.WEAK, "W505": Fault.REJECTS}[code]
    asked = lax if code == "E503" else xgrammar
    assert fault in {each.fault for each in examine(Exam(json.loads(wrong)), asked).findings}
    assert fault not in {each.fault for each in examine(Exam(json.loads(right)), xgrammar).findings}


@pytest.mark.parametrize(
    "text",
    [
        "(* kbnf: finish=eager *) start ::= 'a'+ #'.';",
        "start ::= 'a' #'(?s:.)' 'b';",
    ],
)
def test_grammars_that_an_engine_takes(xgrammar: Asked, text: str) -> None:
    """Where generation ends is no fault; nor is it that XGrammar does not read ``.``."""
    result = examine_grammar(Grammar(text), xgrammar)
    assert result is not None
    assert result.verdict == "ok"


def test_grammars_that_name_tokens(xgrammar: Asked) -> None:
    """Such a grammar is asked about, and has no texts over the bytes."""
    result = examine_grammar(Grammar.from_gbnf("root ::= <[1000]> [a-z]"), xgrammar)
    assert result is not None
    assert result.verdict == "refuses"


def test_a_part_that_went_with_another() -> None:
    """Items that are left out move those after them: what is left has other pointers."""
    schema = {"anyOf": [{"type": "string"}, {"const": 1, "minLength": 2}]}
    assert _without(schema, "/anyOf/1/type") is schema
    assert _without(schema, "/anyOf/2/type") is schema
