"""The vocabulary of a language model: which id spells which bytes; its inspection.

Tests: tests/unit/vocab/test_vocabulary.py, tests/unit/vocab/test_cache_forms.py
"""

import hashlib
import struct
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index
from sys import getsizeof
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from kbnf_core.text.errors import ConfigError, UnknownTokenError, VocabularyError
from kbnf_core.text.locks import cached_property
from kbnf_core.vocab.validate import (
    LARGEST_ID,
    Token,
    checked_id,
    checked_ids,
    checked_specials,
    checked_tokens,
    empty_ids,
    ids_by_bytes,
    missing_bytes,
)

if TYPE_CHECKING:
    from kbnf_core.vocab.byte_pairs import BytePairs
    from kbnf_core.vocab.files import CacheEntry
    from kbnf_core.vocab.formats import Encode
    from kbnf_core.vocab.trie import Spellings, TokenTrie


__all__ = ["Token", "Vocabulary"]

# Inside the class, ``bytes`` is the constructor of that name.
_Bytes = bytes

_DEBUG, _WARNING = 10, 30


class Vocabulary:
    """The tokens of a model; immutable, so threads may share one.

    ``tokens`` maps ids to the bytes they spell (ids may have gaps, several ids may spell the same,
    and a token may be empty: it is then never in a mask). ``token_strings`` are for display only.
    ``special_tokens`` (text to id) and ``eos_token_id`` (one id or several) name the ids that have
    no bytes to match; they win where ``tokens`` has the same id. ``name`` is the name of the
    vocabulary in messages. ``oddities`` contains the logged messages about it: levels of
    ``logging`` and texts.

    Raises ``VocabularyError`` for ids that are not integers in 0 .. 2**24 - 1 and for
    tokens that are not bytes or are longer than 65,535 bytes.
    """

    base: "Vocabulary | None" = None
    """The vocabulary of which this one has the tokens, with other ids that end the sequence."""

    entry: "CacheEntry | None" = None
    """The entry on disk, beside which data computed from the vocabulary are stored; None without
    one.
    """

    _encode: "Encode | None" = None

    _find_pairs: "Callable[[], BytePairs] | None" = None

    def __init__(
        self,
        tokens: Mapping[int, bytes | Token],
        token_strings: Mapping[int, str] | None = None,
        *,
        eos_token_id: int | Collection[int] | None = None,
        special_tokens: Mapping[str, int] | None = None,
        name: str | None = None,
    ) -> None:
        spelled = checked_tokens(tokens)
        self._special = checked_specials(special_tokens or {})
        self._eos = frozenset(checked_ids(eos_token_id))
        self._without_bytes = self._eos | frozenset(self._special.values())
        self._hidden = {key: spelled.pop(key) for key in self._without_bytes if key in spelled}
        self._tokens: Mapping[int, _Bytes] = spelled
        strings = (token_strings or {}).items()
        self._strings = {checked_id(token_id): text for token_id, text in strings}
        self._name = name
        self.oddities = _find_oddities(spelled)
        _log(self.oddities)

    @classmethod
    def bytes(cls) -> "Vocabulary":
        """Return the built-in vocabulary: token i is byte i, and 256 ends the sequence."""
        vocabulary = cls(
            {value: _Bytes((value,)) for value in range(256)}, eos_token_id=256, name="bytes"
        )
        vocabulary._encode, vocabulary._find_pairs = _as_bytes, _no_pairs
        return vocabulary

    @classmethod
    def of(
        cls,
        tokenizer: object,
        *,
        size: int | None = None,
        eos: int | Collection[int] | None = None,
    ) -> "Vocabulary":
        """Return the vocabulary of a tokenizer object.

        Of transformers, ``tokenizers``, mistral-common, tiktoken, SentencePiece, llama-cpp-python
        or mlx-lm; none of them is imported. ``size`` is the width of the model's logits where that
        is more than the tokenizer's ids; ``eos`` overrides the ids that end a sequence. Raises
        ``VocabularyError`` for another object, or one whose tokens do not spell bytes.
        """
        from kbnf_core.vocab.objects import read_tokenizer

        contents, encode, find_pairs = read_tokenizer(tokenizer)
        vocabulary = cls(
            contents.tokens,
            special_tokens=contents.special_tokens,
            eos_token_id=contents.eos if eos is None else eos,
            name=str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__),
        )
        if size is not None:
            if not vocabulary.size <= size <= LARGEST_ID + 1:
                raise VocabularyError(
                    f"`size` is {size}, but the tokenizer has {vocabulary.size} ids"
                )
            vocabulary.size = size
        vocabulary._encode = encode
        vocabulary._find_pairs = find_pairs
        return vocabulary

    @classmethod
    def restored(
        cls,
        tokens: Mapping[int, _Bytes],
        trie: "TokenTrie",
        *,
        hidden: dict[int, _Bytes],
        token_strings: dict[int, str],
        special_tokens: dict[str, int],
        eos: frozenset[int],
        name: str | None,
        size: int,
        fingerprint: str,
        oddities: list[tuple[int, str]],
    ) -> "Vocabulary":
        """Rebuild a vocabulary from validated parts, without checks."""
        vocabulary = object.__new__(cls)
        vocabulary._tokens = tokens
        vocabulary._hidden = hidden
        vocabulary._strings = token_strings
        vocabulary._special = special_tokens
        vocabulary._eos = eos
        vocabulary._without_bytes = eos | frozenset(special_tokens.values())
        vocabulary._name = name
        vocabulary.oddities = oddities
        vocabulary.size = size
        vocabulary.fingerprint = fingerprint
        vocabulary.trie = trie
        _log(oddities)
        return vocabulary

    @property
    def can_encode(self) -> bool:
        """Whether it is known how the tokenizer cuts a text."""
        return self._encode is not None

    def encode(self, text: str | _Bytes) -> list[int]:
        """Return the ids of a text as the tokenizer writes it, no special tokens added or read.

        Bytes that are not UTF-8 are cut into the longest tokens that are at each place. Raises
        ``VocabularyError`` where the vocabulary does not say how its tokenizer cuts a text:
        ``Vocabulary.of`` and ``load_vocabulary`` do.
        """
        if self._encode is None:
            raise VocabularyError(
                "this vocabulary lists tokens only; `Vocabulary.of(tokenizer)` and"
                " `load_vocabulary(path)` know how a text is cut"
            )
        try:
            words = text if isinstance(text, str) else text.decode()
            # Half of a surrogate pair is a ``str``, and no text.
            words.encode()
        except UnicodeError:
            from kbnf_core.vocab.trie import longest_match

            try:
                data = text if isinstance(text, _Bytes) else text.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError as error:
                raise VocabularyError(f"this is not text: {error}") from None
            return longest_match(self.trie, data)
        return self._encode(words)

    def byte_pairs(self) -> "BytePairs":
        """Return the merges of its tokenizer.

        Raises ``ConfigError`` where that is not known, or no tokenizer of byte pairs.
        """
        if self._find_pairs is None:
            raise ConfigError(
                "this vocabulary lists tokens only; `Vocabulary.of(tokenizer)` and"
                " `load_vocabulary(path)` know what a tokenizer merges"
            )
        return self._find_pairs()

    def __getstate__(self) -> dict[str, object]:
        # What cuts texts belongs to another library.
        # Views cannot be pickled; they are rebuilt on first use.
        passing = (MappingProxyType, WeakValueDictionary)
        kept = {k: v for k, v in self.__dict__.items() if not isinstance(v, passing)}
        foreign = {} if self._encode is _as_bytes else {"_encode": None, "_find_pairs": None}
        return kept | {"entry": None} | foreign

    def ending_with(self, eos_token_id: int | Collection[int]) -> "Vocabulary":
        """Return the same tokens with other ids that end the sequence.

        The ids that did so before are special now. As long as it is in use, equal ids give the same
        object. Raises ``VocabularyError`` for a value that is not an id.
        """
        eos = frozenset(checked_ids(eos_token_id))
        if eos == self._eos:
            return self
        cached = self._variants.get(eos)
        # Of two threads that make one at once the first counts for both.
        return cached or self._variants.setdefault(eos, self._ending_with(eos))

    @cached_property
    def _variants(self) -> "WeakValueDictionary[frozenset[int], Vocabulary]":
        return WeakValueDictionary()

    def _ending_with(self, eos: frozenset[int]) -> "Vocabulary":
        other = object.__new__(type(self))
        shared = {"_special", "_hidden", "_strings", "_name", "oddities", "_tokens"}
        if eos.isdisjoint(self._tokens):
            shared |= {"trie"}
            self.trie  # noqa: B018 - made once, for both
        other.__dict__.update((name, self.__dict__[name]) for name in shared)
        other._eos = eos
        other._without_bytes = self._without_bytes | eos
        other.base = self
        other._encode, other._find_pairs = self._encode, self._find_pairs
        other.size = max(self.size, *(1 + token_id for token_id in eos), 0)
        if not eos.isdisjoint(self._tokens):
            spelled = dict(self._tokens)
            hidden = {token_id: spelled.pop(token_id) for token_id in eos if token_id in spelled}
            other._tokens, other._hidden = spelled, self._hidden | hidden
        return other

    @property
    def name(self) -> str | None:
        """The name of this vocabulary in messages."""
        return self._name

    @cached_property
    def unnamed(self) -> "Vocabulary":
        """The same tokens without a name, for results that must not depend on it."""
        if self._name is None:
            return self
        self.trie, self.fingerprint  # noqa: B018 - made once, for both
        other = object.__new__(type(self))
        own = ("_variants", "_name")
        other.__dict__.update((k, value) for k, value in self.__dict__.items() if k not in own)
        other._name = None
        return other

    @cached_property
    def size(self) -> int:
        """One more than the largest id of any kind; 0 if there is none."""
        return 1 + max((*self._tokens, *self._without_bytes), default=-1)

    @property
    def nbytes(self) -> int:
        """The memory that tokens, names and trie take, in bytes, mapped files included.

        What the masks of all grammars share of a vocabulary (``mask.slices``) is not counted.
        """
        named = (self._hidden, self._strings, self._special)
        result = self._own_bytes + sum(map(getsizeof, named))
        result += sum(getsizeof(text) for names in named for pair in names.items() for text in pair)
        for name in ("trie", "spellings"):
            if name in self.__dict__:
                result += _array_bytes(self.__dict__[name])
        return result

    @cached_property
    def _own_bytes(self) -> int:
        from kbnf_core.vocab.trie import PackedTokens

        tokens = self._tokens
        if isinstance(tokens, PackedTokens):
            return _array_bytes(tokens)
        return getsizeof(tokens) + sum(map(getsizeof, (*tokens, *tokens.values())))

    @cached_property
    def tokens(self) -> Mapping[int, _Bytes]:
        """The ordinary tokens: id to the bytes it spells."""
        return MappingProxyType(self._tokens)

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        """The named special tokens: text to id."""
        return MappingProxyType(self._special)

    @property
    def hidden_tokens(self) -> Mapping[int, _Bytes]:
        """The bytes that were given for ids that are special or end the sequence."""
        return MappingProxyType(self._hidden)

    @property
    def token_strings(self) -> Mapping[int, str]:
        """The texts that were given for display."""
        return MappingProxyType(self._strings)

    @property
    def eos_token_ids(self) -> frozenset[int]:
        """The ids that end the sequence."""
        return self._eos

    @property
    def special_ids(self) -> frozenset[int]:
        """All ids without bytes to match: special ones, those that end the sequence or did so."""
        return self._without_bytes

    def is_special(self, token_id: int) -> bool:
        """Return ``token_id in special_ids``. Deprecated."""
        warnings.warn("use `Vocabulary.special_ids`", DeprecationWarning, stacklevel=2)
        return index(token_id) in self._without_bytes

    def token(self, token_id: int) -> _Bytes | None:
        """Return the bytes of an ordinary token, None for any other id."""
        return self._tokens.get(index(token_id))

    def token_string(self, token_id: int) -> str | None:
        """Return a text to show for the id, None if the vocabulary lacks it.

        That is the string given for it, or a special token's name, or its bytes as UTF-8 with
        escapes for invalid bytes (also if it is a stop id and they are never matched).
        """
        token_id = index(token_id)
        for names in (self._strings, self._special_names):
            if token_id in names:
                return names[token_id]
        data = self._tokens.get(token_id, self._hidden.get(token_id))
        return None if data is None else data.decode("utf-8", "backslashreplace")

    def decode(self, ids: Iterable[int]) -> _Bytes:
        """Return the bytes that ids spell: those of ordinary tokens, of all others their names.

        Raises ``UnknownTokenError`` for an id that the vocabulary lacks.
        """
        return b"".join(map(self._decoded, ids))

    def _decoded(self, token_id: int) -> _Bytes:
        data = self.token(token_id)
        if data is None and token_id not in self:
            raise UnknownTokenError(token_id)
        return (self.token_string(token_id) or "").encode() if data is None else data

    def bytes_or_name(self, token_id: int) -> _Bytes:
        """Return ``decode([token_id])``. Deprecated."""
        warnings.warn("use `Vocabulary.decode`", DeprecationWarning, stacklevel=2)
        return self._decoded(token_id)

    def token_id(self, data: _Bytes | Token) -> int | None:
        """Return ``get_token_id(data)``. Deprecated."""
        warnings.warn(
            "use `Vocabulary.get_token_id` or `token_ids`", DeprecationWarning, stacklevel=2
        )
        return self.get_token_id(data)

    def token_ids(self, data: _Bytes | Token) -> tuple[int, ...]:
        """Return all ids that spell ``data``, ascending."""
        spelled = data.value if isinstance(data, Token) else data
        if not spelled:
            return empty_ids(self._tokens)
        node = self.trie.find(spelled)
        # -1, the absent node, would be the last one.
        return () if node < 0 else tuple(self.trie.ids(node).tolist())

    def special_id(self, name: str) -> int | None:
        """Return ``special_tokens.get(name)``. Deprecated."""
        warnings.warn("use `Vocabulary.special_tokens`", DeprecationWarning, stacklevel=2)
        return self._special.get(name)

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that depend on ids, bytes, special tokens and stop ids only.

        BLAKE2b of these three lists in ascending order, each led by its length.
        """
        digest = hashlib.blake2b(b"kbnf.vocabulary/1", digest_size=16)
        for field in (
            _pack_tokens(self._tokens),
            _pack_special(self._special),
            struct.pack(f"<{len(self._eos)}I", *sorted(self._eos)),
        ):
            digest.update(struct.pack("<Q", len(field)) + field)
        return digest.hexdigest()

    @cached_property
    def trie(self) -> "TokenTrie":
        """The ordinary, nonempty tokens as a trie; built at first use."""
        from kbnf_core.vocab.trie import build_trie

        return build_trie(self._tokens)

    @cached_property
    def spellings(self) -> "Spellings":
        """The bytes of the ordinary tokens, by id, in two arrays; made at first use."""
        from kbnf_core.vocab.trie import PackedTokens, pack_tokens, spell

        tokens = self._tokens
        return spell(tokens if isinstance(tokens, PackedTokens) else pack_tokens(tokens), self.size)

    def __len__(self) -> int:
        """Return the number of ids of any kind."""
        return len(self._tokens) + len(self._without_bytes)

    def __contains__(self, token_id: object) -> bool:
        if hasattr(token_id, "__index__"):
            token_id = index(token_id)
        return token_id in self._tokens or token_id in self._without_bytes

    def __repr__(self) -> str:
        return f"Vocabulary(name={self._name!r}, size={self.size}, tokens={len(self._tokens)})"

    def get_token(self, token_id: int) -> Token | None:
        """Return the ordinary token with that id; the name that ``kbnf`` has for it."""
        data = self.token(token_id)
        return None if data is None else Token(data)

    def get_token_id(self, token: _Bytes | Token) -> int | None:
        """Return the first of ``token_ids``, None if there is none; the name that ``kbnf`` has."""
        ids = self.token_ids(token)
        return ids[0] if ids else None

    def get_token_string(self, token_id: int) -> str | None:
        """Return the string given for the id; as in ``kbnf``, None if none was given."""
        return self._strings.get(index(token_id))

    def get_vocab_size(self) -> int:
        """Return ``size``; the name that ``kbnf`` has for it."""
        return self.size

    @cached_property
    def _special_names(self) -> dict[int, str]:
        # Of several names for one id the first counts.
        return {token_id: name for name, token_id in reversed(self._special.items())}


def _no_pairs() -> "BytePairs":
    from kbnf_core.vocab.byte_pairs import BytePairs

    return BytePairs({value: bytes((value,)) for value in range(256)}, ())


def _array_bytes(value: object) -> int:
    """Return the memory of the arrays that an object has or consists of, each counted once."""
    values = value if isinstance(value, tuple) else vars(value).values()
    sizes = {id(array): getattr(array, "nbytes", 0) for array in values}
    return sum(sizes.values())


def _as_bytes(words: str) -> list[int]:
    return list(words.encode())


def _pack_tokens(tokens: Mapping[int, bytes]) -> bytes:
    chunks: list[bytes] = []
    for token_id in sorted(tokens):
        chunks += (struct.pack("<II", token_id, len(tokens[token_id])), tokens[token_id])
    return b"".join(chunks)


def _pack_special(special: Mapping[str, int]) -> bytes:
    names = sorted(
        (token_id, name.encode("utf-8", "surrogatepass")) for name, token_id in special.items()
    )
    return b"".join(struct.pack("<II", token_id, len(name)) + name for token_id, name in names)


def _find_oddities(tokens: Mapping[int, bytes]) -> list[tuple[int, str]]:
    """Return the original engine's warnings with their levels; ``inspect`` has them as data."""
    result: list[tuple[int, str]] = []
    repeated = len(tokens) - len(set(tokens.values()))
    if repeated:
        result.append((_DEBUG, f"{repeated} tokens spell the same bytes as another one"))
    if empty := empty_ids(tokens):
        text = f"{len(empty)} tokens are empty and never in a mask: {empty[:8]}"
        result.append((_DEBUG, text))
    if tokens and (missing := missing_bytes(tokens.values())):
        text = f"{len(missing)} byte values are in no token: {list(missing)}"
        result.append((_WARNING, text))
    return result


