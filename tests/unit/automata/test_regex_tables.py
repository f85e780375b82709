"""The generated tables say what the regex package says."""

import regex

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.automata.regex import generate_tables, tables, unicode
from kbnf_core.automata.regex.unicode import every_code_point, named_property, property_value


def test_tables_are_those_of_the_package() -> None:
    if regex.__version__ != tables.REGEX_VERSION:
        # Another version has another Unicode; then only the letters of old must agree.
        assert unicode.perl_class("d", unicode=True)[0] == (0x30, 0x39)
        return
    assert generate_tables.render() == generate_tables.current()


def test_every_code_point_is_at_its_index() -> None:
    text = every_code_point()
    assert len(text) == 0x110000
    assert all(ord(text[index]) == index for index in range(0, 0x110000, 997))


def test_properties_agree_with_the_package() -> None:
    matches = regex.finditer(r"\p{Script=Greek}+", every_code_point())
    greek = from_ranges((match.start(), match.end() - 1) for match in matches)
    assert named_property("Greek") == property_value("script", "Grek") == greek


def test_folding_is_simple_and_without_turkish_i() -> None:
    assert unicode.fold_case(((0x69, 0x69),), unicode=True) == ((0x49, 0x49), (0x69, 0x69))
    assert unicode.fold_case(((0x130, 0x131),), unicode=True) == ((0x130, 0x131),)
    assert unicode.fold_case(((0x6B, 0x6B),), unicode=False) == ((0x4B, 0x4B), (0x6B, 0x6B))
