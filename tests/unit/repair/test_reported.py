r"""Repairs of the faults that people report, by their kinds.

The kinds are those of the issues and tests of json_repair and jsonrepair: quotes inside of strings,
numbers, comments, escapes, text around JSON, and JSON in other notations. The texts were written
for this project.
"""

import json
import re
from typing import Any

import pytest

from kbnf_core import Grammar
from kbnf_core.repair import Repair

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "number": {"type": "number"},
        "list": {"type": "array", "items": {"type": ["string", "number", "null"]}},
        "flag": {"type": ["boolean", "null"]},
    },
    "additionalProperties": False,
}
CLOSED = Grammar.from_json_schema(SCHEMA, whitespace="flexible", order="any")
OPEN = Grammar.from_json_schema(
    {**SCHEMA, "additionalProperties": True}, whitespace="flexible", order="any"
)


def nearest(text: str, grammar: Grammar = CLOSED) -> Repair:
    return grammar.repair(text)[0]


KEPT: dict[str, tuple[str, dict[str, Any]]] = {
    # Quotes inside of strings.
    "words in quotes": (
        '{"number": 1, "text": "she named "one" "two" "three" twice."}',
        {"number": 1, "text": 'she named "one" "two" "three" twice.'},
    ),
    "attributes": (
        '{"text": "<img src="a" alt="b">c</img>"}',
        {"text": '<img src="a" alt="b">c</img>'},
    ),
    "inches": ('{"text": "a 27" screen"}', {"text": 'a 27" screen'}),
    "at the end": ('{"text": "a screen of 27""}', {"text": 'a screen of 27"'}),
    "before a comma": (
        '{"text": "say "yes", then "no" again", "number": 2}',
        {"text": 'say "yes", then "no" again', "number": 2},
    ),
    "an object in a string": (
        '{"text": "it answered {"k": "v"} and ended"}',
        {"text": 'it answered {"k": "v"} and ended'},
    ),
    "in parentheses": ('{"text": "a board (12") wide"}', {"text": 'a board (12") wide'}),
    "in a list": ('{"list": ["a "b" c", "d"]}', {"list": ['a "b" c', "d"]}),
    # Quotes of other kinds.
    "single": ("{'text': 'a \"word\" more'}", {"text": 'a "word" more'}),
    "apostrophe": ('{"text": "it\\\'s"}', {"text": "it's"}),
    "apostrophe in single quotes": ("{'text': 'it\\'s'}", {"text": "it's"}),
    "typographic": ("{‘text’: “a”}", {"text": "a"}),
    "backticks": ('{"text": `a b`}', {"text": "a b"}),
    "kinds that are mixed": ("{‘text’: `it's “a” word´}", {"text": "it's “a” word"}),
    "names in quotes": ("{text:'a',list:['b','c']}", {"text": "a", "list": ["b", "c"]}),
    "doubled": ('{""text"": ""a b""}', {"text": "a b"}),
    "none": ("{text: some words}", {"text": "some words"}),
    "a URL": ("{text: https://a.b/c}", {"text": "https://a.b/c"}),
    "a date": ("{text: 2026-11-29}", {"text": "2026-11-29"}),
    # Numbers.
    "no digit before the point": ('{"number": .5}', {"number": 0.5}),
    "negative": ('{"number": -.5}', {"number": -0.5}),
    "no digit after the point": ('{"number": 5.}', {"number": 5}),
    "leading zeros": ('{"number": 007}', {"number": 7}),
    "only zeros": ('{"number": 000}', {"number": 0}),
    "plus": ('{"number": +5}', {"number": 5}),
    "underscores": ('{"number": 1_000_000}', {"number": 1_000_000}),
    "a version": ('{"text": 1.2.3}', {"text": "1.2.3"}),
    "a fraction": ('{"text": 1/2}', {"text": "1/2"}),
    # Escapes.
    "backslash": ('{"text": "c:\\work\\data"}', {"text": "c:\\work\\data"}),
    "a pattern": ('{"text": "\\d+\\("}', {"text": "\\d+\\("}),
    "code points": (
        '{"number": 1,, "text": "\\u00e9\\ud83d\\ude00\\/"}',
        {"number": 1, "text": "é😀/"},
    ),
    "line breaks": ('{"text": "a\nb\tc\x0b"}', {"text": "a\nb\tc\x0b"}),
    "escaped JSON": ('{\\"text\\": \\"a \\\\"b\\\\" c\\"}', {"text": 'a "b" c'}),
    # Literals and notations.
    "literals": ('{"flag": None, "list": [undefined, NULL]}', {"flag": None, "list": [None, None]}),
    "True": ('{"flag": TRUE}', {"flag": True}),
    "a tuple": ('{"list": (1, "a")}', {"list": [1, "a"]}),
    "an ellipsis": ('{"list": [1, 2, ...]}', {"list": [1, 2]}),
    "lines": (
        '{"text": "a"\n"list": [b\nc]\n flag: true}',
        {
            "text": "a",
            "list": ["b", "c"],
            "flag": True,
        },
    ),
    "strings that are joined": ('{"text": "a b" + "c" +\n "d"}', {"text": "a bcd"}),
    "trailing commas": ('{"list": [1, 2,\n],\n}', {"list": [1, 2]}),
    "blanks": ('{"text":\u00a0"a",\u200b"number": 1}', {"text": "a", "number": 1}),
    "fences": ('```json\n{"number": 1}\n```\n', {"number": 1}),
    "indented fences": ('\n    ```json\n    {"number": 1}\n    ```\n  ', {"number": 1}),
}
"""The text of each, and its value: nothing is lost, and nothing invented."""

