"""Hugging Face ``tokenizer.json``.

``model.vocab`` has the pieces: text to id (BPE, WordPiece), or a list of pairs (text, score) in the
order of ids (Unigram). ``added_tokens`` are matched in plain text before the model; those marked
``special`` are special here, and so is the model's unknown token. The pieces are spelled as
``decoder`` says (``spelling``). WordPiece is spelled as its own decoder joins words: a piece that
goes on with a word is what stands behind ``##``, any other begins with a blank. What its
normaliser loses (capitals, accents, kinds of blanks) is in no token. Without that decoder WordPiece
and WordLevel are refused: their tokens are words that decoding joins with blanks.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kbnf_core.errors import MissingExtraError, VocabularyError
from kbnf_core.vocab.formats.contents import Contents, expect
from kbnf_core.vocab.formats.format import Encode, Format, VocabularyFile
from kbnf_core.vocab.formats.spelling import spelling_of
from kbnf_core.vocab.formats.stop_ids import common_stop_ids, stop_ids


def read_huggingface(document: Mapping[str, Any], folder: Path | None) -> Contents:
    """Return the tokens; ``folder`` holds the files that may name the stop ids, if there is one.

    ``VocabularyError`` names the part that is wrong or not supported.
    """
    model = expect(document.get("model"), dict, "model")
    spelling = spelling_of(document)
    pieces = _pieces(model, _decoder(document))
    tokens = {token_id: spelling.piece(piece) for token_id, piece in pieces.items()}
    special = _unknown(model, pieces)
    texts = dict(pieces)
    for content, token_id, is_special in _added(document):
        texts[token_id] = content
        if is_special:
            special[content] = token_id
        else:
            tokens[token_id] = spelling.added(content)
    names = {text: token_id for token_id, text in texts.items()}
    eos = stop_ids(folder, names, special) if folder else common_stop_ids(special)
    special |= {texts[token_id]: token_id for token_id in eos if token_id in texts}
    return Contents(tokens, special, eos)


def _decoder(document: Mapping[str, Any]) -> str | None:
    decoder = document.get("decoder")
    return decoder.get("type") if isinstance(decoder, dict) else None


def _pieces(model: Mapping[str, Any], decoder: str | None) -> dict[int, str]:
    """Return the pieces by id; several ids may have the same piece."""
    kind = model.get("type") or _guessed_kind(model)
    vocab = model.get("vocab")
    if kind == "Unigram":
        pairs = expect(vocab, list, "model.vocab")
        return {place: _first_text(pair, place) for place, pair in enumerate(pairs)}
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
        expect(token_id, int, f"model.vocab[{piece!r:.40}]"): piece
        for piece, token_id in named.items()
    }


def _guessed_kind(model: Mapping[str, Any]) -> str:
    """Return the kind of a model in an old file, which does not name it."""
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    return "BPE" if "merges" in model else "WordPiece or WordLevel"


def _first_text(pair: object, place: int) -> str:
    where = f"model.vocab[{place}]"
    items = expect(pair, list, where)
    return expect(items[0] if items else None, str, where)


def _unknown(model: Mapping[str, Any], pieces: Mapping[int, str]) -> dict[str, int]:
    """Return the model's unknown token, which Unigram names by id and BPE by text."""
    by_id, by_text = model.get("unk_id"), model.get("unk_token")
    return {
        piece: token_id
        for token_id, piece in pieces.items()
        if token_id == by_id or piece == by_text
    }


def _added(document: Mapping[str, Any]) -> Iterator[tuple[str, int, bool]]:
    for place, item in enumerate(expect(document.get("added_tokens") or [], list, "added_tokens")):
        where = f"added_tokens[{place}]"
        entry = expect(item, dict, where)
        content = expect(entry.get("content"), str, f"{where}.content")
        yield content, expect(entry.get("id"), int, f"{where}.id"), entry.get("special") is True


def _encoder(file: VocabularyFile) -> Encode:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("this tokenizer", "tokenizers") from None
    tokenizer = Tokenizer.from_str(file.text or "")
    # Names of special tokens in a text are text.
    tokenizer.encode_special_tokens = True
    return lambda words: list(tokenizer.encode(words, add_special_tokens=False).ids)


FORMAT = Format(
    "Hugging Face tokenizer.json",
    lambda file: isinstance(file.members.get("model"), dict),
    lambda file: read_huggingface(file.members, file.path.parent),
    "tokenizers",
    _encoder,
)
