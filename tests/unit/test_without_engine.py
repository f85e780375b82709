"""What is said where the compiled engine is missing, and what works without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbnf_core.kernel import has_engine

RUN = """
from kbnf_testing.without_arrays import block
block({how!r})
"""
COMMAND = RUN + "from kbnf_cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
NOT_LOOKED_AT = "not checked without the compiled engine: "


def ran(program: str, *arguments: object, how: str = "uncompiled") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", program.format(how=how), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    file = tmp_path / "a.kbnf"
    file.write_text("start ::= 'a' ('b' | 'bc');\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(("how", "said"), [("uncompiled", "no compiled"), ("full", "compiled")])
def test_the_version_tells_whether_it_is_there(how: str, said: str) -> None:
    status, out, _ = ran(COMMAND, "--version", how=how)
    assert status == 0
    assert f"({said} engine, Python " in out


@pytest.mark.parametrize("format_", ["text", "json"])
def test_check_tells_what_it_did_not_look_at(grammar: Path, format_: str) -> None:
    arguments = ("check", "--no-cache", "--vocab", "bytes", "--cost", "--format", format_, grammar)
    status, out, said = ran(COMMAND, *arguments)
    assert status == 0
    assert "W307" not in out
    assert "I702" not in out
    assert f"{NOT_LOOKED_AT}W307, E601, and what `--vocab`, `--cost`" in said
    status, out, said = ran(COMMAND, *arguments, how="full")
    assert status == 0
    assert "W307" in out
    assert "I702" in out
    assert NOT_LOOKED_AT not in said


def test_what_a_text_in_bnf_says_of_a_vocabulary_is_not_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "a.bnf"
    file.write_text("<start>::=<except!([end])><end>\n<end>::='b'\n", encoding="utf-8")
    status, _, said = ran(COMMAND, "check", "--no-cache", "--vocab", "bytes", file)
    assert status == 0
    assert NOT_LOOKED_AT in said


def test_convert_tells_what_it_did_not_look_at(grammar: Path) -> None:
    arguments = ("convert", grammar, "--to", "gbnf", "--lossy")
    status, out, said = ran(COMMAND, *arguments)
    assert status == 0
    assert "root ::=" in out
    assert f"{NOT_LOOKED_AT}whether a text goes on to another" in said
    assert NOT_LOOKED_AT not in ran(COMMAND, *arguments, how="full")[2]


def test_nothing_is_left_out_of_what_becomes_kbnf(tmp_path: Path) -> None:
    file = tmp_path / "a.gbnf"
    file.write_text('root ::= "a"\n', encoding="utf-8")
    status, out, said = ran(COMMAND, "convert", file, "--to", "kbnf")
    assert status == 0
    assert "start ::=" in out
    assert NOT_LOOKED_AT not in said


@pytest.mark.parametrize(
    "command",
    [("mask",), ("match",), ("sample",), ("compile", "-o", "out.kbnfc"), ("diff",)],
)
def test_what_needs_it_ends_with_one_error(grammar: Path, command: tuple[str, ...]) -> None:
    more = (grammar,) if command == ("diff",) else ()
    status, out, said = ran(COMMAND, *command, grammar, *more)
    assert (status, out) == (2, "")
    assert said.startswith("error: this needs the compiled engine, which cannot be loaded (")
    assert "install Python's headers" in said
    assert len(said.splitlines()) == 1


LIBRARY = (
    RUN
    + """
import kbnf_core
from kbnf_core import Grammar, Vocabulary, KbnfError
from kbnf_core.text.errors import MissingEngineError
grammar = Grammar("start ::= 'a';")
print(len(Vocabulary.bytes().tokens), grammar.analysis.order, kbnf_core.check("start ::= 'a';"))
try:
    print(grammar.tables)
except KbnfError as error:
    print(type(error).__name__, isinstance(error, ImportError))
for name in ("Engine", "AcceptTokenResult", "fill_bitmasks"):
    try:
        print(getattr(kbnf_core, name))
    except KbnfError as error:
        print(type(error).__name__, isinstance(error, ImportError))
"""
)


def test_the_library_raises_one_error_of_its_family() -> None:
    status, out, said = ran(LIBRARY)
    assert (status, said) == (0, "")
    first, *others = out.splitlines()
    assert first == "256 ['start'] []"
    assert set(others) == {"MissingEngineError True"}


def test_the_tests_run_with_it() -> None:
    assert has_engine()
