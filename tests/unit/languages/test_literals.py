"""Arguments in Gemma's notation and as a call of Python, against readers of their own."""

import ast
import json
import re
from typing import Any

import jsonschema
import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.languages.structural_tag.nested import NOTATIONS, literal
from kbnf_testing.membership import Language

INNER = {
    "type": "object",
    "properties": {
        "x": {"type": "null"},
        "y": {"enum": ["p", 1, None, {"q": [True]}]},
        "z": {"type": "number"},
    },
    "required": ["y"],
    "additionalProperties": {"type": "boolean"},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "b": {"type": "string"},
        "A": {"type": "integer"},
        "c": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        "o": INNER,
        "any": {},
        "t": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        "f": {"type": "object"},
        "w": {"type": "string", "pattern": "^[a-c]+$"},
    },
    "required": ["b"],
    "additionalProperties": False,
}
VALUE = {
    "b": 'K"ö\\\n',
    "A": -3,
    "c": [True, False],
    "o": {"x": None, "y": {"q": [True]}, "z": 1.5, "more": True},
    "any": [1, {"k": None, "l": "s"}, []],
    "t": ["u", 2],
    "f": {"z": 1.5},
    "w": "abc",
}


def grammar(style: str, schema: Any = SCHEMA) -> Grammar:
    content = {"type": "json_schema", "json_schema": schema, "style": style}
    tag = {"type": "tag", "begin": "<c=f>", "content": content, "end": "</c>"}
    return Grammar.from_structural_tag({"type": "structural_tag", "format": tag})


def read_python(text: str) -> Any:
    """Read keyword arguments as Python does."""
    call = ast.parse(f"f{text}", mode="eval").body
    assert isinstance(call, ast.Call)
    assert not call.args
    return {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}


def read_gemma(text: str) -> Any:
    """Read Gemma's notation: strings first, then names."""
    strings: list[str] = []

    def kept(found: re.Match[str]) -> str:
        strings.append(found[1])
        return f'"\0{len(strings) - 1}"'

    plain = re.sub(r'<\|"\|>((?s:.*?))<\|"\|>', kept, text)
    name = r'([{,])([^\x00-\x20:,{}\[\]<>"]+):'
    named = re.sub(name, lambda found: f"{found[1]}{json.dumps(found[2])}:", plain)
    spelt = re.sub('"\0([0-9]+)"', lambda found: json.dumps(strings[int(found[1])]), named)
    return json.loads(spelt)


