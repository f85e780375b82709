"""Nothing that a source holds can do more to a terminal than be seen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbnf_core.text.diagnostics import text as excerpt
from kbnf_core.text.diagnostics.segments import cells, glyph, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 你", "plain é 你"),
        ("a\tb", "a    b"),
        ("\x1b[31m", "␛[31m"),
        ("\x00\x1f\x7f", "␀␟␡"),
        ("\x85\u2028", "<U+0085><U+2028>"),
        ("\u202e\u200d\ufeff", "<U+202E><U+200D><U+FEFF>"),
        ("\ud800", "<U+D800>"),
        ("two\nlines", "two\nlines"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.characters(codec=None))
def test_glyphs_are_harmless(character: str) -> None:
    for shown in glyph(character):
        assert unicodedata.category(shown) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("你好", 4), ("e\u0301", 1), ("ＡＢ", 4), ("é", 1)]
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


def test_a_line_with_many_findings_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def counted(character: str) -> str:
        seen.append(character)
        return character

    monkeypatch.setattr(excerpt, "glyph", counted)
    line = "measured once é" * 100
    views = [excerpt.LineView(line, (column, column + 1), 40) for column in range(50)]
    assert len(seen) == len(line)
    assert all(len(view.text) <= 46 for view in views)
