"""How long a language server's answers take, while somebody types in a text of 2,000 lines.

``python -m benchmarks.lsp``. Each answer is asked for right after a letter was typed.
"""

import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.client import LanguageClient

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LINES = 2_000
ROUNDS = 40
GRAMMAR = Path(__file__).resolve().parents[1] / "grammars" / "c_subset.kbnf"


def long_text() -> str:
    """Return a grammar of about ``LINES`` lines: one of this repository, again and again."""
    text = GRAMMAR.read_text(encoding="utf-8")
    names = [line.split()[0] for line in text.splitlines() if "::=" in line]
    parts = [text]
    for index in range(1, LINES // text.count("\n") + 1):
        part = "\n".join(line for line in text.splitlines() if "kbnf:" not in line)
        for name in sorted(names, key=len, reverse=True):
            part = part.replace(name, f"{name}_{index}")
        parts.append(part)
    return "\n".join(parts)


async def measure(folder: Path) -> dict[str, list[float]]:
    """Return the seconds that each answer took."""
    client = LanguageClient("benchmark", "1")
    await client.start_io(sys.executable, "-m", "kbnf_cli", "lsp")
    workspace = [types.WorkspaceFolder(folder.as_uri(), "benchmark")]
    parameters = types.InitializeParams(types.ClientCapabilities(), workspace_folders=workspace)
    await client.initialize_async(parameters)
    client.initialized(types.InitializedParams())
    uri, text = (folder / "long.kbnf").as_uri(), long_text()
    document = types.TextDocumentItem(uri, "kbnf", 0, text)
    told = asyncio.Event()
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda _: told.set())
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    await told.wait()
    here, middle = types.TextDocumentIdentifier(uri), text.count("\n") // 2
    where = types.Position(middle, 1)
    context = types.CodeActionContext([])
    screen = types.Range(types.Position(middle, 0), types.Position(middle + 50, 0))
    ask: dict[str, Callable[[], Awaitable[object]]] = {
        "hover": lambda: client.text_document_hover_async(types.HoverParams(here, where)),
        "definition": lambda: client.text_document_definition_async(
            types.DefinitionParams(here, where)
        ),
        "completion": lambda: client.text_document_completion_async(
            types.CompletionParams(here, where)
        ),
        "symbols": lambda: client.text_document_document_symbol_async(
            types.DocumentSymbolParams(here)
        ),
        "hints": lambda: client.text_document_inlay_hint_async(types.InlayHintParams(here, screen)),
        "lenses": lambda: client.text_document_code_lens_async(types.CodeLensParams(here)),
        "actions": lambda: client.text_document_code_action_async(
            types.CodeActionParams(here, screen, context)
        ),
    }
    taken: dict[str, list[float]] = {name: [] for name in (*ask, "findings")}
    begin = text.index(";", len(text) // 3)
    for index in range(ROUNDS):
        text = text[:begin] + " " + text[begin:]
        told.clear()
        typed = time.perf_counter()
        identifier = types.VersionedTextDocumentIdentifier(index + 1, uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        for name, call in ask.items():
            started = time.perf_counter()
            await call()
            taken[name].append(time.perf_counter() - started)
        if index % 4 == 0:
            await told.wait()
            taken["findings"].append(time.perf_counter() - typed)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    return taken


def main() -> None:
    """Print a table of milliseconds."""
    with TemporaryDirectory() as folder:
        taken = asyncio.run(measure(Path(folder)))
    print("| answer, ms | p50 | p95 | max |\n| --- | --- | --- | --- |")
    for name, seconds in taken.items():
        ordered = sorted(1000 * each for each in seconds)
        p50, p95 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.95))
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {ordered[-1]:.1f} |")


if __name__ == "__main__":
    main()
