"""Schemas rewritten for engines: taken, proved, never wider."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.diff.comparison import Relation, Verdict, compare
from kbnf_core.grammar import Grammar
from kbnf_core.targets.process import Asked
from kbnf_core.targets.rewrite import (
    KeywordChange,
    _formats,
    _merged,
    _of_automaton,
    _proof,
    plain_pattern,
    rewrite,
)
from kbnf_testing import fake_engine
from kbnf_testing.samples import examples


@pytest.fixture(scope="module")
def llguidance() -> Iterator[Asked]:
    pytest.importorskip("llguidance")
    engine = Asked("llguidance")
    yield engine
    engine.close()


def _string(pattern: str) -> Grammar:
    return Grammar.from_json_schema(
        json.dumps({"type": "string", "pattern": pattern}), whitespace="compact"
    )


PATTERNS = [
    "^[0-5]\\d$",
    "^\\w+\\s\\S$",
    "^(https:\\/\\/)?x$",
    "^[\\w\\-.]+$",
    "^[^\\s]*$",
    "^(?:a|b)\\.c$",
    "\\u0041[\\x42-\\x44]",
    "[a-z]+",
    "^a|b$",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_plain_patterns_are_equal(pattern: str) -> None:
    plain = plain_pattern(pattern)
    assert not re.search(r"\\[dwsDWSuxnt/-]|\(\?", plain)
    assert compare(_string(pattern), _string(plain)).relation is Relation.EQUAL


@pytest.mark.parametrize("pattern", [*PATTERNS, "^(?!tmp)[a-z]+\\d$", "^(?=.*x)[a-z]{3}$"])
def test_expressions_of_automata_are_equal(pattern: str) -> None:
    expression = _of_automaton(pattern)
    assert expression is not None
    assert "(?" not in expression
    assert compare(_string(pattern), _string(expression)).relation is Relation.EQUAL


@settings(max_examples=examples(30), deadline=None)
@given(st.from_regex(r"\A\^(\[ab\]|a|b|\\d|\(a\|b\)|[ab]\*|a\?){1,4}\$\Z"))
def test_random_patterns(pattern: str) -> None:
    assert compare(_string(pattern), _string(plain_pattern(pattern))).relation is Relation.EQUAL


def test_what_the_engine_refuses_is_rewritten_and_proved(llguidance: Asked) -> None:
    schema = {"type": "object", "properties": {"a": {"pattern": "^(?!tmp)[a-z]+\\d$"}}}
    made = rewrite({**schema, "additionalProperties": False}, llguidance)
    assert made.is_taken
    [change] = made.changes
    assert (change.pointer, change.lost) == ("/properties/a/pattern", None)
    assert change.summary.endswith("(proved equal)")


def test_what_has_no_other_spelling_is_left(llguidance: Asked) -> None:
    schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    made = rewrite(schema, llguidance)
    assert (made.is_taken, made.changes, made.schema) == (False, (), schema)


def test_what_says_nothing_is_left_out(llguidance: Asked) -> None:
    made = rewrite({"type": "array", "uniqueItems": True, "maxItems": 1}, llguidance)
    assert made.is_taken
    assert "uniqueItems" not in made.schema


def test_a_look_ahead_that_is_refused_by_one_that_enforces_nothing() -> None:
    asked = Asked("llguidance", adapter=fake_engine.load)
    try:
        made = rewrite({"type": "string", "pattern": "^(?=a)[ab]$"}, asked)
    finally:
        asked.close()
    assert made.schema == {"type": "string", "pattern": "^(a)$"}


PROOFS: list[tuple[Any, Any, str | None]] = [
    ({"enum": ["a"]}, {"const": "a"}, ""),
    ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 2}, '"GGG"'),
    ({"type": "string", "maxLength": 2}, {"type": "string", "maxLength": 3}, None),
    ({"oneOf": [{"type": "integer"}, {"type": "string"}]},
     {"anyOf": [{"type": "integer"}, {"type": "string"}]}, ""),
    ({"oneOf": [{"type": "integer"}, {"minimum": 3}]},
     {"anyOf": [{"type": "integer"}, {"minimum": 3}]}, None),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "lost"), PROOFS)
def test_a_change_is_proved_equal_or_narrower_or_refused(old: Any, new: Any, lost: str) -> None:
    found = _proof(old, new, old, new)
    if lost is None:
        assert found == "\0"
    else:
        assert bool(found) is bool(lost)
        if found:
            grammar = Grammar.from_json_schema(json.dumps(new))
            wider = Grammar.from_json_schema(json.dumps(old))
            assert compare(wider, grammar).old_only.verdict is Verdict.SOME


def test_merging() -> None:
    one = {"type": "object", "properties": {"a": {}, "b": {"minimum": 1}}, "required": ["a"]}
    other = {"type": "object", "properties": {"b": {"maximum": 2}}, "required": ["b"]}
    merged = _merged({}, [one, other])
    assert merged is not None
    assert merged["required"] == ["a", "b"]
    assert merged["properties"]["b"] == {"allOf": [{"minimum": 1}, {"maximum": 2}]}
    assert _merged({}, [{"pattern": "a"}, {"pattern": "b"}]) is None


@pytest.mark.parametrize("engine", ["xgrammar", "outlines-core"])
@pytest.mark.parametrize("named", [{}, {"$schema": "http://json-schema.org/draft-07/schema#"}])
def test_tuples_of_older_drafts_are_rewritten(engine: str, named: dict[str, Any]) -> None:
    pytest.importorskip(engine.replace("-", "_"))
    pair = [{"type": "integer"}, {"type": "string"}]
    schema = {**named, "type": "array", "items": pair, "additionalItems": False}
    asked = Asked(engine)
    try:
        found = rewrite(schema, asked)
    finally:
        asked.close()
    assert found.is_taken
    assert [each.lost for each in found.changes] == [None]
    newest = {"$schema": "https://json-schema.org/draft/2020-12/schema"} if named else {}
    assert found.schema == {**newest, "type": "array", "prefixItems": pair, "items": False}


@pytest.mark.parametrize(
    "schema",
    [
        {"format": "email", "pattern": "^(?!\\.)(?!.*\\.\\.)[A-Za-z.]{1,8}@([a-z]+\\.)+[a-z]{2,}$"},
        {"format": "date-time", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$"},
        {"format": "date"},
    ],
    ids=["email", "date-time", "date"],
)
def test_a_format_and_a_pattern_become_one_pattern(schema: dict[str, Any]) -> None:
    old = {"type": "string", **schema}
    spelt = [new for _, new in _formats(old, old, "format")]
    assert [sorted(new) for new in spelt] == [["pattern", "type"]]
    assert _proof(old, spelt[0], old, spelt[0]) == ""


def test_a_long_loss_is_shortened() -> None:
    change = KeywordChange("/a/maxLength", "`maxLength` made 1,000", "x" * 1_001)
    assert len(change.summary) < 200
