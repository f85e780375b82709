"""JSON texts as values: decimals, and no half of a surrogate pair."""

from decimal import Decimal

import pytest

from kbnf_core import Grammar, GrammarError
from kbnf_core.languages import TOOL_LIST
from kbnf_core.text.diagnostics import decode
from kbnf_core.text.json_text import Json, NoJsonError, objects_in, parse_json, repeated_names


def test_numbers_are_what_was_written() -> None:
    assert parse_json('[1.10, 1e400, -0, 12345678901234567890123]') == [
        Decimal("1.10"),
        Decimal("1e400"),
        Decimal("-0"),
        Decimal(12345678901234567890123),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\uD83D\uDE00\ud83d\ude00"', "\U0001f600\U0001f600"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\\\\udc00 \\\ud83d\ude00"', "\\\\udc00 \\\U0001f600"),
        (r'"\ud7ff\ue000"', "\ud7ff\ue000"),
        ('"😀é"', "😀é"),
    ],
)
def test_pairs_and_backslashes_are_text(text: str, value: str) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "start", "length"),
    [
        (r'"\ud800"', 1, 6),
        (r'{"a": 1, "\uDBFF": 2}', 10, 6),
        (r'"a\udc00\ud800"', 2, 6),
        (r'"\ud83d\ude00\ude00"', 13, 6),
        (r'"\ud800\u0041"', 1, 6),
        (r'"\\\ud800"', 3, 6),
        ('"é\ud800"', 2, 1),
        # Python's reader makes no pair of these.
        ('"\\ud83d\ude00"', 7, 1),
    ],
)
def test_half_of_a_pair_is_refused_where_it_is(text: str, start: int, length: int) -> None:
    with pytest.raises(NoJsonError, match="half of a surrogate pair") as caught:
        parse_json(text)
    assert caught.value.span == (start, start + length)


@pytest.mark.parametrize(
    ("text", "reason", "start"),
    [
        ("[1 2]", "Expecting", 3),
        ("", "Expecting value", 0),
        ("NaN", "it contains `NaN`", 0),
        ("[" * 100_000, "nested too deeply", 99_999),
    ],
)
def test_what_is_no_json_says_why(text: str, reason: str, start: int) -> None:
    with pytest.raises(NoJsonError, match=reason) as caught:
        parse_json(text)
    assert caught.value.span.start == start


def test_objects_are_found_at_any_depth_those_around_others_first() -> None:
    inner = {"b": [1, {"c": None}]}
    value = [{"a": inner}, "x", [[{}]]]
    assert [[*each] for each in objects_in(value)] == [["a"], ["b"], [], ["c"]]
    deep: Json = {}
    for _ in range(100_000):
        deep = [deep]
    assert [*objects_in(deep)] == [{}]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"a": 1, "b": {"a": 2}, "c": [{"a": 1}, {"a": 1}]}', []),
        ('{"a": 1, "b": "a", "a" : 2}', ['"a"']),
        (r'{"a": {"b": 1, "\u0062": 2}, "a\"": ":", "a\"": 2}', [r'"\u0062"', r'"a\""']),
        ('["a", "a", {"x": ["x"], "x": 1, "x": 2}]', ['"x"', '"x"']),
    ],
)
def test_repeated_names(text: str, names: list[str]) -> None:
    found = [text[span.start : span.end] for span in repeated_names(text)]
    assert found == names
    assert parse_json(text) is not None
    if not names:
        assert parse_json(text, unique=True) == parse_json(text)
        return
    with pytest.raises(NoJsonError, match="occurs twice") as raised:
        parse_json(text, unique=True)
    assert text[raised.value.span.start : raised.value.span.end] == names[0]


@pytest.mark.parametrize("text", ['[{"name": "f", "name": "g"}]', '{"tools": [], "tools": []}'])
def test_a_name_in_a_list_of_tools_occurs_once(text: str) -> None:
    with pytest.raises(GrammarError, match="occurs twice"):
        Grammar.read(text, TOOL_LIST)


def test_texts_that_are_nested_too_deeply_are_shown_where_they_are() -> None:
    text = '{"a": "[[[[", "b": ' + "[" * 5_000 + "]" * 5_000 + "}"
    with pytest.raises(NoJsonError, match="nested too deeply") as raised:
        parse_json(text)
    assert raised.value.span.start == text.rindex("[")


@pytest.mark.parametrize("text", ['{"type": "integer"}', '\r\n[{"name": "f"}]'])
def test_a_byte_order_mark_before_json_is_a_blank(text: str) -> None:
    source, invalid = decode(b"\xef\xbb\xbf" + text.encode())
    assert (source.text, invalid) == (f" {text}", None)
    assert decode(b"\xef\xbb\xbfstart ::= 'a';")[0].text.startswith("\ufeff")
