"""``kbnf convert-json-schema``."""

import json

from kbnf_testing.command import Kbnf, Write

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
LOSSY = '{"type": "array", "items": {"type": "string"}, "uniqueItems": true}'


def test_writes_the_grammar_to_a_file(kbnf: Kbnf, write: Write) -> None:
    schema, target = write("schema.json", SCHEMA), write("out.kbnf", "")
    result = kbnf("convert-json-schema", schema, "-o", target, "--whitespace", "compact")
    assert (result.status, result.out) == (0, "")
    text = target.read_text()
    assert text.startswith(
        "(* kbnf: finish=eager from=json-schema *)\n\n(* the whole schema *)\nstart ::= '{' a "
    )
    assert "\na ::= '\"a\":' integer;\n" in text


def test_options_reach_the_grammar(kbnf: Kbnf) -> None:
    options = ["--no-additional-properties", "--order", "any", "--escapes", "any"]
    result = kbnf("convert-json-schema", "-", *options, stdin=SCHEMA.encode())
    assert result.status == 0
    assert "member" not in result.out


def test_a_keyword_that_cannot_be_kept_is_an_error(kbnf: Kbnf, write: Write) -> None:
    schema = write("schema.json", LOSSY)
    result = kbnf("convert-json-schema", schema)
    assert (result.status, result.out) == (1, "")
    assert "error[E801]: /uniqueItems: " in result.stderr
    assert "schema.json:1:" in result.stderr


def test_lossy_drops_and_reports(kbnf: Kbnf, write: Write) -> None:
    schema = write("schema.json", LOSSY)
    result = kbnf("convert-json-schema", "--lossy", "--format", "json", schema)
    found = json.loads(result.out)
    assert (result.status, found["schema"], found["exact"]) == (0, "kbnf.convert/1", False)
    assert [loss["code"] for loss in found["losses"]] == ["W807"]
    assert found["output"].startswith("(* kbnf: finish=eager from=json-schema *)")


def test_a_dropped_keyword_is_no_error_and_an_error_says_how_to_drop_it(
    kbnf: Kbnf, write: Write
) -> None:
    schema = write("schema.json", LOSSY)
    dropped = kbnf("convert-json-schema", "--lossy", schema)
    assert dropped.status == 0
    assert "warning[W807]: /uniqueItems: dropped: " in dropped.stderr
    assert "error[" not in dropped.stderr
    assert "--lossy" in kbnf("convert-json-schema", schema).stderr


def test_an_option_wins_over_the_schema(kbnf: Kbnf) -> None:
    schema = b'{"type": "array", "x-guidance": {"whitespace_flexible": false}}'
    assert "ws" not in kbnf("convert-json-schema", "-", stdin=schema).out
    options = ("--whitespace", "bounded")
    assert "ws" in kbnf("convert-json-schema", "-", *options, stdin=schema).out


def test_an_unknown_format_is_a_remark(kbnf: Kbnf) -> None:
    result = kbnf("convert-json-schema", "-", stdin=b'{"type": "string", "format": "path"}')
    assert result.status == 0
    assert "W806" in result.stderr


def test_what_is_no_json_is_an_error(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert-json-schema", write("schema.json", "{"))
    assert (result.status, result.out) == (1, "")
    assert "E802" in result.stderr