class _Meant(ast.NodeTransformer):
    """Puts the constants of Python in place of the names that JSON has for them."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant({"true": True, "false": False, "null": None}[node.id])


def read_python_json(text: str) -> Any:
    """Read keyword arguments whose values are written as in Python or in JSON."""
    call = ast.parse(f"f{text}", mode="eval").body
    assert isinstance(call, ast.Call)
    assert not call.args
    values = ((each.arg, _Meant().visit(each.value)) for each in call.keywords)
    return {str(name): ast.literal_eval(value) for name, value in values}


READERS = {"python": read_python, "python_json": read_python_json, "gemma": read_gemma}


def test_there_is_a_reader_for_each_notation() -> None:
    assert READERS.keys() == NOTATIONS.keys()


@pytest.mark.parametrize("style", READERS)
def test_what_is_written_is_read_back_by_the_notations_reader(style: str) -> None:
    order = {name: VALUE[name] for name in SCHEMA["properties"]}
    text = literal(style, order)
    assert READERS[style](text) == VALUE
    [call] = grammar(style).read_value(f"<c=f>{text}</c>")
    assert call == {"name": "f", "arguments": VALUE}


@pytest.mark.parametrize("style", READERS)
def test_sampled_arguments_are_what_the_notation_and_the_schema_say(style: str) -> None:
    found = grammar(style)
    engine = Engine(found, Vocabulary.bytes())
    samples = sample_texts(engine, 200, seed=1, length=60)
    assert len(samples.texts) == 200
    for sample in samples.texts:
        text = bytes(sample)
        [call] = found.read_value(text)
        jsonschema.validate(call["arguments"], SCHEMA)
        arguments = text.decode(errors="surrogateescape").removeprefix("<c=f>").removesuffix("</c>")
        assert READERS[style](arguments) == call["arguments"]
        reader = found.value_reader()
        for index in range(len(text)):
            reader.feed(text[index : index + 1])
        reader.finish()
        assert reader.value == [call]


@pytest.mark.parametrize("style", READERS)
@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({}, True),
        ({"a": 1}, True),
        ({"a": 1, "b": "s"}, True),
        ({"o": {"x": None, "y": [1]}}, True),
        ({"a": "s"}, False),
        ({"b": 1}, False),
        ({"o": {"x": 1}}, False),
        ({"a": 1, "a2": 2}, False),
    ],
)
def test_other_members_are_those_that_are_not_listed(style: str, value: Any, fits: bool) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "null"}}, "additionalProperties": True}
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "o": inner},
        "additionalProperties": {"type": "string"},
    }
    assert Language(grammar(style, schema)).has(f"<c=f>{literal(style, value)}</c>") == fits


def test_members_of_gemma_are_in_the_order_of_their_names() -> None:
    found = Language(grammar("gemma"))
    assert found.has('<c=f>{A:1,b:<|"|>s<|"|>}</c>')
    assert not found.has('<c=f>{b:<|"|>s<|"|>,A:1}</c>')


def test_strings_exclude_words_in_gemmas_notation() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"enum": ["x<end>", "y"]}},
        "additionalProperties": False,
    }
    part = {"type": "json_schema", "json_schema": schema, "style": "gemma", "excludes": ["<end>"]}
    tag = json.dumps({"type": "structural_tag", "format": part})
    found = Language(Grammar.from_structural_tag(tag).to_kbnf())
    assert found.has('{a:<|"|><end<|"|>,b:<|"|>y<|"|>}')
    assert not found.has('{a:<|"|>x<end>y<|"|>}')
    assert not found.has('{b:<|"|>x<end><|"|>}')


@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")
@pytest.mark.parametrize(
    ("string", "fits"),
    [
        (r"\d\'\\\n\x41\101", True),
        (r"\u00e9\U0001F600\U0010FFFF\uD7FF\U0000E000", True),
        ("two\nlines", True),
        (r"\U", False),
        (r"\xG0", False),
        (r"\u12", False),
        (r"\uD800", False),
        (r"\U0000dfff", False),
        (r"\U00110000", False),
        (r"\N{DIGIT ONE}", False),
    ],
)
def test_single_quotes_have_the_escapes_of_python(string: str, fits: bool) -> None:
    found = grammar("python_json")
    assert (found.status(f"<c=f>(b='{string}')</c>") == "fits") is fits
    if fits:
        [call] = found.read_value(f"<c=f>(b='{string}')</c>")
        assert call["arguments"] == {"b": ast.literal_eval(f"'''{string}'''")}


@pytest.mark.parametrize("name", ["(a", ")#", "a)", "=", "-1", "'"])
def test_gemmas_names_may_have_the_brackets_of_other_notations(name: str) -> None:
    text = f'<c=f>{{b:<|"|>s<|"|>,o:{{y:1,{name}:true}}}}</c>'
    found = grammar("gemma")
    assert found.status(text) == "fits"
    [call] = found.read_value(text)
    assert call["arguments"]["o"] == {"y": 1, name: True}


def test_the_outermost_schema_has_other_brackets_inside() -> None:
    nested = {"type": "object", "properties": {"x": {"$ref": "#"}}, "additionalProperties": False}
    calls = grammar("python", nested)
    found = {text: calls.status(f"<c=f>{text}</c>") for text in ("(x={})", "(x=())")}
    assert found == {"(x={})": "fits", "(x=())": "wrong"}


def test_gemmas_other_members_may_be_ahead_of_all_that_are_listed() -> None:
    integer = {"type": "integer"}
    calls = grammar(
        "gemma",
        {
            "type": "object",
            "properties": {"b": integer},
            "required": ["b"],
            "additionalProperties": integer,
        },
    )
    assert calls.status("<c=f>{a:1,b:2,c:3}</c>") == "fits"
