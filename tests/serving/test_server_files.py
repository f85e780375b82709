"""vLLM's and SGLang's own files, from their wheels, around our distributions: their loops.

Where ``hosts.py`` has fetched them. vLLM's manager compiles, fills rows of drafts and batches; its
loaders of logits processors find ours by their names. SGLang finds its plugin as it finds any,
and its manager of grammars compiles, caches and refuses.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kbnf_core import Vocabulary
from kbnf_testing import servers

tokenizers = pytest.importorskip(
    "tokenizers", reason="tokenizers is not installed (extra `transformers`)"
)
torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed (extra `transformers`)"
)

pytestmark = pytest.mark.slow
WIDTH = 70
EOS, END = 35, 44
SPELLINGS = {**{chr(97 + i): i for i in range(8)}, "ab": 8, "Ġ": 10, "|": END}
TOKENIZER = tokenizers.Tokenizer(tokenizers.models.BPE(SPELLINGS, [("a", "b")]))
TOKENIZER.decoder = tokenizers.decoders.ByteLevel()
VOCABULARY = Vocabulary.of(TOKENIZER)
PATTERN = r"[a-h]{2,6}( [a-h]{2,4}){0,2}"


@pytest.fixture(autouse=True)
def _host() -> Iterator[None]:
    servers.need_wheels()
    with servers.installed(TOKENIZER, is_real=True):
        yield


def allowed(row: Any) -> list[int]:
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    found: list[int] = np.flatnonzero(bits[:WIDTH]).tolist()
    return found


def is_right(ids: list[int]) -> bool:
    text = b"".join(VOCABULARY.token(each) or b"" for each in ids[:-1]).decode()
    return ids[-1] == EOS and re.fullmatch(PATTERN, text) is not None


class _Config:
    """As much of vLLM's configuration as its manager reads."""

    def __init__(self, drafts: int, batch: int) -> None:
        self.parallel_config = SimpleNamespace(distributed_executor_backend="mp")
        self.scheduler_config = SimpleNamespace(max_num_seqs=batch)
        self.model_config = SimpleNamespace(
            skip_tokenizer_init=False, is_diffusion=False, get_vocab_size=lambda: WIDTH
        )
        self.structured_outputs_config = SimpleNamespace(
            reasoning_parser_plugin="", reasoning_parser="", enable_in_reasoning=False,
            disable_any_whitespace=False,
        )  # fmt: skip
        self.num_speculative_tokens = drafts
        self.speculative_config = None


def vllm_manager(monkeypatch: pytest.MonkeyPatch, drafts: int, batch: int) -> Any:
    """Return vLLM's manager, in which our plugin has taken its place."""
    package = importlib.import_module("kbnf_vllm")
    monkeypatch.setenv("KBNF_VLLM", "1")
    monkeypatch.setattr(package, "version", {"vllm": "0.33.0"}.__getitem__)
    package.register()
    module = importlib.import_module("vllm.v1.structured_output")
    return module.StructuredOutputManager(_Config(drafts, batch))


def vllm_request(number: int, kind: str, source: str) -> Any:
    options = importlib.import_module("vllm.v1.structured_output.backend_types")
    key = options.StructuredOutputOptions[kind], source
    return SimpleNamespace(
        request_id=str(number), use_structured_output=True,
        sampling_params=SimpleNamespace(
            structured_outputs=SimpleNamespace(_backend="guidance"), all_stop_token_ids={EOS}
        ),
        structured_output_request=SimpleNamespace(
            structured_output_key=key, grammar=None, reasoning_ended=None, reasoner=None,
            masked_reasoning_end_ids=None,
        ),
    )  # fmt: skip


