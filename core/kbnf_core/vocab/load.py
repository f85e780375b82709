"""Loading a vocabulary: from the cache on disk, else from its file.

What knows the formats of files (``vocab.read``) is imported where one is read: from the second
process on a vocabulary is not.

Tests: tests/unit/vocab/test_load.py, tests/unit/vocab/test_cache.py
"""

import os
from collections.abc import Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_core.vocab.files import CacheEntry, cached_vocabulary, file_of, find_entry
from kbnf_core.vocab.vocabulary import Vocabulary

if TYPE_CHECKING:
    from kbnf_core.vocab.byte_pairs import BytePairs
    from kbnf_core.vocab.formats import Encode


def load_vocabulary(
    path: str | Path, eos: Collection[int] | None = None, *, cached: bool = True
) -> Vocabulary:
    """Read a vocabulary from a file, or from a folder that contains a ``tokenizer.json``.

    A name that is not a path is that of a model in Hugging Face's local cache; nothing is
    downloaded. ``eos`` overrides the stop ids that the file (or a file beside it) names. Unless
    ``cached`` is false, a large vocabulary is kept on disk, with its trie, and taken from there as
    long as its file does not change (see ``vocab.files``). Raises ``SourceError`` if the file
    cannot be read, ``VocabularyError`` if it is not a vocabulary, ``MissingExtraError`` if a
    library is needed that is not installed.
    """
    from_cache = None if os.path.lexists(path) else cached_vocabulary(str(path))
    file = file_of(Path(path) if from_cache is None else from_cache)
    entry = find_entry(file, eos) if cached else None
    vocabulary = _recalled(entry) if entry else None
    if vocabulary is None:
        from kbnf_core.vocab.read import read_vocabulary

        vocabulary = read_vocabulary(file, eos)
        if entry:
            _keep(vocabulary, entry)
    vocabulary.entry = entry
    vocabulary._encode = _encode_as(file, vocabulary)
    vocabulary._find_pairs = partial(_pairs_of, file, vocabulary.tokens)
    return vocabulary


def _recalled(entry: CacheEntry) -> Vocabulary | None:
    from kbnf_core.vocab.stored import from_arrays

    return entry.recall(from_arrays)


def _keep(vocabulary: Vocabulary, entry: CacheEntry) -> None:
    from kbnf_core.vocab.stored import to_arrays

    entry.keep(to_arrays(vocabulary))


def _pairs_of(file: Path, tokens: Mapping[int, bytes]) -> "BytePairs":
    from kbnf_core.vocab.read import load_pairs

    return load_pairs(file, tokens)


def _encode_as(file: Path, vocabulary: Vocabulary) -> "Encode":
    """Return an encoder that cuts texts as the tokenizer in ``file``, read at first use."""

    @cache
    def encoder() -> "Encode":
        from kbnf_core.vocab.read import load_encoder

        return load_encoder(file, vocabulary).encode

    def encode(words: str) -> list[int]:
        return encoder()(words)

    return encode
