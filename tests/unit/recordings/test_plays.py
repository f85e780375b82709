"""Plays: recorded, written, read, and played again."""

import json

import pytest

from kbnf_core import Config, Engine, Vocabulary
from kbnf_core.recordings import (
    Assertion,
    Recording,
    RecordingError,
    Step,
    grammar_hash,
    mask_hash,
    read_recording,
    record,
    replay,
    write_recording,
)

GRAMMAR = 'start ::= "a" ("b" | "c") "d";'


def engine_of(grammar: str = GRAMMAR, vocabulary: Vocabulary | None = None) -> Engine:
    return Engine(grammar, vocabulary or Vocabulary.bytes(), Config(finish="token"))


def play_of(*what: int | bytes) -> Recording:
    engine = engine_of()
    for each in what:
        if isinstance(each, int):
            engine.try_accept_new_token(each)
        else:
            engine.try_accept_new_bytes(each)
    assertions = {1: (Assertion(ord("b"), True), Assertion(b"x", False))}
    return record(engine, "a.kbnf", "bytes", None, assertions)


def test_a_play_records_every_step_and_its_mask() -> None:
    engine = engine_of()
    play = play_of(ord("a"), b"b")
    assert play.mask == mask_hash(engine)
    engine.try_accept_new_token(ord("a"))
    assert play.events[:3] == (
        Step(ord("a"), mask_hash(engine)),
        Assertion(ord("b"), True),
        Assertion(b"x", False),
    )
    engine.try_accept_new_bytes(b"b")
    assert play.events[3:] == (Step(b"b", mask_hash(engine)),)


def test_recording_leaves_the_engine_where_it_is() -> None:
    engine = engine_of()
    engine.try_accept_new_token(ord("a"))
    record(engine, "a.kbnf", "bytes")
    assert engine.accepted == (ord("a"),)
    engine.try_accept_new_token(ord("c"))


@pytest.mark.parametrize("what", [(), (97,), (b"ab", b"d"), (97, 98, 100)])
def test_what_was_written_is_read(what: tuple[int | bytes, ...]) -> None:
    play = play_of(*what)
    assert read_recording(write_recording(play, Vocabulary.bytes())) == play


def test_a_play_is_one_json_object_a_line() -> None:
    lines = write_recording(play_of(97, b"b"), Vocabulary.bytes()).splitlines()
    setting, step, *_ = map(json.loads, lines)
    assert setting["schema"] == "kbnf.play/1"
    assert setting["grammar"] == {"path": "a.kbnf", "hash": grammar_hash(GRAMMAR)}
    assert step["text"] == "a"
    assert len(lines) == 5


def test_the_same_grammar_plays_without_a_divergence() -> None:
    result = replay(play_of(97, 98, 100), engine_of())
    assert result.divergences == ()
    assert not result.is_grammar_changed
    assert result.engine.is_finished()


@pytest.mark.parametrize(
    ("grammar", "found"),
    [
        # The same language in other words.
        ('start ::= "ab" "d" | "acd";', []),
        ('start ::= "a" ("b" | "c" | "e") "d";', [(0, "mask")]),
        ('start ::= "a" ("b" | "x") "d";', [(0, "mask"), (2, "assertion")]),
        ('start ::= "a" "c" "d";', [(0, "mask"), (1, "assertion"), (3, "rejected")]),
        ('start ::= "b";', [(-1, "mask"), (0, "rejected")]),
        ('start ::= "ab";', [(0, "mask"), (3, "mask"), (4, "rejected")]),
    ],
)
def test_a_changed_grammar_shows_where_it_goes_another_way(
    grammar: str, found: list[tuple[int, str]]
) -> None:
    result = replay(play_of(97, 98, 100), engine_of(grammar))
    assert result.is_grammar_changed
    assert [(each.event, each.kind) for each in result.divergences] == found


def test_another_vocabulary_is_not_played() -> None:
    other = Vocabulary({97: b"x"})
    result = replay(play_of(97), engine_of('start ::= "x";', other))
    assert [each.kind for each in result.divergences] == ["vocabulary"]
    assert result.engine.accepted == ()


def test_playing_leaves_the_engine_where_it_is() -> None:
    engine = engine_of()
    engine.try_accept_new_token(ord("a"))
    replay(play_of(97, 98), engine)
    assert engine.accepted == (ord("a"),)


_HEAD = write_recording(play_of(), Vocabulary.bytes()).splitlines()[0]
_MASK = play_of().mask


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "empty"),
        ("\n\n", 1, "empty"),
        ("{", 1, "not JSON"),
        ("[" * 100_000, 1, "not JSON"),
        ("[]", 1, "not a JSON object"),
        ("{}", 1, "schema"),
        (_HEAD.replace("play/1", "play/2"), 1, "schema"),
        (_HEAD.replace('"token"', '"never"'), 1, "finish"),
        (_HEAD.replace(_MASK, "abc"), 1, "32 hexadecimal"),
        (_HEAD.replace('"grammar": {', '"grammar": 1, "x": {'), 1, "grammar"),
        (_HEAD.replace('"fingerprint"', '"eos": [-1], "fingerprint"'), 1, "eos"),
        (f"{_HEAD}\n\n{{}}", 3, "hex"),
        (f'{_HEAD}\n{{"token": -1, "mask": "{_MASK}"}}', 2, "token id"),
        (f'{_HEAD}\n{{"token": true, "mask": "{_MASK}"}}', 2, "token id"),
        (f'{_HEAD}\n{{"hex": "7", "mask": "{_MASK}"}}', 2, "hexadecimal digits"),
        (f'{_HEAD}\n{{"token": 1}}', 2, "mask"),
        (f'{_HEAD}\n{{"assert": "maybe", "token": 1}}', 2, "allowed or rejected"),
    ],
)
def test_what_is_no_play_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(RecordingError, match=f"^it.play:{line}: ") as caught:
        read_recording(text, "it.play")
    assert caught.value.line == line
    assert reason in caught.value.reason
