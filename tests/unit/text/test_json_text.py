"""JSON texts as values: decimals, and no half of a surrogate pair."""

from decimal import Decimal

import pytest

from kbnf_core.text.json_text import Json, NoJsonError, objects_in, parse_json


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
        ("[" * 100_000, "nested too deeply", 0),
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
