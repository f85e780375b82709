"""Detection of end-of-sequence ids, for files that do not state them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from kbnf_core.errors import VocabularyError
from kbnf_core.files import read_file
from kbnf_core.vocab.formats.contents import expect

FILES_BESIDE = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
"""The files that are read along with a ``tokenizer.json``."""

_LARGEST = 2**26
"""Bytes of such a file; they have some thousands."""

_COMMON_NAMES = (
    "</s>",
    "<eos>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<end_of_turn>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)


def stop_ids(folder: Path, names: Mapping[str, int], special: Mapping[str, int]) -> frozenset[int]:
    """Return the ids that the files beside a ``tokenizer.json`` name, all of them together.

    ``generation_config.json`` has ids; ``tokenizer_config.json`` and ``special_tokens_map.json``
    have a text that ``names`` (text to id) knows. If they name none: those of ``special`` that
    usually end a sequence. ``VocabularyError`` if such a file is damaged.
    """
    with_ids, *with_names = (folder / name for name in FILES_BESIDE)
    ids = {
        *_configured_ids(with_ids),
        *(token_id for file in with_names for token_id in _configured_names(file, names)),
    }
    return frozenset(ids) or common_stop_ids(special)


def common_stop_ids(special: Mapping[str, int]) -> frozenset[int]:
    """Return the ids of the special tokens whose names usually end a sequence."""
    return frozenset(special[name] for name in _COMMON_NAMES if name in special)


def _configured_ids(path: Path) -> Iterator[int]:
    value = _read_object(path).get("eos_token_id")
    if value is None:
        return
    for token_id in value if isinstance(value, list) else [value]:
        yield expect(token_id, int, f"eos_token_id in {path.name}")


def _configured_names(path: Path, names: Mapping[str, int]) -> Iterator[int]:
    value = _read_object(path).get("eos_token")
    text = value.get("content") if isinstance(value, dict) else value
    if isinstance(text, str) and text in names:
        yield names[text]


def _read_object(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        document = json.loads(read_file(path, _LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise VocabularyError(f"{path.name} beside it cannot be read: {error}") from None
    return expect(document, dict, f"{path.name} beside it")
