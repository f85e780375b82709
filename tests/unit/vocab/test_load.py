"""Finding, reading and recognising vocabulary files."""

import subprocess
import sys
from pathlib import Path

import pytest

from kbnf_core.text.errors import SourceError, VocabularyError
from kbnf_core.vocab.load import load_vocabulary
from kbnf_core.vocab.read import FORMATS

TOKENIZER = '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}'

UNKNOWN = {
    "empty": (b"", "empty"),
    "only blanks": (b" \n\n", "empty"),
    "prose": (b"Once upon a time\n", "a text starting with 'Once upon a time'"),
    "binary": (bytes(range(256)), "binary data"),
    "zeros": (b"\0" * 64, "binary data"),
    "UTF-16": ('{"0": "a"}'.encode("utf-16"), "binary data"),
    "a list": (b'["a", "b"]', "a JSON list"),
    "a vocab.json": (b'{"hello": 0, "world": 1}', "a JSON object with the keys hello, world"),
    "other JSON": (b'{"model": "gpt", "vocab": {}}', "a JSON object with the keys model, vocab"),
}


@pytest.mark.parametrize(("data", "found"), UNKNOWN.values(), ids=list(UNKNOWN))
def test_an_unknown_format(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(VocabularyError) as caught:
        load_vocabulary(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: not a vocabulary ({found})")
    assert all(each.name in message for each in FORMATS)


@pytest.mark.parametrize("text", ['{"0": "a"', '{"model": {', "[" * 100_000, '{"0": "a"} x'])
def test_damaged_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(VocabularyError, match=r"damaged or cut off JSON|nested too deeply"):
        load_vocabulary(path)


def test_junk_that_starts_like_a_model(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(b"\n\x05" + bytes(range(200, 256)))
    with pytest.raises(VocabularyError, match="not a SentencePiece model"):
        load_vocabulary(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file") as caught:
        load_vocabulary(tmp_path / "absent.json")
    assert caught.value.path == str(tmp_path / "absent.json")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated, since root may read everything."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "x.json"
    file.write_text("{}")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SourceError, match="permission denied"):
        load_vocabulary(file)


def test_a_path_that_cannot_be_one() -> None:
    with pytest.raises(SourceError, match="null byte"):
        load_vocabulary("a\0b")


def test_a_file_without_end() -> None:
    with pytest.raises(SourceError, match="it is a device"):
        load_vocabulary("/dev/zero")


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kbnf_core.vocab.read._LARGEST_FILE", 1000)
    file = tmp_path / "x.json"
    file.write_text(" " * 1_001)
    with pytest.raises(SourceError, match="more than 1000 bytes"):
        load_vocabulary(file)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=r"is a folder without tokenizer\.json"):
        load_vocabulary(tmp_path)
    (tmp_path / "tokenizer.json").write_text(TOKENIZER)
    assert load_vocabulary(tmp_path).tokens == {0: b"a", 1: b"b"}


def test_stop_ids_can_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(TOKENIZER)
    assert not load_vocabulary(path).eos_token_ids
    vocabulary = load_vocabulary(str(path), eos=[1, 9])
    assert vocabulary.eos_token_ids == {1, 9}
    assert vocabulary.tokens == {0: b"a"}
    with pytest.raises(VocabularyError, match="token id -1 is outside"):
        load_vocabulary(path, eos=[-1])


def test_no_heavy_import_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(TOKENIZER)
    program = (
        "import sys\n"
        "from kbnf_core.vocab.load import load_vocabulary\n"
        f"load_vocabulary({str(path)!r})\n"
        "heavy = {'numpy', 'tokenizers', 'tiktoken', 'sentencepiece', 'mistral_common'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
