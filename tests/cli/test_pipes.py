"""Commands in pipes: what one prints as lines, each of the others reads back as the same texts."""

import json
from itertools import product

import pytest

from kbnf_testing.command import Kbnf, Write

ODD = r"""(* kbnf: finish=eos *)
start ::= "\\n" | "a\n" | "\n\n" | ":q" | "# x" | "b " | "\"\\" | "é\u{2028}" | #b"\xff\n" | "\r";
"""
GRAMMARS = ("json", "csv", "sql", "odd.kbnf")
WRITERS = ("sample", "complete", "repair")
READERS = ("match", "parse", "complete", "repair")


def _written(kbnf: Kbnf, writer: str, grammar: str) -> bytes:
    lines = kbnf("sample", grammar).stdout
    if writer == "sample":
        return lines
    return kbnf(writer, grammar, "--escaped", stdin=lines).stdout


@pytest.mark.parametrize(("writer", "reader"), [*product(WRITERS, READERS)])
@pytest.mark.parametrize("grammar", GRAMMARS)
def test_lines_are_read_as_they_were_written(
    kbnf: Kbnf, write: Write, grammar: str, writer: str, reader: str
) -> None:
    write("odd.kbnf", ODD)
    texts = {
        each["hex"] for each in json.loads(kbnf("sample", grammar, "--format", "json").out)["texts"]
    }
    lines = _written(kbnf, writer, grammar)
    result = kbnf(reader, grammar, "--escaped", stdin=lines)
    assert result.status == 0
    assert len(lines.splitlines()) == len(texts)
    if reader in WRITERS:
        assert result.stdout == lines


def test_the_console_runs_what_is_sampled(kbnf: Kbnf, write: Write) -> None:
    write("odd.kbnf", ODD)
    for line in kbnf("sample", "odd.kbnf").stdout.splitlines(keepends=True):
        assert "finish" in kbnf("play", "odd.kbnf", stdin=line).out


def test_one_text_needs_no_option(kbnf: Kbnf) -> None:
    whole = kbnf("complete", "json", "--text", '{"a": [1').stdout
    for reader in READERS:
        assert kbnf(reader, "json", stdin=whole).status == 0


def test_lines_that_would_fit_with_their_escapes_are_said(kbnf: Kbnf) -> None:
    result = kbnf("match", "json", "--lines", stdin=b"[1,\\n2]\n")
    assert result.status == 1
    assert "--escaped" in result.stderr


def test_an_escape_without_a_meaning_is_an_error(kbnf: Kbnf) -> None:
    result = kbnf("match", "json", "--escaped", stdin=b"1\n\\xz\n")
    assert (result.status, "<stdin>:2" in result.stderr) == (2, True)
