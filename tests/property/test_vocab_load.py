"""Whatever is in a file, loading it gives a vocabulary or one of our errors."""

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.load import load_vocabulary

HUGGINGFACE: dict[str, Any] = {
    "added_tokens": [
        {"id": 2, "content": "</s>", "special": True},
        {"id": 5, "content": "  ", "special": False},
    ],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁"},
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
    "model": {
        "type": "BPE",
        "unk_token": "a",
        "byte_fallback": True,
        "vocab": {"a": 0, "▁": 1, "</s>": 2, "<0x41>": 3},
        "merges": [],
    },
}
UNIGRAM = {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1.5]]}}
TEKKEN = {
    "config": {"default_vocab_size": 6, "default_num_special_tokens": 3, "version": "v13"},
    "vocab": [{"rank": rank, "token_bytes": "YQ=="} for rank in range(4)],
    "special_tokens": [{"rank": 0, "token_str": "</s>"}],
}
PLAIN = {"0": "a", "1": [255, 0], "7": ""}
DOCUMENTS = [HUGGINGFACE, UNIGRAM, TEKKEN, PLAIN]

RWKV = "1 '\\x00' 1\n2 \"it's\" 4\n3 b'\\xe4\\xbd' 2\n"
RANKS = "".join(f"{base64.b64encode(bytes([n])).decode()} {n}\n" for n in range(9))
TEXTS = [RWKV, RANKS, *map(json.dumps, DOCUMENTS)]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**24, 10**12, 1.5, "", "a", "Sequence", "ByteLevel", "</s>", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "0", "id", "String"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("load") / "file"


def load(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with contextlib.suppress(VocabularyError):
        vocabulary = load_vocabulary(path)
        assert all(token_id < vocabulary.size for token_id in vocabulary.tokens)


def changed(draw: st.DrawFn, value: Any) -> Any:
    """Return a copy of a JSON value in which one part, at any depth, is another value."""
    if isinstance(value, dict) and value and draw(st.sampled_from([True, True, False])):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: changed(draw, value[key])}
    if isinstance(value, list) and value and draw(st.sampled_from([True, True, False])):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], changed(draw, value[place]), *value[place + 1 :]]
    return draw(json_values)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    return changed(draw, draw(st.sampled_from(DOCUMENTS)))


@st.composite
def damaged_texts(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(TEXTS)).encode()
    begin = draw(st.integers(0, len(data)))
    end = draw(st.integers(begin, min(begin + 8, len(data))))
    return (
        data[:begin]
        + draw(st.binary(max_size=4) | st.sampled_from([b"'", b" ", b"\n"]))
        + (data[end:] if draw(st.booleans()) else b"")
    )


module_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@module_fixture
@given(document=documents())
def test_json_with_one_wrong_part(path: Path, document: Any) -> None:
    load(path, json.dumps(document).encode())


@module_fixture
@given(data=damaged_texts())
def test_damaged_texts(path: Path, data: bytes) -> None:
    load(path, data)


@module_fixture
@given(data=st.binary(max_size=40))
def test_arbitrary_bytes(path: Path, data: bytes) -> None:
    load(path, data)


@pytest.mark.parametrize("text", TEXTS)
def test_the_undamaged_ones_load(path: Path, text: str) -> None:
    path.write_text(text)
    assert len(load_vocabulary(path)) >= 2
