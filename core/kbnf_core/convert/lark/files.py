"""Reads the files that a Lark grammar imports."""

from pathlib import Path

from kbnf_core.diagnostics.decode import decode


def load_beside(path: str) -> str | None:
    """Return the text of the file; None where it cannot be read or is no UTF-8."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return None
    source, invalid = decode(data, path)
    return None if invalid is not None else source.text
