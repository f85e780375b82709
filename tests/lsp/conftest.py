"""An editor that starts ``kbnf lsp`` and speaks with it over stdio."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

pytest.importorskip("pytest_lsp", reason="needs the extra `test`")

import pytest_lsp
from lsprotocol import types
from pytest_lsp import (
    ClientServerConfig,
    LanguageClient,
    client_capabilities,
    make_test_lsp_client,
)

PATIENCE = 60


class Editor:
    """An editor that works in one folder."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self._version = 0

    def uri(self, name: str) -> str:
        """Return the URI of a file."""
        return (self.folder / name).as_uri()

    def at(self, name: str) -> types.TextDocumentIdentifier:
        """Return what names a file in a request."""
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str) -> None:
        """Open a file."""
        document = types.TextDocumentItem(self.uri(name), "kbnf", 0, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    def type(self, name: str, text: str) -> None:
        """Replace the text of an open file."""
        self._version += 1
        identifier = types.VersionedTextDocumentIdentifier(self._version, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(identifier, [change])
        )

    async def findings(self, name: str) -> list[types.Diagnostic]:
        """Return the next findings that the server tells of a file."""
        while True:
            await asyncio.wait_for(
                self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS),
                PATIENCE,
            )
            if self.uri(name) in self.client.diagnostics:
                return list(self.client.diagnostics.pop(self.uri(name)))

    async def check(self, name: str, text: str) -> list[types.Diagnostic]:
        """Open a file and return what the server finds."""
        self.open(name, text)
        return await self.findings(name)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lsp") / "workspace"
    folder.mkdir()
    return folder


def make_client() -> LanguageClient:
    """Return a client that asks again for lenses and hints when it is told to."""
    client = make_test_lsp_client()
    for feature in (types.WORKSPACE_CODE_LENS_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH):
        client.feature(feature)(lambda _: None)
    return client


SERVER = ClientServerConfig([sys.executable, "-m", "kbnf_cli", "lsp"], make_client)


@pytest_lsp.fixture(config=SERVER, scope="module", loop_scope="module")  # type: ignore[untyped-decorator]
async def client(lsp_client: LanguageClient, workspace: Path) -> AsyncIterator[None]:
    parameters = types.InitializeParams(
        client_capabilities("visual-studio-code"),
        workspace_folders=[types.WorkspaceFolder(workspace.as_uri(), "workspace")],
    )
    await lsp_client.initialize_session(parameters)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient, workspace: Path) -> Editor:
    """Return an editor with a folder of its own in the workspace."""
    return Editor(client, Path(mkdtemp(dir=workspace)))
