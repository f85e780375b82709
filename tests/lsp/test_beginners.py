"""The first grammars of ``tests/golden/beginners``, brought into order by quick fixes alone."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pytest_lsp", reason="needs the extra `test`")

from lsprotocol import types

from kbnf_core import check
from kbnf_testing.pages import ROOT

if TYPE_CHECKING:
    from tests.lsp.conftest import Editor

pytestmark = [pytest.mark.ci, pytest.mark.asyncio(loop_scope="module")]

FILES = sorted((ROOT / "tests/golden/beginners").glob("*.txt"))
MOST_FIXES = 40


def beginners_text(golden: str) -> str:
    lines = golden.partition("$ ")[0].splitlines()
    return "".join(f"{line[2:]}\n" for line in lines if line.startswith("| "))


def index_of(text: str, position: types.Position) -> int:
    """Return the index of a position, in a text within Unicode's first plane."""
    return sum(map(len, text.splitlines(keepends=True)[: position.line])) + position.character


def edited(text: str, edits: list[types.TextEdit]) -> str:
    for edit in sorted(edits, key=lambda each: index_of(text, each.range.start), reverse=True):
        start, end = index_of(text, edit.range.start), index_of(text, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


async def fix(editor: "Editor", name: str, text: str, errors: list[types.Diagnostic]) -> str:
    """Return a text with the first fix that is offered for one of its errors."""
    for error in errors:
        asked = types.CodeActionParams(
            editor.at(name), error.range, types.CodeActionContext(errors)
        )
        for action in await editor.client.text_document_code_action_async(asked) or []:
            assert isinstance(action, types.CodeAction)
            if action.edit is not None and action.edit.changes is not None:
                return edited(text, [*action.edit.changes[editor.uri(name)]])
    pytest.fail(f"no fix for {errors}")


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
async def test_quick_fixes_lead_to_a_usable_grammar(editor: "Editor", file: Path) -> None:
    text = beginners_text(file.read_text(encoding="utf-8"))
    found = await editor.check("a.kbnf", text)
    assert [each.code for each in found] == [each.code for each in check(text)]
    for _ in range(MOST_FIXES):
        errors = [each for each in found if each.severity is types.DiagnosticSeverity.Error]
        if not errors:
            return
        text = await fix(editor, "a.kbnf", text, errors)
        editor.type("a.kbnf", text)
        found = await editor.findings("a.kbnf")
    pytest.fail(f"still wrong: {found}")
