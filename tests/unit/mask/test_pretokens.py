"""The automaton of pretokenizers, beside the pretokenizer on whole texts."""

from collections.abc import Mapping
from random import Random

import pytest

from kbnf_core.mask.pretokens import APART, CUT, DEAD, INITIAL, JOINED, Pretokens, form_of
from kbnf_core.vocab.byte_pairs import cut_by
from kbnf_testing.canonical import random_text

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BYTES: Mapping[int, bytes] = {each: bytes((each,)) for each in range(256)}


@pytest.mark.parametrize("patterns", [(GPT2,), (r"\p{N}", GPT2), (TEKKEN,), (CL100K,)])
def test_tokens_of_one_byte_may_come_as_texts_are_cut(patterns: tuple[str, ...]) -> None:
    cut = cut_by(patterns)
    pretokens = Pretokens(cut, BYTES, 256)
    for seed in range(200):
        text = random_text(Random(seed))
        ends, state, place = {*cut(text)}, INITIAL, 0
        for number, character in enumerate(text):
            for index, byte in enumerate(character.encode()):
                is_apart = number in ends and index == 0
                verdict = pretokens.verdicts(state)[pretokens.groups[byte]]
                assert verdict >= (APART if is_apart else JOINED), (text, place)
                state = pretokens.after(state, int(pretokens.groups[byte]), not is_apart)
                place += 1
        assert pretokens.may_end(state), text


def _state(pretokens: Pretokens, pieces: Mapping[int, bytes], *tokens: tuple[bytes, bool]) -> int:
    ids = {data: each for each, data in pieces.items()}
    state = INITIAL
    for data, is_joined in tokens:
        state = pretokens.after(state, int(pretokens.groups[ids[data]]), is_joined)
    return state


def test_what_is_asked_of_a_blank_is_remembered() -> None:
    """A blank apart from those before begins a word, so neither a blank may follow nor the end."""
    pieces = dict(enumerate((b"  ", b" ", b"a", b"1", b"\n", b" a")))
    pretokens = Pretokens(cut_by((GPT2,)), pieces, len(pieces))
    for is_joined in (True, False):
        state = _state(pretokens, pieces, (b"  ", True), (b" ", is_joined))
        verdicts = pretokens.verdicts(state)
        assert verdicts[pretokens.groups[2]] >= JOINED
        assert (verdicts[pretokens.groups[1]] != CUT) == is_joined
        assert pretokens.may_end(state) == is_joined


def test_a_line_of_blanks_is_one_word() -> None:
    pieces = dict(enumerate((b"x", b"\n", b"  ", b"y")))
    pretokens = Pretokens(cut_by((TEKKEN,)), pieces, len(pieces))
    state = _state(pretokens, pieces, (b"x", True), (b"\n", False), (b"  ", True))
    assert pretokens.verdicts(state)[pretokens.groups[1]] == JOINED


def test_states_are_few_and_can_be_forgotten() -> None:
    pretokens = Pretokens(cut_by((TEKKEN,)), BYTES, 256)
    states = set()
    for seed in range(100):
        state = INITIAL
        for byte in random_text(Random(seed)).encode():
            state = pretokens.after(state, int(pretokens.groups[byte]), True)
            assert state != DEAD
            states.add(state)
    assert len(states) < 600
    assert not pretokens.is_full
    pretokens.forget()
    assert pretokens.verdicts(INITIAL)[pretokens.groups[ord("a")]] == APART


def test_forms_keep_what_a_pretokenizer_sees() -> None:
    assert form_of("Hello") == form_of("World") != form_of("xylem")
    assert form_of(" the") == form_of(" tree")
    assert form_of("x's") != form_of("x'a")
    assert form_of("12") != form_of("123")
    assert form_of("123456") == form_of("1234567")
