"""A grammar of patches for LLGuidance, without a mark, in every command, and as a custom tool."""

import json
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.data import PATCH

EDIT = "*** Begin Patch\n*** Edit: a.py\n@@ def f\n-x\n y\n+\n*** End Patch\n"


@pytest.fixture
def files(write: Write) -> None:
    text = PATCH.read_text("utf-8")
    grammar = {"type": "grammar", "syntax": "lark", "definition": text}
    write("patch.lark", text)
    tool = {"type": "custom", "name": "patch", "format": grammar}
    write("tool.json", json.dumps({"model": "m", "tools": [tool]}))
    write("edit.txt", EDIT)
    write("wrong.txt", EDIT.replace("@@", "@"))


@pytest.mark.parametrize("file", ["patch.lark", "tool.json"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check"], ""),
        (["convert"], "*** Begin Patch"),
        (["convert", "--to", "gbnf"], "root ::= "),
        (["explain"], "Begin Patch"),
        (["mask", "--text", "*** Begin Patch\n*** E"], "d"),
        (["sample", "-n", "3", "--seed", "1"], "*** Begin Patch"),
        (["diagram"], "<svg"),
        (["match", "edit.txt"], "fits"),
        (["parse", "edit.txt"], "start 0-61"),
        (["complete", "cut.txt"], "*** End Patch"),
        (["compile", "-o", "patch.artifact"], ""),
        (["diff", "patch.lark"], ""),
        (["play", "-c", "*"], "ongoing"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
@pytest.mark.usefixtures("files")
def test_every_command_takes_a_grammar_of_patches(
    kbnf: Kbnf, file: str, arguments: list[str], told: str
) -> None:
    Path("cut.txt").write_text(EDIT[:-18], "utf-8")
    command, *rest = arguments
    result = kbnf(command, file, *rest)
    assert result.status == 0, result.stderr
    assert told in result.out + result.stderr


@pytest.mark.usefixtures("files")
def test_a_custom_tool_written_as_lark_is_its_grammar(kbnf: Kbnf) -> None:
    written = kbnf("convert", "tool.json", "--to", "lark", "-o", "tool.lark")
    assert written.status == 0, written.stderr
    assert kbnf("diff", "tool.lark", "patch.lark").status == 0


@pytest.mark.parametrize("file", ["patch.lark", "tool.json"])
@pytest.mark.usefixtures("files")
def test_what_is_no_patch_is_told_where(kbnf: Kbnf, file: str) -> None:
    result = kbnf("match", file, "wrong.txt")
    assert result.status == 1
    assert "wrong.txt" in result.out + result.stderr
