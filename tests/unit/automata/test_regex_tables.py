"""The generated tables say what the regex package says."""

from importlib import import_module

import pytest
import regex

from kbnf_core.automata.regex import unicode
from kbnf_core.automata.regex.unicode import named_property, property_value
from kbnf_testing import unicode_tables
from kbnf_testing.unicode_tables import every_code_point, members

VERSION = unicode.regex_version()
same_unicode = pytest.mark.skipif(
    regex.__version__ != VERSION,
    reason=f"the tables are those of regex {VERSION}, and another one is installed",
)
"""Another version may have another Unicode."""


@same_unicode
def test_tables_are_those_of_the_package() -> None:
    assert unicode_tables.CLASSES.read_text(encoding="utf-8") == unicode_tables.render_classes()


@same_unicode
@pytest.mark.slow
def test_properties_are_those_of_the_package() -> None:
    text = unicode_tables.PROPERTIES.read_text(encoding="utf-8")
    assert text == unicode_tables.render_properties()


def test_every_code_point_is_at_its_index() -> None:
    text = every_code_point()
    assert len(text) == 0x110000
    assert all(ord(text[index]) == index for index in range(0, 0x110000, 997))


@same_unicode
@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("L", r"\p{gc=L}"),
        ("Uppercase_Letter", r"\p{Lu}"),
        ("sc", r"\p{gc=Sc}"),
        ("Emoji", r"\p{Emoji=Yes}"),
        ("is Old Italic", r"\p{Script=Old_Italic}"),
        ("assigned", r"\P{Cn}"),
        ("Greek", r"\p{sc=Grek}"),
    ],
)
def test_names_are_found_as_rust_finds_them(name: str, pattern: str) -> None:
    assert named_property(name) == members(pattern)


@pytest.mark.parametrize("name", ["", "foo", "InGreek", "Cs", "word", "blank", "age", "script"])
def test_other_names_are_unknown(name: str) -> None:
    assert named_property(name) is None
    assert property_value(name, "yes") is None


@same_unicode
def test_every_value_is_found_by_each_of_its_names() -> None:
    known = import_module("regex._regex_core").PROPERTIES
    for key, name in unicode._BY_VALUE.items():
        # Surrogates are in no text; `L&` has other names.
        for value in filter(str.isalnum, known[key.upper()][1].keys() - {"CS"}):
            assert property_value(name, value) is not None, (key, value)
            assert property_value(key, value) == property_value(name, value)


def test_folding_is_simple_and_without_turkish_i() -> None:
    assert unicode.fold_case(((0x69, 0x69),), unicode=True) == ((0x49, 0x49), (0x69, 0x69))
    assert unicode.fold_case(((0x130, 0x131),), unicode=True) == ((0x130, 0x131),)
    assert unicode.fold_case(((0x6B, 0x6B),), unicode=False) == ((0x4B, 0x4B), (0x6B, 0x6B))
