"""Texts in which something occurs nowhere: by regular expression, and by words with a bound."""

from dataclasses import replace
from itertools import product

import pytest

from kbnf_core.automata import operations as op
from kbnf_core.automata.avoid import avoid_literals, avoid_regex
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS

TABLE = [
    ("AB", [b"A", b"B", b"BA", b"\xff\x00", "é".encode()], [b"", b"AB", b"ABC", b"CAB"]),
    ("AA?", [b"B"], [b"A", b"BA"]),
    ("[^a]", [b"a", b"aa", b"\xc3", b"\xc3a\xa9"], [b"b", b"ab", "é".encode(), "aé".encode()]),
    ("", [], [b"", b"a", b"\xff"]),
    ("A*", [], [b"", b"a"]),
    ("$", [], [b"a"]),
    ("^AB", [b"A", b"CAB", b"BAB", b"AAB", b"\nAB"], [b"", b"AB", b"ABC"]),
    (r"\AAB", [b"CAB"], [b"AB"]),
    ("AB$", [b"A", b"BA"], [b"AB", b"ABC"]),
    ("(?m)^AB", [b"CAB", b"A\nA"], [b"AB", b"C\nAB"]),
    ("(?m)^$", [b"a", b"ab"], [b"\n", b"a\n\n", b"a\n"]),
    (r"(?-u:\bAB)", [b"CAB", b"_AB"], [b"AB", b"C AB", "éAB".encode(), b"\xffAB"]),
    (r"(?-u:\b)", [b"!", b"! \xff"], [b"a", b"!a"]),
    (r"(?-u:A\BB)", [b"A!B", b"AC"], [b"AB", b" AB"]),
    (r"(?s)\A.", [b"\x80", b"\x80a", b"\xc3a"], [b"a", b"ab", "é".encode()]),
    ("é", [b"\xc3", b"\xa9", b"\xc3\xc3", b"e"], ["é".encode(), b"\xc3" + "é".encode()]),
    ("a&&b", [b"a&", b"&&b"], [b"a&&b"]),
    (r"[a&&b]", [b"a", b"\xff"], [b""]),
]


@pytest.mark.parametrize(("pattern", "accepted", "rejected"), TABLE, ids=[row[0] for row in TABLE])
def test_avoid_regex(pattern: str, accepted: list[bytes], rejected: list[bytes]) -> None:
    automaton = avoid_regex(pattern).dfa
    assert automaton is not None
    for word in accepted:
        assert automaton.accepts(word), word
    for word in rejected:
        assert not automaton.accepts(word), word


def test_avoid_regex_reports_problems() -> None:
    assert [problem.code for problem in avoid_regex("(").problems] == ["E201"]
    assert [problem.code for problem in avoid_regex("(a|b)*a(a|b){25}").problems] == ["E203"]


EXCLUDED = [
    [b"a"],
    [b"ab"],
    [b"aa", b"b"],
    [b"aba", b"bb"],
    [b"abab", b"ba"],
    [b"aab", b"ab"],
    [b"bbbbbb"],
    [b"a", b"a", b"aa"],
]


@pytest.mark.parametrize("words", EXCLUDED)
@pytest.mark.parametrize("limit", range(9))
def test_avoid_literals(words: list[bytes], limit: int) -> None:
    automaton = avoid_literals(words, limit)
    for length in range(8):
        for letters in product(b"abc", repeat=length):
            text = bytes(letters)
            allowed = 1 <= length <= (limit or length) and not any(word in text for word in words)
            assert automaton.accepts(text) == allowed, text


@pytest.mark.parametrize("words", EXCLUDED)
@pytest.mark.parametrize("limit", [0, 1, 2, 5, 9, 30])
def test_avoid_literals_is_minimal(words: list[bytes], limit: int) -> None:
    automaton = avoid_literals(words, limit)
    # An intersection is minimised: with itself it shows the smallest size.
    assert automaton.state_count == op.intersect(automaton, automaton).state_count


def test_avoid_literals_without_a_free_byte() -> None:
    every = [bytes([byte]) for byte in range(256)]
    assert avoid_literals(every, 0).is_empty
    assert avoid_literals(every, 7).is_empty
    only_ff = avoid_literals([*every[:255], b"\xff\xff"], 7)
    assert op.is_equal(only_ff, op.literal(b"\xff"))


def test_avoid_literals_of_the_empty_word_is_empty() -> None:
    assert avoid_literals([b"", b"a"], 0).is_empty


def test_the_longest_limit() -> None:
    automaton = avoid_literals([b"\n\n"], 65_535)
    assert automaton.state_count == 2 * 65_535
    assert automaton.accepts(b"x\n" * 32_767 + b"x")
    assert not automaton.accepts(b"x\n" * 32_768)
    assert not automaton.accepts(b"x\n\n")


def test_too_many_states() -> None:
    limits = replace(DEFAULT_LIMITS, grammar_states=1_000)
    with pytest.raises(LimitError, match="more than 1000 states"):
        avoid_literals([b"ab"], 65_535, limits)
