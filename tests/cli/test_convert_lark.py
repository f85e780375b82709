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


def test_explanations_name_terminals_as_they_were_written(kbnf: Kbnf) -> None:
    text = 'start: (WORD | TAG)+\nWORD: /[a-z]+/\nTAG: /[a-z]+[0-9]?/\n%ignore " "\n'
    Path("two.lark").write_text(text, "utf-8")
    for rule in ([], ["TAG"]):
        shown = kbnf("explain", "two.lark", *rule)
        assert "TAG" in shown.out
        assert "TAG_2" not in shown.out
        assert "rounds0" not in shown.out


def test_gbnf_under_the_name_that_llguidance_gave_it_is_converted(kbnf: Kbnf) -> None:
    Path("old.lark").write_text('root ::= "a" b\nb ::= [0-9]+\n', "utf-8")
    result = kbnf("convert-gbnf", "old.lark")
    assert (result.status, "start ::= 'a' b;" in result.out) == (0, True)


INDENTED = 'start: "a" _NL [_INDENT start _DEDENT]\n_NL: /\\n */\n%declare _INDENT _DEDENT\n'
CLASS = """\
from lark.indenter import PythonIndenter

print("imported")


class Own(PythonIndenter):
    NL_type = "_NL"
"""


def test_an_indenter_is_a_class_of_the_current_folder(kbnf: Kbnf) -> None:
    Path("a.lark").write_text(INDENTED, "utf-8")
    Path("own_indenter.py").write_text(CLASS, "utf-8")
    converted = kbnf("convert-lark", "a.lark", "--indenter", "own_indenter:Own")
    assert converted.status == 0
    assert "@>n" in converted.out
    for name in ("nothing:Own", "own_indenter:Other", "os:path"):
        assert kbnf("convert-lark", "a.lark", "--indenter", name).status == 2


def test_settings_of_a_folder_import_no_indenter(kbnf: Kbnf) -> None:
    Path("a.lark").write_text(INDENTED, "utf-8")
    Path("settings_indenter.py").write_text(CLASS, "utf-8")
    for settings in (
        'indenter = "settings_indenter:Own"\n',
        '[check]\nindenter = "settings_indenter:Own"\n',
    ):
        Path("kbnf.toml").write_text(settings, "utf-8")
        result = kbnf("check", "a.lark")
        assert result.status == 2
        assert "imported" not in result.out
