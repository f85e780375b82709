"""What quoted texts spell: spec section 1.1, and where each character is."""

import pytest

from kbnf_core.kbnf.escapes import decode, decode_bytes
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.kbnf.tree import ByteString, Terminal
from kbnf_core.text.source import Source, Span

SPELLINGS = [
    ("", ""),
    ("abc", "abc"),
    (r"\t\n\r", "\t\n\r"),
    (r"\b\f\/", "\b\f/"),
    (r"\\", "\\"),
    (r"\'\"", "'\""),
    (r"\x41\xff\xFF", "A\xff\xff"),
    (r"\u0041\u4f60", "A你"),
    (r"\u{41}\u{1F600}\u{0000000041}", "A😀A"),
    (r"\0", "\0"),
    (r"\7", "\7"),
    (r"\101", "A"),
    (r"\377", "\xff"),
    (r"\477", "\x277"),
    (r"\08", "\0" + "8"),
    (r"\1234", "S4"),
    ("a\nb", "a\nb"),
    ("你好", "你好"),
]

BAD = [
    r"\a", r"\v", r"\e", r"\d", r"\s", r"\8", r"\U", r"\ ", "\\\n", r"\x4", r"\xg0", r"\u123",
    r"\u{}", r"\u{110000}", r"\u{d800}", r"\ud83d", r"\ud83d\ude00",
]  # fmt: skip


@pytest.mark.parametrize(("written", "value"), SPELLINGS)
@pytest.mark.parametrize("mark", ["", "#", "#e", "#ex", "#substrs", "#token"])
def test_every_string_knows_the_same_escapes(written: str, value: str, mark: str) -> None:
    parsed = parse_kbnf(Source(f"a ::= {mark}'{written}';"))
    assert parsed.diagnostics == ()
    body = parsed.document.definitions[0].body
    assert getattr(body, "text").value == value  # noqa: B009 - all of these forms have one


@pytest.mark.parametrize("written", BAD)
@pytest.mark.parametrize("mark", ["", "#", "#b", "#token"])
def test_what_is_no_escape_is_one_finding(written: str, mark: str) -> None:
    parsed = parse_kbnf(Source(f"a ::= {mark}'{written}';\nb ::= 'x';"))
    assert [finding.code for finding in parsed.diagnostics] == ["E007"]
    start = len("a ::= '") + len(mark)
    assert parsed.diagnostics[0].span.start == start
    assert parsed.document.broken_names == {"a"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"\xff\x00", b"\xff\x00"),
        (r"\u00ff", b"\xc3\xbf"),
        (r"\377", b"\xc3\xbf"),
        ("é", b"\xc3\xa9"),
        (r"a\n", b"a\n"),
    ],
)
def test_hexadecimal_escapes_are_bytes_in_byte_strings_only(written: str, value: bytes) -> None:
    assert decode_bytes(f"'{written}'", 0) == value
    body = parse_kbnf(Source(f'a ::= #b"{written}";')).document.definitions[0].body
    assert isinstance(body, ByteString)
    assert body.value == value


def test_every_character_knows_where_it_is_spelled() -> None:
    value, origins = decode(r"'a\n\u{41}b\x42'", 10)
    assert value == "a\nAbB"
    assert origins == (11, 12, 14, 20, 21, 25)


def test_texts_tell_the_span_of_a_part() -> None:
    body = parse_kbnf(Source(r"a ::= 'x\u{41}y';")).document.definitions[0].body
    assert isinstance(body, Terminal)
    assert body.text.spell(1, 2) == Span(8, 14)
    assert body.text.spell(2, 3) == Span(14, 15)
    assert body.text.spell(3, 9) == Span(15, 15)
