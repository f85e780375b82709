"""Adapters with a real model: what it writes is valid, and every part of the toolkit agrees.

40 prompts are answered under 12 grammars: in llama.cpp, by cyllama and llama-cpp-python, one after
the other, and in transformers, also by outlines, in batches.
"""

import json
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor

from kbnf_core import ConfigError, Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.trace import advise, read_log, trace
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
            max_tokens=LIMIT + 1,
            seed=number,
            logits_processor=LogitsProcessorList([processor]),
        )
        choice = answer["choices"][0]
        # A budget closes each text in time, and the end that llama.cpp waits for is one more.
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
    settings = {"max_new_tokens": LIMIT + 1, "do_sample": True}
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
        written = output[0, begin:].tolist()
        tokens = [each for each in written if each not in vocabulary.eos_token_ids]
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


def test_a_text_does_not_depend_on_the_texts_before_it() -> None:
    """What prompts begin with in common is not evaluated again, and nothing else is kept."""
    model, grammar = cyllama_model(), GRAMMARS["boolean"]
    prompts = [*map(chat, PROMPTS[:3]), chat(PROMPTS[0])[:-12], chat(PROMPTS[0] + " Now.")]
    first = [model.write(prompt, grammar, limit=24).tokens for prompt in prompts]
    for order in ((4, 0, 3, 0, 0), (3, 4, 2, 1)):
        for place in order:
            assert model.write(prompts[place], grammar, limit=24).tokens == first[place]


def test_gguf_vocabularies_are_encoded_and_canonical_masks_agree() -> None:
    vocabulary = load_vocabulary(model_path())
    assert vocabulary.encode("Hello 42") == Vocabulary.of(cyllama_model()._model).encode("Hello 42")
    found = judge(vocabulary, vocabulary.encode, 500, seed=Random(5).randrange(99))
    assert len(found.different) <= 1, found.different


def test_odd_inputs_of_cyllama_are_refused_or_harmless() -> None:
    from kbnf_core.integrations.cyllama import KbnfModel

    model, grammar = cyllama_model(), GRAMMARS["choice"]
    for prompt, limit in (("", 9), ("x " * 1000, 100)):
        with pytest.raises(ConfigError):
            model.write(prompt, grammar, limit=limit)
    with pytest.raises(ConfigError):
        KbnfModel(model_path(), context=0)
    assert model.write(chat("?"), grammar, limit=0).tokens == []

    def cancelled(logits: Any) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.write(chat("?"), grammar, choose=cancelled)
    # What was begun and cancelled leaves nothing behind.
    answers = {model.write(chat("?"), grammar).text for _ in range(2)}
    assert len(answers) == 1
    assert is_valid(grammar, answers.pop())


def test_what_to_change_is_what_the_log_of_the_model_shows() -> None:
    """Beside brute force: texts that the model would have begun with a word."""
    model, grammar = cyllama_model(), GRAMMARS["person"]
    engine = Engine(grammar, model.vocabulary)
    engine.compute_allowed_token_ids()
    allowed = set(engine.get_allowed_token_ids_from_last_computation())
    lines, begun = [], 0
    for prompt in PROMPTS[10:16]:
        answer = model.write(chat(prompt), grammar, limit=4, top=20, forced=False)
        lines.append(json.dumps({"choices": [{"logprobs": {"content": answer.log}}]}))
        best = max(answer.log[0]["top_logprobs"], key=lambda each: each["logprob"])["token_id"]
        word = model.vocabulary.decode((best,)).decode("utf-8", "replace").strip()
        begun += best not in allowed and word[:1].isalpha()
    advice = {each.kind: each for each in advise(trace(engine, read_log(lines, model.vocabulary)))}
    assert begun >= 2
    assert advice["think"].count == begun


def test_sentencepiece_in_gguf_is_cut_by_cyllama_as_by_sentencepiece(tmp_path: Path) -> None:
    """A model of one layer of noise, with the tokens of a real one."""
    for name in ("mistral_common", "cyllama"):
        pytest.importorskip(name)
    gguf = pytest.importorskip("gguf")
    with as_file(files("mistral_common") / "data" / "tokenizer.model.v1") as path:
        processor: Any = SentencePieceProcessor(model_file=str(path))
    file, ids, width = tmp_path / "model.gguf", range(processor.vocab_size()), 32
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(width)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([*map(processor.id_to_piece, ids)])
    writer.add_token_scores([*map(processor.get_score, ids)])
    kinds = (processor.is_unknown, processor.is_control, processor.is_byte)
    writer.add_token_types(
        [next((n for is_one, n in zip(kinds, (2, 3, 6), strict=True) if is_one(i)), 1) for i in ids]
    )
    writer.add_bos_token_id(processor.bos_id())
    writer.add_eos_token_id(processor.eos_id())
    noise = np.random.default_rng(0)
    names = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_down", "ffn_up")
    shapes: dict[str, tuple[int, ...]] = {f"blk.0.{each}": (width, width) for each in names}
    shapes |= dict.fromkeys(("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"), (width,))
    shapes["token_embd"] = len(ids), width
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", noise.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    vocabulary = load_vocabulary(file)
    for text in ("Hello 42", " x", "", "\n", "你好 😀 ꙮ", "<s>", "a  b\tc"):
        assert vocabulary.encode(text) == processor.encode(text)
    found = judge(vocabulary, lambda words: processor.encode("\n" + words)[2:], 100)
    assert not found.different
