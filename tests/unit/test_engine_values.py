"""Engines as values: ids of any integer type, masks of the place at hand, pickling."""

import copy
import pickle
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from kbnf_core import Config, Engine, Grammar, Vocabulary, compile_artifact, load_artifact
from kbnf_core.compat import kbnf
from kbnf_core.config import Finish
from kbnf_core.text.errors import InvalidLogitsError, RejectedError, UnknownTokenError

T = TypeVar("T")

GRAMMAR = 'start ::= "a" start | "b" "c" | "c";'
VOCABULARY = Vocabulary(
    {0: b"a", 1: b"b", 2: b"ab", 3: b"c"},
    eos_token_id=4,
    special_tokens={"<s>": 5},
    token_strings={0: "A"},
)
FINISHES = [finish.value for finish in Finish]


class _Id:
    """An integer as torch has them: it hashes by identity, and compares as no int does."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


ID_TYPES = [_Id, np.int32, np.uint8, np.int64]


def _pickled(value: T, protocol: int | None = None) -> T:
    again = pickle.loads(pickle.dumps(value, protocol))  # noqa: S301 - pickled right here
    assert isinstance(again, type(value))
    return again


def allowed(engine: Engine) -> list[int]:
    return engine.get_allowed_token_ids_from_last_computation()


def kept(logits: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> list[int]:
    ids: list[int] = np.flatnonzero(logits > -np.inf).tolist()
    return ids


@pytest.mark.parametrize("id_type", ID_TYPES)
def test_any_integer_is_a_token_id(id_type: type) -> None:
    engine = Engine(GRAMMAR, VOCABULARY)
    engine.try_accept_new_token(id_type(0))
    engine.update_logits(id_type(2), np.zeros(6, np.float32))
    assert engine.accepted == (0, 2)
    assert [type(each) for each in engine.accepted] == [int, int]
    with pytest.raises(RejectedError):
        engine.try_accept_new_token(id_type(1))
    with pytest.raises(UnknownTokenError):
        engine.try_accept_new_token(id_type(77))
    assert engine.why(id_type(3)).token_id == 3
    assert engine.why(id_type(3)).allowed
    assert not engine.why(id_type(0)).allowed


def test_what_is_no_integer_is_no_token_id() -> None:
    engine = Engine(GRAMMAR, VOCABULARY)
    for wrong in (0.0, "0", None):
        with pytest.raises(TypeError):
            engine.try_accept_new_token(wrong)  # type: ignore[arg-type]
    assert engine.accepted == ()


@pytest.mark.parametrize("id_type", ID_TYPES)
def test_a_vocabulary_takes_any_integer(id_type: type) -> None:
    vocabulary = Vocabulary(
        {id_type(0): b"a"},
        {id_type(0): "A"},
        eos_token_id=[id_type(4)],
        special_tokens={"<s>": id_type(5)},
    )
    assert vocabulary.token(id_type(0)) == b"a"
    assert vocabulary.get_token(id_type(0)) == kbnf.Token(b"a")
    assert vocabulary.token_string(id_type(0)) == vocabulary.get_token_string(id_type(0)) == "A"
    assert id_type(5) in vocabulary
    assert id_type(4) in vocabulary
    assert id_type(1) not in vocabulary
    assert "a" not in vocabulary


def test_the_bindings_engine_takes_any_integer() -> None:
    engine = kbnf.Engine(GRAMMAR, VOCABULARY)
    engine.compute_allowed_token_ids()
    ids: list[Any] = [_Id(0), _Id(4)]
    assert [engine.check_if_token_is_allowed(each) for each in ids] == [True, False]


def test_logits_are_masked_for_the_place_at_hand() -> None:
    engine = Engine(GRAMMAR, VOCABULARY, Config(finish="eos"))
    assert kept(engine.mask_logits(np.zeros(6, np.float32))) == [0, 1, 2, 3]
    assert allowed(engine) == [0, 1, 2, 3]
    engine.try_accept_new_token(2)
    assert allowed(engine) == [0, 1, 2, 3]
    assert kept(engine.mask_logits(np.zeros(6, np.float32))) == [3]
    assert allowed(engine) == [3]
    engine.rollback()
    assert kept(engine.mask_logits(np.zeros(6, np.float32))) == [0, 1, 2, 3]
    engine.try_accept_new_bytes(b"b")
    assert kept(engine.mask_logits(np.zeros(6, np.float32))) == [3]
    engine.reset()
    assert allowed(engine) == []
    assert kept(engine.mask_logits(np.zeros(6, np.float32))) == [0, 1, 2, 3]


def test_logits_that_are_refused_leave_the_last_computation() -> None:
    engine = Engine(GRAMMAR, VOCABULARY)
    engine.compute_allowed_token_ids()
    engine.try_accept_new_token(1)
    with pytest.raises(InvalidLogitsError):
        engine.mask_logits(np.zeros(1, np.float32))
    assert allowed(engine) == [0, 1, 2, 3]


def test_nothing_is_kept_after_the_end() -> None:
    engine = Engine(GRAMMAR, VOCABULARY)
    engine.compute_allowed_token_ids()
    engine.try_accept_new_token(3)
    assert engine.is_finished()
    assert kept(engine.mask_logits(np.zeros(6, np.float32))) == []


def observe(engine: Engine) -> tuple[object, ...]:
    last = allowed(engine)
    engine.compute_allowed_token_ids()
    return (
        last,
        allowed(engine),
        engine.accepted,
        engine.finish,
        engine.is_finished(),
        engine.can_finish(),
        engine.grammar.start,
        engine.grammar.source.text,
    )


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("finish", FINISHES)
def test_a_pickled_engine_goes_on_where_it_was(finish: str, protocol: int) -> None:
    engine = Engine(GRAMMAR, VOCABULARY, Config(finish=finish))
    engine.why(0)
    for step in (0, b"a", 2):
        engine.compute_allowed_token_ids()
        if isinstance(step, bytes):
            engine.try_accept_new_bytes(step)
        else:
            engine.try_accept_new_token(step)
        twin = _pickled(engine, protocol)
        assert observe(twin) == observe(copy.copy(engine))
        twin.rollback()
        twin.try_accept_new_bytes(b"a")
    engine.try_accept_new_token(3)
    twin = _pickled(engine, protocol)
    assert observe(twin) == observe(engine)
    twin.reset()
    assert twin.accepted == ()


def test_what_is_shared_stays_shared() -> None:
    grammar = Grammar(GRAMMAR, finish="eos", path="g.kbnf")
    engines = [Engine(grammar, VOCABULARY), Engine(grammar, VOCABULARY)]
    one, other = _pickled(engines)
    assert one.grammar is other.grammar
    assert one.vocabulary is other.vocabulary
    assert one.grammar.source.path == "g.kbnf"
    assert one.vocabulary.fingerprint == VOCABULARY.fingerprint
    assert one.vocabulary.token_string(0) == "A"


def test_a_used_grammar_and_vocabulary_can_be_pickled() -> None:
    Engine(Grammar(GRAMMAR), VOCABULARY).compute_allowed_token_ids()
    assert VOCABULARY.tokens[0] == b"a"
    assert VOCABULARY.special_tokens["<s>"] == 5
    twin = _pickled(VOCABULARY)
    assert (twin.tokens, twin.special_tokens) == (VOCABULARY.tokens, VOCABULARY.special_tokens)
    grammar = Grammar('a ::= "x" | b; b ::= "y";', start="b", finish="token")
    again = _pickled(grammar)
    assert (again.start, again.finish, again.source.text) == (
        "b",
        Finish.TOKEN,
        grammar.source.text,
    )


class _Named(Engine):
    """An engine with an attribute of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(GRAMMAR, VOCABULARY)
        self.name = name


def test_an_engine_of_another_class_is_pickled_whole() -> None:
    for twin in (_pickled(_Named("x")), copy.copy(_Named("x"))):
        assert type(twin) is _Named
        assert twin.name == "x"


def test_an_engine_over_an_artifact_is_pickled_by_its_text(tmp_path: Path) -> None:
    compile_artifact(Grammar(GRAMMAR, finish="eos"), VOCABULARY, tmp_path / "g.kbnfc")
    engine = Engine(load_artifact(tmp_path / "g.kbnfc"), VOCABULARY)
    engine.try_accept_new_token(0)
    (tmp_path / "g.kbnfc").unlink()
    assert observe(_pickled(engine)) == observe(engine)


def test_a_copy_shares_grammar_and_vocabulary() -> None:
    engine = Engine(GRAMMAR, VOCABULARY)
    for twin in (copy.copy(engine), copy.deepcopy(engine)):
        assert twin.grammar is engine.grammar
        assert twin.vocabulary is engine.vocabulary
    assert copy.copy(engine.grammar) is copy.deepcopy(engine.grammar) is engine.grammar
