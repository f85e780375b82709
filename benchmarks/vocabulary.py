"""The vocabulary that every engine gets: tekken of mistral-common, 131,072 tokens."""

from collections.abc import Callable
from dataclasses import dataclass
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


def read_setting() -> Setting:
    """Read the vocabulary and its tokenizer."""
    path = tekken_path()
    tokenizer = Tekkenizer.from_file(path)
    return Setting(load_vocabulary(path), lambda text: tokenizer.encode(text, False, False))


def all_bytes(vocabulary: Vocabulary) -> list[bytes]:
    """Return the bytes of all ids; what is special gets bytes that no text can have."""
    found = map(vocabulary.token, range(vocabulary.size))
    return [b"\xff<special%d>" % i if data is None else data for i, data in enumerate(found)]
