"""Structural tags of XGrammar as KBNF; `tests/differential` asks XGrammar itself."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary, check
from kbnf_core.convert import detect, from_structural_tag
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages import STRUCTURAL_TAG
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source
from kbnf_testing.membership import Language

HEAD = "(* kbnf: finish=eos from=structural-tag *)\n\n"


def const(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def tagged(begin: Any, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def of(fmt: Any) -> str:
    return json.dumps({"type": "structural_tag", "format": fmt})


TEXT = {"type": "any_text"}
CALLS = {
    "type": "triggered_tags",
    "triggers": ["<f="],
    "tags": [tagged("<f=a>", const("x"), "</f>"), tagged("<f=b>", const("y"), "</f>")],
}
TOKEN = {"type": "token", "token": 7}
TOKEN_CALLS = {
    "type": "token_triggered_tags",
    "trigger_tokens": [7],
    "tags": [tagged(TOKEN, const("x"), {"token": 8})],
    "exclude_tokens": [1],
}
WRITTEN = [
    (const("a'b"), 'start ::= "a\'b";\n'),
    (TEXT, "start ::= text?;\ntext ::= #'(?s:.)+';\n"),
    ({**TEXT, "excludes": ["a.b"]}, "start ::= text?;\ntext ::= except!('a.b');\n"),
    ({**TEXT, "excludes": ["<b", "a"]}, "start ::= text?;\ntext ::= #ex'<b|a';\n"),
    ({**TEXT, "max_chars": 9}, "start ::= character{,9};\ncharacter ::= #'(?s:.)';\n"),
    ({"type": "regex", "pattern": "^a|b$"}, "start ::= #'(?s:(?:^a|b$))';\n"),
    (
        {"type": "grammar", "grammar": 'root ::= a "!"\na ::= "x" | "y"'},
        "start ::= grammar;\ngrammar ::= grammar_a '!';\ngrammar_a ::= 'x' | 'y';\n",
    ),
    (
        {"type": "grammar", "grammar": 'start: A "b"\nA: /a+/', "syntax": "lark"},
        "start ::= grammar;\ngrammar ::= grammar_A 'b';\ngrammar_A ::= #'a+';\n",
    ),
    (
        {"type": "json_schema", "json_schema": {"enum": ["a"]}},
        "start ::= json;\njson ::= '\"a\"';\n",
    ),
    ({"type": "sequence", "elements": [const("a"), const("b")]}, "start ::= 'ab';\n"),
    ({"type": "or", "elements": [const("a"), const("b")]}, "start ::= 'a' | 'b';\n"),
    ({"type": "optional", "content": const("a")}, "start ::= 'a'?;\n"),
    ({"type": "plus", "content": const("a")}, "start ::= 'a'+;\n"),
    ({"type": "star", "content": const("a")}, "start ::= 'a'*;\n"),
    ({"type": "repeat", "min": 2, "max": -1, "content": const("a")}, "start ::= 'a'{2,};\n"),
    (tagged("<t>", const("a"), ["</t>", "."]), "start ::= t;\nt ::= '<t>a' ('</t>' | '.');\n"),
    (
        tagged("<t>", TEXT, "</t>"),
        "start ::= t;\nt ::= '<t>' text? '</t>';\ntext ::= except!('</t>');\n",
    ),
    (
        CALLS,
        "start ::= (text? (f_a | f_b))* text?;\ntext ::= except!('<f=');\n"
        "f_a ::= '<f=a>x</f>';\nf_b ::= '<f=b>y</f>';\n",
    ),
    (
        {"type": "tags_with_separator", "separator": ",", "tags": CALLS["tags"]},
        "start ::= ((f_a | f_b) (',' (f_a | f_b))*)?;\n"
        "f_a ::= '<f=a>x</f>';\nf_b ::= '<f=b>y</f>';\n",
    ),
    (
        {"type": "dispatch", "rules": [["<f>", const("x")]], "loop": False, "excludes": ["#"]},
        "start ::= text? '<f>x' | text?;\ntext ::= #ex'\\\\#|<f>';\n",
    ),
    (TOKEN, "start ::= #token[7];\n"),
    ({"type": "token", "token": "<|s|>"}, "start ::= #token'<|s|>';\n"),
    ({"type": "exclude_token", "exclude_tokens": [3, 1]}, "start ::= #token[^1,3];\n"),
    ({"type": "any_tokens", "max_tokens": 4}, "start ::= #token[0-4294967295]{,4};\n"),
    (
        tagged(TOKEN, {"type": "any_tokens"}, TOKEN),
        "start ::= tag;\ntag ::= #token[7] #token[^7]* #token[7];\n",
    ),
    (TOKEN_CALLS, "start ::= (tag | #token[^1,7])*;\ntag ::= #token[7] 'x' #token[8];\n"),
    (
        {"type": "token_dispatch", "rules": [[7, const("x")]]},
        "start ::= (#token[7] 'x' | #token[^7])*;\n",
    ),
    (
        {"type": "qwen_xml_parameter", "json_schema": {"properties": {"a": {"type": "string"}}}},
        "start ::= parameters;\nparameters ::= (space parameters_a)? space;\n"
        "space ::= #r'(?:\\n[ \\t]{0,32}| )?';\nargument ::= except!('</parameter>');\n"
        "parameters_a ::= '<parameter=a>' argument? '</parameter>';\n",
    ),
]


WRONG_SCHEMAS: list[tuple[dict[str, Any], str]] = [
    ({"required": [{}]}, "/required/0"),
    ({"required": "a"}, "/required"),
    ({"properties": {"a": {"minLength": "x"}}}, "/properties/a/minLength"),
    ({"properties": {"a": {"type": [{}]}}}, "/properties/a/type/0"),
    ({"properties": {"a": {"prefixItems": 3}}}, "/properties/a/prefixItems"),
]


@pytest.mark.parametrize(("fmt", "kbnf"), WRITTEN, ids=lambda each: str(each)[:60])
def test_a_format_is_written_as_rules(fmt: Any, kbnf: str) -> None:
    conversion = from_structural_tag(of(fmt))
    assert conversion.text == HEAD + kbnf
    assert conversion.exact
    assert not conversion.notes


INVALID: list[tuple[str, str, str]] = [
    ("{", "E441", "a structural tag must be JSON: Expecting property name"),
    ("[]", "E441", "is an object"),
    ('{"format": NaN}', "E441", "it contains `NaN`"),
    ("{}", "E441", "the whole text: a structural tag has a field `format`"),
    ('{"type": "tag", "format": {}}', "E441", "/type: the type of a structural tag is"),
    (of([]), "E441", "/format: a format is an object"),
    (of({"type": "texts"}), "E441", "/format/type: there is no format 'texts'"),
    (of({"a": 1}), "E441", "/format: a format names its `type`"),
    (of({"type": "const_string"}), "E441", "`const_string` has a field `value`, which is missing"),
    (of(const(1)), "E441", "/format/value: `value` is a text"),  # type: ignore[arg-type]
    (of({**TEXT, "max_chars": -1}), "E441", "/format/max_chars: `max_chars` is a whole number"),
    (of({**TEXT, "max_tokens": 1.5}), "E441", "/format/max_tokens: `max_tokens` is a whole number"),
    (of({**TEXT, "excludes": [""]}), "E441", "/format/excludes: `excludes` is a text that is not"),
    (of({"type": "or", "elements": []}), "E441", "`elements` is a list that is not empty"),
    (of({"type": "sequence", "elements": [const("a"), 1]}), "E441", "/format/elements/1: a format"),
    (of({**CALLS, "tags": [TEXT]}), "E441", "/format/tags/0/type: only tags are allowed here"),
    (of({**CALLS, "triggers": ["<g"]}), "E441", "/format/tags/0/begin: this tag begins with none"),
    (of({**CALLS, "triggers": ["<", "<f"]}), "E441", "begins with more than one trigger"),
    (of({**CALLS, "triggers": []}), "E441", "/format/triggers: `triggers` is a list that is not"),
    (
        of({**CALLS, "tags": [tagged(TOKEN, TEXT, "")]}),
        "E441",
        "that a text triggers begins with a",
    ),
    (of({**TOKEN_CALLS, "trigger_tokens": [6]}), "E441", "begins with just one of the trigger"),
    (of({"type": "token", "token": True}), "E441", "/format/token: `token` is a whole number"),
    (
        of({"type": "dispatch", "rules": [["a"]]}),
        "E441",
        "/format/rules: `rules` is a list of pairs",
    ),
    (of(tagged("a", TEXT, [])), "E441", "/format/end: `end` is a text, or"),
    (of({"type": "repeat", "min": 2, "max": 1, "content": TEXT}), "E441", "`min` is larger"),
    (of({"type": "regex", "pattern": "(a"}), "E201", "/format/pattern: in this regular expression"),
    (
        of({"type": "grammar", "grammar": "root ::= b"}),
        "E101",
        "/format/grammar: line 1, column 10",
    ),
    (
        of({"type": "grammar", "grammar": "start: b", "syntax": "lark"}),
        "E101",
        "/format/grammar: line 1, column 8",
    ),
    (
        of({"type": "grammar", "grammar": "start: b", "syntax": "bnf"}),
        "E441",
        "/format/syntax: `syntax` is one of ebnf, lark",
    ),
    (of({"type": "json_schema", "json_schema": {"type": "x"}}), "E802", "/format/json_schema/type"),
    (
        of({"type": "json_schema", "json_schema": {"items": {"$ref": "#/x"}}}),
        "E805",
        "/format/json_schema/items/$ref",
    ),
    (of({"type": "json_schema", "json_schema": 1}), "E441", "`json_schema` is a JSON Schema"),
    (
        of({"type": "json_schema", "json_schema": {}, "style": "xml"}),
        "E441",
        "/format/style: `style` is one of json, qwen_xml",
    ),
    (of(const("")), "E105", "only the empty text matches"),
    *(
        (of({"type": "json_schema", "json_schema": schema, "style": "minimax_m3_xml"}), code, told)
        for schema, code, told in (
            ({"properties": {"a": {}}}, "E442", "/format/json_schema/properties/a: in `minimax_m3"),
            ({"properties": {"a>": {"type": "null"}}}, "E442", "`a>` cannot be the name of"),
            ({"additionalProperties": True}, "E442", "/additionalProperties: in `minimax_m3_xml`"),
            ({"properties": {"a": {"const": "]<]minimax[>["}}}, "E442", "a string cannot contain"),
            (
                {"properties": {"a": {"items": {"type": "null"}, "uniqueItems": True}}},
                "E442",
                "`uni",
            ),
            ({"anyOf": [{"$ref": "#"}]}, "E803", "/format/json_schema"),
            ({"type": "array"}, "E442", "arguments in XML are those of an object"),
        )
    ),
    (
        of({"type": "json_schema", "json_schema": {}, "style": "cohere_xml", "excludes": ["a"]}),
        "E442",
        "/format/excludes: `excludes` in the style `cohere_xml` is not supported",
    ),
    (
        of({"type": "qwen_xml_parameter", "json_schema": {"patternProperties": {}}}),
        "E442",
        "/format/json_schema/patternProperties: ",
    ),
    *(
        (
            of({"type": "json_schema", "json_schema": {"properties": {}, **wrong}, "style": style}),
            "E802",
            f"/format/json_schema{pointer}: ",
        )
        for style in ("json", "qwen_xml", "cohere_xml", "minimax_m3_xml")
        for wrong, pointer in WRONG_SCHEMAS
    ),
    ('{"structures": [{"begin": "a", "end": "b"}], "triggers": ["a"]}', "E441", "/structures/0: "),
    ('{"structures": 1, "triggers": ["a"]}', "E441", "/structures: `structures` is a list"),
    ('{"structures": [], "triggers": ["a"]}', "E441", "`tags` is a list that is not empty"),
]


@pytest.mark.parametrize(("text", "code", "message"), INVALID, ids=lambda each: str(each)[:60])
def test_what_is_wrong_is_told_with_its_pointer(text: str, code: str, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_structural_tag(text)
    finding = caught.value.diagnostics[0]
    assert finding.code == code
    assert message in finding.message


@pytest.mark.parametrize("style", ["qwen_xml", "cohere_xml", "minimax_m3_xml"])
@pytest.mark.parametrize(
    "wrong", [{"type": "object", "required": [{}]}, {"type": "array", "minItems": "x"}]
)
def test_a_reference_to_what_is_no_schema_is_wrong(style: str, wrong: object) -> None:
    """The meta-schema takes what it leads to for a value."""
    schema = {"properties": {"a": {"$ref": "#/default"}}, "default": wrong}
    with pytest.raises(GrammarError) as caught:
        from_structural_tag(of({"type": "json_schema", "json_schema": schema, "style": style}))
    found = [each.message for each in caught.value.diagnostics if each.code == "E802"]
    assert any(message.startswith("/format/json_schema/default/") for message in found)


def test_a_finding_stands_where_its_pointer_leads() -> None:
    text = of({"type": "sequence", "elements": [const("a"), {**const("b"), "value": 1}]})
    found = check(text, language=STRUCTURAL_TAG)
    assert [(each.code, each.source.slice(each.span)) for each in found] == [("E441", '"value"')]
    assert found[0].span.start == text.rindex('"value"')


def test_a_lint_stands_at_the_format_that_it_is_about() -> None:
    pattern = {"type": "regex", "pattern": "[0-9]+"}
    text = of({"type": "sequence", "elements": [const("a"), pattern]})
    found = check(text, language=STRUCTURAL_TAG)
    assert [each.code for each in found] == ["I303"]


def test_nothing_is_said_of_loops_that_a_schema_became() -> None:
    text = of(tagged("<a>", {"type": "json_schema", "json_schema": {"type": "integer"}}, "</a>"))
    assert check(text, language=STRUCTURAL_TAG) == []


LOST: list[tuple[Any, str, str]] = [
    ({**TEXT, "max_tokens": 9}, "W441", "/format/max_tokens: no rule can count the tokens"),
    ({**TEXT, "max_chars": 9, "excludes": ["a"]}, "W441", "/format/max_chars: 9 bytes are counted"),
    ({**TEXT, "max_chars": 70_000}, "W441", "/format/max_chars: at most 65,535 characters"),
    ({"type": "exclude_token", "exclude_tokens": ["a"]}, "W402", "/format: the token 'a'"),
    ({"type": "any_tokens", "max_tokens": 70_000}, "W441", "/format/max_tokens: at most 65,535"),
    (
        {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 2000},
        "W441",
        "/format/max_whitespace_cnt: at most 1,024 blanks",
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"type": "string", "maxLength": 9},
            "excludes": ["ab"],
        },
        "W441",
        "/format/json_schema: what strings may not contain whose length alone is bounded",
    ),
]


@pytest.mark.parametrize(("fmt", "code", "message"), LOST, ids=lambda each: str(each)[:60])
def test_what_is_not_kept_is_a_loss(fmt: Any, code: str, message: str) -> None:
    conversion = from_structural_tag(of(fmt))
    assert [loss.code for loss in conversion.losses] == [code]
    assert message in conversion.losses[0].message
    with pytest.raises(GrammarError):
        Grammar.from_structural_tag(of(fmt))
    Grammar.from_structural_tag(of(fmt), lossy=True)


def test_a_field_that_means_nothing_is_noted() -> None:
    conversion = from_structural_tag(of({**TEXT, "exclude": ["a"]}))
    assert conversion.exact
    assert [(each.code, each.message) for each in conversion.notes] == [
        ("W442", "/format/exclude: `any_text` has no field `exclude`: ignored")
    ]


def test_the_older_form_is_that_of_triggered_tags() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    for written in (schema, json.dumps(schema)):
        older = {
            "type": "structural_tag",
            "structures": [{"begin": "<f=g>", "schema": written, "end": "</f>"}],
            "triggers": ["<f="],
        }
        language = Language(from_structural_tag(json.dumps(older)).text)
        assert language.has('so: <f=g>{"a": true}</f> done')
        assert not language.has("so: <f=h>")
        assert not language.has('so: <f=g>{"a": 1}</f>')


def test_a_format_without_a_type_is_known_by_its_fields() -> None:
    bare = {"triggers": ["<f="], "tags": [{"begin": "<f=a>", "content": {"value": "x"}, "end": ""}]}
    assert from_structural_tag(of(bare)).text == from_structural_tag(
        of({**CALLS, "tags": [tagged("<f=a>", const("x"), "")]})
    ).text  # fmt: skip


def test_triggers_that_overlap_lead_to_the_tag_whose_trigger_ends_first() -> None:
    tags = [tagged("abax", const("."), "|"), tagged("bcy", const(","), "|")]
    fmt = {"type": "triggered_tags", "triggers": ["aba", "bc"], "tags": tags, "excludes": ["xab"]}
    language = Language(from_structural_tag(of(fmt)).text)
    assert language.has("babbcy,|ab")
    assert language.has("abcy,|babax.|")
    assert not language.has("ababcy,|")
    assert not language.has("xabax.|")
    assert not language.has("abab")


def test_a_vocabulary_turns_texts_of_tokens_into_ids() -> None:
    vocabulary = Vocabulary({0: b"a", 1: b"b", 2: b"ab"}, special_tokens={"<|s|>": 3})
    fmt = {"type": "any_tokens", "exclude_tokens": ["ab", "<|s|>"]}
    conversion = from_structural_tag(of(fmt), vocabulary=vocabulary)
    assert conversion.exact
    assert conversion.text == f"{HEAD}start ::= #token[^2,3]*;\n"
    with pytest.raises(GrammarError, match="the vocabulary has no token 'c'"):
        from_structural_tag(of({**fmt, "exclude_tokens": ["c"]}), vocabulary=vocabulary)


def test_a_grammar_is_made_of_a_tag(tmp_path: Path) -> None:
    tag = {"type": "structural_tag", "format": tagged("<t>", TEXT, "</t>")}
    assert Grammar.from_structural_tag(tag).finish.value == "eos"

    class Model:
        """A tag as an object of pydantic, such as XGrammar's own."""

        def model_dump_json(self) -> str:
            return json.dumps(tag)

    assert Grammar.from_structural_tag(Model()).source.text == (
        Grammar.from_structural_tag(json.dumps(tag)).source.text
    )
    file = tmp_path / "tag.json"
    file.write_text(json.dumps(tag), encoding="utf-8")
    grammar = Grammar.from_file(file)
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"<t>a</t>")
    assert engine.can_finish()


