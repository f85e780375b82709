"""GGUF files as the gguf package writes them, and damaged ones."""

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from gguf import GGUFWriter, TokenType

from kbnf_core import Engine
from kbnf_core.text.errors import MissingExtraError, VocabularyError
from kbnf_core.vocab.formats import gguf_metadata
from kbnf_core.vocab.formats.huggingface import byte_alphabet
from kbnf_core.vocab.load import load_vocabulary

ALPHABET = {value: letter for letter, value in byte_alphabet().items()}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a GGUF file with a tokenizer, and a tensor after it."""

    def create(
        model: str | None, tokens: list[Any], types: list[TokenType] | None, **keys: int
    ) -> Path:
        import numpy as np

        path = tmp_path / "model.gguf"
        writer = GGUFWriter(path, "llama")
        writer.add_description("a small model")
        writer.add_context_length(512)
        if model is not None:
            writer.add_tokenizer_model(model)
        writer.add_token_list(tokens)
        if types is not None:
            writer.add_token_types(types)
        writer.add_token_scores([0.5] * len(tokens))
        writer.add_token_merges(["a b", "c d"])
        for key, value in keys.items():
            getattr(writer, f"add_{key}")(value)
        writer.add_tensor("weights", np.zeros(64, np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return create


def spelled(data: bytes) -> str:
    return "".join(ALPHABET[value] for value in data)


NORMAL, CONTROL, BYTE = TokenType.NORMAL, TokenType.CONTROL, TokenType.BYTE
USER, UNUSED, UNKNOWN = TokenType.USER_DEFINED, TokenType.UNUSED, TokenType.UNKNOWN


def test_bytes_of_bpe(write: Write) -> None:
    every = [bytes((value,)) for value in range(256)]
    words = [b" the", b"\xe4\xbd\xa0", b"\n\n"]
    tokens = [*map(spelled, every + words), "<|endoftext|>", "<tool>", "<|pad|>", "é "]
    types = [*[NORMAL] * 259, CONTROL, USER, UNUSED, USER]
    vocabulary = load_vocabulary(write("gpt2", tokens, types, eos_token_id=259))
    expected = dict(enumerate([*every, *words])) | {260: b"<tool>", 262: "é ".encode()}
    assert vocabulary.tokens == expected
    assert vocabulary.special_tokens == {"<|endoftext|>": 259, "<|pad|>": 261}
    assert vocabulary.eos_token_ids == {259}
    assert vocabulary.name == "model.gguf"


def test_pieces_with_marks_and_bytes(write: Write) -> None:
    tokens = ["<unk>", "<s>", "</s>", "<0x0A>", "<0xE4>", "▁the", "cat", "<0x41>", "▁▁"]
    types = [UNKNOWN, CONTROL, CONTROL, BYTE, BYTE, NORMAL, NORMAL, NORMAL, USER]
    vocabulary = load_vocabulary(write("llama", tokens, types, eos_token_id=2))
    spelling = {3: b"\n", 4: b"\xe4", 5: b" the", 6: b"cat", 7: b"<0x41>", 8: "▁▁".encode()}
    assert vocabulary.tokens == spelling
    assert vocabulary.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert vocabulary.eos_token_ids == {2}


def test_stop_ids(write: Write) -> None:
    tokens = ["a", "<|end|>", "<|eot_id|>", "</s>"]
    types = [NORMAL, CONTROL, NORMAL, CONTROL]
    both = load_vocabulary(write("gpt2", tokens, types, eos_token_id=1, eot_token_id=2))
    assert both.eos_token_ids == {1, 2}
    assert both.special_tokens["<|eot_id|>"] == 2
    usual = load_vocabulary(write("gpt2", tokens, types))
    assert usual.eos_token_ids == {3}
    assert load_vocabulary(write("gpt2", tokens, types), eos=[1]).eos_token_ids == {1}
    with pytest.raises(VocabularyError, match="eos_token_id is 4, and there are 4 tokens"):
        load_vocabulary(write("gpt2", tokens, types, eos_token_id=4))


def test_without_types_every_token_is_normal(write: Write) -> None:
    vocabulary = load_vocabulary(write("gpt2", ["a", "b"], None, eos_token_id=1))
    assert vocabulary.tokens == {0: b"a"}


def test_masks_over_it(write: Write) -> None:
    path = write("gpt2", ["a", "b", "ab", "</s>"], [NORMAL] * 3 + [CONTROL], eos_token_id=3)
    engine = Engine("(* kbnf: finish=eos *) start ::= 'ab';", load_vocabulary(path))
    engine.compute_allowed_token_ids()
    assert sorted(engine.get_allowed_token_ids_from_last_computation()) == [0, 2]


@pytest.mark.parametrize("model", ["bert", "none", None])
def test_other_models(write: Write, model: str | None) -> None:
    with pytest.raises(VocabularyError, match=r"model\.gguf: tokenizer\.ggml\.model is "):
        load_vocabulary(write(model, ["a"], [NORMAL]))


def test_a_byte_that_is_none(write: Write) -> None:
    with pytest.raises(VocabularyError, match="token 0 should be a byte"):
        load_vocabulary(write("llama", ["word"], [BYTE]))


def test_a_token_that_is_no_text(write: Write) -> None:
    with pytest.raises(VocabularyError, match="half of a surrogate pair"):
        load_vocabulary(write("llama", [b"\xff\xfe"], [NORMAL]))


def test_types_of_other_tokens(write: Write) -> None:
    with pytest.raises(VocabularyError, match="2 tokens have 1 entries in token_type"):
        load_vocabulary(write("llama", ["a", "b"], [NORMAL]))


def test_cut_off_anywhere(write: Write) -> None:
    path = write("gpt2", ["a", "b"], [NORMAL] * 2)
    whole = path.read_bytes()
    end = whole.index(b"weights")
    for size in range(4, end - 8, 7):
        path.write_bytes(whole[:size])
        with pytest.raises(VocabularyError, match=r"damaged GGUF: it is cut off|ggml"):
            load_vocabulary(path)


HEAD = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"k"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF" + struct.pack("<I", 1), "version 1"),
        (b"GGUF" + struct.pack(">I", 3), "little-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "keys"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**62), "bytes of a key"),
        (HEAD + struct.pack("<I", 13), "a value of type 13"),
        (HEAD + struct.pack("<IIQ", 9, 0, 2**60), "values of k"),
        (HEAD + struct.pack("<IIQ", 9, 9, 1), "a value of type 9"),
        (HEAD + struct.pack("<IIQ", 9, 0, 2**24), "cut off"),
    ],
)
def test_hostile_headers(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(data)
    with pytest.raises(VocabularyError, match=message):
        load_vocabulary(path)


def text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def sparse(path: Path, keys: list[tuple[bytes, int, int]], size: int) -> Path:
    """Write arrays of zeros that take no room: names, types and counts; ``size`` of a value."""
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)))
        for name, kind, count in keys:
            file.write(text(name) + struct.pack("<IIQ", 9, kind, count))
            file.seek(count * size, 1)
        file.truncate()
    return path


def read_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the bytes are added that each reading of a GGUF takes."""
    found: list[int] = []
    take = gguf_metadata._MetadataReader._take

    def counted(reader: gguf_metadata._MetadataReader, count: int) -> bytes:
        found.append(count)
        return take(reader, count)

    monkeypatch.setattr(gguf_metadata._MetadataReader, "_take", counted)
    return found


