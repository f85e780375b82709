"""``kbnf complete``."""

import json

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.schemas import checked

LIST = '(* kbnf: finish=eos *)\nstart ::= "[" item ("," item)* "]";\nitem ::= #"[a-z]+";\n'


def test_a_cut_text_is_written_whole(kbnf: Kbnf, write: Write) -> None:
    grammar, text = write("g.kbnf", LIST), write("t.txt", "[a,b\n")
    result = kbnf("complete", grammar, text)
    assert (result.status, result.out, result.stderr) == (0, "[a,b]\n", "")


def test_a_text_that_fits_stays(kbnf: Kbnf, write: Write) -> None:
    assert kbnf("complete", write("g.kbnf", LIST), "--text", "[a]").out == "[a]\n"


def test_what_was_added_is_coloured(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("complete", write("g.kbnf", LIST), "--text", "[a", "--color", "always")
    assert result.out.startswith("[a\x1b[")


def test_a_wrong_text_is_refused_with_its_place(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("complete", write("g.kbnf", LIST), "--text", "[a;", "--text", "[")
    assert (result.status, result.out) == (1, "[a]\n")
    assert "<text>:1:3: does not fit" in result.stderr


def test_json(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", LIST)
    result = kbnf("complete", grammar, "--lines", "--format", "json", stdin=b"[a,\n;\n")
    first, second = (checked("complete", line) for line in result.out.splitlines())
    assert (first["status"], first["kept"], first["text"]) == ("cut", 3, "[a,a]")
    assert first["text"][first["kept"] :] == first["added"]
    assert (second["status"], second["error"]["position"]["line"]) == ("wrong", 2)
    assert result.status == 1


def test_tokens(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("v.json", json.dumps({"0": "[", "1": "abc", "2": "]"}))
    command = ("complete", write("g.kbnf", LIST), "--text", "[", "--vocab", vocabulary, "--tokens")
    assert kbnf(*command, "2").out == "[abc]\n"
    refused = kbnf(*command, "1")
    assert (refused.status, refused.out) == (1, "")
    assert "--tokens 1 is too small: 2 tokens are enough" in refused.stderr


@pytest.mark.parametrize("command", ["complete", "repair"])
def test_stdin_is_one_thing(kbnf: Kbnf, command: str) -> None:
    result = kbnf(command, "-", stdin=b"a")
    assert (result.status, "cannot both be read from stdin" in result.stderr) == (2, True)


def test_an_end_that_is_a_token(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("v.json", json.dumps({"0": "a", "7": "b"}))
    grammar = write("g.kbnf", '(* kbnf: finish=eos *) start ::= "a" #token[7];')
    for name in ("complete", "repair"):
        result = kbnf(name, grammar, "--text", "a", "--vocab", vocabulary)
        assert (result.status, result.out) == (1, "")
