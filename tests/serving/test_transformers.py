"""transformers for real: tiny random models, every way to generate, judged by other readers."""

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.text.errors import ConfigError
from kbnf_testing import tokenizer_files

pytest.importorskip("torch", reason="torch is not installed (extra `transformers`)")
pytest.importorskip("transformers", reason="no transformers (extra `transformers`)")

import torch
import transformers

from kbnf_core.integrations.transformers import KbnfLogitsProcessor

SHORT = Grammar("start ::= #'[a-h]{3,9}( [a-h]{2,5}){0,2}';", finish="eos")
OTHER = Grammar("start ::= #'[0-9]{2,12}';", finish="eos")
JSON = Grammar(
    """
    start ::= value;
    value ::= object | list | string | number;
    object ::= '{' (member (', ' member)*)? '}';
    member ::= string ': ' value;
    list ::= '[' (value (', ' value)*)? ']';
    string ::= #'"[a-z ]{0,8}"';
    number ::= #'-?(0|[1-9][0-9]{0,3})';
    """,
    finish="eos",
)
PADDED = 448
"""Columns of the models' heads, which is more than the tokenizer has ids."""


class Model(NamedTuple):
    """A tokenizer, and what makes texts of prompts."""

    tokenizer: Any
    generate: Callable[..., Any]


def tokenizer() -> Any:
    fast: Any = transformers.PreTrainedTokenizerFast
    trained = tokenizer_files.byte_level()
    return fast(
        tokenizer_object=trained,
        eos_token="<|endoftext|>",  # noqa: S106 - a token
        pad_token="<|im_end|>",  # noqa: S106 - a token
        padding_side="left",
    )


def make(kind: str) -> Model:
    torch.manual_seed(7)
    ids = tokenizer()
    ends = {"eos_token_id": ids.eos_token_id, "pad_token_id": ids.pad_token_id}
    model: Any
    if kind == "gpt2":
        gpt2 = transformers.GPT2Config(
            vocab_size=PADDED, n_positions=512, n_embd=32, n_layer=2, n_head=2
        )
        model = transformers.GPT2LMHeadModel(gpt2)
    else:
        llama = transformers.LlamaConfig(
            vocab_size=PADDED,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=512,
        )
        model = transformers.LlamaForCausalLM(llama)
    model.eval()

    def generate(prompts: list[str], **settings: Any) -> list[str]:
        inputs = ids(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
        out = model.generate(**inputs, **ends, **settings)
        new = out[:, inputs["input_ids"].shape[1] :]
        return [str(ids.decode(row, skip_special_tokens=True)) for row in new]

    return Model(ids, generate)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep torch from waiting for threads that models of this size have no work for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest) -> Model:
    return make(request.param)


def is_short(text: str) -> bool:
    return re.fullmatch(r"[a-h]{3,9}( [a-h]{2,5}){0,2}", text) is not None


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


PROMPTS = ["hello", "a much longer prompt to pad the others for"]
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "temperature": 1.5},
    "beams": {"num_beams": 3, "do_sample": False},
    "sequences": {"do_sample": True, "num_return_sequences": 2},
    "beams and sequences": {"num_beams": 3, "num_return_sequences": 2, "do_sample": False},
}


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rounds", [range(2), pytest.param(range(2, 6), marks=pytest.mark.slow)])
def test_texts_are_in_the_grammar_in_any_way(
    model: Model, way: str, device: bool, rounds: range
) -> None:
    processor = KbnfLogitsProcessor(SHORT, model.tokenizer, device=device)
    for round_ in rounds:
        torch.manual_seed(round_)
        prompts = [*PROMPTS[: 1 + round_ % 2], f"number {round_}"]
        texts = model.generate(
            prompts, logits_processor=[processor], max_new_tokens=40, **WAYS[way]
        )
        assert len(texts) == len(prompts) * WAYS[way].get("num_return_sequences", 1)
        assert [text for text in texts if not is_short(text)] == []


def test_greedy_texts_are_those_with_the_processor_of_xgrammar(model: Model) -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed (extra `peers`)")
    contrib = pytest.importorskip("xgrammar.contrib.hf")
    info = xgrammar.TokenizerInfo.from_huggingface(model.tokenizer, vocab_size=PADDED)
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(
        'root ::= [a-h]{3,9} (" " [a-h]{2,5}){0,2}'
    )
    processor = KbnfLogitsProcessor(SHORT, model.tokenizer)
    settings = {"max_new_tokens": 40, "do_sample": False}
    for number in range(6):
        prompts = [f"{number} of {prompt}" for prompt in PROMPTS]
        ours = model.generate(prompts, logits_processor=[processor], **settings)
        # Theirs is used once.
        theirs = [contrib.LogitsProcessor([compiled] * len(prompts))]
        assert ours == model.generate(prompts, logits_processor=theirs, **settings)


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_each_prompt_has_its_grammar_or_none(model: Model, way: str, device: bool) -> None:
    torch.manual_seed(1)
    processor = KbnfLogitsProcessor([SHORT, None, OTHER], model.tokenizer, device=device)
    share = WAYS[way].get("num_return_sequences", 1)
    texts = model.generate(
        [*PROMPTS, "third"], logits_processor=[processor], max_new_tokens=40, **WAYS[way]
    )
    assert all(map(is_short, texts[:share]))
    assert all(re.fullmatch("[0-9]{2,12}", text) for text in texts[2 * share :])
    if way == "greedy":
        free = model.generate([*PROMPTS, "third"], max_new_tokens=40, **WAYS[way])
        assert texts[1] == free[1]


