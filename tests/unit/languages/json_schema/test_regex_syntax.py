"""The format `regex`: nothing passes that is no regular expression, whoever reads it."""

import re
import warnings

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from kbnf_core import Grammar
from kbnf_core.convert import from_json_schema
from kbnf_core.diff import compare
from kbnf_core.diff.comparison import Relation
from kbnf_core.languages.json_schema import Standard
from kbnf_core.languages.json_schema.type_keywords import formats_of
from kbnf_testing.samples import examples

WHOLE = re.compile(formats_of(Standard.JSON_SCHEMA)["regex"])
SCHEMA = {"type": "string", "format": "regex"}


@pytest.mark.parametrize(
    "text",
    [
        "", "|", "a|b", "^[a-zA-Z_][a-zA-Z0-9_]*$", r"([abc])+\s+$", r"^\d{4}-\d{2}(?:-\d{2})?$",
        r"^\w+([.-]?\w+)*@\w+([.-]?\w+)*(\.\w{2,3})+$", "^(https?|ftp)://[^/]+$", r"^\[.*?\]$",
        "[-a]", "[a-]", "[^-]", "a{2}", "a{2,}", "a{2,10}?", "a{12,13}", r"\u00e9\x41", "((a(b)c))",
        "é", r"\"", "^$",
    ],
)  # fmt: skip
def test_usual_expressions_pass(text: str) -> None:
    assert WHOLE.fullmatch(text)
    re.compile(text)


@pytest.mark.parametrize(
    "text",
    [
        "^(abc]", "(", ")", "[", "[]", "[z-a]", "a**", "*a", "^*", "a{3,2}", "a{13,12}", "a{", "}",
        "]", r"\p", r"\1", "(?=a)", "(?<n>a)", "(?P<n>a)", "(?i)a", "[a&&b]", "[[a]]", "a++",
    ],
)  # fmt: skip
def test_what_is_no_expression_or_not_to_all_is_refused(text: str) -> None:
    assert not WHOLE.fullmatch(text)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet="ab()[]{}^$.|?*+-\\,012dz:", max_size=12))
def test_what_passes_can_be_read(text: str) -> None:
    if WHOLE.fullmatch(text):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(text)


@settings(max_examples=examples(100), deadline=None)
@given(st.from_regex(WHOLE, fullmatch=True))
def test_what_is_written_can_be_read(text: str) -> None:
    re.compile(text)


def test_the_text_for_people_has_the_same_language() -> None:
    written = Grammar(from_json_schema('{"type": "string", "format": "regex"}').text)
    assert compare(Grammar.from_json_schema(SCHEMA), written).relation is Relation.EQUAL