def test_what_is_a_structural_tag_is_told_by_its_content() -> None:
    assert detect(of(TEXT), "x.json") == "Structural tag"
    assert detect('{"structures": [], "triggers": []}', "x.json") == "Structural tag"
    assert detect('{"format": {"type": "any_text"}}', "x.json") == "Structural tag"
    assert detect('{"type": "string", "format": "date"}', "x.json") == "JSON Schema"
    assert detect('{"type": "object", "format": {}}', "x.json") == "JSON Schema"


def test_what_is_shared_is_written_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    contents = {"type": "json_schema", "json_schema": schema}
    tags = [tagged(f"<f={name}>", contents, "</f>") for name in "ab"]
    text = from_structural_tag(of({**CALLS, "tags": tags})).text
    names = [line.split()[0] for line in text.splitlines()[2:]]
    assert sorted(names) == sorted(
        ["start", "text", "f_a", "f_b", "f_b_json", "string", "colon", "ws"]
    )


def test_formats_inside_one_another_are_limited_and_take_no_recursion() -> None:
    fmt: dict[str, Any] = const("a")
    for _ in range(200):
        fmt = {"type": "optional", "content": fmt}
    assert Language(from_structural_tag(of(fmt)).text).has("a")
    with pytest.raises(GrammarError, match="more than 20 formats inside each other"):
        from_structural_tag(of(fmt), limits=Limits(nesting_depth=20))
    with pytest.raises(GrammarError, match="nested too deeply"):
        from_structural_tag('{"format": ' + '{"content": ' * 100_000)


