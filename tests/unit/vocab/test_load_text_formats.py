"""Ranks of tiktoken, RWKV's text and plain JSON."""

import base64
import json
from importlib.resources import files
from pathlib import Path

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.load import load_vocabulary
from kbnf_core.vocab.vocabulary import Vocabulary
from kbnf_testing.data import DATA

RWKV_JSON = DATA / "vocab" / "rwkv_vocab_v20230424.json"
TEKKEN = Path(str(files("mistral_common"))) / "data" / "tekken_240911.json"
PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write tekken's ranks as tiktoken would."""
    vocab = json.loads(TEKKEN.read_bytes())["vocab"][:20_000]
    path = tmp_path_factory.mktemp("tiktoken") / "ranks"
    path.write_text("".join(f"{entry['token_bytes']} {entry['rank']}\n" for entry in vocab))
    return path


@pytest.fixture(scope="module")
def encoding(ranks: Path) -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "test", pat_str=PATTERN, mergeable_ranks=load_tiktoken_bpe(str(ranks)), special_tokens={}
    )


def test_ranks_are_those_of_the_library(ranks: Path) -> None:
    expected = {rank: data for data, rank in load_tiktoken_bpe(str(ranks)).items()}
    vocabulary = load_vocabulary(ranks)
    assert vocabulary.tokens == expected
    assert not vocabulary.special_tokens
    assert not vocabulary.eos_token_ids


def test_ranks_spell_what_the_library_encodes(
    ranks: Path, encoding: tiktoken.Encoding, text: str
) -> None:
    vocabulary = load_vocabulary(ranks)
    joined = b"".join(vocabulary.tokens[token_id] for token_id in encoding.encode(text))
    assert joined == text.encode()


@pytest.fixture(scope="module")
def rwkv_tokens() -> dict[int, bytes]:
    document = json.loads(RWKV_JSON.read_bytes())
    return {
        int(key): value.encode() if isinstance(value, str) else bytes(value)
        for key, value in document.items()
    }


@pytest.fixture(scope="module")
def rwkv_text(tmp_path_factory: pytest.TempPathFactory, rwkv_tokens: dict[int, bytes]) -> Path:
    """Write the vocabulary in the form in which RWKV publishes it."""
    path = tmp_path_factory.mktemp("rwkv") / "vocabulary"
    lines = [f"{key} {literal(data)} {len(data)}\n" for key, data in rwkv_tokens.items()]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def literal(data: bytes) -> str:
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return repr(data)


def test_plain_json(rwkv_tokens: dict[int, bytes]) -> None:
    vocabulary = load_vocabulary(RWKV_JSON)
    assert vocabulary.tokens == rwkv_tokens
    assert vocabulary.size == 65_530
    assert len(vocabulary) == 65_529
    assert not vocabulary.eos_token_ids
    assert (
        sum(data.decode(errors="replace").encode() != data for data in rwkv_tokens.values()) > 400
    )


def test_rwkv_text(rwkv_text: Path, rwkv_tokens: dict[int, bytes]) -> None:
    vocabulary = load_vocabulary(rwkv_text)
    assert vocabulary.tokens == rwkv_tokens
    assert vocabulary.eos_token_ids == {0}
    assert vocabulary.special_tokens == {"<|endoftext|>": 0}


def test_rwkv_spells_a_text(rwkv_text: Path, text: str) -> None:
    """RWKV encodes by the longest token that fits."""
    vocabulary = load_vocabulary(rwkv_text)
    rest = text.encode()
    ids = []
    while rest:
        ids.append(longest_match(vocabulary, rest))
        rest = rest[len(vocabulary.tokens[ids[-1]]) :]
    assert b"".join(vocabulary.tokens[token_id] for token_id in ids) == text.encode()


def longest_match(vocabulary: Vocabulary, rest: bytes) -> int:
    for length in range(len(rest), 0, -1):
        token_id = vocabulary.get_token_id(rest[:length])
        if token_id is not None:
            return token_id
    pytest.fail(f"no token for {rest[:8]!r}")


ACCEPTED = [
    ('{"0": "a", "3": [255, 0], "5": "", "7": "a"}', {0: b"a", 3: b"\xff\0", 5: b"", 7: b"a"}),
    ("{}", {}),
    ('\ufeff {"0": "é"}', {0: "é".encode()}),
    ("1 'a' 1\n2 \"it's\" 4\r\n\n4 ' ' 1", {1: b"a", 2: b"it's", 4: b" "}),
    ("3 b'\\xff \\n' 3", {3: b"\xff \n"}),
    ("0 'a' 1\n", {0: b"a"}),
    ("5 '' 0\n6 '\u2028' 3\n", {5: b"", 6: b"\xe2\x80\xa8"}),
    ("YQ== 0\nYWI= 5\n\n", {0: b"a", 5: b"ab"}),
]


@pytest.mark.parametrize(("text", "tokens"), ACCEPTED, ids=[text for text, _ in ACCEPTED])
def test_small_files(tmp_path: Path, text: str, tokens: dict[int, bytes]) -> None:
    path = tmp_path / "x"
    path.write_bytes(text.encode())
    assert load_vocabulary(path).tokens == tokens


REFUSED = [
    ('{"0": 5}', "token 0 should be a text or a list of bytes, not 5"),
    ('{"0": [256]}', "token 0 should be a text or a list of bytes"),
    ('{"0": [true]}', "token 0 should be a text or a list of bytes"),
    ('{"0": "a", "b": "c"}', "a key should be a token id, not 'b'"),
    ('{"0": "a", "01": "c"}', "a key should be a token id, not '01'"),
    ('{"0": "\\ud800"}', "token 0 has half of a surrogate pair"),
    ('{"16777216": "a"}', "token id 16777216 is outside"),
    ("1 'a' 1\n1 'b' 1", "line 2: id 1 was given before"),
    ("1 'a' 2", "line 1: 'a' has 1 bytes, not 2"),
    ("1 'a' 1\n2 'b'", "line 2 should be 'ID LITERAL LENGTH'"),
    ("1 'a' 1\n2 'b'+'c' 2", r"line 2: 'b'\+'c' is not a string or bytes literal"),
    ("1 '\\d' 2", "is not a string or bytes literal"),
    ("1 '\\ud800' 3", "line 1 has half of a surrogate pair"),
    ("1 'a'if'b'else'c' 1", "is not a string or bytes literal"),
    ("YQ== 0\nYg== 0", "line 2: rank 0 was given before"),
    ("YQ== 0\nYg 1", "line 2: 'Yg' is not base64"),
    ("YQ== 0\nYg==", "line 2 should be 'BASE64 RANK', not 'Yg=='"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(VocabularyError, match=message) as caught:
        load_vocabulary(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_base64_of_anything(tmp_path: Path) -> None:
    tokens = {rank: bytes([rank, 255 - rank]) * (rank % 5 + 1) for rank in range(256)}
    path = tmp_path / "x"
    path.write_text("\n".join(f"{base64.b64encode(d).decode()} {r}" for r, d in tokens.items()))
    assert load_vocabulary(path).tokens == tokens
