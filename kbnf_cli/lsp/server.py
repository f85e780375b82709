"""The server: the answer of each request. Texts are analysed in another process.

Tests: tests/lsp/test_server.py, tests/lsp/test_engines.py
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import JsonRPCRequestMessage
from pygls.uris import to_fs_path

from kbnf_cli.lsp import findings, navigation
from kbnf_cli.lsp.analysis import AnalysisRequest, format_text
from kbnf_cli.lsp.navigation import ClientPlaces, OpenView
from kbnf_cli.lsp.workshop import OpenText, Workshop
from kbnf_cli.worker import Unknown
from kbnf_core.languages import KBNF, language_of
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.source import Source, Span
from kbnf_core.version import __version__

_REFUSED = -32803
"""The protocol's RequestFailed: the message is for the user."""


ASK_ENGINES = "kbnf.askEngines"
"""The command that asks engines about a text, which its argument names by its URI."""

_MISFIT = "kbnf/misfit"
"""The method under which a request is answered whose parameters do not fit its own."""


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls, which drops requests that do not fit, answering those, too."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if not isinstance(data.get("id"), int | str) or "method" not in data:
                raise
            return JsonRPCRequestMessage(data["id"], _MISFIT, self.VERSION, None)


class KbnfServer(LanguageServer):
    """A language server with its workshop."""

    def __init__(self) -> None:
        # Whole texts: a client and a server that split lines differently cannot drift apart.
        full = types.TextDocumentSyncKind.Full
        super().__init__("kbnf", __version__, text_document_sync_kind=full, protocol_cls=_Protocol)
        self.workshop = Workshop(self._publish)

    def take(self, document: types.TextDocumentIdentifier) -> None:
        """Have the newest version of an open text looked at."""
        text = self.workspace.get_text_document(document.uri)
        request = AnalysisRequest(text.source, _path(document.uri), self._folders(), text.version)
        self.workshop.change(document.uri, request)

    def _folders(self) -> tuple[str, ...]:
        """Return the folders of the workspace, which older clients name as its root."""
        uris = [*self.workspace.folders] or [self.workspace.root_uri or ""]
        return tuple(path for uri in uris if uri and (path := to_fs_path(uri)) is not None)

    def view(self, document: types.TextDocumentIdentifier) -> OpenView | None:
        """Return an open text with the latest findings in it, None before the first ones."""
        entry = self.workshop.entry(document.uri)
        if entry is None or entry.analysis is None:
            return None
        return OpenView(entry, entry.analysis, self.encoding)

    async def current_view(self, document: types.TextDocumentIdentifier) -> OpenView | None:
        """Return an open text with the findings in its newest version, None without them."""
        entry = await self.workshop.current(document.uri)
        if entry is None or entry.analysis is None or not entry.is_current:
            return None
        return OpenView(entry, entry.analysis, self.encoding)

    @property
    def encoding(self) -> str:
        """The units in which the client counts columns."""
        encoding = self.workspace.position_encoding
        return "utf-16" if encoding is None else str(getattr(encoding, "value", encoding))

    async def _publish(self, uri: str, entry: OpenText) -> None:
        diagnostics = findings.diagnostics(entry, self.encoding, uri)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, entry.wanted.version)
        )
        if entry.analysis is not None and entry.analysis.trouble:
            message = types.LogMessageParams(types.MessageType.Warning, entry.analysis.trouble)
            self.window_log_message(message)
        await self._refresh()

    async def _refresh(self) -> None:
        """Have the client request again the data that it shows beside the text."""
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
    _serve_engines(server)
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

    @server.feature(_MISFIT)
    def _refuse(ls: KbnfServer, params: None) -> None:
        del ls, params
        raise JsonRpcInvalidParams("the parameters do not fit the method")

    @server.feature(types.SHUTDOWN)
    def _shutdown(ls: KbnfServer, params: None) -> None:
        del params
        ls.workshop.end()

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def _format(
        ls: KbnfServer, params: types.DocumentFormattingParams
    ) -> list[types.TextEdit] | None:
        entry = ls.workshop.entry(params.text_document.uri)
        if entry is None or language_of(entry.wanted.path) is not KBNF:
            return None
        asked = entry.wanted
        outcome = await ls.workshop.run(format_text, asked.text)
        if isinstance(outcome, Unknown):
            raise JsonRpcException(f"the text was not formatted: {outcome.reason.value}", _REFUSED)
        formatted = outcome.value
        if formatted is None or formatted == asked.text or entry.wanted is not asked:
            return None
        positions = ClientPlaces(Source(asked.text, asked.path), ls.encoding)
        return [types.TextEdit(positions.range(Span(0, len(asked.text))), formatted)]


def _serve_engines(server: KbnfServer) -> None:
    """Ask engines when somebody wants to know, never while a text is written: they take seconds."""

    @server.command(ASK_ENGINES)
    async def _ask(ls: KbnfServer, uri: str) -> int:
        """Show the findings of the installed engines about a text; return how many."""
        from kbnf_core.targets.check import ask_installed

        document = ls.workspace.get_text_document(uri)
        text, version = document.source, document.version
        path = _path(uri)
        try:
            checked, _ = await asyncio.to_thread(ask_installed, text, path)
        except KbnfError as error:
            raise JsonRpcException(str(error), _REFUSED) from None
        if ls.workspace.get_text_document(uri).source == text:
            entry = ls.workshop.entry(uri)
            shown = [] if entry is None else findings.diagnostics(entry, ls.encoding, uri)
            source = Source(text, path)
            shown += findings.of_engines(checked.findings, source, ls.encoding, uri)
            ls.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, shown, version)
            )
        return len(checked.findings)


def _serve_views(server: KbnfServer) -> None:
    """Answer requests about a text from its latest analysis."""

    def answer(feature: str, make: Callable[[OpenView, Any], Any], nothing: Any = ()) -> None:
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
            raise JsonRpcException("the text was not analysed: its names are not known", _REFUSED)
        uri = params.text_document.uri
        edits = navigation.rename(view, uri, params.position, params.new_name)
        if isinstance(edits, str):
            raise JsonRpcException(edits, _REFUSED)
        return edits