def test_no_text_makes_the_reader_raise() -> None:
    random = Random(7)
    whole = of({"type": "sequence", "elements": [CALLS, TOKEN_CALLS, tagged("a", TEXT, "b")]})
    values = ["{}", "[]", "1", "-1", '"x"', "null", "true", "1e999"]
    for _ in range(300):
        start = random.randrange(len(whole))
        end = min(len(whole), start + random.randrange(12))
        text = whole[:start] + random.choice(["", *values]) + whole[end:]
        STRUCTURAL_TAG.parse(Source(text), Request())


def test_schemas_in_a_tag_have_the_lints_of_schemas() -> None:
    schema = {"type": "object", "properties": {"a": {"maxlength": 3}}}
    content = {"type": "json_schema", "json_schema": schema}
    text = of({"type": "tag", "begin": "<a>", "content": content, "end": "</a>"})
    found = check(text, "a.structural_tag")
    places = [(each.code, each.pointer) for each in found]
    assert places == [("W821", "/format/content/json_schema/properties/a/maxlength")]


def test_a_tag_obeys_its_own_blanks_and_order_and_the_options_of_schemas() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "null"}},
        "required": ["a"],
    }
    settings = {"type": "json_schema", "json_schema": schema}

    def takes(text: str, *, settings: dict[str, Any] = settings, **options: Any) -> bool:
        tag = {"type": "structural_tag", "format": settings}
        return Language(Grammar.from_structural_tag(tag, **options).to_kbnf()).has(text)

    assert takes('{"a": 1, "b": null}')
    assert not takes('{"a":  1}')
    assert not takes('{"b": null, "a": 1}')
    assert not takes(f'{{"a": {"1" * 20}}}')
    assert takes(f'{{"a": {"1" * 20}}}', digits="any")
    assert takes('{"a": 1, "c": 2}', closed=False)
    own = {**settings, "max_whitespace_cnt": 3, "any_order": True}
    assert takes('{"b":   null,\t\n "a" : 1}', settings=own)
    assert not takes('{"a":    1}', settings=own)
    assert not takes('{"b": null}', settings=own)
    assert not takes('{"a": 1, "a": 1}', settings=own)
    assert not takes('{"a" : 1}', settings=own, whitespace="compact")


