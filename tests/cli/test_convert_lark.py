"""``kbnf convert-lark``, in both directions."""

import json
from pathlib import Path

from kbnf_testing.command import Kbnf


def test_lark_to_kbnf_and_back(kbnf: Kbnf) -> None:
    Path("a.lark").write_text('start: "if" ID ";"\nID: /[a-z]+/\n%ignore " "\n', "utf-8")
    assert kbnf("convert-lark", "a.lark", "-o", "a.kbnf").status == 0
    assert "finish=eos" in Path("a.kbnf").read_text("utf-8")
    back = kbnf("convert-lark", "a.kbnf")
    assert back.status == 0
    assert "start: " in back.out


def test_losses_are_shown_and_nothing_is_written(kbnf: Kbnf) -> None:
    Path("a.lark").write_text('start: /[a-z]/+ "b"\n', "utf-8")
    options = ["convert-lark", "a.lark", "--lexing", "lalr", "--format", "json"]
    strict = kbnf(*options)
    value = json.loads(strict.out)
    assert (strict.status, value["output"]) == (1, None)
    assert {loss["code"] for loss in value["losses"]} == {"W421"}
    assert kbnf(*options, "--lossy").status == 0
