"""The server of the page: which requests are answered, and how.

A page from elsewhere, or a name that was made to lead here (DNS rebinding), must learn and cause
nothing: ``Host`` and ``Origin`` have to be our own, and everything but the page itself needs the
token, which only the user that started the server has. There are no WebSockets, no cookies and
no CORS, and no path of a file is ever made from a request: a vocabulary that is opened on the page
is written to a folder of the server's own, under a number.

Tests: tests/web/test_server.py, tests/web/test_process.py
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kbnf_cli.web import answers
from kbnf_cli.web.answers import BadQuestionError, Question, VocabularyName, read_question
from kbnf_cli.web.engine_answers import answer, try_vocabulary
from kbnf_cli.worker import KnownResult, Worker
from kbnf_core.targets.process import installed

TOKEN_HEADER = "X-Kbnf-Token"
NAME_HEADER = "X-Kbnf-Name"

PATIENCE = 10.0
"""Seconds that an answer, or any part of a request, may take."""

LONG_PATIENCE = 60.0
"""The same for questions to other engines."""

MAX_BODY = 2_000_000
"""Bytes of a request: the largest grammar and a large list of texts, with escapes."""

MAX_VOCABULARY = 64 * 2**20
"""Bytes of a vocabulary that is opened on the page."""

MAX_OPENED = 16
"""Vocabularies that are opened on the page, in all."""

MAX_WAITING = 8
"""Questions that wait for the worker."""

MAX_REQUESTS = 64
"""Requests that are answered at once."""

MAX_CONNECTIONS = 256
"""Connections; with more of them, one without a request is closed."""

_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

_ASSETS = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/editor.js": ("editor.js", "text/javascript"),
    "/links.js": ("links.js", "text/javascript"),
    "/words.js": ("words.js", "text/javascript"),
    "/backend.js": ("backend.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of the server; ``host`` is the value of ``--host``."""

    host: str
    port: int

    def is_own(self, host: str | None) -> bool:
        """Return whether a ``Host`` header names this server, rather than a name made to lead here.

        Where it listens at all addresses, each of them does; names but ``localhost`` do not.
        """
        name, _, port = (host or "").rpartition(":")
        if port != str(self.port):
            return False
        own = {"127.0.0.1", "localhost", "[::1]", _bracketed(self.host)}
        return name in own or (self.host in ("0.0.0.0", "::") and _is_address(name))  # noqa: S104

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{_bracketed(self.host)}:{self.port}/"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class Guard:
    """Lets requests of our own page through; refuses all others, WebSockets included."""

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        self._app = app
        self._address = address
        self._token = token.encode()
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        self._requests += 1
        try:
            await (refusal or self._app)(scope, receive, send_guarded)
        finally:
            self._requests -= 1

    def _refusal(self, scope: Scope) -> Response | None:
        if self._requests >= MAX_REQUESTS:
            return PlainTextResponse("too many requests at once\n", 503)
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._address.is_own(hosts[0]):
            return PlainTextResponse("this Host is not served\n", 421)
        is_ours = origins == [f"http://{hosts[0]}"]
        if scope["path"] in _ASSETS and not origins:
            return None
        if not is_ours:
            return PlainTextResponse("only the page that is served here may ask\n", 403)
        if scope["path"] in _ASSETS:
            return None
        given = headers.get(TOKEN_HEADER, "").encode("latin-1")
        if not hmac.compare_digest(given, self._token):
            return PlainTextResponse("the token is missing or wrong\n", 401)
        return None