def test_elements_come_in_any_order_and_once() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "required": ["a", "b"],
    }
    for style, begin, end in (
        ("qwen_xml", "<parameter={}>", "</parameter>"),
        ("cohere_xml", '<cofl:value name="{}" type="json">', "</cofl:value>"),
        ("minimax_m3_xml", "]<]minimax[>[<{}>", "]<]minimax[>[</{}>"),
    ):
        fmt = {"type": "json_schema", "json_schema": schema, "style": style, "any_order": True}
        found = Language(from_structural_tag(of(fmt)).text)
        for names, fits in (
            ("ab", True), ("ba", True), ("cba", True), ("bca", True), ("a", False), ("ca", False),
            ("aab", False), ("abca", False),
        ):  # fmt: skip
            text = "".join(f"{begin}null{end}".replace("{}", name) for name in names)
            assert found.has(text) == fits, (style, names)


def test_loops_that_options_leave_endless_are_found_where_the_schema_is() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    text = of(tagged("<f=a>", {"type": "json_schema", "json_schema": schema}, "</f>"))
    options = {"whitespace": "flexible", "digits": "any"}
    found = check(text, language=STRUCTURAL_TAG, language_options=options)
    place = "/format/content/json_schema"
    assert [(each.code, each.pointer) for each in found] == [("I303", place), ("W302", place)]
    assert not any(each.fixes for each in found)
    assert check(text, language=STRUCTURAL_TAG) == []


