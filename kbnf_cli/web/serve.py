"""``kbnf play --web``: the playground in a browser, served on loopback until it is interrupted.

Tests: tests/web/test_server.py
"""

import logging
import secrets
import signal
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from kbnf_cli.console import Console, Exit
from kbnf_cli.init import EXAMPLES, GRAMMAR
from kbnf_cli.inputs import BUILT_IN, Inputs, own_options, read_vocabulary
from kbnf_cli.web.answers import LIMITS, VocabularyName, read, texts_beside, texts_of
from kbnf_core.config import NO_DEFAULTS
from kbnf_core.frontend import read_grammar
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages import KBNF
from kbnf_core.shipped import grammar_file
from kbnf_core.text.diagnostics.segments import Role, Segment, visible
from kbnf_core.text.errors import ConfigError, MissingExtraError

LOOPBACK = "127.0.0.1"

_EXPOSED = (
    "other machines may reach this host: what is typed travels unencrypted, and whoever has the"
    " address with its token can use this playground"
)


def serve(
    console: Console, inputs: Inputs, grammar: Path | None, others: Sequence[str], host: str
) -> int:
    """Serve the page until it is interrupted; raises the errors of opening its inputs."""
    try:
        import uvicorn

        from kbnf_cli.web.server import Address, Connection, Desk, make_app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtraError("the playground in a browser", "web") from None
    vocabularies = _vocabularies(console, inputs, grammar, others)
    begin = _begin(inputs, grammar)
    if hasattr(signal, "SIGPIPE"):
        # Readers that leave must not end the server.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # A crash of the worker by a text is reported on the page.
    logging.getLogger("kbnf_cli.worker").setLevel(logging.CRITICAL)
    with _listen(host) as listener:
        address = Address(host, listener.getsockname()[1])
        token = secrets.token_urlsafe(32)
        desk = Desk(begin, vocabularies)
        config = uvicorn.Config(
            make_app(desk, address, token),
            http=Connection,
            ws="none",
            lifespan="off",
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        if not _is_loopback(host):
            console.findings(
                [Segment("warning:", Role.WARNING), Segment(f" {visible(_EXPOSED)}\n")]
            )
        console.text(f"{address.address}#token={token}\n")
        console.flush()
        console.note("open this address in a browser; Ctrl-C ends the server")
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            desk.end()
    return Exit.CLEAN


def _vocabularies(
    console: Console, inputs: Inputs, grammar: Path | None, others: Sequence[str]
) -> dict[str, VocabularyName]:
    """Return the vocabularies to choose from; raise where one cannot be read."""
    settings = inputs.settings_source()(grammar or Path())
    first, eos = inputs.vocabulary(settings)
    names: dict[str, VocabularyName] = {_label(first): (first, eos)}
    for name in (*others, BUILT_IN):
        names.setdefault(_label(name), (name, ()))
    for vocabulary in names.values():
        # Now, so that errors are reported here, and the worker finds them in the cache.
        read_vocabulary(console, *vocabulary)
    return names


def _label(name: str) -> str:
    """Return the name of a vocabulary on the page: links need not reveal where its file is."""
    return "/".join(Path(name).parts[-2:])


def _begin(inputs: Inputs, grammar: Path | None) -> dict[str, Any]:
    """Return the grammar that the page begins with, and the settings outside of it."""
    start, finish = inputs.start or "", inputs.finish or ""
    if grammar is None:
        begun = {"grammar": GRAMMAR, "texts": texts_of(EXAMPLES)}
        return {**begun, "language": KBNF.name, "start": start, "finish": finish}
    # The page has no place for options: where there are some, a schema is shown as what it means.
    readable = inputs.written(grammar)
    if own_options(inputs.schema_for(grammar), readable.language):
        readable = inputs.text(grammar)
    text, language = readable.source.text, readable.language
    if language is KBNF:
        defaults = inputs.settings_source()(inputs.name_of(grammar)).defaults
        bare, reading = (
            read_grammar(readable.source, KBNF, Request(defaults=defaults_read))
            for defaults_read in (NO_DEFAULTS, defaults)
        )
        start = start or (reading.start if reading.start != bare.start else "")
        finish = finish or (reading.finish.value if reading.finish is not bare.finish else "")
    elif read(language.name, text, start, "").errors:
        # It may import files, which the page does not.
        text, start, language = inputs.grammar(grammar, None).to_kbnf(), "", KBNF
    if len(text) > LIMITS.source_bytes:
        raise ConfigError(f"the page takes {LIMITS.source_bytes:,} characters of a grammar")
    return {
        "grammar": text,
        "texts": texts_beside(grammar_file(str(grammar)) or grammar),
        "language": language.name,
        "start": start,
        "finish": finish,
    }


def _listen(host: str) -> socket.socket:
    """Return a socket that listens at a free port of ``host``."""
    addresses = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = addresses[0]
    return socket.create_server(address[:2], family=family)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
