"""``kbnf check --fix`` and ``--diff``."""

import pytest

from kbnf_testing.command import Kbnf, Write

LIST = "start ::= items (* keep *) '.';\nitems ::= 'x' items | 'x'"
FIXED = "start ::= items (* keep *) '.';\nitems ::= 'x'+;"


def test_fix_writes_what_keeps_the_language(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", LIST)
    result = kbnf("check", "--fix", "--fail-on", "info", file)
    assert file.read_text(encoding="utf-8") == FIXED
    assert (result.status, result.out) == (0, "")
    assert result.stderr.startswith("2 findings fixed\n")


def test_unsafe_fixes_are_not_made_unasked(kbnf: Kbnf, write: Write) -> None:
    text = "start ::= '{' #'[ ]*' '}';\n"
    file = write("a.kbnf", text)
    assert kbnf("check", "--fix", "--fail-on", "warning", file).status == 1
    assert file.read_text(encoding="utf-8") == text
    assert kbnf("check", "--fix", "--unsafe-fixes", "--fail-on", "warning", file).status == 0
    assert file.read_text(encoding="utf-8") == "start ::= '{' #'[ ]{0,16}' '}';\n"


def test_diff_writes_nothing(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", LIST)
    result = kbnf("check", "--diff", file)
    assert file.read_text(encoding="utf-8") == LIST
    assert result.status == 1
    assert result.out.startswith("--- a.kbnf\n+++ a.kbnf\n")
    assert "+items ::= 'x'+;\n" in result.out


def test_diff_of_a_clean_file_is_empty(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("check", "--diff", write("a.kbnf", "start ::= 'a';\n"))
    assert (result.status, result.out) == (0, "")


def test_fixed_stdin_goes_to_stdout_and_findings_to_stderr(kbnf: Kbnf) -> None:
    stdin = (LIST + ";\nspare ::= 'x';\n").encode()
    result = kbnf("check", "--fix", "--format", "concise", "-", stdin=stdin)
    assert result.out == FIXED + "\nspare ::= 'x';\n"
    assert "W101" in result.stderr


def test_what_is_not_selected_is_not_fixed(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", LIST)
    kbnf("check", "--fix", "--ignore", "I110", file)
    assert file.read_text(encoding="utf-8") == LIST + ";"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_stay(kbnf: Kbnf, write: Write, line_end: str) -> None:
    text = f"\ufeffstart ::= 'a';{line_end}(* kbnf: ignore[W101] *) b ::= 'c'"
    file = write("a.kbnf", text)
    kbnf("check", "--fix", file)
    assert file.read_bytes().decode("utf-8") == text + ";"