def test_a_rule_that_nothing_uses_is_left_out() -> None:
    schema = {"properties": {"a": {"type": "null"}}}
    text = from_structural_tag(of({"type": "qwen_xml_parameter", "json_schema": schema})).text
    assert "argument" not in text
    assert check(text) == []


def test_strict_modes_are_those_of_the_schemas_inside() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "null"}}}
    text = of({"type": "json_schema", "json_schema": schema})
    found = check(text, language=STRUCTURAL_TAG, language_options={"strict": "openai"})
    assert {each.code for each in found} == {"E809"}


EXCLUDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "p": {"type": "string", "pattern": "^<[a-z]+>$"},
        "o": {
            "type": "object",
            "properties": {"l": {"type": "array", "items": {"type": "string"}}},
        },
        "n": {"type": "string", "maxLength": 6},
    },
    "additionalProperties": {"type": "object"},
}


def in_style(style: str, excludes: list[str], schema: Any = EXCLUDED) -> Language:
    part = {"type": "json_schema", "json_schema": schema, "style": style, "excludes": excludes}
    tag = {"type": "tag", "begin": "[", "content": part, "end": "]"}
    conversion = from_structural_tag(of(tag))
    assert conversion.exact
    return Language(conversion.text)


@pytest.mark.parametrize(
    ("style", "form"),
    [
        ("json", '[{"%s": %s}]'),
        ("qwen_xml", "[<parameter=%s>%s</parameter>]"),
        ("python", "[(%s=%s)]"),
        ("python_json", "[(%s=%s)]"),
    ],
)
def test_strings_of_json_contain_nothing_that_is_excluded(style: str, form: str) -> None:
    schema = {**EXCLUDED, "properties": {**EXCLUDED["properties"]}}
    if style != "qwen_xml":
        del schema["properties"]["n"]
    found = in_style(style, ["<x>"], schema)
    quote = "" if style == "qwen_xml" else '"'
    inside = [("s", f"{quote}a {{}}{quote}"), ("o", '{"l": ["{}"]}'), ("more", '{"{}": 1}')]
    if style == "qwen_xml":
        inside.append(("n", "{}"))
    for name, value in inside:
        assert found.has(form % (name, value.replace("{}", "<y>")))
        assert not found.has(form % (name, value.replace("{}", "<x>")))
    assert found.has(form % ("p", f"{quote}<xx>{quote}"))
    assert not found.has(form % ("p", f"{quote}<x>{quote}"))


