"""How a tokenizer of byte pairs cuts texts: its merges, and the ends of its words.

A text is first cut into words by regular expressions (the pretokenizer). The bytes of a word, or
its characters, are merged two by two, the pair of the lowest rank first and the leftmost of equal
ones. Ranks are those of a list of merges, or those of the tokens that are made: then any two tokens
merge whose bytes together are one. In a SentencePiece model the rank is the score. Characters
without a token are written as tokens of their bytes (``fallback``).

So each two neighbours return whether a sequence of tokens is what the tokenizer writes
(``kernel/canonical.pxi``). That does not apply of Unigram, which weighs whole words, of WordPiece,
which takes the longest piece first, and of ``ignore_merges``, which looks a word up first.

Tests: tests/unit/mask/test_pretokens.py
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, chain, pairwise
from typing import Any

from kbnf_core.text.errors import ConfigError

Cut = Callable[[str], Sequence[int]]
"""Returns where in a text words end, other than at its end; ascending."""


@dataclass(frozen=True, slots=True)
class BytePairs:
    """The merges of a tokenizer of byte pairs.

    ``spellings``: the bytes of the tokens that are merged, those of one byte, or of one character
    (``characters``), among them. ``merges``: the left, the right and the merged token, by rank;
    None where ``ranks`` (token to number) gives it. ``fallback``: tokens that are a byte of a
    character without a token. ``cut``: the pretokenizer, None where a text is one word. All other
    tokens are searched in a text before it is cut, and separate the texts beside them.
    """

    spellings: Mapping[int, bytes]
    merges: Sequence[tuple[int, int, int]] | None = None
    ranks: Mapping[int, int] = field(default_factory=dict)
    characters: bool = False
    fallback: Mapping[int, int] = field(default_factory=dict)
    cut: Cut | None = None


def refused(reason: str) -> ConfigError:
    """Return the error for a tokenizer of which each two neighbours are not known."""
    return ConfigError(f"canonical masks are for tokenizers of byte pairs: {reason}")


def cut_by(patterns: Iterable[str]) -> Cut:
    """Return the pretokenizer that cuts by each expression in turn, matches and the rest."""
    import regex

    # Python counts more characters as white space than these libraries do: U+001C to U+001F.
    white = ((r"\s", r"\p{White_Space}"), (r"\S", r"\P{White_Space}"))
    spelled = [
        reduce(lambda text, pair: text.replace(*pair), white, pattern_text)
        for pattern_text in patterns
    ]
    first, *others = [regex.compile(pattern) for pattern in spelled]

    def cut(text: str) -> list[int]:
        ends = _ends(first, text)
        for pattern in others:
            # The expression does not see the text before and after a word.
            spans = pairwise([0, *ends, len(text)])
            inner = [
                [begin + offset for offset in _ends(pattern, text[begin:end])]
                for begin, end in spans
            ]
            ends = sorted({*ends, *chain.from_iterable(inner)})
        return ends

    return cut


def _ends(pattern: Any, text: str) -> list[int]:
    """Return the ends of matches and of the texts between them, other than the end of the text."""
    # Mostly matches are all of the text, and ``findall`` makes no objects of them.
    if not pattern.groups:
        *ends, last = accumulate(map(len, pattern.findall(text)), initial=0)
        if last == len(text):
            return ends[1:]
    result = {end for match in pattern.finditer(text) for end in match.span()}
    return sorted(result - {0, len(text)})


def of_ranks(tokens: Mapping[int, bytes], pattern: str) -> BytePairs:
    """Return the byte pairs of tiktoken, where the rank of a merge is the id of its result."""
    return BytePairs(tokens, None, {token: token for token in tokens}, cut=cut_by([pattern]))


_KEPT_NORMALIZERS = frozenset((None, "NFC", "Prepend", "Replace", "Sequence"))
"""Of a ``tokenizer.json``: those that leave a text what it was, but for blanks and rare marks.

