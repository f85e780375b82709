"""Real Lark files: they convert, or say why not, and their example texts agree."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
    # A conflict, which Lark resolves.
    "python": {"W421"},
}
"""Files that cannot be converted exactly, and why."""

LONG = {"cel", "interegular_python", "python"}
"""Files that take seconds, by name: their analysis goes up to its limits."""


def marked(paths: Iterable[Path]) -> list[Any]:
    """Return the files as parameters, those that take long as slow ones."""
    slow = [pytest.mark.slow]
    return [
        pytest.param(path, id=shown(path), marks=slow if path.name.split(".")[0] in LONG else ())
        for path in paths
    ]


@pytest.mark.parametrize("samples", marked(SAMPLES))
def test_example_texts_agree(samples: Path) -> None:
    conversion = file_converted(samples.with_name(samples.name.replace(".samples.json", ".lark")))
    assert isinstance(conversion, Conversion)
    accepts = accepts_of(conversion.text)
    expected = json.loads(samples.read_text("utf-8"))
    assert [text for text in expected["accept"] if not accepts(text)] == []
    assert [text for text in expected["reject"] if accepts(text)] == []


@pytest.mark.parametrize("path", marked(FILES))
def test_file_converts_or_says_why_not(path: Path) -> None:
    conversion = file_converted(path)
    broken = "broken" in path.parent.name or path.stem in LIBRARIES
    assert isinstance(conversion, set) == broken
    if isinstance(conversion, Conversion):
        assert {loss.code for loss in conversion.losses} == LOSSES.get(path.stem, set())
