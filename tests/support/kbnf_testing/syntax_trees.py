"""Random syntax trees of KBNF, all of a form that some text has."""

from hypothesis import strategies as st

from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Concatenation,
    Exception_,
    Expression,
    Name,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Terminal,
    Text,
    TokenName,
    TokenSet,
)
from kbnf_core.text.source import Span

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
    """Return trees that some text has: looser operators are in brackets only."""
    symbols = inner.map(_symbol)
    sequences = st.lists(symbols, min_size=2, max_size=3).map(lambda x: Concatenation(tuple(x), AT))
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
    looser = isinstance(node, Concatenation | Alternation)
    return Bracket(BracketKind.GROUP, node, AT) if looser else node


def _primary(node: Expression) -> Expression:
    repeated = isinstance(node, Repetition)
    return Bracket(BracketKind.GROUP, node, AT) if repeated else _symbol(node)


trees = st.recursive(leaves, _larger, max_leaves=12)
