"""Real Lark files: they convert, or say why not, and their example texts agree."""

import json
from pathlib import Path

import pytest

from kbnf_core.convert import Conversion
from kbnf_testing.lark_files import FILES, LIBRARIES, SAMPLES, file_converted, shown
from kbnf_testing.lark_subject import accepts_of

LOSSES = {
    # The end of a string depends on whether another quote comes in the line: too many variants.
    "cel": {"W421"},
    # References back to the name of a heredoc.
    "hcl2": {"W422"},
    # Prefixes of strings, comments and numbers, all at once: too many variants.
    "interegular_python": {"W421"},
}
"""Files that cannot be converted exactly, and why."""

pytestmark = pytest.mark.skipif(not FILES, reason="the shared data are not beside this checkout")


@pytest.mark.parametrize("samples", SAMPLES, ids=shown)
def test_example_texts_agree(samples: Path) -> None:
    conversion = file_converted(samples.with_name(samples.name.replace(".samples.json", ".lark")))
    assert isinstance(conversion, Conversion)
    accepts = accepts_of(conversion.text)
    expected = json.loads(samples.read_text("utf-8"))
    assert [text for text in expected["accept"] if not accepts(text)] == []
    assert [text for text in expected["reject"] if accepts(text)] == []


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_file_converts_or_says_why_not(path: Path) -> None:
    conversion = file_converted(path)
    broken = "broken" in path.parent.name or path.stem in LIBRARIES
    assert isinstance(conversion, set) == broken
    if isinstance(conversion, Conversion):
        assert {loss.code for loss in conversion.losses} == LOSSES.get(path.stem, set())
