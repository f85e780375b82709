"""The texts that a vocabulary's tokenizer cut, for forced tokens; all grammars share them."""

from weakref import WeakKeyDictionary, proxy

from kbnf_core.kernel import Texts
from kbnf_core.mask.cache import LruDict
from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.vocabulary import Vocabulary

MOST_TEXTS = 4_096
"""Encoded texts that a vocabulary remembers; there is little else that grammars share."""

_texts: WeakKeyDictionary[Vocabulary, Texts] = WeakKeyDictionary()


def texts_of(vocabulary: Vocabulary) -> Texts:
    """Return what forced tokens need of a vocabulary, the same object each time."""
    found = _texts.get(vocabulary)
    return found or _texts.setdefault(vocabulary, Texts(vocabulary, encoded(vocabulary)))


def encoded(vocabulary: Vocabulary) -> LruDict[bytes, tuple[int, ...]]:
    """Return the tokens of texts; none for what is no text, or cannot be cut."""
    # A reference would keep the vocabulary, by which this is found, for ever.
    weak = proxy(vocabulary)

    def encode(text: bytes) -> tuple[int, ...]:
        try:
            return tuple(weak.encode(text.decode()))
        except (UnicodeDecodeError, VocabularyError):
            return ()

    return LruDict(encode, MOST_TEXTS)
