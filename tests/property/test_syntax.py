"""Random trees and random texts."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbnf_core.source import Source, Span
from kbnf_core.syntax.parse import parse_kbnf
from kbnf_core.syntax.pragmas import read_pragmas
from kbnf_core.syntax.printer import print_expression, quote, quote_bytes
from kbnf_core.syntax.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Exception_,
    Expression,
    Name,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Sequence,
    Terminal,
    Text,
    TokenName,
    TokenSet,
)
from kbnf_testing.shapes import shape

AT = Span(0, 0)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(lambda v: Text(v, AT, ()))
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,3}", fullmatch=True).map(lambda v: Name(v, AT))
terminals = texts.map(lambda text: Terminal(text, AT))
ranges = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(sorted).map(lambda r: (r[0], r[1]))
leaves: st.SearchStrategy[Expression] = st.one_of(
    terminals,
    names.map(lambda name: Reference(name, AT)),
    st.binary(max_size=5).map(lambda data: ByteString(data, AT)),
    st.builds(Pattern, st.sampled_from(PatternKind), texts, st.just(AT)),
    st.builds(Exception_, terminals | names, st.integers(0, 65_535), st.just(AT)),
    texts.map(lambda text: TokenName(text, AT)),
    st.builds(
        TokenSet, st.lists(ranges, min_size=1, max_size=3).map(tuple), st.booleans(), st.just(AT)
    ),
)
bounds = st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)).filter(
    lambda pair: pair[1] is None or pair[0] <= pair[1]
)


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Return trees that some text has: looser operators stand in brackets only."""
    symbols = inner.map(_symbol)
    sequences = st.lists(symbols, min_size=2, max_size=3).map(lambda x: Sequence(tuple(x), AT))
    branches = st.one_of(symbols, sequences)
    return st.one_of(
        st.builds(Bracket, st.sampled_from(BracketKind), inner, st.just(AT)),
        st.builds(_repeated, inner.map(_primary), bounds),
        sequences,
        st.lists(branches, min_size=2, max_size=3).map(lambda x: Alternation(tuple(x), AT)),
    )


def _repeated(body: Expression, bounds: tuple[int, int | None]) -> Expression:
    return Repetition(body, *bounds, operator=AT, span=AT)


def _symbol(node: Expression) -> Expression:
    looser = isinstance(node, Sequence | Alternation)
    return Bracket(BracketKind.GROUP, node, AT) if looser else node


def _primary(node: Expression) -> Expression:
    repeated = isinstance(node, Repetition)
    return Bracket(BracketKind.GROUP, node, AT) if repeated else _symbol(node)


trees = st.recursive(leaves, _larger, max_leaves=12)


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


@settings(max_examples=300)
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
