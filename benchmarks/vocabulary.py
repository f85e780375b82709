"""The vocabulary that every engine gets: tekken of mistral-common, 131,072 tokens, or another."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import mistral_common
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from kbnf_core import Vocabulary, load_vocabulary

BOS = 1
EOS = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """``vocabulary`` as this library has it, and ``encode``, from a text to token ids."""

    vocabulary: Vocabulary
    encode: Callable[[str], list[int]]


def tekken_path() -> Path:
    """Return the newest tekken file that comes with mistral-common."""
    folder = Path(mistral_common.__file__).parent / "data"
    return max(folder.glob("*tekken*.json"))


def read_setting(path: Path | None = None, eos: int | None = None) -> Setting:
    """Read the vocabulary and its tokenizer: tekken, or the ``tokenizer.json`` at ``path``."""
    if path is None:
        return Setting(
            load_vocabulary(tekken_path()), lambda text: _tekken().encode(text, False, False)
        )
    vocabulary = load_vocabulary(path, None if eos is None else [eos])
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(path))
    return Setting(vocabulary, lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


@cache
def _tekken() -> Tekkenizer:
    """Return the tokenizer, which takes 110 MB: not read where nothing is encoded."""
    return Tekkenizer.from_file(tekken_path())


def all_bytes(vocabulary: Vocabulary) -> list[bytes]:
    """Return the bytes of all ids; what is special gets bytes that no text can have."""
    found = map(vocabulary.token, range(vocabulary.size))
    return [b"\xff<special%d>" % i if data is None else data for i, data in enumerate(found)]
