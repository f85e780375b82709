"""The real Lark files beside the checkout: where they start, and their conversions."""

from functools import cache
from pathlib import Path

from kbnf_core.convert import Conversion
from kbnf_testing.data import DATA
from kbnf_testing.lark_subject import converted

ROOT = DATA / "lark"
FILES = sorted(ROOT.rglob("*.lark"))
SAMPLES = sorted(ROOT.rglob("*.samples.json"))
SLOW = frozenset(
    {"cel", "hcl2", "interegular_python", "lark", "python", "syncode_sql", "template_lark"}
)
"""Files that take more than a second."""

LIBRARIES = frozenset({"common", "outlines_common", "unicode", "iso8601", "templates"})
"""Files without a start: others import them."""

_STARTS = {
    "cel": "expr",
    "sootty": "exprs",
    "cairo": "cairo_file",
    "python": "file_input",
    "interegular_python": "file_input",
    "wkt": "ewkt_geometry",
}


def shown(path: Path) -> str:
    """Return a short name for a test."""
    return str(path.relative_to(ROOT))


def start_of(path: Path) -> str | None:
    """Return the start rule of a file, None for the usual one."""
    return _STARTS.get(path.stem)


def lexing_of(path: Path) -> str | None:
    """Return how a file is meant to be read, None for Lark's own default."""
    return "llguidance" if path.parent.name == "llguidance" else None


@cache
def file_converted(path: Path) -> Conversion | set[str]:
    """Return the conversion of a file; for one with errors, their codes."""
    return converted(path.read_text("utf-8"), lexing_of(path), str(path), start_of(path))
