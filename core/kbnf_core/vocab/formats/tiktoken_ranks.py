"""``.tiktoken``: lines of ``BASE64 RANK``, the rank being the token's id.

Read as ``tiktoken.load.load_tiktoken_bpe`` reads it. The special tokens of such a model are in
the program that uses it, not in the file, so there are none here, and no stop ids.

Tests: tests/unit/vocab
"""

import base64
import re

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.formats import FileContents, Format

LINE = re.compile(r"([A-Za-z0-9+/]+={0,2}) ([0-9]{1,9})", re.ASCII)


def read_tiktoken(text: str) -> FileContents:
    """Return the tokens; ``VocabularyError`` names the line that is wrong."""
    tokens: dict[int, bytes] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line:
            continue
        rank, data = _entry(line, number)
        if rank in tokens:
            raise VocabularyError(f"line {number}: rank {rank} was given before")
        tokens[rank] = data
    return FileContents(tokens)


def _entry(line: str, number: int) -> tuple[int, bytes]:
    match = LINE.fullmatch(line)
    if match is None:
        raise VocabularyError(f"line {number} should be 'BASE64 RANK', not {line[:40]!r}")
    try:
        return int(match[2]), base64.b64decode(match[1], validate=True)
    except ValueError:
        raise VocabularyError(f"line {number}: {match[1][:40]!r} is not base64") from None


FORMAT = Format(
    ".tiktoken ranks",
    lambda file: LINE.fullmatch(file.first_line) is not None,
    lambda file: read_tiktoken(file.text or ""),
)
