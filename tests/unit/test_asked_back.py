"""What a program passes by mistake is answered with what was probably meant."""

from dataclasses import dataclass
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.errors import ConfigError, VocabularyError
from kbnf_testing.membership import Language

TEXT = 'start ::= "a";'


@dataclass
class Point:
    """A class whose schema is wanted."""

    x: int


def test_an_instance_is_not_its_class() -> None:
    pydantic: Any = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", x=(int, ...))
    for instance in (model(x=1), Point(1)):
        name = type(instance).__name__
        for read in (Grammar.from_json_schema, Grammar.from_any):
            with pytest.raises(ConfigError, match=rf"instance of {name}, .*: write `{name}`"):
                read(instance)


def test_a_misspelt_keyword_of_a_dict_is_a_warning() -> None:
    schema: Any = {"type": "object", "propertes": {"a": {"type": "integer", "minimun": 1}}}
    with pytest.warns(UserWarning, match="/propertes: .*did you mean `properties`") as found:
        Engine(schema, Vocabulary.bytes())
    assert len(found) == 1


def test_names_of_a_dict_that_are_numbers_are_those_of_its_text() -> None:
    grammar = Grammar.from_json_schema({"properties": {1: {"const": 2}}, 3: {}, "required": ["1"]})
    assert Language(grammar).has('{"1":2}')


def test_swapped_arguments() -> None:
    vocabulary = Vocabulary.bytes()
    swapped: Any = (vocabulary, TEXT)
    with pytest.raises(ConfigError, match="got Vocabulary: a vocabulary or tokenizer is the sec"):
        Engine(*swapped)
    for grammar in (Point, {"type": "object"}):
        with pytest.raises(
            VocabularyError, match=r"expected a tokenizer, got .*: a grammar is the"
        ):
            Vocabulary.of(grammar)
    with pytest.raises(VocabularyError, match="expected a tokenizer, got int; known kinds"):
        Vocabulary.of(3)
