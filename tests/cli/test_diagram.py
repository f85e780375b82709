"""``kbnf diagram``."""

import subprocess
import sys

import pytest

from kbnf_core.text.errors import install_command
from kbnf_testing.command import Kbnf, Write

GRAMMAR = "start ::= 'a' | b; b ::= 'c';"


@pytest.mark.parametrize(
    ("name", "options", "beginning"),
    [
        ("out.svg", (), "<svg "),
        ("out.html", (), "<!DOCTYPE html>"),
        ("out.HTM", (), "<!DOCTYPE html>"),
        ("out.txt", ("--format", "html"), "<!DOCTYPE html>"),
        ("out.html", ("--format", "svg"), "<svg "),
    ],
)
def test_file(
    kbnf: Kbnf, write: Write, name: str, options: tuple[str, ...], beginning: str
) -> None:
    file = write("g.kbnf", GRAMMAR)
    result = kbnf("diagram", file, "-o", name, *options)
    assert (result.status, result.out, result.stderr) == (0, "", f"wrote {name}\n")
    assert file.with_name(name).read_text(encoding="utf-8").startswith(beginning)


def test_stdin_to_stdout(kbnf: Kbnf) -> None:
    result = kbnf("diagram", "-", "--format", "html", "--start", "b", stdin=GRAMMAR.encode())
    assert result.status == 0
    assert 'b<span class="start">' in result.out


def test_other_languages(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("diagram", write("g.gbnf", 'root ::= "a" item?\nitem ::= "b"\n'))
    assert result.status == 0
    assert "#rule-item" in result.out


def test_unknown_extension(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("diagram", write("g.kbnf", GRAMMAR), "-o", "out.png")
    assert result.status == 2
    assert "name it .svg or .html" in result.stderr


@pytest.mark.parametrize("content", ["start ::= b;", b"\xff"])
def test_errors_leave_no_file(kbnf: Kbnf, write: Write, content: str | bytes) -> None:
    file = write("g.kbnf", content)
    assert kbnf("diagram", file, "-o", "out.svg").status == 1
    assert not file.with_name("out.svg").exists()


def test_the_missing_library_is_named(write: Write) -> None:
    file = write("g.kbnf", GRAMMAR)
    program = (
        "import sys; sys.modules['railroad'] = None; from kbnf_cli.main import main;"
        f"sys.exit(main(['diagram', {str(file)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert install_command("diagram") in done.stderr


def test_a_converted_grammar_has_diagrams_but_no_text_of_its_own(kbnf: Kbnf, write: Write) -> None:
    file = write("g.lark", 'start: item+\nitem: "b"\n')
    page = kbnf("diagram", file, "--format", "html").out
    assert 'id="rule-start"' in page
    assert "<pre>" not in page
