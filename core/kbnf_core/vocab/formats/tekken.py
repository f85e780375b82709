"""Tekken JSON, the format of Mistral's newer tokenizers.

``config`` says how many ids there are (``default_vocab_size``) and how many of them, the first,
are special (``default_num_special_tokens``); ``vocab`` lists the others by rank, in base64, and
often more of them than are in use; ``special_tokens`` names the special ones (up to version 7
it may be absent), and the rest of those are called ``<SPECIAL_n>``. Facts from
``mistral_common.tokens.tokenizers.tekken``, against which the tests compare.

Tests: tests/unit/vocab
"""

import base64
import re
from collections.abc import Mapping
from typing import Any

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.byte_pairs import BytePairs, of_ranks
from kbnf_core.vocab.formats import Encode, FileContents, Format, VocabularyFile, expect, library
from kbnf_core.vocab.validate import LARGEST_ID

_NAMES_UP_TO_VERSION_7 = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)


def read_tekken(document: Mapping[str, object]) -> FileContents:
    """Return the tokens; ``VocabularyError`` names the part that is wrong."""
    config = expect(document.get("config"), dict, "config")
    size = _count(config, "default_vocab_size")
    count = _count(config, "default_num_special_tokens")
    special = _special(document, config, count)
    vocab = expect(document.get("vocab"), list, "vocab")
    entries = (_entry(item, index) for index, item in enumerate(vocab))
    tokens = {count + rank: data for rank, data in entries if count + rank < size}
    eos = {special["</s>"]} if "</s>" in special else set()
    return FileContents(tokens, special, eos)


def _count(config: Mapping[str, object], key: str) -> int:
    number = expect(config.get(key), int, f"config.{key}")
    if not 0 <= number <= LARGEST_ID:
        raise VocabularyError(f"config.{key} is {number}, outside 0 .. {LARGEST_ID}")
    return number


def _special(document: Mapping[str, object], config: dict[str, Any], count: int) -> dict[str, int]:
    named = _special_names(document, config)
    missing = set(range(count)).difference(named.values())
    return named | {f"<SPECIAL_{rank}>": rank for rank in sorted(missing)}


def _special_names(document: Mapping[str, object], config: dict[str, Any]) -> dict[str, int]:
    listed = document.get("special_tokens")
    if listed is None:
        _require_old(config.get("version"))
        return {name: rank for rank, name in enumerate(_NAMES_UP_TO_VERSION_7)}
    names = {}
    for index, item in enumerate(expect(listed, list, "special_tokens")):
        where = f"special_tokens[{index}]"
        entry = expect(item, dict, where)
        name = expect(entry.get("token_str"), str, f"{where}.token_str")
        names[name] = expect(entry.get("rank"), int, f"{where}.rank")
    return names


def _require_old(version: object) -> None:
    match = re.fullmatch(r"v([0-9]{1,3})", str(version))
    if match is None or int(match[1]) > 7:
        raise VocabularyError(f"a tekken file of version {version} should list its special_tokens")


def _entry(item: object, index: int) -> tuple[int, bytes]:
    where = f"vocab[{index}]"
    entry = expect(item, dict, where)
    rank = expect(entry.get("rank"), int, f"{where}.rank")
    encoded = expect(entry.get("token_bytes"), str, f"{where}.token_bytes")
    try:
        return rank, base64.b64decode(encoded, validate=True)
    except ValueError:
        raise VocabularyError(f"{where}.token_bytes is not base64: {encoded[:40]!r}") from None


def _encoder(file: VocabularyFile) -> Encode:
    """Return the encoding that mistral-common makes of the file, without its look at each id."""
    tiktoken = library("tiktoken", "mistral")
    config = expect(file.members.get("config"), dict, "config")
    ids = {data: token_id for token_id, data in read_tekken(file.members).tokens.items()}
    pattern = expect(config.get("pattern"), str, "config.pattern")
    encoding = tiktoken.Encoding("tekken", pat_str=pattern, mergeable_ranks=ids, special_tokens={})
    return lambda words: list(encoding.encode_ordinary(words))


def _pairs(file: VocabularyFile, tokens: Mapping[int, bytes]) -> BytePairs:
    config = expect(file.members.get("config"), dict, "config")
    return of_ranks(tokens, expect(config.get("pattern"), str, "config.pattern"))


def _fits(file: VocabularyFile) -> bool:
    config, vocab = file.members.get("config"), file.members.get("vocab")
    return isinstance(config, dict) and isinstance(vocab, list)


FORMAT = Format(
    "tekken JSON",
    _fits,
    lambda file: read_tekken(file.members),
    "tiktoken",
    _encoder,
    _pairs,
)
