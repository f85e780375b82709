"""``kbnf mask``."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import kbnf_cli
from kbnf_core import Config, Engine, Vocabulary
from kbnf_testing.command import Kbnf, Write
from kbnf_testing.schemas import checked

GRAMMAR = """\
start ::= '{' pair {',' pair} '}';
pair ::= '"' #"[a-z]+" '":' #"[0-9]+";
"""
TOKENS = json.dumps({0: "{", 1: '{"', 3: "a", 4: "é", 5: '"', 6: '":', 8: "1", 9: "}", 10: "}x"})


_SCHEMA = json.loads(
    (Path(kbnf_cli.__file__).parent / "schemas" / "mask.schema.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--text", '{"a":1}'),
        ("--finish", "eos", "--text", '{"a":1}'),
        ("--tokens", "123,34"),
        ("--why", "97"),
        ("--why", "{x"),
        ("--why", "256"),
        ("--text", "x"),
        ("--tokens", "123,123"),
    ],
)
def test_json_has_the_published_shape(kbnf: Kbnf, grammar: Path, options: tuple[str, ...]) -> None:
    value = json.loads(kbnf("mask", grammar, "--format", "json", *options).out)
    Draft202012Validator(_SCHEMA).validate(value)


@pytest.fixture
def grammar(write: Write) -> Path:
    return write("pairs.kbnf", GRAMMAR)


@pytest.fixture
def tokens(write: Write) -> Path:
    return write("tokens.json", TOKENS)


def test_json(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("mask", grammar, "--text", '{"a', "--format", "json")
    assert result.status == 0
    assert json.loads(result.out) == {
        "schema": "kbnf.mask/1",
        "status": "ongoing",
        "vocabulary": {
            "name": "bytes",
            "size": 257,
            "fingerprint": Vocabulary.bytes().fingerprint,
        },
        "prefix": {"hex": "7b2261", "tokens": []},
        "allowed": {"count": 27, "ids": [ord('"'), *range(ord("a"), ord("z") + 1)]},
        "eos_allowed": False,
    }


@pytest.mark.parametrize("text", ["", "{", '{"', '{"a', '{"a"', '{"a":1', '{"a":1}'])
@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
def test_ids_are_those_of_the_engine(kbnf: Kbnf, grammar: Path, text: str, finish: str) -> None:
    engine = Engine(GRAMMAR, Vocabulary.bytes(), Config(finish=finish))
    engine.try_accept_new_bytes(text.encode())
    engine.compute_allowed_token_ids()
    result = kbnf("mask", grammar, "--text", text, "--finish", finish, "--format", "ids")
    expected = engine.get_allowed_token_ids_from_last_computation()
    assert [int(line) for line in result.out.split()] == expected


@pytest.mark.parametrize(
    ("options", "hex_", "tokens_"),
    [
        ((), "", []),
        (("--text", '{"'), "7b22", []),
        (("--hex", "7B 22"), "7b22", []),
        (("--tokens", "0,5"), "7b22", [0, 5]),
        (("--tokens", "1"), "7b22", [1]),
        (("--tokens", ""), "", []),
    ],
)
def test_prefix(
    kbnf: Kbnf, grammar: Path, tokens: Path, options: tuple[str, ...], hex_: str, tokens_: list[int]
) -> None:
    result = kbnf("mask", grammar, "--vocab", tokens, *options, "--format", "json")
    assert json.loads(result.out)["prefix"] == {"hex": hex_, "tokens": tokens_}


def test_finished(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("mask", grammar, "--text", '{"a":1}', "--format", "json")
    value = json.loads(result.out)
    assert (result.status, value["status"]) == (0, "finished")
    assert value["allowed"] == {"count": 0, "ids": []}


def test_eos(kbnf: Kbnf, grammar: Path) -> None:
    options = ("--text", '{"a":1}', "--finish", "eos", "--format", "json")
    value = json.loads(kbnf("mask", grammar, *options).out)
    assert (value["status"], value["eos_allowed"]) == ("ongoing", True)
    assert value["allowed"]["ids"] == [256]


def test_several_eos(kbnf: Kbnf, grammar: Path, tokens: Path) -> None:
    options = ("--vocab", tokens, "--text", '{"a":1}', "--finish", "eos", "--format", "json")
    value = json.loads(kbnf("mask", grammar, *options, "--eos", "20", "--eos", "2").out)
    assert value["allowed"]["ids"] == [2, 20]


def test_npy(kbnf: Kbnf, grammar: Path) -> None:
    flags = np.load(io.BytesIO(kbnf("mask", grammar, "--format", "npy").stdout))
    assert flags.dtype == np.bool_
    assert flags.shape == (257,)
    assert flags.nonzero()[0].tolist() == [ord("{")]


def test_table(kbnf: Kbnf, grammar: Path, tokens: Path) -> None:
    result = kbnf("mask", grammar, "--vocab", tokens, "--text", '{"a":1')
    assert result.out == (
        "vocabulary  tokens.json (11 ids)\n"
        'prefix      "{\\"a\\":1" (6 bytes)\n'
        "status      ongoing\n"
        "allowed     2 of 9 tokens\n"
        "end         cannot end here\n"
        "\n"
        '       8  "1"\n'
        '       9  "}"\n'
    )


def test_table_gives_an_overview_of_many(kbnf: Kbnf, grammar: Path) -> None:
    out = kbnf("mask", grammar, "--text", '{"', "--limit", "3").out
    assert 'start > pair, at pairs.kbnf:2:14 #"[a-z]+"\n      26  97 "a", 98 "b", ' in out
    assert out.endswith("--limit 26 does, --match TEXT searches\n")
    assert max(map(len, out.splitlines())) <= 100
    assert '      97  "a"\n' in kbnf("mask", grammar, "--text", '{"', "--limit", "26").out


def test_the_places_where_tokens_begin(kbnf: Kbnf, write: Write) -> None:
    grammar = write(
        "two.kbnf",
        'start ::= key | value | "-" value;\nkey ::= #"[a-m]+" "=";\nvalue ::= #"[h-z]+" ".";\n',
    )
    lines = kbnf("mask", grammar, "--limit", "1").out.splitlines()[6:]
    key, value = (
        'start > key, at two.kbnf:2:9 #"[a-m]+"',
        'start > value, at two.kbnf:3:11 #"[h-z]+"',
    )
    assert lines[0] == value
    assert lines[1].startswith('      13  110 "n", 111 "o", 112 "p", ')
    assert lines[2] == key
    assert lines[3].startswith('       7  97 "a", 98 "b", 99 "c", ')
    assert lines[4:6] == [key, value]
    assert lines[6].startswith('       6  104 "h", ')
    assert lines[7:9] == ['start, at two.kbnf:1:25 "-"', '       1  45 "-"']


def test_an_overview_is_shorter_than_what_it_sums_up(kbnf: Kbnf, write: Write) -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    rules = "".join(f"{each} ::= '{each}' #'[x{each}]';\n" for each in letters)
    many = write("many.kbnf", f"start ::= {' | '.join(letters)};\n{rules}")
    lines = kbnf("mask", many, "--limit", "1").out.splitlines()[6:-2]
    assert len(lines) <= 22
    assert lines[-2] == "elsewhere, in 42 more groups of places"
    assert lines[-1].startswith('      42  75 "K", ')
    words = " | ".join(f"'a{each}'" for each in letters)
    alike = write("alike.kbnf", f"(* kbnf: finish=eos *)\nstart ::= {words};\n")
    lines = kbnf("mask", alike, "--limit", "0").out.splitlines()[6:-2]
    assert lines[8:] == ["... and 44 more places", '       1  97 "a"']


def test_a_class_of_tokens_is_one_line_of_the_overview(kbnf: Kbnf, write: Write) -> None:
    tokens = write("v.json", json.dumps({number: f"w{number}" for number in range(3_000)}))
    grammar = write("any.bnf", "<start>::=<x>\n<x>::=<any!>|<any!><x>\n")
    lines = kbnf("mask", grammar, "--vocab", tokens).out.splitlines()
    assert lines[3] == "allowed     3,000 of 3,000 tokens: all of them"
    assert lines[6].startswith("start > x > any!, at any.bnf:2:7 <any!>")
    assert lines[7].startswith('   3,000  0 "w0", 1 "w1", ')
    assert len(lines) == 10


def test_the_smaller_side_is_told(kbnf: Kbnf, write: Write) -> None:
    tokens = write("v.json", '{"0": "a", "1": "b", "2": "c", "3": "d", "4": "e", "5": ""}')

    def shown(letters: str, *options: str) -> str:
        grammar = write("w.kbnf", f'(* kbnf: finish=eos *) start ::= #"[{letters}]+";')
        return kbnf("mask", grammar, "--vocab", tokens, "--eos", "5", *options).out

    out = shown("a-e")
    assert "allowed     5 of 6 tokens: all but 1 special token\n" in out
    assert "not allowed" not in out
    assert "allowed     6 of 6 tokens: all of them\n" in shown("a-e", "--text", "a")
    out = shown("a-d")
    assert "allowed     4 of 6 tokens: all but 1 special token and 1 other\n" in out
    assert 'not allowed\n       1  4 "e"\n' in out
    assert "allowed     2 of 6 tokens\n" in shown("ab")


def test_match_searches(kbnf: Kbnf, grammar: Path, tokens: Path) -> None:
    result = kbnf("mask", grammar, "--text", '{"', "--match", "a")
    assert 'match       "a": 1 allowed, 0 not allowed\n\n      97  "a"\n' in result.out
    result = kbnf("mask", grammar, "--text", '{"', "--match", "A")
    assert '0 allowed, 1 not allowed\n\nnot allowed\n      65  "A"\n' in result.out
    assert kbnf("mask", grammar, "--text", '{"', "--match", "a", "--format", "ids").out == "97\n"
    assert kbnf("mask", grammar, "--match", "a", "--format", "json").status == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            ("--text", '{"a?'),
            {"token_index": None, "byte_offset": 3, "path": ["start", "pair"]},
        ),
        (("--hex", "ff"), {"token_index": None, "byte_offset": 0, "path": ["start"]}),
        (("--tokens", "1,3,4"), {"token_index": 2, "byte_offset": 3, "path": ["start", "pair"]}),
        (("--tokens", "1,3,6,8,10"), {"token_index": 4, "byte_offset": 7, "path": []}),
        (("--tokens", "1,3,6,8,9,9"), {"token_index": 5, "byte_offset": 7, "path": []}),
    ],
)
def test_rejected_prefix(
    kbnf: Kbnf, grammar: Path, tokens: Path, options: tuple[str, ...], error: dict[str, object]
) -> None:
    result = kbnf("mask", grammar, "--vocab", tokens, *options, "--format", "json")
    value = json.loads(result.out)
    assert result.status == 1
    assert set(value) == {"schema", "status", "error"}
    assert (value["schema"], value["status"]) == ("kbnf.mask/1", "rejected")
    assert set(value["error"]) == {"message", "token_index", "byte_offset", "expected", "path"}
    assert {key: value["error"][key] for key in error} == error


def test_rejected_prefix_in_words(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("mask", grammar, "--text", '{"a?')
    assert (result.status, result.out) == (1, "")
    assert result.stderr == (
        "error: the prefix is rejected: byte 3 ('?', 0x3f) is not expected here\n"
        '  accepted  "{\\"a" (3 bytes)\n'
        '  refused   "?" (0x3f)\n'
        '  expected  "\\"", "a"-"z"\n'
        '  in        start > pair, at pairs.kbnf:2:14 #"[a-z]+"\n'
        "  in        start > pair, at pairs.kbnf:2:24 '\":'\n"
    )


def test_expected_bytes(kbnf: Kbnf, grammar: Path) -> None:
    value = json.loads(kbnf("mask", grammar, "--text", '{"a?', "--format", "json").out)
    assert value["error"]["expected"] == {"bytes": [[34, 34], [97, 122]], "text": '"\\"", "a"-"z"'}


@pytest.mark.parametrize(
    ("why", "line"),
    [
        ("0", 'token 0 "{" is allowed: '),
        ("3", 'token 3 "a" is not allowed: byte 0'),
        ("20", "special token 20 end of sequence is not allowed: "),
        ('{"a', '"{\\"a" is allowed: '),
        ("text:1", '"1" is not allowed: byte 0'),
    ],
)
def test_why(kbnf: Kbnf, grammar: Path, tokens: Path, why: str, line: str) -> None:
    result = kbnf("mask", grammar, "--vocab", tokens, "--eos", "20", "--why", why)
    assert result.status == 0
    assert result.out.startswith(line)


def test_why_of_a_text_that_names_a_special_token(kbnf: Kbnf, write: Write) -> None:
    ids = {chr(byte): byte for byte in range(128)}
    added = [{"id": 128, "content": "</s>", "special": True}]
    value = {"model": {"type": "BPE", "vocab": ids, "merges": []}, "added_tokens": added}
    vocabulary = write("v.json", json.dumps(value))
    grammar = write("s.kbnf", '(* kbnf: finish=eos *) start ::= #"[^\\"]+";')
    asked = ("mask", grammar, "--vocab", vocabulary, "--eos", "128", "--why")
    shown = kbnf(*asked, "</s>").out
    assert shown.startswith('text "</s>" is allowed: ')
    assert "special token 128 </s> is not allowed: the text is not complete here" in shown
    assert "special" not in kbnf(*asked, "text:</s>").out
    value = checked("mask", kbnf(*asked, "</s>", "--format", "json").out)
    assert (value["why"]["allowed"], value["why_special_token"]["allowed"]) == (True, False)


def test_why_as_json(kbnf: Kbnf, grammar: Path) -> None:
    value = json.loads(kbnf("mask", grammar, "--why", "{x", "--format", "json").out)
    why = value["why"]
    assert value["allowed"]["ids"] == [ord("{")]
    assert (why["allowed"], why["token"], why["hex"], why["accepted"]) == (False, None, "7b78", 1)
    assert why["expected"]["bytes"] == [[34, 34]]
    assert why["places"][0]["path"] == ["start", "pair"]


def test_broken_grammar_is_a_finding(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("mask", write("a.kbnf", "start ::= b;"), "--format", "json")
    assert (result.status, result.out) == (1, "")
    assert result.stderr.startswith("error[E101]: ")
    assert " --> a.kbnf:1:11\n" in result.stderr


def test_grammar_from_stdin(kbnf: Kbnf) -> None:
    result = kbnf("mask", "-", "--format", "ids", stdin=b"start ::= 'a';")
    assert result.out == "97\n"


def test_start(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("mask", grammar, "--start", "pair", "--format", "ids")
    assert result.out == "34\n"


def test_settings_name_the_vocabulary(
    kbnf: Kbnf, grammar: Path, tokens: Path, write: Write
) -> None:
    write("kbnf.toml", f'vocab = "{tokens}"\neos = [7]')
    found = json.loads(kbnf("mask", grammar, "--format", "json").out)
    assert found["allowed"]["ids"] == [0, 1]
    isolated = json.loads(kbnf("mask", grammar, "--isolated", "--format", "json").out)
    assert isolated["vocabulary"]["name"] == "bytes"
    given = json.loads(kbnf("mask", grammar, "--vocab", "bytes", "--format", "json").out)
    assert given["vocabulary"]["name"] == "bytes"


def test_what_a_text_says_of_tokens_is_about_the_vocabulary(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("tokens.json", json.dumps({0: "ar", 1: "card", 2: "x", 3: "c"}))
    grammar = write("any.bnf", "<start>::=<except!('ar')>'x'\n")
    result = kbnf("mask", grammar, "--vocab", vocabulary, "--format", "ids", "--text", "c")
    assert "W405" not in result.stderr
    assert result.out.split() == ["2"]


_INTEGER = """{
  "properties": {
    "a": {"type": "integer"}
  },
  "required": ["a"]
}"""
_TAG = """{"type": "structural_tag",
 "format": {"type": "json_schema", "json_schema": {"type": "boolean"}}}"""


@pytest.mark.parametrize(
    ("name", "text", "after", "place", "pointer"),
    [
        ("a.json", _INTEGER, '{"a": ', "start > a > integer, at a.json:3:5", "/properties/a"),
        ("a.json", _INTEGER, "", "start, at a.json:1:1", ""),
        ("a.structural_tag", _TAG, "", "at a.structural_tag:2:36", "/format/json_schema"),
    ],
)
def test_why_names_the_schema_in_a_text_of_json(
    kbnf: Kbnf, write: Write, name: str, text: str, after: str, place: str, pointer: str
) -> None:
    grammar = write(name, text)
    arguments = ("mask", grammar, *(["--text", after] if after else []), "--why", "x")
    assert f"{place} {pointer or '(root)'}\n" in kbnf(*arguments).out
    value = checked("mask", kbnf(*arguments, "--format", "json").out)
    assert pointer in [each["pointer"] for each in value["why"]["places"]]
