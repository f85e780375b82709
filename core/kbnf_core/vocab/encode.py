"""Text to token ids, as a vocabulary's own tokenizer writes it.

Files that only list tokens say nothing of how a text is cut; for them the longest token that
stands at each place is taken, which is what RWKV's tokenizer does too.
"""

from dataclasses import dataclass
from pathlib import Path

from kbnf_core.errors import VocabularyError
from kbnf_core.vocab.detect import detect
from kbnf_core.vocab.formats.format import Encode
from kbnf_core.vocab.spell import longest_tokens
from kbnf_core.vocab.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Encoder:
    """``encode`` gives the ids of a text, without special tokens around it; ``name`` says how."""

    name: str
    encode: Encode


def load_encoder(path: Path | None, vocabulary: Vocabulary) -> Encoder:
    """Return the tokenizer in the file, or folder, that ``vocabulary`` was read from.

    ``path`` None is no file. Raises ``MissingExtraError`` where its library is not installed,
    ``SourceError`` and ``VocabularyError`` where the file is not what it was.
    """
    if path is not None:
        format_, file = detect(path)
        if format_.encoder is not None:
            return Encoder(format_.tokenizer, format_.encoder(file))
    return Encoder("longest match", _longest(vocabulary))


def _longest(vocabulary: Vocabulary) -> Encode:
    return lambda words: longest_match(vocabulary, words.encode("utf-8", "surrogateescape"))


def longest_match(vocabulary: Vocabulary, data: bytes) -> list[int]:
    """Return the longest token at each position (greedy); ``VocabularyError`` if none spell it."""
    tokens = longest_tokens(vocabulary.trie, data)
    if tokens is None:
        raise VocabularyError("no tokens of the vocabulary spell this text")
    return list(tokens)
