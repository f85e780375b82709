"""Reads the files that a Lark grammar imports."""

from kbnf_core.diagnostics.decode import decode
from kbnf_core.errors import SourceError
from kbnf_core.files import read_file
from kbnf_core.limits import DEFAULT_LIMITS


def load_beside(path: str) -> str | None:
    """Return the text of the file; None where it cannot be read or is no UTF-8."""
    try:
        data = read_file(path, DEFAULT_LIMITS.source_bytes)
    except SourceError:
        return None
    source, invalid = decode(data, path)
    return None if invalid is not None else source.text
