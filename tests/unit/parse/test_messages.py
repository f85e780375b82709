"""What models write, read by the reading language of a format."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.integrations.tool_calls import ToolCalls
from kbnf_core.languages.structural_tag.models import format_named, table
from kbnf_core.languages.structural_tag.pieces import Chunks
from kbnf_core.languages.structural_tag.reading import dumped, language_of_format, loaded
from kbnf_core.parse.follow import copied
from kbnf_core.parse.messages import MessageReader
from kbnf_testing.call_formats import EXAMPLES

ARGUMENTS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS = [{"name": "get_weather", "parameters": ARGUMENTS}]
CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}


def reader_of(name: str, **options: Any) -> MessageReader:
    language = language_of_format(format_named(name), {"get_weather": ARGUMENTS})
    assert language is not None
    return MessageReader(language, **options)


def read(name: str, text: str, **options: Any) -> MessageReader:
    """Return the reader of a text, which reads the same in any pieces."""
    whole = reader_of(name, **options)
    whole.feed(text)
    whole.finish()
    said = [*map(tuple, whole.deltas())]
    rng = Random(text)
    for most in (1, 9):
        reader, at = reader_of(name, **options), 0
        while at < len(text):
            size = rng.randint(1, most)
            reader.feed(text[at : at + size])
            at += size
        reader.finish()
        assert reader.value == whole.value, (text, most)
        assert (reader.cut, reader.tolerated) == (whole.cut, whole.tolerated)
        assert [*map(tuple, reader.deltas())] == said
    return whole


def calls(reader: MessageReader) -> list[Any]:
    return [part for part in reader.value if isinstance(part, dict) and "name" in part]


@pytest.mark.parametrize("name", table())
def test_a_language_is_derived_of_each_format_and_is_a_value(name: str) -> None:
    language = language_of_format(format_named(name), {"f": True})
    assert language is not None
    assert loaded(json.loads(json.dumps(dumped(language)))) == language


@pytest.mark.parametrize("name", table())
def test_nothing_is_forgiven_in_what_a_format_writes(name: str) -> None:
    found = read(name, EXAMPLES[name])
    assert calls(found) == [CALL]
    assert not found.tolerated


QWEN = [
    '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>',
    '<tool_call>\n\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n\n</tool_call>',
    '<tool_call>\n{"arguments": {"city": "Paris"}, "name": "get_weather"}\n</tool_call>',
    '<tool_call>\n{"name": "get_weather", "parameters": {"city": "Paris"}}\n</tool_call>',
    '<tool_call>\n{"id": [1, {}], "name": "get_weather", '
    '"arguments": "{\\"city\\": \\"Paris\\"}"}\n</tool_call>',
    '<tool_call>\n{\n  "name": "get_weather",\n  "arguments": {\n    "city": "Paris"\n  }\n}\n'
    "</tool_call>",
    '{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}',
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool',
]


@pytest.mark.parametrize("text", QWEN)
def test_a_call_in_json_is_read_however_it_is_printed(text: str) -> None:
    found = read("qwen_3", text)
    assert [part for part in found.value if part != "\n"] == [CALL]
    assert found.tolerated
    assert found.cut is None


INVOKED = "<function=get_weather><parameter=city>Paris"
OTHERS = [
    ("qwen_3_coder", f"{INVOKED}</parameter></function></tool_call>"),
    ("qwen_3_coder", f"<tool_call>{INVOKED}</function></tool_call>"),
    ("qwen_3_coder", f"<tool_call>{INVOKED}</parameter></function>"),
    ("qwen_3_coder", f"{INVOKED}</parameter></function>"),
    ("mimo", f"{INVOKED}</parameter>\n</function>"),
    ("kimi", "<|tool_calls_section_begin|><|tool_call_begin|>get_weather:0 "
             '<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
             "<|tool_calls_section_end|>"),
    ("kimi", "<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
             '{"city": "Paris"}<|tool_call_end|>'),
    ("mistral", '[TOOL_CALLS]get_weather{"city": "Paris"}'),
    ("mistral", '[TOOL_CALLS]get_weather[ARGS]\n{"city": "Paris"}'),
    ("mistral_v3", '[TOOL_CALLS] {"name": "get_weather", "arguments": {"city": "Paris"}}'),
    ("granite", '<|tool_call|> [ {"arguments": {"city": "Paris"}, "name": "get_weather"} ]'),
    ("deepseek_r1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
                    '```json\n{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'),
    ("deepseek_v3_2", '<｜DSML｜function_calls><｜DSML｜invoke name="get_weather">'
                      '<｜DSML｜parameter name="city" string="true">Paris'
                      "</｜DSML｜parameter></｜DSML｜invoke>"
                      "</｜DSML｜function_calls>"),
    ("deepseek_v4", '<｜DSML｜tool_calls><｜DSML｜invoke name="get_weather">'
                    '<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n'
                    "</｜DSML｜tool_calls>"),
    ("minimax", '<minimax:tool_call><invoke name="get_weather"><parameter name="city">Paris'
                "</parameter></minimax:tool_call>"),
    ("glm_4_5", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</tool_call>"),
    ("lfm2", "<|tool_call_start|>[get_weather( city = 'Paris' )]<|tool_call_end|>"),
    ("llama", '{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}'),
    ("llama", '<|python_tag|>{"name":"get_weather","parameters":{"city":"Paris"}}'),
    ("llama_4", "<|python_start|>[get_weather(city='Paris')]<|python_end|>"),
    ("gemma_4", '<|tool_call>call:get_weather{ city : <|"|>Paris<|"|> }<tool_call|>'),
    ("harmony", '<|channel|>commentary to=functions.get_weather<|message|>{"city": "Paris"}'),
    ("exaone", '<tool_call>\n{"name":"get_weather","arguments":{"city":"Paris"}}\n</tool_call>'),
    ("minimax", '<minimax:tool_call><invoke name="get_weather"><parameter name="city">Paris'
                "</parameter></invoke></minimax:tool_call>"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), OTHERS)
def test_what_a_model_forgets_may_be_missing(name: str, text: str) -> None:
    found = read(name, text)
    assert found.value == [CALL]
    assert found.cut is None


def test_closing_words_are_only_missing_around_others_with_their_opening_words() -> None:
    two = f"{INVOKED}</parameter></function>" * 2
    assert read("qwen_3_coder", two).value == [CALL, CALL]
    for text in (
        # The words that are missing are not those around the ones that are there.
        f"{INVOKED}</parameter></tool_call>",
        f"{INVOKED}</parameter>",
        f"{INVOKED}</parameter></function> in text",
    ):
        assert CALL not in read("qwen_3_coder", text).value


@pytest.mark.parametrize("end", ["", "\n", "\n</｜DSML｜tool"])
def test_a_call_is_cut_where_neither_its_end_nor_that_of_its_section_came(end: str) -> None:
    text = '<｜DSML｜tool_calls><｜DSML｜invoke name="get_weather">'
    text += f'<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>{end}'
    found = read("deepseek_v4", text)
    assert (found.value, found.cut) == ([], 0)


def test_an_element_without_arguments_may_end_itself() -> None:
    text = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather"/>\n</｜DSML｜tool_calls>'
    [call] = read("deepseek_v4", text).value
    assert call == {"name": "get_weather", "arguments": {}, "valid": False, "pointer": ""}


def test_a_tool_that_is_not_there_is_text_up_to_its_own_end() -> None:
    other = '<tool_call>\n{"name": "other", "arguments": {"x": [1]}}\n</tool_call>'
    text = f"a {other} b {EXAMPLES['qwen_3']} {other}"
    assert read("qwen_3", text).value == [f"a {other} b ", CALL, f" {other}"]
    found = read("qwen_3", text, any_name=True)
    assert [each["name"] for each in calls(found)] == ["other", "get_weather", "other"]


@pytest.mark.parametrize("name", [name for name in table() if name not in ("kimi_k3", "harmony")])
def test_a_marker_in_prose_hides_no_call_behind_it(name: str) -> None:
    example = EXAMPLES[name].lstrip("\n")
    for size in range(1, len(example) // 2, 4):
        text = f"{example[:size]} \0, {example}!"
        found = read(name, text)
        assert CALL in found.value, text
        assert "".join(part for part in found.value if isinstance(part, str)).endswith("!")


@pytest.mark.parametrize("name", table())
def test_a_call_that_is_cut_is_none_and_no_text(name: str) -> None:
    example = EXAMPLES[name]
    whole = read(name, example).value
    assert [part for part in whole if isinstance(part, dict)] == [CALL]
    for size in (*range(0, len(example), 5), len(example) - 1):
        found = read(name, example[:size])
        if CALL in found.value:
            # All of its arguments are there, and what closes it is not.
            assert found.tolerated or name in ("mistral", "llama", "kimi_k3"), example[:size]
        else:
            assert calls(found) == []


def test_a_call_that_was_begun_is_closed_by_cut() -> None:
    reader = reader_of("qwen_3")
    reader.feed('x <tool_call>\n{"name": "get_weather", "arguments": {"city": "Pa')
    assert [tuple(each) for each in reader.deltas()] == [
        ("text", "x ", None), ("name", "get_weather", 0), ("arguments", '{"city": "Pa', 0)
    ]  # fmt: skip
    assert reader.value == ["x ", {"name": "get_weather", "arguments": {"city": "Pa"}}]
    reader.finish()
    assert [tuple(each) for each in reader.deltas()] == [("cut", "", 0)]
    assert (reader.value, reader.cut) == (["x "], 2)
    reader = reader_of("qwen_3")
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Pa"} and so on'
    reader.feed(text)
    assert [each.kind for each in reader.deltas()][-2:] == ["cut", "text"]
    reader.finish()
    assert (reader.value, reader.cut) == ([text], None)


VALUES = [
    ({"type": "integer"}, "three", "three", False),
    ({"type": "integer"}, "3.0", 3, True),
    ({"type": "integer"}, '"3"', '"3"', False),
    ({"type": "boolean"}, "True", True, True),
    ({"type": "array"}, "['a', 'b']", ["a", "b"], True),
    ({"type": "object"}, "{'a': None}", {"a": None}, True),
    ({"enum": ["a", "b"]}, "c", "c", False),
    ({"type": ["string", "null"]}, "None", None, True),
    ({"type": "string"}, "None", "None", True),
    ({"type": "float"}, "1.5", 1.5, True),
]


@pytest.mark.parametrize(("schema", "written", "value", "is_valid"), VALUES)
def test_values_are_converted_by_the_schema_where_they_convert(
    schema: Any, written: str, value: Any, is_valid: bool
) -> None:
    tools = [
        {"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}},
        {"name": "g", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    ]
    text = f"<tool_call>\n<function=f>\n<parameter=x>\n{written}\n</parameter>\n</function>\n"
    text += "</tool_call><tool_call>\n<function=g>\n<parameter=n>\n1\n</parameter>\n</function>\n"
    text += "</tool_call>"
    _, [call, other] = ToolCalls("qwen_3_5", tools).whole(text)
    assert json.loads(call["arguments"]) == {"x": value}
    assert call.get("valid", True) == is_valid
    assert call.get("pointer", "/x") == "/x"
    assert other == {"name": "g", "arguments": '{"n": 1}'}


def test_a_value_may_contain_what_ends_elements() -> None:
    inner = "Close: </parameter> and </function> and </tool_call>."
    text = EXAMPLES["qwen_3_coder"].replace("Paris", inner)
    assert read("qwen_3_coder", text).value == [
        {"name": "get_weather", "arguments": {"city": inner}}
    ]


def test_frames_are_no_content() -> None:
    text = "<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>hi"
    assert read("harmony", text).value == [{"reasoning": "so"}, "hi"]
    assert read("qwen_3", "<think>\n\n</think>\n\nhi").value == [{"reasoning": "\n\n"}, "hi"]
    assert read("qwen_3", "<think></think>\n\nhi").value == ["hi"]
    k3 = "<|open|>response<|sep|>hi<|close|>response<|sep|><|close|>message<|sep|>"
    assert read("kimi_k3", k3).value == ["hi"]


def test_sections_are_empty_or_have_noise() -> None:
    begin, end = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
    assert read("kimi", f"a {begin}{end} b").value == ["a  b"]
    found = read("kimi", EXAMPLES["kimi"].replace(begin, f"{begin} noise "))
    assert found.value == [CALL]
    assert [each.what for each in found.tolerated] == ["text between calls"]
    assert read("kimi", f"{begin} only noise {end}").value == [f"{begin} only noise {end}"]


def prose(rng: Random, name: str) -> Iterator[str]:
    words = [*EXAMPLES[name].replace("get_weather", "f").split("Paris"), "so", '{"a": 1}']
    words += ["```", "<", "for example", "[1]", "{", '{"name": "Bob", "arguments": {}}', "\n", " "]
    for _ in range(20):
        yield "".join(rng.choice(words) for _ in range(rng.randint(1, 9)))


@pytest.mark.parametrize("name", table())
def test_prose_with_markers_has_no_calls(name: str) -> None:
    for text in prose(Random(name), name):
        found = read(name, text)
        assert calls(found) == [], text


def test_reading_is_linear_in_what_breaks() -> None:
    unit = '<tool_call>{"name": "get_weather", "arguments": {"city": "'
    reader = reader_of("qwen_3")
    reader.feed(unit * 20_000)
    reader.finish()
    assert reader._retried <= 20 * len(unit) * 20_000


def test_values_of_any_depth_are_copied() -> None:
    flat: Any = [1, 2.5, None, True, {"a": ["\ud800", 10**40]}]
    assert copied(flat) == flat
    assert copied(flat)[4]["a"] is not flat[4]["a"]
    deep: Any = {"a": "é"}
    for _ in range(10_000):
        deep = [deep]
    again = copied(deep)
    for _ in range(10_000):
        assert again is not deep
        again, deep = again[0], deep[0]
    assert again == deep


def test_an_engine_gives_values_of_their_own() -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="qwen_3")
    engine = Engine(grammar, Vocabulary.bytes())
    engine.try_accept_new_bytes(b'<tool_call>\n{"name": "get_weather", "arguments": {"city": "Pa')
    first = engine.values()
    engine.try_accept_new_bytes(b'ris"}}')
    assert first == [{"name": "get_weather", "arguments": {"city": "Pa"}}]
    assert engine.values() == [CALL]


M3 = "]<]minimax[>["


def element(name: str, body: str) -> str:
    return f"{M3}<{name}>{body}{M3}</{name}>"


def of_schema(name: str, schema: Any, text: str) -> MessageReader:
    """Return the reader of a text with calls of ``f``, read also character by character."""
    language = language_of_format(format_named(name), {"f": schema})
    assert language is not None
    whole, single = MessageReader(language), MessageReader(language)
    whole.feed(text)
    for char in text:
        single.feed(char)
    for reader in (whole, single):
        reader.finish()
    assert single.value == whole.value
    assert (single.cut, single.tolerated) == (whole.cut, whole.tolerated)
    assert single.deltas() == whole.deltas()
    return whole


def arguments(name: str, schema: Any, text: str) -> Any:
    (call,) = calls(of_schema(name, schema, text))
    return call.get("pointer", call["arguments"])


def m3(body: str) -> str:
    invoked = f'{M3}<invoke name="f">{body}{M3}</invoke>'
    return f"{M3}<tool_call>\n{invoked}\n{M3}</tool_call>"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (element("o", element("t", "x") + element("t", "y")), {"o": {"t": ["x", "y"]}}),
        (element("o", element("t", element("u", "1")) + element("t", "2") + element("v", "3")),
         {"o": {"t": [{"u": "1"}, "2"], "v": "3"}}),
        (element("l", element("item", element("t", "1") + element("t", "2"))),
         {"l": [{"t": ["1", "2"]}]}),
        # Values that were given out cannot become a list.
        (element("t", "x") + element("t", "y"), "/t"),
    ],
)  # fmt: skip
def test_elements_that_are_repeated_in_an_object_are_a_list(body: str, read: Any) -> None:
    assert arguments("minimax_m3", True, m3(body)) == read


REPEATED = [
    ("qwen_3", '<tool_call>\n{"name": "f", "arguments": {"a": [{"b/": 1, "b/": 2}]}}\n</tool_call>',
     "/a/0/b~1"),
    ("qwen_3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=a>\n2\n"
                     "</parameter>\n</function>\n</tool_call>", "/a"),
    ("lfm2", "<|tool_call_start|>[f(a=1, a=2)]<|tool_call_end|>", "/a"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "pointer"), REPEATED)
def test_arguments_with_a_name_twice_are_not_valid(name: str, text: str, pointer: str) -> None:
    assert arguments(name, True, text) == pointer


def test_a_marker_may_be_spelled_otherwise() -> None:
    text = '<tool_call> [{"name": "get_weather", "arguments": {"city": "Paris"}}]'
    assert read("granite", f"Hi {text}").value == ["Hi ", CALL]


@pytest.mark.parametrize("name", table())
def test_the_end_of_a_turn_is_no_content_at_the_end_of_a_text(name: str) -> None:
    for end in format_named(name)["turn_ends"]:
        for text in (EXAMPLES[name], "Hi"):
            plain = read(name, text).value
            assert read(name, f"{text}{end}").value == plain
            assert read(name, f"{text}{end}\n{end}\n").value == plain
        assert read(name, f"Hi {end} there").value == [f"Hi {end} there"]
        assert read(name, f"Hi{end[:-1]}").value == [f"Hi{end[:-1]}"]


TEXT = {"type": "string"}
TWO = {
    "type": "object",
    "properties": {"a": TEXT, "b": TEXT, "c": {"type": "integer"}},
    "required": ["a", "b"],
}
FORGOTTEN = [
    ("<parameter=a>x<parameter=b>y</parameter>", {"a": "x", "b": "y"}),
    ("<parameter=a>x<parameter=b>y", {"a": "x", "b": "y"}),
    ("<parameter=c>3<parameter=a>x\n<parameter=b>y</parameter>\n", {"c": 3, "a": "x", "b": "y"}),
    # The element follows, so that its beginning is text, as is that of one that is not required.
    ("<parameter=a>x<parameter=b>y</parameter>\n<parameter=b>z</parameter>\n",
     {"a": "x<parameter=b>y", "b": "z"}),
    ("<parameter=a>x<parameter=c>3</parameter><parameter=b>y</parameter>",
     {"a": "x<parameter=c>3", "b": "y"}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "read"), FORGOTTEN)
def test_the_end_of_an_element_may_be_missing_ahead_of_one_that_is_required(
    body: str, read: Any
) -> None:
    text = f"<tool_call>\n<function=f>\n{body}</function>\n</tool_call>"
    assert arguments("qwen_3_coder", TWO, text) == read
    notes = [each.what for each in of_schema("qwen_3_coder", TWO, text).tolerated]
    assert ("`</parameter>` is missing" in notes) == ("<" not in read["a"])


def test_line_breaks_around_a_value_are_its_own_where_values_are_verbatim() -> None:
    text = "<tool_call><function=f><parameter=t>\na\n</parameter></function></tool_call>"
    assert arguments("mimo", True, text) == {"t": "\na\n"}
    assert arguments("qwen_3_coder", True, text) == {"t": "a"}


_DSML = "｜DSML｜"


def dsml(told: str, value: str) -> str:
    parameter = f'<{_DSML}parameter name="v" string="{told}">{value}</{_DSML}parameter>'
    return (
        f'<{_DSML}function_calls>\n<{_DSML}invoke name="f">\n{parameter}\n</{_DSML}invoke>\n'
        f"</{_DSML}function_calls>"
    )


@pytest.mark.parametrize(
    ("name", "kind", "text", "value"),
    [
        ("deepseek_v3_2", "integer", dsml("true", "42"), 42),
        ("deepseek_v3_2", "string", dsml("false", "null"), "null"),
        ("deepseek_v3_2", ["string", "integer"], dsml("true", "42"), "42"),
        ("deepseek_v3_2", ["string", "integer"], dsml("false", "42"), 42),
        ("gemma_4", "string", "<|tool_call>call:f{v:01234}<tool_call|>", "01234"),
        ("gemma_4", "string", "<|tool_call>call:f{v:90210}<tool_call|>", "90210"),
        ("gemma_4", "integer", "<|tool_call>call:f{v:90210}<tool_call|>", 90210),
        ("lfm2", "string", "<|tool_call_start|>[f(v=90210)]<|tool_call_end|>", "90210"),
        ("minimax_m3", "integer", m3(element("v", "018956")), 18956),
        ("minimax_m3", "number", m3(element("v", "+0.50")), 0.5),
    ],
)
def test_a_schema_says_what_a_raw_text_is(name: str, kind: Any, text: str, value: Any) -> None:
    schema = {"type": "object", "properties": {"v": {"type": kind}}}
    assert arguments(name, schema, text) == {"v": value}


def test_tokens_of_markers_and_ends_are_read_as_their_texts() -> None:
    language = language_of_format(format_named("qwen_3"), {"get_weather": ARGUMENTS})
    special = {"<tool_call>": 256, "</tool_call>": 257, "<|im_end|>": 258, "<|pad|>": 259}
    vocabulary = Vocabulary(
        {value: bytes([value]) for value in range(256)}, special_tokens=special, eos_token_id=258
    )
    assert language is not None
    reader = MessageReader(language, vocabulary)
    body = b'\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n'
    for token in [259, *b"Hi ", 256, *body, 257, 258]:
        reader.feed(token)
    reader.finish()
    assert reader.value == ["Hi ", CALL]


COLLECTED = f'{M3}<tool_call>\n{M3}<invoke name="f">{M3}<o>'
HOSTILE = [
    ("qwen_3", "", "<tool_call>"), ("qwen_3", "", "<tool_cal"), ("qwen_3", "", "<|im_end|> \n"),
    ("qwen_3", '<tool_call>\n{"name": "f", "arguments": {', '"a": 1, '),
    ("qwen_3_coder", "", "<tool_call><function=f><parameter=c>"),
    ("qwen_3_coder", "<tool_call><function=f>", "<parameter=c>1<parameter=a>x</parameter>"),
    ("minimax_m3", COLLECTED, f"{M3}<n>"), ("minimax_m3", COLLECTED, element("t", "x")),
    ("gemma_4", "", "<turn|>"), ("granite", "", "<tool_call> ["),
    ("lfm2", "", "<|tool_call_start|>[f("),
    ("lfm2", "<|tool_call_start|>[f(", "a=1,"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "begin", "unit"), HOSTILE)
def test_each_character_of_a_hostile_text_is_taken_a_bounded_number_of_times(
    name: str, begin: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = language_of_format(format_named(name), {"f": TWO})
    assert language is not None
    take, taken = Chunks.take, [0]

    def counted(source: Chunks, end: int) -> str:
        taken[0] += end - source.at
        return take(source, end)

    monkeypatch.setattr(Chunks, "take", counted)
    text = begin + unit * (100_000 // len(unit))
    reader = MessageReader(language)
    for at in range(0, len(text), 997):
        reader.feed(text[at : at + 997])
    reader.finish()
    assert taken[0] <= 20 * len(text)
    assert calls(reader) == []
