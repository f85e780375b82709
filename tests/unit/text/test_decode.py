"""Bytes that are no text become one finding at the right place."""

import pytest

from kbnf_core.text.diagnostics import decode


def test_text_comes_out_as_it_is() -> None:
    source, invalid = decode("start ::= '你';\r\n".encode(), "a.kbnf")
    assert (source.text, source.path, invalid) == ("start ::= '你';\r\n", "a.kbnf", None)


@pytest.mark.parametrize(
    ("data", "message", "offset", "help_"),
    [
        (b"caf\xe9;", "byte 0xe9 at offset 3 is not valid UTF-8", 3, "save the file as UTF-8"),
        ("é\n".encode() + b"\xff\xfe", "byte 0xff at offset 3", 3, "save the file as UTF-8"),
        (b"\xe4\xbd", "byte 0xe4 at offset 0", 0, "save the file as UTF-8"),
        ("start".encode("utf-16"), "byte 0xff at offset 0", 0, "looks like UTF-16"),
        ("start".encode("utf-32"), "byte 0xff at offset 0", 0, "looks like UTF-32"),
        (b"\x7fELF\x00\x01\xff", "byte 0xff at offset 6", 6, "looks binary"),
    ],
)
def test_invalid(data: bytes, message: str, offset: int, help_: str) -> None:
    _, invalid = decode(data)
    assert invalid is not None
    assert invalid.code == "E009"
    assert invalid.message.startswith(message)
    assert invalid.source.position(invalid.span.start).offset == offset
    assert help_ in invalid.helps[0]
