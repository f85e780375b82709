"""What comes before a grammar, and a bound on it."""

import copy
import pickle
import warnings
from math import inf
from random import Random

import numpy as np
import pytest

from kbnf_core import ConfigError, Engine, RejectedError, Vocabulary, allocate_bitmask
from kbnf_core.integrations.stepwise import Stepwise

GRAMMAR = "start ::= 'yes';"
MARKER = "</think>"

SPECIAL = Vocabulary(
    {**{value: bytes([value]) for value in range(256)}, 256: b"</", 257: b"think", 258: b"think>y"},
    special_tokens={MARKER: 300, "<end>": 301},
    eos_token_id=301,
)


def allowed(engine: Engine) -> list[int]:
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def test_free_tokens_are_bounded() -> None:
    engine = Engine(GRAMMAR, Vocabulary.bytes(), after=MARKER, after_tokens=4)
    assert engine.after_tokens == 4
    assert engine.accept_tokens(b"hm <") == 4
    assert allowed(engine) == [ord("/")]
    with pytest.raises(RejectedError):
        engine.try_accept_new_token(ord("x"))
    with pytest.raises(RejectedError):
        engine.try_accept_new_bytes(b"hm")
    assert engine.accept_tokens(b"/think>yes") == 10
    assert engine.is_finished()


def test_a_special_token_is_nearer_than_its_letters() -> None:
    engine = Engine(GRAMMAR, SPECIAL, after=MARKER, after_tokens=1)
    assert len(allowed(engine)) == len(SPECIAL) - 1
    engine.try_accept_new_token(ord("<"))
    assert allowed(engine) == [300]
    engine.try_accept_new_token(300)
    assert not engine.is_waiting()
    assert engine.accepted_by_grammar() == []


def test_the_last_token_may_go_on_into_the_grammar() -> None:
    plain = Vocabulary(SPECIAL.tokens, eos_token_id=301)
    engine = Engine(GRAMMAR, plain, after=MARKER, after_tokens=0)
    assert allowed(engine) == [256]
    engine.try_accept_new_token(256)
    assert allowed(engine) == [257, 258]
    engine.try_accept_new_token(258)
    assert engine.accepted_by_grammar() == [b"y"]


def test_a_token_is_forced_by_its_id() -> None:
    engine = Engine(GRAMMAR, SPECIAL, after=300, after_tokens=1)
    engine.try_accept_new_token(65)
    assert allowed(engine) == [300]
    assert engine.accept_tokens([65, 300]) == 0
    assert engine.accept_tokens([300, *b"yes"]) == 4


@pytest.mark.parametrize("bound", [None, 0, 3])
def test_nothing_ends_the_sequence_before(bound: int | None) -> None:
    engine = Engine(GRAMMAR, SPECIAL, after=MARKER, after_tokens=bound)
    assert 301 not in allowed(engine)
    assert not engine.can_finish()
    with pytest.raises(RejectedError):
        engine.try_accept_new_token(301)
    assert not engine.why(301).allowed
    text = Stepwise(GRAMMAR, SPECIAL, after=MARKER, after_tokens=bound)
    assert text.mask([1], np.zeros(SPECIAL.size, np.float32))[301] == -np.inf


@pytest.mark.parametrize("after", [301, "<end>", "end", "nd>"])
def test_an_end_that_is_waited_for_is_no_end(after: str | int) -> None:
    engine = Engine(GRAMMAR, SPECIAL, after=after)
    assert 301 in allowed(engine)
    engine.try_accept_new_token(301)
    assert not engine.is_waiting()


def test_an_end_spells_no_part_of_a_text() -> None:
    letters = {value: bytes([value]) for value in b"xyes"}
    vocabulary = Vocabulary(letters, special_tokens={"<end>": 301}, eos_token_id=301)
    with pytest.warns(UserWarning, match="no tokens of the vocabulary spell it"):
        Engine(GRAMMAR, vocabulary, after="x<end>")


def test_why_says_what_is_missing() -> None:
    engine = Engine(GRAMMAR, SPECIAL, after=MARKER, after_tokens=1)
    assert engine.why("x").reason == "all but an end is free until '</think>' has come"
    engine.try_accept_new_token(65)
    refused = engine.why("x")
    assert not refused.allowed
    assert refused.reason == (
        "1 tokens came before '</think>': only tokens that lead to it are allowed"
    )
    assert refused.expected == ((ord("<"), ord("<")),)
    assert engine.why(300).allowed