@pytest.mark.parametrize("budget", [5, 12, 30])
def test_a_budget_closes_the_text_in_time(model: Model, budget: int) -> None:
    processor = KbnfLogitsProcessor(JSON, model.tokenizer, budget=budget)
    for seed in range(5):
        torch.manual_seed(seed)
        texts = model.generate(
            PROMPTS,
            logits_processor=[processor],
            max_new_tokens=budget,
            do_sample=True,
            temperature=2.0,
        )
        assert [text for text in texts if not is_json(text)] == []


def test_a_budget_learns_a_grammar_once(model: Model) -> None:
    processor = KbnfLogitsProcessor(JSON, model.tokenizer, budget=12)
    settings = {"max_new_tokens": 12, "do_sample": False}
    first = model.generate(PROMPTS, logits_processor=[processor], **settings)
    assert all(map(is_json, first))
    engine = processor._beginnings[0].engine
    assert engine is not None
    walker = engine._automaton.nearest_end.walker
    visited = walker.visited
    assert model.generate(PROMPTS, logits_processor=[processor], **settings) == first
    assert walker.visited == visited > 0


def test_a_budget_that_is_too_small_names_the_least() -> None:
    grammar = Grammar.from_json_schema({"type": "object", "minProperties": 3})
    with pytest.raises(ConfigError, match=r"budget=15 is too small: \d+ tokens are enough"):
        KbnfLogitsProcessor(grammar, Vocabulary.bytes(), budget=15)


class _Scripted:
    """Makes a model write a text first, whatever it would have written."""

    def __init__(self, ids: list[int], prompt: int) -> None:
        self._ids = ids
        self._prompt = prompt

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        place = input_ids.shape[1] - self._prompt
        if place < len(self._ids):
            scores = torch.full_like(scores, -torch.inf)
            scores[:, self._ids[place]] = 0
        return scores


@pytest.mark.parametrize("thought", ["hm</think>", "{a}</thin </think>ab", "</think>"])
def test_the_grammar_waits_for_a_text(model: Model, thought: str) -> None:
    prompt = len(model.tokenizer("hello")["input_ids"])
    script: Any = _Scripted(model.tokenizer(thought)["input_ids"], prompt)
    processor = KbnfLogitsProcessor(SHORT, model.tokenizer, after="</think>")
    for _ in range(2):
        (text,) = model.generate(
            ["hello"], logits_processor=[script, processor], max_new_tokens=60, do_sample=False
        )
        before, _, answer = text.partition("</think>")
        assert before == thought.partition("</think>")[0]
        assert is_short(answer)


def test_a_text_that_is_over_has_its_end_only(model: Model) -> None:
    processor = KbnfLogitsProcessor("start ::= 'ab';", model.tokenizer)
    for settings in WAYS.values():
        if settings.get("num_return_sequences", 1) == 1 and "num_beams" not in settings:
            texts = model.generate(
                ["x"], logits_processor=[processor], max_new_tokens=10, **settings
            )
            assert texts == ["ab"]


def test_scores_that_were_given_are_left_alone() -> None:
    processor = KbnfLogitsProcessor(SHORT, tokenizer())
    scores: Any = torch.zeros(2, PADDED)
    ids: Any = torch.tensor([[1, 2], [1, 2]])
    masked = processor(ids, scores)
    assert not scores.any()
    assert torch.isneginf(masked[:, 400:]).all()


def test_drafts_are_taken_back() -> None:
    ids = tokenizer()
    processor = KbnfLogitsProcessor(OTHER, ids)
    scores: Any = torch.zeros(1, PADDED)
    one, two = ids.convert_tokens_to_ids(["1", "2"])
    expected: dict[int, Any] = {}
    random = Random(3)
    row = [5, 6]
    for _ in range(40):
        prefix: Any = torch.tensor([row])
        taken = processor(prefix, scores)
        assert torch.equal(expected.setdefault(len(row), taken), taken)
        row = [*row, random.choice([one, two])] if random.random() < 0.6 else row[: len(row) - 1]
        row = [5, 6] if len(row) < 2 else row[:12]


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(ConfigError, match="eos"):
        KbnfLogitsProcessor(SHORT, tokenizer(), eos=[])
    processor = KbnfLogitsProcessor([SHORT, OTHER], tokenizer())
    three: Any = torch.zeros(3, 1, dtype=torch.int64)
    scores: Any = torch.zeros(3, PADDED)
    with pytest.raises(ConfigError, match="2 grammars"):
        processor(three, scores)


