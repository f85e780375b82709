"""Grammars that other people wrote, laid out."""

from pathlib import Path

import pytest

from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.source import Source
from kbnf_testing.data import DATA
from kbnf_testing.shapes import shape

FOLDER = DATA / "kbnf"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.kbnf")), ids=lambda path: path.stem)
def test_layout_keeps_the_tree_and_is_stable(path: Path) -> None:
    before = parse_kbnf(Source(path.read_text(encoding="utf-8")))
    laid_out = format_kbnf(before.document.source)
    if laid_out.text is None:
        assert before.diagnostics
        return
    after = parse_kbnf(Source(laid_out.text))
    assert shape(after.document.definitions) == shape(before.document.definitions)
    assert [c.text for c in after.document.comments] == [c.text for c in before.document.comments]
    assert format_kbnf(after.document.source).text == laid_out.text
