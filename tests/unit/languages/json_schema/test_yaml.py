"""JSON Schemas as block YAML: layout, scalars, limits and roads."""

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest
import yaml

from benchmarks.python_grammar import Judge
from benchmarks.yaml_values import changed, is_plain, printed
from kbnf_core import Engine, Grammar, Vocabulary, check
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.languages.json_schema.rules import is_safe
from kbnf_core.text.errors import ConfigError, GrammarError, ParseError

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "yes": {"type": ["integer", "null"]},
        "kind": {"enum": ["yes", "a b", "x: y", "", 1, None, True, [1, {"a": 2}], {}]},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
        "short": {"type": "string", "minLength": 2, "maxLength": 6},
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "boolean"}, {"$ref": "#"}],
            "minItems": 2,
            "items": False,
        },
        "inner": {"$ref": "#"},
        "free": True,
    },
    "required": ["name"],
    "additionalProperties": {"type": "number"},
}
NAMES = [
    "a: b", "- x", "#", "", "yes", "1", "é", "\U0001f600", "a\nb", '"', "'", "{}", "key", "null",
    "a b", "\u2028", "?x", ":x", "-x", "a:", "[", "~", "<<", "=", "x" * 200, "\x7f", "\\", "%",
    "@", "`",
]  # fmt: skip
ALPHABET = "yesnoNOultrfa #:-1.\"'{,é\u2028\n\t~=<?&|\x7f\ufeff/_$\xa0TYESF0x"


def grammar(schema: Any, **options: Any) -> Grammar:
    return Grammar.from_json_schema(schema, syntax="yaml", **options)


@pytest.fixture(scope="module")
def person() -> Grammar:
    return grammar(PERSON)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("name: Bob\n", True),
        ("name: Bob", False),
        ('name: "Bob"\n', True),
        ("name: yes\n", False),
        ('name: "yes"\n', True),
        ("name: true story\n", True),
        ("name: 1a\n", False),
        ("name: a: b\n", False),
        ("name: http://a:1\n", True),
        ("name: a #b\n", False),
        ("name: C#\n", True),
        ("name: a \n", False),
        ("name:  a\n", False),
        ('name: a\n"yes": 1\n', True),
        ("name: a\nyes: 1\n", False),
        ('name: a\nkind: "yes"\n', True),
        ("name: a\nkind: a b\n", True),
        ('name: a\nkind: "a b"\n', False),
        ("name: a\nkind:\n  - 1\n  - a: 2\n", True),
        ("name: a\nkind: {}\n", True),
        ("name: a\ntags: []\n", True),
        ("name: a\ntags:\n", False),
        ("name: a\ntags:\n  - b\n  - c\n", True),
        ("name: a\ntags:\n- b\n", False),
        ("name: a\ntags:\n  - B\n", False),
        ("name: a\nshort: abcdef\n", True),
        ("name: a\nshort: abcdefg\n", False),
        ("name: a\nshort: a\n", False),
        ("name: a\npair:\n  - true\n  - name: b\n    short: cd\n", True),
        ("name: a\npair:\n  - true\n", False),
        ("name: a\ninner:\n  name: b\n  inner:\n    name: c\nfree: d\n", True),
        ("name: a\nfree:\n  - - 1\n    - x y: {}\n      z: []\n  - null\n", True),
        ("name: a\nother: 1.0e+5\n", True),
        ("name: a\nother: 1e5\n", False),
        ("name: a\nother: b\n", False),
        ("{}\n", False),
    ],
)
def test_texts(person: Grammar, text: str, taken: bool) -> None:
    assert Judge(person).takes(text.encode()) is taken
    if taken:
        value = yaml.safe_load(text)
        jsonschema.validate(value, PERSON)
        assert person.read_value(text) == value


def test_strings_are_plain_where_pyyaml_reads_them_as_they_are() -> None:
    rng = random.Random(1)
    kinds = ("yes", "no", "true", "false", "on", "off", "null", "y", "n")
    words = [form(each) for each in kinds for form in (str, str.upper, str.title, str.swapcase)]
    texts = [
        "".join(each) for size in range(2) for each in itertools.product(ALPHABET, repeat=size)
    ]
    texts += ["".join(rng.choices(ALPHABET, k=rng.randrange(3, 8))) for _ in range(2_000)]
    texts += [around.format(word) for word in words for around in ("{}", "{}x", "o{}", "{} a")]
    for text in texts:
        assert is_safe(text) is is_plain(text), text
        if is_safe(text):
            written = f"{text}:\n  - {text}\n"
            assert yaml.safe_load(written) == {text: [text]}, written


