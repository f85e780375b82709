"""The GBNF reader: what each form means, and where each mistake is found."""

import pytest

from kbnf_core import check
from kbnf_core.convert import from_gbnf
from kbnf_testing.membership import Language


@pytest.mark.parametrize(
    ("gbnf", "accept", "reject"),
    [
        (r"root ::= [a\]b] [[]", ["a[", "]["], ["[["]),
        (r"root ::= [-a] [a-]", ["-a", "a-"], ["b-"]),
        (r"root ::= [x^]", ["x", "^"], ["y"]),
        (r"root ::= [\x5E\t]", ["^", "\t"], ["\\"]),
        (r'root ::= [^"\\]', ["\n", "é"], ['"', "\\"]),
        ('root ::= "x" [] "y"', ["xy"], ["x[]y"]),
        ('root ::= "x" [^] "y"', ["xy"], ["x^y"]),
        ('root ::= "a" | [z-a]', ["a"], ["z", ""]),
        (r'root ::= "\uD800" | "b"', ["b"], [""]),
        (r"root ::= [\uD7FF-\uE000]", ["\ud7ff", "\ue000"], ["a"]),
        ('root ::= ("a" # (\n | # x\n "b")\n', ["a", "b"], ["ab"]),
        ('root ::= "a"{2}*', ["", "aa", "aaaa"], ["a"]),
        ('root ::= "a" "b"{0} "c"', ["ac"], ["abc"]),
        ('root ::= a-b a_b a\na-b ::= "1"\na_b ::= "2"\na ::= "3"', ["123"], ["113"]),
        ('root ::= start\nstart ::= "x" 1\n1 ::= "y"', ["xy"], ["x"]),
        ('\ufeffroot ::= "a" |', ["a", ""], ["b"]),
    ],
)
def test_meaning(gbnf: str, accept: list[str], reject: list[str]) -> None:
    language = Language(from_gbnf(gbnf).text)
    assert [text for text in accept if not language.has(text)] == []
    assert [text for text in reject if language.has(text)] == []


_MANY = '("x")' * 2_001
"""Groups, each a symbol to llama.cpp: more than it repeats."""


@pytest.mark.parametrize(
    ("gbnf", "findings"),
    [
        ("", [("E010", 1, 1)]),
        ('"a"', [("E001", 1, 1)]),
        ('root = "a"', [("E006", 1, 6)]),
        ('root ::= ("a"', [("E003", 1, 14)]),
        # A bracket that is never closed spoils its own rule alone.
        ('root ::= ("a" x\nx ::= "b"\ny ::= (', [("E003", 1, 16), ("E003", 3, 8)]),
        ('root ::= "a', [("E004", 1, 10)]),
        ('root ::= "a\nx ::= "b"', [("E004", 1, 10)]),
        (r'root ::= "\q" "\x4"', [("E007", 1, 11), ("E007", 1, 16)]),
        ('root ::= "a"{3,2}', [("E013", 1, 13)]),
        ('root ::= "a"{99999}', [("E013", 1, 13)]),
        ('root ::= x\nroot ::= "a"', [("W412", 1, 1), ("E101", 1, 10)]),
        ('root ::= a_b\na_b ::= "x"', [("W411", 2, 1)]),
        ('root ::= "a"\n "b"', [("W411", 2, 2)]),
        ('root ::= "a" |\nx ::= "b"', [("W411", 1, 14)]),
        ('root ::= "a"{,2} "b"', [("W411", 1, 13)]),
        ('root ::= "a"{0,2001} "b"', [("W414", 1, 13)]),
        (r'root ::= [a\-z] "\-" [\x2D-z-]', [("W411", 1, 12), ("W411", 1, 18)]),
        # A group, a first use of a name, and what may be left out count for one each.
        ('root ::= (b){0,1000}\nb ::= "x"', []),
        ('root ::= (b "x"?){0,1000}\nb ::= "x"', [("W414", 1, 18)]),
        ('b ::= "x"\nroot ::= (b "x"?){0,1000}', []),
        ('b ::= "x"\nroot ::= (b "x"?){0,1001}', [("W414", 2, 18)]),
        ('root ::= ("x"{0,1000} "y"{0,1000})* "b"', [("W414", 1, 35)]),
        (f"root ::= ({_MANY})?", [("W414", 1, 12 + len(_MANY))]),
        ('root ::= "a"{1,65536} "b"', [("W414", 1, 13)]),
        ('root ::= "a"{2001,65536} "b"', [("E013", 1, 13)]),
        ('root ::= [\\d\\w]+ "\\d"{4}', [("E007", 1, 11), ("E007", 1, 13), ("E007", 1, 19)]),
        ('root ::= ("a"{0,1000}){5} "b"', [("W414", 1, 23)]),
        ('root ::= ("a"{1000}){2} "b"', []),
        ('root ::= root "a" | "b"', [("I411", 1, 1)]),
        ('root ::= ("a" |)+ "b"', [("I411", 1, 17)]),
        ('root ::= "a" # kbnf: ignore[W101]\nx ::= "b" # kbnf: ignore[W101]', [("W003", 1, 29)]),
    ],
)
def test_findings(gbnf: str, findings: list[tuple[str, int, int]]) -> None:
    found = [
        (finding.code, *finding.source.position(finding.span.start)[1:])
        for finding in check(gbnf, "x.gbnf")
        if finding.code[:2] in {"E0", "E1", "W4", "I4"} or finding.code == "W003"
    ]
    assert found == findings


def test_deep_nesting_is_an_error() -> None:
    text = "root ::= " + "(" * 300 + '"a"' + ")" * 300
    assert [finding.code for finding in check(text, "x.gbnf")] == ["E012"]
