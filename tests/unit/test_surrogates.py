"""Halves of surrogate pairs: a finding in whatever is read, with the place where they are."""

from collections.abc import Callable

import pytest

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary
from kbnf_core.convert import from_abnf, from_json_schema
from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.languages import LANGUAGES, Language
from kbnf_core.lint.check import check
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source

TAG = r'{"type": "structural_tag", "format": %s}'

ALONE = "\ud800"
SPELT = r"\ud800"

READERS: list[tuple[Callable[[str], object], str, str]] = [
    (Grammar, "start ::= 'a\ud800';", "E009"),
    (Grammar, "(* \ud800 *) start ::= 'a';", "E009"),
    (Grammar, 'start ::= #r"\ud800";', "E009"),
    (Grammar.from_gbnf, 'root ::= "a" # \ud800\n', "E009"),
    (Grammar.from_bnf, "<start>::='\ud800'\n", "E009"),
    (from_abnf, 'start = "a" ; \ud800\n', "E009"),
    (Grammar.from_lark, 'start: "a" // \ud800\n', "E009"),
    (Grammar.from_lark, r'{"grammars": [{"lark_grammar": "start: \"\ud800\""}]}', "E001"),
    (Grammar.from_regex, "a\ud800", "E009"),
    (lambda text: Grammar.from_choice(["a", text]), "b\ud800", "E009"),
    (Grammar.from_json_schema, r'{"const": "\ud800"}', "E802"),
    (Grammar.from_json_schema, r'{"enum": ["a", "\ud800"]}', "E802"),
    (Grammar.from_json_schema, r'{"properties": {"\ud800": {}}}', "E802"),
    (Grammar.from_json_schema, r'{"pattern": "\ud800"}', "E802"),
    (from_json_schema, r'{"title": "\ud800", "type": "integer"}', "E802"),
    (Grammar.from_structural_tag, TAG % r'{"type": "const_string", "value": "\ud800"}', "E441"),
    (
        Grammar.from_structural_tag,
        TAG % r'{"type": "json_schema", "json_schema": {"const": "\ud800"}}',
        "E441",
    ),
]


@pytest.mark.parametrize(("read", "text", "code"), READERS)
def test_a_reader_refuses_half_of_a_pair_where_it_is(
    read: Callable[[str], object], text: str, code: str
) -> None:
    with pytest.raises(GrammarError, match="half of a surrogate pair") as caught:
        read(text)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.source.slice(found.span) in (ALONE, SPELT)
    str(found.message).encode()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (r'start: %json {"const": "\ud800"}', "E802"),
        (r'start: %regex {"substring_words": "\ud800 a"}', "E421"),
    ],
)
def test_json_in_lark_is_read_alike(text: str, code: str) -> None:
    with pytest.raises(GrammarError, match="half of a surrogate pair") as caught:
        Grammar.from_lark(text)
    assert caught.value.diagnostics[0].code == code


def test_the_text_of_a_schema_in_an_older_tag_is_read_alike() -> None:
    text = r'{"structures": [{"begin": "a", "schema": "{\"const\": \"\\ud800\"}", "end": "b"}],'
    with pytest.raises(GrammarError, match="a text of one") as caught:
        Grammar.from_structural_tag(text + ' "triggers": ["a"]}')
    assert caught.value.diagnostics[0].code == "E441"


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_language_has_a_finding(language: Language) -> None:
    assert [each.code for each in check("a \ud800", language=language)] == ["E009"]


def test_the_formatter_has_a_finding() -> None:
    formatted = format_kbnf(Source("start ::= 'a'; (* \ud800 *)"))
    assert formatted.text is None
    assert [each.code for each in formatted.errors] == ["E009"]


def test_a_pair_is_a_character() -> None:
    engine = Engine(Grammar.from_json_schema(r'{"const": "\ud83d\ude00"}'), Vocabulary.bytes())
    engine.try_accept_new_bytes('"😀"'.encode())
    assert engine.is_finished()


def test_a_text_that_is_too_large_is_refused_alike() -> None:
    """Also by the converters, which read what was not decoded here."""
    limits = Limits(source_bytes=10)
    with pytest.raises(GrammarError, match="E017"):
        Grammar.from_lark('start: "aaaaaa"', limits=limits)
    with pytest.raises(GrammarError, match="E017"):
        Grammar.from_regex("a" * 11, limits=limits)
