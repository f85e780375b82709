"""``kbnf lsp``, spoken with as an editor does."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pytest_lsp", reason="needs the extra `test`")

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from tests.lsp.conftest import Editor

pytestmark = pytest.mark.asyncio(loop_scope="module")

GRAMMAR = """\
(* kbnf: finish=eos *)
(* kbnf: accept "12" *)
(* kbnf: accept "x" *)
start ::= digit{1,9};
digit ::= #"[0-9]";
"""


def place(line: int, character: int) -> types.Position:
    return types.Position(line, character)


async def definition(editor: "Editor", name: str, asked: types.Position) -> types.Position:
    """Return where the only definition of what is at a place begins."""
    parameters = types.DefinitionParams(editor.at(name), asked)
    found = await editor.client.text_document_definition_async(parameters)
    assert isinstance(found, Sequence)
    (location,) = found
    assert isinstance(location, types.Location)
    return location.range.start


def shown(text: "types.Hover | None") -> str:
    assert text is not None
    assert isinstance(text.contents, types.MarkupContent)
    return text.contents.value


async def test_findings_have_code_severity_place_and_advice(editor: "Editor") -> None:
    (finding,) = await editor.check("a.kbnf", 'start ::= "😀" nmae;\n')
    assert finding.code == "E101"
    assert finding.severity is types.DiagnosticSeverity.Error
    assert (finding.range.start, finding.range.end) == (place(0, 15), place(0, 19))


async def test_findings_follow_the_typing(editor: "Editor") -> None:
    assert await editor.check("a.kbnf", "start ::= ;;\n")
    editor.type("a.kbnf", GRAMMAR)
    assert await editor.findings("a.kbnf") == []


async def test_the_newest_version_is_told_last(editor: "Editor") -> None:
    editor.open("a.kbnf", GRAMMAR)
    for index in range(50):
        editor.type("a.kbnf", GRAMMAR + "(* more *)" * index + "other ::= ;")
    editor.type("a.kbnf", GRAMMAR)
    # How many of the others come before it, the pace of the two processes decides.
    while await editor.findings("a.kbnf"):
        pass
    assert await editor.check("b.kbnf", "start ::= ;;\n")
    assert not editor.client.diagnostics.get(editor.uri("a.kbnf"))


async def test_names_lead_to_definitions_and_uses(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR)
    assert (await definition(editor, "a.kbnf", place(3, 11))) == place(4, 0)
    context = types.ReferenceContext(include_declaration=True)
    uses = types.ReferenceParams(context, editor.at("a.kbnf"), place(4, 2))
    places = await editor.client.text_document_references_async(uses) or []
    assert [each.range.start for each in places] == [place(3, 10), place(4, 0)]


async def test_answers_hold_while_the_text_is_broken(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR)
    editor.type("a.kbnf", GRAMMAR.replace("finish=eos *)", 'finish=eos *)\n"""((('))
    assert (await definition(editor, "a.kbnf", place(4, 11))) == place(5, 0)


async def test_rename_changes_every_use(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR)
    asked = types.RenameParams(editor.at("a.kbnf"), place(4, 0), "cipher")
    edit = await editor.client.text_document_rename_async(asked)
    assert edit is not None
    assert edit.changes is not None
    changes = edit.changes[editor.uri("a.kbnf")]
    assert [each.new_text for each in changes] == ["cipher", "cipher"]


@pytest.mark.parametrize("name", ["start", "no name", ""])
async def test_rename_refuses_what_would_break_the_grammar(editor: "Editor", name: str) -> None:
    await editor.check("a.kbnf", GRAMMAR)
    asked = types.RenameParams(editor.at("a.kbnf"), place(4, 0), name)
    with pytest.raises(JsonRpcException, match=r"not a name|defined already"):
        await editor.client.text_document_rename_async(asked)


@pytest.mark.parametrize("name", ["n" * 100_000, " " * 100_000, "a"])
async def test_what_rename_refuses_it_says_shortly(editor: "Editor", name: str) -> None:
    await editor.check("a.kbnf", GRAMMAR + f"a ::= 'a'; {'a' * 999} ::= a;")
    asked = types.RenameParams(editor.at("a.kbnf"), place(4, 0), name)
    with pytest.raises(JsonRpcException, match=r"too long|defined already") as refused:
        await editor.client.text_document_rename_async(asked)
    assert len(refused.value.message) < 200


async def test_hover_shows_rules_patterns_and_pages(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR.replace('"[0-9]"', '"\\\\d"'))

    async def hover(line: int, character: int) -> str:
        asked = types.HoverParams(editor.at("a.kbnf"), place(line, character))
        return shown(await editor.client.text_document_hover_async(asked))

    assert "digit ::=" in await hover(3, 11)
    assert "\\d" in await hover(4, 14)
    assert "I206" in await hover(4, 14)


FAMILY = """\
(* kbnf: finish=eos *)
start ::= line@0+;
line@n ::= ' '{@n} 'x\\n' block@>n?;
block@n ::= line@n+;
"""


async def test_the_rules_of_a_family_are_one_name(editor: "Editor") -> None:
    assert await editor.check("a.kbnf", FAMILY) == []
    assert await definition(editor, "a.kbnf", place(2, 27)) == place(3, 0)
    context = types.ReferenceContext(include_declaration=True)
    uses = types.ReferenceParams(context, editor.at("a.kbnf"), place(2, 1))
    places = await editor.client.text_document_references_async(uses) or []
    assert [each.range.start for each in places] == [place(1, 10), place(2, 0), place(3, 12)]
    hover = types.HoverParams(editor.at("a.kbnf"), place(1, 11))
    assert "line@n ::=" in shown(await editor.client.text_document_hover_async(hover))
    asked = types.RenameParams(editor.at("a.kbnf"), place(3, 13), "row")
    edit = await editor.client.text_document_rename_async(asked)
    assert edit is not None
    assert edit.changes is not None
    edits = edit.changes[editor.uri("a.kbnf")]
    # The numbers stay.
    ends = sorted((each.range.end for each in edits), key=lambda end: end.line)
    assert ends == [place(1, 14), place(2, 4), place(3, 16)]


async def test_fixes_are_offered_where_the_finding_is(editor: "Editor") -> None:
    findings = await editor.check("a.kbnf", GRAMMAR.replace('"[0-9]"', '"\\\\d"'))
    (finding,) = [each for each in findings if each.code == "I206"]
    context = types.CodeActionContext(findings)
    asked = types.CodeActionParams(editor.at("a.kbnf"), finding.range, context)
    actions = await editor.client.text_document_code_action_async(asked) or []
    titles = [action.title for action in actions]
    assert any("I206" in title for title in titles)
    elsewhere = types.CodeActionParams(
        editor.at("a.kbnf"), types.Range(place(0, 0), place(0, 1)), context
    )
    assert not await editor.client.text_document_code_action_async(elsewhere)


async def test_formatting_is_that_of_fmt(editor: "Editor") -> None:
    await editor.check("a.kbnf", "start   ::=    'x' ;")
    options = types.FormattingOptions(4, insert_spaces=True)
    asked = types.DocumentFormattingParams(editor.at("a.kbnf"), options)
    (edit,) = await editor.client.text_document_formatting_async(asked) or []
    assert edit.new_text == "start ::= 'x';\n"


async def test_examples_are_run_beside_their_comments(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR)
    # Their results come later, with findings that may arrive before anybody waits for them.
    async with asyncio.timeout(60):
        while not (marks := await _marks(editor)):
            await asyncio.sleep(0.05)
    assert marks == ["✓", "✗"]


async def _marks(editor: "Editor") -> list[str]:
    """Return how the examples' titles begin, as far as there are any."""
    asked = types.CodeLensParams(editor.at("a.kbnf"))
    lenses = await editor.client.text_document_code_lens_async(asked) or []
    return [lens.command.title[0] for lens in lenses if lens.command]


async def test_hints_tell_what_may_come(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR)
    whole = types.Range(place(0, 0), place(99, 0))
    asked = types.InlayHintParams(editor.at("a.kbnf"), whole)
    hints = await editor.client.text_document_inlay_hint_async(asked) or []
    assert [hint.label for hint in hints] == ["⟨0-9⟩", "⟨0-9⟩"]


async def test_symbols_and_completion(editor: "Editor") -> None:
    await editor.check("a.kbnf", GRAMMAR)
    asked = types.DocumentSymbolParams(editor.at("a.kbnf"))
    symbols = await editor.client.text_document_document_symbol_async(asked) or []
    assert [each.name for each in symbols] == ["start", "digit"]
    wanted = types.CompletionParams(editor.at("a.kbnf"), place(3, 10))
    items = await editor.client.text_document_completion_async(wanted)
    assert isinstance(items, list)
    assert {"digit", "start", "except!('')"} <= {item.label for item in items}


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.gbnf", "root ::= digit\ndigit ::= [0-9] nope\n", 1),
        ("a.lark", "start: digit\ndigit: /[0-9]/ nope\n", 1),
        ("a.bnf", "<start>::=<digit>\n<digit>::='1'<nope>\n", 1),
        ("a.abnf", "start = digit\ndigit = nope\n", 1),
    ],
)
async def test_every_language_is_served(editor: "Editor", name: str, text: str, line: int) -> None:
    findings = await editor.check(name, text)
    assert line in {each.range.start.line for each in findings if "nope" in each.message}
    column = text.index("digit")
    assert (await definition(editor, name, place(0, column))).line == 1


async def test_imports_are_followed_in_the_workspace_only(editor: "Editor") -> None:
    (editor.folder / "inside.lark").write_text('word: "x"\n')
    outside = editor.folder.parent.parent / "outside.lark"
    outside.write_text('word: "x"\n')
    (editor.folder / "linked.lark").symlink_to(outside)
    text = "%import .NAME.word\nstart: word\n"
    assert await editor.check("a.lark", text.replace("NAME", "inside")) == []
    assert await editor.check("b.lark", text.replace("NAME", "linked"))
    assert await editor.check("c.lark", text.replace("NAME", "..outside"))


async def test_settings_are_those_of_the_workspace_only(editor: "Editor") -> None:
    (editor.folder.parent.parent / "kbnf.toml").write_text('ignore = ["E"]\n')
    assert await editor.check("a.kbnf", "start ::= nope;")
    (editor.folder / "kbnf.toml").write_text('ignore = ["E101"]\n')
    assert await editor.check("b.kbnf", "start ::= nope;") == []


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "start ::= " + "(" * 5000 + "a",
        "\x00\ud7ff\u2028\r\r\n",
        '#"' * 5000,
        "a" * 10**6,
    ],
    ids=["brackets", "nested", "controls", "quotes", "long"],
)
async def test_no_text_ends_the_server(editor: "Editor", text: str) -> None:
    assert await editor.check("a.kbnf", text)
    editor.type("a.kbnf", GRAMMAR)
    assert await editor.findings("a.kbnf") == []


async def test_a_closed_file_has_no_findings(editor: "Editor") -> None:
    assert await editor.check("a.kbnf", "start ::= nope;")
    closed = types.DidCloseTextDocumentParams(editor.at("a.kbnf"))
    editor.client.text_document_did_close(closed)
    assert await editor.findings("a.kbnf") == []
