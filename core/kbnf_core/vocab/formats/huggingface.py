"""Hugging Face ``tokenizer.json``.

``model.vocab`` has the pieces: text to id (BPE, WordPiece), or a list of pairs (text, score) in the
order of ids (Unigram). ``added_tokens`` are matched in plain text before the model; those marked
``special`` are special here, and so is the model's unknown token. The pieces are spelled as
``decoder`` says (``spelling``). WordPiece is spelled as its own decoder joins words: a piece that
continues a word is the text after ``##``, any other begins with a blank. The differences that its
normaliser removes (capitals, accents, kinds of blanks) are in no token. Without that decoder
WordPiece and WordLevel are refused: their tokens are words that decoding joins with blanks.

Where every piece can be turned into bytes by itself, the steps come down to three things, and
``PieceSpelling`` contains them. Decoders that look at a piece's neighbours (``</w>``, CTC) are
refused: their pieces do not spell bytes. Text stripped from the start of a whole text (the dummy
prefix of Llama, the blank before WordPiece's first word) is kept: it does not belong to a piece.
The steps are those of ``tokenizers.decoders``.

Tests: tests/unit/vocab/test_load_gguf.py
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.byte_pairs import BytePairs, of_document
from kbnf_core.vocab.formats import (
    Encode,
    FileContents,
    Format,
    VocabularyFile,
    common_stop_ids,
    encode,
    expect,
    library,
    stop_ids,
)

SPACE_MARK = "\u2581"
"""The character that SentencePiece writes for a space."""

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True, slots=True)
class PieceSpelling:
    """How a piece is spelled: replace texts, then turn the characters into bytes.

    ``byte_level``: each character is one byte in GPT-2's alphabet. ``byte_fallback``: a piece
    ``<0xNN>`` is one byte. ``continuing``: WordPiece's mark of a piece that goes on with a word;
    the others begin with a blank. Otherwise the piece is UTF-8 text.
    """

    replacements: tuple[tuple[str, str], ...] = ()
    byte_level: bool = False
    byte_fallback: bool = False
    continuing: str | None = None

    def spelled(self, text: str) -> bytes:
        """Return the bytes of a piece of the model.

        A piece with a character outside the alphabet of bytes is text, as in the library.
        """
        if self.byte_level:
            values = [byte_alphabet().get(character, -1) for character in self._replaced(text)]
            if -1 not in values:
                return bytes(values)
        return self.added(text)

    def added(self, content: str) -> bytes:
        """Return the bytes of an added token, which is matched in plain text.

        So the alphabet of bytes does not apply to it, while marks for spaces still do.
        """
        content = self._replaced(content)
        if self.byte_fallback and (match := _BYTE_TOKEN.fullmatch(content)):
            return bytes([int(match[1], 16)])
        return encode(content, "a token")

    def _replaced(self, text: str) -> str:
        if self.continuing is not None:
            goes_on = text.startswith(self.continuing)
            text = text[len(self.continuing) :] if goes_on else f" {text}"
        for old, new in self.replacements:
            text = text.replace(old, new)
        return text


@cache
def byte_alphabet() -> Mapping[str, int]:
    """Return GPT-2's alphabet: a visible character for each byte.

    Visible Latin-1 characters stand for themselves, the other bytes for U+0100, U+0101, ... in
    ascending order (``bytes_to_unicode`` in GPT-2's encoder.py).
    """
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [value for value in range(256) if value not in visible]
    alphabet = {chr(value): value for value in visible}
    return alphabet | {chr(0x100 + index): value for index, value in enumerate(hidden)}


def spelling_of(document: Mapping[str, Any]) -> PieceSpelling:
    """Return how the pieces of a ``tokenizer.json`` are spelled.

    Without a decoder it is derived from what the encoder does to a text.
    ``VocabularyError`` if pieces of this kind do not spell bytes.
    """
    steps = list(_steps(document.get("decoder"), "decoder", "decoders"))
    model = expect(document.get("model"), dict, "model")
    fallback = model.get("byte_fallback") is True
    if not steps:
        return _from_encoder(document, fallback)
    kinds = [step.get("type") for step in steps]
    if kinds == ["WordPiece"]:
        return _of_words(steps[0])
    byte_level = "ByteLevel" in kinds
    return PieceSpelling(
        tuple(pair for index, step in enumerate(steps) for pair in _effect(step, kinds[:index])),
        byte_level,
        "ByteFallback" in kinds or (fallback and not byte_level),
    )


_CLEANED = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"),
    (" 'm", "'m"), (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip
"""The replacements of WordPiece's decoder in each piece, if it cleans up."""


def _of_words(step: Mapping[str, Any]) -> PieceSpelling:
    prefix = expect(step.get("prefix"), str, "decoder.prefix")
    return PieceSpelling(_CLEANED if step.get("cleanup") is True else (), continuing=prefix)


def _effect(step: Mapping[str, Any], before: list[object]) -> Iterator[tuple[str, str]]:
    """Yield the replacements that a decoder step makes in a piece."""
    kind = step.get("type")
    if kind == "Replace":
        yield _replacement(step)
    elif kind == "Metaspace":
        yield expect(step.get("replacement"), str, "decoder.replacement"), " "
    # After ``Fuse`` it strips the whole text, which belongs to no piece.
    elif kind == "Strip" and "Fuse" not in before:
        raise VocabularyError("its decoder strips every token, so tokens do not spell bytes")
    elif kind not in ("ByteLevel", "ByteFallback", "Fuse", "Strip"):
        raise VocabularyError(
            f"its decoder is {kind}, which joins tokens depending on their neighbours, "
            "so they do not spell bytes"
        )


def _replacement(step: Mapping[str, Any]) -> tuple[str, str]:
    pattern = expect(step.get("pattern"), dict, "decoder.pattern")
    if "String" not in pattern:
        raise VocabularyError("its decoder replaces a regular expression; only texts are supported")
    old = expect(pattern["String"], str, "decoder.pattern.String")
    return old, expect(step.get("content"), str, "decoder.content")


def _from_encoder(document: Mapping[str, Any], fallback: bool) -> PieceSpelling:
    steps = [
        *_steps(document.get("normalizer"), "normalizer", "normalizers"),
        *_steps(document.get("pre_tokenizer"), "pre_tokenizer", "pretokenizers"),
    ]
    if any(step.get("type") == "ByteLevel" for step in steps):
        return PieceSpelling(byte_level=True)
    marks = any(
        step.get("type") == "Metaspace" or step.get("content") == SPACE_MARK for step in steps
    )
    return PieceSpelling(((SPACE_MARK, " "),) if marks else (), byte_fallback=fallback)


def _steps(section: object, name: str, plural: str) -> Iterator[dict[str, Any]]:
    """Yield the steps of a part in order, those of (nested) sequences one by one."""
    waiting = [section]
    while waiting:
        step = waiting.pop()
        if step is None:
            continue
        step = expect(step, dict, name)
        if step.get("type") == "Sequence":
            waiting.extend(reversed(expect(step.get(plural), list, f"{name}.{plural}")))
        else:
            yield step


def read_huggingface(document: Mapping[str, Any], folder: Path | None) -> FileContents:
    """Return the tokens; ``folder`` contains the files that may name the stop ids, if there is one.

    ``VocabularyError`` names the part that is wrong or not supported.
    """
    model = expect(document.get("model"), dict, "model")
    spelling = spelling_of(document)
    model_texts = _model_texts(model, _decoder(document))
    tokens = {
        token_id: spelling.spelled(model_text) for token_id, model_text in model_texts.items()
    }
    special = _unknown(model, model_texts)
    texts = dict(model_texts)
    for content, token_id, is_special in _added(document):
        texts[token_id] = content
        if is_special:
            special[content] = token_id
        else:
            tokens[token_id] = spelling.added(content)
    names = {text: token_id for token_id, text in texts.items()}
    eos = stop_ids(folder, names, special) if folder else common_stop_ids(special)
    # Some files do not mark them, and their names must not match text.
    special |= {texts[token_id]: token_id for token_id in eos if token_id in texts}
    return FileContents(tokens, special, eos)


def _decoder(document: Mapping[str, Any]) -> str | None:
    decoder = document.get("decoder")
    return decoder.get("type") if isinstance(decoder, dict) else None


def _model_texts(model: Mapping[str, Any], decoder: str | None) -> dict[int, str]:
    """Return the pieces by id; several ids may have the same piece."""
    kind = model.get("type") or _guessed_kind(model)
    vocab = model.get("vocab")
    if kind == "Unigram":
        pairs = expect(vocab, list, "model.vocab")
        return {index: _first_text(pair, index) for index, pair in enumerate(pairs)}
    joins_words = decoder == "WordPiece"
    if kind != "BPE" and not joins_words:
        raise VocabularyError(
            f"its model is {str(kind)[:40]}, whose tokens are words that decoding joins with "
            "blanks; only BPE and Unigram tokens, or those with a decoder of WordPiece, spell bytes"
        )
    marks = model.get("end_of_word_suffix") or model.get("continuing_subword_prefix")
    if marks and not joins_words:
        raise VocabularyError("its tokens are marked as parts of words, so they do not spell bytes")
    named = expect(vocab, dict, "model.vocab")
    return {
        expect(token_id, int, f"model.vocab[{text!r:.40}]"): text
        for text, token_id in named.items()
    }


def _guessed_kind(model: Mapping[str, Any]) -> str:
    """Return the kind of a model in an old file, which does not name it."""
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    return "BPE" if "merges" in model else "WordPiece or WordLevel"


def _first_text(pair: object, index: int) -> str:
    where = f"model.vocab[{index}]"
    items = expect(pair, list, where)
    return expect(items[0] if items else None, str, where)


def _unknown(model: Mapping[str, Any], texts: Mapping[int, str]) -> dict[str, int]:
    """Return the model's unknown token, which Unigram names by id and BPE by text."""
    by_id, by_text = model.get("unk_id"), model.get("unk_token")
    return {
        text: token_id for token_id, text in texts.items() if token_id == by_id or text == by_text
    }


def _added(document: Mapping[str, Any]) -> Iterator[tuple[str, int, bool]]:
    for index, item in enumerate(expect(document.get("added_tokens") or [], list, "added_tokens")):
        where = f"added_tokens[{index}]"
        entry = expect(item, dict, where)
        content = expect(entry.get("content"), str, f"{where}.content")
        yield content, expect(entry.get("id"), int, f"{where}.id"), entry.get("special") is True


def _tokenizer(file: VocabularyFile) -> Any:
    return library("tokenizers", "tokenizers").Tokenizer.from_str(file.text or "")


def _pairs(file: VocabularyFile, tokens: Mapping[int, bytes]) -> BytePairs:
    return of_document(file.members, tokens, _tokenizer(file).pre_tokenizer)


def _encoder(file: VocabularyFile) -> Encode:
    tokenizer = _tokenizer(file)
    # Names of special tokens in a text are text.
    tokenizer.encode_special_tokens = True
    return lambda words: list(tokenizer.encode(words, add_special_tokens=False).ids)


FORMAT = Format(
    "Hugging Face tokenizer.json",
    lambda file: isinstance(file.members.get("model"), dict),
    lambda file: read_huggingface(file.members, file.path.parent),
    "tokenizers",
    _encoder,
    _pairs,
)
