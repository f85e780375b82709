"""SentencePiece ``.model``: a protocol buffer, read by the ``sentencepiece`` library.

In a piece U+2581 stands for a space; byte pieces ``<0xNN>`` stand for one byte. Control and
unknown pieces have no text, and unused ones are never to be produced: all three are special
here. User-defined pieces are ordinary text. The space that SentencePiece puts before a text
(``add_dummy_prefix``) belongs to encoding, not to any piece, and is kept: the first token of
``hello`` spells `` hello``.

Tests: tests/unit/vocab
"""

from typing import TYPE_CHECKING, Any

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.byte_pairs import of_processor
from kbnf_core.vocab.formats import (
    Encode,
    FileContents,
    Format,
    VocabularyFile,
    common_stop_ids,
    encode,
    library,
)
from kbnf_core.vocab.formats.huggingface import SPACE_MARK

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


def read_sentencepiece(data: bytes) -> FileContents:
    """Return the tokens; ``VocabularyError`` if the library refuses the data.

    ``MissingExtraError`` if the library is not installed.
    """
    sentencepiece = library("sentencepiece", "sentencepiece", "reading a SentencePiece model")
    try:
        return read_processor(sentencepiece.SentencePieceProcessor(model_proto=data))
    except (RuntimeError, UnicodeDecodeError):
        # The library's pieces, and even its error messages, may be no UTF-8.
        raise VocabularyError("not a SentencePiece model, or a damaged one") from None


def read_processor(processor: "SentencePieceProcessor") -> FileContents:
    """Return the tokens of a model that the library has read."""
    tokens: dict[int, bytes] = {}
    special: dict[str, int] = {}
    for token_id in range(processor.get_piece_size()):
        text = processor.id_to_piece(token_id)
        if _is_special(processor, token_id):
            special[text] = token_id
        elif processor.is_byte(token_id):
            # The library has checked that these are of the form <0xNN>.
            tokens[token_id] = bytes([int(text[3:5], 16)])
        else:
            tokens[token_id] = encode(text.replace(SPACE_MARK, " "), f"token {token_id}")
    eos = processor.eos_id()
    return FileContents(tokens, special, {eos} if eos >= 0 else common_stop_ids(special))


def _is_special(processor: "SentencePieceProcessor", token_id: int) -> bool:
    return bool(
        processor.is_control(token_id)
        or processor.is_unknown(token_id)
        or processor.is_unused(token_id)
    )


def _processor(file: VocabularyFile) -> Any:
    return library("sentencepiece", "sentencepiece").SentencePieceProcessor(model_proto=file.data)


def _encoder(file: VocabularyFile) -> Encode:
    processor = _processor(file)
    return lambda words: list(processor.encode(words))


FORMAT = Format(
    "SentencePiece .model",
    # A model starts with its first piece: field 1 of the protocol buffer.
    lambda file: file.text is None and file.data.startswith(b"\n"),
    lambda file: read_sentencepiece(file.data),
    "sentencepiece",
    _encoder,
    lambda file, tokens: of_processor(_processor(file), tokens),
)