def _log(oddities: Sequence[tuple[int, str]]) -> None:
    if not oddities:
        return
    import logging

    logger = logging.getLogger(__name__)
    if not logger.handlers:
        # A library is silent unless the program that uses it sets logging up.
        logger.addHandler(logging.NullHandler())
    for level, text in oddities:
        logger.log(level, "%s", text)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The facts of a vocabulary; ids are ascending everywhere.

    ``size``: one more than the largest id. ``ordinary``: number of tokens with bytes.
    ``special``: (id, text) of the special tokens. ``stop_ids``: ids that end the sequence.
    ``duplicates``: groups of ids that spell the same bytes. ``empty``: ids that spell nothing.
    ``missing_bytes``: byte values in no token. ``longest``: ids of the longest tokens, and
    ``longest_length`` their length in bytes. ``gaps``: half-open ranges of ids not in use.
    ``partial_utf8``: ids whose bytes are not UTF-8 by themselves.
    """

    name: str | None
    fingerprint: str
    size: int
    ordinary: int
    special: tuple[tuple[int, str], ...]
    stop_ids: tuple[int, ...]
    duplicates: tuple[tuple[int, ...], ...]
    empty: tuple[int, ...]
    missing_bytes: tuple[int, ...]
    longest: tuple[int, ...]
    longest_length: int
    gaps: tuple[tuple[int, int], ...]
    partial_utf8: tuple[int, ...]


def inspect(vocabulary: Vocabulary) -> Inspection:
    """Look at a vocabulary."""
    tokens = vocabulary.tokens
    longest_length = max(map(len, tokens.values()), default=0)
    return Inspection(
        name=vocabulary.name,
        fingerprint=vocabulary.fingerprint,
        size=vocabulary.size,
        ordinary=len(tokens),
        special=tuple(sorted((key, name) for name, key in vocabulary.special_tokens.items())),
        stop_ids=tuple(sorted(vocabulary.eos_token_ids)),
        duplicates=_duplicates(vocabulary),
        empty=empty_ids(tokens),
        missing_bytes=missing_bytes(tokens.values()),
        longest=tuple(sorted(key for key, data in tokens.items() if len(data) == longest_length)),
        longest_length=longest_length,
        gaps=_gaps(vocabulary),
        partial_utf8=tuple(sorted(key for key, data in tokens.items() if not _is_utf8(data))),
    )


def _duplicates(vocabulary: Vocabulary) -> tuple[tuple[int, ...], ...]:
    groups = ids_by_bytes(vocabulary.tokens)
    return tuple(sorted(ids for data, ids in groups.items() if len(ids) > 1 and data))


def _gaps(vocabulary: Vocabulary) -> tuple[tuple[int, int], ...]:
    """Return the runs of absent ids below ``size``: the room between neighbours in use."""
    others = (*vocabulary.special_tokens.values(), *vocabulary.eos_token_ids)
    used = sorted({-1, *vocabulary.tokens, *others})
    return tuple((before + 1, after) for before, after in pairwise(used) if after > before + 1)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def spelled(vocabulary: Vocabulary, accepted: Iterable[int | bytes]) -> bytes:
    """Return the bytes of tokens, by id, and of byte strings, as an engine accepts them."""
    decode = vocabulary.decode
    return b"".join(
        symbol if isinstance(symbol, bytes) else decode((symbol,)) for symbol in accepted
    )
