"""The server: which request is answered by what. Texts are looked at in another process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from kbnf_cli.lsp import findings, navigation
from kbnf_cli.lsp.analysis import Request, format_text
from kbnf_cli.lsp.navigation import View
from kbnf_cli.lsp.workshop import Entry, Workshop
from kbnf_core.languages import KBNF, language_of
from kbnf_core.source import Span
from kbnf_core.version import __version__

_REFUSED = -32803
"""The protocol's RequestFailed: the message is for the user."""


class KbnfServer(LanguageServer):
    """A language server with its workshop."""

    def __init__(self) -> None:
        # Whole texts: a client and a server that split lines differently cannot drift apart.
        full = types.TextDocumentSyncKind.Full
        super().__init__("kbnf", __version__, text_document_sync_kind=full)
        self.workshop = Workshop(self._publish)

    def take(self, document: types.TextDocumentIdentifier) -> None:
        """Have the newest version of an open text looked at."""
        text = self.workspace.get_text_document(document.uri)
        folders = tuple(
            path for uri in self.workspace.folders if (path := to_fs_path(uri)) is not None
        )
        self.workshop.change(document.uri, Request(text.source, _path(document.uri), folders))

    def view(self, document: types.TextDocumentIdentifier) -> View | None:
        """Return an open text with what is known of it by now."""
        entry = self.workshop.entry(document.uri)
        return None if entry is None else View(entry, self._encoding)

    async def current_view(self, document: types.TextDocumentIdentifier) -> View | None:
        """Return an open text with all that is known of its newest version."""
        entry = await self.workshop.current(document.uri)
        return None if entry is None else View(entry, self._encoding)

    @property
    def _encoding(self) -> str:
        encoding = self.workspace.position_encoding
        return "utf-16" if encoding is None else str(getattr(encoding, "value", encoding))

    async def _publish(self, uri: str, entry: Entry) -> None:
        found = findings.diagnostics(View(entry, self._encoding), uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))
        if entry.analysis.trouble:
            message = types.LogMessageParams(types.MessageType.Warning, entry.analysis.trouble)
            self.window_log_message(message)
        await self._refresh()

    async def _refresh(self) -> None:
        """Have the client ask again for what it shows beside the text."""
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        if workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)


def make_server() -> KbnfServer:
    """Return a server that is ready to be started."""
    server = KbnfServer()
    _serve_texts(server)
    _serve_views(server)
    return server


def _path(uri: str) -> str:
    """Return the path of a document; one that is in no file keeps its name, for its extension."""
    return to_fs_path(uri) or Path(urlsplit(uri).path).name


def _serve_texts(server: KbnfServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _open(ls: KbnfServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.take(types.TextDocumentIdentifier(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def _change(ls: KbnfServer, params: types.DidChangeTextDocumentParams) -> None:
        ls.take(types.TextDocumentIdentifier(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def _close(ls: KbnfServer, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        ls.workshop.close(uri)
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @server.feature(types.SHUTDOWN)
    def _shutdown(ls: KbnfServer, params: None) -> None:
        del params
        ls.workshop.end()

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def _format(
        ls: KbnfServer, params: types.DocumentFormattingParams
    ) -> list[types.TextEdit] | None:
        view = ls.view(params.text_document)
        if view is None or language_of(view.source.path) is not KBNF:
            return None
        text = view.source.text
        formatted = await ls.workshop.run(format_text, text)
        now = ls.view(params.text_document)
        if formatted is None or formatted == text or now is None or now.source.text != text:
            return None
        return [types.TextEdit(view.places.range(Span(0, len(text))), formatted)]


def _serve_views(server: KbnfServer) -> None:
    """Answer what is asked of a text from what is known of it by now."""

    def answer(feature: str, make: Callable[[View, Any], Any], nothing: Any = ()) -> None:
        @server.feature(feature)
        def _answer(ls: KbnfServer, params: Any) -> Any:
            view = ls.view(params.text_document)
            return nothing if view is None else make(view, params)

    answer(
        types.TEXT_DOCUMENT_DEFINITION,
        lambda view, asked: navigation.definitions(view, asked.text_document.uri, asked.position),
    )
    answer(
        types.TEXT_DOCUMENT_REFERENCES,
        lambda view, asked: navigation.references(
            view, asked.text_document.uri, asked.position, asked.context.include_declaration
        ),
    )
    answer(
        types.TEXT_DOCUMENT_CODE_ACTION,
        lambda view, asked: findings.actions(view, asked.text_document.uri, asked.range),
    )
    answer(
        types.TEXT_DOCUMENT_HOVER, lambda view, asked: findings.hover(view, asked.position), None
    )
    answer(types.TEXT_DOCUMENT_INLAY_HINT, lambda view, asked: findings.hints(view, asked.range))
    answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda view, _: navigation.symbols(view))
    answer(types.TEXT_DOCUMENT_COMPLETION, lambda view, _: navigation.completions(view))
    answer(types.TEXT_DOCUMENT_CODE_LENS, lambda view, _: findings.lenses(view))

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    async def _rename(ls: KbnfServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
        view = await ls.current_view(params.text_document)
        if view is None:
            return None
        uri = params.text_document.uri
        edits = navigation.rename(view, uri, params.position, params.new_name)
        if isinstance(edits, str):
            raise JsonRpcException(edits, _REFUSED)
        return edits
