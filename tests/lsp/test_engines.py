"""Engines are asked by a command, and what they say is shown beside what was found."""

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pytest_lsp", reason="needs the extra `test`")
pytest.importorskip("llguidance")

from lsprotocol import types

from kbnf_cli.lsp.server import ASK_ENGINES
from kbnf_core.targets import ENGINE_NAMES, check, process
from kbnf_core.targets.check import ask_installed

if TYPE_CHECKING:
    from tests.lsp.conftest import Editor

SCHEMA = {"type": "string", "pattern": "^(?!b)c$"}


def test_what_engines_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "installed", lambda: ("llguidance",))
    checked, targets = ask_installed(json.dumps(SCHEMA), "a.schema.json")
    assert [each.code for each in checked.findings] == ["E503"]
    assert [each.name for each in targets] == ["llguidance"]
    tools = [{"name": "a", "input_schema": {"type": "object", "properties": {"x": SCHEMA}}}]
    rows = ask_installed(json.dumps(tools), "tools.json")[0].rows
    assert {(row.tool, row.target): row.verdict for row in rows} == {
        ("a", "llguidance"): "refuses",
        **{("a", name): "not installed" for name in ENGINE_NAMES if name != "llguidance"},
    }
    assert ask_installed("start ::= 'a';\n", "a.kbnf")[0].findings == ()
    assert ask_installed("start ::= ", "a.kbnf")[0] == check.Checked()


def test_where_none_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "installed", lambda: ())

    monkeypatch.setattr("kbnf_core.targets.engines.find_spec", lambda _: None)
    with pytest.raises(process.NotInstalledError, match="no engine is installed: pip install"):
        ask_installed("{}", "a.schema.json")


@pytest.mark.ci
@pytest.mark.asyncio(loop_scope="module")
async def test_the_command(editor: "Editor") -> None:
    await editor.check("a.kbnf", "start ::= 'a';\n")
    asked = types.ExecuteCommandParams(ASK_ENGINES, [editor.uri("a.kbnf")])
    assert await editor.client.workspace_execute_command_async(asked) == 0
