"""Plain JSON: ``{"ID": "text" | [byte, ...], ...}``.

The form of the RWKV vocabulary that kbnf's own examples use. A text stands for its UTF-8; a
list of numbers is for tokens that are not UTF-8. There are no special tokens and no stop ids.

Tests: tests/unit/vocab
"""

import re
from collections.abc import Mapping

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.formats import FileContents, Format, VocabularyFile, encode

_ID = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)


def read_plain_json(document: Mapping[str, object]) -> FileContents:
    """Return the tokens of the object; ``VocabularyError`` names the entry that is wrong."""
    return FileContents({_id(key): _bytes(key, value) for key, value in document.items()})


def _id(key: str) -> int:
    if not _ID.fullmatch(key):
        raise VocabularyError(f"a key should be a token id, not {key[:40]!r}")
    return int(key)


def _bytes(key: str, value: object) -> bytes:
    if isinstance(value, str):
        return encode(value, f"token {key}")
    if isinstance(value, list) and all(type(item) is int and 0 <= item <= 255 for item in value):
        return bytes(value)
    raise VocabularyError(f"token {key} should be a text or a list of bytes, not {value!r:.40}")


def _fits(file: VocabularyFile) -> bool:
    """Return whether a JSON object has this form, judging by its first key."""
    if not isinstance(file.document, dict):
        return False
    return _ID.fullmatch(next(iter(file.document), "0")) is not None


FORMAT = Format(
    'plain JSON {"ID": "text" | [byte, ...]}', _fits, lambda file: read_plain_json(file.members)
)
