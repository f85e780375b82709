"""A pytest plugin that runs Formatron's own tests without a GPU and without downloads.

Models are stand-ins whose scores follow from the tokens so far, so two runs differ only by the
engine after ``kbnf``. Nothing is compared with stored snapshots, which are of real models: what a
test would compare is written down, with its outcome, to the file that ``FORMATRON_RECORD`` names.
"""

import json
import keyword
import os
import re
import sys
import zlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers

RECORDS: dict[str, dict[str, Any]] = {}
WIDTH = 65536
CLOSING = b'"}],.:\n0'
ADDRESS = re.compile(r"(?<=_)\d{6,}|0x[0-9a-f]+")
"""Names that Formatron makes of the addresses of objects."""


class Snapshot:
    """Writes down what a test compares."""

    def __init__(self, values: list[str]) -> None:
        self._values = values

    def assert_match(self, value: object, name: str = "") -> None:
        """Write a value down."""
        del name
        self._values.append(ADDRESS.sub("ADDRESS", repr(value)))


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Snapshot:
    """Stand in for snapshottest's."""
    np.random.seed(42)
    torch.manual_seed(42)
    values: list[str] = []
    RECORDS[request.node.nodeid.split("/")[-1]] = {"values": values}
    return Snapshot(values)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Write down how a test ended."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.when == "call":
        record = RECORDS.setdefault(item.nodeid.split("/")[-1], {"values": []})
        record["outcome"] = report.outcome
        crash = getattr(report.longrepr, "reprcrash", None)
        record["error"] = crash.message.split(":")[0] if crash else ""


def pytest_sessionfinish() -> None:
    """Write the file."""
    Path(os.environ["FORMATRON_RECORD"]).write_text(json.dumps(RECORDS), encoding="utf-8")


@cache
def _bonus() -> torch.Tensor:
    """Return what makes texts end: short tokens, and those that close something, are likelier."""
    import rwkv.rwkv_tokenizer as module

    folder = Path(str(module.__file__)).parent
    spellings = module.TRIE_TOKENIZER(str(folder / "rwkv_vocab_v20230424.txt")).idx2token
    bonus = torch.zeros(WIDTH)
    for token_id, spelling in spellings.items():
        bonus[token_id] = 9.0 * (len(spelling) == 1) + 3.0 * (spelling in CLOSING)
    return bonus


class InOrder(dict[Any, None]):
    """A set whose elements stay in the order in which they were added."""

    def add(self, element: object) -> None:
        """Add an element."""
        self[element] = None


class RWKV:
    """Stand in for a model: random scores, the same for the same tokens."""

    def __init__(self, *settings: object) -> None:
        del settings

    def forward(self, tokens: list[int], state: int | None) -> tuple[torch.Tensor, int]:
        """Return scores, and the state after the tokens."""
        state = zlib.crc32(np.array(tokens, np.int64).tobytes(), state or 0)
        generator = torch.Generator().manual_seed(state)
        return torch.randn(WIDTH, generator=generator) + _bonus(), state


@cache
def trained() -> tokenizers.Tokenizer:
    """Return a byte-level tokenizer with enough blanks for Formatron to see that it is one."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1500,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    words = [*keyword.kwlist, *dir(np), "Hello", "Huggingface"]
    made.train_from_iterator([" " + word.lower() for word in words] * 2, trainer)
    return made


def _fast(*settings: object, **named: Any) -> Any:
    del settings
    fast: Any = transformers.PreTrainedTokenizerFast
    end = "<|endoftext|>"
    side = named.get("padding_side", "right")
    return fast(tokenizer_object=trained(), eos_token=end, pad_token=end, padding_side=side)


def _model(*settings: object, **named: object) -> Any:
    del settings, named
    torch.manual_seed(7)
    config: Any = transformers.GPT2Config(
        vocab_size=2048, n_positions=512, n_embd=32, n_layer=1, n_head=2,
        eos_token_id=0, bos_token_id=0,
    )  # fmt: skip
    made: Any = transformers.GPT2LMHeadModel(config)
    return made.eval()


def pytest_configure() -> None:
    """Put the stand-ins in place."""
    model: Any = ModuleType("rwkv.model")
    model.RWKV = RWKV
    sys.modules["rwkv.model"] = model
    put: Any = setattr
    put(transformers.GPT2LMHeadModel, "from_pretrained", _model)
    put(transformers.AutoTokenizer, "from_pretrained", _fast)
    put(transformers.BatchEncoding, "to", lambda encoding, *_, **__: encoding)
    # The Rust engine's kernel for GPUs; without it Formatron takes the way of the host.
    modules: Any = sys.modules
    modules["triton"] = None
    empty: Any = torch.empty

    def unpinned(*shape: Any, **named: Any) -> torch.Tensor:
        made: torch.Tensor = empty(*shape, **named | {"pin_memory": False})
        return made

    put(torch, "empty", unpinned)
    # It collects the types of a list in a set of classes, whose order is that of their addresses:
    # two processes wrote two grammars by chance.
    put(import_module("formatron.schemas.dict_inference"), "set", InOrder)
