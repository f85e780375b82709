"""Adapters with a real model: what it writes is valid, and every part of the toolkit agrees.

40 prompts are answered under 12 grammars: in llama.cpp, by cyllama and llama-cpp-python, one after
the other, and in transformers, also by outlines, in batches.
"""

import json
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.trace import read_log, trace
from kbnf_testing.canonical import judge
from kbnf_testing.small_model import (
    chat,
    cyllama_model,
    llama_cpp_model,
    model_path,
    transformers_model,
)

pytestmark = pytest.mark.model

_SUBJECTS = (
    "Maria, 34, from Paris", "a red bicycle for 120 euros", "the weather in Oslo", "2 + 2",
    "a cat called Tom", "the film Alien", "a train at 9:40", "an order of three books",
    "a bug in a login page", "the planet Mars",
)  # fmt: skip
_TASKS = ("Describe {} in JSON.", "Is this positive: {}?", "Extract facts: {}.", "Which tool: {}?")
PROMPTS = [task.format(subject) for task in _TASKS for subject in _SUBJECTS]
LIMIT = 48


def _schema(properties: dict[str, Any]) -> Grammar:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Grammar.from_json_schema({**schema, "additionalProperties": False})


_TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "maxLength": 30}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
GRAMMARS: dict[str, Grammar] = {
    "person": _schema({"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}}),
    "enum": _schema({"sentiment": {"enum": ["positive", "negative"]}}),
    "array": Grammar.from_json_schema(
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 4}
    ),
    "nested": _schema({"item": {"type": "object", "properties": {"n": {"type": "number"}}}}),
    "boolean": _schema({"ok": {"type": "boolean"}, "why": {"type": "string", "maxLength": 30}}),
    "date": _schema({"day": {"type": "string", "format": "date"}}),
    "compact": Grammar.from_json_schema({"type": "object"}, whitespace="compact"),
    "tools": Grammar.from_tools([_TOOL]),
    "kbnf": Grammar("start ::= 'Answer: ' ('yes' | 'no' | #'[0-9]{1,4}');", finish="eos"),
    "gbnf": Grammar.from_gbnf('root ::= "- " [a-z]+ ("\\n- " [a-z]+){0,3}'),
    "lark": Grammar.from_lark('start: "result" "=" NUMBER\nNUMBER: /[0-9]+(\\.[0-9]{1,2})?/\n'),
    "choice": Grammar.from_choice(["refund", "complaint", "praise", "something else"]),
}


def is_valid(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    return engine.accept_tokens(text.encode()) == len(text.encode()) and engine.can_finish()


def drawn(seed: int) -> Any:
    """Return what draws a token at temperature 1, for a seed."""
    generator = np.random.default_rng(seed)

    def choose(logits: Any) -> int:
        weights = np.exp(logits - logits.max()).astype(np.float64)
        return int(generator.choice(len(weights), p=weights / weights.sum()))

    return choose


def check(grammar: Grammar, vocabulary: Vocabulary, tokens: list[int], is_over: bool) -> None:
    """Compare the text of some tokens with what the grammar, values and traces say of it."""
    text = vocabulary.decode(tokens).decode("utf-8", "replace")
    engine = Engine(grammar, vocabulary)
    assert engine.accept_tokens(tokens) == len(tokens), text
    if is_over:
        assert is_valid(grammar, text), text
        if text.startswith(("{", "[")) and "�" not in text:
            reader = grammar.value_reader(vocabulary)
            assert reader.read(list(tokens), is_over=True) == json.loads(text)
    records = [json.dumps({"token_id": each, "logprob": -1.0}) for each in tokens]
    found = trace(engine, read_log(records, vocabulary))
    assert not found.rejected
    assert found.steps == len(tokens)
    assert bool(found.unfinished) != is_over or not tokens


@pytest.mark.parametrize("name", GRAMMARS)
def test_cyllama(name: str) -> None:
    model, grammar, over = cyllama_model(), GRAMMARS[name], 0
    for number, prompt in enumerate(PROMPTS):
        answer = model.write(
            chat(prompt), grammar, limit=LIMIT, choose=drawn(number), canonical=number % 2 == 1
        )
        assert answer.passes <= len(answer.tokens) + 1
        engine = Engine(grammar, model.vocabulary)
        engine.accept_tokens(answer.tokens)
        over += engine.can_finish()
        check(grammar, model.vocabulary, answer.tokens, engine.can_finish())
    assert over


@pytest.mark.parametrize("name", GRAMMARS)
def test_llama_cpp_python(name: str) -> None:
    llm, grammar = llama_cpp_model(), GRAMMARS[name]
    from llama_cpp import LogitsProcessorList

    from kbnf_core.integrations.llama_cpp import KbnfLogitsProcessor

    vocabulary = Vocabulary.of(llm)
    processor = KbnfLogitsProcessor(grammar, vocabulary, budget=LIMIT)
    for number, prompt in enumerate(PROMPTS):
        answer = llm(
            chat(prompt),
            max_tokens=LIMIT,
            seed=number,
            logits_processor=LogitsProcessorList([processor]),
        )
        choice = answer["choices"][0]
        # A budget closes each text in time.
        assert choice["finish_reason"] == "stop"
        assert is_valid(grammar, choice["text"]), choice["text"]
        check(grammar, vocabulary, vocabulary.encode(choice["text"]), is_over=True)


@lru_cache(maxsize=1)
def transformers_vocabulary() -> Vocabulary:
    return Vocabulary.of(transformers_model()[1])


@pytest.mark.parametrize("name", GRAMMARS)
def test_transformers(name: str) -> None:
    """All prompts in one batch, which are padded on the left; a budget closes each text in time."""
    model, tokenizer = transformers_model()
    import torch

    from kbnf_core.integrations.transformers import KbnfLogitsProcessor

    vocabulary, grammar = transformers_vocabulary(), GRAMMARS[name]
    tokenizer.padding_side = "left"
    prompts = [*map(chat, PROMPTS)]
    inputs = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    torch.manual_seed(len(name))
    processor = KbnfLogitsProcessor(grammar, vocabulary, budget=LIMIT, canonical="e" in name)
    settings = {"max_new_tokens": LIMIT, "do_sample": True}
    rows = model.generate(**inputs, logits_processor=[processor], **settings)
    for row in rows[:, inputs["input_ids"].shape[1] :].tolist():
        end = next(place for place, each in enumerate(row) if each in vocabulary.eos_token_ids)
        check(grammar, vocabulary, row[:end], is_over=True)


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_loop_in_transformers(name: str) -> None:
    model, tokenizer = transformers_model()
    import torch

    from kbnf_core.integrations.transformers_loop import KbnfGenerate

    vocabulary, grammar = transformers_vocabulary(), GRAMMARS[name]
    for number, prompt in enumerate(PROMPTS[:2]):
        inputs = tokenizer(chat(prompt), return_tensors="pt", return_token_type_ids=False)
        begin = inputs["input_ids"].shape[1]
        torch.manual_seed(number)
        loop = KbnfGenerate(grammar, vocabulary, budget=LIMIT, canonical=bool(number))
        output = model.generate(
            **inputs, custom_generate=loop, max_new_tokens=LIMIT, do_sample=True
        )
        *tokens, end = output[0, begin:].tolist()
        assert end in vocabulary.eos_token_ids
        assert loop.passes <= len(tokens) + 1
        check(grammar, vocabulary, tokens, is_over=True)


@pytest.mark.parametrize("name", GRAMMARS)
def test_outlines(name: str) -> None:
    outlines = pytest.importorskip("outlines")
    model, tokenizer = transformers_model()
    import torch

    from kbnf_core.integrations.outlines import KbnfProcessor

    grammar, over = GRAMMARS[name], 0
    processor = KbnfProcessor(grammar, transformers_vocabulary())
    generator = outlines.Generator(
        outlines.from_transformers(model, tokenizer), processor=processor
    )
    torch.manual_seed(len(name))
    texts = generator.batch([*map(chat, PROMPTS)], max_new_tokens=LIMIT, do_sample=True)
    assert len(texts) == len(PROMPTS)
    for text in texts:
        data = text.removesuffix("\ufffd").encode()
        engine = Engine(grammar, Vocabulary.bytes())
        assert engine.accept_tokens(data) == len(data), text
        if engine.can_finish():
            over += 1
            vocabulary = transformers_vocabulary()
            check(grammar, vocabulary, vocabulary.encode(data), is_over=True)
    assert over


def test_forced_tokens_save_passes_and_change_no_answer() -> None:
    model, plain, saved = cyllama_model(), 0, 0
    for prompt in PROMPTS[:6]:
        answers = [
            model.write(
                chat(prompt), GRAMMARS["person"], limit=LIMIT, forced=forced, canonical=True
            )
            for forced in (False, True)
        ]
        assert answers[0].tokens == answers[1].tokens
        plain, saved = plain + answers[0].passes, saved + answers[1].passes
    assert saved < plain


def test_gguf_vocabularies_are_encoded_and_canonical_masks_agree() -> None:
    vocabulary = load_vocabulary(model_path())
    assert vocabulary.encode("Hello 42") == Vocabulary.of(cyllama_model()._model).encode("Hello 42")
    found = judge(vocabulary, vocabulary.encode, 500, seed=Random(5).randrange(99))
    assert len(found.different) <= 1, found.different
