"""Examples as people write them: in TOML files and in comments."""

import pytest

from kbnf_core import check
from kbnf_core.examples.cases import Example, ExampleError, Expectation, read_comments, read_toml
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.source import Source

FILE = """
accept = ["a", { text = "é" }, { hex = "ff 00", why = "bytes" }]
reject = [{ text = "b", why = "no b" }]

[[next]]
after = "a"
allowed = ["x", 7]
rejected = ["y"]
"""


def test_toml() -> None:
    assert read_toml(FILE, "f") == (
        Example("accept[0]", b"a", True),
        Example("accept[1]", "é".encode(), True),
        Example("accept[2]", b"\xff\x00", True, "bytes"),
        Example("reject[0]", b"b", False, "no b"),
        Expectation("next[0].allowed[0]", b"a", b"x", True),
        Expectation("next[0].allowed[1]", b"a", 7, True),
        Expectation("next[0].rejected[0]", b"a", b"y", False),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("accept = [", "f: "),
        ("accepted = []", "unknown key `accepted` in the file"),
        ("accept = 'a'", "`accept` is not a list"),
        ("accept = [1]", "accept[0] is not a text or a table"),
        ("reject = [{ txt = 'a' }]", "unknown key `txt` in reject[0]"),
        ("reject = [{ why = 'a' }]", "reject[0] needs a `text`"),
        ("reject = [{ text = 'a', hex = 'ff' }]", "reject[0] needs a `text`"),
        ("reject = [{ text = 'a', why = 1 }]", "`why` of reject[0] is not a text"),
        ("accept = [{ hex = 'f' }]", "`hex` of accept[0] is not made of hexadecimal digits"),
        ("next = [{ after = 1 }]", "`after` of next[0] is not a text"),
        ("next = [{ allowed = [-1] }]", "next[0].allowed[0] is neither"),
        ("next = [{ allowed = [true] }]", "next[0].allowed[0] is neither"),
    ],
)
def test_malformed_toml(text: str, reason: str) -> None:
    with pytest.raises(ExampleError, match=r"^f: ") as raised:
        read_toml(text, "f")
    assert reason in str(raised.value)


def in_comments(text: str) -> list[Example]:
    return list(read_comments(parse_kbnf(Source(text, "g.kbnf")).document))


def test_comments() -> None:
    text = """\
(* accept "nothing" *)
a ::= 'x'; (* kbnf: accept "x\\n" '\\u{e9}' *)
(* kbnf: reject "y"
   no  y *)
"""
    assert in_comments(text) == [
        Example("line 2", b"x\n", True),
        Example("line 2", "é".encode(), True),
        Example("line 3", b"y", False, "no y"),
    ]


@pytest.mark.parametrize(
    ("comment", "reason"),
    [("accept", "`accept` needs a quoted text"), ("reject '\\q'", "no such escape: \\q")],
)
def test_malformed_comments(comment: str, reason: str) -> None:
    with pytest.raises(ExampleError) as raised:
        in_comments(f"a ::= 'x';\n(* kbnf: {comment} *)")
    assert str(raised.value) == f"g.kbnf:2: {reason}"


def test_examples_are_no_unknown_pragmas() -> None:
    assert check("start ::= 'x'; (* kbnf: accept 'x' *) (* kbnf: reject 'finish=y' *)") == []
    assert [d.code for d in check("start ::= 'x'; (* kbnf: accepts 'x' *)")] == ["W002", "W002"]
