"""Masks over a real vocabulary of 131,072 tokens are what accepting each token says."""

from pathlib import Path

import mistral_common
import pytest

from kbnf_core import Config, Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.errors import RejectedError

GRAMMARS = Path(__file__).resolve().parents[2] / "grammars"


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    folder = Path(mistral_common.__file__).parent / "data"
    return load_vocabulary(max(folder.glob("tekken*.json")))


def accepted(engine: Engine, vocabulary: Vocabulary) -> list[int]:
    """Return the ids of nonempty tokens that the engine accepts, tried one by one."""
    found = []
    for token_id in range(vocabulary.size):
        try:
            engine.try_accept_new_token(token_id)
        except RejectedError:
            continue
        engine.rollback()
        if vocabulary.token(token_id) != b"":
            found.append(token_id)
    return found


@pytest.mark.parametrize(
    ("grammar", "finish", "prefix"),
    [
        ("json", "eos", '{"a": '),
        ("json", "eos", '{"a": [1, "x'),
        ("json", "eager", "[[1], {"),
        ("json", "token", '{"a": 1'),
        ("sql_select", None, "SELECT a"),
        ("cjk_sentences", None, "你"),
        ("reasoned_answer", None, "<think>so"),
    ],
)
def test_mask_is_what_accepting_says(
    tekken: Vocabulary, grammar: str, finish: str | None, prefix: str
) -> None:
    text = (GRAMMARS / f"{grammar}.kbnf").read_text(encoding="utf-8")
    engine = Engine(Grammar(text), tekken, Config(finish=finish))
    engine.try_accept_new_bytes(prefix.encode())
    engine.compute_allowed_token_ids()
    allowed = engine.get_allowed_token_ids_from_last_computation()
    assert allowed
    assert allowed == accepted(engine, tekken)