@pytest.mark.parametrize(("drafts", "count"), [(0, 3), (2, 3), (0, 150)])
def test_the_manager_of_vllm_fills_rows_of_batches_and_drafts(
    monkeypatch: pytest.MonkeyPatch, drafts: int, count: int
) -> None:
    manager = vllm_manager(monkeypatch, drafts, 160)
    requests = {str(i): vllm_request(i, "REGEX", PATTERN) for i in range(count)}
    for request in requests.values():
        manager.grammar_init(request)
        structured = request.structured_output_request
        structured.grammar = structured.grammar.result()
    assert type(manager.backend).__module__ == "kbnf_vllm.backend"
    random = Random(1)
    texts: dict[str, list[int]] = {name: [] for name in requests}
    while texts and any(not text or text[-1] != EOS for text in texts.values()):
        open_ = [name for name, text in texts.items() if not text or text[-1] != EOS]
        drafted = {}
        for name in open_:
            draft = [random.randrange(8) for _ in range(drafts)]
            drafted[name] = manager.validate_tokens(requests[name], draft)
        rows = manager.grammar_bitmask(requests, open_, drafted)
        for place, name in enumerate(open_):
            own = rows[place * (1 + drafts) :]
            taken = []
            for row, token_id in zip(own, [*drafted[name], None], strict=False):
                wanted = allowed(row)
                assert token_id is None or token_id in wanted
                taken.append(random.choice(wanted) if token_id is None else token_id)
                if taken[-1] == EOS:
                    break
            grammar = requests[name].structured_output_request.grammar
            assert grammar.accept_tokens(name, taken)
            texts[name] += taken
    assert all(map(is_right, texts.values()))
    manager.backend.destroy()


def test_the_manager_of_vllm_fails_one_request_only(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = vllm_manager(monkeypatch, 0, 4)
    for number, (kind, source) in enumerate([("REGEX", "("), ("JSON", "{"), ("REGEX", "ab")]):
        request = vllm_request(number, kind, source)
        manager.grammar_init(request)
        error = request.structured_output_request.grammar.exception()
        assert (error is None) == (source == "ab")
    manager.backend.destroy()


def params(**extra: object) -> Any:
    return SimpleNamespace(extra_args=extra or None, all_stop_token_ids={EOS})


def test_vllm_loads_the_logits_processor_by_its_name_and_moves_its_rows() -> None:
    module = importlib.import_module("vllm.v1.sample.logits_processor")
    (kind,) = module._load_custom_logitsprocs(["kbnf_vllm.logits_processor:KbnfLogitsProcessor"])
    with pytest.raises(sys.modules["vllm.exceptions"].VLLMValidationError, match="E"):
        module.validate_logits_processors_parameters([kind], params(kbnf_regex="("))
    processor = kind(_Config(0, 4), torch.device("cpu"), False)
    assert not processor.is_argmax_invariant()
    builder = module.BatchUpdateBuilder()
    random = Random(4)
    outputs: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for row, asked in enumerate([params(kbnf_regex=PATTERN), params(), params(kbnf_regex="ab")]):
        builder.added.append((row, asked, [1, 2], outputs[row]))
    for step in range(40):
        processor.update_state(builder.get_and_reset(3))
        masked = processor.apply(torch.zeros(3, WIDTH))
        for row, output in outputs.items():
            free = torch.nonzero(masked[row] == 0).flatten().tolist()
            output.append(random.choice(free))
        assert torch.isfinite(masked[1]).all()
        if step == 0:
            # The first and the last change places, with their lists.
            outputs[0], outputs[2] = outputs[2], outputs[0]
            builder.moved.append((0, 2, module.MoveDirectionality.SWAP))
    first, last = outputs[2], outputs[0]
    assert is_right(first[: first.index(EOS) + 1])
    assert last[: last.index(EOS)] in ([8], [0, 1])


class _OnDevice:
    """vLLM's buffers of a model runner V2: on the device, and on the host."""

    def __init__(self, values: Any) -> None:
        self.gpu = torch.tensor(values)
        self.np = self.gpu.numpy()


def test_the_model_runner_of_vllm_loads_its_own_kind_and_masks_drafts() -> None:
    module = importlib.import_module("vllm.v1.worker.gpu.sample.logits_processor")
    name = "kbnf_vllm.logits_processor_v2:KbnfLogitsProcessor"
    check = module.build_custom_logits_processors_params_validator([name])
    check(params(kbnf_regex="ab"))
    with pytest.raises(sys.modules["vllm.exceptions"].VLLMValidationError, match="one of"):
        check(params(kbnf_regexp="ab"))
    prompts = {2: [1, 2, 3], 0: [4], 3: [5, 6]}
    states = SimpleNamespace(
        device="cpu", max_num_reqs=4, vocab_size=WIDTH, prefill_len=None,
        all_token_ids=_OnDevice(np.zeros((4, 60), np.int32)),
        prompt_len=_OnDevice([1, 0, 3, 2]), total_len=_OnDevice([1, 0, 3, 2]),
    )  # fmt: skip
    for slot, prompt in prompts.items():
        states.all_token_ids.np[slot, : len(prompt)] = prompt
    (processor,) = module.build_custom_logits_processors(_Config(2, 4), states, False, [name])
    wanted = {2: params(kbnf_regex=PATTERN), 0: params(), 3: params(kbnf_regex="a{2,9}")}
    assert [processor.add_request(*each) for each in wanted.items()] == [True, False, True]
    processor.apply_staged_writes()
    random = Random(2)
    texts: dict[int, list[int]] = {slot: [] for slot in prompts}
    for _ in range(30):
        order = random.sample(sorted(prompts), 3)
        drafts = {slot: [random.randrange(2) for _ in range(random.randrange(3))] for slot in order}
        rows = [(slot, place) for slot in order for place in range(len(drafts[slot]) + 1)]
        last = {slot: int(states.all_token_ids.np[slot, states.total_len.np[slot] - 1])
                for slot in order}  # fmt: skip
        context = module.LogitsContext(
            expanded_idx_mapping=torch.tensor([slot for slot, _ in rows]),
            idx_mapping=torch.tensor(order), idx_mapping_np=np.array(order),
            expanded_local_pos=torch.tensor([place for _, place in rows]),
            input_ids=torch.tensor([([last[slot], *drafts[slot]])[place] for slot, place in rows]),
            pos=torch.zeros(len(rows)), seq_lens_upper_bound_np=np.zeros(3),
        )  # fmt: skip
        masked = processor.apply(torch.zeros(len(rows), WIDTH), context)
        for slot in order:
            mine = [masked[row] for row, (owner, _) in enumerate(rows) if owner == slot]
            accepted: list[int] = []
            for row, drafted in zip(mine, [*drafts[slot], None], strict=True):
                free = torch.nonzero(row == 0).flatten().tolist()
                accepted.append(
                    drafted if drafted is not None and drafted in free else random.choice(free)
                )
                if accepted[-1] != drafted:
                    break
            total = int(states.total_len.np[slot])
            states.all_token_ids.np[slot, total : total + len(accepted)] = accepted[: 60 - total]
            states.total_len.np[slot] = min(total + len(accepted), 59)
            texts[slot] += accepted
    assert is_right(texts[2][: texts[2].index(EOS) + 1])
    assert set(texts[3][: texts[3].index(EOS)]) == {0}
    # The slot of a request that is over is another's, who is free.
    assert not processor.add_request(2, params())


def test_sglang_finds_the_plugin_compiles_caches_and_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    info = tmp_path / "kbnf_sglang-0.1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Name: kbnf-sglang\nVersion: 0.1.0\n", "utf-8")
    entry = "[sglang.srt.plugins]\nkbnf = kbnf_sglang:register\n"
    info.joinpath("entry_points.txt").write_text(entry, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(servers.HOSTS), *sys.path])
    importlib.import_module("sglang.srt.plugins").load_plugins()
    assert importlib.import_module("sglang.srt.arg_groups.choices").GRAMMAR_BACKEND_CHOICES[-1] == (
        "kbnf"
    )
    manager = sglang_manager()
    asked = [("regex", PATTERN), ("regex", "("), ("json_schema", "{"), ("regex", PATTERN)]
    requests = [sglang_request(kind, source) for kind, source in asked]
    for request in requests[:3]:
        assert manager.process_req_with_grammar(request)
    while manager.has_waiting_grammars():
        manager.get_ready_grammar_requests()
    assert [bool(request.aborted) for request in requests] == [False, True, True, False]
    assert not manager.process_req_with_grammar(requests[3])
    for request in (requests[0], requests[3]):
        play(request.grammar, Random(5))
    manager.grammar_backend._compiler.close()


