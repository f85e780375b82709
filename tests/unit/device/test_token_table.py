"""Token tables: every mask and every step is the engine's, for all ways to finish."""

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from kbnf_core import (
    ArtifactError,
    Engine,
    Finish,
    FinishedError,
    Grammar,
    RejectedError,
    Vocabulary,
)
from kbnf_core.container import digest, read_container, write_container
from kbnf_core.device import TableTooLargeError, TokenTable
from kbnf_core.device.build import MISS
from kbnf_core.device.table import DEAD

GRAMMARS = {
    "list": 'start ::= "[" [item {"," item}] "]"; item ::= #"[0-9]+";',
    "words": "start ::= ('ab' | 'a' 'c'*)+ ;",
    "nullable": "start ::= 'a'{0,3};",
    "named": "start ::= 'a'+ #token'<x>' 'b' | #token'<x>';",
    "bytes": "start ::= #b'\\xff' 'a' | 'é';",
}
TOKENS = [
    *("a", "b", "c", "ab", "ac", "cc", "[", "]", ",", "1", "23", "],", ",7", "[4", "é"),
    *("aab", "b[", "", "aaa", "[]", "7]"),
]
VOCABULARY = Vocabulary(
    {i: text.encode() for i, text in enumerate(TOKENS)} | {30: b"\xff", 31: b"\xffa", 32: b"\xc3"},
    special_tokens={"<x>": 33},
    eos_token_id=[34, 35],
)
WIDTH = 40


def allowed(table: TokenTable, state: int) -> list[int]:
    row = table.transitions[state] != DEAD
    return np.flatnonzero(row[table.token_class]).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("finish", list(Finish))
@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_and_steps_are_those_of_the_engine(name: str, finish: Finish) -> None:
    grammar = Grammar(GRAMMARS[name], finish=finish)
    table = TokenTable.build(grammar, VOCABULARY, width=WIDTH)
    engine = Engine(grammar, VOCABULARY)
    rng = random.Random(name)
    for _ in range(60):
        engine.reset()
        state = table.initial
        for _ in range(12):
            engine.compute_allowed_token_ids()
            wanted = engine.get_allowed_token_ids_from_last_computation()
            assert allowed(table, state) == wanted
            assert table.accepting[state] == engine.can_finish()
            if not wanted:
                break
            token = rng.choice(wanted)
            engine.try_accept_new_token(token)
            state = int(table.transitions[state, table.token_class[token]])
            assert state != DEAD
            if engine.is_finished():
                assert table.final[state]
                assert allowed(table, state) == [34, 35]
                break


@pytest.mark.parametrize("finish", list(Finish))
@pytest.mark.parametrize("name", GRAMMARS)
def test_a_token_that_the_engine_refuses_is_dead(name: str, finish: Finish) -> None:
    grammar = Grammar(GRAMMARS[name], finish=finish)
    table = TokenTable.build(grammar, VOCABULARY)
    for token in range(VOCABULARY.size):
        engine = Engine(grammar, VOCABULARY)
        after = table.transitions[table.initial, table.token_class[token]]
        try:
            engine.try_accept_new_token(token)
        except (RejectedError, FinishedError):
            assert after == DEAD
        except ValueError:
            continue
        else:
            engine.compute_allowed_token_ids()


def test_tokens_that_no_state_tells_apart_share_a_class() -> None:
    table = TokenTable.build(Grammar(GRAMMARS["list"], finish="eos"), VOCABULARY)
    of = dict(zip(TOKENS, table.token_class.tolist(), strict=False))
    assert of["1"] == of["23"] != of["["]
    assert of["a"] == of["b"] == of["ab"] == 0
    columns = table.transitions.T.tolist()
    assert len({tuple(column) for column in columns}) == len(columns)


def test_recursion_does_not_close_and_says_so() -> None:
    grammar = Grammar("start ::= '[' [start] ']';", finish="eos")
    with pytest.raises(TableTooLargeError) as caught:
        TokenTable.build(grammar, VOCABULARY, max_states=20)
    assert caught.value.states == 21
    assert "does not close" in str(caught.value)


def test_a_partial_table_is_right_as_deep_as_it_goes() -> None:
    grammar = Grammar("start ::= '[' [start] ']';", finish="eos")
    table = TokenTable.build(grammar, VOCABULARY, max_states=20, partial=True)
    assert table.is_partial
    engine, state, depth = Engine(grammar, VOCABULARY), table.initial, 0
    token = TOKENS.index("[")
    while state != MISS:
        engine.compute_allowed_token_ids()
        assert allowed(table, state) == engine.get_allowed_token_ids_from_last_computation()
        engine.try_accept_new_token(token)
        state = int(table.transitions[state, table.token_class[token]])
        depth += 1
    assert depth > 3


