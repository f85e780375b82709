"""The defaults: one spelling, the plain one; each with the reader that refuses another."""

import datetime
import ipaddress
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import pydantic
import pytest
from typing_extensions import TypedDict

from kbnf_core import Compiler, Engine, Grammar, Vocabulary
from kbnf_core.languages.json_schema import Digits, Formats, Integers, Options, Standard, Whitespace
from kbnf_core.languages.json_schema.parse import guided
from kbnf_core.text.errors import ConfigError, EngineError

Prepare = Callable[..., Callable[[str], bool]]

DEFAULTS: dict[str, tuple[Any, Options, list[str], list[str]]] = {
    # Go's json.Unmarshal: "cannot unmarshal number 1.0 into Go value of type int". serde_json:
    # "invalid type: floating point `1.0`, expected i64". Python's json.loads makes a float of it.
    "integers have no fraction": (
        {"type": "integer"}, Options(integers=Integers.FRACTION), ["1", "-12"], ["1.0", "-3.0"],
    ),
    "nor has a constant": (
        {"const": 1}, Options(integers=Integers.FRACTION), ["1"], ["1.0"],
    ),
    # What is beyond an i64 Go and Rust refuse; a model may write digits until its tokens run out.
    "integers have 64 bits": (
        {"type": "integer"}, Options(digits=Digits.ANY), [str(2**63 - 1), str(-(2**63))],
        ["1" * 20, str(2**63), str(-(2**63) - 1), "9" * 19],
    ),
    "above a bound, too": (
        {"type": "integer", "minimum": 3}, Options(digits=Digits.ANY), ["3", str(2**63 - 1)],
        [str(2**63), "9" * 19],
    ),
    "and as numbers": (
        {"type": "number"}, Options(digits=Digits.ANY), [str(2**63 - 1), f"{-(2**63)}.5e1"],
        [str(2**63), f"{-(2**63) - 1}.5"],
    ),
    "or those of their bounds": (
        {"type": "integer", "maximum": 2**63 - 1}, Options(digits=Digits.ANY),
        ["9223372036854775807"], ["-" + "1" * 20],
    ),
    # A double is known by 17 digits; json.loads and strconv.ParseFloat round the others away.
    # `4e341` is infinite to Python and JavaScript, and refused by Go.
    "fractions have 17 digits": (
        {"type": "number"}, Options(digits=Digits.ANY), ["0." + "1" * 17, "-1.5e199", "1e-300"],
        ["0." + "1" * 18, "1e1000", "4e341", "1" * 20],
    ),
    "so have numbers with bounds": (
        {"type": "number", "minimum": 0}, Options(digits=Digits.ANY), ["0.5", "1" * 19],
        ["0." + "1" * 18, "1" * 20],
    ),
    "multiples have the digits of what they are multiples of": (
        {"type": "number", "multipleOf": 0.01}, Options(digits=Digits.ANY), ["19.9", "19.90", "3"],
        ["19.900"],
    ),
    # json.dumps of Python, JSON.stringify, Go's json.MarshalIndent, serde_json::to_string_pretty.
    "whitespace is as printers write it": (
        {"type": "object", "properties": {"a": {"type": "array"}}}, Options(Whitespace.BOUNDED),
        [json.dumps({"a": [1, {"b": []}], "c": {}}, indent=indent, separators=separators)
         for indent in (None, 1, 2, 4, "\t") for separators in (None, (",", ":"))],
        ['{"a" :[]}', '{"a":\n[]}', '{"a":[1 ,2]}', '{\r\n"a":[]}', f'{{\n{" " * 33}"a":[]}}'],
    ),
    # Python: "second must be in 0..59", "year 0 is out of range". Go's time.RFC3339 has T and Z.
    "dates and times are those of Python and Go": (
        {"type": "string", "format": "date-time"}, Options(formats=Formats.RFC),
        ['"2024-02-29T23:59:59Z"', '"0001-01-01T00:00:00.123456789+05:30"'],
        ['"2016-12-31T23:59:60Z"', '"2024-01-01t00:00:00z"', '"0000-01-01T00:00:00Z"',
         '"2024-01-01T00:00:00.1234567890Z"'],
    ),
    # pydantic's EmailStr: "The part before the @-sign cannot be quoted", "should have a period".
    "addresses of mail are those of pydantic": (
        {"type": "string", "format": "email"}, Options(formats=Formats.RFC),
        ['"joe.bloggs+x@mail.example.org"'],
        ['"\\"a b\\"@example.org"', '"a@[127.0.0.1]"', '"a@localhost"'],
    ),
    # Rust's url crate: "empty host", "invalid port number", "invalid international domain name".
    "addresses have a host and a port that there are": (
        {"type": "string", "format": "uri"}, Options(formats=Formats.RFC),
        ['"https://user@example.org:8080/a/b?c=d#e"', '"file:///tmp/x"', '"urn:isbn:12"',
         '"http://[::1]/"', '"ftp://1.2.3.4"'],
        ['"http://"', '"http://a:99999/"', '"http://%61/"'],
    ),
    "periods have few digits": (
        {"type": "string", "format": "duration"}, Options(formats=Formats.RFC),
        ['"P3Y6M4DT12H30M5S"', '"P2W"'], ['"P9999999D"'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_default_and_the_option_that_lifts_it(name: str, judge: Prepare) -> None:
    schema, lifted, accepted, refused = DEFAULTS[name]
    by_default, by_option = judge(schema, Options()), judge(schema, lifted)
    assert [text for text in accepted if not by_default(text)] == []
    assert [text for text in refused if by_default(text)] == []
    assert [text for text in (*accepted, *refused) if not by_option(text)] == []


def test_digits_are_as_many_as_the_schema_asks_for(judge: Prepare) -> None:
    allows = judge({"type": "integer", "maximum": 10**24}, Options())
    assert allows("1" + "0" * 24)
    assert not allows("1" + "0" * 25)
    assert judge({"type": "integer", "exclusiveMinimum": 10**19 - 1}, Options())(str(10**19))
    allows = judge({"type": "number", "exclusiveMinimum": 0}, Options())
    assert all(map(allows, ["0.5", "0.50", "1", "2.25", "0." + "0" * 16 + "1"]))
    assert not any(map(allows, ["0", "0.0", "-1", "1" * 20]))


def test_integers_with_a_fraction_have_one_zero(judge: Prepare) -> None:
    allows = judge({"type": "integer"}, Options(integers=Integers.FRACTION))
    assert [text for text in ("1", "1.0", "1.00", "1.5") if allows(text)] == ["1", "1.0"]


def test_the_old_word_for_formats_is_known() -> None:
    schema = {"type": "string", "format": "time"}
    grammar = Grammar.from_json_schema(schema, formats="assertion")
    assert accepts(grammar, '"23:59:60Z"')


def accepts(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


A = {"type": "object", "properties": {"a": {"type": "integer"}}}
B = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
CLOSED: dict[str, tuple[Any, list[str], list[str]]] = {
    "properties": (A, ["{}", '{"a":1}'], ['{"c":1}', '{"a":1,"c":1}']),
    "nothing is named": ({"type": "object"}, ['{"c":1}'], []),
    "no properties are named": ({"type": "object", "properties": {}}, ["{}"], ['{"c":1}']),
    "others are spoken of": ({**A, "additionalProperties": True}, ['{"a":1,"c":1}'], []),
    "patterns": ({**A, "patternProperties": {"^x": {}}}, ['{"a":1,"x1":1}'], ['{"c":1}']),
    "a reference beside properties": (
        {"allOf": [{"$ref": "#/$defs/b"}, A], "$defs": {"b": B}},
        ['{"b":1}', '{"b":1,"a":2}'],
        ['{"b":1,"c":1}', '{"a":1}'],
    ),
    "a reference beside its own properties": (
        {"$ref": "#/$defs/b", "properties": A["properties"], "$defs": {"b": B}},
        ['{"a":2,"b":1}', '{"b":1}'],
        ['{"b":1,"c":1}'],
    ),
    "alternatives": (
        {"anyOf": [A, B, {"type": "null"}]}, ['{"a":1}', '{"b":1}', "null"],
        ['{"a":1,"b":1}', "[]"],
    ),
    "one of alternatives is what it is in the schema as it is written": (
        {"oneOf": [A, B]}, ['{"a":1}'], ['{"b":1}', '{"a":1,"b":1}'],
    ),
    "items": ({"type": "array", "items": A}, ['[{"a":1}]'], ['[{"c":1}]']),
    "what is refused is as it is written": (
        {"type": "object", "properties": {"x": {}},
         "not": {"properties": {"x": A}, "required": ["x"]}},
        ['{"x":1}', "{}"], ['{"x":{}}', '{"x":{"c":1}}', '{"x":{"a":1}}'],
    ),
    "cases": (
        {"type": "object", "properties": {"k": {"type": "boolean"}},
         "if": {"properties": {"k": {"const": True}}, "required": ["k"]}, "then": A},
        ['{"k":true,"a":1}', '{"k":false}'], ['{"k":true,"c":1}', '{"k":false,"a":1}'],
    ),
    "schemas that are recursive": (
        {"$ref": "#/$defs/t",
         "$defs": {"t": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}}}},
        ['{"t":{"t":{}}}'], ['{"t":{"u":{}}}'],
    ),
    "dependent schemas": (
        {**A, "dependentSchemas": {"a": {"properties": {"b": {}}}}},
        ["{}", '{"a":1,"b":2}'], ['{"b":2}', '{"a":1,"c":1}'],
    ),
    "old drafts": (
        {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [A, B]},
        ['{"b":1}', '{"a":1,"b":2}'], ['{"b":1,"c":1}'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED)
def test_closed_objects(name: str, judge: Prepare) -> None:
    schema, accepted, refused = CLOSED[name]
    for order in ("declared", "any"):
        # The order of members is another matter.
        run = Grammar.from_json_schema(schema, closed=True, order=order)
        assert [text for text in refused if accepts(run, text)] == []
        if order == "any":
            assert [text for text in accepted if not accepts(run, text)] == []
    allows = judge(schema, Options(closed=True))
    written = [text for text in (*accepted, *refused) if allows(text)]
    run = Grammar.from_json_schema(schema, closed=True)
    assert written == [text for text in (*accepted, *refused) if accepts(run, text)]
    as_written = Grammar.from_json_schema(schema)
    assert [text for text in written if not accepts(as_written, text)] == []


class Model(pydantic.BaseModel):
    """A model."""

    a: int


class Open(pydantic.BaseModel, extra="allow"):
    """A model with other members."""

    a: int


@dataclass
class Data:
    """A dataclass."""

    a: int


class Typed(TypedDict):
    """A dictionary."""

    a: int


OTHER = '{"a":1,"b":2}'


@pytest.mark.parametrize("kind", [Model, Data, Typed, pydantic.TypeAdapter(Model)], ids=repr)
def test_classes_of_python_are_closed(kind: Any) -> None:
    compiler = Compiler(Vocabulary.bytes())
    assert not accepts(Grammar.from_json_schema(kind), OTHER)
    assert accepts(Grammar.from_json_schema(kind, closed=False), OTHER)
    assert accepts(Grammar.from_json_schema(kind, additional_properties=True), OTHER)
    assert not accepts(compiler.json_schema(kind), OTHER)
    assert accepts(compiler.json_schema(kind, closed=False), OTHER)


def test_a_class_may_be_open_itself_and_a_schema_is() -> None:
    schema = Model.model_json_schema()
    assert accepts(Grammar.from_json_schema(Open), OTHER)
    assert accepts(Grammar.from_json_schema(schema), OTHER)
    assert not accepts(Grammar.from_json_schema(schema, closed=True), OTHER)
    assert not accepts(Grammar.from_json_schema(schema, additional_properties=False), OTHER)


class Colour(pydantic.BaseModel):
    """One of two."""

    kind: Literal["colour"]
    value: str


class Size(pydantic.BaseModel):
    """The other."""

    kind: Literal["size"]
    value: int


TYPES: dict[str, Any] = {
    "datetime": datetime.datetime,
    "aware datetime": pydantic.AwareDatetime,
    "date": datetime.date,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "uuid": uuid.UUID,
    "uuid4": pydantic.UUID4,
    "uuid1": pydantic.UUID1,
    "url": pydantic.AnyUrl,
    "base64": pydantic.Base64Bytes,
    "base64 for addresses": pydantic.Base64UrlBytes,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "any address": pydantic.IPvAnyAddress,
    "interface": ipaddress.IPv4Interface,
    "network": ipaddress.IPv4Network,
    "interface 6": ipaddress.IPv6Interface,
    "network 6": ipaddress.IPv6Network,
    "any interface": pydantic.IPvAnyInterface,
    "any network": pydantic.IPvAnyNetwork,
    "strict integer": pydantic.StrictInt,
    "positive": pydantic.PositiveFloat,
    "list": list[pydantic.StrictInt | None],
    "union": Colour | Size,
    "model": Model,
}


@pytest.mark.parametrize("name", TYPES)
def test_what_is_written_for_a_type_pydantic_reads(name: str) -> None:
    adapter = pydantic.TypeAdapter(TYPES[name])
    grammar = Grammar.from_json_schema(TYPES[name])
    engine = Engine(grammar, Vocabulary.bytes())
    random = Random(name)
    drawn = [engine.sample(random, length) for length in (1, 5, 20, 40, 80) for _ in range(12)]
    texts = [bytes(token for token in each.tokens if token < 256) for each in drawn]
    for text in texts:
        adapter.validate_json(text)
    assert all(each.is_complete for each in drawn)


def test_an_option_that_is_none_has_its_words() -> None:
    with pytest.raises(ConfigError, match="`integers` must be one of 'plain', 'fraction'"):
        Grammar.from_json_schema({}, integers="float")
    with pytest.raises(ConfigError, match="JSON Schema has no option `close`"):
        Grammar.from_json_schema({}, close=True)


def test_llguidance_keeps_its_own() -> None:
    theirs = guided({}, Options(standard=Standard.LLGUIDANCE))
    assert (theirs.whitespace, theirs.digits) == (Whitespace.FLEXIBLE, Digits.ANY)
    grammar = Grammar.from_json_schema({"type": "integer"}, standard="llguidance")
    assert accepts(grammar, "1" * 30)
    assert not accepts(grammar, "1.0")