@pytest.mark.parametrize("strict", [False, True])
def test_sglang_waits_for_the_end_of_reasoning(
    monkeypatch: pytest.MonkeyPatch, strict: bool
) -> None:
    monkeypatch.setattr(servers.SERVING, "reasoning_parser", "some")
    monkeypatch.setattr(servers.SERVING, "enable_strict_thinking", strict)
    monkeypatch.setattr(servers.Detector, "think_excluded_tokens", ("a",))
    servers.REGISTRY["kbnf"] = importlib.import_module("kbnf_sglang.server").create
    base = importlib.import_module("sglang.srt.constrained.base_grammar_backend")
    base.GRAMMAR_BACKEND_REGISTRY.update(servers.REGISTRY)
    manager = sglang_manager()
    request = sglang_request("regex", PATTERN)
    request.require_reasoning = True
    assert manager.process_req_with_grammar(request)
    while manager.has_waiting_grammars():
        manager.get_ready_grammar_requests()
    grammar = request.grammar
    # Without strict thinking the engine waits: a padded head has no tokens, and nothing ends there.
    padding = {each for each in range(WIDTH) if each not in VOCABULARY}
    for token_id in (10, 1, END):
        mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
        grammar.fill_vocab_mask(mask, 0)
        refused = set(range(WIDTH)) - set(allowed(mask[0]))
        assert refused == ({0} if strict else padding)
        grammar.accept_token(token_id)
    play(grammar, Random(6))
    manager.grammar_backend.grammar_backend._compiler.close()


