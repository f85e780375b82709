"""Operations on small automata, and the shapes that the contract promises."""

from dataclasses import replace

import pytest

from kbnf_core.automata import operations as op
from kbnf_core.automata.dfa import Dfa, SymbolDfa, class_count, first_bytes, join, separate
from kbnf_core.automata.nfa import from_symbols
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.substrings import substrings
from kbnf_core.text.errors import KbnfError, LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS

SMALL = replace(DEFAULT_LIMITS, regex_states=10)


def dfa(pattern: str) -> Dfa:
    compiled = compile_regex(pattern).dfa
    assert compiled is not None
    return compiled


def test_shapes() -> None:
    automaton = op.literals([b"ab", b"ac"])
    assert len(automaton.classes) == 256
    assert len(automaton.rows) == len(automaton.accepting) == automaton.state_count
    assert {len(row) for row in automaton.rows} == {max(automaton.classes) + 1}


@pytest.mark.parametrize("data", [b"", b"a", b"abab", bytes(range(256)), b"\x00\xff"])
def test_literal(data: bytes) -> None:
    automaton = op.literal(data)
    assert automaton.accepts(data)
    assert not automaton.accepts(data + b"a")
    assert automaton.state_count == len(data) + 1
    assert op.shortest_word(automaton) == data


def test_literals_share_their_ends() -> None:
    automaton = op.literals([b"tap", b"top", b"taps", b"tops", b"tap"])
    assert automaton.state_count == 5
    assert op.literals([]).is_empty
    assert op.literals([b""]).is_nullable


def test_empty_and_nothing() -> None:
    nothing = op.empty()
    assert op.union().is_empty
    assert op.union(nothing, op.literal(b"a")).accepts(b"a")
    assert op.concatenate(op.literal(b"a"), nothing).is_empty
    assert op.concatenate().accepts(b"")
    assert op.repeat(nothing, 0, None).accepts(b"")
    assert op.repeat(nothing, 1, None).is_empty
    assert op.shortest_word(nothing) is None
    assert op.shortest_matches(nothing).is_empty
    assert op.complement(nothing).accepts(b"\xff")
    assert op.complement(op.complement(nothing)).is_empty
    assert op.is_equal(nothing, op.literals([]))


def test_repeat_keeps_its_bounds() -> None:
    automaton = op.repeat(op.literal(b"ab"), 2, 3)
    accepted = [count for count in range(6) if automaton.accepts(b"ab" * count)]
    assert accepted == [2, 3]
    assert op.repeat(op.literal(b"a"), 0, 0).state_count == 1
    assert op.repeat(op.literal(b"a"), 0, None).state_count == 1
    assert op.repeat(op.literal(b"a"), 3, None).state_count == 4


def test_shortest_matches_from_the_specification() -> None:
    assert op.is_equal(op.shortest_matches(dfa("A|AB")), op.literal(b"A"))
    assert op.is_equal(op.shortest_matches(dfa("A*")), op.literal(b"A"))
    assert op.shortest_matches(dfa("")).is_empty
    ends_with_a = op.shortest_matches(dfa(".*A"))
    assert ends_with_a.accepts("Bé\rA".encode())
    assert not ends_with_a.accepts(b"AA")


def test_shortest_word_is_the_first_in_byte_order() -> None:
    assert op.shortest_word(dfa("b|a|aa")) == b"a"
    assert op.shortest_word(dfa("[^a]{2}")) == b"\x00\x00"


@pytest.mark.parametrize(
    "build",
    [
        lambda: op.repeat(op.literal(b"abc"), 0, 4, SMALL),
        lambda: op.concatenate(op.literal(b"a" * 8), op.literal(b"b" * 8), limits=SMALL),
        lambda: op.intersect(dfa("(aaa)*"), dfa("(aaaaa)*"), SMALL),
    ],
)
def test_limits(build: object) -> None:
    assert callable(build)
    with pytest.raises(LimitError, match="more than 10 states") as caught:
        build()
    assert caught.value.limit == 10
    assert isinstance(caught.value, KbnfError)


def test_join_classes() -> None:
    digits, letters = bytearray(256), bytearray(256)
    digits[48:58] = b"\1" * 10
    letters[56:100] = b"\1" * 44
    classes = join([bytes(digits), bytes(letters)])
    assert [classes[byte] for byte in (0, 48, 56, 58, 255)] == [0, 1, 2, 3, 0]
    assert first_bytes(classes) == bytes([0, 48, 56, 58])
    assert join([]) == bytes(256)
    assert join([bytes(range(256))]) == bytes(range(256))
    assert join([bytes(reversed(range(256)))]) == bytes(range(256))


@pytest.mark.parametrize("used", [b"", b"ba", bytes(range(255)), bytes(range(256))], ids=len)
def test_separate_bytes(used: bytes) -> None:
    found = separate(used)
    assert len({found[byte] for byte in used}) == len(used)
    assert class_count(found) == min(len(used) + 1, 256)


def test_classes_that_are_not_told_apart_are_merged() -> None:
    wide = from_symbols(SymbolDfa([[0] * 255 + [-1]], [1], [0]), bytes(range(256)))
    assert wide.rows == [[0, -1]]
    assert [wide.classes[byte] for byte in (0, 254, 255)] == [0, 0, 1]


@pytest.mark.parametrize("data", [b"", b"a", b"aaaa", b"abcbc", "héé".encode(), bytes(range(40))])
def test_substrings(data: bytes) -> None:
    automaton = substrings(data)
    inside = {data[i:j] for i in range(len(data) + 1) for j in range(i, len(data) + 1)}
    assert op.is_equal(automaton, op.literals(inside))
    assert automaton.state_count == op.literals(inside).state_count


def test_substrings_of_all_bytes() -> None:
    assert substrings(bytes(range(256))).state_count == 257


def test_substrings_of_a_long_text_are_linear() -> None:
    text = b"the quick brown fox jumps over the lazy dog. " * 50
    automaton = substrings(text)
    assert automaton.state_count <= 2 * len(text)
    assert automaton.accepts(text[100:900])
    assert not automaton.accepts(text + b"t")
