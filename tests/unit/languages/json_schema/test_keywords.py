"""Every keyword: texts that its grammar takes, and near misses."""

from collections.abc import Callable
from typing import Any

import pytest

Case = tuple[Any, list[str], list[str]]

CASES: dict[str, Case] = {
    "anything": ({}, ["1", '"a"', "null", "[1, {}]", '{"a": [true]}'], ["", "nul", "[1,]", "01"]),
    "null": ({"type": "null"}, ["null"], ["true", "0"]),
    "boolean": ({"type": "boolean"}, ["true", "false"], ["null", '"true"']),
    "integer": ({"type": "integer"}, ["0", "-0", "12", "-7.00"], ["1.5", "1e3", "01"]),
    "number": ({"type": "number"}, ["0", "1.5", "-2e10", "1E+2"], [".5", "1.", "1e", '"1"']),
    "types": ({"type": ["integer", "null"]}, ["3", "null"], ["true", '""']),
    "minimum": ({"type": "integer", "minimum": 10}, ["10", "11", "100", "10.0"], ["9", "-10"]),
    "range": (
        {"type": "integer", "exclusiveMinimum": -3, "maximum": 12},
        ["-2", "0", "12", "9"],
        ["-3", "13", "20"],
    ),
    "decimal range": (
        {"type": "number", "minimum": 1.5, "exclusiveMaximum": 2.25},
        ["1.5", "1.50", "2", "2.00", "2.249"],
        ["1.49", "2.25", "2.250", "1", "1.5e0"],
    ),
    "draft 4 flags": (
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True,
         "$schema": "http://json-schema.org/draft-04/schema#"},
        ["2"], ["1"],
    ),
    "multipleOf": ({"type": "integer", "multipleOf": 7}, ["0", "7", "-14", "105"], ["1", "8"]),
    "multipleOf of a fraction": (
        {"type": "number", "multipleOf": 0.5}, ["1.5", "1", "1.0", "-0.5", "1.50"], ["1.25"],
    ),
    "bounds are for numbers": ({"minimum": 3}, ['"x"', "3", "[1]"], ["2"]),
    "length": ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"a😀b"', '"\\n\\""'],
               ['"a"', '"abcd"']),
    "long length": ({"type": "string", "maxLength": 40}, ['""', f'"{"x" * 40}"', f'"{"é" * 33}"'],
                    [f'"{"x" * 41}"']),
    "pattern anywhere": ({"type": "string", "pattern": "b+"}, ['"abc"', '"b"'], ['"ac"', '""']),
    "pattern anchored": ({"type": "string", "pattern": "^a|b$"}, ['"ax"', '"xb"'], ['"xa"']),
    "pattern of classes": (
        {"type": "string", "pattern": r"^\d[\w-]\s\S$"}, ['"1_ x"', '"1- é"'], ['"٣a x"', '"1é x"'],
    ),
    "look-ahead": (
        {"type": "string", "pattern": r"^(?=.*\d)(?=.*[a-z])(?!a1).{3,}$"},
        ['"ab1"', '"1bcd"'], ['"abc"', '"123"', '"a1b"', '"a1"', '"b1"'],
    ),
    "look-ahead at an end": (
        {"type": "string", "pattern": "^(?!foo$|bar$)[a-z]+$"}, ['"fo"', '"foob"'],
        ['"foo"', '"bar"', '""'],
    ),
    "look-ahead that others follow": (
        {"patternProperties": {"^(?!x)[a-z]": {"type": "null"}}, "additionalProperties": False},
        ['{"a": null}'], ['{"xa": null}', '{"a": 1}'],
    ),
    "pattern and a long length": (
        {"type": "string", "pattern": "^[a-z]+$", "minLength": 3, "maxLength": 5000},
        ['"abc"', f'"{"x" * 5000}"'], ['"ab"', f'"{"x" * 5001}"', '"ABC"'],
    ),
    "alternatives and a length": (
        {"type": "string", "pattern": "^(ab[c-z]*|[0-9]*x)$", "maxLength": 100, "minLength": 2},
        ['"ab"', '"1x"', f'"{"1" * 99}x"', f'"ab{"c" * 98}"'],
        ['"x"', f'"{"1" * 100}x"', f'"ab{"c" * 99}"'],
    ),
    "two loops and a length": (
        {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$", "minLength": 3, "maxLength": 20},
        ['"a-b"', f'"a-{"b" * 18}"'], ['"a-"', '"ab"', f'"a-{"b" * 19}"'],
    ),
    "pattern anywhere and a length": (
        {"type": "string", "pattern": "foo", "maxLength": 100},
        ['"foo"', f'"{"x" * 97}foo"', f'"foo{"x" * 97}"'], ['"fo"', f'"{"x" * 98}foo"'],
    ),
    "length that a pattern has anyway": (
        {"type": "string", "pattern": "^[a-z]{2,4}$", "minLength": 1, "maxLength": 2048},
        ['"ab"'], ['"a"', '"abcde"'],
    ),
    "length that no text has": (
        {"type": ["string", "null"], "pattern": "^[a-z]{4}$", "maxLength": 3}, ["null"], ['"abc"'],
    ),
    "a million characters": (
        {"type": "string", "maxLength": 1_000_000, "minLength": 1}, ['"a"', f'"{"é" * 5000}"'],
        ['""'],
    ),
    "email and length": (
        {"type": "string", "format": "email", "maxLength": 255},
        ['"a.b@example.org"', f'"{"a" * 20}@mail.dept.x-y.org"'],
        ['"a@"', f'"{"a" * 260}@b.de"', '"a..b@c.de"'],
    ),
    "uri and length": (
        {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083},
        ['"https://example.org/a%20b?c=d#e"', '"mailto:a@b.de"', '"http://h:80"'],
        ['""', '"x"', f'"http://{"a" * 2083}"', '"http://a/%2"'],
    ),
    "date-time and length": (
        {"type": "string", "format": "date-time", "maxLength": 64},
        ['"2024-02-29T12:00:00.123Z"', '"2024-02-29T12:00:00+01:00"'],
        ['"2024-02-30T12:00:00Z"', f'"2024-02-29T12:00:00.{"1" * 50}Z"'],
    ),
    "pattern and length": (
        {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3}, ['"abc"'], ['"abcd"', '"ABC"'],
    ),
    "pattern of escapes": (
        {"type": "string", "pattern": '^["\\\\]$'}, ['"\\""', '"\\\\"'], ['"""'],
    ),
    "format": ({"type": "string", "format": "date"}, ['"2024-02-29"'], ['"2024-02-30"', '"x"']),
    "format and pattern": (
        {"type": "string", "format": "ipv4", "pattern": "^10\\."}, ['"10.0.0.1"'], ['"11.0.0.1"'],
    ),
    "enum": ({"enum": [1, "a", {"b": [1, 2]}, None]},
             ["1", '"a"', '{"b": [1, 2]}', "null", "1.0", '{"b": [1.0, 2.00]}'],
             ["2", '"b"', '{"b": [2, 1]}', "1.01", "10"]),
    "enum in draft 4": (
        {"$schema": "http://json-schema.org/draft-04/schema#", "enum": [1, 2.5]},
        ["1", "1.0", "2.5", "2.50"], ["2.51", "25", "1.01"],
    ),
    "enum in draft 4 beside integers": (
        {"$schema": "http://json-schema.org/draft-04/schema#",
         "properties": {"a": {"enum": [1]}, "b": {"type": "integer"}}},
        ['{"a": 1, "b": 1}'], ['{"b": 1.0}', '{"a": 1.5}'],
    ),
    "enum of many beside other keywords": (
        {"enum": [*({"a": i} for i in range(300)), *range(300)], "required": ["a"],
         "properties": {"a": {"minimum": 200}}},
        ['{"a": 200}', '{"a": 299.0}', "7"], ['{"a": 199}', '{"a": 300}', "300"],
    ),
    "const": ({"const": 1.0}, ["1.0", "1"], ["2"]),
    "enum and type": ({"enum": [1, "a"], "type": "string"}, ['"a"'], ["1"]),
    "items": ({"type": "array", "items": {"type": "integer"}}, ["[]", "[1]", "[1, 2]"], ['["a"]']),
    "prefixItems": (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        ["[]", "[1]", '[1, "a"]'], ['["a"]', '[1, "a", 2]'],
    ),
    "items as a list": (
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array",
         "items": [{"type": "integer"}], "additionalItems": {"type": "null"}},
        ["[1, null]", "[]"], ["[null]", "[1, 1]"],
    ),
    "size": ({"type": "array", "minItems": 1, "maxItems": 2}, ["[1]", "[1, 2]"], ["[]", "[1,2,3]"]),
    "contains": (
        {"type": "array", "items": {"type": ["integer", "null"]}, "contains": {"type": "null"}},
        ["[null]", "[1, null, 2]"], ["[]", "[1, 2]", '["a", null]'],
    ),
    "maxContains": (
        {"type": "array", "items": {"enum": [1, 2]}, "contains": {"const": 1}, "minContains": 1,
         "maxContains": 2},
        ["[1]", "[2, 1, 1, 2]"], ["[2]", "[1, 1, 1]"],
    ),
    "uniqueItems": (
        {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", 1]}},
        ["[]", '["b", 1]', '["a", "b", 1]'], ['["a", "a"]', "[1, 1]"],
    ),
    "uniqueItems over many values": (
        {"type": "array", "uniqueItems": True, "items": {"enum": [f"v{i}" for i in range(30)]},
         "minItems": 2, "maxItems": 3},
        ['["v0", "v29"]', '["v1", "v2", "v3"]'],
        ["[]", '["v1"]', '["v1", "v1"]', '["v1", "v2", "v1"]', '["v1", "v2", "v3", "v4"]'],
    ),
    "uniqueItems over integers": (
        {"type": "array", "uniqueItems": True, "minItems": 6,
         "items": {"type": "integer", "minimum": 1, "maximum": 49}},
        ["[1, 2, 3, 4, 5, 49]"], ["[1, 1, 2, 3, 4, 5]", "[1, 2]", "[0, 2, 3, 4, 5, 6]"],
    ),
    "uniqueItems over the strings of a pattern": (
        {"type": "array", "uniqueItems": True, "items": {"type": "string", "pattern": "^[ab]?$"}},
        ['[]', '["a"]', '["b","","a"]'], ['["a","a"]', '["","b",""]', '["c"]'],
    ),
    "uniqueItems over items that differ anyway": (
        {"type": "array", "uniqueItems": True, "items": False,
         "prefixItems": [{"type": "string"}, {"type": ["integer", "null"]}, {"type": "object"}]},
        ['[]', '["a",1]', '["a",null,{}]'], ['["a","a"]', '["a",1,{},{}]'],
    ),
    "uniqueItems over equal values": (
        {"type": "array", "uniqueItems": True, "items": {"enum": [1, 1.0, 2]}},
        ["[1, 2]", "[2]"], ["[1, 1.0]", "[1.0, 2, 1]"],
    ),
    "unevaluatedProperties": (
        {"type": "object", "$ref": "#/$defs/base", "properties": {"b": {}},
         "unevaluatedProperties": False, "$defs": {"base": {"properties": {"a": {"minimum": 1}}}}},
        ["{}", '{"a": 1, "b": 2}', '{"b": 2}'], ['{"c": 1}', '{"a": 0}', '{"a": 1, "c": 1}'],
    ),
    "unevaluatedProperties and alternatives": (
        {"type": "object", "properties": {"k": {}}, "unevaluatedProperties": {"type": "null"},
         "anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]},
                   {"patternProperties": {"^b": {"type": "string"}}, "required": ["b"]}]},
        ['{"k": 1, "a": 1}', '{"b": "x"}', '{"a": 1, "b": "x", "bc": "y"}', '{"a": 1, "b": null}'],
        ["{}", '{"a": 1, "c": 1}', '{"a": 1, "b": 1}', '{"a": "x", "b": "y"}'],
    ),
    "unevaluatedProperties and a condition": (
        {"type": "object", "if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
         "then": {"properties": {"x": {}}}, "else": {"properties": {"y": {}}},
         "unevaluatedProperties": False},
        ['{"k": 1, "x": 2}', '{"y": 3}', '{"k": 1}'], ['{"x": 1}', '{"k": 1, "y": 2}', '{"k": 2}'],
    ),
    "unevaluatedItems": (
        {"type": "array", "prefixItems": [{"type": "integer"}],
         "allOf": [{"prefixItems": [True, {"type": "null"}]}], "unevaluatedItems": False},
        ["[]", "[1]", "[1, null]"], ["[1, 2]", "[1, null, 3]", "[null]"],
    ),
    "properties": (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]},
        ['{"b": 1}', '{"a": 1, "b": 2}', '{"b": 1, "c": 2}'],
        ["{}", '{"a": 1}', '{"b": 2, "a": 1}', '{"a": "x", "b": 1}', '{"c": 1, "b": 1}'],
    ),
    "only optional": (
        {"type": "object", "properties": {n: {"type": "null"} for n in "abcde"},
         "additionalProperties": False},
        ["{}", '{"a": null}', '{"b": null, "e": null}', '{"e": null}'],
        ['{"e": null, "a": null}', '{"f": null}', '{"a": null,}'],
    ),
    "required but not listed": (
        {"type": "object", "required": ["x", "y"]}, ['{"x": 1, "y": 2}'], ['{"x": 1}', "{}"],
    ),
    "additionalProperties": (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
        ['{"a": "x", "b": 1}', '{"ab": 1}'], ['{"b": "x"}', '{"a": 1, "a": 2}'],
    ),
    "patternProperties": (
        {"type": "object", "patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 5}},
         "additionalProperties": False},
        ['{"xa": 1}', '{"xy": 5}', '{"y": 9}', '{"y": "s"}'],
        ['{"xy": 4}', '{"a": 1}', '{"x": ""}'],
    ),
    "propertyNames": (
        {"type": "object", "propertyNames": {"maxLength": 2}}, ['{"ab": 1}'], ['{"abc": 1}'],
    ),
    "number of properties": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 2,
         "maxProperties": 3},
        ['{"a": 1, "b": 2}', '{"b": 1, "c": 2}', '{"x": 1, "y": 2, "z": 3}'],
        ["{}", '{"a": 1}', '{"a": 1, "b": 2, "c": 3, "d": 4}'],
    ),
    "dependentRequired": (
        {"type": "object", "dependentRequired": {"a": ["b"]}},
        ["{}", '{"b": 1}', '{"a": 1, "b": 2}', '{"c": 1}'], ['{"a": 1}'],
    ),
    "dependentSchemas": (
        {"type": "object", "properties": {"a": {}, "b": {}},
         "dependentSchemas": {"a": {"properties": {"b": {"type": "null"}}}}},
        ['{"a": 1, "b": null}', '{"b": 1}'], ['{"a": 1, "b": 1}'],
    ),
    "not": ({"not": {"type": ["object", "array"]}}, ["1", '"a"'], ["{}", "[]"]),
    "not enum": ({"type": "string", "not": {"enum": ["ab", "a"]}}, ['""', '"abc"', '"b"'],
                 ['"a"', '"ab"']),
    "not pattern": ({"type": "string", "not": {"pattern": "^a"}}, ['"b"', '""'], ['"a"']),
    "not required": (
        {"type": "object", "not": {"required": ["a"]}}, ["{}", '{"b": 1}'], ['{"a": 1}'],
    ),
    "not items": (
        {"type": "array", "not": {"items": {"type": "integer"}}},
        ['["a"]', '[1, "a"]'], ["[1]", "[]"],
    ),
    "not number": ({"type": "integer", "not": {"const": 3}}, ["2", "33"], ["3"]),
    "allOf": (
        {"allOf": [{"minimum": 3}, {"maximum": 4}], "type": "integer"}, ["3", "4"], ["2", "5"],
    ),
    "anyOf": ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, ["null", "1"], ['"a"']),
    "oneOf by type": ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, ["null", "1"], ["[]"]),
    "oneOf that overlaps": (
        {"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 5}]}, ["2", "6"], ["3", "4", "5"],
    ),
    "oneOf of required": (
        {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ['{"a": 1}', '{"b": 1}'], ["{}", '{"a": 1, "b": 2}'],
    ),
    "if then else": (
        {"type": "object", "properties": {"kind": {"enum": ["i", "s"]}, "v": {}},
         "required": ["kind", "v"], "if": {"properties": {"kind": {"const": "i"}}},
         "then": {"properties": {"v": {"type": "integer"}}},
         "else": {"properties": {"v": {"type": "string"}}}},
        ['{"kind": "i", "v": 1}', '{"kind": "s", "v": "x"}'], ['{"kind": "i", "v": "x"}'],
    ),
    "ref": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$anchor": "x", "type": "integer"}}}, ["1"], ['"a"'],
    ),
    "anchor": ({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "integer"}}}, ["1"], ['"a"']),
    "recursion": (
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {
            "value": {"type": "integer"}, "next": {"$ref": "#/$defs/tree"}},
            "required": ["value"], "additionalProperties": False}}},
        ['{"value": 1}', '{"value": 1, "next": {"value": 2}}'], ['{"next": {"value": 1}}', "{}"],
    ),
    "recursion through oneOf": (
        {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}, "minItems": 1}]},
        ["1", "[1, [2]]"], ["[]", "[[]]"],
    ),
    "dynamicRef": (
        {"$dynamicAnchor": "n", "type": "array", "items": {"$dynamicRef": "#n"}}, ["[[], [[]]]"],
        ["[1]"],
    ),
    "unknown keywords": ({"deprecated": True, "foo": 1, "type": "null"}, ["null"], ["1"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_keyword(name: str, judge: Callable[..., Callable[[str], bool]]) -> None:
    schema, accepted, rejected = CASES[name]
    allows = judge(schema)
    assert [text for text in accepted if not allows(text)] == []
    assert [text for text in rejected if allows(text)] == []