class Connection(H11Protocol):
    """A connection to a client, closed where no request comes: it may keep nobody else out."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request; make room for it."""
        super().connection_made(transport)
        self._expect_a_request()
        if len(self.connections) > MAX_CONNECTIONS:
            idle = (
                connection
                for connection in self.connections
                if connection is not self and _is_idle(connection)
            )
            next(idle, self).transport.abort()

    def on_response_complete(self) -> None:
        """Expect another request."""
        super().on_response_complete()
        self._expect_a_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def _expect_a_request(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(PATIENCE, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if _is_idle(self):
            self.transport.abort()


def _is_idle(connection: Any) -> bool:
    """Return whether a connection has no request with all its headers."""
    if connection.transport.is_closing():
        return False
    return connection.cycle is None or connection.cycle.response_complete


class Desk:
    """Answers questions one after the other, in a process that may end without harm."""

    def __init__(self, begin: Mapping[str, Any], vocabularies: dict[str, VocabularyName]) -> None:
        self._begin = {**answers.begin(), **begin, "targets": installed()}
        self._vocabularies = dict(vocabularies)
        self._given = len(vocabularies)
        self._folder = TemporaryDirectory(prefix="kbnf-play-")
        self._numbers = count()
        self._worker = Worker(PATIENCE, PATIENCE)
        # Other engines are slow to start: with a worker of their own, other requests need not wait.
        self._engines = Worker(LONG_PATIENCE, LONG_PATIENCE)
        self._waiting = 0

    async def begin(self, _: Request) -> Response:
        """Return the data that the page starts with."""
        return JSONResponse({**self._begin, "vocabularies": list(self._vocabularies)})

    async def ask(self, request: Request) -> Response:
        """Answer a question about a grammar."""
        try:
            async with asyncio.timeout(PATIENCE):
                value = json.loads(await _body(request, MAX_BODY))
            question = read_question(value, self._vocabularies)
        except _TooLargeError:
            return PlainTextResponse("this is too large\n", 413)
        except (TimeoutError, ClientDisconnect):
            return PlainTextResponse("this took too long\n", 408)
        except BadQuestionError as error:
            return PlainTextResponse(f"{error}\n", 400)
        except (ValueError, RecursionError):
            return PlainTextResponse("this is not JSON\n", 400)
        if self._waiting >= MAX_WAITING:
            return PlainTextResponse("too many questions at once\n", 503)
        self._waiting += 1
        try:
            return JSONResponse(await self._answer(question))
        finally:
            self._waiting -= 1

    async def open_vocabulary(self, request: Request) -> Response:
        """Add a vocabulary, which is the request's body, under the name in its header."""
        number = len(self._vocabularies) - self._given
        if number >= MAX_OPENED or self._waiting >= MAX_WAITING:
            return PlainTextResponse("too many vocabularies\n", 503)
        label = unquote(request.headers.get(NAME_HEADER, ""))[:_MAX_LABEL] or "vocabulary"
        # Several may arrive at once: each has a file of its own from here on.
        file = Path(self._folder.name, str(next(self._numbers)))
        self._waiting += 1
        try:
            async with asyncio.timeout(LONG_PATIENCE):
                data = await _body(request, MAX_VOCABULARY)
            await asyncio.to_thread(file.write_bytes, data)
            outcome = await self._worker.run(try_vocabulary, (str(file), ()))
        except _TooLargeError:
            return PlainTextResponse("this is too large\n", 413)
        except (TimeoutError, ClientDisconnect):
            return PlainTextResponse("this took too long\n", 408)
        finally:
            self._waiting -= 1
        reason = outcome.value if isinstance(outcome, KnownResult) else outcome.reason.value
        if reason:
            file.unlink()
            return JSONResponse({"trouble": f"{label} cannot be used: {reason}"})
        while label in self._vocabularies:
            label += "'"
        self._vocabularies[label] = (str(file), ())
        return JSONResponse({"vocabularies": list(self._vocabularies), "opened": label})

    async def _answer(self, question: Question) -> dict[str, Any]:
        worker = self._engines if question.show == "targets" else self._worker
        outcome = await worker.run(answer, question)
        if isinstance(outcome, KnownResult):
            return outcome.value
        seconds = f"{worker.patience:.0f} seconds"
        trouble = f"not all of this is known after {seconds}: {outcome.reason.value}"
        return {**(outcome.so_far or {}), "trouble": trouble}

    def end(self) -> None:
        """End the processes."""
        self._worker.end()
        self._engines.end()
        self._folder.cleanup()


_MAX_LABEL = 80
"""Characters of the name of a vocabulary that is opened on the page."""


class _TooLargeError(Exception):
    """A request has more bytes than it may."""


async def _body(request: Request, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _TooLargeError
        chunks.append(chunk)
    return b"".join(chunks)


def make_app(desk: Desk, address: Address, token: str) -> Guard:
    """Return the server as an ASGI application."""
    routes = [
        *(Route(path, _asset(*asset), methods=["GET"]) for path, asset in _ASSETS.items()),
        Route("/begin", desk.begin, methods=["POST"]),
        Route("/ask", desk.ask, methods=["POST"]),
        Route("/vocabulary", desk.open_vocabulary, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), address, token)


def _asset(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    data = files("kbnf_cli.web").joinpath("static", name).read_bytes()

    async def send(_: Request) -> Response:
        return Response(data, media_type=media_type)

    return send
