"""Every form of the language, and the tree it becomes."""

import pytest

from kbnf_core.kbnf.printer import print_document, print_expression
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.kbnf.tree import BracketKind, PatternKind, children, postorder
from kbnf_core.text.source import Source, Span
from kbnf_testing.shapes import shape

X = ("Terminal", ("Text", "x"))
NO_NUMBERS = (None, None)
A = ("Reference", ("Name", "a"), None)
N = ("Number", ("Name", "n"), 0, "")
A_OF_N = ("Reference", ("Name", "a"), N)


def _pattern(kind: PatternKind, is_raw: bool = False) -> tuple[object, ...]:
    return ("Pattern", kind, ("Text", "x"), is_raw, None, None)


FORMS = [
    ("'x'", X),
    ('"x"', X),
    ("a", A),
    ("except", ("Reference", ("Name", "except"), None)),
    ("#'x'", _pattern(PatternKind.REGEX)),
    ('#"x"', _pattern(PatternKind.REGEX)),
    ("#r'x'", _pattern(PatternKind.REGEX, is_raw=True)),
    ('#r"x"', _pattern(PatternKind.REGEX, is_raw=True)),
    ("#e'x'", _pattern(PatternKind.EARLY)),
    ("#ex'x'", _pattern(PatternKind.COMPLEMENT)),
    ("#substrs'x'", _pattern(PatternKind.SUBSTRINGS)),
    ("#b'x'", ("ByteString", b"x")),
    ("#token'x'", ("TokenName", ("Text", "x"))),
    ("#token[5]", ("TokenSet", ((5, 5),), False)),
    ("#token[1-5,7]", ("TokenSet", ((1, 5), (7, 7)), False)),
    ("#token[ ^ 1 - 5 , 7 (* seven *) ]", ("TokenSet", ((1, 5), (7, 7)), True)),
    ("except!('x')", ("Exception_", X, 0)),
    ("except! ( a , 12 )", ("Exception_", ("Name", "a"), 12)),
    ("except!(a, 0)", ("Exception_", ("Name", "a"), 0)),
    ("(a)", ("Bracket", BracketKind.GROUP, A)),
    ("[a]", ("Bracket", BracketKind.OPTIONAL, A)),
    ("{a}", ("Bracket", BracketKind.REPEATED, A)),
    ("{'2,3'}", ("Bracket", BracketKind.REPEATED, ("Terminal", ("Text", "2,3")))),
    ("a?", ("Repetition", A, 0, 1, NO_NUMBERS)),
    ("a*", ("Repetition", A, 0, None, NO_NUMBERS)),
    ("a \n +", ("Repetition", A, 1, None, NO_NUMBERS)),
    ("a{3}", ("Repetition", A, 3, 3, NO_NUMBERS)),
    ("a{0}", ("Repetition", A, 0, 0, NO_NUMBERS)),
    ("a{2,}", ("Repetition", A, 2, None, NO_NUMBERS)),
    ("a{,5}", ("Repetition", A, 0, 5, NO_NUMBERS)),
    ("a{2,5}", ("Repetition", A, 2, 5, NO_NUMBERS)),
    ("a { (* from *) 2 , (* to *) 5 }", ("Repetition", A, 2, 5, NO_NUMBERS)),
    ("a@3", ("Reference", ("Name", "a"), ("Number", None, 3, ""))),
    ("a@n", ("Reference", ("Name", "a"), ("Number", ("Name", "n"), 0, ""))),
    ("a@n+2", ("Reference", ("Name", "a"), ("Number", ("Name", "n"), 2, ""))),
    ("a@>n", ("Reference", ("Name", "a"), ("Number", ("Name", "n"), 0, ">"))),
    ("a@>=n+1", ("Reference", ("Name", "a"), ("Number", ("Name", "n"), 1, ">="))),
    ("a@n+", ("Repetition", A_OF_N, 1, None, NO_NUMBERS)),
    ("a@n*", ("Repetition", A_OF_N, 0, None, NO_NUMBERS)),
    ("a@n+2+", ("Repetition", ("Reference", ("Name", "a"), ("Number", ("Name", "n"), 2, "")), 1,
                None, NO_NUMBERS)),
    ("a{@n}", ("Repetition", A, 0, 0, (N, N))),
    ("a{@n+2}", ("Repetition", A, 0, 0, (("Number", ("Name", "n"), 2, ""),) * 2)),
    ("a{0,@n}", ("Repetition", A, 0, 0, (None, N))),
    ("a{ @n, 5 }", ("Repetition", A, 0, 5, (N, None))),
    ("a{@n,}", ("Repetition", A, 0, None, (N, None))),
    ("a{n}", ("Concatenation", (A, ("Bracket", BracketKind.REPEATED, ("Reference", ("Name", "n"),
                                                                  None))))),
    ("[a]*", ("Repetition", ("Bracket", BracketKind.OPTIONAL, A), 0, None, NO_NUMBERS)),
    ("{a}{2}", ("Repetition", ("Bracket", BracketKind.REPEATED, A), 2, 2, NO_NUMBERS)),
    ("a 'x'", ("Concatenation", (A, X))),
    ("a, 'x'", ("Concatenation", (A, X))),
    ("a{a}", ("Concatenation", (A, ("Bracket", BracketKind.REPEATED, A)))),
    ("a'x'|a", ("Alternation", (("Concatenation", (A, X)), A))),
    ("''", ("Terminal", ("Text", ""))),
    ("'(* x *)'", ("Terminal", ("Text", "(* x *)"))),
    ("'x'(* ) *)|(**)a", ("Alternation", (X, A))),
    ("('('|\")\")", ("Bracket", BracketKind.GROUP, ("Alternation", (
        ("Terminal", ("Text", "(")), ("Terminal", ("Text", ")")))))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FORMS)
def test_form(text: str, expected: object) -> None:
    parsed = parse_kbnf(Source(f"start ::= {text};"))
    assert parsed.diagnostics == ()
    (definition,) = parsed.document.definitions
    assert shape(definition.body) == expected
    assert definition.span == Span(0, len(f"start ::= {text};"))


@pytest.mark.parametrize(("text", "expected"), FORMS)
def test_printed_form_means_the_same(text: str, expected: object) -> None:
    document = parse_kbnf(Source(f"start ::= {text};")).document
    again = parse_kbnf(Source(print_document(document)))
    assert again.diagnostics == ()
    # A pattern is printed raw only where that is shorter, which it is not for `x`.
    meaning = _pattern(PatternKind.REGEX) if text.startswith("#r") else expected
    assert shape(again.document.definitions[0].body) == meaning


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"#'\\d\\d'", r"#r'\d\d'"),
        (r"#'\\d'", r"#'\\d'"),
        ("#r'x'", "#'x'"),
        (r"#'\\d\\d\n'", r"#'\\d\\d\n'"),
        (r"#e'\\d\\d'", r"#e'\\d\\d'"),
    ],
)
def test_patterns_are_printed_raw_where_that_is_shorter(written: str, printed: str) -> None:
    document = parse_kbnf(Source(f"start ::= {written};")).document
    assert print_document(document) == f"start ::= {printed};\n"


