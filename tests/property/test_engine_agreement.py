"""The engine gives the reference's answers on random grammars, vocabularies and strings.

A triple is one grammar, one vocabulary and one string of tokens; each is walked under all three
ways to finish, and at every step the mask, the answer for every single token, ``is_finished``
and ``can_finish`` are compared.
"""

from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from kbnf_core import Config, Engine, Vocabulary
from kbnf_core.text.errors import EmptyGrammarError
from kbnf_testing.agreement import compare_at_random
from kbnf_testing.earley import Recogniser
from kbnf_testing.generate import Features, GrammarMaker
from kbnf_testing.printer import to_kbnf
from kbnf_testing.samples import examples, seeds

CHUNKS = 40
TRIPLES_A_CHUNK = 504
_VOCABULARIES = 3
_STRINGS = 7


def test_a_run_of_all_has_20_000_triples() -> None:
    assert CHUNKS * TRIPLES_A_CHUNK >= 20_000


@pytest.mark.parametrize("chunk", seeds(CHUNKS, ordinary=4, ci=7))
def test_engine_agrees_with_reference(chunk: int) -> None:
    random = Random(chunk)
    walked = 0
    while walked < TRIPLES_A_CHUNK:
        walked += compare_at_random(random, Features(), _VOCABULARIES, _STRINGS)
    assert walked == TRIPLES_A_CHUNK


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_engine_agrees_with_reference_and_shrinks(random: Random) -> None:
    assert compare_at_random(random, Features(), vocabularies=1, strings=2) == 2


@pytest.mark.parametrize("chunk", range(4))
def test_empty_languages_are_refused_unless_they_are_endless(chunk: int) -> None:
    random = Random(1000 + chunk)
    refused = 0
    while refused < 40:
        grammar = GrammarMaker(random, Features(tokens=False)).grammar()
        recogniser = Recogniser(grammar)
        if not recogniser.is_empty():
            continue
        refused += 1
        if recogniser.is_endless() and not recogniser.contains(""):
            engine = Engine(to_kbnf(grammar), Vocabulary.bytes(), Config(finish="eager"))
            go_on(engine, random)
            continue
        with pytest.raises(EmptyGrammarError) as caught:
            Engine(to_kbnf(grammar), Vocabulary.bytes(), Config(finish="eager"))
        assert "E105" in {diagnostic.code for diagnostic in caught.value.diagnostics}


def go_on(engine: Engine, random: Random) -> None:
    """Feed an endless text: something can come everywhere, and nothing ever ends it."""
    assert "W308" in {diagnostic.code for diagnostic in engine.grammar.diagnostics}
    for _ in range(30):
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        assert allowed
        engine.try_accept_new_token(random.choice(allowed))
        assert not engine.can_finish()