A text that NFC changes is never encoded unchanged: its canonical tokens are those without NFC.
"""


def of_document(
    document: Mapping[str, Any], tokens: Mapping[int, bytes], pre_tokenizer: Any
) -> BytePairs:
    """Return the byte pairs of a ``tokenizer.json``; ``ConfigError`` where it has none."""
    model = document.get("model") or {}
    kind = model.get("type") or ("BPE" if "merges" in model else "Unigram or WordPiece")
    if kind != "BPE":
        raise refused(f"this is {kind}")
    for setting, reason in (
        ("ignore_merges", "this one looks a whole word up before it merges (`ignore_merges`)"),
        ("dropout", "this one leaves merges out at random (`dropout`)"),
        ("continuing_subword_prefix", "this one marks parts of words"),
        ("end_of_word_suffix", "this one marks ends of words"),
    ):
        if model.get(setting):
            raise refused(reason)
    normalizer = document.get("normalizer") or {}
    steps = [normalizer, *normalizer.get("normalizers", ())]
    for step in steps:
        if step.get("type") not in _KEPT_NORMALIZERS:
            raise refused(f"this one changes texts first ({step.get('type')})")
    named: dict[str, int] = model.get("vocab") or {}
    added = {entry["id"] for entry in document.get("added_tokens") or ()}
    merged = {
        token_id: tokens[token_id]
        for token_id in named.values()
        if token_id in tokens and token_id not in added
    }
    fallback = {}
    if model.get("byte_fallback"):
        fallback = {
            named[f"<0x{value:02X}>"]: value for value in range(256) if f"<0x{value:02X}>" in named
        }
    merged = {token_id: data for token_id, data in merged.items() if token_id not in fallback}
    byte_level = "ByteLevel" in _kinds(document)
    return BytePairs(
        merged,
        named_merges(model["merges"], named),
        characters=not byte_level,
        fallback=fallback,
        cut=None if pre_tokenizer is None else _cut_with(pre_tokenizer),
    )


def named_merges(
    merges: Iterable[str | Sequence[str]], named: Mapping[str, int]
) -> list[tuple[int, int, int]]:
    """Return merges of pieces, two texts or a text with a blank between them, as ids."""
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in merges)
    return [
        (named[left], named[right], named[left + right])
        for left, right in pairs
        if left in named and right in named and left + right in named
    ]


def _kinds(document: Mapping[str, Any]) -> list[Any]:
    result = []
    waiting = [document.get("pre_tokenizer"), document.get("decoder")]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict):
            result.append(step.get("type"))
            waiting += [*step.get("pretokenizers", ()), *step.get("decoders", ())]
    return result


def _cut_with(pre_tokenizer: Any) -> Cut:
    # The text that is cut begins anywhere in a longer one, so no blank is added at its start.
    inner = copy.deepcopy(pre_tokenizer)
    prefixed, plain = b'"add_prefix_space":true', b'"add_prefix_space":false'
    inner.__setstate__(pre_tokenizer.__getstate__().replace(prefixed, plain))

    def cut(text: str) -> list[int]:
        return [begin for _, (begin, _) in inner.pre_tokenize_str(text) if begin]

    return cut


def of_processor(processor: Any, tokens: Mapping[int, bytes]) -> BytePairs:
    """Return the byte pairs of a SentencePiece model; ``ConfigError`` unless it is a BPE."""
    kind = _sentencepiece_kind(processor.serialized_model_proto())
    if kind != "BPE":
        raise refused(f"this SentencePiece model is {kind}")
    merged, fallback, ranks = {}, {}, {}
    for token_id, data in tokens.items():
        if processor.is_byte(token_id):
            fallback[token_id] = data[0]
        else:
            merged[token_id] = data
            # Scores of BPE are numbers of merges, negated and as floats.
            ranks[token_id] = round(-processor.get_score(token_id))
    return BytePairs(merged, None, ranks, characters=True, fallback=fallback)


_SENTENCEPIECE_KINDS = {1: "Unigram", 2: "BPE", 3: "of words", 4: "of characters"}


def _sentencepiece_kind(data: bytes) -> str:
    """Return ``trainer_spec.model_type``: field 3 of field 2 of the protocol buffer."""
    trainer = next((value for number, value in _fields(data) if number == 2), b"")
    kinds = [value for number, value in _fields(trainer) if number == 3]
    kind = kinds[-1] if kinds else 1
    return _SENTENCEPIECE_KINDS.get(kind, "of another kind") if isinstance(kind, int) else "damaged"


def _fields(data: bytes | int) -> Iterable[tuple[int, bytes | int]]:
    """Yield the fields of a message of a protocol buffer, with numbers and bytes as they are."""
    if isinstance(data, int):
        return
    offset = 0

    def varint() -> int:
        nonlocal offset
        value = shift = 0
        while offset < len(data):
            byte = data[offset]
            offset += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        return value

    while offset < len(data):
        key = varint()
        match key & 7:
            case 0:
                yield key >> 3, varint()
            case 1 | 5:
                offset += 8 if key & 7 == 1 else 4
            case 2:
                length = varint()
                yield key >> 3, data[offset : offset + length]
                offset += length
            case _:
                return
