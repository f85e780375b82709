"""Settings in comments."""

import pytest

from kbnf_core.kbnf.pragmas import Pragmas, read_pragmas
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.source import Source


def _read(text: str) -> tuple[Pragmas, list[tuple[str, str]]]:
    source = Source(text)
    pragmas, findings = read_pragmas(parse_kbnf(source).document)
    assert all(finding.code == "W002" for finding in findings)
    return pragmas, [(source.slice(finding.span), finding.message) for finding in findings]


@pytest.mark.parametrize(
    ("text", "finish", "start"),
    [
        ("(* kbnf: finish=eos *) a ::= 'x';", "eos", None),
        ("(* kbnf: start=root *) a ::= 'x';", None, "root"),
        ("(*kbnf:finish=token,start=a*) a ::= 'x';", "token", "a"),
        ("(* kbnf: finish = eager\n start = a *) a ::= 'x';", "eager", "a"),
        ("a ::= 'x'; (* kbnf: finish=eos *) (* kbnf: start=b *)", "eos", "b"),
        ("a ::= 'x' (* kbnf: finish=eos *);", "eos", None),
        ("(* finish=eos *) a ::= '(* kbnf: finish=eos *)';", None, None),
        ("(* see kbnf: finish=eos *) a ::= 'x';", None, None),
        ("(* kbnf: *) a ::= 'x';", None, None),
    ],
)
def test_settings(text: str, finish: str | None, start: str | None) -> None:
    pragmas, problems = _read(text)
    assert (pragmas.finish, pragmas.start, problems) == (finish, start, [])


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("(* kbnf: finish=never *)", "finish=never", "one of eager, token, eos"),
        ("(* kbnf: finish *)", "finish", "unknown setting"),
        ("(* kbnf: start= *)", "start=", "needs the name"),
        ("(* kbnf: start=a-b *)", "start=a-b", "needs the name"),
        ("(* kbnf: colour=red *)", "colour=red", "unknown setting `colour`"),
        ("(* kbnf: ignore[E999] *)", "E999", "no code `E999`"),
        ("(* kbnf: ignore[] *)", "ignore[]", "needs a code"),
        ("(* kbnf: ignore *)", "ignore", "unknown setting"),
        ("(* kbnf: start=a start=b *)", "start=b", "already set to `a`"),
    ],
)
def test_what_is_not_understood(text: str, place: str, words: str) -> None:
    _, problems = _read(f"{text}\na ::= 'x';")
    assert [found for found, _ in problems] == [place]
    assert words in problems[0][1]


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        ("a ::= 'x'; (* kbnf: ignore[W101] *)", [("W101", 1)]),
        ("(* kbnf: ignore[W101, E101] *)\na ::= 'x';", [("W101", 2), ("E101", 2)]),
        ("(* kbnf: ignore[W101] *)\n(* more *)\n\n  a ::= 'x';\nb ::= 'y';", [("W101", 4)]),
        ("a ::= 'x'\n(* kbnf:\n ignore[W101] *) | 'y';", [("W101", 3)]),
        ("a ::= 'x';\n(* kbnf: ignore[W101] *)", [("W101", 2)]),
        ("a ::= (* kbnf: ignore[W101] *)\n'x';", [("W101", 1)]),
    ],
)
def test_lines_that_are_silenced(text: str, ignored: list[tuple[str, int]]) -> None:
    pragmas, problems = _read(text)
    assert problems == []
    assert [(ignore.code, ignore.line) for ignore in pragmas.ignores] == ignored
