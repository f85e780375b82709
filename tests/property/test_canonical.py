"""Canonical masks beside the tokenizers themselves: what they allow is what these write."""

import json
import pickle
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from copy import copy
from random import Random
from typing import Any

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer

from kbnf_core import ConfigError, Engine, Grammar, Vocabulary
from kbnf_core.mask.canonical import MOST_BYTES, rows_of
from kbnf_core.trace import read_log, trace
from kbnf_testing import tokenizer_files
from kbnf_testing.canonical import (
    SCHEMA,
    TOKENIZERS,
    judge,
    refused_tokens,
    smollm2,
    tekken,
    trained,
    walk,
    write,
)
from kbnf_testing.pages import ROOT


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("count", [60, pytest.param(2500, marks=pytest.mark.slow)])
def test_texts_are_encoded_as_they_were_written(name: str, count: int) -> None:
    vocabulary, encode = TOKENIZERS[name]()
    found = judge(vocabulary, encode, count)
    assert len(found.different) * 1000 <= count, found.different[:3]
    assert found.gave_way * 3 <= count


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("count", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_nothing_that_a_tokenizer_writes_is_refused(name: str, count: int) -> None:
    vocabulary, encode = TOKENIZERS[name]()
    assert refused_tokens(vocabulary, encode, count) == []


THREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "stars": {"type": "integer"}, "tags": SCHEMA},
    "required": ["name", "stars", "tags"],
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_random_walks_give_way_seldom(name: str) -> None:
    """A token that only other tokens can follow is left out (``,"`` and ``star`` before ``s``)."""
    schemas = (SCHEMA, THREE, {"enum": ["month", "months", "monthly", "group"]}, True)
    walks = walk([Grammar.from_json_schema(each) for each in schemas * 3], TOKENIZERS[name]()[0])
    assert len(walks.breaks) * 200 <= walks.tokens, walks.breaks


@pytest.mark.parametrize("name", TOKENIZERS)
def test_without_them_texts_are_encoded_otherwise(name: str) -> None:
    vocabulary, encode = TOKENIZERS[name]()
    engine = Engine(r'start ::= #"[ -~]{9,}";', vocabulary, finish="eos")
    shares = [0.0, 0.7] * 20
    written = [write(engine, Random(seed), 30, each) for seed, each in enumerate(shares)]
    texts = [vocabulary.decode(tokens).decode() for tokens in written]
    pairs = zip(written, texts, strict=True)
    assert sum(list(encode(text)) != tokens for tokens, text in pairs) >= 8


TEXTS = [
    '{"name": "Ann-Marie O\'Neill",\n    "n": 1234, "tags": ["it\'s", "we\'re", "a  b"]}',
    "def f(x):\n\treturn x+1  # see https://a.example/b?c=d\n\n\n",
    "naïve café – “quoted” … 你好，世界 😀👩‍👩‍👧 привет мир \u0995\u09be\u0982\u09b2\u09be",
    "   \n  \t x  'twas THE HTMLParser3 v1.2.3",
    "[\n    1,\n    22\n]\nif x:\n\treturn\n\n\t\ty\r\n\tz\t4  5",
]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_a_tokenizer_writes_is_allowed(name: str, text: str) -> None:
    vocabulary, encode = TOKENIZERS[name]()
    engine = Engine(r'start ::= #"[^\\x00]*";', vocabulary, finish="eos", canonical=True)
    for token in encode(text):
        engine.compute_allowed_token_ids()
        assert token in engine.get_allowed_token_ids_from_last_computation()
        engine.try_accept_new_token(token)
    assert engine.canonical_breaks == 0


def test_a_blank_apart_from_those_before_ends_a_word() -> None:
    """What follows has to be what cuts them apart, and the text may not end there."""
    vocabulary, encode = smollm2()
    assert [*map(vocabulary.token, encode("x\n\ty"))] == [b"x", b"\n", b"\t", b"y"]
    engine = Engine(r'start ::= #"[^\\x00]*";', vocabulary, finish="eos", canonical=True)
    begun = encode("x\n")
    (tab,) = encode("\t")
    engine.accept_tokens([*begun, tab])
    assert engine.canonical_breaks == 0
    engine.compute_allowed_token_ids()
    allowed = set(engine.get_allowed_token_ids_from_last_computation())
    texts = [vocabulary.token(each) or b"" for each in allowed]
    assert allowed >= {*encode("y"), *encode("(")}
    assert not allowed & vocabulary.eos_token_ids
    assert not any(each[:1].isspace() for each in texts if each.strip() == b"")


