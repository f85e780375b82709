"""``kbnf fmt``."""

import os
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Result, Write

UGLY, NEAT, BROKEN = "a='x'", "a ::= 'x';\n", "a ::= ("


def test_writes_what_changes(kbnf: Kbnf, write: Write) -> None:
    ugly, neat = write("ugly.kbnf", UGLY), write("neat.kbnf", NEAT)
    before = neat.stat()
    result = kbnf("fmt", ".")
    assert (result.status, result.out) == (0, "")
    assert result.stderr == "reformatted: ugly.kbnf\n1 file reformatted, 1 file unchanged\n"
    assert ugly.read_text() == NEAT
    after = neat.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(os.listdir()) == ["neat.kbnf", "ugly.kbnf"]


def test_check_writes_nothing(kbnf: Kbnf, write: Write) -> None:
    ugly = write("ugly.kbnf", UGLY)
    result = kbnf("fmt", "--check", ugly)
    assert (result.status, result.out) == (1, "")
    assert "would be reformatted: ugly.kbnf" in result.stderr
    assert ugly.read_text() == UGLY


def test_check_is_content_with_neat_files(kbnf: Kbnf, write: Write) -> None:
    assert kbnf("fmt", "--check", write("neat.kbnf", NEAT)).status == 0


def test_diff_writes_nothing(kbnf: Kbnf, write: Write) -> None:
    ugly = write("ugly.kbnf", UGLY)
    result = kbnf("fmt", "--diff", ugly)
    assert (result.status, ugly.read_text()) == (1, UGLY)
    assert result.out.splitlines() == [
        "--- ugly.kbnf",
        "+++ ugly.kbnf",
        "@@ -1 +1 @@",
        "-a='x'",
        "\\ No newline at end of file",
        "+a ::= 'x';",
    ]


def test_stdin_goes_to_stdout(kbnf: Kbnf) -> None:
    assert kbnf("fmt", "-", stdin=UGLY.encode()) == Result(0, NEAT.encode(), "")
    assert kbnf("fmt", "-", stdin=NEAT.encode()).out == NEAT
    result = kbnf("fmt", "--check", "-", "--stdin-filename", "x.kbnf", stdin=UGLY.encode())
    assert (result.status, result.out) == (1, "")
    assert "x.kbnf" in result.stderr


@pytest.mark.parametrize("content", [BROKEN.encode(), b"\xff", b"a ::= 'x' b ::= 'y';"])
@pytest.mark.parametrize("options", [(), ("--check",), ("--diff",)])
def test_files_with_errors_are_left_alone(
    kbnf: Kbnf, write: Write, content: bytes, options: tuple[str, ...]
) -> None:
    broken, ugly = write("broken.kbnf", content), write("ugly.kbnf", UGLY)
    result = kbnf("fmt", *options, ".")
    assert result.status == 1
    assert "error[E" in result.stderr
    assert broken.read_bytes() == content
    assert (ugly.read_text() == NEAT) is (not options)


def test_other_languages_are_not_searched_for(kbnf: Kbnf, write: Write) -> None:
    write("a.gbnf", 'root ::= "a"')
    write("a.kbnf", UGLY)
    assert kbnf("fmt", ".").status == 0
    assert Path("a.gbnf").read_text() == 'root ::= "a"'


def test_links_and_modes_are_kept(kbnf: Kbnf, write: Write) -> None:
    file = write("real/a.kbnf", UGLY)
    file.chmod(0o600)
    Path("link.kbnf").symlink_to(file)
    assert kbnf("fmt", "link.kbnf").status == 0
    assert Path("link.kbnf").is_symlink()
    assert file.read_text() == NEAT
    assert file.stat().st_mode & 0o777 == 0o600


def test_missing_file(kbnf: Kbnf) -> None:
    assert kbnf("fmt", "missing.kbnf").status == 2


def test_another_language_is_known_by_its_extension(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("fmt", write("old.lark", 'root ::= "x"\n'))
    assert result.status == 1
    assert "E008" in result.stderr
    assert "`kbnf convert old.lark`" in result.stderr
