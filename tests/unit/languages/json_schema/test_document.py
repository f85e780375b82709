"""The document of a schema is the one that follows references, for all who read schemas."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

import kbnf_core
from kbnf_core import Grammar, check
from kbnf_core.languages import STRUCTURAL_TAG
from kbnf_core.languages.json_schema import Options, Service
from kbnf_core.languages.json_schema.advice import check_service
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.keywords import walk
from kbnf_core.text.errors import GrammarError
from kbnf_testing.membership import Language

CORE = Path(kbnf_core.__file__).parent

SCHEMA: Any = {
    "$id": "https://example.org/root.json",
    "properties": {"a/b~c": {"type": "null"}, "list": [{"x": True}]},
    "$defs": {
        "inner": {
            "$id": "inner.json",
            "$anchor": "here",
            "$defs": {"number": {"type": "number"}},
            "items": {"$ref": "#/$defs/number"},
        },
        "named": {"$anchor": "name", "minimum": 1},
    },
}


@pytest.mark.parametrize(
    ("reference", "pointer"),
    [
        ("#", ""),
        ("root.json", ""),
        ("https://example.org/root.json#/$defs/named", "/$defs/named"),
        ("#/properties/a~1b~0c", "/properties/a~1b~0c"),
        ("#/properties/a%7E1b~0c", "/properties/a~1b~0c"),
        ("#/properties/list/0/x", "/properties/list/0/x"),
        ("#name", "/$defs/named"),
        ("inner.json", "/$defs/inner"),
        ("inner.json#here", "/$defs/inner"),
        ("inner.json#/$defs/number", "/$defs/inner/$defs/number"),
        ("#/$defs/inner/$defs/number", "/$defs/inner/$defs/number"),
        ("#here", None),
        ("#/properties/list/1", None),
        ("#/properties/list/x", None),
        ("#/nowhere", None),
        ("other.json", None),
        ("http://[", None),
        (3, None),
    ],
)
def test_a_reference_leads_to_one_place(reference: Any, pointer: str | None) -> None:
    target = SchemaDocument(SCHEMA, Options()).target(reference)
    assert (target and target.pointer) == pointer


def test_a_reference_is_relative_to_the_schema_that_it_is_in() -> None:
    document = SchemaDocument(SCHEMA, Options())
    target = document.target_in(SCHEMA["$defs"]["inner"]["items"])
    assert target is not None
    assert target.pointer == "/$defs/inner/$defs/number"
    assert target.is_inside
    assert document.target_in({"$ref": "#/$defs/named"}) is not None
    assert document.target_in({"type": "null"}) is None


def test_a_target_in_a_meta_schema_is_outside() -> None:
    target = SchemaDocument({}, Options()).target(
        "http://json-schema.org/draft-07/schema#/definitions"
    )
    assert target is not None
    assert not target.is_inside


def test_a_part_leads_to_the_same_places() -> None:
    document = SchemaDocument(SCHEMA, Options())
    part = document.subdocument(SCHEMA["$defs"]["inner"], "/$defs/inner")
    assert (part.pointer, part.is_whole, document.is_whole) == ("/$defs/inner", False, True)
    root = part.root()
    items = part.inside(part.subschema(root), "items")  # type: ignore[arg-type] # it is a schema
    found = part.follow(part.subschema(items), "$ref")  # type: ignore[arg-type]
    assert part.subschema(found).pointer == "/$defs/inner/$defs/number"  # type: ignore[arg-type]


def in_xml(schema: Any) -> Language:
    """Return the calls of a tool with these arguments, each an element with JSON in it."""
    tag = {"type": "json_schema", "json_schema": schema, "style": "qwen_xml"}
    return Language(Grammar.from_structural_tag({"type": "structural_tag", "format": tag}))


def element(value: str) -> str:
    return f"<parameter=x>{value}</parameter>"


def test_an_argument_of_several_types_refers_to_all_of_them() -> None:
    """What is written of one type has a reference to its own place."""
    nested = {"type": ["array", "boolean"], "items": {"$ref": "#/properties/x"}}
    found = in_xml({"type": "object", "properties": {"x": nested}, "required": ["x"]})
    for text in ("[true, [false, []]]", "true"):
        assert found.has(element(text))
    assert not found.has(element("[null]"))


def test_an_argument_refers_by_names_and_addresses() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"$ref": "https://e.x/n.json#n"}}},
        "required": ["x"],
        "$defs": {"n": {"$id": "https://e.x/n.json", "$anchor": "n", "type": "integer"}},
    }
    found = in_xml(schema)
    assert found.has(element("[1, 2]"))
    assert not found.has(element('["a"]'))
    by_name = {**schema, "properties": {"x": {"$ref": "https://e.x/n.json"}}}
    assert in_xml(by_name).has(element("12"))


def test_an_argument_is_of_the_draft_of_its_document() -> None:
    both = {"$ref": "#/definitions/n", "minimum": 5}
    schema = {
        "type": "object",
        "properties": {"x": {"type": "array", "items": both}},
        "required": ["x"],
        "definitions": {"n": {"type": "integer"}},
    }
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    assert in_xml(old).has(element("[1]"))
    assert not in_xml(schema).has(element("[1]"))


def test_a_problem_of_an_argument_is_at_its_place_in_the_document() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"$ref": "#/$defs/p"}}},
        "$defs": {"p": {"pattern": "(a)\\1"}},
    }
    with pytest.raises(GrammarError) as caught:
        in_xml(schema)
    assert "/format/json_schema/$defs/p/pattern: " in str(caught.value)


def test_a_loss_of_an_argument_is_at_its_place_in_the_document() -> None:
    listed = {"type": "array", "items": {"type": "string", "maxLength": 3}}
    schema = {"type": "object", "properties": {"x": listed}}
    tag = {"type": "json_schema", "json_schema": schema, "style": "qwen_xml", "excludes": ["q"]}
    text = json.dumps({"type": "structural_tag", "format": tag})
    (finding,) = [each for each in check(text, language=STRUCTURAL_TAG) if each.code == "W441"]
    assert finding.message.startswith("/format/json_schema/properties/x: ")


CIRCLES: list[tuple[Any, list[str]]] = [
    ({"properties": {"a": {"$ref": "#"}}}, ["/properties/a/$ref"]),
    (
        {
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {
                "a": {"items": {"$ref": "#/$defs/b"}},
                "b": {"anyOf": [{"$ref": "#a"}], "$anchor": "b"},
                "c": {"$ref": "#/$defs/c/x", "x": {"$anchor": "a", "$ref": "#/$defs/a"}},
            },
        },
        [],
    ),
    (
        {
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"items": {"$ref": "#b"}}, "b": {"$anchor": "b", "$ref": "#/$defs/a"}},
        },
        ["/$defs/a/items/$ref", "/$defs/b/$ref"],
    ),
    ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "null"}}}, []),
    ({"properties": {"ab": {}, "a": {"$ref": "#/properties/ab"}}}, []),
]


@pytest.mark.parametrize(("schema", "pointers"), CIRCLES)
def test_a_service_refuses_schemas_that_contain_themselves_in_any_way(
    schema: Any, pointers: list[str]
) -> None:
    found = check_service(SchemaDocument(schema, Options()), Service.ANTHROPIC)
    assert [each.pointer for each in found if "contains itself" in each.message] == pointers


def test_one_file_follows_references_and_one_folder_unescapes_pointers() -> None:
    texts = {path: path.read_text("utf-8") for path in CORE.rglob("*.py")}
    followers = {
        path.name
        for path, text in texts.items()
        if {"languages", "targets"} & set(path.parts)
        and re.search(r"import .*\b(unquote|urljoin|urldefrag)\b", text)
    }
    escaping = {path.parent.name for path, text in texts.items() if "~1" in text}
    unescaping = {path.name for path, text in texts.items() if '"~1", "/"' in text}
    assert (followers, escaping, unescaping) == ({"document.py"}, {"text"}, {"json_text.py"})


ADDRESSES = ("a.json", "sub/b.json", "http://y.org/c.json", "../d.json")
DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": DRAFT202012,
    "https://json-schema.org/draft/2019-09/schema": DRAFT201909,
    "http://json-schema.org/draft-07/schema#": DRAFT7,
    "http://json-schema.org/draft-06/schema#": DRAFT6,
}


def random_schema(
    random: Random, draft: str, addresses: list[str], anchors: list[str], depth: int = 0
) -> Any:
    """Return a schema whose identifiers differ."""
    schema: dict[str, Any] = {}
    has_anchors = "draft/20" in draft
    if random.random() < 0.3 and addresses:
        schema["$id"] = addresses.pop()
    if random.random() < 0.3 and has_anchors and anchors:
        schema["$anchor"] = anchors.pop()
    if random.random() < 0.6 and (has_anchors or "$id" not in schema):
        # Beside a reference nothing counts in old drafts, an identifier neither.
        schema["$ref"] = random_reference(random)
    if depth < 3:
        count = random.randrange(3)
        inner = [random_schema(random, draft, addresses, anchors, depth + 1) for _ in range(count)]
        names = random.sample(["a", "b", "c/d", "e~f"], len(inner))
        keyword = "$defs" if has_anchors else "definitions"
        schema[random.choice((keyword, "properties"))] = dict(zip(names, inner, strict=True))
        if random.random() < 0.3:
            schema["items"] = random_schema(random, draft, addresses, anchors, depth + 1)
    return schema


def random_reference(random: Random) -> str:
    steps = ("$defs", "definitions", "properties", "a", "b", "c~1d", "e~0f", "c%2Fd", "items")
    pointer = "".join(f"/{random.choice(steps)}" for _ in range(random.randrange(4)))
    address = random.choice(("", "", *ADDRESSES, "http://x.org/d/a.json"))
    return address + random.choice(("", f"#{pointer}", f"#{random.choice('ab')}"))


@pytest.mark.parametrize("draft", DRAFTS)
def test_references_lead_where_the_library_of_references_says(draft: str) -> None:
    found = nowhere = 0
    for seed in range(400):
        random = Random(seed)
        addresses = random.sample(ADDRESSES, len(ADDRESSES))
        inner = random_schema(random, draft, addresses, ["a", "b"])
        if "draft-0" in draft:
            # Beside it the identifier of the root would not count.
            inner.pop("$ref", None)
        schema = {**inner, "$schema": draft, "$id": "http://x.org/d/root.json"}
        document = SchemaDocument(schema, Options())
        whole = DRAFTS[draft].create_resource(schema)
        resolvers = {"": Registry().with_resource(schema["$id"], whole).resolver_with_root(whole)}
        for visited in walk(schema):
            if visited.around is not None:
                inner = DRAFTS[draft].create_resource(visited.contents)
                around = resolvers[visited.around.pointer]
                resolvers[visited.pointer] = around.in_subresource(inner)
            if "$ref" not in visited.contents:
                continue
            target = document.target_in(visited.contents)
            try:
                there = resolvers[visited.pointer].lookup(visited.contents["$ref"]).contents
            except Unresolvable:
                nowhere += 1
                assert target is None, (schema, visited.pointer, target)
            else:
                found += 1
                assert target is not None, (schema, visited.pointer)
                assert target.value is there, (schema, visited.pointer, target, there)
    assert min(found, nowhere) > 50
