"""Small vocabulary files of every format, made with the libraries that define the formats."""

import base64
import json
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer, UnigramTrainer, WordPieceTrainer

CORPUS = [
    "hello world, hello token",
    '{"key": "value", "list": [1, 2, 3]}',
    "  indented text\n\n with  spaces",
    "你好 世界 naïve café 👩‍👩‍👧",
] * 10

SENTENCES = ["hello world, hello token", "spaces   and tabs", "the cat sat on the mat"] * 20
LONGER = [b"hello", b" world", "naïve".encode(), b"  ", b"\xf0\x9f", b'{"']
SPELLINGS = [*(bytes([value]) for value in range(256)), *LONGER]

UNKNOWN = "<unk>"
BYTE_PIECES = [f"<0x{value:02X}>" for value in range(256)]


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(
        vocab_size=400,
        initial_alphabet=alphabet,
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    added = ["    ", "é", "日本語", "<tool_call>"]
    tokenizer.add_tokens([AddedToken(content, normalized=False) for content in added])
    tokenizer.add_special_tokens(["<|im_end|>"])
    return tokenizer


def bpe_with_byte_fallback() -> Tokenizer:
    """As in Gemma: every blank is a mark, and marks are added tokens too."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    trainer = BpeTrainer(
        vocab_size=400, special_tokens=[UNKNOWN, "<s>", "</s>", *BYTE_PIECES], show_progress=False
    )
    tokenizer.train_from_iterator(["hello▁world", "▁▁▁▁a▁b"] * 9, trainer)
    document = json.loads(tokenizer.to_str())
    document["model"]["byte_fallback"] = True
    document["added_tokens"] = document["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_tokens([AddedToken("▁▁▁", normalized=True)])
    return tokenizer


def bpe_with_a_blank_before_the_text() -> Tokenizer:
    """As in Llama 2: the normaliser puts a blank before the text, the decoder strips it."""
    tokenizer = bpe_with_byte_fallback()
    document = json.loads(tokenizer.to_str())
    document["added_tokens"].pop()
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence([tokenizer.decoder, decoders.Strip(" ", 1, 0)])
    return tokenizer


def unigram_with_byte_fallback() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    trainer = UnigramTrainer(
        vocab_size=60, special_tokens=[UNKNOWN, "</s>"], unk_token=UNKNOWN, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    document = json.loads(tokenizer.to_str())
    pairs = [*document["model"]["vocab"], *((piece, -20.0) for piece in BYTE_PIECES)]
    tokenizer.model = models.Unigram([tuple(pair) for pair in pairs], 0, True)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return tokenizer


def bpe_of_characters() -> Tokenizer:
    """Without a decoder of bytes: pieces are text, blanks are pieces."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.decoder = decoders.Fuse()
    trainer = BpeTrainer(vocab_size=200, special_tokens=[UNKNOWN, "</s>"], show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    return tokenizer


def word_piece() -> Tokenizer:
    """As in BERT: capitals and accents are lost, pieces that go on with a word are marked."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - a token
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = WordPieceTrainer(vocab_size=220, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([*CORPUS, "It's done. Isn't it? We've, don't!"] * 3, trainer)
    tokenizer.add_tokens(
        [AddedToken("<tool>", normalized=False), AddedToken("##ing", normalized=False)]
    )
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


@cache
def tokenizers() -> dict[str, Tokenizer]:
    """Return one trained tokenizer of each kind."""
    return {
        "byte level": byte_level(),
        "BPE, byte fallback": bpe_with_byte_fallback(),
        "BPE, blank before the text": bpe_with_a_blank_before_the_text(),
        "Unigram, byte fallback": unigram_with_byte_fallback(),
    }


@cache
def without_bytes() -> dict[str, Tokenizer]:
    """Return trained tokenizers that do not have every byte: some texts are lost in them."""
    return {"BPE of characters": bpe_of_characters(), "WordPiece": word_piece()}


def trained(kind: str) -> bytes:
    """Return the tokenizer.json of one of the tokenizers."""
    return tokenizers()[kind].to_str().encode()


def tekken() -> bytes:
    """Return a tekken file of the 256 bytes and some longer tokens."""
    document = {
        "config": {
            "default_vocab_size": len(SPELLINGS) + 3,
            "default_num_special_tokens": 3,
            "version": "v13",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(data).decode()}
            for rank, data in enumerate(SPELLINGS)
        ],
        "special_tokens": [
            {"rank": rank, "token_str": name} for rank, name in enumerate(("<unk>", "<s>", "</s>"))
        ],
    }
    return json.dumps(document).encode()


def ranks() -> bytes:
    """Return the spellings as tiktoken's ranks."""
    lines = (f"{base64.b64encode(data).decode()} {rank}" for rank, data in enumerate(SPELLINGS))
    return "\n".join(lines).encode()


def rwkv() -> bytes:
    """Return the spellings as RWKV's text, with ids from 1."""
    lines = (f"{place} {data!r} {len(data)}\n" for place, data in enumerate(SPELLINGS, start=1))
    return "".join(lines).encode()


def plain() -> bytes:
    """Return the spellings as plain JSON."""
    return json.dumps({place: list(data) for place, data in enumerate(SPELLINGS)}).encode()


def sentence_piece() -> bytes:
    """Return a SentencePiece model with byte pieces and pieces of every other kind."""
    from sentencepiece import SentencePieceTrainer

    model = BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type="unigram",
        vocab_size=320,
        byte_fallback=True,
        user_defined_symbols=["<tool>", "▁▁"],
        control_symbols=["<ctl>"],
        pad_id=3,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def gguf() -> bytes:
    """Return the metadata of a model of llama.cpp's: pieces, bytes and tokens of every kind."""
    from gguf import GGUFWriter, TokenType

    kinds = {
        "<unk>": TokenType.UNKNOWN,
        "</s>": TokenType.CONTROL,
        "<tool>": TokenType.USER_DEFINED,
        "<old>": TokenType.UNUSED,
        **dict.fromkeys(BYTE_PIECES, TokenType.BYTE),
        **dict.fromkeys(("▁the", "cat", "▁▁", "é"), TokenType.NORMAL),
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        writer = GGUFWriter(path, "llama")
        writer.add_description("a small model")
        writer.add_context_length(512)
        writer.add_tokenizer_model("llama")
        writer.add_token_list(list(kinds))
        writer.add_token_types(list(kinds.values()))
        writer.add_token_scores([0.5] * len(kinds))
        writer.add_eos_token_id(1)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        return path.read_bytes()
