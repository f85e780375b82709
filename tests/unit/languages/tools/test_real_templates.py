"""Chat templates of real models: formats derived from them take all calls that they write.

The templates may not be kept here: they are read from ``KBNF_DATA``, its folder ``chat-templates``.
"""

from pathlib import Path

import pytest

from benchmarks.chat_templates import PATTERNS, Judge, Reader, Template, row_of
from kbnf_testing.data import OUTSIDE

pytest.importorskip("jinja2")
pytest.importorskip("transformers")

FILES = sorted((OUTSIDE / "chat-templates").glob("*.jinja")) if OUTSIDE else []
pytestmark = [pytest.mark.data, pytest.mark.skipif(not FILES, reason="needs KBNF_DATA")]

REFUSED = {
    # Writes values inside of values as Python prints them.
    "ByteDance-Seed-OSS",
    # The prompt has the beginning of a call, and of an answer.
    "meetkai-functionary-medium-v3.2",
}
"""Templates that write calls in no way that a format can say."""


PRESETS = {
    "meta-llama-Llama-3.2-3B-Instruct": "llama",
    "meta-llama-Llama-3.3-70B-Instruct": "llama",
    "Qwen-Qwen2.5-7B-Instruct": "qwen_3",
    "Qwen-Qwen3-0.6B": "qwen_3",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes",
    "Qwen3.5-4B": "qwen_3_5",
    "ollama-qwen38_chat_template": "qwen3_coder",
    "ollama-nemotron3nano_chat_template": "nemotron_v3",
    "stepfun-ai-Step-3.5-Flash": "step3p5",
    "GLM-4.6": "glm_4_5",
    "GLM-5.2": "glm_4_7",
    "ollama-laguna_v8_chat_template": "glm_4_7",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek_v3",
    "deepseek-ai-DeepSeek-V3.2": "deepseek_v3_2",
    "deepseek-ai-DeepSeek-V4": "deepseek_v4",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral",
    "mistralai-Ministral-3-14B-Reasoning-2512": "mistral",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral_v3",
    "google-gemma-4-31B-it-interleaved": "gemma_4",
    "ollama-gemma4_31b_chat_template": "gemma4",
    "ollama-gemma4_e2b_chat_template": "gemma4",
}
"""The formats by name of some templates."""


@pytest.mark.parametrize("name", PRESETS)
def test_a_format_by_name_takes_what_the_templates_of_its_models_write(name: str) -> None:
    [file] = [each for each in FILES if each.stem == name]
    template = Template(file.read_text("utf-8"))
    judge = Judge(PRESETS[name], template)
    written = {title: template.written(calls) for title, calls in PATTERNS.items()}
    texts = {title: text for title, text in written.items() if text is not None}
    assert [title for title, text in texts.items() if not judge.takes(text)] == []
    assert len(texts) >= 4
    reader = Reader(PRESETS[name])
    raw = [(each, calls) for calls in PATTERNS.values() for each in template.raw(calls)]
    assert [text for text, calls in raw if not reader.reads(text, calls)] == []
    assert raw


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_derived_format_takes_what_its_template_writes(file: Path) -> None:
    row = row_of(file.read_text("utf-8"))
    assert row.verdict in ("derived", "refused", "no calls", "not rendered")
    assert (row.verdict == "refused") == (file.stem in REFUSED)
    if row.verdict == "derived":
        assert row.taken == row.written >= 4
        assert row.refused == row.wrong >= 4
        assert row.read == row.raw > 0
    else:
        assert row.reason
