"""Damaged vocabulary files: read as what they say, or refused by one of the documented errors.

The judges are the libraries and a few lines of the standard library, which are asked only about
files that were accepted: a file that a judge refuses too, or reads otherwise, is a finding.
"""

import base64
import contextlib
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor

from kbnf_core import Vocabulary, load_vocabulary
from kbnf_core.text.errors import SourceError, VocabularyError
from kbnf_core.text.files import VARIABLE
from kbnf_testing import forked, robustness, tokenizer_files
from kbnf_testing.forked import End

pytestmark = forked.needed

SURFACE = "vocabularies"

FILES: dict[str, Callable[[], bytes]] = {
    "tekken": tokenizer_files.tekken,
    "tiktoken": tokenizer_files.ranks,
    "rwkv": tokenizer_files.rwkv,
    "plain": tokenizer_files.plain,
    "byte level": partial(tokenizer_files.trained, "byte level"),
    "BPE, byte fallback": partial(tokenizer_files.trained, "BPE, byte fallback"),
    "Unigram, byte fallback": partial(tokenizer_files.trained, "Unigram, byte fallback"),
    "sentencepiece": tokenizer_files.sentence_piece,
    "GGUF": tokenizer_files.gguf,
}

ODD_VALUES: list[Any] = [None, True, -1, 0, 2**31, 2**64, 1e400, -0.0, 0.5, [], {}, [[]], [256]]
ODD_VALUES += ["", "\ud800", "0", "<0x41>", "é" * 70, {"type": "BPE"}, {"": {}}, ["", 1e400]]


def mutate(random: Random, data: bytes) -> bytes:
    """Return the file with some damage: to its bytes, its lines, or the values of its JSON."""
    with contextlib.suppress(ValueError):
        if random.random() < 0.5:
            document = json.loads(data)
            for _ in range(random.randint(1, 3)):
                spoil(random, document)
            return json.dumps(document).encode()
    for _ in range(random.choice((1, 1, 2, 5))):
        data = random.choice((flip, cut, drop, repeat, insert))(random, data)
    return data


def flip(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) or 1)
    return (
        data[:place]
        + bytes(byte ^ 1 << random.randrange(8) for byte in data[place:][:1])
        + (data[place + 1 :])
    )


def cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)] if random.random() < 0.3 else data


def drop(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) or 1)
    return data[:place] + data[place + random.choice((1, 2, 9, 99)) :]


def repeat(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) or 1)
    return data[: place + random.choice((1, 8, 60))] + data[place:]


def insert(random: Random, data: bytes) -> bytes:
    odd = (
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b" ",
        b'"',
        b"[" * 3000,
        "\u2028".encode(),
    )
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(odd) + data[place:]


def spoil(random: Random, document: Any) -> None:
    """Change one value somewhere in a JSON document, in place."""
    holder = document
    while True:
        if not isinstance(holder, dict | list) or not holder:
            return
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = random.choice(keys)
        if isinstance(holder[key], dict | list) and holder[key] and random.random() < 0.8:
            holder = holder[key]
            continue
        break
    kind = random.random()
    if kind < 0.2:
        del holder[key]
    elif kind < 0.4 and isinstance(holder, dict):
        holder[random.choice(("", "0", "-1", "999999999", "type", "é"))] = holder[key]
    elif kind < 0.6:
        holder[key] = holder[random.choice(keys)]
    else:
        holder[key] = random.choice(ODD_VALUES)


def verdict(path: Path) -> str:
    """Return how a file was refused, or that it was read; raise where it was read wrongly."""
    try:
        vocabulary = load_vocabulary(path)
    except (VocabularyError, SourceError) as error:
        message = str(error)
    else:
        check(vocabulary, path.read_bytes())
        return "read"
    assert message.startswith(str(path))
    assert len(message) < 1000
    return "refused"


def check(vocabulary: Vocabulary, data: bytes) -> None:
    """Compare a vocabulary with itself and with what a judge reads from the same file."""
    trie = vocabulary.trie
    assert trie.node_count > 0
    for token_id, spelling in vocabulary.tokens.items():
        assert 0 <= token_id < vocabulary.size
        if spelling:
            found = vocabulary.get_token_id(spelling)
            assert found is not None
            assert vocabulary.tokens[found] == spelling
    expected = as_judged(data)
    if expected is not None:
        assert vocabulary.tokens == expected
    ids = ids_by_library(data)
    if ids is not None:
        assert set(vocabulary.tokens) | set(vocabulary.special_tokens.values()) == ids


def as_judged(data: bytes) -> dict[int, bytes] | None:
    """Return the tokens of ranks or plain JSON; ``None`` for what needs a library to read."""
    with contextlib.suppress(UnicodeDecodeError):
        text = data.decode("utf-8-sig")
        if text.lstrip()[:1] not in "{[":
            pairs = [line.split(" ") for line in text.splitlines() if line]
            if all(len(pair) == 2 for pair in pairs):
                return {int(rank): base64.b64decode(spelled) for spelled, rank in pairs}
        elif text.lstrip().startswith("{"):
            document = json.loads(text)
            if next(iter(document), "0").isdigit():
                return {
                    int(key): value.encode() if isinstance(value, str) else bytes(value)
                    for key, value in document.items()
                }
    return None


