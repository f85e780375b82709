"""``kbnf parse``."""

import json
from importlib.resources import as_file, files

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.real_vocabulary import NAME

LIST = (
    '(* kbnf: finish=eos *)\nstart ::= "[" item ("," item)* "]";\n'
    'item ::= name | start;\nname ::= #"[a-z]+";\n'
)


def test_a_tree(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("parse", write("g.kbnf", LIST), write("t.txt", "[a,[b]]\n"))
    assert (result.status, result.stderr) == (0, "")
    assert result.out == (
        'start 0-7\n  item 1-2\n    name 1-2 "a"\n  item 3-6\n    start 3-6\n'
        '      item 4-5\n        name 4-5 "b"\n'
    )


def test_json_is_one_object_a_text(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", LIST)
    result = kbnf("parse", grammar, "--lines", "--format", "json", stdin=b"[a]\n[1]\n")
    first, second = map(json.loads, result.out.splitlines())
    assert result.status == 1
    assert first == {
        "schema": "kbnf.parse/1",
        "path": "<stdin>",
        "line": 1,
        "rule": "start",
        "start": 0,
        "end": 3,
        "children": [
            {
                "rule": "item",
                "start": 1,
                "end": 2,
                "children": [{"rule": "name", "start": 1, "end": 2, "children": [], "text": "a"}],
            }
        ],
    }
    assert second["error"]["position"] == {"offset": 1, "line": 2, "column": 2}
    assert second["error"]["rules"] == ["start", "item"]
    assert second["error"]["expected"]["text"] == '"[", "a"-"z"'


def test_json_of_deep_trees(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", 'start ::= "[" [start] "]";')
    depth = 5_000
    result = kbnf("parse", grammar, "--format", "json", stdin=b"[" * depth + b"]" * depth)
    assert (result.status, result.out.count('"rule"')) == (0, depth)


def test_lines_of_deep_trees_do_not_grow(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", 'start ::= "[" [start] "]";')
    depth = 5_000
    result = kbnf("parse", grammar, stdin=b"[" * depth + b"]" * depth)
    lines = result.out.splitlines()
    assert (result.status, len(lines)) == (0, depth)
    assert lines[40] == " " * 80 + "start 40-9960"
    assert lines[41] == " " * 80 + "41: start 41-9959"
    assert max(map(len, lines)) < 120


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--format", "sexp"), '(start (item (name "a")) (item (name "b")))\n'),
        (("--format", "sexp", "--rules", "name"), '(start (name "a") (name "b"))\n'),
        (("--format", "sexp", "--depth", "1"), '(start (item "a") (item "b"))\n'),
        (
            ("--format", "events", "--rules", "name", "--depth", "0"),
            '{"event": "open", "rule": "start", "offset": 0}\n'
            '{"event": "close", "rule": "start", "offset": 5}\n',
        ),
    ],
)
def test_formats(kbnf: Kbnf, write: Write, options: tuple[str, ...], expected: str) -> None:
    assert kbnf("parse", write("g.kbnf", LIST), "--text", "[a,b]", *options).out == expected


def test_what_is_certain_of_an_unfinished_text(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", LIST)
    result = kbnf("parse", grammar, "--text", "[a,b", "--partial")
    assert result.out == (
        'start 0-...\n  item 1-2\n    name 1-2 "a"\n  item 3-...\n    name 3-... "b"\n'
    )
    assert kbnf("parse", grammar, "--text", "[1", "--partial").status == 1


def test_a_text_that_does_not_fit(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("parse", write("g.kbnf", LIST), "--text", "[a,1]")
    assert result.status == 1
    assert result.out == (
        "<text>:1:4: does not fit: byte 3 ('1', 0x31) is not expected here\n"
        "  [a,1]\n     ^\n"
        '  expected  "[", "a"-"z"\n'
        "  in        start > item\n"
    )
    early = kbnf("parse", write("g.kbnf", LIST), "--text", "[a")
    assert "does not fit: the text ends too early" in early.out


def test_ambiguity(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", 'start ::= s; s ::= s "+" s | "n";')
    result = kbnf("parse", grammar, "--text", "n+n+n", "--ambiguity", "--depth", "1")
    assert result.out.splitlines()[2:4] == [
        "2 derivations",
        "they first differ in `s` at byte 0; another one is",
    ]
    assert "one derivation" in kbnf("parse", grammar, "--text", "n+n", "--ambiguity").out
    endless = write("e.kbnf", 'start ::= start | "a";')
    assert "endlessly many" in kbnf("parse", endless, "--text", "a", "--ambiguity").out


def test_values(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.schema.json", '{"type": "object", "properties": {"a": {"type": "string"}}}')
    assert kbnf("parse", schema, "--value", "--text", '{"a": "x\\n"}').out == '{"a": "x\\n"}\n'
    partial = kbnf("parse", schema, "--value", "--partial", "--text", '{"a": "x')
    assert (partial.status, partial.out) == (0, '{"a": "x"}\n')
    assert "the text is cut" in partial.stderr
    assert kbnf("parse", schema, "--value", "--text", '{"a"').status == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "nam"), "did you mean `name`?"),
        (("--text", "[a]", "file"), "--text takes the place of files"),
        (("--partial", "--ambiguity"), "needs a whole text"),
    ],
)
def test_wrong_usage(kbnf: Kbnf, write: Write, arguments: tuple[str, ...], message: str) -> None:
    result = kbnf("parse", write("g.kbnf", LIST), *arguments)
    assert result.status == 2
    assert message in result.stderr


def test_a_line_break_that_the_grammar_requires(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", "start ::= '{\"a\": 1}' '\\n';\n")
    ended, bare = write("ended.json", '{"a": 1}\n'), write("bare.json", '{"a": 1}')
    for option in ([], ["--partial"]):
        assert kbnf("parse", grammar, ended, "--value", *option).out == '{"a": 1}\n'
        assert kbnf("parse", "json", ended, "--value", *option).out == '{"a": 1}\n'
        assert kbnf("parse", "json", ended, *option).status == 0
    assert kbnf("parse", grammar, ended).out.startswith("start 0-9")
    assert kbnf("parse", grammar, bare, "--value").status == 1


def test_calls_of_tools_are_values(kbnf: Kbnf, write: Write) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tools = write("tools.json", json.dumps([{"name": "f", "parameters": schema}]))
    text = 'hi <tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'
    given = ("parse", tools, "--tool-calls", "qwen_3", "--value", "--text")
    value = ["hi ", {"name": "f", "arguments": {"a": "x"}}]
    assert json.loads(kbnf(*given, text).out) == value
    assert json.loads(kbnf(*given, text[:-15], "--partial").out) == value
    cut = kbnf(*given, text[:-15])
    assert (cut.status, cut.out) == (1, '["hi "]\n')
    assert "at character 3: a call is cut" in cut.stderr
    assert " would complete it" in cut.stderr


def test_markers_are_tokens_in_masks_and_texts_in_texts(kbnf: Kbnf, write: Write) -> None:
    pytest.importorskip("mistral_common")
    tools = write("tools.json", json.dumps([{"name": "f", "parameters": {"type": "object"}}]))
    given = (tools, "--tool-calls", "mistral", "--tool-choice", "required", "--token-markers")
    with as_file(files("mistral_common") / "data" / NAME) as vocabulary:
        over = (*given, "--vocab", vocabulary)
        assert json.loads(kbnf("mask", *over, "--format", "ids").out) == 9
        text = "[TOOL_CALLS]f[ARGS]{}"
        assert kbnf("match", *over, "--text", text).status == 0
        value = [{"name": "f", "arguments": {}}]
        assert json.loads(kbnf("parse", *over, "--value", "--text", text).out) == value
        assert kbnf("complete", *over, "--text", text[:-1]).out.strip() == text
    without = kbnf("match", *given, "--text", text)
    assert (without.status, "--token-markers needs --vocab" in without.stderr) == (2, True)


def test_what_is_forgiven_in_calls_is_reported(kbnf: Kbnf, write: Write) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tools = write("tools.json", json.dumps([{"name": "f", "parameters": schema}]))
    given = ("parse", tools, "--tool-calls", "qwen_3", "--value")
    text = '<tool_call>{"arguments": {"a": "x"}, "name": "f"}</tool_call>'
    call = {"name": "f", "arguments": {"a": "x"}, "valid": False, "pointer": "/a"}
    result = kbnf(*given, "--text", text)
    assert json.loads(result.out) == [call]
    assert "at character 11: members differ" in result.stderr
    told = json.loads(kbnf(*given, "--format", "json", "--text", text).out)
    assert (told["value"], told["cut"]) == ([call], None)
    assert {"what": "members differ", "start": 11, "end": 49} in told["tolerated"]
    assert kbnf(*given, "--exact", "--text", text).status == 1
    other = text.replace('"f"', '"g"')
    assert json.loads(kbnf(*given, "--text", other).out) == [other]
    called = json.loads(kbnf(*given, "--any-name", "--text", other).out)
    assert [each["name"] for each in called] == ["g"]
    assert kbnf("parse", tools, "--exact").status == 2


def test_a_text_without_a_value_is_told(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", 'start ::= "open door";\n')
    result = kbnf("parse", grammar, "--value", "--text", "open door")
    assert result.status == 1
    assert "the text has no value: it is not JSON" in result.stderr
    assert kbnf("parse", grammar, "--text", "open door").status == 0


def test_finish_is_noted_and_start_refused_where_they_mean_nothing(
    kbnf: Kbnf, write: Write
) -> None:
    assert (
        "--finish changes nothing" in kbnf("parse", "json", "--text", "1", "--finish", "eos").stderr
    )
    assert "--finish" not in kbnf("parse", "json", "--text", "1").stderr
    file = str(write("a.schema.json", '{"type": "integer"}'))
    for command in ("parse", "match"):
        result = kbnf(command, file, "--text", "1", "--start", "x")
        assert (result.status, "--start is for grammars with rules" in result.stderr) == (2, True)
