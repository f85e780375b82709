"""Grammars of RFCs: they are read without an error, and accept what the RFCs show."""

import json
from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.convert import from_abnf
from kbnf_testing.data import DATA
from kbnf_testing.membership import Language

FILES = sorted((DATA / "abnf").glob("*.abnf"))


def language(name: str, start: str | None = None) -> Language:
    return Language(from_abnf((DATA / "abnf" / name).read_text("utf-8"), start=start).text)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_error_is_found(file: Path) -> None:
    found = check(file.read_text("utf-8"), str(file))
    assert [each for each in found if each.code.startswith("E")] == []


VALUES = [
    {},
    [],
    [1, -0.5, 1e30, None, True, False],
    {"a": {"b": ['\u00e9\n"\\', ""]}},
    "\U0001f600",
]


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_accepts_what_is_json(value: object, indent: int | None) -> None:
    grammar = language("json.abnf")
    for is_ascii in (True, False):
        assert grammar.has(json.dumps(value, indent=indent, ensure_ascii=is_ascii))


@pytest.mark.parametrize(
    "text", ["", "01", "1.", "[1,]", "{1: 2}", '"\t"', "True", "nul", '"\\x"', "1 2", '"\\u12g4"']
)
def test_json_refuses_what_is_none(text: str) -> None:
    assert not language("json.abnf").has(text)


def test_strings_of_abnf() -> None:
    grammar = language("strings.abnf")
    for text in ('"x"', '%i"aBc"', '%S""', '%s" ~"'):
        assert grammar.has(text)
    for text in ("'x'", '%d"x"', '"a"b"', '"\t"'):
        assert not grammar.has(text)


def test_accept_of_http() -> None:
    grammar = language("accept.abnf")
    for text in (
        "audio/*; q=0.2, audio/basic",
        "text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c",
        "text/*, text/plain, text/plain;format=flowed, */*",
        'a/b;c="\\" d"',
        b'a/b;c="\xe9"',
    ):
        assert grammar.has(text)
    for text in ("text", "text/plain,", "te xt/plain", "a/b;q", "*/plain/x", 'a/b;c="'):
        assert not grammar.has(text)


def test_status_line_of_http() -> None:
    grammar = language("chunked.abnf")
    for text in ("HTTP/1.1 200 OK", "HTTP/1.1 404 ", b"HTTP/1.0 500 \xe9"):
        assert grammar.has(text)
    for text in ("http/1.1 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 200", "HTTP/1.1 200 \n"):
        assert not grammar.has(text)


def test_chunks_of_http() -> None:
    grammar = language("chunked.abnf", "CHUNKED-body")
    assert grammar.has(b"4\r\nWiki\r\n1;a=b\r\n\xff\r\n0\r\nTrailer: x\r\n\r\n")
    assert not grammar.has(b"4\r\nWiki\r\n0\r\n")
