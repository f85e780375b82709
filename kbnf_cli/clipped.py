"""Lines cut off at the width of a terminal."""

from kbnf_core.diagnostics.segments import cells


def clip(line: str, columns: int) -> str:
    """Return a line, cut off with an ellipsis where it is wider than ``columns`` cells."""
    if cells(line) <= columns:
        return line
    kept = []
    room = columns - 1
    for character in line:
        room -= cells(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"
