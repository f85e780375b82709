"""The JSON object has the published shape, and positions count what they say they count."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kbnf_core.text.diagnostics
from kbnf_core.text.diagnostics import CATALOGUE, Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.diagnostics.formats import findings_value, render_json
from kbnf_core.text.source import Source, Span

_FOLDER = Path(kbnf_core.text.diagnostics.__file__).parent
_SCHEMA = json.loads((_FOLDER / "check.schema.json").read_text(encoding="utf-8"))


def _everything(code: str) -> Diagnostic:
    source = Source("é你\n𝄞x", "dir/a.kbnf")
    edit = TextEdit(Span(4, 4), "\ud800")
    return Diagnostic(
        code, "m", source, Span(1, 4), "label", (Label(Span(4, 5), "x is here"),),
        ("note",), ("do this",), (Fix("fix", (edit,), safe=False),),
    )  # fmt: skip


@pytest.mark.parametrize("code", CATALOGUE)
def test_shape(code: str) -> None:
    value = json.loads(render_json([_everything(code)], files=1))
    Draft202012Validator(_SCHEMA).validate(value)


def test_values() -> None:
    value = findings_value([_everything("E101")], files=3)
    [finding] = value["diagnostics"]
    assert value["schema"] == "kbnf.check/1"
    assert value["summary"] == {"files": 3, "errors": 1, "warnings": 0, "infos": 0}
    assert finding["name"] == "undefined-nonterminal"
    assert finding["severity"] == "error"
    assert finding["path"] == "dir/a.kbnf"
    assert finding["span"] == {
        "start": {"offset": 2, "line": 1, "column": 2},
        "end": {"offset": 10, "line": 2, "column": 2},
    }
    assert finding["notes"] == ["x is here (line 2, column 2)", "note", "help: do this"]
    assert finding["fixes"][0]["safe"] is False
    assert finding["fixes"][0]["edits"][0]["span"]["start"]["offset"] == 10


def test_order_does_not_depend_on_the_order_found() -> None:
    findings = [_everything(code) for code in CATALOGUE]
    assert render_json(findings, 1) == render_json(findings[::-1], 1)


def test_text_in_no_file_has_no_path() -> None:
    value = findings_value([Diagnostic("E010", "m", Source(""), Span(0, 0))], files=1)
    assert value["diagnostics"][0]["path"] is None
    Draft202012Validator(_SCHEMA).validate(value)
