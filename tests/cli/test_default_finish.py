"""``finish`` and ``start`` of a project: option, then pragma, then configuration, then eager."""

import json

import pytest

from kbnf_core import Engine, Vocabulary, load_artifact
from kbnf_core.config import Finish
from kbnf_testing.command import Kbnf, Write

_GRAMMAR = "number ::= #'[0-9]{1,8}';\n"
_SETTINGS = 'finish = "eos"\nstart = "number"\n'


@pytest.mark.parametrize(
    ("pragma", "options", "status"),
    [
        ("", (), 0),
        ("", ("--finish", "eager"), 1),
        ("", ("--isolated", "--start", "number"), 1),
        ("(* kbnf: finish=eager *)\n", (), 1),
        ("(* kbnf: finish=eager *)\n", ("--finish", "eos"), 0),
    ],
)
def test_what_wins(
    kbnf: Kbnf, write: Write, pragma: str, options: tuple[str, ...], status: int
) -> None:
    write("kbnf.toml", _SETTINGS)
    grammar = write("a.kbnf", pragma + _GRAMMAR)
    assert kbnf("mask", grammar, "--text", "12", *options).status == status


def test_check_says_so_and_mends_it(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", _SETTINGS)
    grammar = write("a.kbnf", _GRAMMAR)
    asked = ("check", "--extend-select", "I309")
    found = json.loads(kbnf(*asked, "--format", "json", grammar).out)["diagnostics"]
    assert [each["code"] for each in found] == ["I309"]
    assert kbnf("check", "--fix", "--fail-on", "info", grammar).status == 0
    assert grammar.read_text() == _GRAMMAR, "what is set once is not to be written again"
    kbnf(*asked, "--fix", grammar)
    assert grammar.read_text() == f"(* kbnf: finish=eos *)\n{_GRAMMAR}"
    assert kbnf("check", "--fail-on", "info", grammar).status == 0


def test_artifacts_and_plays_have_it(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", _SETTINGS)
    grammar = write("a.kbnf", _GRAMMAR)
    assert kbnf("compile", grammar, "-o", "a.kbnfc").status == 0
    assert load_artifact("a.kbnfc").finish is Finish.EOS
    assert kbnf("play", grammar, "-c", ":text 12").status == 0
    assert Engine(f"start ::= number; {_GRAMMAR}", Vocabulary.bytes()).finish is Finish.EAGER


@pytest.mark.parametrize("line", ['finish = "late"', "finish = 1", 'start = ""'])
def test_impossible_settings(kbnf: Kbnf, write: Write, line: str) -> None:
    write("kbnf.toml", line)
    assert kbnf("check", write("a.kbnf", _GRAMMAR)).status == 2
