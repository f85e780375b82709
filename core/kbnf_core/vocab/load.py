"""Reading a vocabulary file of any known format."""

from collections.abc import Collection
from functools import cache
from pathlib import Path

from kbnf_core.errors import VocabularyError
from kbnf_core.vocab.cache import find_entry
from kbnf_core.vocab.detect import detect, file_of
from kbnf_core.vocab.formats.format import Encode
from kbnf_core.vocab.vocabulary import Vocabulary


def load_vocabulary(
    path: str | Path, eos: Collection[int] | None = None, *, cached: bool = True
) -> Vocabulary:
    """Read a vocabulary from a file, or from a folder that holds a ``tokenizer.json``.

    ``eos`` overrides the stop ids that the file (or a file beside it) names. Unless ``cached`` is
    false, a large vocabulary is kept on disk, with its trie, and taken from there as long as its
    file does not change (see ``vocab.cache``). Raises ``SourceError`` if the file cannot be read,
    ``VocabularyError`` if it is not a vocabulary, ``MissingExtraError`` if a library is needed
    that is not installed.
    """
    file = file_of(Path(path))
    entry = find_entry(file, eos) if cached else None
    vocabulary = entry.recall() if entry else None
    if vocabulary is None:
        vocabulary = _load(file, eos)
        if entry:
            entry.keep(vocabulary)
    vocabulary._encode = _encode_as(file, vocabulary)
    return vocabulary


def _encode_as(file: Path, vocabulary: Vocabulary) -> Encode:
    """Return what cuts texts as the tokenizer in ``file`` does, which is read at first use."""

    @cache
    def encoder() -> Encode:
        from kbnf_core.vocab.encode import load_encoder

        return load_encoder(file, vocabulary).encode

    def encode(words: str) -> list[int]:
        return encoder()(words)

    return encode


def _load(path: Path, eos: Collection[int] | None) -> Vocabulary:
    format_, file = detect(path)
    try:
        contents = format_.read(file)
        return Vocabulary(
            contents.tokens,
            special_tokens=contents.special_tokens,
            eos_token_id=contents.eos if eos is None else eos,
            name=path.name,
        )
    except VocabularyError as error:
        raise VocabularyError(f"{path}: {error}") from None
