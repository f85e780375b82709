"""Forced tokens are what the tokenizer itself writes, for tokenizers of every family."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import mistral_common
import pytest
import sentencepiece
import tiktoken
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from kbnf_core import Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.mask.bits import only_id, pack

TEKKEN = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"

GRAMMAR = r"""
start ::= ' '? '{"name": "' #'[a-zé ]{0,12}' '", "value": ' value ', "kind": "' kind '"' note? tail;
value ::= #'[0-9]{1,5}' | 'null' | 'true' | '-12' #'[0-9]{0,2}';
kind ::= 'alphabet' | 'alphanumeric' | 'ünïcödé' | 'ünique';
note ::= ',\n    "note":   "it\'s done"' | ',\n    "nothing": [1234567, 12345]';
tail ::= '}\n\n  end of it 😀';
"""


def document(random: Random) -> str:
    """Return a random text of the grammar."""
    name = "".join(random.choices("aelnst é", k=random.randint(0, 12)))
    value = random.choice([str(random.randint(0, 99_999)), "null", "true", "-12", "-127"])
    kind = random.choice(["alphabet", "alphanumeric", "ünïcödé", "ünique"])
    note = random.choice(
        ["", ',\n    "note":   "it\'s done"', ',\n    "nothing": [1234567, 12345]']
    )
    return f'{{"name": "{name}", "value": {value}, "kind": "{kind}"{note}}}\n\n  end of it 😀'


CORPUS = [document(Random(seed)) for seed in range(200)]


def byte_pairs(*, use_regex: bool) -> Vocabulary:
    """Without a split into words every merge can reach far back."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    texts = CORPUS if use_regex else [text[i : i + 9] for text in CORPUS for i in range(40)]
    tokenizer.train_from_iterator(texts, trainer)
    return Vocabulary.of(tokenizer)


def pieces(kind: str) -> Vocabulary:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        vocab_size=400,
        model_type=kind,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return Vocabulary.of(sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()))


def ranks() -> Vocabulary:
    words = [text.encode() for text in ("na", "me", "name", '":', '": ', "al", "ph", "alph", "  ")]
    ranks = {bytes([value]): value for value in range(256)}
    ranks |= {word: 256 + place for place, word in enumerate(words)}
    return Vocabulary.of(
        tiktoken.Encoding(
            "small", pat_str=r"\p{N}{1,3}|\s+(?!\S)|\s?[^\s\p{N}]+|\s+", mergeable_ranks=ranks,
            special_tokens={},
        )
    )  # fmt: skip


def longest(folder: Path) -> Vocabulary:
    """Return the vocabulary of a file that lists tokens alone."""
    words = ("name", "na", '"name": "', "alpha", "lphanu", ', "', "}\n", "é", "ï")
    characters = sorted({char for text in CORPUS for char in text} | set(map(chr, range(32, 127))))
    path = folder / "words.json"
    listed = dict(enumerate(dict.fromkeys((*characters, *words))))
    path.write_text(json.dumps(listed), encoding="utf-8")
    return load_vocabulary(path)


