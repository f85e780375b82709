"""Batches on the device: masks and steps of torch alone are those of the engine."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary

if TYPE_CHECKING:
    import torch
else:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

# Importing these needs torch, too.
import torch._dynamo.testing

from kbnf_core.device import DeviceGrammars, NearestEnds, RowTable, TokenTable

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


def step(
    group: DeviceGrammars,
    ends: NearestEnds,
    logits: torch.Tensor,
    state: torch.Tensor,
    draft: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Call all that a loop calls at a step."""
    left = torch.full_like(state, 4)
    return (
        group.start(torch.zeros_like(state)),
        group.mask_logits_(logits.clone(), state),
        ends.mask_logits_(logits.clone(), state, left),
        group.advance(state, draft[:, 0]),
        *group.advance_draft(state, draft),
        *(told(state) for told in (group.missed, group.accepting, group.is_final, group.waiting)),
    )


def test_a_step_is_one_graph_which_serves_all_states() -> None:
    _, group = setting()
    ends = NearestEnds(group)
    graphs = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(partial(step, group, ends), fullgraph=True, backend=graphs)
    draft = torch.tensor([[6, 9, 8], [0, 2, 7], [20, 1, 4]])
    for state in (group.start([0, 1, 2]), group.start([2, 2, 0]), group.start([0, 0, 0]) * 0):
        found = compiled(torch.zeros(3, WIDTH), state, draft)
        plain = step(group, ends, torch.zeros(3, WIDTH), state, draft)
        assert all(torch.equal(*pair) for pair in zip(found, plain, strict=True))
    assert graphs.frame_count == 1


def test_a_step_looks_at_no_value() -> None:
    # Tensors of this device have shapes and no values: asking for one raises.
    grammars, group = setting()
    tables = [TokenTable.build(grammar, VOCABULARY) for grammar in grammars]
    nowhere = DeviceGrammars(tables, "meta", WIDTH)
    ends = NearestEnds(group)
    ends._group, ends.needs = nowhere, ends.needs.to("meta")
    ends._soonest = ends._soonest.to("meta")
    state, draft = (torch.zeros(shape, dtype=torch.int32) for shape in ((3,), (3, 4)))
    found = step(
        nowhere, ends, torch.zeros(3, WIDTH).to("meta"), state.to("meta"), draft.to("meta")
    )
    plain = step(group, NearestEnds(group), torch.zeros(3, WIDTH), state, draft)
    assert [(e.shape, e.dtype) for e in found] == [(e.shape, e.dtype) for e in plain]
    with pytest.raises((RuntimeError, NotImplementedError)):
        found[0].tolist()


def test_texts_are_over_within_the_tokens_that_are_left() -> None:
    grammars, group = setting()
    ends = NearestEnds(group)
    generator = torch.Generator().manual_seed(4)
    index = [number % 3 for number in range(60)]
    for budget in (1, 4, 9):
        state = group.start(index)
        # Some begin with too few: these take the shortest way out.
        needs = ends.needs[state.long()].tolist()
        wanted = [max(budget, need) for need in needs]
        left = torch.full_like(state, budget)
        tokens_of: list[list[int]] = [[] for _ in index]
        for _ in range(12):
            logits = ends.mask_logits_(torch.zeros(len(index), WIDTH), state, left)
            tokens = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]
            for row, over in enumerate(group.is_final(state).tolist()):
                if not over:
                    tokens_of[row].append(int(tokens[row]))
            state, left = group.advance(state, tokens), left - 1
        assert group.is_final(state).all()
        lengths = [len(each) for each in tokens_of]
        assert all(length <= most for length, most in zip(lengths, wanted, strict=True))
        assert budget < 9 or max(lengths) > 5
        for number, ids in zip(index, tokens_of, strict=True):
            engine = Engine(grammars[number], VOCABULARY)
            assert engine.accept_tokens(ids) == len(ids)
            assert engine.is_finished()


def test_where_no_end_is_known_anything_that_can_come_may() -> None:
    nested = Grammar("start ::= '[' start ']' | 'x' 'y';", finish="eos")
    table = TokenTable.build(nested, VOCABULARY, max_states=5, partial=True)
    group = DeviceGrammars([table])
    state = group.start([0])
    left = torch.ones(1, dtype=torch.int32)
    logits = NearestEnds(group).mask_logits_(torch.zeros(1, group.width), state, left)
    assert torch.isfinite(logits[0]).nonzero()[:, 0].tolist() == [6, 14]


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