def test_kimi_k3_takes_objects_and_recursion() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {"type": "object", "properties": {"o": {"$ref": "#/$defs/node"}}}
    tools = [{"name": "f", "parameters": {**schema, "$defs": {"node": node}}}]
    found = Grammar.from_tools(tools, tool_calls="kimi_k3")
    call = (
        '<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>'
        '<|open|>argument key="o" type="object"<|sep|>{"next": {"next": {}}}'
        "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>"
    )
    [read] = found.read_value(call)
    assert read == {"name": "f", "arguments": {"o": {"next": {"next": {}}}}}


@pytest.mark.parametrize("style", ["qwen_xml", "cohere_xml", "minimax_m3_xml", "gemma", "python"])
def test_a_schema_that_is_one_of_its_own_alternatives_adds_nothing(style: str) -> None:
    either = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/j"}, {"type": "boolean"}]}
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/j"}},
        "$defs": {"j": either},
    }
    tag = of({"type": "json_schema", "json_schema": schema, "style": style})
    assert Grammar.from_structural_tag(tag)


def test_values_of_json_refer_to_any_place_of_the_document() -> None:
    node = {
        "type": "object",
        "properties": {
            "c": {"$ref": "#/properties/x"},
            "s": {"type": "string"},
            "default": {"type": "array", "items": {"$ref": "#/properties/x"}},
            "e": {"const": {"$ref": "#/properties/x"}},
        },
        "additionalProperties": False,
    }
    listed = {"type": "array", "items": {"$ref": "#/properties/x"}}
    schema = {"type": "object", "properties": {"x": node, "l": listed}}
    drafts = ("draft-06/schema#", "draft-07/schema#", "draft-04/schema#")
    named = [{**schema, "$schema": f"http://json-schema.org/{each}"} for each in drafts]
    for each in (schema, *named, {**schema, "$id": "https://e.x/a"}):
        found = in_style("qwen_xml", [], each)
        form = "[<parameter=%s>%s</parameter>]"
        for value in (
            '{"c": {"s": "a"}}',
            '{"c": {"c": {}}}',
            '{"default": [{"s": "a"}]}',
            '{"e": {"$ref": "#/properties/x"}}',
        ):
            assert found.has(form % ("x", value))
            assert found.has(form % ("l", f"[{value}]"))
        for value in ('{"c": 1}', '{"c": {"s": 1}}', '{"d": 1}', '{"default": [1]}'):
            assert not found.has(form % ("x", value))
            assert not found.has(form % ("l", f"[{value}]"))


FORMS_OF_XML = (
    "qwen_xml", "minimax_xml", "minimax_m3_xml", "deepseek_xml", "glm_xml", "cohere_xml",
    "kimi_k3_xml", "gemma", "python_json",
)  # fmt: skip


@pytest.mark.parametrize("style", FORMS_OF_XML)
@pytest.mark.parametrize("name", ["regex", "email"])
def test_formats_with_many_states_are_formats_in_xml_too(style: str, name: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "format": name}}}
    tag = of({"type": "json_schema", "json_schema": schema, "style": style})
    assert Grammar.from_structural_tag(tag, formats="rfc")


def test_strings_are_restricted_in_minimax_m3() -> None:
    schema = {
        "type": "object",
        "properties": {
            "x": {"type": "string", "pattern": "^[ab]+$"},
            "y": {"type": "string", "maxLength": 2},
        },
        "required": ["x", "y"],
    }
    found = in_style("minimax_m3_xml", [], schema)
    m = "]<]minimax[>["
    form = f"[{m}<x>%s{m}</x>{m}<y>%s{m}</y>]"
    assert found.has(form % ("ab", "cd"))
    assert not found.has(form % ("ac", "cd"))
    assert not found.has(form % ("ab", "cde"))