@pytest.mark.parametrize("finish", list(Finish))
@pytest.mark.parametrize("after", ["<x>", "aa", "aab", "]", "é", "[[4"])
def test_all_is_free_until_a_text_has_come(after: str, finish: Finish) -> None:
    grammar = Grammar(GRAMMARS["words"], finish=finish)
    table = TokenTable.build(grammar, VOCABULARY, width=WIDTH, after=after)
    tokens = [each for each in range(VOCABULARY.size) if each in VOCABULARY]
    names = {each: VOCABULARY.token(each) for each in tokens}
    named = {each: (VOCABULARY.token_string(each) or "").encode() for each in tokens}
    ends = VOCABULARY.eos_token_ids
    free = [each for each in tokens if each not in ends or after.encode() in named[each]]
    rng = random.Random(after)
    begun = 0
    for _ in range(200):
        state, seen = table.initial, b""
        while after.encode() not in seen and len(seen) < 30:
            assert table.waiting[state]
            assert not table.accepting[state]
            assert allowed(table, state) == free
            token = rng.choice(free)
            data = names[token]
            seen += named[token] if data is None else data
            state = int(table.transitions[state, table.token_class[token]])
        if after.encode() not in seen:
            continue
        begun += 1
        engine = Engine(grammar, VOCABULARY)
        with suppress(RejectedError):
            engine.try_accept_new_bytes(seen.partition(after.encode())[2])
        assert not table.waiting[state]
        if engine.is_finished():
            assert table.final[state]
            continue
        engine.compute_allowed_token_ids()
        assert allowed(table, state) == engine.get_allowed_token_ids_from_last_computation()
    assert begun > 5


def test_logits_narrower_than_the_vocabulary_are_refused() -> None:
    with pytest.raises(ValueError, match="width"):
        TokenTable.build(Grammar(GRAMMARS["list"]), VOCABULARY, width=3)


def test_a_saved_table_is_the_same(tmp_path: Path) -> None:
    table = TokenTable.build(Grammar(GRAMMARS["named"], finish="eos"), VOCABULARY, width=WIDTH)
    table.save(tmp_path / "t.kbnfd")
    read = TokenTable.load(tmp_path / "t.kbnfd")
    assert (read.transitions == table.transitions).all()
    assert (read.token_class == table.token_class).all()
    assert (read.initial, read.finish) == (table.initial, table.finish)
    assert read.fingerprint == VOCABULARY.fingerprint
    assert read.nbytes == table.nbytes


def test_every_flipped_byte_of_the_arrays_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.kbnfd"
    TokenTable.build(Grammar(GRAMMARS["list"]), VOCABULARY).save(path)
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    for place in range(begin, len(data)):
        path.write_bytes(data[:place] + bytes((data[place] ^ 4,)) + data[place + 1 :])
        with pytest.raises(ArtifactError):
            TokenTable.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("transitions", np.full((6, 6), 99, np.int16)),
        ("transitions", np.full((6, 6), -2, np.int16)),
        ("transitions", np.zeros((0, 6), np.int16)),
        ("transitions", np.zeros((6, 6), np.float32)),
        ("token_class", np.full(9, 77, np.int16)),
        ("token_class", np.zeros((3, 3), np.int16)),
        ("accepting", np.zeros(2, np.bool_)),
        ("final", np.zeros(6, np.int16)),
        ("waiting", np.zeros(1, np.bool_)),
        ("end", np.zeros(0, np.bool_)),
    ],
)
def test_a_forged_table_with_a_right_digest_is_refused(
    tmp_path: Path, name: str, value: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"
) -> None:
    path = tmp_path / "t.kbnfd"
    TokenTable.build(Grammar(GRAMMARS["list"]), VOCABULARY).save(path)
    arrays, about = read_container(path)
    arrays[name] = value
    write_container(path, arrays, {**about, "digest": digest(arrays)})
    with pytest.raises(ArtifactError, match="damaged"):
        TokenTable.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", True),
        ("format", 1),
        ("kbnf", "artifact"),
        ("initial", 0),
        ("initial", True),
        ("initial", 10**6),
        ("finish", "never"),
        ("fingerprint", 7),
    ],
)
def test_a_forged_header_is_refused(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "t.kbnfd"
    TokenTable.build(Grammar(GRAMMARS["list"]), VOCABULARY).save(path)
    arrays, about = read_container(path)
    write_container(path, arrays, {**about, name: value})
    with pytest.raises(ArtifactError):
        TokenTable.load(path)
