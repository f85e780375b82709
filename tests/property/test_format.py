"""Random definitions, with random blanks and comments between their words, laid out."""

import re
from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.kbnf.pragmas import read_pragmas
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.read import Words, parse_kbnf
from kbnf_core.kbnf.statements import span_of
from kbnf_core.text.source import Source
from kbnf_testing.shapes import shape
from kbnf_testing.syntax_trees import trees

MARKS = {"REGEX", "EARLY", "COMPLEMENT", "SUBSTRINGS", "BYTES", "TOKEN"}

QUOTED = re.compile(r"""\(\*.*?\*\)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)

blanks = st.sampled_from(["", " ", "   ", "\t", "\n", "\n\n", "\n\n\n  ", "\r\n"])
remarks = st.sampled_from(
    ["", "short", " two\nlines ", " kbnf: ignore[W104] ", " kbnf: ignore[W101,W103]", "x" * 70]
)
comments = st.lists(st.tuples(remarks, blanks), max_size=2).map(
    lambda parts: "".join(f"(*{remark}*){blank}" for remark, blank in parts)
)
gaps = st.one_of(blanks, blanks, st.builds("{}{}".format, blanks, comments))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw definitions with anything legal between their words."""
    pieces = [draw(gaps)]
    for body in draw(st.lists(trees.map(print_expression), min_size=1, max_size=3)):
        for word in Words(f"rule ::= {body};").statement().words:
            sign = draw(st.sampled_from(["=", "::="]))
            pieces.append(sign if word.type == "DEFINE" else word.value)
            if word.type not in MARKS:
                pieces.append(draw(gaps) or " ")
    if draw(st.booleans()):
        pieces.append("last ::= rule")
    return "".join(pieces)


def laid_out(text: str, width: int = 100) -> str:
    formatted = format_kbnf(Source(text), width).text
    assert formatted is not None
    return formatted


def words(text: str) -> list[str]:
    """Return the words of a text as they are written, canonical signs and a last `;` given."""
    reader, found = Words(text), []
    while statement := reader.statement().words:
        found += ["::=" if word.type == "DEFINE" else word.value for word in statement]
    return found if found[-1] == ";" else [*found, ";"]


def silenced(text: str) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """Yield for each pragma its code, and which lines of which words it silences."""
    source = Source(text)
    reader, number = Words(text), 0
    lines: dict[int, set[tuple[int, int]]] = {}
    while statement := reader.statement().words:
        for word in statement:
            number += 1
            first = source.position(span_of(word).start).line
            if word.value != ";":
                for part in range(word.value.count("\n") + 1):
                    lines.setdefault(first + part, set()).add((number, part))
    for ignore in read_pragmas(parse_kbnf(source).document)[0].ignores:
        yield ignore.code, lines.get(ignore.line, set())


@given(texts(), st.sampled_from([20, 100]))
@example("a ::= 'x' | 'x'; (* kbnf: ignore[W104] *) a ::= 'y';", 20)
def test_layout_is_stable(text: str, width: int) -> None:
    once = laid_out(text, width)
    assert laid_out(once, width) == once


@given(texts(), st.sampled_from([20, 100]))
def test_words_and_comments_stay(text: str, width: int) -> None:
    before, after = (parse_kbnf(Source(t)).document for t in (text, laid_out(text, width)))
    assert words(after.source.text) == words(text)
    assert [c.text for c in after.comments] == [c.text for c in before.comments]
    assert shape(after.definitions) == shape(before.definitions)


@given(texts(), st.sampled_from([20, 100]))
@example("a = 'x' | 'y' (* two\nlines *)(* kbnf: ignore[W104] *)\n;\na = 'x';", 20)
@example("rule = ( '' )(**)\n;(* kbnf: ignore[W104] *)(* two\nlines *)last ::= rule", 20)
def test_pragmas_silence_the_same_words(text: str, width: int) -> None:
    assert list(silenced(laid_out(text, width))) == list(silenced(text))


@given(texts())
def test_no_line_ends_in_blanks_and_no_two_are_empty(text: str) -> None:
    free = text.replace("ignore", "other")  # Lines that a pragma silences stay as they are.
    formatted = QUOTED.sub("x", laid_out(free).replace("\r\n", "\n"))
    assert re.search(r"[ \t]\n|\n\n\n|\n\n\Z|[^\n]\Z|\A\s", formatted) is None