def test_rollback_copy_pickle_and_drafts_know_the_bound() -> None:
    engine = Engine(GRAMMAR, SPECIAL, after=MARKER, after_tokens=2, budget=4)
    draft = [65, 66, 67]
    rows = allocate_bitmask(4, SPECIAL.size)
    assert engine.fill_draft_bitmask(rows, 0, draft) == 2
    engine.accept_tokens([65, 66])
    assert np.array_equal(rows[2].view(np.uint32), engine.allowed_bits()) or allowed(engine) == [
        300
    ]
    restored = pickle.loads(pickle.dumps(engine))  # noqa: S301 - written just here
    assert allowed(copy.copy(engine)) == allowed(restored) == [300]
    tree = allocate_bitmask(3, SPECIAL.size)
    engine.rollback(2)
    engine.fill_tree_bitmasks(tree, 0, [-1, 0, 1], [0, 65, 66])
    assert np.array_equal(tree[1], rows[1])
    assert np.array_equal(tree[2], rows[2])
    engine.accept_tokens([65, 66, 300])
    assert engine.remaining == 4


def test_a_host_of_one_sequence_has_the_bound() -> None:
    text = Stepwise(GRAMMAR, SPECIAL, after=MARKER, after_tokens=1)
    text.mask([1], np.zeros(SPECIAL.size, np.float32))
    logits = text.mask([1, 65], np.zeros(SPECIAL.size, np.float32))
    assert np.flatnonzero(logits == 0).tolist() == [300]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"after_tokens": 3}, "`after`, which is not given"),
        ({"after": MARKER, "after_tokens": -1}, "is -1, not a number from 0 to"),
        ({"after": MARKER, "after_tokens": 1 << 40}, "not a number from 0 to"),
        ({"after": "§", "after_tokens": 3}, "no tokens of the vocabulary spell '§' alone"),
        ({"after": 299}, "token 299, which the vocabulary does not have"),
    ],
)
def test_impossible_boundaries(settings: dict[str, object], message: str) -> None:
    vocabulary = (
        Vocabulary({**{i: bytes([i]) for i in range(128)}, 200: "x§".encode()})
        if (settings.get("after") == "§")
        else SPECIAL
    )
    with pytest.raises(ConfigError, match=message):
        Engine(GRAMMAR, vocabulary, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("§", "no tokens of the vocabulary spell it, so it never comes"),
        ("</thnik>", "the vocabulary has the special token '</think>'; was that meant?"),
        ("</think", "the vocabulary has the special token '</think>'; was that meant?"),
    ],
)
def test_a_marker_that_was_misspelt(after: str, message: str) -> None:
    ascii_only = Vocabulary({i: bytes([i]) for i in range(128)}, special_tokens={MARKER: 300})
    with pytest.warns(UserWarning, match="after") as caught:
        Engine(GRAMMAR, ascii_only, after=after)
    assert message in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("after", [MARKER, "<end>", "</answer>", "think", "]"])
def test_other_markers_are_not_warned_of(after: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Engine(GRAMMAR, SPECIAL, after=after)


def _fewest(marker: bytes, tokens: list[bytes], seen: bytes) -> float:
    """Return the fewest tokens that spell the rest of a marker, of which some end may have come.

    Only where it cannot be spelled alone a token may go on after it, which counts more.
    """
    for is_alone in (True, False):
        reached = {count for count in range(len(marker)) if seen.endswith(marker[:count])}
        for count in range(len(marker) + 1):
            if len(marker) in reached:
                return count + 99 * (not is_alone)
            reached = {
                min(len(marker), at + len(token))
                for at in reached
                for token in tokens
                if marker[at:].startswith(token) or (token.startswith(marker[at:]) and not is_alone)
            }
    return inf


@pytest.mark.parametrize("seed", range(60))
def test_the_marker_comes_in_the_fewest_tokens(seed: int) -> None:
    random = Random(seed)
    alphabet = "ab" if seed % 2 else "abc"
    marker = "".join(random.choices(alphabet, k=random.randint(1, 6)))
    words = {"".join(random.choices(alphabet, k=random.randint(1, 4))) for _ in range(8)}
    tokens = [word.encode() for word in sorted(words | set(alphabet) - {random.choice("abx")})]
    vocabulary = Vocabulary(dict(enumerate(tokens)), eos_token_id=99)
    most = random.randint(0, 4)
    if _fewest(marker.encode(), tokens, b"") == inf:
        with pytest.raises(ConfigError):
            Engine("start ::= #'[abc]*' 'x'?;", vocabulary, after=marker, after_tokens=most)
        return
    engine = Engine("start ::= #'[abc]*' 'x'?;", vocabulary, after=marker, after_tokens=most)
    seen, count = b"", 0
    while engine.is_waiting():
        chosen = allowed(engine)
        if count < most:
            assert chosen == [*range(len(tokens))]
        else:
            left = _fewest(marker.encode(), tokens, seen)
            assert chosen
            for token_id in chosen:
                after = seen + tokens[token_id]
                has_come = marker.encode() in after
                assert has_come or _fewest(marker.encode(), tokens, after) < left
            refused = set(range(len(tokens))) - set(chosen)
            assert engine.accept_tokens([random.choice(sorted(refused) or [98])]) == 0
        token_id = random.choice([each for each in chosen if each < len(tokens)])
        engine.try_accept_new_token(token_id)
        seen, count = seen + tokens[token_id], count + 1
        assert count <= most + len(marker)
    assert marker.encode() in seen
