"""``kbnf convert-abnf``, and other commands with a file in ABNF."""

from pathlib import Path

import pytest

from kbnf_cli.main import main
from kbnf_core.convert import from_abnf
from kbnf_testing.data import DATA

JSON = DATA / "abnf" / "json.abnf"
TEXT = JSON.read_text("utf-8")


def test_result_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert-abnf", str(JSON)]) == 0
    assert capsys.readouterr().out == from_abnf(TEXT, path=str(JSON)).text


def test_start_rule_of_the_original(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert-abnf", "--start", "NUMBER", str(JSON)]) == 0
    assert "start ::= [minus] int [frac] [exp];" in capsys.readouterr().out


def test_errors_are_those_of_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.abnf"
    file.write_text("a = <some text>\n", encoding="utf-8")
    assert main(["convert-abnf", str(file)]) == 1
    assert "error[E431]" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 1
    assert "error[E431]" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["json.abnf", "JSON.ABNF"])
def test_mask_after_a_prefix(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    file.write_text(TEXT, encoding="utf-8")
    assert main(["mask", str(file), "--text", '{"a"', "--format", "ids"]) == 0
    assert sorted(map(int, capsys.readouterr().out.split())) == sorted(b" \t\n\r:")


def test_play(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", str(JSON), "-c", ":text [1", "-c", ":text ]", "-c", ":text ]"]) == 1
    assert "]" in capsys.readouterr().out
