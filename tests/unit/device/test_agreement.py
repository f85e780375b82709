"""Tables over a real vocabulary: masks are the engine's, and so are sequences made without it."""

import json
import random
from typing import Any

import jsonschema
import numpy as np
import pytest

from kbnf_core import Config, Engine, Finish, Grammar, Vocabulary
from kbnf_core.device import TokenTable
from kbnf_core.mask.bits import unpack
from kbnf_testing.real_vocabulary import real_vocabulary

SCHEMAS: dict[str, Any] = {
    "flat": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 12},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "kind": {"enum": ["a", "ab", None, 3]},
        },
        "required": ["name", "kind"],
        "additionalProperties": False,
    },
    "nested": {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "é": {"type": "boolean"}},
                    "required": ["x"],
                    "additionalProperties": False,
                },
                "maxItems": 3,
            }
        },
        "required": ["items"],
        "additionalProperties": False,
    },
    "pattern": {"type": "string", "pattern": "^[a-f]{2,4}-\\d+$"},
    "union": {"anyOf": [{"type": "integer"}, {"const": "12"}, {"type": "null"}]},
}
TEXTS = {
    "left": "start ::= start '+' term | term; term ::= #'[0-9]+' | 'x';",
    "ends": "start ::= 'ab' ('c' 'd'*)?;",
    "named": "start ::= 'yes' | #token'</s>' 'no' | #token'hello'+;",
}


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return real_vocabulary()


def grammar_of(name: str, whitespace: str = "flexible") -> Grammar:
    if name in TEXTS:
        return Grammar(TEXTS[name])
    return Grammar.from_json_schema(SCHEMAS[name], whitespace=whitespace)


@pytest.mark.parametrize("finish", list(Finish))
@pytest.mark.parametrize("name", [*SCHEMAS, *TEXTS])
def test_masks_over_random_texts_are_the_engines(
    tekken: Vocabulary, name: str, finish: Finish
) -> None:
    grammar = grammar_of(name)
    table = TokenTable.build(grammar, tekken, finish)
    engine = Engine(grammar, tekken, Config(finish=finish))
    rng = random.Random(f"{name} {finish}")
    words = np.zeros((tekken.size + 31) // 32, np.int32)
    masks = 0
    while masks < 250:
        engine.reset()
        state = table.initial
        while not engine.is_finished():
            engine.fill_bitmask(words)
            wanted = unpack(words.view(np.uint32), tekken.size)
            allowed = (table.transitions[state] != 0)[table.token_class]
            assert (allowed == wanted).all(), engine.accepted
            assert table.accepting[state] == engine.can_finish()
            masks += 1
            token = pick(rng, np.flatnonzero(wanted), tekken)
            engine.try_accept_new_token(token)
            state = int(table.transitions[state, table.token_class[token]])
            if rng.random() < 0.02:
                break
        assert engine.is_finished() == table.final[state]


def pick(
    rng: random.Random, ids: "np.ndarray[tuple[int], np.dtype[np.int64]]", of: Vocabulary
) -> int:
    """Return a token; often one that ends strings, numbers or the text, so that texts end."""
    short = [each for each in ids.tolist() if len(of.token(each) or b"") <= 2]
    return rng.choice(short if short and rng.random() < 0.7 else ids.tolist())


def generate(table: TokenTable, batch: int, steps: int) -> list[list[int]]:
    """Return sequences that torch alone made; those that did not end are left out."""
    import torch

    from kbnf_core.device import DeviceGrammars

    group = DeviceGrammars([table])
    generator = torch.Generator().manual_seed(3)
    # Tokens with few letters are likelier: else strings never end.
    width = len(table.token_class)
    state = group.start([0] * batch)
    taken, over = [], []
    for _ in range(steps):
        logits = torch.rand(batch, width, generator=generator)
        logits[:, :1400] += 0.9
        tokens = group.mask_logits_(logits, state).argmax(-1)
        state = group.advance(state, tokens)
        taken.append(tokens)
        over.append(group.is_final(state))
    sequences = torch.stack(taken, 1).tolist()
    ends = torch.stack(over, 1).long().argmax(1).tolist()
    done = over[-1].tolist()
    return [row[: end + 1] for row, end, d in zip(sequences, ends, done, strict=True) if d]


@pytest.mark.parametrize("name", SCHEMAS)
def test_sequences_made_by_torch_alone_are_in_the_grammar(tekken: Vocabulary, name: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")
    grammar = grammar_of(name, "compact")
    sequences = generate(TokenTable.build(grammar, tekken, "eos"), batch=8, steps=80)
    assert len(sequences) >= 2
    for ids in sequences:
        engine = Engine(grammar, tekken, Config(finish="eos"))
        assert engine.accept_tokens(ids) == len(ids)
        assert engine.is_finished()
        value = json.loads(b"".join(tekken.token(each) or b"" for each in ids))
        jsonschema.validate(value, SCHEMAS[name])