MEMBERS = {"before a comma", "an object in a string"}
"""With quotes inside that can begin another member, if any name is allowed."""


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("grammar", [CLOSED, OPEN], ids=["closed", "open"])
def test_nothing_is_lost(name: str, grammar: Grammar) -> None:
    text, value = KEPT[name]
    if grammar is OPEN and name in MEMBERS:
        pytest.skip("another member is nearer")
    found = nearest(text, grammar)
    assert (json.loads(found.text), found.lost, found.invented) == (value, (), False)


STRIPPED: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "to the end of the line": (
        '{"number": 1, // one\n "text": "a" # two\n}',
        {"number": 1, "text": "a"},
        ("// one", "# two"),
    ),
    "in a line": (
        '{"number": 1 /* one */, "text": "a"}',
        {"number": 1, "text": "a"},
        ("/* one */",),
    ),
    "after a string": ('{"text": "a"/* b */}', {"text": "a"}, ("/* b */",)),
    "before a bracket": ('{"list": [1, 2 # two]}', {"list": [1, 2]}, ("# two",)),
    "a call": ('{"text": ObjectId("5f")}', {"text": "5f"}, ("ObjectId(",)),
    "prose": (
        'Here it is:\n{"number": 1}\nAnything else?',
        {"number": 1},
        ("Here it is:\n", "\nAnything else?"),
    ),
}


@pytest.mark.parametrize("name", STRIPPED)
def test_text_beside_the_data_is_named(name: str) -> None:
    text, value, lost = STRIPPED[name]
    found = nearest(text)
    assert (json.loads(found.text), found.lost, found.invented) == (value, lost, False)
    assert [edit.kind for edit in found.edits if edit.lost] == ["strip"] * len(lost)
    assert found.cost < 6


@pytest.mark.parametrize("text", ['{"number": 3,5}', '{"number": 1/2}', '{"number": 1 2}'])
def test_a_number_that_is_not_in_the_text_is_invented(text: str) -> None:
    for found in CLOSED.repair(text, best=3):
        digits = re.findall(r"[\d.]+", found.text)
        assert found.invented or found.lost or all(each in text for each in digits), found
    assert nearest(text).invented or nearest(text).lost


def test_comments_are_kept_in_strings() -> None:
    text = '{"text": "http://a.b/c # d /* e */" "number": 1}'
    assert json.loads(nearest(text).text)["text"] == "http://a.b/c # d /* e */"


@pytest.mark.parametrize("length", [5, 40])
def test_losing_data_costs_by_its_length(length: int) -> None:
    """A tail is not prose because brackets are inserted before it."""
    text = '{"number": 1, "text": ' + "x" * length + '"more" 2]'
    for found in CLOSED.repair(text, best=5):
        lost = sum(map(len, found.lost))
        assert found.cost >= min(lost, 3)
        assert found.invented or "x" * length in found.text


def test_prose_has_no_part_of_the_text() -> None:
    found = nearest('{"number": 1, "text": "a"} and {"number": 2}')
    assert (json.loads(found.text), found.lost) == (
        {"number": 1, "text": "a"},
        (' and {"number": 2}',),
    )


def test_an_overwritten_letter_is_lost() -> None:
    found = Grammar('start ::= "color";').repair("cobor")[0]
    assert (found.lost, found.edits[0].lost, found.invented) == (("b",), b"b", False)


def test_an_empty_value_is_invented_if_it_begins_in_no_text() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]}
    grammar = Grammar.from_json_schema({**schema, "additionalProperties": False})
    assert nearest('{"a":}', grammar).invented
    assert not nearest('{"a": {', grammar).invented


def test_digits_that_change_places_are_invented() -> None:
    grammar = Grammar('start ::= #"[0-4][5-9]";')
    found = grammar.repair("72")[0]
    assert (found.text, found.invented) == ("27", True)


CERTAIN = (
    '{"number": 1, "text": "a"',
    '{"number": .5, "list": [1, 2,],}',
    "{'text': `a b`, “list”: [‘c’]}",
    "{text: https://a.b/c, number: 1 // one\n}",
    '```json\n{"text": "a\n", "flag": None}\n```',
    '{"list": (1, "a"), "number": 1',
)
UNCERTAIN = (
    '{"text": "a "b" c"}',
    '{"text": "a, "number": 1}',
    '{"text": a", "number": 1}',
    "{'text': 'a, number: 1}",
    "{text: some words}",
    '{"text": "c:\\work"}',
    '{"list": [1, 2, "number": 1}',
    '{"list": [1, 2]], "number": 1}',
    '{"text": "a" + "b"}',
    '{\\"text\\": \\"a\\"}',
)


@pytest.mark.parametrize("text", [*CERTAIN, *UNCERTAIN])
def test_an_edit_that_decides_where_values_end_is_uncertain(text: str) -> None:
    found = nearest(text)
    assert found.uncertain == (text in UNCERTAIN), found
    assert found.uncertain == any(edit.uncertain for edit in found.edits)


def test_quotes_and_brackets_are_uncertain_in_any_language() -> None:
    grammar = Grammar("start ::= 'f(' #\"'[a-z ]*'\" ', ' #\"[0-9]+\" ')';")
    assert grammar.repair("f('a b, 1)")[0].uncertain
    assert not grammar.repair("f('a b' 1")[0].uncertain
