"""Underlines are under what they mark, whatever the line holds."""

from hypothesis import given
from hypothesis import strategies as st

from kbnf_core.text.diagnostics import Diagnostic, Label
from kbnf_core.text.diagnostics.segments import cells, glyph, plain
from kbnf_core.text.diagnostics.text import ELLIPSIS, LineView, render_text
from kbnf_core.text.source import Source, Span

_TEXT = st.text(alphabet=st.sampled_from("ab \t\né你\u0301\x1b\r🙂'"), max_size=60)


@st.composite
def _findings(draw: st.DrawFn) -> Diagnostic:
    text = draw(_TEXT)

    def span() -> Span:
        start = draw(st.integers(0, len(text)))
        return Span(start, draw(st.integers(start, len(text))))

    labels = tuple(Label(span(), f"label{number}") for number in range(draw(st.integers(0, 3))))
    return Diagnostic("E001", "m", Source(text), span(), label="primary", labels=labels)


@given(_findings(), st.sampled_from([None, 40, 80]))
def test_every_label_is_drawn_once(finding: Diagnostic, width: int | None) -> None:
    drawn = plain(render_text(finding, width))
    for label in ("primary", *(each.message for each in finding.labels)):
        assert drawn.count(label) == 1


@given(st.integers(0, 90), st.integers(1, 50), st.integers(60, 100))
def test_a_label_hangs_further_left_where_it_would_pass_the_width(
    start: int, size: int, width: int
) -> None:
    label = Label(Span(start, start + 4), "m" * size)
    finding = Diagnostic("E001", "m", Source("word " * 19), Span(0, 0), labels=(label,))
    lines = plain(render_text(finding, width)).splitlines()
    assert max(map(len, lines)) <= width
    assert sum("m" * size in line for line in lines[1:]) == 1


@given(_findings())
def test_no_trailing_blank_in_the_drawing(finding: Diagnostic) -> None:
    for line in plain(render_text(finding)).splitlines():
        is_code = line.lstrip()[:1].isdigit()
        assert is_code or line == line.rstrip()


@given(st.text(alphabet="ab你\té", max_size=40), st.data())
def test_carets_cover_a_span_in_one_line(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    drawn = plain(render_text(Diagnostic("E001", "m", Source(line), Span(start, end))))
    under = drawn.splitlines()[4]
    assert under.index("^") - len("  | ") == cells("".join(map(glyph, line[:start])))
    assert under.count("^") == max(cells("".join(map(glyph, line[start:end]))), 1)


@given(st.text(alphabet="ab你\té", max_size=200), st.data(), st.integers(20, 60))
def test_cropped_line_shows_where_the_mark_begins(
    line: str, data: st.DataObject, width: int
) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    view = LineView(line, (start, end), width)
    assert cells(view.text) <= width + 2 * len(ELLIPSIS)
    if start < len(line):
        shown = view.text[len(_cut(view.text, view.cell(start))) :]
        assert shown.startswith(glyph(line[start]))


def _cut(text: str, width: int) -> str:
    """Return the longest start of ``text`` that is exactly ``width`` cells wide, or less."""
    taken = ""
    for character in text:
        if cells(taken + character) > width:
            break
        taken += character
    return taken