def ids_by_library(data: bytes) -> set[int] | None:
    """Return the ids of a SentencePiece model; ``None`` for any other file.

    The library for tokenizer.json is no judge of damage: it gives added tokens other ids.
    """
    if not data.startswith(b"\n"):
        return None
    return set(range(SentencePieceProcessor(model_proto=data).get_piece_size()))


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused_or_read_as_they_say(name: str, tmp_path: Path) -> None:
    whole = FILES[name]()

    def work(case: int) -> str:
        data = mutate(robustness.generator(f"{SURFACE} {name}", case), whole)
        path = tmp_path / "file"
        path.write_bytes(data)
        return verdict(path)

    outcomes = forked.run(work, robustness.cases(120))
    for outcome in outcomes:
        if outcome.end is not End.RETURNED:
            damaged = mutate(robustness.generator(f"{SURFACE} {name}", outcome.case), whole)
            robustness.keep_sample(SURFACE, damaged)
    assert forked.failures(outcomes) == []
    # Mutations that never, or always, break a file would show nothing.
    assert {outcome.value for outcome in outcomes} == {"refused", "read"}


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("generation_config.json", {"eos_token_id": [1, 2], "bos_token_id": 0}),
        ("tokenizer_config.json", {"eos_token": {"content": "<|end|>"}, "added_tokens": [{}]}),
        ("special_tokens_map.json", {"eos_token": "<|end|>", "additional": ["<|end|>"]}),
    ],
)
def test_damaged_files_beside_a_tokenizer(
    name: str, document: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_bytes(tokenizer_files.trained("byte level"))
    tokens = load_vocabulary(tmp_path).tokens
    whole = json.dumps(document).encode()

    def work(case: int) -> str:
        damaged = mutate(robustness.generator(f"{SURFACE} {name}", case), whole)
        (tmp_path / name).write_bytes(damaged)
        try:
            vocabulary = load_vocabulary(tmp_path)
        except (VocabularyError, SourceError) as error:
            return "refused" if str(tmp_path) in str(error) else str(error)
        # They name tokens that end a text, and nothing else.
        assert vocabulary.tokens.items() <= tokens.items()
        return "read"

    outcomes = forked.run(work, robustness.cases(120))
    assert forked.failures(outcomes) == []
    assert {outcome.value for outcome in outcomes} == {"refused", "read"}


@pytest.mark.parametrize("path", robustness.samples(SURFACE), ids=lambda path: path.name)
def test_kept_samples(path: Path) -> None:
    assert forked.failures(forked.run(verdict, [path])) == []


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that is old and large enough for the cache, beside a cache of its own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    path = tmp_path / "file"
    path.write_bytes(json.dumps({number: f"token {number}" for number in range(5_000)}).encode())
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def test_damaged_cache_entries_change_nothing(cached: Path, tmp_path: Path) -> None:
    expected = load_vocabulary(cached).fingerprint
    (entry,) = (tmp_path / "cache" / "vocabularies").iterdir()
    whole = entry.read_bytes()

    def work(case: int) -> bool:
        random = robustness.generator("vocabulary cache", case)
        data = whole
        for _ in range(random.choice((1, 1, 3))):
            data = random.choice((flip, cut, drop, repeat, insert))(random, data)
        entry.write_bytes(data)
        vocabulary = load_vocabulary(cached)
        return vocabulary.fingerprint == expected and vocabulary.trie.node_count > 5_000

    outcomes = forked.run(work, robustness.cases(60))
    assert forked.failures(outcomes) == []
    assert all(outcome.value for outcome in outcomes)


@pytest.mark.parametrize("place", ["entry", "folder", "cache"])
@pytest.mark.parametrize("what", ["dangling link", "file", "folder", "circle of links", "locked"])
def test_odd_things_where_the_cache_would_be(
    cached: Path, tmp_path: Path, place: str, what: str
) -> None:
    expected = load_vocabulary(cached).fingerprint
    folder = tmp_path / "cache" / "vocabularies"
    (entry,) = folder.iterdir()
    target = {"entry": entry, "folder": folder, "cache": folder.parent}[place]
    put_in_place(target, what)
    try:
        for _ in range(2):
            assert load_vocabulary(cached).fingerprint == expected
    finally:
        if what == "locked":
            target.chmod(0o700)


def put_in_place(target: Path, what: str) -> None:
    if what == "locked":
        target.chmod(0)
        return
    target.rename(target.with_name("moved"))
    if what == "dangling link":
        target.symlink_to(target.with_name("nowhere"))
    elif what == "circle of links":
        target.symlink_to(target)
    elif what == "file":
        target.write_bytes(b"prose")
    else:
        target.mkdir()


def test_no_home_is_no_error(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_vocabulary(cached).fingerprint
    monkeypatch.delenv(VARIABLE)
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(cached / "below a file"))
    assert load_vocabulary(cached).fingerprint == expected
