"""Masks over a real vocabulary of 131,072 tokens are what accepting each token says."""

from pathlib import Path

import pytest

from kbnf_core import Config, Engine, Grammar
from kbnf_testing.acceptance import accepted_by
from kbnf_testing.pages import recipe
from kbnf_testing.real_vocabulary import real_vocabulary

GRAMMARS = Path(__file__).resolve().parents[2] / "grammars"


@pytest.mark.parametrize(
    ("grammar", "finish", "prefix"),
    [
        ("json", "eos", '{"a": '),
        ("json", "eos", '{"a": [1, "x'),
        ("json", "eager", "[[1], {"),
        ("json", "token", '{"a": 1'),
        ("sql", None, "SELECT a"),
        ("reasoned_answer", None, "<think>so"),
        ("recipe of cjk_sentences", None, "你"),
    ],
)
def test_mask_is_what_accepting_says(grammar: str, finish: str | None, prefix: str) -> None:
    name = f"{grammar.removeprefix('recipe of ')}.kbnf"
    is_shipped = name.startswith(grammar)
    text = (GRAMMARS / name).read_text(encoding="utf-8") if is_shipped else recipe(name)
    vocabulary = real_vocabulary()
    engine = Engine(Grammar(text), vocabulary, Config(finish=finish))
    engine.try_accept_new_bytes(prefix.encode())
    engine.compute_allowed_token_ids()
    allowed = engine.get_allowed_token_ids_from_last_computation()
    assert allowed
    assert allowed == accepted_by(engine, range(vocabulary.size))