@pytest.mark.parametrize(
    "text",
    [
        "a='x';b::='y';",
        "\ufeffa ::= 'x'; b ::= 'y';",
        "\u3000a ::= 'x';\x0b\u2028b ::= 'y';\xa0",
        "(* 1 *)(**)a(* 2 *)::=(* 3 *)'x'(* 4 *);(* 5 *)b ::= 'y'; (* ' *)",
        "a\r\n::=\r\n'x'\t;\r\nb = 'y';",
    ],
)
def test_blanks_and_comments_stand_anywhere(text: str) -> None:
    parsed = parse_kbnf(Source(text))
    assert parsed.diagnostics == ()
    assert [definition.name.value for definition in parsed.document.definitions] == ["a", "b"]


def test_comments_are_kept_in_order() -> None:
    parsed = parse_kbnf(Source("(* 1 *) a ::= 'x(* no *)' (* 2\n *); (***)"))
    assert [comment.text for comment in parsed.document.comments] == [" 1 ", " 2\n ", "*"]


def test_spans_of_parts() -> None:
    source = Source("a ::= 'x' {b}{2, 3} | except!(b, 4);")
    definition = parse_kbnf(source).document.definitions[0]
    spans = [source.slice(node.span) for node in postorder(definition.body)]
    assert spans == [
        "'x'",
        "b",
        "{b}",
        "{b}{2, 3}",
        "'x' {b}{2, 3}",
        "except!(b, 4)",
        "'x' {b}{2, 3} | except!(b, 4)",
    ]
    assert [len(children(branch)) for branch in definition.branches] == [2, 0]


def test_deep_trees_are_printed_without_recursion() -> None:
    text = "(" * 256 + "'x'" + ")" * 256
    parsed = parse_kbnf(Source(f"a ::= {text};"))
    assert parsed.diagnostics == ()
    assert print_expression(parsed.document.definitions[0].body) == text
