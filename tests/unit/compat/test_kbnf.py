"""The binding's surface: every name it has, and programs written for it."""

import copy

import numpy as np
import pytest

from kbnf_core.compat import kbnf

VOCABULARY = kbnf.Vocabulary(
    {0: kbnf.Token(b"A"), 1: kbnf.Token(b"B"), 2: kbnf.Token(b"AB")}, {0: "A", 1: "B", 2: "AB"}
)

# As dir() of kbnf 0.4.2 says, its private names and submodules left out.
MODULE = (
    "AcceptTokenError AcceptTokenResult CompressionConfig Config Engine EngineConfig Fsa"
    " InternalEngine MaskLogitsError RegexConfig Token UpdateLogitsError Vocabulary"
)
ENGINE = (
    "check_if_token_is_allowed compute_allowed_token_ids fill_torch_bitmask"
    " get_allowed_token_ids_from_last_computation get_disallowed_token_ids_from_last_computation"
    " get_index_of_allowed_token_ids get_number_of_allowed_token_ids"
    " get_number_of_disallowed_token_ids get_vocab is_finished mask_logits reset shrink_to_fit"
    " try_accept_new_bytes try_accept_new_token update_logits write_allowed_token_ids_to_buffer"
    " write_disallowed_token_ids_to_buffer"
)
CONFIG = "compression_config engine_config expected_output_length regex_config start_nonterminal"


def test_the_module_has_the_bindings_names() -> None:
    assert kbnf.__all__ == MODULE.split()


@pytest.mark.parametrize("engine", [kbnf.Engine, kbnf.InternalEngine])
def test_engines_have_the_bindings_methods(engine: type) -> None:
    assert set(ENGINE.split()) <= set(dir(engine))


def test_config_has_the_bindings_fields() -> None:
    config = kbnf.Config()
    assert set(CONFIG.split()) <= set(dir(config))
    config.start_nonterminal = "root"
    assert kbnf.Engine("root ::= 'A';", VOCABULARY, config).get_vocab() is VOCABULARY


def test_vocabulary_answers_as_the_binding_does() -> None:
    assert VOCABULARY.get_vocab_size() == 3
    assert VOCABULARY.get_token_id(kbnf.Token(b"AB")) == 2
    assert VOCABULARY.get_token_string(1) == "B"


def test_a_program_for_the_binding() -> None:
    engine = kbnf.Engine("start ::= 'A' 'B' | 'A' 'A';", VOCABULARY)
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation() == [0, 2]
    assert engine.check_if_token_is_allowed(2)
    assert engine.get_number_of_allowed_token_ids() == 2
    assert engine.get_number_of_disallowed_token_ids() == 1
    logits = np.zeros(3, np.float32)
    assert engine.mask_logits(logits) is logits
    assert logits.tolist() == [0, -np.inf, 0]
    twin = copy.copy(engine)
    assert engine.try_accept_new_token(2) is kbnf.AcceptTokenResult.Finished
    assert engine.is_finished()
    assert not twin.is_finished()


def test_finish_is_that_of_the_newer_binding() -> None:
    engine = kbnf.Engine("start ::= 'A' | 'AB' 'A';", VOCABULARY)
    assert engine.try_accept_new_token(2) is kbnf.AcceptTokenResult.Ongoing


def test_a_pragma_or_the_configuration_makes_it_finish_as_the_first_versions_did() -> None:
    text = "start ::= 'A' | 'AB' 'A';"
    eager = kbnf.Engine(f"(* kbnf: finish=eager *) {text}", VOCABULARY)
    configured = kbnf.Engine(text, VOCABULARY, kbnf.Config(finish="eager"))
    for engine in (eager, configured):
        engine.compute_allowed_token_ids()
        assert engine.get_allowed_token_ids_from_last_computation() == [0]
    named = kbnf.Engine("(* kbnf: start=root *) root ::= 'A';", VOCABULARY)
    assert named.try_accept_new_token(0) is kbnf.AcceptTokenResult.Finished


def test_errors_are_value_errors() -> None:
    engine = kbnf.Engine("start ::= 'A';", VOCABULARY)
    for token_id in (7, 1):
        with pytest.raises(ValueError, match="token"):
            engine.try_accept_new_token(token_id)
    with pytest.raises(ValueError, match="fewer"):
        engine.mask_logits(np.zeros(2, np.float32))
    with pytest.raises(AssertionError):
        engine.mask_logits(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match="E101"):
        kbnf.Engine("start ::= undefined;", VOCABULARY)


def test_addresses() -> None:
    engine = kbnf.InternalEngine("start ::= 'A' 'A';", VOCABULARY)
    logits = np.zeros(3, np.float32)
    engine.compute_allowed_token_ids()
    engine.mask_logits(logits.ctypes.data, 3)
    assert logits.tolist() == [0, -np.inf, -np.inf]
    ids = np.full(3, -1, np.int64)
    engine.write_disallowed_token_ids_to_buffer(ids.ctypes.data, 3)
    assert ids.tolist() == [1, 2, -1]
    with pytest.raises(ValueError, match="too small"):
        engine.write_disallowed_token_ids_to_buffer(ids.ctypes.data, 1)
    words = np.zeros(1, np.int32)
    engine.fill_torch_bitmask(words.ctypes.data)
    assert words.tolist() == [1]
    result = engine.update_logits(0, logits.ctypes.data, 3)
    assert result is kbnf.AcceptTokenResult.Ongoing
