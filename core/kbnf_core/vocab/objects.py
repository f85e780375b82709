"""Tokenizer objects: the vocabulary of an object that a program already has, by duck type.

No library is imported here; each kind of object is recognised by the methods it has. A kind reads
the same facts from the object as a module of ``formats`` does from its file: which id spells which
bytes, which ids are special, and which end a sequence.

Tests: tests/unit/vocab
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.byte_pairs import BytePairs, of_document, of_processor, of_ranks
from kbnf_core.vocab.formats import Encode, FileContents, common_stop_ids
from kbnf_core.vocab.formats.gguf_metadata import encode_with_cyllama, gguf_pairs, read_gguf
from kbnf_core.vocab.formats.huggingface import read_huggingface
from kbnf_core.vocab.formats.sentencepiece_model import read_processor


@dataclass(frozen=True, slots=True)
class TokenizerKind:
    """A kind of tokenizer objects: how it is recognised and read, cuts a text, and merges."""

    name: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], FileContents]
    encoder: Callable[[Any], Encode]
    pairs: Callable[[Any, Mapping[int, bytes]], BytePairs]


def read_tokenizer(tokenizer: object) -> tuple[FileContents, Encode, Callable[[], BytePairs]]:
    """Return the tokens of a tokenizer object, its encoder, and its merges.

    Raises ``VocabularyError`` for an unknown kind of tokenizer, or one that does not spell bytes.
    """
    inner = _unwrapped(tokenizer)
    for kind in KINDS:
        if kind.fits(inner):
            contents = kind.read(inner)
            # The wrapper first: that of mlx-lm has the ends of the model, its tokenizer one of
            # them.
            ends = _named_ends(tokenizer) or _named_ends(inner) or contents.eos
            special = _with_names(contents.special_tokens, inner, ends)
            pairs = partial(kind.pairs, inner, contents.tokens)
            return FileContents(contents.tokens, special, ends), kind.encoder(inner), pairs
    if isinstance(tokenizer, str | PathLike):
        raise VocabularyError(
            f"{str(tokenizer)!r} is a name, not a tokenizer: `load_vocabulary({str(tokenizer)!r})`"
            " reads a file, a folder, or a model in Hugging Face's local cache"
        )
    if isinstance(tokenizer, type | Mapping) or hasattr(tokenizer, "rules"):
        name = tokenizer.__name__ if isinstance(tokenizer, type) else type(tokenizer).__name__
        raise VocabularyError(
            f"expected a tokenizer, got {name}: a grammar is the first argument, a tokenizer the"
            " second"
        )
    kinds = ", ".join(kind.name for kind in KINDS)
    raise VocabularyError(
        f"expected a tokenizer, got {type(tokenizer).__name__}; known kinds: {kinds}"
    )


def _unwrapped(tokenizer: Any) -> Any:
    """Return the tokenizer in a wrapper of mlx-lm or mistral-common, or in a processor."""
    for name in ("instruct_tokenizer", "tokenizer"):
        inner = getattr(tokenizer, name, None)
        if hasattr(inner, "encode") or hasattr(inner, "tokenizer"):
            return _unwrapped(inner)
    return tokenizer


def _has(value: object, *names: str) -> bool:
    return all(callable(getattr(value, name, None)) for name in names)


def _named_ends(tokenizer: Any) -> Collection[int]:
    """Return the ids that the object says end a sequence; none where it does not say."""
    several = getattr(tokenizer, "eos_token_ids", None)
    if isinstance(several, set | frozenset | list | tuple):
        return frozenset(several)
    one = getattr(tokenizer, "eos_token_id", None)
    return {one} if isinstance(one, int) else set()


def _with_names(special: dict[str, int], tokenizer: Any, ids: Collection[int]) -> dict[str, int]:
    """Return the special tokens with the texts of those that end a sequence."""
    name_of = getattr(tokenizer, "convert_ids_to_tokens", None)
    named = set(special.values())
    if name_of is None:
        return special
    return special | {str(name_of(token_id)): token_id for token_id in ids if token_id not in named}


def _read_document(tokenizer: Any) -> FileContents:
    return read_huggingface(json.loads(tokenizer.to_str()), None)


def _encode_plainly(tokenizer: Any) -> Encode:
    """Return an encoder that does not read special tokens in texts."""
    # A copy, since these are settings, and the tokenizer is the caller's.
    plain = type(tokenizer).from_str(tokenizer.to_str())
    plain.encode_special_tokens = True
    plain.no_padding()
    plain.no_truncation()
    return lambda words: list(plain.encode(words, add_special_tokens=False).ids)


def _read_tekken(tokenizer: Any) -> FileContents:
    count = tokenizer.num_special_tokens
    tokens = {
        token_id: tokenizer.id_to_byte_piece(token_id)
        for token_id in range(count, tokenizer.n_words)
    }
    special = {tokenizer.id_to_piece(token_id): token_id for token_id in range(count)}
    return FileContents(tokens, special, {tokenizer.eos_id})


def _read_tiktoken(encoding: Any) -> FileContents:
    special = {
        name: encoding.encode_single_token(name) for name in sorted(encoding.special_tokens_set)
    }
    named = set(special.values())
    tokens = dict(_spelled(encoding, [i for i in range(encoding.n_vocab) if i not in named]))
    return FileContents(tokens, special, common_stop_ids(special))


def _spelled(encoding: Any, ids: Collection[int]) -> Iterator[tuple[int, bytes]]:
    # ``n_vocab`` is one more than the largest id, and there may be gaps below it.
    for token_id in ids:
        try:
            yield token_id, encoding.decode_single_token_bytes(token_id)
        except KeyError:
            continue


def _read_llama(model: Any) -> FileContents:
    """Return the tokens of a llama.cpp model: a token without a text of its own is special."""
    tokens: dict[int, bytes] = {}
    special: dict[str, int] = {}
    for token_id in range(model.n_vocab()):
        data = model.detokenize([token_id])
        if data:
            tokens[token_id] = data
        else:
            shown = model.detokenize([token_id], special=True).decode("utf-8", "replace")
            special[shown if shown and shown not in special else f"<{token_id}>"] = token_id
    return FileContents(tokens, special, {model.token_eos()})


def _encode_with_llama(model: Any) -> Encode:
    return lambda words: list(model.tokenize(words.encode(), add_bos=False, special=False))


def _document_pairs(tokenizer: Any, tokens: Mapping[int, bytes]) -> BytePairs:
    return of_document(json.loads(tokenizer.to_str()), tokens, tokenizer.pre_tokenizer)


def _read_slow(tokenizer: Any) -> FileContents:
    """Return the tokens of a tokenizer of transformers that is written in Python."""
    contents = read_processor(tokenizer.sp_model)
    tokens, special = dict(contents.tokens), dict(contents.special_tokens)
    for token_id, added in tokenizer.added_tokens_decoder.items():
        if added.special:
            special[added.content] = token_id
        else:
            tokens[token_id] = added.content.encode()
    return FileContents(tokens, special, contents.eos)


KINDS: tuple[TokenizerKind, ...] = (
    TokenizerKind(
        "a fast tokenizer of transformers",
        lambda it: _has(getattr(it, "backend_tokenizer", None), "to_str"),
        lambda it: _read_document(it.backend_tokenizer),
        lambda it: _encode_plainly(it.backend_tokenizer),
        lambda it, tokens: _document_pairs(it.backend_tokenizer, tokens),
    ),
    TokenizerKind(
        "a slow one with a SentencePiece model",
        lambda it: hasattr(it, "sp_model") and hasattr(it, "added_tokens_decoder"),
        _read_slow,
        lambda it: lambda words: list(it.sp_model.encode(words)),
        lambda it, tokens: of_processor(it.sp_model, tokens),
    ),
    TokenizerKind(
        "tokenizers.Tokenizer",
        lambda it: _has(it, "to_str", "get_vocab_size"),
        _read_document,
        _encode_plainly,
        _document_pairs,
    ),
    TokenizerKind(
        "mistral-common's Tekkenizer",
        lambda it: _has(it, "id_to_byte_piece") and hasattr(it, "num_special_tokens"),
        _read_tekken,
        lambda it: lambda words: list(it.encode(words, bos=False, eos=False)),
        lambda it, tokens: of_ranks(tokens, it._model._pat_str),
    ),
    TokenizerKind(
        "its SentencePieceTokenizer",
        lambda it: hasattr(it, "n_words") and _has(getattr(it, "_model", None), "id_to_piece"),
        lambda it: read_processor(it._model),
        lambda it: lambda words: list(it._model.encode(words)),
        lambda it, tokens: of_processor(it._model, tokens),
    ),
    TokenizerKind(
        "tiktoken.Encoding",
        lambda it: _has(it, "decode_single_token_bytes", "encode_ordinary"),
        _read_tiktoken,
        lambda it: lambda words: list(it.encode_ordinary(words)),
        lambda it, tokens: of_ranks(tokens, it._pat_str),
    ),
    TokenizerKind(
        "sentencepiece.SentencePieceProcessor",
        lambda it: _has(it, "id_to_piece", "is_control"),
        read_processor,
        lambda it: lambda words: list(it.encode(words)),
        of_processor,
    ),
    TokenizerKind(
        "llama_cpp.Llama",
        lambda it: _has(it, "detokenize", "n_vocab", "token_eos"),
        _read_llama,
        _encode_with_llama,
        lambda it, tokens: gguf_pairs(Path(it.model_path), tokens),
    ),
    TokenizerKind(
        "cyllama's LlamaModel",
        lambda it: _has(it, "get_vocab") and hasattr(it, "path_model"),
        lambda it: read_gguf(Path(it.path_model)),
        encode_with_cyllama,
        lambda it, tokens: gguf_pairs(Path(it.path_model), tokens),
    ),
)
