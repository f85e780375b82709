"""Real Lark files: they convert, or say why not, and their example texts agree."""

import json
from pathlib import Path

import pytest

from kbnf_core.convert import Conversion
from kbnf_testing.lark_subject import accepts_of, converted

DATA = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"
ROOT = DATA / "lark"
SAMPLES = sorted(ROOT.rglob("*.samples.json"))
FILES = sorted(ROOT.rglob("*.lark"))
STARTS = {"cel": "expr", "sootty": "exprs", "cairo": "cairo_file", "python": "file_input"}
STARTS.update(interegular_python="file_input", wkt="ewkt_geometry")
LIBRARIES = {"common", "outlines_common", "unicode", "iso8601", "templates"}

pytestmark = pytest.mark.skipif(not FILES, reason="the shared data are not beside this checkout")


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def convert(path: Path) -> Conversion | set[str]:
    lexing = "llguidance" if path.parent.name == "llguidance" else None
    return converted(path.read_text("utf-8"), lexing, str(path), STARTS.get(path.stem))


@pytest.mark.parametrize("samples", SAMPLES, ids=shown)
def test_example_texts_agree(samples: Path) -> None:
    grammar = samples.with_name(samples.name.replace(".samples.json", ".lark"))
    conversion = convert(grammar)
    assert isinstance(conversion, Conversion)
    accepts = accepts_of(conversion.text)
    expected = json.loads(samples.read_text("utf-8"))
    assert [text for text in expected["accept"] if not accepts(text)] == []
    assert [text for text in expected["reject"] if accepts(text)] == []


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_file_converts_or_says_why_not(path: Path) -> None:
    broken = "broken" in path.parent.name or path.stem in LIBRARIES
    assert isinstance(convert(path), set) == broken
