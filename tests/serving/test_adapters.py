"""The adapters, each driven as its host drives it, by stand-ins with the host's protocol."""

import importlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kbnf_core import Compiler, Engine, Grammar, Vocabulary
from kbnf_core.integrations.llama_cpp import KbnfLogitsProcessor as LlamaProcessor
from kbnf_core.integrations.mlx import KbnfLogitsProcessor as MlxProcessor
from kbnf_core.text.errors import (
    ConfigError,
    GrammarError,
    MissingExtraError,
    WorkLimitError,
    install_command,
)
from kbnf_testing.hosts import Array

VOCABULARY = Vocabulary(
    {**{i: bytes([97 + i]) for i in range(8)}, 8: b"ab", 9: b"abc", 10: b" ", 40: b"1"},
    eos_token_id=35,
)
EOS = 35
WIDTH = 70
PATTERN = r"[a-h]{2,6}( [a-h]{2,4}){0,2}"
GRAMMAR = Grammar.from_regex(PATTERN)


def spelled(ids: list[int]) -> str:
    return b"".join(VOCABULARY.token(each) or b"" for each in ids).decode()


def is_right(ids: list[int]) -> bool:
    return ids[-1] == EOS and re.fullmatch(PATTERN, spelled(ids[:-1])) is not None


def pick(scores: Any, random: Random) -> int:
    allowed = np.flatnonzero(np.asarray(scores).reshape(-1) > -np.inf).tolist()
    return int(random.choice(allowed))


def test_llama_cpp_calls_with_all_tokens_and_a_row() -> None:
    processor = LlamaProcessor(GRAMMAR, VOCABULARY)
    for seed in range(20):
        random = Random(seed)
        tokens = [random.randrange(9) for _ in range(random.randrange(1, 6))]
        prompt = len(tokens)
        while tokens[-1] != EOS:
            scores = np.zeros(WIDTH, np.single)
            masked = processor(np.array(tokens, np.intc), scores)
            assert masked.dtype == np.single
            assert not scores.any()
            tokens.append(pick(masked, random))
        assert is_right(tokens[prompt:])


def test_a_forced_token_ends_the_text_and_the_next_prompt_begins_anew() -> None:
    processor = LlamaProcessor(GRAMMAR, VOCABULARY)
    zeros = np.zeros(WIDTH, np.single)
    processor(np.array([1]), zeros)
    assert np.flatnonzero(processor(np.array([1, 40]), zeros) == 0).tolist() == [EOS]
    assert np.flatnonzero(processor(np.array([1, 40, EOS]), zeros) == 0).tolist() == [EOS]
    assert np.flatnonzero(processor(np.array([1, 2, 3]), zeros) == 0).tolist() == list(range(10))


def test_mlx_calls_with_the_tokens_so_far_and_a_row_in_two_dimensions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = ModuleType("mlx.core")
    core.array = Array  # type: ignore[attr-defined] # a stand-in
    package = ModuleType("mlx")
    package.core = core  # type: ignore[attr-defined] # a stand-in
    monkeypatch.setitem(sys.modules, "mlx", package)
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    processor = MlxProcessor(GRAMMAR, VOCABULARY)
    for seed in range(10):
        random = Random(seed)
        tokens = [3, 4]
        while tokens[-1] != EOS:
            logits = processor(Array(tokens), Array(np.ones((1, WIDTH)), "bfloat16"))
            assert logits.dtype == "bfloat16"
            tokens.append(pick(logits.values, random))
        assert is_right(tokens[2:])


class _Filter:
    """exllamav3's ``Filter``: what its generator calls, in its order."""

    def __init__(self, tokenizer: Any, trigger: Any, prefix: Any, eos_after: bool) -> None:
        self.tokenizer = tokenizer
        self.trigger_token = trigger
        self.prefix_str = prefix
        self.eos_after_completed = eos_after


class _Base:
    """The base classes of outlines: processors get two dimensions."""

    def __init__(self, library: str = "") -> None:
        self.library = library

    def __call__(self, input_ids: Any, logits: Any) -> Any:
        return self.process_logits(input_ids, logits)  # type: ignore[attr-defined] # abstract there


STANDINS: dict[str, dict[str, type]] = {
    "exllamav3.generator.filter": {"Filter": _Filter},
    "outlines.backends.base": {"BaseBackend": _Base},
    "outlines.processors.base_logits_processor": {"OutlinesLogitsProcessor": _Base},
}


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")
    for name, members in STANDINS.items():
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            monkeypatch.setitem(
                sys.modules, ".".join(parts[:count]), ModuleType(".".join(parts[:count]))
            )
        for member, value in members.items():
            setattr(sys.modules[name], member, value)
    for adapter in ("exllama", "outlines"):
        monkeypatch.delitem(sys.modules, f"kbnf_core.integrations.{adapter}", raising=False)
    yield
    for adapter in ("exllama", "outlines"):
        sys.modules.pop(f"kbnf_core.integrations.{adapter}", None)


