"""Which files a directory stands for."""

from pathlib import Path

import pytest

from kbnf_cli.files import FileChoice, find_grammars, write_text
from kbnf_testing.command import Write

KBNF = FileChoice((".kbnf",))


def _found(*paths: str) -> list[str]:
    return [path.as_posix() for path in find_grammars(map(Path, paths), lambda _: None, KBNF)]


def test_hidden_entries_and_other_extensions_are_left_out(write: Write) -> None:
    for name in ("b.kbnf", "a/c.kbnf", ".hidden.kbnf", ".venv/d.kbnf", "e.txt"):
        write(name, "")
    assert _found(".") == ["a/c.kbnf", "b.kbnf"]


def test_named_file_is_taken_whatever_it_is_called(write: Write) -> None:
    write("grammar.txt", "")
    assert _found("grammar.txt", "-") == ["-", "grammar.txt"]


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ({".gitignore": "b.kbnf"}, ["a.kbnf", "sub/c.kbnf"]),
        ({".gitignore": "sub/"}, ["a.kbnf", "b.kbnf"]),
        ({".gitignore": "*.kbnf\n!a.kbnf\n"}, ["a.kbnf"]),
        ({".gitignore": "*.kbnf", "sub/.gitignore": "!*.kbnf"}, ["sub/b.kbnf", "sub/c.kbnf"]),
        ({"sub/.gitignore": "/b.kbnf"}, ["a.kbnf", "b.kbnf", "sub/c.kbnf"]),
    ],
)
def test_gitignore(write: Write, rules: dict[str, str], found: list[str]) -> None:
    for name in ("a.kbnf", "b.kbnf", "sub/b.kbnf", "sub/c.kbnf"):
        write(name, "")
    for name, content in rules.items():
        write(name, content)
    assert _found(".") == found


def test_gitignore_of_the_repository_counts_below(write: Write, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(".gitignore", "made.kbnf\nbuild/\n")
    for name in ("sub/a.kbnf", "sub/made.kbnf", "sub/build/b.kbnf"):
        write(name, "")
    assert _found("sub") == ["sub/a.kbnf"]


def test_ignored_directory_that_is_named_is_searched(write: Write, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(".gitignore", "build/\n")
    write("build/a.kbnf", "")
    assert _found("build") == ["build/a.kbnf"]


def test_gitignore_above_the_repository_does_not_count(write: Write, tmp_path: Path) -> None:
    write(".gitignore", "*.kbnf")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    write("repo/a.kbnf", "")
    assert _found("repo") == ["repo/a.kbnf"]


def test_link_to_a_directory_is_not_followed(write: Write, tmp_path: Path) -> None:
    write("sub/a.kbnf", "")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    assert _found(".") == ["sub/a.kbnf"]


def test_directory_without_grammars(write: Write) -> None:
    write("sub/a.txt", "")
    said: list[str] = []
    assert find_grammars([Path("sub")], said.append, KBNF) == []
    assert said == ["warning: sub: the directory contains no grammar (*.kbnf)"]


def test_atomic_write_keeps_the_old_file_when_it_fails(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = write("out.txt", "old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(file, "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
