"""Batches on the device: masks and steps of torch alone are those of the engine."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary

if TYPE_CHECKING:
    import torch
else:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

# Importing these needs torch, too.
from kbnf_core.device import DeviceGrammars, RowTable, TokenTable

TEXTS = [
    'start ::= "[" [item {"," item}] "]"; item ::= #"[0-9]+";',
    "start ::= ('ab' | 'a' 'c'*)+ ;",
    "start ::= #token'<x>' 'b'{2,4};",
]
TOKENS = ["a", "b", "c", "ab", "bb", "cc", "[", "]", ",", "1", "23", "],", ",7", "[4", "x"]
VOCABULARY = Vocabulary(
    {i: text.encode() for i, text in enumerate(TOKENS)},
    special_tokens={"<x>": 20},
    eos_token_id=[21, 22],
)
WIDTH = 32


def setting() -> tuple[list[Grammar], DeviceGrammars]:
    grammars = [Grammar(text, finish="eos") for text in TEXTS]
    tables = [TokenTable.build(grammar, VOCABULARY) for grammar in grammars]
    return grammars, DeviceGrammars(tables, width=WIDTH)


def test_a_batch_generates_what_the_engine_accepts() -> None:
    grammars, group = setting()
    generator = torch.Generator().manual_seed(7)
    index = [number % 3 for number in range(24)]
    engines = [Engine(grammars[number], VOCABULARY) for number in index]
    state = group.start(index)
    for _ in range(20):
        logits = group.mask_logits_(torch.zeros(len(index), WIDTH), state)
        tokens = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]
        for row, engine in enumerate(engines):
            ids = torch.isfinite(logits[row]).nonzero()[:, 0].tolist()
            if engine.is_finished():
                assert ids == [21, 22]
                continue
            engine.compute_allowed_token_ids()
            assert ids == engine.get_allowed_token_ids_from_last_computation()
            assert bool(group.accepting(state)[row]) == engine.can_finish()
            engine.try_accept_new_token(int(tokens[row]))
        state = group.advance(state, tokens)
        assert group.is_final(state).tolist() == [engine.is_finished() for engine in engines]


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_a_rejected_token_is_dead_and_masks_to_the_ends(kind: torch.dtype) -> None:
    _, group = setting()
    state = group.advance(group.start([0, 1]), torch.tensor([0, 0]))
    assert (state == 0).tolist() == [True, False]
    assert (group.advance(state, torch.tensor([6, 2])) == 0).tolist() == [True, False]
    logits = group.mask_logits_(torch.zeros(2, WIDTH, dtype=kind), state)
    assert torch.isfinite(logits[0]).nonzero()[:, 0].tolist() == [21, 22]


def test_drafts_tell_where_they_are_refused() -> None:
    _, group = setting()
    draft = torch.tensor([[6, 9, 8, 7], [0, 2, 7, 2], [20, 1, 4, 21]])
    states, taken = group.advance_draft(group.start([0, 1, 2]), draft)
    assert taken.tolist() == [3, 2, 4]
    assert states.shape == (3, 4)
    assert states[1, 2:].tolist() == [0, 0]


def test_what_a_partial_table_misses_is_known() -> None:
    grammar = Grammar("start ::= '[' [start] ']';", finish="eos")
    table = TokenTable.build(grammar, VOCABULARY, max_states=6, partial=True)
    group = DeviceGrammars([table, table])
    state = group.start([0, 1])
    for _ in range(10):
        state = group.advance(state, torch.tensor([6, 7]))
    assert group.missed(state).tolist() == [True, False]
    logits = group.mask_logits_(torch.zeros(2, len(table.token_class)), state)
    assert torch.isfinite(logits[0]).nonzero()[:, 0].tolist() == [21, 22]
    assert group.missed(group.advance(state, torch.tensor([6, 7]))).tolist() == [True, False]


def test_without_an_end_nothing_is_constrained_after_the_end() -> None:
    vocabulary = Vocabulary({0: b"a", 1: b"b"})
    table = TokenTable.build(Grammar("start ::= 'a';"), vocabulary)
    group = DeviceGrammars([table])
    state = group.advance(group.start([0]), torch.tensor([0]))
    assert torch.isfinite(group.mask_logits_(torch.zeros(1, 2), state)).all()


def test_tables_of_two_vocabularies_do_not_mix() -> None:
    other = Vocabulary({0: b"a"})
    tables = [TokenTable.build(Grammar("start ::= 'a';"), each) for each in (VOCABULARY, other)]
    with pytest.raises(ValueError, match="one vocabulary"):
        DeviceGrammars(tables)


def test_a_step_is_one_graph() -> None:
    _, group = setting()

    def step(
        logits: torch.Tensor, state: torch.Tensor, tokens: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return group.mask_logits_(logits, state), group.advance(state, tokens)

    compiled = torch.compile(step, fullgraph=True, backend="eager")
    state, tokens = group.start([0, 1, 2]), torch.tensor([6, 0, 20])
    logits, after = compiled(torch.zeros(3, WIDTH), state, tokens)
    plain, after_plainly = step(torch.zeros(3, WIDTH), state, tokens)
    assert torch.equal(logits, plain)
    assert torch.equal(after, after_plainly)


def test_rows_of_engines_mask_as_the_engines_do() -> None:
    grammars, _ = setting()
    rows = RowTable(VOCABULARY, capacity=4)
    engines = [Engine(grammar, VOCABULARY) for grammar in grammars]
    ids = torch.tensor([rows.of(engine) for engine in engines])
    logits = rows.mask_logits_(torch.zeros(3, WIDTH), ids)
    for row, engine in enumerate(engines):
        engine.compute_allowed_token_ids()
        wanted = engine.get_allowed_token_ids_from_last_computation()
        assert np.flatnonzero(torch.isfinite(logits[row]).numpy()).tolist() == wanted


def test_rows_are_sent_once_and_the_least_recently_used_goes() -> None:
    rows = RowTable(VOCABULARY, capacity=2)
    engines = [Engine(Grammar(f"start ::= '{each}';"), VOCABULARY) for each in "abc"]
    first = rows.of(engines[0])
    assert rows.of(engines[0]) == first
    assert rows.sent == 1
    rows.of(engines[1])
    rows.of(engines[0])
    assert rows.of(engines[2]) != first
    assert rows.of(engines[0]) == first
    assert rows.sent == 3
