"""Every example in the documentation of the seed KBNF (crate ``kbnf`` 0.1 and 0.2).

The grammars and, for the examples of the programming interface, the logits are those of its
``lib.rs``. Where its prose describes a language without any finite text ("an infinite sequence"),
generation goes on for ever.
"""

import re

import numpy as np
import pytest

from kbnf_core import AcceptTokenResult, Engine, Vocabulary
from kbnf_core.mask.completion import Completion
from kbnf_testing.corpus import BYTE_TOKENS
from kbnf_testing.subject import engine_of, offer_bytes
from kbnf_testing.walk import ACCEPTED, Outcome

_INF = float("inf")

# Grammar, texts that finish exactly at their last byte, and texts that are refused somewhere.
_DOCUMENTED = [
    ('(*In KBNF,this is a comment.*)\nstart ::= "A"; (* Defines. *)\n(*exactly*)', ["A"], ["B"]),
    ('start ::= "A";\nstart ::= "B";\n(*either*)', ["A", "B"], ["C"]),
    ('start ::= _0A9; _0A9 ::= "x";', ["x"], ["y"]),
    ("start ::= \"\\t\\n\\r\\\"\\'\\\\\" '\\t\\n\\r\\\"\\'\\\\';", ["\t\n\r\"'\\" * 2], ["t"]),
    ('start ::= "A" "B";', ["AB"], ["AA"]),
    ('start ::= "A" | "B";', ["A", "B"], ["C"]),
    ('start ::= ("A"|"B") "C";', ["AC", "BC"], ["C", "AB"]),
    ('start ::= "A" "C";\nstart ::= "B" "C";', ["AC", "BC"], ["C", "AB"]),
    ('start ::= "A" ["B"];', ["A"], ["AB"]),
    ('start ::= "A";\nstart ::= "A" "B";', ["A"], ["AB"]),
    ('start ::= "A"? "B";', ["B", "AB"], ["AA"]),
    ('start ::= ("{"start"}")?;', ["{}", "{{}}", "{{{}}}"], ["}", "{}{}"]),
    ('start ::= "A"{"A"};', ["A"], ["AA", "B"]),
    ('start ::= {"A"|"C"} "B";', ["B", "AB", "CACAB"], ["BB", "AD"]),
    ('start ::= "A"* "B";', ["B", "AB", "AAAB"], ["C"]),
    ('start ::= ("A"|"B")+ "C";', ["AC", "BABC"], ["C"]),
    ('start ::= #".+A";', ["xA", "你A", "AA"], ["\nA", "xAA"]),
    ('start ::= #".+" "A";', ["xA", "你A", "AA"], ["\nA", "xAA"]),
    ("start ::= except!('\\n\\n')'\\n\\n';", ["a\n\n", "\n\n\n", "a\nb\n\n"], ["a\n\n\n"]),
    ('start ::= #".*\\n\\n";', ["\n\n", "ab\n\n"], ["\n\n\n", "a\nb"]),
    ('start ::= except!(C)C;\nC ::= "A"|"B";', ["xA", "xyB"], ["A", "B", "xAA"]),
    ("start ::= except!('\\n\\n',50)'\\n\\n';", ["a" * 50 + "\n\n"], ["a" * 51]),
]


@pytest.mark.parametrize(("grammar", "texts", "others"), _DOCUMENTED, ids=repr)
def test_documented_grammar(grammar: str, texts: list[str], others: list[str]) -> None:
    for text in texts:
        *before, last = _offered(grammar, text)
        assert set(before) <= {Outcome.ONGOING}, text
        assert last is Outcome.FINISHED, text
    for text in others:
        assert not ACCEPTED.issuperset(_offered(grammar, text)), text


def _offered(grammar: str, text: str) -> list[Outcome]:
    engine = engine_of(grammar, BYTE_TOKENS, "eager")
    return [offer_bytes(engine, bytes([value])) for value in text.encode()]


@pytest.mark.parametrize(
    "grammar", ['start ::= "A" start;', 'start ::= "A" start | "B" start;'], ids=repr
)
def test_documented_infinite_sequence_goes_on_for_ever(grammar: str) -> None:
    letters = re.findall('"(.)"', grammar)
    engine = engine_of(grammar, BYTE_TOKENS, "eager")
    for letter in letters * 2:
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        assert allowed == [ord(each) for each in letters]
        assert engine.try_accept_new_token(ord(letter)) is AcceptTokenResult.Ongoing
    assert engine.shortest_completion() == Completion(None, None)


_LINE_ENDS = "\nstart ::= except!('\\n\\n')'\\n\\n';\n"
_LINE_END_TOKENS = {1: b"a", 2: b"hello", 4: b"\n", 5: b"\n\n"}


def _line_end_engine() -> Engine:
    return Engine(_LINE_ENDS, Vocabulary(_LINE_END_TOKENS))


def _zeros() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.zeros(6, np.float32)


def test_crate_example() -> None:
    strings = {1: "你好", 2: "hello", 3: "250", 4: "\n", 5: "\n\n"}
    tokens = {token_id: text.encode() for token_id, text in strings.items()} | {3: bytes([250])}
    engine = Engine("\nstart ::= \"你好\"except!('\\n\\n')'\\n\\n';\n", Vocabulary(tokens, strings))
    token = 1
    for given, masked in [
        ([0, 0, 0, 1, 0, 0], [-_INF, 0, 0, 1, 0, 0]),
        ([0, 0, 0, 0, 1, 0], [-_INF, 0, 0, 0, 1, 0]),
        ([0, 1, 0, 0, 0, 0], [-_INF, 1, 0, 0, 0, -_INF]),
        ([0, 0, 0, 0, 0, 1], [-_INF, 0, 0, 0, 0, 1]),
    ]:
        logits, result = engine.update_logits(token, np.array(given, np.float32))
        assert result is AcceptTokenResult.Ongoing
        assert logits.tolist() == masked
        token = int(logits.argmax())
    logits, result = engine.update_logits(token, _zeros())
    assert result is AcceptTokenResult.Finished
    assert logits.tolist() == [0, 0, 0, 0, 0, 0]


def test_initially_allowed_token_ids() -> None:
    engine = _line_end_engine()
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation() == [1, 2, 4, 5]
    assert engine.mask_logits(_zeros()).tolist() == [-_INF, 0, 0, -_INF, 0, 0]


def test_update_with_some_prompts() -> None:
    engine = _line_end_engine()
    engine.try_accept_new_token(2)
    engine.try_accept_new_token(2)
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation() == [1, 2, 4, 5]
    assert engine.mask_logits(_zeros()).tolist() == [-_INF, 0, 0, -_INF, 0, 0]


def test_reuse_for_multiple_generations() -> None:
    engine = _line_end_engine()
    engine.try_accept_new_token(2)
    engine.try_accept_new_token(5)
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation() == []
    engine.reset()
    logits, result = engine.update_logits(2, _zeros())
    assert result is AcceptTokenResult.Ongoing
    assert logits.tolist() == [-_INF, 0, 0, -_INF, 0, 0]
