"""The page's own functions, in Node: words, colours, and questions that take too long."""

import base64
import json
import zlib
from typing import Any

import pytest

from .conftest import ROOT, STATIC, run_in_node

WHOLE: dict[str, Any] = {"findings": [], "more": 0, "is_checked": True}


def call(module: str, *calls: list[Any]) -> list[Any]:
    """Return what functions of a module of the page return."""
    found: list[Any] = json.loads(
        run_in_node("modules.mjs", str(STATIC / module), given=json.dumps(calls))
    )
    return found


def test_nothing_known_is_never_shown_as_nothing_wrong() -> None:
    error = {"severity": "error"}
    answers = [
        WHOLE,
        {**WHOLE, "findings": [error, error, {"severity": "info"}], "more": 7},
        {"findings": [], "more": 0, "trouble": "too slow"},
        {"trouble": "no answer"},
    ]
    verdicts = call("words.js", *(["verdictOf", answer] for answer in answers))
    assert verdicts == [
        ["no findings", "complete"],
        ["2 errors, 1 info", "error"],
        ["", ""],
        ["", ""],
    ]
    notes = call("words.js", *(["findingsNote", answer] for answer in answers))
    assert notes == ["No findings.", "7 more", *["Not everything was checked."] * 2]


def test_one_of_a_thing_is_not_several() -> None:
    counts = [["counted", 1, "node"], ["counted", 0, "node"], ["counted", 1234, "more place"]]
    assert call("words.js", *counts) == ["1 node", "0 nodes", "1,234 more places"]


def test_a_status_is_in_the_words_of_the_manual() -> None:
    statuses = ["complete", "finished", "incomplete", "rejected", None]
    assert call("words.js", *(["statusOf", each] for each in statuses)) == [
        "complete",
        "complete",
        "incomplete",
        "does not fit",
        "",
    ]


def coloured(text: str, language: str) -> list[tuple[str, str]]:
    [found] = call("editor.js", ["words", text, language])
    return [(text[each["start"] : each["end"]], each["name"]) for each in found]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "KBNF",
            "a ::= #'[\\']' b; (* c\n; *) 'd'",
            [
                ("a", "defined"),
                ("::=", "sign"),
                ("#'[\\']'", "regex"),
                ("b", "rule"),
                (";", "sign"),
                ("(* c\n; *)", "comment"),
                ("'d'", "string"),
            ],
        ),
        ("KBNF", "(* a\nb", [("(* a\nb", "comment")]),
        (
            "GBNF",
            'root ::= [a"] "b" # c',
            [
                ("root", "defined"),
                ("::=", "sign"),
                ('[a"]', "regex"),
                ('"b"', "string"),
                ("# c", "comment"),
            ],
        ),
        (
            "Lark",
            '?a.2: /b\\//i "c"i // d',
            [
                ("?a.2", "defined"),
                (":", "sign"),
                ("/b\\//i", "regex"),
                ('"c"i', "string"),
                ("// d", "comment"),
            ],
        ),
        (
            "ABNF",
            'a = %x41-5A "b" ; c',
            [
                ("a", "defined"),
                ("=", "sign"),
                ("%x41-5A", "regex"),
                ('"b"', "string"),
                ("; c", "comment"),
            ],
        ),
        ("JSON Schema", '{"a": "b"}', [('"a"', "rule"), ('"b"', "string")]),
    ],
)
def test_words_have_colours(language: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert coloured(text, language) == expected


def test_pieces_have_the_names_of_all_ranges() -> None:
    ranges = [
        {"start": 1, "end": 4, "name": "a"},
        {"start": 3, "end": 99, "name": "b"},
        {"start": 2, "end": 2, "name": "empty"},
    ]
    [found] = call("editor.js", ["pieces", "012345", ranges])
    assert [(each["start"], each["end"], each["names"]) for each in found] == [
        (0, 1, []),
        (1, 3, ["a"]),
        (3, 4, ["a", "b"]),
        (4, 6, ["b"]),
    ]


def test_a_question_behind_a_slow_one_is_answered() -> None:
    seen = json.loads(run_in_node("waiting.mjs", str(ROOT / "docs" / "page" / "backend.js")))
    # The worker of the slow question is replaced.
    assert seen == {
        "asked": ["slow", "newest"],
        "workers": 2,
        "first": "first",
        "slow": "This takes too long in a browser: try the command on your own machine.",
        "newest": {"is_checked": True},
    }


@pytest.mark.parametrize("language", ["KBNF", "GBNF", "Lark", "BNF", "ABNF", "JSON Schema"])
def test_what_is_not_closed_costs_one_look(language: str) -> None:
    """Quotes, brackets and blanks without an end: linear in what is coloured, not quadratic."""
    size = 50_000
    texts = [
        *((part * size)[:size] for part in ('"\\', '#"', "#r'", "[", "[\\", "<", "/", "a[", "a{")),
        "a" + " " * (size - 1),
        '"a"' + "\n" * (size - 3),
    ]
    found = call("editor.js", *(["words", text, language] for text in texts))
    assert all(isinstance(each, list) for each in found)


def test_what_is_not_closed_goes_on_to_the_end_of_its_line() -> None:
    assert coloured('a ::= "b\nc;', "KBNF")[2:4] == [('"b', "string"), ("c", "rule")]
    assert coloured('a ::= #"b\nc', "KBNF")[2:] == [('#"b\nc', "regex")]
    assert coloured("a ::= [b\nc", "GBNF")[2:] == [("[b", "regex"), ("c", "rule")]


def letters(data: bytes) -> str:
    """Return what a link has: data compressed, as letters of an address."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_a_link_comes_back() -> None:
    state = {"grammar": "start ::= 'é';", "chosen": 1}
    [packed] = call("links.js", ["packed", state])
    assert call("links.js", ["unpacked", packed]) == [state]


@pytest.mark.parametrize(
    "link",
    [
        letters(b" " * 2**28),
        letters(b'{"grammar":"' + b"a" * 2**21 + b'"}'),
        letters(b"[" * 900_000),
        letters(b'{"grammar":"a"}')[:-4],
        letters(b"no JSON"),
        "A" * 1_000_000,
        "%%%",
        "\u00e9",
        "",
    ],
    ids=["bomb", "long", "deep", "cut", "text", "letters", "signs", "no letter", "nothing"],
)
def test_a_link_that_is_damaged_is_refused(link: str) -> None:
    [found] = call("links.js", ["unpacked", link])
    assert list(found) == ["refused"]


def test_what_a_link_has_is_of_the_types_of_a_state() -> None:
    state = {"grammar": "", "chosen": 0}
    names = ["grammar", "chosen"]
    values: list[Any] = [
        {"grammar": "a", "chosen": 1, "other": 2, "texts": [["b", True]]},
        {"grammar": 1, "chosen": 0.5, "texts": [["b"], [1], None, "c", {}]},
        {"chosen": -1, "texts": {"length": 9}},
        {"texts": [["b"]] * 90_000},
    ]
    found = call("links.js", *(["checked", value, state, names] for value in values))
    assert found == [
        {"grammar": "a", "chosen": 1, "texts": [["b", True]]},
        {"texts": [["b"]]},
        {"texts": []},
        {"texts": [["b"]] * 100},
    ]
    for value in (None, "a", 7):
        assert call("links.js", ["checked", value, state, names]) == [{"refused": "no state"}]
