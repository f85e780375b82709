"""One loop for grammars that close and for such as do not."""

from typing import TYPE_CHECKING

import pytest

from kbnf_core import Engine, Grammar, Vocabulary

if TYPE_CHECKING:
    import torch
else:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

# Importing these needs torch, too.
from kbnf_core.device import DeviceConstraint

TOKENS = ["[", "]", "[[", "]]", "a", "ab", "b", "1", "[]", "],"]
VOCABULARY = Vocabulary({i: t.encode() for i, t in enumerate(TOKENS)}, eos_token_id=[11, 12])
WIDTH = 16
NESTED = "start ::= '[' [start | 'a'] ']';"
CLOSED = "start ::= 'a'{1,3} 'b'?;"


def grammars(finish: str) -> list[Grammar]:
    return [Grammar(NESTED, finish=finish), Grammar(CLOSED, finish=finish)]


@pytest.mark.parametrize("finish", ["eos", "eager", "token"])
def test_one_loop_serves_what_closes_and_what_does_not(finish: str) -> None:
    pair = grammars(finish)
    constraint = DeviceConstraint(pair, VOCABULARY, width=WIDTH, max_states=8)
    assert [table.is_partial for table in constraint.tables] == [True, False]
    index = [0, 1, 0, 0, 1, 0]
    batch = constraint.start(index)
    engines = [Engine(pair[number], VOCABULARY) for number in index]
    generator = torch.Generator().manual_seed(5)
    left = set()
    for step in range(60):
        logits = torch.zeros(len(index), WIDTH)
        logits[:, [0, 2]] = 3 if step < 12 else 0
        batch.mask_logits_(logits)
        for row, engine in enumerate(engines):
            ids = torch.isfinite(logits[row]).nonzero()[:, 0].tolist()
            if not engine.is_finished():
                engine.compute_allowed_token_ids()
                assert ids == engine.get_allowed_token_ids_from_last_computation()
            else:
                assert ids == [11, 12]
        tokens = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]
        for token, engine in zip(tokens.tolist(), engines, strict=True):
            engine.accept_tokens([token])
        batch.advance(tokens)
        left |= set(batch.on_engines)
        assert batch.is_final().tolist() == [engine.is_finished() for engine in engines]
        assert batch.accepting().tolist() == [engine.can_finish() for engine in engines]
    # Some went deeper than the table; the others never needed an engine.
    assert left
    assert left <= {0, 2, 3, 5}


def test_whole_tables_never_look_at_the_tokens() -> None:
    constraint = DeviceConstraint(grammars("eos")[1:], VOCABULARY)
    assert constraint.is_whole
    batch = constraint.start([0, 0])
    batch.advance(torch.tensor([4, 6]))
    assert batch.on_engines == []
    assert (batch.state == 0).tolist() == [False, True]
