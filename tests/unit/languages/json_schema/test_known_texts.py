"""A schema of which alternatives are known by their texts is what it is where none are."""

import json
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary
from kbnf_core.ir import Part
from kbnf_core.languages.json_schema import known_texts, parse
from kbnf_core.languages.json_schema.known_texts import TEXTS, Texts
from kbnf_core.languages.json_schema.parts import PARTS
from kbnf_testing.schemas import masks_differ


def tool(name: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a call, longer than what a text is looked up by."""
    properties = {"name": {"const": name}, "query": {"type": "string", "description": "x" * 60}}
    return {"type": "object", "properties": {**properties, **more}, "required": ["name"]}


BYTES = Vocabulary(dict(enumerate(bytes([byte]) for byte in range(256))), eos_token_id=256)
KNOWN = json.dumps(tool("a"))
NEW = (
    *(
        '{"type": "null"}',
        "{}",
        "true",
        "3",
        "",
        "{",
        '{"type": "strin"}',
        '{"type": "object"}',
        "NaN",
    ),
    *(KNOWN, KNOWN.replace("a", "b"), KNOWN[:-1], KNOWN + " ", '"\\ud800"', '{"const": "\\udc00"}'),
    json.dumps(tool("c", id={"type": "integer", "minimum": 3, "maximum": 2})),
    json.dumps({**tool("d", x={"$ref": "#/anyOf/0"})}),
    json.dumps({**tool("e", x={"type": "string", "contentEncoding": "base64"})}),
    json.dumps({**tool("f", x={"$id": "http://a/b", "type": "null"})}),
    json.dumps({**tool("g"), "minProperties": 3}),
)
FORMS = (
    '{"anyOf": [%s, %s]}', '{"anyOf": [%s,%s]}', ' { "anyOf" :\n[ %s , %s ] }\n',
    '{"anyOf": [%s, %s]',
    '{"anyOf": [%s, %s], "title": "x"}', '{"anyOf": [%s, %s,]}', '{"anyOf": [%s %s]}',
    '{"anyOf": [%s], "anyOf": [%s]}', '{"oneOf": [%s, %s]}', '{"anyOf": [%s, %s]} 1',
)  # fmt: skip


def outcome(text: str) -> Grammar | str:
    """Return the grammar of a schema, or what is wrong with it."""
    try:
        return Grammar.from_json_schema(text)
    except GrammarError as error:
        return str(error)


def assert_same(found: Grammar | str, wanted: Grammar | str) -> None:
    """Compare findings and masks."""
    if isinstance(found, str) or isinstance(wanted, str):
        assert found == wanted
        return
    assert [str(each) for each in found.diagnostics] == [str(each) for each in wanted.diagnostics]
    assert (found.finish, found.to_kbnf()) == (wanted.finish, wanted.to_kbnf())
    assert [masks_differ(found, wanted, walk) for walk in range(2)] == [None] * 2


@pytest.mark.parametrize("form", FORMS)
def test_what_is_known_changes_nothing(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for new in NEW:
        for pair in ((KNOWN, new), (new, KNOWN)):
            text = form % pair
            PARTS.clear()
            with monkeypatch.context() as without:
                without.setattr(parse, "_of_known", lambda *_: None)
                wanted = outcome(text)
            assert_same(outcome(text), wanted)
            Grammar.from_json_schema(f'{{"anyOf": [{KNOWN}, {{"type": "null"}}]}}')
            assert_same(outcome(text), wanted)


@pytest.mark.parametrize("word", ["$ref", "\\u0024ref"])
def test_references_are_to_places_in_the_whole_schema(word: str) -> None:
    number, text = '{"name":"d","x":3}', '{"name":"d","x":"x"}'
    first = json.dumps(tool("a", x={"type": "integer"}))
    new = json.dumps(tool("d", x={"": "#/anyOf/0/properties/x"})).replace('""', f'"{word}"')
    for known in ('{"type": "null"}', new):
        Grammar.from_json_schema(f'{{"anyOf": [{first}, {known}]}}')
        engine = Engine(Grammar.from_json_schema(f'{{"anyOf": [{first}, {new}]}}'), BYTES)
        assert engine.accept_tokens(number.encode()) == len(number)
        engine.reset()
        assert engine.accept_tokens(text.encode()) < len(text)


def test_known_texts_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    TEXTS.clear()
    first, second = (json.dumps(tool(name)) for name in ("one", "two"))
    Grammar.from_json_schema(f'{{"anyOf": [{first}, {second}]}}')
    monkeypatch.setattr(known_texts, "_DECODER", None)
    monkeypatch.setattr(parse, "read_json", None)
    Grammar.from_json_schema(f'{{"anyOf": [{second}, {first}]}}')


def test_what_is_remembered_is_bounded() -> None:
    texts = Texts(most=700)
    for name in "abc":
        PARTS.keep(("k", name), Part(name, {}))
        texts.keep_text(json.dumps(tool(name)), "", ("k", name))
    found = texts.alternatives(json.dumps({"anyOf": [tool("a"), tool("c")]}), "")
    assert found is not None
    assert [each.part is None for each in found] == [True, False]


def test_texts_that_begin_alike_are_told_apart() -> None:
    texts = Texts()
    longer = [json.dumps(tool("a", **{name: {"type": "null"}})) for name in "xy"]
    for name, text in zip("xy", longer, strict=True):
        PARTS.keep(("k", name), Part(name, {}))
        texts.keep_text(text, "", ("k", name))
    found = texts.alternatives(f'{{"anyOf": [{longer[1]}, {longer[0]}]}}', "")
    assert found is not None
    assert [each.part and each.part.start for each in found] == ["y", "x"]
