"""Random trees and random texts."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbnf_core.kbnf.pragmas import read_pragmas
from kbnf_core.kbnf.printer import print_expression, quote, quote_bytes
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.kbnf.tree import Expression
from kbnf_core.text.source import Source
from kbnf_testing.samples import examples
from kbnf_testing.shapes import shape
from kbnf_testing.syntax_trees import trees


@given(trees)
def test_printed_trees_parse_to_themselves(tree: Expression) -> None:
    parsed = parse_kbnf(Source(f"start ::= {print_expression(tree)};"))
    assert parsed.diagnostics == ()
    assert shape(parsed.document.definitions[0].body) == shape(tree)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted_texts_come_back(text: str) -> None:
    (definition,) = parse_kbnf(Source(f"start ::= {quote(text)};")).document.definitions
    assert shape(definition.body) == ("Terminal", ("Text", text))


@given(st.binary())
def test_quoted_bytes_come_back(data: bytes) -> None:
    (definition,) = parse_kbnf(Source(f"start ::= {quote_bytes(data)};")).document.definitions
    assert shape(definition.body) == ("ByteString", data)


WORDS = [
    "start", "foo-bar", "::=", "=", ":", "->", ";", "|", ",", "(", ")", "[", "]", "{", "}", "{2,",
    "?", "*", "+", "'", '"', "'x'", "\\", "\\d", "(*", "*)", "(* kbnf: ignore[W101] *)", "#", "#e",
    "#'x'", "#b", "#token[", "-", "^", "except!", "5", "\n", "\na ::= ", "\ufeff", "\u00a0", "\0",
    "\ud800", "<a>", "%ignore", "é",
]  # fmt: skip

jumbles = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=40).map("".join)


@settings(max_examples=examples(300))
@given(jumbles)
@example("")
@example("'\na ::= '\na ::= '")
def test_any_text_gives_findings_inside_it(text: str) -> None:
    source = Source(text)
    parsed = parse_kbnf(source)
    _, warnings = read_pragmas(parsed.document)
    whole = range(len(text) + 1)
    for finding in (*parsed.diagnostics, *warnings):
        places = [finding.span, *(label.span for label in finding.labels)]
        places += [edit.span for fix in finding.fixes for edit in fix.edits]
        assert all(a in whole and b in whole and a <= b for a, b in places)
        assert finding.message.isprintable()
    assert parsed.diagnostics or parsed.document.definitions


@given(jumbles, jumbles)
def test_a_mistake_leaves_other_definitions_alone(before: str, after: str) -> None:
    quotes = {"'", '"', "(*", "\\", "%ignore", "<a>"}
    if any(quote_ in before + after for quote_ in quotes):
        return
    parsed = parse_kbnf(Source(f"{before};\ngood ::= 'x';\n{after}"))
    foreign = any(finding.code == "E008" for finding in parsed.diagnostics)
    assert foreign or "good" in {
        definition.name.value for definition in parsed.document.definitions
    }


@given(trees, st.data())
def test_damaged_grammars_are_read(tree: Expression, data: st.DataObject) -> None:
    text = f"a ::= 'x';\nstart ::= {print_expression(tree)};\nb ::= a;\n"
    at = data.draw(st.integers(0, len(text)))
    until = data.draw(st.integers(at, len(text)))
    damaged = text[:at] + data.draw(st.sampled_from(["", *WORDS])) + text[until:]
    parsed = parse_kbnf(Source(damaged))
    assert parsed.diagnostics or parsed.document.definitions
