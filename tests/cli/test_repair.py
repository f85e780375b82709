"""``kbnf repair``."""

import json

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.schemas import checked

SCHEMA = (
    '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},'
    ' "required": ["a"], "additionalProperties": false}'
)


def test_edits_are_on_stderr(kbnf: Kbnf, write: Write) -> None:
    schema, text = write("s.json", SCHEMA), write("t.txt", '{"a": 1,\n b: "x"}\n')
    result = kbnf("repair", schema, text, "--whitespace", "flexible")
    assert (result.status, result.out) == (0, '{"a": 1,\n "b": "x"}\n')
    assert result.stderr == (
        't.txt:2:2: replaced `b` by `"b"` (cost 0.6)\nt.txt: repaired by 1 edit, cost 0.6\n'
    )


def test_a_text_that_fits(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("repair", write("s.json", SCHEMA), "--text", '{"a": 1}')
    assert (result.status, result.out, result.stderr) == (0, '{"a": 1}\n', "<text>: fits\n")


def test_a_cut_text_is_completed(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("repair", write("s.json", SCHEMA), "--text", '{"a": 1, "b": "x')
    assert (result.status, result.out) == (0, '{"a": 1, "b": "x"}\n')
    assert result.stderr.splitlines() == [
        '<text>:1:17: completed with `"}` (cost 0.002)',
        "<text>: completed",
    ]


def test_what_is_invented_is_named_and_refused(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", SCHEMA)
    result = kbnf("repair", schema, "--text", '{"a": , "b": "x"}')
    assert (result.status, result.out) == (0, '{"a": 0, "b": "x"}\n')
    assert "inserted `0` (cost 3, invented)" in result.stderr
    for text in ('{"a": }', '{"b": "x"}', '{"a": '):
        refused = kbnf("repair", schema, "--text", text, "--no-invent")
        assert (refused.status, refused.out) == (1, "")
        assert "no repair that invents nothing costs at most 12" in refused.stderr


def test_nothing_within_the_cost(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("repair", write("s.json", SCHEMA), "--text", '{"a" 1}', "--most", "0.9")
    assert (result.status, result.out) == (1, "")
    assert "no repair costs at most 0.9\nhelp: --most COST allows more" in result.stderr


def test_json(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", SCHEMA)
    result = kbnf("repair", schema, "--lines", "--format", "json", stdin=b'{"a" 1}\n{"a":1}\n')
    first, second = (checked("repair", line) for line in result.out.splitlines())
    assert [first["status"], second["status"]] == ["wrong", "fits"]
    assert second["repairs"] == [
        {
            "text": '{"a":1}',
            "cost": 0.0,
            "invented": False,
            "lost": [],
            "uncertain": False,
            "edits": [],
        }
    ]
    assert first["repairs"][0]["edits"] == [
        {
            "kind": "insert",
            "position": {"offset": 4, "line": 1, "column": 5},
            "before": "",
            "after": ":",
            "cost": 1.0,
            "invented": False,
            "lost": "",
            "uncertain": False,
        }
    ]


def test_what_is_lost_is_named(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", SCHEMA)
    text = 'So: {"a": 1, // one\n"b": "x", "c": 2}'
    result = kbnf("repair", schema, "--text", text, "--whitespace", "flexible")
    assert json.loads(result.out) == {"a": 1, "b": "x"}
    assert "stripped `So: ` (cost 2.508, lost)" in result.stderr
    assert "stripped `// one` (cost 0.6, lost)" in result.stderr
    assert 'deleted `, "c": 2` (cost 3.16, lost)' in result.stderr
    command = ("repair", schema, "--text", text, "--whitespace", "flexible", "--format")
    assert kbnf(*command, "diff").stderr == result.stderr
    repair = checked("repair", kbnf(*command, "json").out)["repairs"][0]
    assert repair["lost"] == ["So: ", "// one", ', "c": 2']
    assert [edit["lost"] for edit in repair["edits"]] == repair["lost"]
    assert [edit["kind"] for edit in repair["edits"]] == ["strip", "strip", "delete"]


def test_what_is_uncertain_is_named(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", SCHEMA)
    result = kbnf("repair", schema, "--text", '{"a": 1, "b": x"', "--whitespace", "flexible")
    assert result.out == '{"a": 1, "b": "x"}\n'
    assert 'inserted `"` (cost 1, uncertain)' in result.stderr
    assert "inserted `}` (cost 0.3)" in result.stderr
    command = ("repair", schema, "--text", '{"a": 1, "b": x"', "--format", "json")
    repair = checked("repair", kbnf(*command, "--whitespace", "flexible").out)["repairs"][0]
    assert [repair["uncertain"], *(edit["uncertain"] for edit in repair["edits"])] == [
        True,
        True,
        False,
    ]


def test_a_difference(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("repair", write("s.json", SCHEMA), "--text", '{"a" 1}', "--format", "diff")
    assert result.out == '--- <text>\n+++ <text> (repaired)\n@@ -1 +1 @@\n-{"a" 1}\n+{"a": 1}\n'


@pytest.mark.parametrize("number", [2, 5])
def test_several(kbnf: Kbnf, write: Write, number: int) -> None:
    command = ("repair", write("s.json", SCHEMA), "--text", '{"a" 1}', "--best", str(number))
    found = checked("repair", kbnf(*command, "--format", "json").out)["repairs"]
    texts = [each["text"] for each in found]
    assert (len(set(texts)), texts[0]) == (number, '{"a": 1}')


def test_eager_finish(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", 'start ::= #"[0-9]+";')
    assert kbnf("repair", grammar, "--text", "1;").out == "1\n"
    assert len(kbnf("repair", grammar, "--text", "12").out) == 2
    assert kbnf("repair", grammar, "--text", "12", "--finish", "eos").out == "12\n"
