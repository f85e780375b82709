"""The difference between two texts, as ``patch`` reads it."""

from difflib import unified_diff

from kbnf_core.diagnostics.segments import Role, Segment, Segments, visible

_ROLES = {"+": Role.HELP, "-": Role.ERROR, "@": Role.PLACE}
_NO_LINE_END = "\n\\ No newline at end of file\n"


def diff(before: str, after: str, name: str) -> Segments:
    """Return a unified diff of two versions of the file ``name``; empty where they are equal."""
    shown = visible(name)
    lines = unified_diff(_lines(before), _lines(after), shown, shown)
    return [_segment(line) for line in lines]


def _lines(text: str) -> list[str]:
    """Split at line feeds only: a grammar may hold every other kind of line end as text."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _segment(line: str) -> Segment:
    text = line if line.endswith("\n") else line + _NO_LINE_END
    is_header = line.startswith(("---", "+++"))
    return Segment(text, Role.TITLE if is_header else _ROLES.get(line[0], Role.PLAIN))
