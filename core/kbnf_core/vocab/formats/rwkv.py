r"""RWKV's vocabulary text: lines of ``ID LITERAL LENGTH``.

The literal is a Python string (for its UTF-8) or a bytes literal, the length is in bytes:
``33 ' ' 1``, ``65529 b'\xe4\xbd' 2``. RWKV-LM evaluates the literal; here it is only parsed.
RWKV uses id 0, which is not in the file, as the end of a document.

Tests: tests/unit/vocab
"""

import ast
import re
import warnings

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.formats import FileContents, Format, encode

LINE = re.compile(r"""([0-9]{1,9}) (b?(?:'.*'|".*")) ([0-9]{1,9})""", re.ASCII)

_END_OF_TEXT = 0


def read_rwkv(text: str) -> FileContents:
    """Return the tokens; ``VocabularyError`` names the line that is wrong."""
    tokens: dict[int, bytes] = {}
    with warnings.catch_warnings():
        # Python only warns of escapes it does not know, and on stderr.
        warnings.simplefilter("error", Warning)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            token_id, data = _entry(line.rstrip("\r"), number)
            if token_id in tokens:
                raise VocabularyError(f"line {number}: id {token_id} was given before")
            tokens[token_id] = data
    if _END_OF_TEXT in tokens:
        return FileContents(tokens)
    return FileContents(tokens, {"<|endoftext|>": _END_OF_TEXT}, {_END_OF_TEXT})


def _entry(line: str, number: int) -> tuple[int, bytes]:
    match = LINE.fullmatch(line)
    if match is None:
        raise VocabularyError(f"line {number} should be 'ID LITERAL LENGTH', not {line[:40]!r}")
    data = _literal(match[2], number)
    if len(data) != int(match[3]):
        raise VocabularyError(
            f"line {number}: {match[2]:.40} has {len(data)} bytes, not {match[3]}"
        )
    return int(match[1]), data


def _literal(text: str, number: int) -> bytes:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if isinstance(value, str):
        return encode(value, f"line {number}")
    if isinstance(value, bytes):
        return value
    raise VocabularyError(f"line {number}: {text[:40]} is not a string or bytes literal")


FORMAT = Format(
    "RWKV's vocabulary text",
    lambda file: LINE.fullmatch(file.first_line) is not None,
    lambda file: read_rwkv(file.text or ""),
)