FAMILIES: dict[str, Callable[[Path], Vocabulary]] = {
    "tekken": lambda _: load_vocabulary(TEKKEN),
    "tokenizers": lambda _: byte_pairs(use_regex=True),
    "tokenizers, whole texts": lambda _: byte_pairs(use_regex=False),
    "unigram": lambda _: pieces("unigram"),
    "pieces of pairs": lambda _: pieces("bpe"),
    "tiktoken": lambda _: ranks(),
    "longest match": longest,
    "bytes": lambda _: Vocabulary.bytes(),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_forced_tokens_are_those_that_the_tokenizer_writes(family: str, tmp_path: Path) -> None:
    vocabulary = FAMILIES[family](tmp_path)
    ends = sorted(vocabulary.eos_token_ids)
    grammar = Grammar(GRAMMAR, finish="eos")
    foreseen = 0
    for seed in range(60):
        engine = Engine(grammar, vocabulary)
        tokens = vocabulary.encode(document(Random(seed)))
        for place, token_id in enumerate(tokens):
            forced = engine.forced_tokens()
            assert forced == [*tokens, *ends][place : place + len(forced)]
            foreseen += bool(forced)
            engine.try_accept_new_token(token_id)
        assert engine.can_finish()
    assert foreseen > 60


def test_what_a_longer_text_would_merge_is_held_back() -> None:
    tokens = {**{value: bytes([value]) for value in range(256)}, 256: b"ab", 257: b"bcd"}
    vocabulary = Vocabulary(tokens)
    assert not vocabulary.can_encode
    # After "a" the mask has "b" alone, but here two tokens begin the text.
    assert Engine("start ::= 'abc' ('d' | 'e');", vocabulary).forced_tokens() == []


def test_a_text_that_is_forced_is_foreseen_whole_but_for_its_end() -> None:
    vocabulary = load_vocabulary(TEKKEN)
    text = '{"temperature": 12345, "unit": "'
    engine = Engine(f"start ::= '{text}' ('celsius' | 'kelvin') '\"}}';", vocabulary)
    tokens = vocabulary.encode(text + 'kelvin"}')
    forced = engine.forced_tokens()
    assert forced == tokens[: len(forced)]
    assert len(b"".join(vocabulary.tokens[each] for each in forced)) >= len(text) - 2
    assert engine.forced_tokens(limit=3) == tokens[:3]
    assert engine.forced_tokens(limit=0) == []


def test_tokens_are_foreseen_after_bytes_where_a_token_may_end_there() -> None:
    vocabulary = load_vocabulary(TEKKEN)
    engine = Engine("""start ::= '{"' 'name' '": ' ('one' | 'two');""", vocabulary)
    engine.try_accept_new_bytes(b'{"')
    assert [vocabulary.token(each) for each in engine.forced_tokens()] == [b"name", b'":']
    engine.reset()
    engine.try_accept_new_bytes(b'{"na')
    assert engine.forced_tokens() == []


def test_nothing_is_foreseen_after_tokens_that_the_tokenizer_would_not_write() -> None:
    vocabulary = load_vocabulary(TEKKEN)
    engine = Engine("start ::= 'name' ': ' ('one' | 'two');", vocabulary)
    for value in b"na":
        token_id = vocabulary.get_token_id(bytes([value]))
        assert token_id is not None
        engine.try_accept_new_token(token_id)
    assert engine.forced_tokens() == []


def test_a_text_is_encoded_once_however_often_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vocabulary = load_vocabulary(TEKKEN)
    encoded: list[str] = []
    encode = vocabulary.encode

    def noted(text: str | bytes) -> list[int]:
        encoded.append(str(text))
        return encode(text)

    text = '{"temperature": 12345, "pressure": 678, "unit": "'
    tokens = encode(text)
    engine = Engine(f"start ::= '{text}' ('celsius' | 'kelvin') '\"}}';", vocabulary)
    monkeypatch.setattr(Vocabulary, "encode", lambda _, text: noted(text))
    first = engine.forced_tokens()
    count = len(encoded)
    for place, token_id in enumerate(first):
        assert engine.forced_tokens() == first[place:] == tokens[place : len(first)]
        engine.try_accept_new_token(token_id)
    assert len(first) > 15
    assert len(encoded) == count


def test_a_text_is_encoded_once_where_its_last_boundary_is_one_of_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vocabulary = load_vocabulary(TEKKEN)
    encoded: list[str | bytes] = []
    encode = vocabulary.encode

    def noted(_: Vocabulary, text: str | bytes) -> list[int]:
        encoded.append(text)
        return encode(text)

    monkeypatch.setattr(Vocabulary, "encode", noted)
    text = '{"temperature": 12345, "value": '
    engine = Engine(f"start ::= '{text}' ('one' | 'two') '}}';", vocabulary)
    forced = engine.forced_tokens()
    assert len(b"".join(vocabulary.tokens[each] for each in forced)) == len(text) - 1
    # A longer token may begin with the last blank, and there a token begins.
    assert encoded == [text]
    for token_id in forced:
        engine.try_accept_new_token(token_id)
    assert engine.forced_tokens() == []
    # Another grammar finds it known.
    other = Engine(f"start ::= '{text}' ('eins' | 'zwei') '}}';", vocabulary)
    assert other.forced_tokens() == forced
    assert encoded == [text]


def test_a_token_that_nothing_longer_begins_with_needs_no_mask() -> None:
    vocabulary = Vocabulary({value: bytes([value]) for value in range(256)})
    engine = Engine("start ::= 'abc' ('d' | 'e');", vocabulary)
    assert engine.forced_tokens() == [*b"abc"]
    assert engine._automaton.masks.visited == 0


@pytest.mark.parametrize(
    ("ids", "expected"),
    [([], None), ([0], 0), ([31], 31), ([63], 63), ([1, 2], None), ([1, 40], None)],
)
def test_one_allowed_id_is_told_from_none_and_several(ids: list[int], expected: int | None) -> None:
    assert only_id(pack(ids, 64)) == expected