@pytest.mark.usefixtures("hosts")
def test_exllama_takes_packed_masks_and_rewinds() -> None:
    import torch

    module = importlib.import_module("kbnf_core.integrations.exllama")
    for seed in range(20):
        random = Random(seed)
        filter_ = module.KbnfFilter(None, GRAMMAR, vocabulary=VOCABULARY)
        tokens: list[int] = []
        while not filter_.is_completed():
            mask = filter_.get_next_logit_mask()
            assert (mask.dtype, tuple(mask.shape)) == (torch.int32, (1, 2))
            bits = np.unpackbits(mask.numpy().view(np.uint8), bitorder="little")
            tokens.append(pick(np.where(bits, 0, -np.inf), random))
            filter_.accept_token(tokens[-1])
            if random.random() < 0.2 and len(tokens) > 1:
                assert filter_.rollback_tokens(2)
                del tokens[-2:]
        assert is_right(tokens)
        filter_.reset()
        assert not filter_.is_completed()


@pytest.mark.usefixtures("hosts")
def test_an_exllama_prefix_is_taken_first() -> None:
    module = importlib.import_module("kbnf_core.integrations.exllama")
    filter_ = module.KbnfFilter(None, "start ::= 'aba';", vocabulary=VOCABULARY, prefix_str="ab")
    filter_.accept_token(0)
    assert filter_.is_completed()


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("kind", ["regex", "json_schema", "cfg"])
def test_outlines_calls_with_rows(kind: str) -> None:
    import torch

    module = importlib.import_module("kbnf_core.integrations.outlines")
    backend = module.KbnfBackend(VOCABULARY)
    source = {
        "regex": PATTERN,
        "json_schema": '{"const": 1}',
        "cfg": f"start ::= #'{PATTERN}'; (* kbnf: finish=eos *)",
    }[kind]
    processor = getattr(backend, f"get_{kind}_logits_processor")(source)
    for seed in range(5):
        processor.reset()
        random = Random(seed)
        rows = torch.tensor([[1, 2], [3, 4]])
        while not (rows[:, -1] == EOS).all():
            masked = processor(rows, torch.zeros(2, WIDTH))
            chosen = torch.tensor([[pick(row, random)] for row in masked])
            rows = torch.cat([rows, chosen], dim=1)
        for row in rows[:, 2:].tolist():
            text = row[: row.index(EOS) + 1]
            assert spelled(text) == "1" if kind == "json_schema" else is_right(text)


@pytest.mark.usefixtures("hosts")
def test_outlines_whitespace_is_not_ours_to_choose() -> None:
    module = importlib.import_module("kbnf_core.integrations.outlines")
    with pytest.raises(ConfigError, match="whitespace"):
        module.KbnfBackend(VOCABULARY).get_json_schema_logits_processor("{}", " ?")


def _fail(state: int) -> None:
    raise WorkLimitError(1, f"the mask of state {state}")