def test_what_is_not_used_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [(b"tokenizer.ggml.x%d" % number, 0, 2**24) for number in range(30)]
    found = read_bytes(monkeypatch)
    with pytest.raises(VocabularyError, match="model is None"):
        load_vocabulary(sparse(tmp_path / "a.gguf", keys, 1))
    assert sum(found) < 2_000


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([(b"tokenizer.ggml.tokens", 8, 2**23)], "texts and numbers"),
        ([(b"tokenizer.ggml.merges", 8, 2**23)], "texts and numbers"),
        ([(b"tokenizer.ggml.token_type", 5, 2**23)], "texts and numbers"),
        ([(b"tokenizer.ggml.token_type", 0, 2**21)] * 3, "texts and numbers"),
        ([(b"k" * 70_000, 0, 1)], "bytes of a key"),
    ],
)
def test_a_file_has_bounds_as_a_whole(
    tmp_path: Path, keys: list[tuple[bytes, int, int]], message: str
) -> None:
    size = 1 if keys[0][1] == 0 else 8
    with pytest.raises(VocabularyError, match=message):
        load_vocabulary(sparse(tmp_path / "a.gguf", keys, size))


def test_the_texts_of_a_file_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_metadata, "LARGEST_BYTES", 100)
    path = tmp_path / "a.gguf"
    tokens = b"".join(text(b"t" * 20) for _ in range(5))
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text(b"tokenizer.ggml.tokens")
    path.write_bytes(head + struct.pack("<IIQ", 9, 8, 5) + tokens)
    with pytest.raises(VocabularyError, match="more than 100 bytes of texts"):
        load_vocabulary(path)


def test_texts_are_cut_by_llama_cpp(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("gpt2", ["a", "b"], [NORMAL] * 2)
    name = "cyllama.llama.llama_cpp"
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as missing:
        load_vocabulary(path).encode("ab")
    assert missing.value.extra == "gguf"

    class Model:
        def __init__(self, model_path: str, settings: SimpleNamespace, verbose: bool) -> None:
            assert (model_path, settings.n_gpu_layers, verbose) == (str(path), 0, False)

        def get_vocab(self) -> "Model":
            return self

        def tokenize(self, words: str, add_special: bool, parse_special: bool) -> list[int]:
            assert not add_special
            assert not parse_special
            return [ord(each) - 97 for each in words]

    module = ModuleType(name)
    done: list[str] = []
    parts = {
        "LlamaModel": Model,
        "LlamaModelParams": SimpleNamespace,
        "disable_logging": lambda: done.append("silent"),
        "ggml_backend_load_all": lambda: done.append("loaded"),
    }
    for part, value in parts.items():
        setattr(module, part, value)
    for each in ("cyllama", "cyllama.llama"):
        monkeypatch.setitem(sys.modules, each, ModuleType(each))
    monkeypatch.setitem(sys.modules, name, module)
    assert load_vocabulary(path).encode("abba") == [0, 1, 1, 0]
    assert done == ["silent", "loaded"]
