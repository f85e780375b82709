"""A vocabulary format as a value: how it is detected, loaded, and how it encodes texts."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from kbnf_core.errors import VocabularyError
from kbnf_core.vocab.formats.contents import Contents

LARGE_MAGIC = b"GGUF"
"""The first bytes of files that hold models: of these no more is read until it is asked for."""

Encode: TypeAlias = Callable[[str], list[int]]
"""Returns the ids of a text, without special tokens around it."""


@dataclass(frozen=True)
class VocabularyFile:
    """A file that may be a vocabulary, and its content as the formats look at it.

    ``data`` is all of it, or ``LARGE_MAGIC`` where it begins so.
    """

    path: Path
    data: bytes

    @cached_property
    def text(self) -> str | None:
        """The text of a text file, None if it is binary."""
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, without the blanks around it."""
        return (self.text or "").strip().partition("\n")[0].strip()

    @cached_property
    def document(self) -> object:
        """The JSON value in it, None where it is no JSON; ``VocabularyError`` for damaged JSON."""
        if self.text is None or not self.first_line.startswith(("{", "[")):
            return None
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise VocabularyError(f"damaged or cut off JSON: {error}") from None

    @property
    def members(self) -> dict[str, object]:
        """The members of the JSON object in it; none where it holds something else."""
        return self.document if isinstance(self.document, dict) else {}


@dataclass(frozen=True, slots=True)
class Format:
    """A format of vocabulary files.

    ``fits`` tells whether a file is of it, where none before it in ``FORMATS`` does. ``read``
    returns the tokens. ``tokenizer`` is the name of the library whose tokenizer ``encoder`` makes
    from a file; formats that only list tokens have neither.
    """

    name: str
    fits: Callable[[VocabularyFile], bool]
    read: Callable[[VocabularyFile], Contents]
    tokenizer: str = ""
    encoder: Callable[[VocabularyFile], Encode] | None = None
