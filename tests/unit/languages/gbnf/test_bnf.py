"""The dialect of bnf_sampler: the examples of the specification, real files, losses."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import AcceptTokenResult, Engine, Grammar, GrammarError, Vocabulary, check
from kbnf_core.convert import from_bnf
from kbnf_core.kbnf.tree import Concatenation, Reference, Terminal
from kbnf_core.languages import BNF
from kbnf_core.text.errors import EngineError
from kbnf_testing.data import DATA, SPEC

EXAMPLES = [
    json.loads(line) for line in (SPEC / "examples-bnf.jsonl").read_text("utf-8").splitlines()
]
REFUSED = [example for example in EXAMPLES if "create_error" in example["expect"]]
EMPTY = [e for e in EXAMPLES if e not in REFUSED and not e["expect"]["initial"]]
USABLE = [e for e in EXAMPLES if e not in REFUSED and e not in EMPTY]


def vocabulary_of(example: dict[str, Any]) -> Vocabulary:
    return Vocabulary({int(key): text.encode("latin-1") for key, text in example["vocab"].items()})


def allowed(engine: Engine) -> list[int]:
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


@pytest.mark.parametrize("example", USABLE, ids=lambda example: example["note"][:40])
def test_example(example: dict[str, Any]) -> None:
    """The tokens that bnf_sampler lists are allowed, and accepting decides as it does.

    A text of `<any!>` is one token there and may be several here, so more may be allowed.
    """
    seen = set(example["expect"]["initial"]) - OVERLOOKED.get(example["grammar"], set())
    vocabulary = vocabulary_of(example)
    conversion = from_bnf(example["grammar"], start=example["start"], vocabulary=vocabulary)
    assert conversion.exact
    takes_tokens = "any!" in example["grammar"] or "except!" in example["grammar"]
    engine = Engine(conversion.text, vocabulary)
    assert seen <= set(allowed(engine))
    assert takes_tokens or sorted(seen) == allowed(engine)
    for step in example["expect"]["steps"]:
        try:
            accepted = engine.try_accept_new_token(step["token"])
        except EngineError:
            assert step["result"] == "Rejected"
            continue
        assert accepted is RESULTS[step["result"]]
        if accepted is AcceptTokenResult.Ongoing:
            assert set(step["allowed"]) <= set(allowed(engine))
            assert takes_tokens or step["allowed"] == allowed(engine)


OVERLOOKED = {"<start>::=<except!('aab')>'b'": {21}}
"""Tokens that bnf_sampler allows by mistake: its search does not see `aab` in `aaab`."""

RESULTS = {"Continue": AcceptTokenResult.Ongoing, "End": AcceptTokenResult.Finished}


@pytest.mark.parametrize("example", REFUSED + EMPTY, ids=lambda example: example["note"][:40])
def test_refused_example(example: dict[str, Any]) -> None:
    with pytest.raises(GrammarError):
        from_bnf(example["grammar"], start=example["start"])


def test_excluded_names_are_renamed() -> None:
    text = from_bnf("<start>::=<except!([my rule])>'x'\n<my rule>::='ar'").text
    assert "except!(my_rule)" in text
    assert [each.code for each in check(text) if each.code[0] == "E"] == []


@pytest.mark.parametrize("path", sorted((DATA / "bnf").glob("*.bnf")), ids=str)
def test_real_file(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [finding.code for finding in check(text, str(path)) if finding.code[0] == "E"] == []
    converted = from_bnf(text)
    assert [finding.code for finding in check(converted.text) if finding.code[0] == "E"] == []
    assert converted.exact == ("except!" not in text)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("<start>::='a'\n<x>::=", "E011", 2),
        ("<start>::='a\n", "E004", 1),
        ("<start>::=\n'\\xg1'", "E007", 2),
        ("<start>::='a'\n# comment", "E001", 2),
        ("<start>::=<nope>", "E101", 1),
        ("<x>::='a'", "E102", 1),
        ("", "E010", 1),
        ("<start>::='\\ud800'", "E007", 1),
        ("<start>::='\\uDFFF'", "E007", 1),
    ],
)
def test_mistake(text: str, code: str, line: int) -> None:
    with pytest.raises(GrammarError) as refusal:
        from_bnf(text)
    places = [(d.code, d.source.position(d.span.start).line) for d in refusal.value.diagnostics]
    assert (code, line) in places


def test_names_bytes_and_escapes() -> None:
    conversion = from_bnf("<start>::=<a b>'\\xff'<1>;<a b>::='it'\"'s\"\n<1>::='\\q\\u00e9'")
    assert conversion.exact
    assert conversion.text.splitlines()[-3:] == [
        "start ::= a_b #b'\\xff' r1;",
        "a_b ::= 'it' \"'s\";",
        "r1 ::= 'qé';",
    ]


def test_losses_without_a_vocabulary() -> None:
    conversion = from_bnf("<start>::=<any!><except!('ar')>'x'")
    assert [loss.code for loss in conversion.losses] == ["W405", "W405"]
    assert "except!('ar')" in conversion.text


def test_tokens_are_no_part_of_what_was_written() -> None:
    """Lints of the text do not look at them: a vocabulary has a hundred thousand."""
    vocabulary = Vocabulary({i: b"%d" % i for i in range(100)})
    reading = Grammar.read("<start>::=<any!>'x'<except!('7')>", BNF, vocabulary=vocabulary).reading
    assert len(list(reading.document.nodes())) > 150
    assert [type(node) for node in reading.document.written_nodes()] == [
        Reference,
        Terminal,
        Reference,
        Concatenation,
    ]
