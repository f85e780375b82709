"""Grammars written as LLGuidance's Lark keep their texts there, and read well."""

from pathlib import Path
from random import Random

import pytest

from kbnf_core.convert import Conversion, to_lark
from kbnf_core.text.errors import GrammarError
from kbnf_testing.generate import Features, GrammarMaker
from kbnf_testing.lark_peers import all_texts, llguidance_accepts
from kbnf_testing.lark_subject import accepts_of
from kbnf_testing.lark_texts import all_near
from kbnf_testing.printer import to_kbnf

OWN = sorted((Path(__file__).resolve().parents[2] / "grammars").glob("*.kbnf"))

KBNF = [
    ("start ::= 'if' #'[a-z]+' ';' | 'i' 'f' 'x';", "ifx;", 5),
    ("start ::= #'a*b' start | 'ab' | 'b'{2,3};", "ab", 6),
    ("start ::= 'a' start 'b' | 'ab' | ['c'] {'d'} 'e';", "abcde", 4),
    ("start ::= x x; x ::= #'[ab]+' | 'é';", "abé", 4),
    ("start ::= #e'a+b' #substrs'abc' '.';", "abc.", 5),
    ("start ::= Start start_; Start ::= 'a'; start_ ::= 'b/' | '$' | '^';", "ab/$^", 4),
    ("start ::= #'a*' 'b'? x; x ::= #'b?' 'a';", "ab", 6),
    ("start ::= x+; x ::= y | y 'b'; y ::= 'a' | 'ab';", "ab", 6),
    ("start ::= a a; a ::= 'x' b | c; b ::= #'[0-9]+'; c ::= b '.' b;", "x1.", 6),
]


@pytest.mark.parametrize(("grammar", "alphabet", "length"), KBNF)
def test_all_short_texts_agree(grammar: str, alphabet: str, length: int) -> None:
    text = f"(* kbnf: finish=eos *) {grammar}"
    conversion = to_lark(text)
    assert conversion.exact
    ours, peer = accepts_of(text), llguidance_accepts(conversion.text)
    assert [t for t in all_texts(alphabet, length) if ours(t) != peer(t)] == []


@pytest.mark.parametrize("seed", range(30))
def test_random_grammars_keep_their_texts(seed: int) -> None:
    maker = GrammarMaker(Random(seed), Features(tokens=False, raw_bytes=False))
    text = "(* kbnf: finish=eos *)\n" + to_kbnf(maker.grammar())
    try:
        conversion = to_lark(text)
    except GrammarError:
        return
    assert differing(text, conversion, seed) == []


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.stem))
def test_own_grammars_keep_their_texts(path: Path) -> None:
    text = "(* kbnf: finish=eos *)\n" + path.read_text("utf-8")
    conversion = to_lark(text)
    found = differing(text, conversion, seed=3)
    if path.stem == "reasoned_answer":
        # Anything but a tag, counted byte by byte up to 4,000, is any text: no member is lost.
        assert "W404" in {loss.code for loss in conversion.losses}
        found = [each for each in found if accepts_of(text)(each)]
    assert found == []


def differing(text: str, conversion: Conversion, seed: int) -> list[str]:
    """Return members and near misses that only one of the two takes."""
    ours, peer = accepts_of(text), llguidance_accepts(conversion.text)
    return [t for t in all_near(text, seed, count=8, misses=4) if ours(t) != peer(t)]


def test_regular_rules_are_terminals() -> None:
    grammar = r"""
        start ::= object;
        object ::= '{' ws (pair (',' ws pair)*)? '}' ws;
        pair ::= string ws ':' ws (object | string ws | number ws);
        string ::= '"' character* '"';
        character ::= #'[^"\\\\]' | '\\' #'["/n]';
        number ::= '-'? #'[0-9]+';
        ws ::= #'[ \n]*';
    """
    expected = r"""%llguidance {}
start: object
object: "{" WS (pair ("," WS pair)*)? "}" WS
pair: STRING WS ":" WS (object | STRING WS | NUMBER WS)
WS: /[\n ]*/
STRING: "\"" CHARACTER* "\""
NUMBER: "-"? /[0-9]+/
CHARACTER: /[^"\\]/ | "\\" /["\/n]/
"""
    assert to_lark(grammar).text == expected


def test_what_could_be_cut_wrongly_is_written_in_characters() -> None:
    grammar = "start ::= word 'b'; word ::= #'[ab]+';"
    assert to_lark(grammar).text == (
        '%llguidance {}\nstart: word "b"\nword: chars\nchars: /[ab]/ chars_2\n'
        'chars_2: "" | /[ab]/ chars_2\n'
    )
