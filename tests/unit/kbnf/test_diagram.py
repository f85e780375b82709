"""Diagrams of grammars, by what is in the pictures."""

from xml.etree import ElementTree

import pytest

from kbnf_core.kbnf.diagram import render_html, render_svg
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.kbnf.tree import Document
from kbnf_core.text.source import Source

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"


def document(text: str) -> Document:
    parsed = parse_kbnf(Source(text, "g.kbnf"))
    assert parsed.diagnostics == ()
    return parsed.document


def drawn(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(render_svg(document(text)))  # noqa: S314 - our own


def labels(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("'x' b", ["'x'", "b"]),
        ("'x' | b | #'y'", ["'x'", "b", "#'y'"]),
        ("['x'] {b} ('z')", ["'x'", "b", "'z'"]),
        ("'x'{3}", ["'x'", "3 times"]),
        ("'x'{2,}", ["'x'", "2 times or more"]),
        ("'x'{2,5}", ["'x'", "2 to 5 times"]),
        ("'x'{,5}", ["'x'", "up to 5 times"]),
        ("'x'{1,5}", ["'x'", "up to 5 times"]),
        ("'x'{0} '' b?", ["b"]),
        ("b* b+ b{0,} b{1,}", ["b", "b", "b", "b"]),
        ("except!(b, 5)", ["except!(b, 5)"]),
        ("#token[1-3] #b'\\xff' #token'<t>'", ["#token[1-3]", "#b'\\xff'", "#token'<t>'"]),
        ("'<&\"'", ["'<&\"'"]),
        ("'a\tb\nc'", ["'a    b c'"]),
    ],
)
def test_symbols(body: str, expected: list[str]) -> None:
    assert labels(drawn(f"start ::= {body};")) == ["start", *expected]


def test_long_symbols_are_shortened_and_have_a_tooltip() -> None:
    root = drawn(f"start ::= '{'x' * 100}';")
    assert labels(root)[1] == f"'{'x' * 58}…"
    assert [each.text for each in root.iter(f"{SVG}title")] == [f"'{'x' * 100}'"]


def test_wide_characters_get_room() -> None:
    def width(body: str) -> float:
        box = drawn(f"start ::= '{body}';").find(f".//{SVG}rect")
        assert box is not None
        return float(box.get("width", ""))

    assert width("漢字") == width("wide")


def test_names_link_to_their_diagrams() -> None:
    root = drawn("start ::= b except!(c); b ::= 'x'; c ::= 'y';")
    targets = {each.get("id") for each in root.iter(f"{SVG}svg")}
    links = [each.get(XLINK) for each in root.iter(f"{SVG}a")]
    assert links == ["#rule-b", "#rule-c"]
    assert {f"#{target}" for target in targets} >= set(links)


def test_definitions_of_one_name_are_one_diagram() -> None:
    assert labels(drawn("a ::= 'x'; b ::= 'y'; a ::= 'z';")) == ["a", "'x'", "'z'", "b", "'y'"]


def test_long_sequences_go_on_in_another_row() -> None:
    short, long = drawn("a ::= b b b;"), drawn(f"a ::= {'b ' * 60};")
    assert float(long.get("width", "")) < 1000
    assert float(long.get("height", "")) > float(short.get("height", "")) + 50


def test_page() -> None:
    page = render_html(document("start ::= b | '<' ; b ::= start?;"), "start")
    assert page.count("<section") == 2
    assert '<h2>start<span class="start">start</span></h2>' in page
    assert "<h2>b</h2>" in page
    assert "<pre>start ::= b | &#x27;&lt;&#x27; ;</pre>" in page
    assert 'used by <a href="#rule-b">b</a>' in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_page_is_well_formed() -> None:
    page = render_html(document("start ::= 'a&b' {'$x'};"), "start")
    body = page.partition("<body>")[2].partition("</body>")[0].replace("xlink:", "")
    ElementTree.fromstring(f"<body>{body}</body>")  # noqa: S314 - our own