def test_a_character_of_three_tokens_is_read_with_what_is_before_it() -> None:
    """A mark joins the signs before it, and not the letter of its own token behind it."""
    vocabulary, encode = tekken()
    begun = [*encode('"},'), *(vocabulary.token_ids(each)[0] for each in (b"\xe2", b"\x83"))]
    together = vocabulary.token_ids(b"\x99\xec\x9d\x80")[0]
    assert encode('"},\u20d9\uc740') != [*begun, together]
    rows = rows_of(vocabulary)
    row = rows.row_after([*begun], len(begun))
    assert not int(row[together // 32]) >> together % 32 & 1


def test_a_blank_of_three_tokens_is_cut_off_where_something_follows() -> None:
    vocabulary, _ = trained()
    parts = [vocabulary.token_ids(each)[0] for each in (b" \xe2\x80", b"\x81")]
    row = rows_of(vocabulary).row_after([*parts], 2)
    following = vocabulary.token_ids(b"]")[0]
    assert not int(row[following // 32]) >> following % 32 & 1


@pytest.mark.parametrize("name", TOKENIZERS)
def test_traces_call_canonical_what_the_tokenizer_writes_within_a_text(name: str) -> None:
    vocabulary, encode = TOKENIZERS[name]()
    engine = Engine(r'start ::= #"[^\\x00]*";', vocabulary, finish="eos")

    def starts(tokens: Iterable[int]) -> Iterator[tuple[int, int]]:
        start = 0
        for each in tokens:
            yield start, each
            start += len(vocabulary.token(each) or b"")

    for text in ("Hello 42 you", '{"name": "x y", "n": 3}', "naïve 你好"):
        tokens = [*encode(text)]
        log = [json.dumps({"token_id": each, "logprob": -1.0}) for each in tokens]
        found = trace(engine, read_log(log, vocabulary))
        assert (found.steps, found.noncanonical) == (len(tokens), 0)
    single = [vocabulary.token_ids(each.encode())[0] for each in "Hello"]
    log = [json.dumps({"token_id": each, "logprob": -1.0}) for each in single]
    other = {*starts(single)} - {*starts(encode("Hello"))}
    assert len(other) > 1
    assert trace(engine, read_log(log, vocabulary)).noncanonical == len(other)


def test_a_text_that_the_tokenizer_composes_is_allowed_in_both_forms() -> None:
    """What NFC composes is never encoded: then that is canonical which comes without NFC."""
    tokenizer = tokenizer_files.byte_level()
    text = "a cafe\u0301"
    tokens = tokenizer.encode(text).ids
    tokenizer.normalizer = normalizers.NFC()
    vocabulary = Vocabulary.of(tokenizer)
    assert refused_tokens(vocabulary, vocabulary.encode, 300) == []
    assert vocabulary.decode(vocabulary.encode(text)) == "a caf\xe9".encode()
    engine = Engine(r'start ::= #"[^\\x00]*";', vocabulary, finish="eos", canonical=True)
    engine.accept_tokens(tokens)
    assert engine.canonical_breaks == 0
    engine.compute_allowed_token_ids()
    assert vocabulary.eos_token_ids <= {*engine.get_allowed_token_ids_from_last_computation()}


GPT2 = r"'s|'t|'re| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CUTS: dict[str, tuple[bool, list[Any]]] = {
    "GPT-2": (True, [pre_tokenizers.ByteLevel(add_prefix_space=True)]),
    "o200k": (True, [O200K]),
    "Kimi": (True, [r"\p{Han}+|" + O200K.replace(r"\p{Lo}\p{M}]", r"\p{Lo}\p{M}&&[^\p{Han}]]")]),
    "DeepSeek V3": (True, [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", DEEPSEEK]),
    "DeepSeek Coder": (True, [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"\p{N}"]),
    "from the right": (False, [r"\d{1,3}(?=(?:\d{3})*\b)", GPT2]),
    "a letter": (False, ["a"]),
    "places": (False, [r".{1,3}"]),
    "repetitions": (False, [r"(\w+)\s\1"]),
}
"""Pretokenizers, and whether they cut by kinds of characters."""


@pytest.mark.parametrize("name", CUTS)
def test_a_tokenizer_is_refused_or_what_it_writes_is_allowed(name: str) -> None:
    cuts_by_kinds, steps = CUTS[name]
    tokenizer: Any = Tokenizer(models.BPE())
    splits = [
        pre_tokenizers.Split(Regex(each), "isolated") if isinstance(each, str) else each
        for each in steps
    ]
    if not isinstance(splits[-1], pre_tokenizers.ByteLevel):
        splits.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(
        vocab_size=900,
        initial_alphabet=alphabet,
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    page = (ROOT / "docs" / "json-schema.md").read_text(encoding="utf-8")
    tokenizer.train_from_iterator(
        [page, "\u4f60\u597d \u4e16\u754c \u3072\u3089 na\xefve 12345 6789012 " * 50], trainer
    )
    vocabulary = Vocabulary.of(tokenizer)
    refused = not cuts_by_kinds and pytest.raises(ConfigError, match="the kinds of characters")
    with refused or nullcontext():
        assert refused_tokens(vocabulary, vocabulary.encode, 200) == []


def test_every_way_to_a_mask_is_the_same() -> None:
    vocabulary, _ = trained()
    plain = Engine(r'start ::= #"[ -~\\n]*";', vocabulary, finish="eos")
    engine = Engine(plain.grammar, vocabulary, finish="eos", canonical=True)
    words = (vocabulary.size + 31) // 32
    random = Random(3)
    for _ in range(20):
        engine.compute_allowed_token_ids()
        expected = engine.allowed_bits().view(np.int32)
        rows = np.zeros((3, words), np.int32)
        engine.fill_bitmask(rows, 0)
        logits = np.zeros(vocabulary.size, np.float32)
        engine.mask_logits(logits)
        draft = [int(each) for each in np.flatnonzero(np.isfinite(logits))[:1]]
        engine.fill_draft_bitmask(rows, 1, draft)
        assert (rows[:2] == expected).all()
        tree = np.zeros((2, words), np.int32)
        engine.fill_tree_bitmasks(tree, 0, [-1, 0], [0, *draft])
        assert (tree == rows[1:]).all()
        assert set(draft) <= set(engine.get_allowed_token_ids_from_last_computation())
        plain.compute_allowed_token_ids()
        assert not (engine.allowed_bits() & ~plain.allowed_bits()).any()
        token = random.choice(engine.get_allowed_token_ids_from_last_computation())
        if token in vocabulary.eos_token_ids:
            break
        engine.try_accept_new_token(token)
        plain.try_accept_new_token(token)


def test_canonicity_gives_way_and_is_counted() -> None:
    vocabulary, encode = trained()
    assert len(list(encode(" the"))) == 1
    engine = Engine("start ::= ' the';", vocabulary, canonical=True)
    for beginning in (" t", "h"):
        (token,) = encode(beginning)
        engine.try_accept_new_token(token)
    assert engine.canonical_breaks == 1
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation() == list(vocabulary.token_ids(b"e"))
    engine.try_accept_new_token(vocabulary.token_ids(b"e")[0])
    assert engine.canonical_breaks == 2
    assert copy(engine).canonical_breaks == 2
    with pytest.raises(ConfigError, match="lists tokens only"):
        pickle.loads(pickle.dumps(engine))  # noqa: S301 - its own
    engine.rollback(2)
    assert engine.canonical_breaks == 0


def test_rows_are_bounded() -> None:
    vocabulary, _ = trained()
    rows = rows_of(vocabulary)
    for token in vocabulary.tokens:
        rows.row_after([token], 1)
    assert 0 < rows.estimated_bytes <= MOST_BYTES == rows.most_bytes
    assert rows is rows_of(vocabulary)


@pytest.mark.parametrize("name", ["Unigram", "WordPiece"])
def test_other_tokenizers_are_refused_with_the_reason(name: str) -> None:
    tokenizers = tokenizer_files.tokenizers() | tokenizer_files.without_bytes()
    kind = next(each for key, each in tokenizers.items() if name in key or name.lower() in key)
    with pytest.raises(ConfigError, match=f"byte pairs: this is {name}"):
        Engine("start ::= 'a';", Vocabulary.of(kind), canonical=True)


def test_whole_words_looked_up_first_are_refused() -> None:
    document = json.loads(tokenizer_files.byte_level().to_str())
    document["model"]["ignore_merges"] = True
    vocabulary = Vocabulary.of(Tokenizer.from_str(json.dumps(document)))
    with pytest.raises(ConfigError, match="ignore_merges"):
        Engine("start ::= 'a';", vocabulary, canonical=True)
    with pytest.raises(ConfigError, match="lists tokens only"):
        Engine("start ::= 'a';", Vocabulary({0: b"a"}), canonical=True)