def test_names_of_every_kind() -> None:
    schema = {
        "type": "object",
        "properties": {name: {"const": number} for number, name in enumerate(NAMES)},
        "required": NAMES,
        "additionalProperties": False,
    }
    value = {name: number for number, name in enumerate(NAMES)}
    made, text = grammar(schema), f"{printed(value)}\n"
    assert yaml.safe_load(text) == value
    assert Judge(made).takes(text.encode())
    assert made.read_value(text) == value


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": NAMES},
        {"type": "string"},
        {"type": "object", "additionalProperties": {"enum": NAMES}},
        {"type": "object", "propertyNames": {"pattern": "^[a-c: ]+$"}},
        {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 3}},
        {"type": "array", "uniqueItems": True, "items": {"enum": ["yes", 1, None]}},
        {
            "type": "array",
            "contains": {"const": "x"},
            "maxContains": 1,
            "items": {"enum": ["x", "y"]},
        },
        {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": True},
        {"type": "object", "properties": {"a": True, "b": True}, "minProperties": 1},
        {"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": ["string", "null"]}}]},
        {"type": "string", "format": "date"},
        {"type": "number", "minimum": 0, "multipleOf": 0.5},
        {"type": "string", "pattern": "^(yes|no|a: b|#c)$"},
        {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}},
        {"type": "string", "maxLength": 700},
        PERSON,
        True,
    ],
)
def test_the_same_values_as_in_json(schema: Any) -> None:
    rng = random.Random(5)
    as_json, as_yaml = Grammar.from_json_schema(schema), grammar(schema)
    texts = sample_texts(Engine(as_yaml, Vocabulary.bytes()), 40, 3, 30).texts
    values = [as_yaml.read_value(text) for text in texts]
    for text, value in zip(texts, values, strict=True):
        assert yaml.safe_load(text) == value, text
        jsonschema.validate(value, schema)
    judge, yaml_texts = Judge(as_json), Judge(as_yaml)
    for value in [*values, *(changed(value, rng) for value in values for _ in range(5))]:
        wanted = judge.takes(json.dumps(value, ensure_ascii=False).encode())
        assert yaml_texts.takes(f"{printed(value)}\n".encode()) is wanted, value


def test_values_are_read_where_trees_take_too_much_work() -> None:
    names = [f"name{number}" for number in range(32)]
    bounded = {name: {"type": "string", "maxLength": 490 + at} for at, name in enumerate(names)}
    made = grammar({"type": "object", "properties": bounded, "required": names})
    value = {name: f"text of {name}" for name in names}
    text = f"{printed(value)}\n"
    with pytest.raises(GrammarError, match="E107"):
        made.parse(text)
    assert made.read_value(text) == value
    assert made.read_value(text[:25], partial=True) == {"name0": "text of name0"}
    for wrong, offset in ((text.replace("text", "- text"), 7), (text[:-1], len(text) - 1)):
        with pytest.raises(ParseError) as caught:
            made.read_value(wrong)
        assert (caught.value.offset, caught.value.rules) == (offset, ())


def test_what_is_too_deep_has_no_text() -> None:
    schema = {"type": "array", "items": {"$ref": "#"}}
    texts = Judge(grammar(schema))
    assert texts.takes(b"- " * 33 + b"[]\n")
    assert not texts.takes(b"- " * 34 + b"[]\n")


def test_what_must_be_too_deep_is_an_error() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        schema = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    with pytest.raises(GrammarError, match="more than 32 levels"):
        grammar(schema)


@pytest.mark.parametrize(
    "option", [{"whitespace": "compact"}, {"escapes": "any"}, {"standard": "llguidance"}]
)
def test_options_of_json_are_refused(option: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="option of JSON"):
        grammar(True, **option)


def test_recursion_is_no_contradiction() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "sub": {"$ref": "#"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    made = check(json.dumps(schema), language="json-schema", language_options={"syntax": "yaml"})
    assert [each.code for each in made] == []
