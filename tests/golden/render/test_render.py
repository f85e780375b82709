"""How findings look: each case against the long form, and all of them as lines and as JSON."""

from collections.abc import Callable

import pytest

from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.diagnostics.formats import render_json
from kbnf_core.text.diagnostics.segments import plain
from kbnf_core.text.diagnostics.text import render_concise, render_text
from kbnf_core.text.source import Source, Span

_GRAMMAR = """\
start ::= itme 你好 é\t| itme;
B ::= ('a'
  'b';
C ::= 'x';
D ::= 'y';
E ::= 'z';
F ::= 'w';
G ::= 'v';
"""


def _span(text: str, needle: str, nth: int = 1) -> Span:
    start = -1
    for _ in range(nth):
        start = text.index(needle, start + 1)
    return Span(start, start + len(needle))


def _in_grammar(needle: str, nth: int = 1) -> Span:
    return _span(_GRAMMAR, needle, nth)


def _on(text: str, span: Span, label: str = "here") -> Diagnostic:
    return Diagnostic("E001", "something is wrong", Source(text, "a.kbnf"), span, label=label)


_SOURCE = Source(_GRAMMAR, "grammars/demo.kbnf")
_LONG = "start ::= " + "'a' " * 60 + "HERE" + " 'b'" * 60 + ";"

CASES = {
    "plain": Diagnostic("E101", "nonterminal `itme` is not defined", _SOURCE, _in_grammar("itme")),
    "everything": Diagnostic(
        "E101",
        "nonterminal `itme` is not defined",
        _SOURCE,
        _in_grammar("itme"),
        label="not defined",
        notes=("a note\nof two lines",),
        helps=("did you mean `item`?",),
        fixes=(
            Fix("rename it", (TextEdit(_in_grammar("itme"), "item"),)),
            Fix("did you mean `item`?", (TextEdit(_in_grammar("itme"), "item"),), safe=False),
        ),
    ),
    "secondary": Diagnostic(
        "W104",
        "this alternative is written twice",
        _SOURCE,
        _in_grammar("itme", 2),
        label="again",
        labels=(
            Label(_in_grammar("itme"), "first here"),
            Label(_in_grammar("你好"), "wide"),
            Label(_in_grammar("'y'"), "far away"),
        ),
    ),
    "inner_label": Diagnostic(
        "W103",
        "a mark inside another",
        _SOURCE,
        _in_grammar("itme 你好 é\t| itme"),
        label="all of it",
        labels=(Label(_in_grammar("你好"), "inside"),),
    ),
    "no_labels": Diagnostic(
        "W104",
        "marks without words",
        _SOURCE,
        _in_grammar("itme", 2),
        labels=(Label(_in_grammar("itme"), ""),),
    ),
    "gap_of_one_line": Diagnostic(
        "W101",
        "the line between is shown",
        _SOURCE,
        _in_grammar("'x'"),
        labels=(Label(_in_grammar("'z'"), "there"),),
    ),
    "multiline": Diagnostic(
        "E003", "`(` is not closed", _SOURCE, _in_grammar("('a'\n  'b'"), label="to here"
    ),
    "multiline_long": Diagnostic(
        "E003",
        "`(` is not closed",
        _SOURCE,
        Span(_in_grammar("(").start, _in_grammar("'v'").end),
        label="to here",
    ),
    "multiline_crossing": Diagnostic(
        "E003",
        "two tall marks",
        _SOURCE,
        Span(_in_grammar("(").start, _in_grammar("F").end),
        label="to here",
        labels=(
            Label(_in_grammar("'z'"), "inside"),
            Label(Span(_in_grammar("'b'").start, _in_grammar("'y'").end), "second"),
        ),
    ),
    "combining": _on("start ::= 'e\u0301x' y;", _span("start ::= 'e\u0301x' y;", "y")),
    "wide": _on("'你好' y;", _span("'你好' y;", "你好")),
    "tabs": _on("\tstart\t::=\ty;", _span("\tstart\t::=\ty;", "y")),
    "control": _on(
        "a\x1b[31m\x00\x7f\u202e\ufeffb y;", _span("a\x1b[31m\x00\x7f\u202e\ufeffb y;", "y")
    ),
    "surrogate": _on("'\ud800' y;", _span("'\ud800' y;", "y")),
    "carriage_returns": _on("a ::= b;\r\nc ::= d;\r\n", _span("a ::= b;\r\nc ::= d;\r\n", "d")),
    "line_break": _on("a ::= b\nc ::= d;", Span(7, 8)),
    "through_line_break": _on("a ::= b\nc ::= d;", Span(6, 8)),
    "end_of_text": _on("a ::= b", Span(7, 7)),
    "end_of_text_after_break": _on("a ::= b\n", Span(8, 8)),
    "empty_text": _on("", Span(0, 0)),
    "long_line": _on(_LONG, _span(_LONG, "HERE")),
    "long_line_start": _on(_LONG, _span(_LONG, "start")),
    "long_line_end": _on(_LONG, Span(len(_LONG) - 1, len(_LONG))),
    "long_span": _on(_LONG, Span(10, len(_LONG))),
    "many_lines": _on("\n" * 99 + "x", Span(99, 100)),
    "hostile_message": Diagnostic(
        "E001", "sees \x1b[2J and\nmore", Source("x", "a\x1b[1m.kbnf"), Span(0, 1), label="a\nb"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_long_form(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.txt", plain(render_text(CASES[name])))


def test_lines(golden: Callable[[str, str], None]) -> None:
    lines = [plain(render_concise(case)) for case in CASES.values()]
    golden("concise.txt", "".join(lines))


def test_json(golden: Callable[[str, str], None]) -> None:
    golden("check.json", render_json(CASES.values(), files=2))