class _Failing(Engine):
    """An engine that meets a limit at every mask."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        masks = self._automaton.masks
        masks.assembler.is_plain = False
        masks.__dict__.update(_find_viable=_fail)

    def fill_draft_bitmask(self, out: Any, row: Any, draft: Any) -> int:
        del out, row, draft
        raise WorkLimitError(1, "a mask")


def failing() -> Engine:
    # Of a grammar that nobody has used, so that no mask of it is known.
    return _Failing(Grammar.from_regex(PATTERN), VOCABULARY)


BROKEN = ["start ::= ", "start ::= start;", {"type": "integer", "maximum": 0, "minimum": 1}]


@pytest.mark.parametrize("grammar", BROKEN)
@pytest.mark.parametrize("adapter", [LlamaProcessor, MlxProcessor])
def test_a_grammar_that_cannot_be_made_is_refused_before_the_first_token(
    adapter: Any, grammar: Any
) -> None:
    with pytest.raises(GrammarError):
        adapter(grammar, VOCABULARY)
    with pytest.raises(ConfigError, match="too small"):
        adapter(GRAMMAR, VOCABULARY, budget=1)


def test_a_text_whose_mask_fails_has_ends_only_and_the_next_one_is_served() -> None:
    processor = LlamaProcessor(GRAMMAR, VOCABULARY)
    zeros = np.zeros(WIDTH, np.single)
    sound, processor._text._text._engine = processor._text._text._engine, failing()
    for tokens in ([1], [1, 2], [1, 2, EOS]):
        assert np.flatnonzero(processor(np.array(tokens), zeros) == 0).tolist() == [EOS]
    processor._text._text._engine = sound
    assert np.flatnonzero(processor(np.array([3, 4]), zeros) == 0).tolist() == list(range(10))


@pytest.mark.usefixtures("hosts")
def test_exllama_closes_a_text_whose_mask_fails_and_leaves_nothing_free() -> None:
    module = importlib.import_module("kbnf_core.integrations.exllama")
    for broken in BROKEN:
        with pytest.raises(GrammarError):
            module.KbnfFilter(None, broken, vocabulary=VOCABULARY)
    filter_ = module.KbnfFilter(None, GRAMMAR, vocabulary=VOCABULARY, eos_after_completed=False)

    def ends() -> list[int]:
        bits = filter_.get_next_logit_mask().numpy().view(np.uint8)
        found: list[int] = np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()
        return found

    filter_.accept_token(0)
    sound, filter_._engine = filter_._engine, failing()
    assert ends() == [EOS]
    filter_._engine = sound
    # It stays closed, whatever comes, until its end has come.
    filter_.accept_token(1)
    assert ends() == [EOS]
    assert not filter_.is_completed()
    assert not filter_.rollback_tokens(1)
    filter_.accept_token(EOS)
    assert filter_.is_completed()
    filter_.reset()
    assert len(ends()) == 10
    filter_.accept_token(40)
    assert ends() == [EOS]


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("kind", ["outlines", "transformers"])
def test_a_row_whose_mask_fails_is_closed_and_no_other(kind: str) -> None:
    import torch

    if kind == "outlines":
        backend = importlib.import_module("kbnf_core.integrations.outlines").KbnfBackend(VOCABULARY)
        with pytest.raises(GrammarError):
            backend.get_regex_logits_processor("(")
        with pytest.raises(GrammarError):
            backend.get_cfg_logits_processor(BROKEN[0])
        processor = backend.get_regex_logits_processor(PATTERN)
        inner = processor._processor
    else:
        pytest.importorskip("transformers")
        module = importlib.import_module("kbnf_core.integrations.transformers")
        with pytest.raises(GrammarError):
            module.KbnfLogitsProcessor([GRAMMAR, BROKEN[1]], VOCABULARY)
        processor = inner = module.KbnfLogitsProcessor([GRAMMAR, GRAMMAR], VOCABULARY)

    def free(rows: list[list[int]]) -> list[list[int]]:
        masked = processor(torch.tensor(rows), torch.zeros(len(rows), WIDTH))
        return [torch.nonzero(row == 0).flatten().tolist() for row in masked]

    assert free([[1], [2]]) == [list(range(10))] * 2
    (call,) = inner._calls
    call[next(iter(call))].engine = failing()
    assert free([[1, 0], [2, 0]])[0] == [EOS]
    assert len(free([[1, 0, 1], [2, 0, 1]])[1]) > 5
    assert free([[1, 0, 1, EOS], [2, 0, 1, 0]])[0] == [EOS]
    # Another generation is served, in both rows.
    assert free([[5], [6]]) == [list(range(10))] * 2


def test_a_worker_that_dies_refuses_one_grammar_and_no_other() -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        first = compiler.submit("regex", PATTERN).result()
        assert LlamaProcessor(first, VOCABULARY) is not None
        assert compiler._pool is not None
        pid = compiler._pool.processes[0].pid
        assert pid is not None
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        second = compiler.submit("regex", PATTERN + "a").result()
        processor = LlamaProcessor(second, VOCABULARY)
        masked = processor(np.array([1]), np.zeros(WIDTH, np.single))
        assert np.flatnonzero(masked == 0).tolist() == list(range(10))


HEAVY = {"torch", "transformers", "tokenizers", "mlx", "llama_cpp", "exllamav3", "outlines"}


def test_the_core_imports_no_host() -> None:
    program = (
        "import sys, kbnf_core\n"
        "for name in kbnf_core.__all__: getattr(kbnf_core, name)\n"
        "import kbnf_core.integrations.llama_cpp, kbnf_core.integrations.mlx\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("adapter", "host"),
    [("transformers", "transformers"), ("exllama", "exllamav3"), ("outlines", "outlines")],
)
def test_a_missing_host_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, adapter: str, host: str
) -> None:
    name = f"kbnf_core.integrations.{adapter}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    for known in [each for each in sys.modules if each.split(".")[0] == host]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, host, None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command(adapter))):
        importlib.import_module(name)


def test_missing_mlx_says_so_at_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlx", None)
    monkeypatch.setitem(sys.modules, "mlx.core", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("mlx"))):
        MlxProcessor(GRAMMAR, VOCABULARY)(Array([1]), Array([[0.0] * WIDTH]))