def test_tables_mask_as_engines_do_also_where_tokens_are_taken_back() -> None:
    ids = tokenizer()
    pair: Any = [KbnfLogitsProcessor([SHORT, OTHER], ids, device=each) for each in (False, True)]
    rows = torch.tensor([ids("hello")["input_ids"][:1], ids("third")["input_ids"][:1]])
    generator = torch.Generator().manual_seed(2)
    for _ in range(3):
        longer = rows
        for _ in range(4):
            scores = torch.rand(2, PADDED, generator=generator)
            masked = [processor(longer, scores.clone()) for processor in pair]
            assert torch.equal(*masked)
            longer = torch.cat((longer, masked[0].argmax(1)[:, None]), 1)
        # The draft was taken up to its second token.
        rows = longer[:, : rows.shape[1] + 2]


def test_what_does_not_close_is_masked_on_the_host_in_the_same_batch(model: Model) -> None:
    processor = KbnfLogitsProcessor([JSON, SHORT, None, OTHER], model.tokenizer, device=True)
    assert processor.on_device == [False, True, False, True]
    plain = KbnfLogitsProcessor([JSON, SHORT, None, OTHER], model.tokenizer)
    assert plain.on_device == []
    for way in ("greedy", "beams"):
        torch.manual_seed(3)
        texts = [
            model.generate(
                [*PROMPTS, "third", "x"], logits_processor=[each], max_new_tokens=40, **WAYS[way]
            )
            for each in (processor, plain)
        ]
        assert texts[0] == texts[1]
    assert is_short(texts[0][1])


@pytest.mark.parametrize("name", ["</think>", "aab", "<|im_end|>"])
def test_tables_wait_as_engines_do(name: str) -> None:
    ids = tokenizer()
    pair: Any = [
        KbnfLogitsProcessor([SHORT, OTHER], ids, device=each, after=name) for each in (False, True)
    ]
    # What is no token stays free on the host alone.
    known = torch.zeros(PADDED, dtype=torch.bool)
    known[list(ids.get_vocab().values())] = True
    named = ids(name, add_special_tokens=False)["input_ids"]
    ends = [each for text, each in ids.get_vocab().items() if name[-1] in text]
    begun = 0
    for seed in range(30):
        random = Random(seed)
        rows = torch.tensor([[random.randrange(300)], [5]])
        for step in range(25):
            scores = torch.rand(2, PADDED, generator=torch.Generator().manual_seed(seed))
            masked = [processor(rows, scores.clone()) for processor in pair]
            assert torch.equal(*(each[:, known] for each in masked))
            begun += int(torch.isneginf(masked[0][:, known]).any())
            free = not torch.isneginf(masked[0][0, known]).any()
            token = (
                named[step % len(named)]
                if free and random.random() < 0.8
                else random.choice([*ends, *range(300)])
                if free
                else int(masked[1][0].argmax())
            )
            other = int(masked[1][1].argmax())
            rows = torch.cat((rows, torch.tensor([[token], [other]])), 1)
    assert begun > 100


def is_enclosed(text: str) -> bool:
    return text[:1] in '"[' and text[-1:] in '"]'


@pytest.mark.parametrize("budget", [5, 24])
def test_a_budget_is_kept_on_the_device(model: Model, budget: int) -> None:
    grammar = Grammar("start ::= #'\"[a-z ]{2,90}\"' | '[' #'[0-9]{1,40}' ']';", finish="eos")
    processor = KbnfLogitsProcessor(
        [grammar, JSON], model.tokenizer, device=True, budget=budget, after="</think>"
    )
    assert processor.on_device == [True, False]
    thought = model.tokenizer("hm</think>")["input_ids"]
    prompt = len(model.tokenizer(PROMPTS, padding=True)["input_ids"][0])
    script: Any = _Scripted(thought, prompt)
    judges: list[Callable[[str], bool]] = [is_enclosed, is_json]
    lengths = set()
    for seed in range(3):
        torch.manual_seed(seed)
        texts = model.generate(
            PROMPTS,
            logits_processor=[script, processor],
            max_new_tokens=budget + len(thought),
            do_sample=True,
            temperature=2.0,
        )
        for text, is_right in zip(texts, judges, strict=True):
            answer = text.partition("</think>")[2]
            assert is_right(answer), text
            lengths.add(len(answer))
    assert len(lengths) > 1
