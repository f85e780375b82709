"""Automata that come as data are those that their patterns are compiled to."""

import json
from base64 import b64decode
from zlib import decompress

import pytest

from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.languages.json_schema import Formats, Standard
from kbnf_core.languages.json_schema.type_keywords import EXPRESSIONS, formats_of
from kbnf_core.languages.json_schema.value_sets import PATTERNS, compiled_pattern
from kbnf_testing.shipped_patterns import render, render_formats


def test_the_expressions_of_formats_are_those_of_their_rules() -> None:
    assert EXPRESSIONS.read_text("ascii") == render_formats()


def test_the_file_is_what_is_generated() -> None:
    texts = PATTERNS.read_text("ascii"), render()
    # How data is compressed differs between versions of zlib.
    found, wanted = (
        {key: (work, decompress(b64decode(data))) for key, (work, data) in json.loads(text).items()}
        for text in texts
    )
    assert found == wanted


@pytest.mark.parametrize("name", ["date", "email", "uuid", "ipv4"])
def test_what_is_shipped_is_what_is_compiled(name: str) -> None:
    pattern = formats_of(Standard.JSON_SCHEMA, Formats.RFC)[name]
    for each in (pattern, f"{pattern}x"):
        found, wanted = compiled_pattern(each), compile_regex(each)
        assert found.dfa is not None
        assert wanted.dfa is not None
        assert (found.work, found.problems) == (wanted.work, wanted.problems)
        for part in ("classes", "rows", "accepting"):
            assert getattr(found.dfa, part) == getattr(wanted.dfa, part)


def test_a_pattern_with_an_error_has_it_still() -> None:
    assert compiled_pattern("(").problems == compile_regex("(").problems != ()