@pytest.mark.parametrize("reasoning", [False, True])
def test_sglang_keeps_no_books_of_reasoning_where_the_engine_does(
    monkeypatch: pytest.MonkeyPatch, reasoning: bool
) -> None:
    monkeypatch.setattr(servers.SERVING, "reasoning_parser", "some")
    own = importlib.import_module("kbnf_sglang.reasoning")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=TOKENIZER)
    tokenizer.token_to_id = TOKENIZER.token_to_id
    backend = importlib.import_module("kbnf_sglang.server").create(None, tokenizer, WIDTH, {EOS})
    key = ("regex", PATTERN)
    backend.set_cache(key, backend._init_value_dispatch(key, not reasoning))
    grammar, is_known = backend.get_cached_or_future_value(key, reasoning)
    assert is_known
    assert isinstance(grammar, own.WaitingGrammar)
    for token_id in (1, 10, END, 1, 2) if reasoning else (1, 2):
        grammar.accept_token(token_id)
    if reasoning:
        # Back into the reasoning, and over its end again.
        grammar.rollback(3)
        assert grammar.grammar.engine.is_waiting()
        for token_id in (END, 1, 2):
            grammar.accept_token(token_id)
    twin = grammar.copy()
    with pytest.raises(ValueError, match="not allowed"):
        twin.accept_token(END)
    masks = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")
    row = importlib.import_module("sglang.srt.constrained.base_grammar_backend").GrammarRow
    own.WaitingGrammar.fill_vocab_mask_batched([row(0, grammar), row(1, twin)], masks)
    assert allowed(masks[0]) == allowed(masks[1]) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, EOS]
    begun = backend._init_value_dispatch(key, True)
    begun.set_reasoning_in_grammar()
    assert not begun.grammar.engine.is_waiting()
    other = backend._init_value_dispatch(key, True)
    other.set_request_think_end_ids([1, 2])
    for token_id in (END, 1, 2, 1, 1, EOS):
        other.accept_token(token_id)
    assert other.is_terminated()
    backend.grammar_backend._compiler.close()


def play(grammar: Any, random: Random) -> None:
    """Write a text with SGLang's calls, of which some are taken back."""
    tokens: list[int] = []
    while not grammar.is_terminated():
        mask = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")
        grammar.fill_vocab_mask(mask, 1)
        logits = torch.zeros(2, WIDTH)
        grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
        tokens.append(random.choice(torch.nonzero(logits[1] == 0).flatten().tolist()))
        grammar.accept_token(tokens[-1])
        if random.random() < 0.2:
            grammar.rollback(1)
            tokens.pop()
    assert is_right(tokens)


def sglang_manager() -> Any:
    """Return SGLang's manager of grammars, of a scheduler by itself."""
    module = importlib.import_module("sglang.srt.constrained.grammar_manager")
    group = SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
    # Of transformers, as SGLang's are.
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=TOKENIZER)
    tokenizer.token_to_id = TOKENIZER.token_to_id
    model = SimpleNamespace(vocab_size=WIDTH, hf_eos_token_id={EOS}, think_end_ids=[END])
    return module.GrammarManager(
        SimpleNamespace(
            server_args=None, tokenizer=tokenizer, model_config=model,
            dp_tp_cpu_group=None, dp_tp_group=group, pp_group=None,
        )
    )  # fmt: skip


def sglang_request(kind: str, source: str) -> Any:
    """Return a request of SGLang's with one constraint."""
    wanted: dict[str, Any] = dict.fromkeys(("json_schema", "regex", "ebnf", "structural_tag"))
    sampling = SimpleNamespace(**wanted | {kind: source}, custom_params=None)
    request: Any = SimpleNamespace(
        sampling_params=sampling, origin_input_ids=[1], require_reasoning=False, grammar=None,
        aborted="", finished=lambda: False, grammar_wait_ct=0,
    )  # fmt: skip
    request.set_finish_with_abort = lambda message: setattr(request, "aborted", message)
    return request
