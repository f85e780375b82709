"""Factoring across rules: which grammars it rewrites, what they become, and that texts stay."""

import os
import subprocess
import sys
from random import Random

import pytest

from kbnf_core import Grammar
from kbnf_core.convert import from_gbnf, to_gbnf
from kbnf_core.languages.gbnf import factoring
from kbnf_core.targets.judges import GrammarTexts
from kbnf_testing.membership import Language

EOS = "(* kbnf: finish=eos *)\n"

WAYS = """
start ::= word | number | sum | called | marked;
word ::= item "w";
number ::= item "n";
sum ::= item "+" start;
called ::= item ("(" start ")")+;
marked ::= item "!";
item ::= "x" | "(" start ")";
"""
"""Each bracket can be read in five ways, which only the character after it decides."""


def rules_of(text: str) -> list[str]:
    """Return the rules of the conversion, each in one line."""
    converted = to_gbnf(EOS + text)
    assert converted.exact
    return converted.text.splitlines()


def test_ways_to_begin_become_one() -> None:
    """The rules that are not called any more are left out."""
    assert rules_of(WAYS) == [
        'root ::= item ("w" | "n" | "!" | "+" root | "(" root-rest1)',
        'root-rest1 ::= root ")" ("(" root-rest1)?',
        'item ::= "x" | "(" root ")"',
    ]


@pytest.mark.parametrize("text", ["xw", "((xn)w)+xw", "x(xn)(xw)", "x+x+xn"])
def test_texts_stay(text: str) -> None:
    language = Language(from_gbnf(to_gbnf(EOS + WAYS).text).text)
    assert language.has(text)
    assert not language.has(text[:-1])
    assert not language.has(text + "x")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('s ::= t | t "+" s; t ::= "x" | "(" s ")";', 'root ::= t ("+" root)?'),
        ('s ::= t "=" t | t; t ::= "x" | "(" s ")";', 'root ::= t ("=" t)?'),
        ('s ::= a | b; a ::= t "?"; b ::= t; t ::= "x" | "(" s ")";', 'root ::= t "?"?'),
        ('s ::= t "," (t ",")* | t; t ::= "x" | "(" s ")";', 'root ::= t ("," (t ",")*)?'),
    ],
)
def test_rules_are_written_as_people_would(text: str, first: str) -> None:
    assert rules_of(text.replace("s ::=", "start ::=", 1).replace(" s", " start"))[0] == first


@pytest.mark.parametrize(
    "text",
    [
        'start ::= item "a" | item "b"; item ::= "x" list; list ::= "," list | "y";',
        'start ::= "[" (start ("," start)*)? "]" | "x";',
        'start ::= a | b; a ::= "(" a ")" | "x"; b ::= "[" b "]" | "y";',
    ],
)
def test_others_keep_their_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No rule that contains itself begins in two ways."""
    before = rules_of(text)
    monkeypatch.setattr(factoring, "MOST_STEPS", 0)
    assert rules_of(text) == before


NESTED = (
    "start ::= a 'x' | b 'y'; a ::= '(' a ')' | c; b ::= '(' b ']' | c; c ::= '<' start '>' | '0';"
)
"""The two calls differ in their ends only, and what is behind them grows with each bracket."""


def test_rules_that_nest_without_a_bound_stay() -> None:
    assert rules_of(NESTED)[0] == 'root ::= a "x" | b "y"'


@pytest.mark.parametrize("limit", ["MOST_STATES", "MOST_PENDING", "MOST_STEPS"])
def test_limits_keep_a_rule(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factoring, limit, 1)
    assert rules_of(WAYS)[0] == "root ::= word | number | sum | called | marked"


def test_text_does_not_depend_on_hashes() -> None:
    """Processes with other hashes of texts iterate over sets in another order."""
    program = "import sys; from kbnf_core.convert import to_gbnf; print(to_gbnf(sys.argv[1]).text)"
    command = [sys.executable, "-c", program, EOS + WAYS + NESTED.replace("start", "other")]
    printed = {
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
    assert "root-rest1" in printed.pop()


@pytest.mark.parametrize("seed", range(4))
def test_drawn_texts_stay(seed: int) -> None:
    before, after = Grammar(EOS + WAYS), Grammar.from_gbnf(to_gbnf(EOS + WAYS).text)
    for one, other in ((before, after), (after, before)):
        language = GrammarTexts(other)
        assert all(
            language.has(text) for text in GrammarTexts(one).drawn((8, 16, 32), Random(seed))
        )
