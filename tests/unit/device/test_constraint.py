"""One loop for grammars that close and for such as do not; the faces in JAX and in Triton."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary

if TYPE_CHECKING:
    import torch
else:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

# Importing these needs torch, too.
from kbnf_core.device import DeviceConstraint, DeviceGrammars, TokenTable

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


def test_jax_does_the_same() -> None:
    pytest.importorskip("jax", reason="jax is not installed (extra `jax`)")
    from jax import jit
    from jax import numpy as jnp

    from kbnf_core.device.in_jax import JaxGrammars

    pair = grammars("eos")
    tables = [TokenTable.build(each, VOCABULARY, max_states=8, partial=True) for each in pair]
    tables.append(TokenTable.build(pair[1], VOCABULARY, after="]["))
    group, other = DeviceGrammars(tables, width=WIDTH), JaxGrammars(tables, WIDTH)
    mask, advance = jit(other.mask_logits), jit(other.advance)
    states, same = group.start([0, 1, 0, 2]), other.start([0, 1, 0, 2])
    draft = torch.tensor([[0, 2, 2, 2, 2], [4, 4, 6, 11, 11], [0, 1, 11, 0, 0], [1, 3, 0, 4, 4]])
    along, taken = group.advance_draft(states, draft)
    along_too, taken_too = other.advance_draft(same, jnp.asarray(draft.numpy()))
    assert along.tolist() == along_too.tolist()
    assert taken.tolist() == taken_too.tolist() == [5, 5, 3, 5]
    for step in range(5):
        plain = group.mask_logits_(torch.zeros(4, WIDTH), states)
        assert np.array_equal(plain.numpy(), np.asarray(mask(jnp.zeros((4, WIDTH)), same)))
        states = group.advance(states, draft[:, step])
        same = advance(same, jnp.asarray(draft[:, step].numpy()))
        assert states.tolist() == same.tolist()
        assert group.missed(states).tolist() == other.missed(same).tolist()
        assert group.is_final(states).tolist() == other.is_final(same).tolist()
        assert group.accepting(states).tolist() == other.accepting(same).tolist()
        assert group.waiting(states).tolist() == other.waiting(same).tolist()
        assert group.waiting(states).tolist() == [False, False, False, step < 2]
    assert group.missed(states).tolist() == [True, False, False, False]


def test_the_triton_kernel_masks_as_torch_does() -> None:
    pytest.importorskip("triton", reason="triton is not installed")
    # The interpreter is chosen when triton is imported.
    done = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["float32", "float16", "bfloat16"]


def compare_triton() -> None:
    from kbnf_core.device.in_triton import mask_logits_

    tables = [TokenTable.build(each, VOCABULARY) for each in grammars("eos")[1:]]
    group = DeviceGrammars(tables, width=1500)
    states = torch.arange(len(tables[0].transitions), dtype=torch.int32)
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        logits = torch.randn(len(states), 1500).to(kind)
        wanted = group.mask_logits_(logits.clone(), states)
        assert torch.isinf(wanted).any()
        assert torch.equal(mask_logits_(group, logits, states), wanted)
        sys.stdout.write(f"{kind}\n".removeprefix("torch."))


if __name__ == "__main__":
    compare_triton()
